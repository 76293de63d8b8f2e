"""Whatever a caller passes by mistake, a public name answers or refuses in one sentence, and
ends."""

import datetime
import inspect
import math
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import condmask as cm

N = 64
X = np.rint(4.0 * np.random.default_rng(7).lognormal(8.0, 0.5, N)) / 4.0
TOWNS = np.resize(["a", "b"], N)
SCHEME = cm.ConditionalMasking(0.3, 300.0)  # with more swaps 64 records say nothing of groups
MAPPED = cm.ReverseMapping(0.3, 300.0)


def raising(name):
    """An object whose method of this name fails."""

    def method(self, *_, **__):
        raise RuntimeError("the look at it failed\nin two lines")

    return type("Raising", (), {name: method})()


def recursive():
    items = []
    items.append(items)
    return items


OBJECTS = {
    "None": lambda: None,
    "True": lambda: True,
    "nan": lambda: math.nan,
    "-inf": lambda: -math.inf,
    "-1": lambda: -1,
    "0.5": lambda: 0.5,
    "-10**5000": lambda: -(10**5000),
    "1j": lambda: 1j,
    "float16": lambda: np.ones(N, np.float16),
    "NaT": lambda: pd.NaT,
    "pd.NA": lambda: pd.NA,
    "date": lambda: datetime.date(2024, 1, 1),
    "arrow null": lambda: pa.scalar(None),
    "''": lambda: "",
    "'0.5'": lambda: "0.5",
    "surrogate": lambda: "\udcff",
    "lines": lambda: "a\nb\r\nc" * 5_000,
    "bytes": lambda: b"\xff\x00",
    "folder": lambda: Path("."),
    "[]": list,
    "{}": dict,
    "[nan]": lambda: [math.nan] * N,
    "[True]": lambda: [True] * N,
    "mixed": lambda: [1.5, "a", None, b"x"] * (N // 4),
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "recursive": recursive,
    "generator": lambda: (value for value in X),
    "sound": X.copy,
    "2-d": lambda: np.stack([X, X]),
    "no columns": lambda: np.ones((N, 0)),
    "times": lambda: np.full(N, np.datetime64("NaT")),
    "masked": lambda: np.ma.array(X, mask=X > 3000),
    "largest": lambda: np.full(N, 1.7e308) * np.resize([1, -1], N),
    "short": lambda: X[:5].copy(),
    "nullable": lambda: pd.Series([1, None] * (N // 2), dtype="Int64"),
    "twice a name": lambda: pd.DataFrame(np.ones((N, 2)), columns=["x", "x"]),
    "128 bits": lambda: pl.Series("x", [5] * N, dtype=pl.Int128),
    "lists": lambda: pa.array([[1.5]] * N),
    "lazy": lambda: pl.LazyFrame({"x": X}),
    "unequal dict": lambda: {"x": X, "y": X[:5]},
    "function": lambda: len,
    "module": lambda: math,
    "no array": lambda: raising("__array__"),
    "no float": lambda: raising("__float__"),
    "no text": lambda: raising("__repr__"),
    "no attributes": lambda: raising("__getattr__"),
}
CALLED = {"g", "workers", "progress", "population"}  # what is called may raise what it likes
LIMITS = {"draws", "replications", "n", "points"}  # may take as long as they say
# by the names of parameters; of those with a default, only what keeps a call short or sound
NEEDED = {
    "p": 0.6,
    "sigma": 300.0,
    "percent": 10.0,
    "x": X,
    "z": X,
    "data": X,
    "frame": {"x": X, "y": X**2},
    "scheme": SCHEME,
    "schemes": {"x": SCHEME},
    "source": "source.csv",
    "target": "target.csv",
    "name": "x",
    "path": "released.csv",
    "t": 3000.0,
    "q": 0.5,
    "value": 0.5,
    "g": np.sqrt,
    "labels": TOWNS,
    "W": X**0.5,
    "weights": np.ones(N),
    "order": 2,
    "other": X**0.5,
    "rows": np.ones(N, bool),
    "given": X**0.5,
    "d": 100.0,
    "entries": SCHEME.to_dict(),
    "outcome": "y",
    "on": ["x"],
    "key": "x",
    "n": 20,
    "replications": 2,
    "margins": cm.paper_population().margins,
    "population": cm.paper_population(),
    "a": SCHEME.estimate(X),
    "b": SCHEME.estimate(X),
}
ALSO = {
    "accept": "all",
    "log": False,
    "force": True,
    "points": 9,
    "other": X**0.5,
    "rng": 1,
}
OWN = {  # of calls that take something else by the same name
    "audit.scheme": SCHEME,
    "simulate.schemes": [SCHEME],
    "read_column.path": "source.csv",
    "Release.write.path": "written.csv",
    "Counts.merge.other": cm.Counts(SCHEME),
    "Design.weights": np.ones(N),
    "Release.correlations.others": ["y"],
    "Release.difference.a": "x",
    "Release.difference.b": "t",
    "Release.means.columns": ["x", "t"],
    "Release.ratio.a": "x",
    "Release.ratio.b": "t",
    "Release.regress.on": ["x"],
    "Estimate.with_design.design": cm.Design(weights=np.ones(N)),
    "Estimate of rows.with_design.design": cm.Design(weights=np.ones(N)),
    "Estimate after reverse mapping.with_design.design": cm.Design(weights=np.ones(N)),
    "Estimate after reverse mapping.map.function": np.sqrt,
}
# what takes longest, pictures and searches for attackers; what authors of schemes call; results of
# calls
METHODS_LEFT_OUT = {
    "plot",
    "summary",
    "describe",
    "by",
    "band",
    "compare",
    "expectation",
    "risk",
    "of",
    "rows",
    "masked",
    "canonical",
    "publish",
    "key",
    "within",
}
REFUSED_UNDER_NOISE = {"Estimate.map", "Estimate of rows.map"}
NAMES_LEFT_OUT = {
    "risk",
    "plan",
    "report",
    "plot_release",
    "compare",
    "compare_distributions",
    "Audit",
    "Risk",
    "Plan",
    "RecordRisk",
    "InsiderRisk",
    "Linkage",
    "Release",
    "Estimate",
    "DesignEstimate",
    "MethodComparison",
    "StudyResult",
    "dask",
    "kernels",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Sound calls by name, in the folder where the files that they read lie: functions and
    arguments."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.use("Agg")
        patch.chdir(folder)
        patch.setenv("XDG_DATA_HOME", str(folder))
        pd.DataFrame({"x": X, "y": X**2}).to_csv("source.csv", index=False)
        cm.mask_file("source.csv", "released.csv", {"x": SCHEME}, log=False, accept="all")
        yield {name: sound(name, function) for name, function in functions()}
        plt.close("all")


def functions():
    """Public functions and methods by name."""
    for name in sorted({*cm.__all__} - NAMES_LEFT_OUT):
        if not name.endswith(("Error", "Warning")):
            yield name, getattr(cm, name)
    table = {"x": X, "y": X**2, "t": 2.0 * X}
    release = cm.mask_table(table, {"x": SCHEME, "t": SCHEME}, rng=1, accept="all")
    owners = {
        "ConditionalMasking": SCHEME,
        "Estimate": SCHEME.estimate(X),
        "DesignEstimate": SCHEME.estimate(X).with_design(cm.Design(weights=np.ones(N))),
        "Release": release,
        "Estimate of rows": SCHEME.estimate([X] * 2),
        "Estimate after reverse mapping": MAPPED.estimate(X),
        "Counts": cm.Counts(SCHEME),
    }
    for name, owner in owners.items():
        # rows are asked as one is
        kind = cm.Estimate if name.startswith("Estimate") else type(owner)
        for method, _ in inspect.getmembers(kind, inspect.isfunction):
            full = f"{name}.{method}"
            left_out = METHODS_LEFT_OUT & {*method.split("_")} or full in REFUSED_UNDER_NOISE
            if not method.startswith("_") and not left_out:
                yield full, getattr(owner, method)


def sound(name, function):
    """A function, and the arguments of a sound call by name."""
    arguments = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            arguments[key] = OWN.get(f"{name}.{key}", NEEDED.get(key))
        elif f"{name}.{key}" in OWN or key in ALSO:
            arguments[key] = OWN.get(f"{name}.{key}", ALSO.get(key))
    return SimpleNamespace(function=function, arguments=arguments)


def attack(call, parameter, key):
    """What a call raises, None where it answers."""
    try:
        call.function(**call.arguments | {parameter: OBJECTS[key]()})
    except Exception as error:
        return error
    return None


def is_right(error, parameter, key):
    """Whether an exception may leave the package: a sentence of ours, or what is not of our
    making."""
    if isinstance(error, cm.CondmaskError):
        return bool(str(error)) and not {"\n", "\r"} & set(str(error))
    of_system = isinstance(error, OSError) and error.errno is not None
    return (
        of_system or isinstance(error, MemoryError) or (parameter in CALLED and key == "function")
    )


@pytest.mark.filterwarnings("ignore")
def test_sound_calls_are_answered(calls):
    for call in calls.values():
        call.function(**call.arguments)


@pytest.mark.filterwarnings("ignore")
def test_what_was_not_meant_is_answered_or_refused_in_a_sentence(calls):
    pairs = [
        (name, key)
        for name, call in calls.items()
        for key, parameter in inspect.signature(call.function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    tried = [
        (name, parameter, key)
        for name, parameter in pairs
        for key in OBJECTS
        if parameter not in LIMITS
    ]
    refused = []

    @settings(max_examples=15 * settings.default.max_examples)
    @given(st.sampled_from(tried))
    def attacked(chosen):
        name, *where = chosen
        error = attack(calls[name], *where)
        assert error is None or is_right(error, *where), f"{name}{where}: {error!r}"
        refused.append(error is not None)

    attacked()
    assert sum(refused) > 0.6 * len(refused) >= 600


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "chosen",
    [
        "ConditionalMasking.mask x 128 bits",
        "ConditionalMasking.mask rng True",
        "Estimate.cdf monotone 0.5",
        "Estimate.quantile q -1",
        "Estimate.moment order True",
        "Estimate.moment central 0.5",
        "Estimate.correlation other [nan]",
        "Estimate of rows.correlation_interval other recursive",
        "mask_table frame unequal dict",
        "mask_file dry_run '0.5'",
        "mask_file csv {}",
        "RankSwapping percent nan",
    ],
)
def test_nonsense_is_not_taken_for_a_value(calls, chosen):
    name = max((name for name in calls if chosen.startswith(f"{name} ")), key=len)
    parameter, _, key = chosen.removeprefix(f"{name} ").partition(" ")

    assert isinstance(attack(calls[name], parameter, key), cm.CondmaskError)


NANOSECONDS = np.random.default_rng(1).normal(1.7e18, 1e15, 200)
CENTS = np.append(np.random.default_rng(2).lognormal(10.0, 0.6, 199).round(2), 9.99e17)
HOURS = cm.ConditionalMasking(0.6, 3600.0)
EUROS = cm.ConditionalMasking(0.6, 8000.0, decimals=2)
NEAR = np.arange(200.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: HOURS.mask(NANOSECONDS, rng=1),
        lambda: EUROS.mask(CENTS, rng=1),
        lambda: cm.mask_table({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}, rng=1),
        lambda: cm.audit(NANOSECONDS, HOURS),
        lambda: cm.audit({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}),
        lambda: cm.risk(NANOSECONDS, HOURS, d=1.0),
        lambda: cm.risk(NEAR, HOURS, d=1.0, released=NANOSECONDS),
    ],
)
def test_values_beyond_the_grid_are_refused_before_anybody_looks_at_them(call):
    with pytest.raises(
        ValueError, match=r"must stay within 2\^53 steps of .* at position \d+; pass step=\S+ and"
    ):
        call()


def test_a_masked_value_beyond_the_grid_is_named_by_its_place_in_the_column():
    x = NEAR.copy()
    z = NEAR.copy()
    x[3] = np.nan
    z[150] = 1e18

    with pytest.raises(ValueError, match=r"released must stay within .* at position 150"):
        cm.risk(x, HOURS, d=1.0, released=z)
