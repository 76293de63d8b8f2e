"""Hostile arguments: what a caller may pass by mistake or by malice wherever a number, a column, a name, a
path or a mapping is meant.

An argument is made anew for each call: a generator is used up, and an array may be written to.
"""

import datetime
import decimal
import fractions
import math
import numbers
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 64  # as many values as the columns that they stand in for
GIVEN = np.random.default_rng(7).lognormal(8.0, 0.5, N)


def raising(name: str, error: type[Exception]) -> Any:
    """An object whose method of this name raises."""

    def method(self, *_, **__):
        raise error("the look at it failed\nin two lines")

    return type("Raising", (), {name: method})()


def lying(**answers: Any) -> Any:
    """An object whose methods answer this, whatever is asked."""
    methods = {f"__{name}__": lambda self, *_, _a=answer, **__: _a for name, answer in answers.items()}
    return type("Lying", (), methods)()


class Number(float):
    """A number that is not sure of itself."""

    def __float__(self):
        raise RuntimeError("no")


class Whole(int):
    def __index__(self):
        raise RuntimeError("no")

    def __int__(self):
        raise RuntimeError("no")


def _recursive():
    items: list[Any] = []
    items.append(items)
    return items


def _deep(levels=5000):
    items: list[Any] = []
    for _ in range(levels):
        items = [items]
    return items


def _frozen():
    x = GIVEN.copy()
    x.flags.writeable = False
    return x


def _structured():
    return np.zeros(N, dtype=[("a", float), ("b", int)])


SCALARS = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "np.True_": lambda: np.True_,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "-0.0": lambda: -0.0,
    "-1": lambda: -1,
    "0.5": lambda: 0.5,
    "5e-324": lambda: 5e-324,
    "1e308": lambda: 1e308,
    "2**63": lambda: 2**63,
    "2**53 + 1": lambda: 2**53 + 1,
    "10**400": lambda: 10**400,
    "-10**5000": lambda: -(10**5000),
    "1j": lambda: 1j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "huge Fraction": lambda: fractions.Fraction(10**400, 3),
    "Decimal": lambda: decimal.Decimal("0.5"),
    "Decimal NaN": lambda: decimal.Decimal("sNaN"),
    "np.float16": lambda: np.float16(0.5),
    "np.longdouble": lambda: np.longdouble("0.5"),
    "huge longdouble": lambda: np.longdouble("1e4000"),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.int8": lambda: np.int8(-128),
    "np.str_": lambda: np.str_("x"),
    "np.void": lambda: np.void(b"abc"),
    "np.datetime64": lambda: np.datetime64("2024-01-01"),
    "NaT": lambda: pd.NaT,
    "pd.NA": lambda: pd.NA,
    "Timestamp": lambda: pd.Timestamp("2024-01-01"),
    "date": lambda: datetime.date(2024, 1, 1),
    "arrow scalar": lambda: pa.scalar(0.5),
    "arrow null": lambda: pa.scalar(None),
    "0-d": lambda: np.array(0.5),
    "0-d object": lambda: np.array(None),
}  # fmt: skip
TEXTS = {
    "''": lambda: "",
    "'0.5'": lambda: "0.5",
    "'nan'": lambda: "nan",
    "surrogate": lambda: "\udcff",
    "nul": lambda: "a\0b",
    "long text": lambda: "x" * 10_000,
    "lines": lambda: "a\nb\r\nc",
    "bytes": lambda: b"\xff\x00",
    "bytearray": lambda: bytearray(b"ab"),
    "memoryview": lambda: memoryview(b"ab"),
    "no such path": lambda: Path("no/such/place/a.csv"),
    "folder": lambda: Path("."),
    "long path": lambda: Path("x" * 5000 + ".csv"),
}
SEQUENCES = {
    "[]": list,
    "()": tuple,
    "set()": set,
    "{}": dict,
    "[nan]": lambda: [math.nan] * N,
    "[None]": lambda: [None] * N,
    "[True]": lambda: [True] * N,
    "[inf]": lambda: [0.5, math.inf],
    "two": lambda: [0.25, 0.75],
    "texts": lambda: ["a"] * N,
    "surrogates": lambda: ["\udcff"] * N,
    "huge whole": lambda: [10**400] * N,
    "mixed": lambda: [1.5, "a", None, b"x"] * (N // 4),
    "unhashable": lambda: np.array([[k] for k in range(N)] + [None], dtype=object)[:N],
    "nested": lambda: [[1.0, 2.0], [3.0, 4.0]],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "recursive": _recursive,
    "deep": _deep,
    "range": lambda: range(N),
    "generator": lambda: (v for v in GIVEN),
    "map": lambda: map(float, GIVEN),
    "set": lambda: {1.5, 2.5},
    "decimals": lambda: [decimal.Decimal(1)] * N,
    "fractions": lambda: [fractions.Fraction(1, 3)] * N,
}
ARRAYS = {
    "sound": GIVEN.copy,
    "empty": lambda: np.array([]),
    "2-d": lambda: np.stack([GIVEN, GIVEN]),
    "3-d": lambda: np.ones((2, 3, 4)),
    "0 columns": lambda: np.ones((N, 0)),
    "read-only": _frozen,
    "strided": lambda: np.repeat(GIVEN, 3)[::3],
    "big-endian": lambda: GIVEN.astype(">f8"),
    "float16": lambda: np.ones(N, np.float16),
    "longdouble": lambda: GIVEN.astype(np.longdouble),
    "complex": lambda: GIVEN.astype(complex),
    "datetimes": lambda: np.full(N, np.datetime64("2024-01-01")),
    "NaTs": lambda: np.full(N, np.datetime64("NaT")),
    "timedeltas": lambda: np.full(N, np.timedelta64(1, "D")),
    "structured": _structured,
    "recarray": lambda: _structured().view(np.recarray),
    "void": lambda: np.zeros(N, "V4"),
    "byte texts": lambda: np.array([b"a\xff"] * N),
    "objects": lambda: np.array([object()] * N, dtype=object),
    "object arrays": lambda: np.array([GIVEN, None, 3], dtype=object),
    "object numbers": lambda: GIVEN.astype(object),
    "masked": lambda: np.ma.array(GIVEN, mask=GIVEN > 3000),
    "matrix": lambda: np.asmatrix(GIVEN),
    "largest": lambda: np.full(N, 1.7e308) * np.resize([1, -1], N),
    "constant": lambda: np.full(N, 2.5),
    "short": lambda: GIVEN[:5].copy(),
    "stretched": lambda: np.broadcast_to(1.5, N),
    "booleans": lambda: np.ones(N, bool),
}
FRAMES = {
    "series": lambda: pd.Series(GIVEN),
    "nullable": lambda: pd.Series([1, None] * (N // 2), dtype="Int64"),
    "categorical": lambda: pd.Series(["a", "b"] * (N // 2), dtype="category"),
    "number categories": lambda: pd.Series([1.5, 2.5] * (N // 2), dtype="category"),
    "intervals": lambda: pd.Series(pd.interval_range(0, N)),
    "periods": lambda: pd.Series(pd.period_range("2024", periods=N)),
    "sparse": lambda: pd.Series(pd.arrays.SparseArray(GIVEN)),
    "pandas objects": lambda: pd.Series([1.5, "a"] * (N // 2), dtype=object),
    "index": lambda: pd.Index(GIVEN),
    "multi-index": lambda: pd.MultiIndex.from_tuples([(1, 2)] * N),
    "frame": lambda: pd.DataFrame({"x": GIVEN, "y": GIVEN}),
    "empty frame": pd.DataFrame,
    "twice a name": lambda: pd.DataFrame(np.ones((N, 2)), columns=["x", "x"]),
    "numbered columns": lambda: pd.DataFrame(np.ones((N, 2))),
    "polars": lambda: pl.Series("x", GIVEN),
    "polars frame": lambda: pl.DataFrame({"x": GIVEN}),
    "polars lazy": lambda: pl.LazyFrame({"x": GIVEN}),
    "polars Int128": lambda: pl.Series("x", [2**100] * N, dtype=pl.Int128),
    "small Int128": lambda: pl.Series("x", [5] * N, dtype=pl.Int128),
    "polars Decimal": lambda: pl.Series("x", [decimal.Decimal("1.5")] * N),
    "polars nulls": lambda: pl.Series("x", [None] * N),
    "polars lists": lambda: pl.Series("x", [[1.5]] * N),
    "polars structs": lambda: pl.Series("x", [{"a": 1}] * N),
    "polars objects": lambda: pl.Series("x", [object()] * N, dtype=pl.Object),
    "polars times": lambda: pl.Series("x", [datetime.timedelta(1)] * N),
    "polars enum": lambda: pl.Series("x", ["a"] * N, dtype=pl.Enum(["a"])),
    "arrow": lambda: pa.array(GIVEN),
    "arrow chunks": lambda: pa.chunked_array([GIVEN]),
    "no chunks": lambda: pa.chunked_array([], type=pa.float64()),
    "arrow nulls": lambda: pa.nulls(N),
    "arrow null chunks": lambda: pa.chunked_array([pa.nulls(N)]),
    "arrow lists": lambda: pa.array([[1.5]] * N),
    "arrow structs": lambda: pa.array([{"a": 1}] * N),
    "arrow halves": lambda: pa.array(np.ones(N, np.float16)),
    "arrow dictionary": lambda: pa.array(["a"] * N).dictionary_encode(),
    "arrow runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([N], pa.int32()), pa.array([1.5])),
    "arrow decimals": lambda: pa.array([decimal.Decimal("1.5")] * N),
    "arrow table": lambda: pa.table({"x": GIVEN}),
    "arrow batch": lambda: pa.record_batch({"x": GIVEN}),
    "nested arrow table": lambda: pa.table({"x": [[1.5]] * N}),
    "arrow table twice a name": lambda: pa.Table.from_arrays([pa.array(GIVEN)] * 2, ["x", "x"]),
    "dict": lambda: {"x": GIVEN},
    "unequal dict": lambda: {"x": GIVEN, "y": GIVEN[:5]},
    "dict of numbers": lambda: {"x": 1.5},
    "dict of None": lambda: {"x": None, None: None},
    "dict of lists": lambda: {"x": [1.5] * N, "y": ["a"] * N},
    "dict of ragged": lambda: {"x": [[1.5], [2.5, 3.5]] * (N // 2)},
    "dict of 2-d": lambda: {"x": np.ones((N, 2))},
}
OBJECTS = {
    "object": object,
    "class": lambda: float,
    "function": lambda: len,
    "two-place function": lambda: lambda a, b: a,
    "module": lambda: math,
    "namespace": lambda: SimpleNamespace(p=0.5, sigma=1.0),
    "no number": lambda: Number(0.5),
    "no whole number": lambda: Whole(3),
    "no real": lambda: numbers.Real.register(type("Real", (), {}))(),
    "__array__ raises": lambda: raising("__array__", RuntimeError),
    "__array__ lies": lambda: lying(array="nonsense"),
    "__array_interface__ lies": lambda: type("Lying", (), {"__array_interface__": {"shape": (3,)}})(),
    "__len__ raises": lambda: raising("__len__", RuntimeError),
    "__len__ lies": lambda: lying(len=-1),
    "__iter__ raises": lambda: raising("__iter__", KeyError),
    "__iter__ lies": lambda: lying(iter=5),
    "__float__ raises": lambda: raising("__float__", RuntimeError),
    "__float__ lies": lambda: lying(float="a"),
    "__index__ raises": lambda: raising("__index__", RuntimeError),
    "__index__ lies": lambda: lying(index="a"),
    "__bool__ raises": lambda: raising("__bool__", RuntimeError),
    "__eq__ raises": lambda: raising("__eq__", RuntimeError),
    "__hash__ raises": lambda: raising("__hash__", RuntimeError),
    "__repr__ raises": lambda: raising("__repr__", RuntimeError),
    "__str__ raises": lambda: raising("__str__", RuntimeError),
    "__fspath__ raises": lambda: raising("__fspath__", RuntimeError),
    "__fspath__ lies": lambda: lying(fspath=5),
    "__getattr__ raises": lambda: raising("__getattr__", RuntimeError),
    "__dataframe__ raises": lambda: raising("__dataframe__", RuntimeError),
    "__arrow_c_stream__ raises": lambda: raising("__arrow_c_stream__", RuntimeError),
}
HOSTILE = {**SCALARS, **TEXTS, **SEQUENCES, **ARRAYS, **FRAMES, **OBJECTS}
CALLABLES = {"class", "function", "two-place function"}
COUNTS = {"2**63", "2**53 + 1", "10**400", "np.uint64"}


def broken(content, random):
    """Content cut, with other bytes in it, some left out or some more, all of it other bytes, or none."""
    at, some = int(random.integers(len(content) + 1)), random.bytes(int(random.integers(1, 40)))
    return [
        content[:at],
        content[:at] + some + content[at + len(some) :],
        content[:at] + content[at + len(some) :],
        content[:at] + some + content[at:],
        some,
        b"",
    ][int(random.integers(6))]
