"""One table: a wrong argument, and the exact message it brings.

The form is argument, rule, value: ``p must lie strictly between 0 and 1, got 1.5``. To add a row,
append ``Row(call, exception, message)`` to the list of its section; `call` takes nothing.
"""

import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import GENERIC
from releases import in_group

import condmask as cm
from condmask import errors
from condmask._randomness import Key
from condmask.variance.interval import UndefinedError

pytestmark = pytest.mark.usefixtures("unaudited")


class Row(NamedTuple):
    call: Callable[[], object]
    exception: type[Exception]
    message: str


def scheme(p=0.6, sigma=1000.0, **options):
    return cm.ConditionalMasking(p, sigma, **options)


def mask(x=GENERIC, decimals=None, rng=1, **options):
    named = "region" if "strata" in options else None
    return scheme(decimals=decimals, strata=named).mask(x, rng=rng, **options)


FRAME = pd.DataFrame({"income": GENERIC, "bonus": GENERIC**2, "region": list("aaaaaabbbb"), "name": "x"})


def table(frame=FRAME, income=None, bonus=None, **options):
    return cm.mask_table(frame, {"income": income or scheme(), "bonus": bonus or scheme()}, rng=1, **options)


def with_value(value, at=3):
    x = GENERIC.copy()
    x[at] = value
    return x


NOT_A_PROBABILITY = "p must lie strictly between 0 and 1, got "
NO_RANGE = "range must be two numbers, the lower first, of which one may be None, got "
NOT_POSITIVE = "sigma must be positive and finite, got "
NOT_DECIMALS = "decimals must be None or a whole number from -15 to 15, got "
NOT_CODES = "missing must be a finite number or a sequence of several, got "
OTHER_KEY = ": otherwise each part of the file would be masked under a different key"
NO_KEY_TWICE = "rng must be a whole number or a Key where rows are given, got "
NO_ROWS = "rows must be a pair 0 <= start < stop <= 10, got "
NO_WORKERS = "workers must be a whole number of at least 1 or a map-like callable, got "
NO_SERIES = "x must be an array or a series of numbers, got "
NO_RNG = "rng must be None, a whole number, a Generator or a Key, got "
NO_METHOD = (
    "scheme must be one of 'AdditiveNoise', 'ConditionalMasking', 'DataShuffling', 'DataSwapping', "
    "'MultiplicativeNoise', 'RankSwapping', got "
)
DISAGREE = "schemes must agree in p and donors, got p=0.6, donors='permutation' and for 'bonus' "
NONE_NAMED = (
    "strata must be left out where the scheme names none, got values; ConditionalMasking(..., strata=name) "
    "names their column"
)
OFF_GRID = "round=True rounds the data, whose digits would otherwise reveal swapped records"

SCHEME = [
    *(Row(lambda p=p: scheme(p), ValueError, f"{NOT_A_PROBABILITY}{p}") for p in (0, 1, -0.1, 1.5)),
    Row(lambda: scheme(float("nan")), ValueError, NOT_A_PROBABILITY + "nan"),
    Row(lambda: scheme("half"), TypeError, "p must be a number strictly between 0 and 1, got 'half'"),
    Row(lambda: scheme(True), TypeError, "p must be a number strictly between 0 and 1, got True"),
    Row(lambda: scheme(None), TypeError, "p must be a number strictly between 0 and 1, got None"),
    *(Row(lambda s=s: scheme(sigma=s), ValueError, f"{NOT_POSITIVE}{s}") for s in (0, -2.0, np.inf, np.nan)),
    *(
        Row(lambda r=r: scheme(range=r), TypeError, f"{NO_RANGE}{r!r}")
        for r in (100, "0", (0,), (0, "1"), (True, 2), (0, 1, 2))
    ),
    *(
        Row(lambda r=r: scheme(range=r), ValueError, f"{NO_RANGE}{r!r}")
        for r in ((1, 0), (1, 1), (0.0, np.nan))
    ),
    Row(lambda: scheme(sigma="1"), TypeError, "sigma must be a positive finite number, got '1'"),
    Row(lambda: scheme(sigma=1j), TypeError, "sigma must be a positive finite number, got 1j"),
    Row(lambda: scheme(sigma=[1]), TypeError, "sigma must be a positive finite number, got [1]"),
    Row(lambda: scheme(sigma=10**400), ValueError, f"{NOT_POSITIVE}{10**400}"),
    Row(lambda: scheme(noise="cauchy"), ValueError, "noise must be one of 'normal', 'laplace', got 'cauchy'"),
    Row(lambda: scheme(donors="all"), ValueError, "donors must be one of 'permutation', 'sample', got 'all'"),
    Row(lambda: scheme(reverse_mapping=1), TypeError, "reverse_mapping must be True or False, got 1"),
    Row(
        lambda: scheme(reverse_mapping=True, donors="sample"),
        ValueError,
        "donors must be 'permutation' where reverse_mapping=True, got 'sample': the swapped records take "
        "their values from one another",
    ),
    *(
        Row(
            lambda name=name, value=value: scheme(reverse_mapping=True, **{name: value}),
            ValueError,
            f"{name} must be left out where reverse_mapping=True, got {value}: released values are those of "
            "the data, and nothing is rounded",
        )
        for name, value in (("step", 0.5), ("decimals", 2))
    ),
    Row(
        lambda: scheme(scale="log"),
        ValueError,
        "scale must be 'linear' unless reverse_mapping=True, got 'log'",
    ),
    Row(
        lambda: scheme(reverse_mapping=True, aggregate_ends=1),
        ValueError,
        "aggregate_ends must be 0 or at least 2, got 1: one value is its own mean",
    ),
    Row(
        lambda: scheme(aggregate_ends=3),
        ValueError,
        "aggregate_ends must be left out unless reverse_mapping=True, got 3",
    ),
    *(Row(lambda d=d: scheme(decimals=d), ValueError, f"{NOT_DECIMALS}{d}") for d in (16, -16)),
    *(Row(lambda m=m: scheme(missing=m), TypeError, f"{NOT_CODES}{m!r}") for m in ("NA", True)),
    Row(lambda: scheme(missing=[-8, "NA"]), TypeError, f"{NOT_CODES}'NA'"),
    *(Row(lambda m=m: scheme(missing=m), ValueError, f"{NOT_CODES}{m}") for m in (np.nan, np.inf)),
    Row(lambda: scheme(missing=[-8, -8.0]), ValueError, "missing must name each code once, got -8 2 times"),
    Row(lambda: scheme(missing_as="NaN"), ValueError, "missing_as must be one of 'code', 'null', got 'NaN'"),
    *(Row(lambda d=d: scheme(decimals=d), TypeError, f"{NOT_DECIMALS}{d!r}") for d in (1.0, "2", False)),
    Row(
        lambda: cm.ConditionalMasking.from_dict({"scheme": "Swapping", "p": 0.5, "sigma": 1.0}),
        ValueError,
        NO_METHOD + "'Swapping'",
    ),
    Row(
        lambda: cm.ConditionalMasking.from_dict({}),
        ValueError,
        NO_METHOD + "None",
    ),
    Row(
        lambda: cm.ConditionalMasking.from_dict({"scheme": "ConditionalMasking", "p": 0.5}),
        ValueError,
        "scheme has no entries 'sigma'",
    ),
    Row(
        lambda: cm.ConditionalMasking.from_dict({**scheme().to_dict(), "key": 1, "alpha": 2}),
        ValueError,
        "scheme has unknown entries 'alpha', 'key'",
    ),
    Row(
        lambda: cm.ConditionalMasking.from_dict({**scheme().to_dict(), "p": 7}),
        ValueError,
        NOT_A_PROBABILITY + "7",
    ),
    *(
        Row(
            lambda v=v: scheme(strata=v),
            TypeError,
            f"strata must be None, a name or a sequence of names, got {v!r}",
        )
        for v in (1, "", [], ["region", ""], ["region", 1], {"region"})
    ),
    Row(
        lambda: scheme(strata=["region", "sex", "region"]),
        ValueError,
        "strata must name each column once, got ['region', 'sex', 'region']",
    ),
    Row(
        lambda: scheme(small_strata="pool"),
        ValueError,
        "small_strata must be one of 'refuse', 'merge', got 'pool'",
    ),
    *(
        Row(lambda s=s: scheme(step=s), ValueError, f"step must be at least 0 and finite, got {s}")
        for s in (-1.0, np.inf, np.nan)
    ),
    Row(lambda: scheme(step="1"), TypeError, "step must be a finite number of at least 0, got '1'"),
    Row(
        lambda: scheme(step=1e-10),
        ValueError,
        "step must be at least sigma / 2^40, got 1e-10 with sigma=1000.0",
    ),
    Row(
        lambda: scheme(sigma=1e-310, step=5e-324), ValueError, "step must be 0 or at least 1e-300, got 5e-324"
    ),
    Row(
        lambda: scheme(decimals=1, step=0.5),
        ValueError,
        "step must be left out where decimals=1 is given, got 0.5",
    ),
    Row(
        lambda: scheme(sigma=1e-291),
        ValueError,
        "sigma must be at least 1e-290 for its default step, got 1e-291; pass step=0 for research",
    ),
    Row(lambda: scheme(sigma=1.1e300), ValueError, "sigma must be at most 1e+300, got 1.1e+300"),
    Row(lambda: cm.AdditiveNoise(1e301), ValueError, "sigma must be at most 1e+300, got 1e+301"),
    Row(lambda: Key(b"short"), ValueError, "secret must be 16 bytes, got 5"),
    Row(lambda: Key(16), TypeError, "secret must be 16 bytes, got int"),
]

DATA = [
    Row(
        lambda: mask(with_value(np.nan)),
        ValueError,
        'x has 1 missing value, the first at position 3; pass nan_policy="omit" to leave them out',
    ),
    Row(
        lambda: mask(pl.Series([None, 1.5, None, 2.5])),
        ValueError,
        'x has 2 missing values, the first at position 0; pass nan_policy="omit" to leave them out',
    ),
    Row(
        lambda: mask([1.5, np.nan, np.nan], nan_policy="omit"),
        ValueError,
        "x must have at least 2 values that are not missing, got 1",
    ),
    Row(
        lambda: mask(with_value(-np.inf, at=slice(4, 6))),
        ValueError,
        "x must be finite, got 2 infinite values, the first at position 4",
    ),
    Row(
        lambda: mask(with_value(np.inf), nan_policy="omit"),
        ValueError,
        "x must be finite, got 1 infinite value, the first at position 3",
    ),
    Row(lambda: mask([]), ValueError, "x must have at least 2 values, got 0"),
    Row(lambda: mask([1.5]), ValueError, "x must have at least 2 values, got 1"),
    Row(lambda: mask(pa.array([1.5])), ValueError, "x must have at least 2 values, got 1"),
    Row(lambda: mask(3.5), ValueError, "x must be 1-D, got 0-D"),
    Row(lambda: mask(np.ones((3, 2))), ValueError, "x must be 1-D, got 2-D"),
    Row(lambda: mask([[1.5, 2.5], [3.5]]), ValueError, "x must be 1-D, got rows of unequal length"),
    Row(lambda: mask("1.5"), TypeError, "x must be numeric, got str"),
    Row(lambda: mask(None), TypeError, "x must be numeric, got NoneType"),
    Row(lambda: mask(["1.5", "2.5"]), TypeError, "x must be numeric, got dtype <U3"),
    Row(lambda: mask([1.5, None]), TypeError, "x must be numeric, got dtype object"),
    Row(lambda: mask([True, False]), TypeError, "x must be numeric, got booleans"),
    Row(lambda: mask([1j, 2.0]), TypeError, "x must be numeric, got complex numbers"),
    Row(
        lambda: mask(np.array(["2024", "2025"], "M8[Y]")),
        TypeError,
        "x must be numeric, got dtype datetime64[Y]",
    ),
    Row(lambda: mask(np.float16([1, 2])), TypeError, "x must be float32 or float64, got dtype float16"),
    Row(
        lambda: mask(np.ma.array([1.5, 2.5], mask=[0, 1])),
        TypeError,
        "x must be a plain array, got a masked one; fill its gaps with NaN",
    ),
    Row(lambda: mask(pd.Series(["a", "b"])), TypeError, "x must be numeric, got dtype String"),
    Row(lambda: mask(pd.Series([True, False])), TypeError, "x must be numeric, got dtype Boolean"),
    Row(lambda: mask(pl.Series([True, False])), TypeError, "x must be numeric, got dtype Boolean"),
    Row(lambda: mask(pa.array(["a", "b"])), TypeError, "x must be numeric, got dtype String"),
    Row(lambda: mask(FRAME), TypeError, NO_SERIES + "DataFrame"),
    Row(lambda: mask(pa.table({"a": [1.5, 2.5]})), TypeError, NO_SERIES + "Table"),
    Row(lambda: mask(pa.scalar(1.5)), TypeError, NO_SERIES + "DoubleScalar"),
    *(
        Row(
            lambda x=x: mask(x),
            ValueError,
            "x must hold integers of at most 2^53, got a larger one at position 1",
        )
        for x in (
            [1, 2**53 + 1],
            np.array([1, 2**53 + 1], np.uint64),
            pd.Series([1, 2**53 + 1, None], dtype="Int64"),
            pl.Series([1, 2**53 + 1, None]),
            pa.array([1, 2**53 + 1, None]),
        )
    ),
    Row(
        lambda: mask([-(2**53) - 1, 0]),
        ValueError,
        "x must hold integers of at most 2^53, got a larger one at position 0",
    ),
    Row(
        lambda: mask([1.25, 1.5, 1.75, 1.0], decimals=1),
        ValueError,
        f"x must hold multiples of its step, 0.1, got another number at position 0; {OFF_GRID}",
    ),
    Row(
        lambda: mask(np.float32([0.5, 0.25]), decimals=1),
        ValueError,
        f"x must hold multiples of its step, 0.1, got another number at position 1; {OFF_GRID}",
    ),
    Row(
        lambda: mask([100, 250], decimals=-2),
        ValueError,
        f"x must hold multiples of its step, 100, got another number at position 1; {OFF_GRID}",
    ),
    Row(
        lambda: scheme(sigma=1.0, decimals=12).mask([1.0, 1e6]),
        ValueError,
        "x must stay within 2^53 steps of 1e-12, noise included, got a value beyond at position 1; "
        "pass step=1.1641532182693481e-10 and round=True",
    ),
    Row(
        lambda: scheme(sigma=1.0, decimals=12).mask([-1e300, 1.0]),
        ValueError,
        "x must stay within 2^53 steps of 1e-12, noise included, got a value beyond at position 0",
    ),
    Row(
        lambda: scheme(sigma=1.0).mask(np.float32([2e4, 1.5, 0.3, 0.7])),
        ValueError,
        "x must stay within 2^24 steps of 0.000976562, noise included, got a value beyond at position 0; "
        "pass step=0.001953125 and round=True",
    ),
]

MASK = [
    Row(
        lambda: mask(accept_visible_coins="no"),
        TypeError,
        "accept_visible_coins must be True or False, got 'no'",
    ),
    Row(
        lambda: cm.mask_file("a.csv", "b.csv", {"x": scheme()}, accept_visible_coins="no"),
        TypeError,
        "accept_visible_coins must be True or False, got 'no'",
    ),
    Row(
        lambda: cm.mask_file(None, "b.csv", {"x": scheme()}),
        TypeError,
        "source must be a path, got None",
    ),
    Row(lambda: mask(nan_policy="drop"), ValueError, "nan_policy must be one of 'raise', 'omit', got 'drop'"),
    Row(lambda: mask(strata=[1, 2]), ValueError, "strata must be as long as x, 10 values, got 2"),
    Row(lambda: mask(strata="region"), ValueError, "strata must be 1-D, got 0-D"),
    Row(lambda: mask(strata=np.zeros((10, 2))), ValueError, "strata must be 1-D, got 2-D"),
    Row(
        lambda: mask(strata=list("aaaaaabbbb")),
        ValueError,
        "strata must have at least 10 records each, got 6 in stratum 'a' (2 strata are too small); "
        'small_strata="merge" pools them',
    ),
    Row(
        lambda: mask(np.tile(GENERIC, 2), strata=[7] * 11 + [8] * 9),
        ValueError,
        'strata must have at least 10 records each, got 9 in stratum 8; small_strata="merge" pools them',
    ),
    Row(
        lambda: mask(
            np.where(np.arange(20) == 19, np.nan, 1.0) * np.pi, strata=[7] * 10 + [8] * 10, nan_policy="omit"
        ),
        ValueError,
        'strata must have at least 10 records each, got 9 in stratum 8; small_strata="merge" pools them',
    ),
    Row(
        lambda: scheme().mask(GENERIC, strata=list("ab") * 5),
        ValueError,
        NONE_NAMED,
    ),
    Row(
        lambda: scheme(strata="region").mask(GENERIC),
        ValueError,
        "strata must be given: the scheme names 'region', so pass that column to mask()",
    ),
    Row(
        lambda: scheme(strata=["region", "sex"]).mask(GENERIC),
        ValueError,
        "strata must be given: the scheme names 'region', 'sex', so pass these columns to mask()",
    ),
    *(
        Row(
            lambda v=v: scheme(strata=["region", "sex"]).mask(GENERIC, strata=v),
            ValueError,
            "strata must be a table with the columns 'region', 'sex' or a list of 2 arrays, got " + got,
        )
        for v, got in (
            (list("ab") * 5, "10 elements"),
            (np.arange(10), "ndarray"),
            (FRAME["region"], "Series"),
        )
    ),
    Row(
        lambda: scheme(strata=["region", "sex"]).mask(GENERIC, strata={"region": GENERIC}),
        ValueError,
        "strata must have the column 'sex', it has 'region'",
    ),
    Row(
        lambda: scheme(strata=["region", "sex"]).mask(GENERIC, strata=[GENERIC, [1, 2]]),
        ValueError,
        "strata must be as long as x, 10 values, got 2",
    ),
    Row(
        lambda: scheme(strata=["region", "sex"]).mask(
            np.tile(GENERIC, 3), strata={"region": ["n"] * 15 + ["s"] * 15, "sex": [0, 1] * 15}
        ),
        ValueError,
        "strata must have at least 10 records each, got 8 in stratum ('n', 0) (4 strata are too small); "
        'small_strata="merge" pools them',
    ),
    Row(
        lambda: scheme(strata="region", small_strata="merge").mask(GENERIC[:9], strata=list("aaabbbccc")),
        ValueError,
        "strata must have at least 10 records together, got 9",
    ),
    *(
        Row(lambda w=w: mask(workers=w), ValueError, f"{NO_WORKERS}{w!r}")
        for w in (0, -1, 1.5, True, None, "2")
    ),
    *(Row(lambda r=r: mask(rng=r), TypeError, NO_RNG + type(r).__name__) for r in (1.5, "1", True, [1])),
    Row(lambda: mask(rng=-1), ValueError, "rng must be at least 0, got -1"),
    Row(lambda: mask(rng=np.random.RandomState(1)), TypeError, NO_RNG + "RandomState"),
    Row(lambda: mask(rng=None, rows=(0, 5)), ValueError, NO_KEY_TWICE + "None" + OTHER_KEY),
    Row(
        lambda: mask(rng=np.random.default_rng(1), rows=(0, 5)),
        ValueError,
        NO_KEY_TWICE + "a Generator" + OTHER_KEY,
    ),
    Row(
        lambda: mask(rng=np.random.SeedSequence(1), rows=(0, 5)),
        ValueError,
        NO_KEY_TWICE + "a SeedSequence" + OTHER_KEY,
    ),
    *(Row(lambda r=r: mask(rows=r), ValueError, f"{NO_ROWS}{r}") for r in ((-1, 5), (0, 11), (5, 5), (6, 5))),
    *(
        Row(lambda r=r: mask(rows=r), TypeError, f"rows must be a pair (start, stop), got {r!r}")
        for r in (5, (1, 2, 3), "12", (0, 1.5))
    ),
]

AGREE = "schemes must agree in strata and small_strata, got strata="
TABLE = [
    Row(
        lambda: table(income=scheme(reverse_mapping=True), bonus=scheme(donors="permutation")),
        ValueError,
        "schemes must all have reverse_mapping=True or none: the columns of a table share the swap status of "
        "each record, got True and for 'bonus' False",
    ),
    Row(
        lambda: table(income=scheme(strata="region")),
        ValueError,
        f"{AGREE}'region', small_strata='refuse' and for 'bonus' strata=None, small_strata='refuse'",
    ),
    Row(
        lambda: table(bonus=scheme(strata="name"), strata="region"),
        ValueError,
        f"{AGREE}'region', small_strata='refuse' and for 'bonus' strata='name', small_strata='refuse'",
    ),
    Row(
        lambda: table(bonus=scheme(small_strata="merge"), strata="region"),
        ValueError,
        f"{AGREE}'region', small_strata='refuse' and for 'bonus' strata=None, small_strata='merge'",
    ),
    Row(
        lambda: table(strata=["region", "bonus"]),
        ValueError,
        "strata must not be a column that is masked, got 'bonus'",
    ),
    Row(lambda: table(strata=0), TypeError, "strata must be None, a name or a sequence of names, got 0"),
    Row(lambda: cm.mask_table(FRAME, {}), ValueError, "schemes must name at least one column, got none"),
    Row(
        lambda: cm.mask_table(FRAME, scheme()),
        TypeError,
        "schemes must be a dict of schemes by column, got ConditionalMasking",
    ),
    Row(
        lambda: cm.mask_table(FRAME, {"income": 0.6}),
        TypeError,
        "schemes must be masking schemes, got 0.6 for 'income'",
    ),
    Row(
        lambda: cm.mask_table(FRAME, {"wage": scheme()}),
        ValueError,
        "frame must have the column 'wage', it has 'income', 'bonus', 'region', 'name'",
    ),
    Row(
        lambda: table(strata="county"),
        ValueError,
        "frame must have the column 'county', it has 'income', 'bonus', 'region', 'name'",
    ),
    Row(lambda: table(frame=GENERIC), TypeError, "frame must be a data frame, got ndarray"),
    Row(
        lambda: cm.mask_table(FRAME, {"region": scheme()}),
        TypeError,
        "region must be numeric, got dtype String",
    ),
    Row(
        lambda: table(bonus=scheme(0.5)),
        ValueError,
        DISAGREE + "p=0.5, donors='permutation'",
    ),
    Row(
        lambda: table(bonus=scheme(donors="sample")),
        ValueError,
        DISAGREE + "p=0.6, donors='sample'",
    ),
    Row(lambda: table(strata="bonus"), ValueError, "strata must not be a column that is masked, got 'bonus'"),
    Row(
        lambda: table(strata="region"),
        ValueError,
        "strata must have at least 10 records each, got 6 in stratum 'a' (2 strata are too small); "
        'small_strata="merge" pools them',
    ),
    Row(
        lambda: table(frame=FRAME.assign(bonus=with_value(np.nan))),
        ValueError,
        "2 things must be settled: (1) bonus has 1 missing value, the first at position 3; pass "
        'nan_policy="omit" to leave them out; (2) patterns of missing values must have at least 10 records '
        "each, got 1 without bonus; a donor must have the same gaps, so mask the columns one by one or leave "
        "these records out",
    ),
    Row(
        lambda: table(frame=pd.concat([FRAME] * 2).assign(bonus=[np.nan] + [1.5] * 19), nan_policy="omit"),
        ValueError,
        "patterns of missing values must have at least 10 records each, got 1 without bonus; a donor must "
        "have the same gaps, so mask the columns one by one or leave these records out",
    ),
    Row(
        lambda: table(frame=FRAME.assign(bonus=1.5), bonus=scheme(decimals=0)),
        ValueError,
        f"bonus must hold multiples of its step, 1, got another number at position 0; {OFF_GRID}",
    ),
    Row(
        lambda: table(nan_policy="drop"), ValueError, "nan_policy must be one of 'raise', 'omit', got 'drop'"
    ),
    Row(lambda: table(workers=0), ValueError, NO_WORKERS + "0"),
]


def estimate(z=GENERIC, p=0.6, sigma=2.0, labels=None, nan_policy="omit", group=None, **options):
    if "decimals" not in options:
        options.setdefault("step", 0)
    options.setdefault("strata", None if labels is None else "region")
    found = scheme(p, sigma, **options).estimate(z, strata=labels, nan_policy=nan_policy)
    return in_group(found, group)


RULES = "bandwidth must be one of 'scott', 'silverman', 'undersmooth', got 'sheather'"
TOO_LARGE = ", beyond which powers of the noise are too large for a number"
NOT_TOGETHER = "other must have been masked together with this column (mask_table), got groups "
TOO_FEW = " records (in each stratum) for a covariance at p="

ESTIMATE = [
    *(
        Row(lambda q=q: estimate().quantile(q), ValueError, f"q must lie strictly between 0 and 1, got {q}")
        for q in (0.0, 1.0, -0.5, 1.5)
    ),
    Row(lambda: estimate().quantile([0.5, 2.0]), ValueError, "q must lie strictly between 0 and 1, got 2.0"),
    Row(lambda: estimate().quantile([0.5, np.nan]), ValueError, "q must not hold NaN"),
    Row(
        lambda: estimate().quantile("0.5"), TypeError, "q must be a number or an array of numbers, got '0.5'"
    ),
    Row(lambda: estimate().cdf(np.nan), ValueError, "t must not be NaN, got nan"),
    Row(lambda: estimate().cdf([1.0, np.nan]), ValueError, "t must not hold NaN"),
    Row(lambda: estimate().cdf(True), TypeError, "t must be a number or an array of numbers, got booleans"),
    *(
        Row(
            lambda b=b, name=name: getattr(estimate(), name)(0.5, bandwidth=b),
            ValueError,
            f"bandwidth must be positive and finite, got {b}",
        )
        for b in (0, -1.0, np.inf, np.nan)
        for name in ("cdf", "pdf", "quantile")
    ),
    *(
        Row(lambda name=name: getattr(estimate(), name)(0.5, bandwidth="sheather"), ValueError, RULES)
        for name in ("cdf", "pdf", "quantile")
    ),
    Row(lambda: estimate().bandwidth("sheather"), ValueError, RULES.replace("bandwidth", "rule")),
    Row(
        lambda: estimate().pdf(0.5, bandwidth=None),
        ValueError,
        "bandwidth must be a positive number or a rule for a density, got None",
    ),
    Row(
        lambda: estimate([2.5] * 4).cdf(0.5, bandwidth="scott"),
        ValueError,
        "bandwidth='scott' needs masked values that differ; pass a number",
    ),
    *(
        Row(
            lambda b=b: estimate().quantile(0.5, bandwidth=2 * b),
            ValueError,
            f"bandwidth must be between 0.0001 and 1e+20 sigma, got {2 * b:g} with sigma=2; bandwidth=None "
            "does not smooth",
        )
        for b in (1e-21, 1e21)
    ),
    Row(
        lambda: estimate([1.5, -1e308]).cdf(0.5),
        ValueError,
        "z must be at most 4.5e+307 in size, got a larger one at position 1",
    ),
    Row(
        lambda: estimate(np.round(GENERIC, 1), decimals=1).cdf(0.5, bandwidth=0.1),
        ValueError,
        "bandwidth must be at least 1.5 steps of the grid, 0.15, got 0.1 with step=0.1",
    ),
    *(
        Row(
            lambda t=t, name=name: getattr(estimate(), name)(0.5, tol=t),
            ValueError,
            f"tol must be positive and finite, got {t}",
        )
        for t in (0, -1e-9, np.nan)
        for name in ("cdf", "pdf", "quantile")
    ),
    *(
        Row(
            lambda name=name: getattr(estimate(p=0.5), name)(0.5, tol=1e-15),
            ValueError,
            "tol must be at least 4.0e-14 at p=0.5 (rounding), got 1e-15",
        )
        for name in ("cdf", "pdf", "quantile")
    ),
    Row(
        lambda: estimate().cdf(0.5, method="fft"),
        ValueError,
        "method must be one of 'auto', 'series', got 'fft'",
    ),
    Row(
        lambda: estimate().cdf(0.5, method="series", monotone=True),
        ValueError,
        "method must be 'auto' where monotone=True, got 'series'",
    ),
    Row(
        lambda: estimate().quantile(0.5, crossing="last"),
        ValueError,
        "crossing must be one of 'first', 'rearranged', got 'last'",
    ),
    Row(
        lambda: estimate(p=0.05).cdf(0.5, method="series"),
        ValueError,
        "method must be 'auto' for normal noise, p=0.05, a step of 0 sigma and tol=1e-10, got 'series', "
        "which needs normal noise, 0.45 <= p < 1 and a fine step",
    ),
    Row(
        lambda: estimate(np.round(GENERIC), decimals=0).cdf(0.5, method="series"),
        ValueError,
        "method must be 'auto' for normal noise, p=0.6, a step of 0.5 sigma and tol=1e-10, got 'series', "
        "which needs normal noise, 0.45 <= p < 1 and a fine step",
    ),
    *(
        Row(
            lambda k=k: estimate().moment(k),
            ValueError,
            f"order must be a whole number of at least 1, got {k}",
        )
        for k in (0, -2)
    ),
    *(
        Row(call, ValueError, f"order must be at most {most}{TOO_LARGE}, got {k}")
        for call, most, k in (
            (lambda: estimate().moment(171), 170, 171),
            (lambda: estimate().moment(10**5, central=True), 170, 100000),
            (lambda: estimate().moment_interval(86), 85, 86),
        )
    ),
    Row(lambda: estimate().moment(2.0), TypeError, "order must be a whole number of at least 1, got 2.0"),
    Row(lambda: estimate([1.5]), ValueError, "z must have at least 2 values, got 1"),
    Row(lambda: estimate(np.ones((2, 2, 2))), ValueError, "z must be 1-D or 2-D, got 3-D"),
    Row(
        lambda: estimate([1.5, np.nan]),
        ValueError,
        "z must have at least 2 values that are not missing, got 1",
    ),
    Row(
        lambda: estimate(with_value(np.nan), nan_policy="raise"),
        ValueError,
        'z has 1 missing value, the first at position 3; pass nan_policy="omit" to leave them out',
    ),
    Row(
        lambda: estimate([[1.5, np.nan, 4.5], [2.5, 3.5, 4.5]]),
        ValueError,
        "z must have no missing values where it is 2-D; estimate its rows one by one",
    ),
    Row(lambda: estimate(labels=[1, 2], strata=None), ValueError, NONE_NAMED),
    Row(
        lambda: estimate(strata=["region", "sex"]).correlation(GENERIC),
        ValueError,
        "strata must be given: donors were drawn within 'region', 'sex', so pass these columns to estimate()",
    ),
    Row(lambda: estimate(labels=[1, 2]), ValueError, "strata must be as long as z, 10 values, got 2"),
    Row(
        lambda: estimate().covariance([1.5, 2.5]), ValueError, "other must be as long as z, 10 values, got 2"
    ),
    Row(
        lambda: estimate([GENERIC, GENERIC]).covariance([GENERIC] * 3),
        ValueError,
        "other must have 2 replicates, as z has, got 3",
    ),
    Row(
        lambda: estimate().covariance(np.empty((0, 10))),
        ValueError,
        "other must have 1 replicates, as z has, got 0",
    ),
    Row(lambda: estimate().correlation(estimate()), ValueError, NOT_TOGETHER + "None and None"),
    Row(
        lambda: estimate(group="a").correlation(estimate(group="b")), ValueError, NOT_TOGETHER + "'a' and 'b'"
    ),
    Row(
        lambda: estimate(strata="region").correlation(GENERIC),
        ValueError,
        "strata must be given: donors were drawn within 'region', so pass that column to estimate()",
    ),
    Row(
        lambda: estimate([1.5, np.nan, 2.5, 3.5, 4.5]).covariance([np.nan, 1.0, 2.0, np.nan, np.nan]),
        UndefinedError,
        "other must have at least 2 values where z has them, got 1",
    ),
    Row(
        lambda: estimate(p=0.9).covariance(GENERIC),
        UndefinedError,
        f"z must have more than 10{TOO_FEW}0.9, got 10",
    ),
    Row(
        lambda: estimate(p=0.8, labels=list("aaaaaabbbb")).covariance(GENERIC),
        UndefinedError,
        f"z must have more than 5{TOO_FEW}0.8, got 4",
    ),
]


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@pytest.mark.parametrize("row", [*SCHEME, *DATA, *MASK, *TABLE, *ESTIMATE], ids=lambda row: row.message[:60])
def test_a_wrong_argument_brings_its_message(row):
    with pytest.raises(row.exception) as caught:
        row.call()

    assert isinstance(caught.value, cm.CondmaskError)
    assert str(caught.value) == row.message


@pytest.mark.parametrize(
    ("error", "also"),
    [
        (errors.ArgumentError, ValueError),
        (errors.ArgumentTypeError, TypeError),
        (errors.MissingPackageError, ImportError),
        (cm.FileError, OSError),
        (cm.ReleaseError, ValueError),
        (UndefinedError, ValueError),
    ],
)
def test_an_error_is_ours_and_pythons_and_travels(error, also):
    travelled = pickle.loads(pickle.dumps(error("p must lie strictly between 0 and 1, got 2")))

    assert isinstance(travelled, cm.CondmaskError)
    assert isinstance(travelled, also)
    assert type(travelled) is error
    assert str(travelled) == "p must lie strictly between 0 and 1, got 2"
