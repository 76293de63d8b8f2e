"""Schemes: what masks can be described, read again, and masks the same; values are finite and on the grid."""

import math

import numpy as np
from hypothesis import strategies as st

import condmask as cm
from condmask.scheme import Scheme
from fuzz.target import arguments
from fuzz.values import columns, numbers

PARAMETERS = {
    "p": st.one_of(st.floats(0, 1), numbers()),
    "sigma": st.one_of(st.floats(0, 1e3), numbers()),
}
EXTRA = {
    "noise": st.sampled_from(["normal", "laplace", "cauchy"]),
    "donors": st.sampled_from(["sample", "permutation"]),
    "decimals": st.one_of(st.none(), st.integers(-17, 17)),
    "step": st.one_of(st.none(), st.sampled_from([0, 1, 0.1, 1 / 3, 0.05, 1e-300, 1e300]), numbers()),
    "reverse_mapping": st.booleans(),
    "aggregate_ends": st.integers(-1, 6),
    "scale": st.sampled_from(["linear", "log"]),
    "range": st.one_of(
        st.none(), st.tuples(st.one_of(st.none(), numbers()), st.one_of(st.none(), numbers()))
    ),
    "strata": st.one_of(st.none(), st.just("g"), st.just(["g", "h"])),
    "small_strata": st.sampled_from(["refuse", "merge"]),
    "missing": st.one_of(st.none(), st.lists(numbers(), max_size=3)),
    "missing_as": st.sampled_from(["code", "null"]),
}
OTHERS = {
    cm.AdditiveNoise: {"sigma": PARAMETERS["sigma"], "noise": EXTRA["noise"]},
    cm.MultiplicativeNoise: {"sigma": PARAMETERS["sigma"]},
    cm.DataSwapping: {},
    cm.RankSwapping: {"percent": st.one_of(st.floats(0, 100), numbers())},
    cm.DataShuffling: {},
}


@st.composite
def schemes(draw):
    """A scheme, or a refusal to make one."""
    kind = draw(st.sampled_from([cm.ConditionalMasking] * 5 + [*OTHERS]))
    if kind is cm.ConditionalMasking:
        some = draw(st.lists(st.sampled_from(sorted(EXTRA)), unique=True, max_size=4))
        given = {**PARAMETERS, **{name: EXTRA[name] for name in some}}
    else:
        given = OTHERS[kind]
    return kind, {name: draw(values) for name, values in given.items()}


@arguments(made=schemes(), x=columns(), seed=st.integers(0, 2**32), omit=st.booleans(), audited=st.booleans())
def one(made, x, seed, omit, audited):
    kind, options = made
    scheme = kind(**options)
    assert repr(scheme)
    described = scheme.to_dict()
    again = Scheme.from_dict(described)
    assert again == scheme
    assert again.to_dict() == described
    asked = {}
    if kind is cm.ConditionalMasking:
        asked = {"nan_policy": "omit" if omit else "raise", "accept_visible_coins": not audited}
    asked |= {"given": np.arange(len(x)) % 3} if kind is cm.DataShuffling else {}
    masked = scheme.mask(x, rng=seed, **asked)
    z = np.asarray(masked)
    assert z.shape == np.shape(x)
    assert np.array_equal(z, np.asarray(again.mask(x, rng=seed, **asked)), equal_nan=True)
    values = z.astype(float)
    assert not np.isinf(values).any()
    assert np.isnan(values).sum() == np.isnan(np.asarray(x, dtype=float)).sum() or scheme.missing_as == "null"
    if kind is cm.ConditionalMasking:
        same_in_blocks(scheme, x, z, seed, asked)
        told(scheme, masked)


def same_in_blocks(scheme, x, z, seed, asked):
    """Two workers draw what one does."""
    assert np.array_equal(z, np.asarray(scheme.mask(x, rng=seed, workers=2, **asked)), equal_nan=True)


def told(scheme, z):
    """Estimates are finite where they are numbers."""
    estimate = scheme.estimate(z)
    values = np.asarray(z, dtype=float)
    assert not math.isinf(estimate.mean())
    points = values[np.isfinite(values)][:3]
    assert np.isfinite(estimate.cdf(points)).all()
    assert not math.isinf(estimate.quantile(0.5))
