"""The density that is expected at released values: over those of a class it sums to the share of that."""

import numpy as np
import pytest

import condmask as cm
from condmask.levels import class_units
from condmask.risks import plain
from condmask.risks.original import Original
from condmask.risks.seen import looked_at

N = 4_000


@pytest.mark.parametrize(("step", "d"), [(0.1, 1e-3), (0.1, 50.0), (0.01, 1e-3), (0.01, 300.0)])
@pytest.mark.parametrize("negative", [0.25, 0.6])
def test_densities_of_amounts_of_one_sign_sum_to_the_share_of_these(step, d, negative):
    """Whether values are looked at step by step, or, where intervals are wide, by several steps at once."""
    stream, sigma, length = np.random.default_rng(1), 0.5, round(6.0 / step)
    at = stream.integers(0, length, N)
    sign = np.where(np.arange(N) < negative * N, -1.0, 1.0)[stream.permutation(N)]
    scheme = cm.ConditionalMasking(0.6, sigma, scale="log", step=step)
    file = Original(scheme.canonical(sign * np.exp(at * step), "x", "float64"), "float64", scheme.law)
    reach = round(4.0 * sigma / step)
    line = np.arange(-reach, length + reach).astype(float)
    wanted = np.array([d])

    for code, share in ((0, negative), (2, 1.0 - negative)):
        z = class_units(code, line, scheme.law)
        seen = looked_at(file, z, np.arange(z.size) % N, wanted, plain.by_constant(file, wanted))

        # what is thought possible elsewhere, far from all records, is 1 in 1,000 or so
        assert seen.density.sum() == pytest.approx(share, rel=0.01)
        inside = (line >= reach) & (line < length - reach)
        assert seen.density[inside].mean() == pytest.approx(share / length, rel=0.1)


@pytest.mark.parametrize("sigma", [3.0, 200.0])
def test_densities_of_a_plain_grid_sum_to_1(sigma):
    x = np.rint(np.random.default_rng(2).normal(0.0, 100.0, N))
    scheme = cm.ConditionalMasking(0.6, sigma, step=1)
    file = Original(scheme.canonical(x, "x", "float64"), "float64", scheme.law)
    z, d = np.arange(-450.0, 451.0), np.array([2.0, 100.0])

    seen = looked_at(file, z, np.arange(z.size), d, plain.by_constant(file, d))

    assert seen.density.sum() == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("d", [0.7, 3.0, 20.0])
def test_negative_amounts_are_seen_as_positive_ones_are(d):
    x = np.exp(np.random.default_rng(7).normal(3.0, 0.7, 600))
    scheme = cm.ConditionalMasking(0.6, 0.3, scale="log")
    z = scheme.mask(x, rng=1)

    found, mirrored = cm.record_risk(x, z, scheme, d=d), cm.record_risk(-x, -z, scheme, d=d)

    assert mirrored.swapped == pytest.approx(found.swapped, rel=1e-9)
    # intervals begin or end at the edges of cells, of which eight or more go into one: not at the same places
    assert mirrored.chance == pytest.approx(found.chance, abs=0.01)
    assert (np.abs(mirrored.guess + found.guess) < d).all()
    assert abs(mirrored.hit.mean() - found.hit.mean()) < 0.01
