"""One table of refusals: a call, and the exact message it brings, a row for each rule.

The form is argument, rule, value: ``p must lie strictly between 0 and 1, got 1.5``. A column that
is refused holds a conspicuous number, of which neither the message nor the traceback shows a
digit.
"""

import pickle
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import DIGITS, GENERIC, LARGE, VALUE
from releases import in_group

import condmask as cm
from condmask import errors
from condmask._randomness import Key
from condmask.inference.interval import UndefinedError

pytestmark = pytest.mark.usefixtures("unaudited")

X = np.append(GENERIC[:9] * 1e3, VALUE)
FRAME = pd.DataFrame({"income": X, "bonus": X**2, "region": list("aaaaaabbbb"), "name": "x"})
REGIONS = list("aaaaaabbbb")
CROSSED = ["region", "sex"]


def scheme(p=0.6, sigma=1000.0, **options):
    return cm.ConditionalMasking(p, sigma, **options)


def mapped(**options):
    return cm.ReverseMapping(0.6, 1000.0, **options)


def mask(x=X, rng=1, strata=None, **options):
    named = None if strata is None else "region"
    given = {
        name: options.pop(name)
        for name in ("decimals", "sigma", "small_strata")
        if name in options
    }
    return scheme(strata=named, **given).mask(x, rng=rng, strata=strata, **options)


def table(frame=FRAME, income=None, bonus=None, **options):
    return cm.mask_table(
        frame, {"income": income or scheme(), "bonus": bonus or scheme()}, rng=1, **options
    )


def read(**entries):
    return cm.ConditionalMasking.from_dict({**scheme().to_dict(), **entries})


def estimate(z=X, p=0.6, labels=None, group=None, **options):
    options = {"strata": None if labels is None else "region", "sigma": 2.0, **options}
    options = options if "decimals" in options else {"step": 0, **options}
    return in_group(scheme(p, **options).estimate(z, strata=labels), group)


def with_value(value, at=3):
    x = X.copy()
    x[at] = value
    return x


def one_gap():
    """Two columns of 20 records, of which one misses a value."""
    frame = pd.DataFrame({"a": np.tile(X, 2), "b": [np.nan] + [VALUE] * 19})
    return cm.mask_table(frame, dict.fromkeys("ab", scheme()), nan_policy="omit")


def released():
    """A release of one column."""
    return cm.mask_table({"a": np.tile(X, 2)}, {"a": scheme()}, accept="all")


AS_THEY_ARE = "; cm.ReverseMapping releases such values as they are"
OFF_GRID = "; round=True rounds the data, whose digits would otherwise reveal swapped records"
MERGE = '; recode them, or pass small_strata="merge"'
OMIT = '; pass nan_policy="omit" to leave them out'
SAME_GAPS = (
    '; a donor must have the same gaps, so pass rare_gaps="drop" to leave these records out, or mask '
    "fewer columns in one call"
)
NOT_TOGETHER = "other must have been masked together with this column (mask_table), got groups "
NEEDS = ", which needs normal noise, 0.45 <= p < 1 and a fine step"
AUTO = "method must be 'auto' for normal noise, p="
AGREE = "schemes of columns masked together must agree in "

WRONG_VALUES = {
    # the scheme
    "p must lie strictly between 0 and 1, got 1.5": lambda: scheme(1.5),
    "p must lie strictly between 0 and 1, got nan": lambda: scheme(np.nan),
    "sigma must be positive and finite, got 0": lambda: scheme(sigma=0),
    "range must be two numbers, the lower first, of which one may be None, got (1, 1)": (
        lambda: scheme(range=(1, 1))
    ),
    "noise must be one of 'normal', 'laplace', got 'cauchy'": lambda: scheme(noise="cauchy"),
    "aggregate_ends must be 0 or at least 2, got 1: one value is its own mean": (
        lambda: mapped(aggregate_ends=1)
    ),
    "scale must be one of 'linear', 'log', got 2": lambda: mapped(scale=2),
    "decimals must be at most 15, got 16": lambda: scheme(decimals=16),
    "missing must be a finite number or a sequence of several, with ranges as pairs in it: "
    "[-8, (9990, 9999)], got nan": lambda: scheme(missing=np.nan),
    "missing must name each code once, got 9995, which overlaps with (9990, 9999)": (
        lambda: scheme(missing=[(9990, 9999), 9995])
    ),
    "missing must have ranges that ascend, got (9999, 9990); pass missing=[(9990, 9999)]": lambda: (
        scheme(missing=[(9999, 9990)])
    ),
    "missing must have ranges of two ends, of which one may be None: (9990, 9999), (None, -1), "
    "got (None, None)": lambda: scheme(missing=[-8, (None, None)]),
    "missing=(None, -1) could be a range or a code: pass missing=[(None, -1)] for all "
    "numbers up to it, missing=(-1, None) for this code and no others": (
        lambda: scheme(missing=(None, -1))
    ),
    "missing must name each code once, got -8.0": lambda: scheme(missing=[-8, -8.0]),
    "scheme must be one of 'AdditiveNoise', 'ConditionalMasking', 'DataShuffling', 'DataSwapping', "
    "'MultiplicativeNoise', 'RankSwapping', 'ReverseMapping', got 'Swapping'": (
        lambda: read(scheme="Swapping")
    ),
    "scheme has no entries 'sigma'": (
        lambda: cm.ConditionalMasking.from_dict({"scheme": "ConditionalMasking", "p": 0.5})
    ),
    "scheme has unknown entries 'alpha', 'key'": lambda: read(key=1, alpha=2),
    "strata must name each column once, got ['a', 'b', 'a']": lambda: scheme(
        strata=["a", "b", "a"]
    ),
    "step must be at least 0 and finite, got -1.0": lambda: scheme(step=-1.0),
    "step must be at least sigma / 2^40, got 1e-10 with sigma=1000.0": lambda: scheme(step=1e-10),
    "step must be left out where decimals=1 is given, got 0.5": lambda: scheme(
        decimals=1, step=0.5
    ),
    "secret must be 16 bytes, got 5": lambda: Key(b"short"),
    # a column
    f"x has 1 missing value, the first at position 3{OMIT}": lambda: mask(with_value(np.nan)),
    f"x has 2 missing values, the first at position 0{OMIT}": lambda: mask(
        pl.Series([None, VALUE, None, 2.5])
    ),
    "x must have at least 2 values that are not missing, got 1": (
        lambda: mask([VALUE, np.nan], nan_policy="omit")
    ),
    "x must be finite, got 2 infinite values, the first at position 4": (
        lambda: mask(with_value(-np.inf, at=slice(4, 6)), nan_policy="omit")
    ),
    "x must be at most 4.5e+307 in size, got a larger one at position 3": (
        lambda: mask(with_value(VALUE * -1e301))
    ),
    "x must have at least 2 values, got 1": lambda: mask(pa.array([VALUE])),
    "x must be 1-D, got 0-D": lambda: mask(VALUE),
    "x must be 1-D, got 2-D": lambda: mask([[VALUE, 1.0]] * 2),
    "x must be 1-D, got rows of unequal length": lambda: mask([[VALUE, 1.0], [2.0]]),
    "x must be complete, got 1 missing value, the first at position 1": (
        lambda: cm.RankSwapping(5).mask([VALUE, np.nan])
    ),
    f"x must hold integers of at most 2^53, got a larger one at position 1{AS_THEY_ARE}": (
        lambda: mask(np.array([1, LARGE * 10**9], np.uint64))
    ),
    f"x must hold integers of at most 2^53, got a larger one at position 2{AS_THEY_ARE}": (
        lambda: mask(pd.Series([1, 2, LARGE * 10**7], dtype="Int64"))
    ),
    f"x must hold multiples of its step, 100, got another number at position 1{OFF_GRID}": (
        lambda: mask([100, LARGE], decimals=-2)
    ),
    f"x must hold multiples of its step, 0.1, got another number at position 1{OFF_GRID}": (
        lambda: mask(np.float32([0.5, 0.25]), decimals=1)
    ),
    "x must stay within 2^53 steps of 1e-12, noise included, got a value beyond at position 1; pass "
    "step=1.862645149230957e-09 and round=True": lambda: mask(
        [1.0, VALUE], sigma=1.0, decimals=12
    ),
    "x must stay within 2^53 steps of 1e-12, noise included, got a value beyond at position 0": (
        lambda: mask([VALUE * 1e293, 1.0], sigma=1.0, decimals=12)
    ),
    "x must stay within 2^24 steps of 0.000976562, noise included, got a value beyond at position 0; pass "
    "step=1 and round=True": lambda: mask(np.float32([VALUE, 1.5, 0.3]), sigma=1.0),
    "x must stay finite, noise included, got a value beyond at position 0": (
        lambda: mask(np.float32([VALUE * 1e31, 1.5]), sigma=2.0**122)
    ),
    # how it is masked
    "nan_policy must be one of 'raise', 'omit', got 'drop'": lambda: mask(nan_policy="drop"),
    "strata must be as long as x, 10 values, got 2": lambda: mask(strata=[1, 2]),
    "strata must be 1-D, got 0-D": lambda: mask(strata="region"),
    "strata must have at least 10 records each, got 2 with fewer (10 records in all, the smallest with 4 in "
    "stratum 'b')" + MERGE: lambda: mask(strata=REGIONS),
    "strata must have at least 10 records each, got 8 in stratum 'a', 1" + MERGE: lambda: scheme(
        strata=CROSSED
    ).mask(np.tile(X, 2), strata=[["a"] * 8 + ["b"] * 12, [1] * 20]),
    "strata must have at least 10 records each, got 9": (
        lambda: mask(X[:9], strata=list("aaabbbccc"), small_strata="merge")
    ),
    "strata must be left out where the scheme names none, got values; ReverseMapping(..., strata=name) or "
    "ConditionalMasking(..., strata=name) names their column": lambda: scheme().mask(
        X, strata=REGIONS
    ),
    "strata must be given: the scheme names 'region', so pass that column to mask()": (
        lambda: scheme(strata="region").mask(X)
    ),
    "strata must be given: the scheme names 'region', 'sex', so pass these columns to estimate()": (
        lambda: estimate(strata=CROSSED).correlation(X)
    ),
    "strata must be a table with the columns 'region', 'sex' or a list of 2 arrays, got 10 elements": (
        lambda: scheme(strata=CROSSED).mask(X, strata=REGIONS)
    ),
    "strata must have the column 'sex', it has 'region'": (
        lambda: scheme(strata=CROSSED).mask(X, strata={"region": X})
    ),
    "rng must be at least 0, got -1": lambda: mask(rng=-1),
    # a table
    "schemes must be of one class, got ReverseMapping and for 'bonus' ConditionalMasking": (
        lambda: table(income=mapped())
    ),
    f"{AGREE}strata='region', got None for 'bonus'": lambda: table(income=scheme(strata="region")),
    f"{AGREE}strata=None, got 'region' for 'bonus'": (
        lambda: cm.audit(FRAME, {"income": scheme(), "bonus": scheme(strata="region")})
    ),
    f"{AGREE}p=0.6, got 0.5 for 'bonus'": lambda: table(bonus=scheme(0.5)),
    f"{AGREE}donors='permutation', got 'sample' for 'bonus'": lambda: table(
        bonus=scheme(donors="sample")
    ),
    "strata must not be a column that is masked, got 'bonus'": lambda: table(
        strata=["region", "bonus"]
    ),
    "schemes must name at least one column, got none": lambda: cm.mask_table(FRAME, {}),
    "frame must have the column 'wage', it has 'income', 'bonus', 'region', 'name'": (
        lambda: cm.mask_table(FRAME, {"wage": scheme()})
    ),
    "frame must have the column 'x', it has 'y' and 1 named by numbers (is there a header?)": (
        lambda: cm.mask_table(pd.DataFrame({str(VALUE): X, "y": X}), {"x": scheme()})
    ),
    f"patterns of missing values must have at least 10 records each, got 1 without b{SAME_GAPS}": one_gap,
    f"2 problems were found: (1) bonus has 1 missing value, the first at position 3{OMIT}; (2) patterns "
    "of missing values must have at least 10 records each, got 2 with fewer (10 records in all, the smallest "
    f"with 1 without bonus){SAME_GAPS}": (
        lambda: table(frame=FRAME.assign(bonus=with_value(np.nan)))
    ),
    # an estimate
    "q must lie strictly between 0 and 1, got 2.0": lambda: estimate().quantile([0.5, 2.0]),
    "q must not hold NaN": lambda: estimate().quantile([0.5, np.nan]),
    "t must not be NaN, got nan": lambda: estimate().cdf(np.nan),
    "bandwidth must be one of 'scott', 'silverman', 'undersmooth', got 'sheather'": (
        lambda: estimate().cdf(0.5, bandwidth="sheather")
    ),
    "bandwidth must be positive and finite, got 0": lambda: estimate().pdf(0.5, bandwidth=0),
    "bandwidth must be a positive number or a rule for a density, got None": (
        lambda: estimate().pdf(0.5, bandwidth=None)
    ),
    "bandwidth='scott' needs masked values that differ; pass a number": (
        lambda: estimate([VALUE] * 4).cdf(0.5, bandwidth="scott")
    ),
    "bandwidth must be between 0.0001 and 1e+20 sigma, got 2e-21 with sigma=2; bandwidth=None does not "
    "smooth": lambda: estimate().quantile(0.5, bandwidth=2e-21),
    "bandwidth must be at least 1.5 steps of the grid, 0.15, got 0.1 with step=0.1": (
        lambda: estimate(np.round(GENERIC, 1), decimals=1).cdf(0.5, bandwidth=0.1)
    ),
    "method must be 'auto' where monotone=True, got 'series'": (
        lambda: estimate().cdf(0.5, method="series", monotone=True)
    ),
    f"{AUTO}0.05 and a step of 0 sigma, got 'series'{NEEDS}": (
        lambda: estimate(p=0.05).cdf(0.5, method="series")
    ),
    "order must be a whole number of at least 1, got 0": lambda: estimate().moment(0),
    "order must be at most 170, beyond which powers of the noise are too large for a number, got 171": (
        lambda: estimate().moment(171)
    ),
    "z must have at least 2 values, got 1": lambda: estimate([VALUE]),
    "z must be 1-D or 2-D, got 3-D": lambda: estimate(np.full((2, 2, 2), VALUE)),
    "each row of a 2-D z must be complete, got 1 missing value, the first at position 1": (
        lambda: estimate([[1.5, np.nan, VALUE], [2.5, 3.5, VALUE]])
    ),
    "other must be as long as z, 10 values, got 2": lambda: estimate().covariance([VALUE, 2.5]),
    "other must have 2 replicates, as z has, got 3": lambda: estimate([X, X]).covariance([X] * 3),
    "strata must be None for AdditiveNoise, which has no donor pools, got 's'": (
        lambda: cm.mask_table({"a": X, "s": X}, {"a": cm.AdditiveNoise(1.0)}, strata="s")
    ),
    "other must be another column, got 'a' itself": lambda: released()["a"].correlation("a"),
    f"{NOT_TOGETHER}None and None": lambda: estimate().correlation(estimate()),
    f"{NOT_TOGETHER}'a' and 'b'": lambda: estimate(group="a").correlation(estimate(group="b")),
    "other must have at least 2 values where z has them, got 1": (
        lambda: estimate([1.5, np.nan, VALUE]).covariance([np.nan, 1.0, 2.0])
    ),
    "z must have more than 5 records (in each stratum) for a covariance at p=0.8, got 4": (
        lambda: estimate(p=0.8, labels=REGIONS).covariance(X)
    ),
}
WRONG_TYPES = {
    "workers must be a whole number of at least 1, got True": lambda: mask(workers=True),
    "p must be a number strictly between 0 and 1, got 'half'": lambda: scheme("half"),
    "p must be a number strictly between 0 and 1, got True": lambda: scheme(True),
    "sigma must be a positive finite number, got [1]": lambda: scheme(sigma=[1]),
    "range must be two numbers, the lower first, of which one may be None, got '1'": (
        lambda: scheme(range=(0, "1"))
    ),
    "reverse_mapping must be True or False, got 1": lambda: scheme(reverse_mapping=1),
    "missing must be a finite number or a sequence of several, with ranges as pairs in it: "
    "[-8, (9990, 9999)], got 'NA'": lambda: scheme(missing=[-8, "NA"]),
    "decimals must be a whole number of at least -15, got False": lambda: scheme(decimals=False),
    "strata must be None, a name or a sequence of names, got ['region', 1]": (
        lambda: scheme(strata=["region", 1])
    ),
    "step must be a finite number of at least 0, got '1'": lambda: scheme(step="1"),
    "secret must be 16 bytes, got int": lambda: Key(16),  # bytes(16) would be sixteen zeros
    "x must be numeric, got str": lambda: mask(str(VALUE)),
    "x must be numeric, got dtype <U11": lambda: mask([str(VALUE)] * 12),
    "x must be numeric, got dtype object": lambda: mask([VALUE, None]),
    "x must be numeric, got booleans": lambda: mask([True, False]),
    "x must be numeric, got complex numbers": lambda: mask([1j, VALUE]),
    "x must be numeric, got dtype String": lambda: mask(pd.Series([str(VALUE)] * 3)),
    "x must be numeric, got dtype Boolean": lambda: mask(pl.Series([True, False])),
    "x must be numeric, got dtype Int128; pass x.cast(pl.Decimal(38, 0))": lambda: mask(
        pl.Series("x", [5, None], dtype=pl.Int128)
    ),
    "x must be float32 or float64, got dtype float16": lambda: mask(np.float16([3.0, 8.67])),
    "x must be a plain array, got a masked one; fill its gaps with NaN": (
        lambda: mask(np.ma.array([VALUE, 2.5], mask=[0, 1]))
    ),
    "x must be an array or a series of numbers, got DataFrame": lambda: mask(FRAME),
    "source must be a path, got None": lambda: cm.mask_file(None, "b.csv", {"x": scheme()}),
    "rng must be None, a whole number, a Generator or a Key, got float": lambda: mask(rng=1.5),
    "schemes must be a dict of schemes by column, got ConditionalMasking(p=0.6, sigma=1000.0)": (
        lambda: cm.mask_table(FRAME, scheme())
    ),
    "schemes must be masking schemes, got 0.6 for 'income'": lambda: cm.mask_table(
        FRAME, {"income": 0.6}
    ),
    "frame must be a data frame, got ndarray": lambda: table(frame=X),
    "q must be a number or an array of numbers, got '0.5'": lambda: estimate().quantile("0.5"),
    "t must be a number or an array of numbers, got booleans": lambda: estimate().cdf(True),
    "order must be a whole number of at least 1, got 2.0": lambda: estimate().moment(2.0),
}
ROWS = [
    *((text, call, ValueError) for text, call in WRONG_VALUES.items()),
    *((text, call, TypeError) for text, call in WRONG_TYPES.items()),
]


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@pytest.mark.parametrize(("message", "call", "also"), ROWS, ids=[text[:60] for text, *_ in ROWS])
def test_a_wrong_argument_brings_its_message(message, call, also):
    with pytest.raises(cm.CondmaskError) as caught:
        call()

    assert str(caught.value) == message
    assert isinstance(caught.value, also)
    log = "".join(traceback.format_exception(caught.value))
    assert not [form for form in DIGITS if form in log]


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


@pytest.mark.parametrize("scheme", [cm.ReverseMapping, cm.ConditionalMasking])
def test_messages_of_python_on_parameters_name_the_public_class(scheme):
    with pytest.raises(TypeError, match=rf"^{scheme.__name__}\.__init__\(\) got an unexpected"):
        scheme(0.6, 1.0, sigmas=2)
