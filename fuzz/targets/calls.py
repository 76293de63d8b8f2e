"""Public functions and methods with arguments that nobody should pass."""

import inspect
from functools import cache

import numpy as np
from hypothesis import strategies as st

import condmask as cm
from fuzz.material import SCHEME, fresh
from fuzz.target import arguments
from fuzz.values import anything, columns, numbers

X = np.random.default_rng(1).normal(0.0, 5.0, 40)
MAPPED = cm.ConditionalMasking(0.6, 3.0, reverse_mapping=True)
FUNCTIONS = {
    name: getattr(cm, name)
    for name in (
        "AdditiveNoise", "ConditionalMasking", "Counts", "CsvFormat", "DataShuffling", "DataSwapping",
        "MultiplicativeNoise", "NormalCopula", "RankSwapping", "Resampled", "audit", "compare_distributions",
        "insider_risk", "mask_file", "mask_table", "plan", "read_column", "read_counts", "read_release",
        "read_schemes", "record_linkage", "record_risk", "release_risk", "report", "risk", "run_recipe",
        "uniques",
    )
}  # fmt: skip
METHODS = sorted(name for name in dir(cm.Estimate) if not name.startswith("_") and name != "plot_cdf")
KEYWORDS = (
    "p", "sigma", "d", "decimals", "step", "level", "target", "order", "strata", "rng", "workers", "n",
    "noise", "range",
    "missing", "overwrite", "column", "other", "labels", "weights", "q", "x", "method", "bandwidth",
    "nan_policy",
)  # fmt: skip


def masked(scheme):
    return scheme.mask(X, rng=1, accept_visible_coins=True)


@cache
def estimates():
    """Estimates of some kinds."""
    plain = SCHEME.estimate(masked(SCHEME))
    mapped = MAPPED.estimate(masked(MAPPED))
    counts = cm.Counts(SCHEME)
    counts.update(masked(SCHEME))
    return plain, mapped, SCHEME.estimate(counts)


VALUES = st.one_of(anything(), columns(45), st.just(X), st.just("a.csv"), numbers(), st.just({"x": SCHEME}))


@arguments(
    of=st.integers(-6, 2), function=st.sampled_from(sorted(FUNCTIONS)), method=st.sampled_from(METHODS),
    given=st.lists(VALUES, max_size=3), named=st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=2),
)  # fmt: skip
def one(of, function, method, given, named):
    fresh("a.csv", b"x,t\n1.5,a\n2.5,b\n")
    called = FUNCTIONS[function] if of < 0 else getattr(estimates()[of], method, None)
    if not callable(called):
        return
    call(called, given, named)


def call(called, given, named):
    """A call that Python itself may refuse: for names, or for the number of arguments."""
    try:
        inspect.signature(called).bind(*given, **named)
    except (TypeError, ValueError):
        return
    with np.errstate(all="ignore"):
        repr(called(*given, **named))
