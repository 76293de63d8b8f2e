"""Correlations of many samples. Oracle: those of one sample after the other."""

from functools import partial

import numpy as np
import pytest

import condmask as cm
from condmask._blocks import blocks
from condmask.inference import pair_rows
from condmask.inference.intervals import TARGETS, UndefinedError
from condmask.inference.pair_rows import correlations, reverse_mapped_correlations

LEVELS = (0.9, 0.99)


def samples(scheme, n, correlation, rows=10):
    rng = np.random.default_rng(3)
    x, w = rng.multivariate_normal([50.0, 0.0], [[1.0, correlation], [correlation, 1.0]], (rows, n)).T
    x, w = np.ascontiguousarray(x.T), 1e6 * w.T
    x = x if scheme.law is None else scheme.law.from_units(scheme.law.to_units(x))
    return scheme.mask_rows(x, np.random.default_rng(4), ()), w


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("scheme", "n", "correlation"),
    [
        (cm.ConditionalMasking(0.5, 0.7), 150, 0.5),
        (cm.ConditionalMasking(0.3, 0.4, donors="permutation", decimals=1), 150, -0.97),  # beyond -1
        (cm.ConditionalMasking(0.5, 4.0), 60, 0.5),  # the noise hides whether the original varies
        (cm.ConditionalMasking(0.5, 0.7, reverse_mapping=True), 150, 0.9),
    ],
    ids=["plain", "near the bound", "hidden", "reverse mapping"],
)
def test_ends_are_those_of_single_samples(scheme, n, correlation, target):
    z, w = samples(scheme, n, correlation)
    if scheme.law is None:
        found = reverse_mapped_correlations(z, w, scheme).ends(LEVELS, target)
    else:
        found = correlations(z, w, scheme.law, shared_donors=scheme.shared_donors).ends(LEVELS, target)

    for k, level in enumerate(LEVELS):
        one = scheme.estimate(z).correlation_interval(w, confidence_level=level, target=target)
        np.testing.assert_allclose(found[0][k], one.low, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(found[1][k], one.high, rtol=0.0, atol=1e-9)
    if n == 60:
        hidden = np.mean((found[0] == -1.0) & (found[1] == 1.0))
        assert 0.1 < hidden <= 1.0


def test_samples_without_a_correlation_have_no_ends():
    scheme = cm.ConditionalMasking(0.5, 0.7, reverse_mapping=True)
    z, w = samples(scheme, 60, 0.5, rows=3)
    z[1] *= 0.02  # so small beside the noise that, undone, its values vary without bound
    with pytest.raises(UndefinedError, match=r"^z must have more records"):
        scheme.estimate(z[1]).correlation(w[1])

    low, high = reverse_mapped_correlations(z, w, scheme).ends(LEVELS, "file")

    assert np.isnan([low[:, 1], high[:, 1]]).all()
    assert np.isfinite([low[:, ::2], high[:, ::2]]).all()
    with pytest.raises(UndefinedError, match=r"^z must have more than"):
        correlations(z[:, :4], w[:, :4], cm.ConditionalMasking(0.9, 0.7).law, shared_donors=True)


def test_long_samples_are_summed_block_by_block(monkeypatch):
    scheme = cm.ConditionalMasking(0.5, 0.7)
    z, w = samples(scheme, 1_000, 0.5, rows=2)
    whole = correlations(z, w, scheme.law, shared_donors=True).ends(LEVELS, "population")

    monkeypatch.setattr(pair_rows, "blocks", partial(blocks, size=300))
    parts = correlations(z, w, scheme.law, shared_donors=True).ends(LEVELS, "population")

    np.testing.assert_allclose(parts, whole, rtol=1e-12)
