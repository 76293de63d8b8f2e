"""The zoo: columns that have broken numerical packages before, each with its reason.

A specimen is made anew for each test, so that none can leave traces in the next one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

GENERIC = np.array(
    [3.7041, -1.25013, 12.50021, 0.62517, 8.10019, -4.33321, 2.71828, 5.00013, 7.77771, 1.41421]
)
WHOLE = np.array([3, -1, 12, 0, 8, -4, 2, 5, 7, 1])
GAPS = np.where(np.arange(10) % 4 == 1, np.nan, GENERIC)
OPTIONAL = [None if v != v else float(v) for v in GAPS]
OPTIONAL_WHOLE = [None if v != v else int(w) for v, w in zip(GAPS, WHOLE, strict=True)]
# a conspicuous number, and the digits by which a message would show it: rounded, and of its
# logarithm, too
VALUE = 8675309.123
LARGE = 8675309123
DIGITS = ("8675", "8.675", "8.68", "867531", "8,675", "15.97", "22.88")


class Specimen(NamedTuple):
    make: Callable[[], Any]
    values: np.ndarray  # the same column as plain float64, NaN where it is missing
    why: str


def _frozen():
    x = GENERIC.copy()
    x.flags.writeable = False
    return x


def _view(step):
    return np.repeat(GENERIC, 3)[::3] if step > 0 else GENERIC[::-1].copy()[::-1]


ZOO = {
    "generic": Specimen(
        lambda: GENERIC.copy(), GENERIC, "nothing special: where errors cannot cancel"
    ),
    "list": Specimen(lambda: GENERIC.tolist(), GENERIC, "a user's first try"),
    "tuple": Specimen(lambda: tuple(GENERIC), GENERIC, "a user's second try"),
    "two": Specimen(
        lambda: GENERIC[:2].copy(), GENERIC[:2], "the smallest file: one possible donor"
    ),
    "ties": Specimen(
        lambda: np.repeat(GENERIC[:3], 4), np.repeat(GENERIC[:3], 4), "a tie does not prove a swap"
    ),
    "constant": Specimen(
        lambda: np.full(10, 2.71828), np.full(10, 2.71828), "no variance to divide by"
    ),
    "gaps": Specimen(lambda: GAPS.copy(), GAPS, "NaN spreads through sums"),
    "outlier": Specimen(
        lambda: np.append(GENERIC, 1e15),
        np.append(GENERIC, 1e15),
        "swallows the digits of raw moments",
    ),
    "huge": Specimen(lambda: GENERIC * 1e300, GENERIC * 1e300, "squares overflow"),
    "tiny": Specimen(lambda: GENERIC * 1e-300, GENERIC * 1e-300, "squares underflow"),
    "read-only": Specimen(_frozen, GENERIC, "memory-mapped files and pandas 3 hand these out"),
    "strided": Specimen(lambda: _view(3), GENERIC, "a column of a C-ordered matrix"),
    "reversed": Specimen(lambda: _view(-1), GENERIC, "a negative stride"),
    "big-endian": Specimen(
        lambda: GENERIC.astype(">f8"), GENERIC, "old binary files; numba refuses it"
    ),
    "float32": Specimen(
        lambda: GENERIC.astype(np.float32),
        GENERIC.astype(np.float32).astype(float),
        "half the digits",
    ),
    "int64": Specimen(lambda: WHOLE.astype(np.int64), WHOLE.astype(float), "most survey data"),
    "int8": Specimen(
        lambda: WHOLE.astype(np.int8), WHOLE.astype(float), "sums overflow in its own type"
    ),
    "uint64": Specimen(
        lambda: np.abs(WHOLE).astype(np.uint64), np.abs(WHOLE).astype(float), "has no minus"
    ),
    "pandas": Specimen(
        lambda: pd.Series(GENERIC, index=range(20, 10, -1), name="income"),
        GENERIC,
        "an index to keep",
    ),
    "pandas gaps": Specimen(
        lambda: pd.Series(GAPS, name="income"), GAPS, "NaN is how pandas says missing"
    ),
    "pandas nullable": Specimen(
        lambda: pd.Series(OPTIONAL_WHOLE, dtype="Int64"),
        np.where(np.isnan(GAPS), np.nan, WHOLE),
        "a mask beside the values; to_numpy() gives objects",
    ),
    "pandas arrow": Specimen(
        lambda: pd.Series(OPTIONAL, dtype="double[pyarrow]"), GAPS, "pandas outside, Arrow inside"
    ),
    "polars": Specimen(lambda: pl.Series("income", GENERIC), GENERIC, "no index"),
    "polars gaps": Specimen(lambda: pl.Series("income", OPTIONAL), GAPS, "null is not NaN"),
    "polars whole": Specimen(
        lambda: pl.Series("x", WHOLE), WHOLE.astype(float), "no gaps, so integers"
    ),
    "pyarrow": Specimen(lambda: pa.array(GENERIC), GENERIC, "an Array is not a ChunkedArray"),
    "pyarrow gaps": Specimen(lambda: pa.array(OPTIONAL), GAPS, "a bitmap of what is valid"),
    "pyarrow chunked": Specimen(
        lambda: pa.chunked_array([GENERIC[:3], GENERIC[3:3], GENERIC[3:]]),
        GENERIC,
        "one chunk is empty",
    ),
    "pyarrow whole": Specimen(
        lambda: pa.chunked_array([OPTIONAL_WHOLE[:4], OPTIONAL_WHOLE[4:]], pa.int32()),
        np.where(np.isnan(GAPS), np.nan, WHOLE),
        "nullable integers in chunks",
    ),
}


def values_of(container):
    """Any container as plain float64, NaN where a value is missing."""
    if isinstance(container, (pa.Array, pa.ChunkedArray)):
        return np.array([np.nan if v is None else v for v in container.to_pylist()], dtype=float)
    if isinstance(container, pl.Series):
        return np.array([np.nan if v is None else v for v in container.to_list()], dtype=float)
    if isinstance(container, pd.Series):
        return container.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(container, dtype=float)
