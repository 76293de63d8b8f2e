"""Intervals of many small samples. Oracles: a single sample's T and its variance; the test inverted at every
point of the grid."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import cdf_rows
from condmask.inference.cdf_rows import CdfRows, exact_ends
from condmask.inference.intervals import TARGETS, multiplier
from condmask.kernels import quantile_ends

LEVELS, Q = (0.9, 0.99), np.array([0.05, 0.2, 0.5, 0.75, 0.9])
CASES = [  # p, n, options
    (0.6, 200, {}),
    (0.3, 150, {}),
    (0.85, 400, {"donors": "permutation"}),
    (0.6, 300, {"noise": "laplace"}),
    (0.3, 120, {"step": 0.5}),  # a coarse grid
    (0.6, 300, {"step": 0.004, "donors": "permutation"}),  # several steps in a cell
    (0.4, 200, {"atoms": True}),
]


def samples(p, n, *, atoms=False, rows=5, **options):
    scheme = cm.ConditionalMasking(p, 0.7, **options)
    rng = np.random.default_rng(11)
    x = rng.gamma(2.0, 0.7, (rows, n))
    x = np.where(rng.random(x.shape) < 0.2, 0.0, x) if atoms else x
    law = scheme.law
    x = law.from_units(law.to_units(x))
    z = scheme.mask_rows(x, np.random.default_rng(3), ())
    return scheme, z, CdfRows(z, law, shared_donors=scheme.shared_donors)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_t_and_its_variance_are_those_of_single_samples(case):
    p, n, options = case
    scheme, z, rows = samples(p, n, **options)
    x = np.linspace(z.min() - 0.5, z.max() + 0.5, 41)
    at = scheme.law.grid.below(x)

    for row, own in zip(rows.rows(), z, strict=True):
        estimate = scheme.estimate(own)
        # between nodes a cubic: 3/64 h^4 of a derivative that is some 1/p, and for Laplace noise its kink
        found = quantile_ends.value_at(at, row, rows.lattice)
        tol = 2e-7 / p if scheme.noise == "laplace" else 1e-9 / p
        np.testing.assert_allclose(found, estimate.cdf(x), rtol=0.0, atol=tol)
        variance = quantile_ends.variance_at(at, row, rows.lattice)
        np.testing.assert_allclose(variance, estimate._variance_curve.at(x).file, rtol=1e-9, atol=1e-12)


def hull(scheme, own, q, level, target):
    """The least and the largest point of the grid that is not excluded, all of them tried; no rearranging."""
    estimate = scheme.estimate(own)
    known = estimate._sample.cdf(None, 1e-10).rearrangement
    values, edges = known.ascending
    points = scheme.law.grid.values(edges[:-1])
    c = multiplier(level)[1] ** 2 / own.size
    binomial = q * (1.0 - q) if target == "population" else 0.0
    radius = np.sqrt(c / (1.0 - c) * (estimate._variance_curve.at(points).file + binomial))
    t = np.clip(values, 0.0, 1.0)
    low, high = edges[np.flatnonzero(t < q - radius)[-1] + 1], edges[np.flatnonzero(t > q + radius)[0]]
    value = scheme.law.grid.units(np.array([estimate.quantile(q, crossing="first")])).item()
    return min(low, value), max(high, value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ends_are_where_the_test_begins_to_exclude(case, monkeypatch):
    monkeypatch.setattr(cdf_rows.rearranged_variance, "crossing_of", lambda p, n: "first")
    p, n, options = case
    scheme, z, rows = samples(p, n, rows=3, **options)
    everywhere = np.concatenate(([0.01], Q, [0.98]))  # where T leaves [0, 1], too, and T* does not
    found = rows.ends(everywhere, np.empty(0), LEVELS, tuple(TARGETS))
    assert found.served.all()

    apart = []
    for row, own in enumerate(z):
        for i, level in enumerate(LEVELS):
            for j, target in enumerate(TARGETS):
                c = multiplier(level)[1] ** 2 / n
                for k, q in enumerate(everywhere.tolist()):
                    low, high = found.quantiles[:, i, j, k, row]
                    if target == "population" and min(q, 1.0 - q) <= c:
                        assert (low if q <= c else high) == (-np.inf if q <= c else np.inf)
                        continue
                    assert np.isfinite([low, high]).all()
                    steps = scheme.law.grid.units(np.array([low, high]))
                    apart.append(steps - hull(scheme, own, q, level, target))
    apart = np.abs(apart)
    if "step" in options:
        assert apart.max() == 0.0
        return
    # T* of straight pieces instead of so many steps: a step of a thousandth of sigma; where T* runs along
    # the limit both are right, and they are apart by what it takes to cross it
    assert np.mean(apart > 2.0) < 0.03
    assert np.mean(apart) < 1.5


@pytest.mark.parametrize(("p", "n"), [(0.3, 200), (0.6, 150)])
def test_quantiles_of_the_rearrangement_have_its_variance(p, n):
    # the shrunk intervals of single samples, which look for the same ends by other means
    scheme, z, rows = samples(p, n, rows=6)
    found = rows.ends(Q, np.empty(0), LEVELS, tuple(TARGETS))

    for i, level in enumerate(LEVELS):
        for j, target in enumerate(TARGETS):
            single = scheme.estimate(z).quantile_interval(Q, confidence_level=level, target=target)
            for own, one in zip(found.quantiles[:, i, j], (single.low, single.high), strict=True):
                known = np.isfinite(one.T)
                assert (np.isfinite(own) == known).all()
                apart = (np.abs(own - one.T) / (single.high - single.low).T)[known]
                assert np.mean(apart > 0.01) < 0.05


@pytest.mark.parametrize("case", [CASES[0], CASES[4]], ids=str)
def test_the_distribution_function_has_the_intervals_of_single_samples(case):
    p, n, options = case
    scheme, z, rows = samples(p, n, **options)
    x = np.array([0.0, 0.9, 1.5, 3.0])
    found = rows.ends(Q[:1], x, LEVELS, tuple(TARGETS))

    for i, level in enumerate(LEVELS):
        for j, target in enumerate(TARGETS):
            single = scheme.estimate(z).cdf_interval(x, confidence_level=level, target=target)
            np.testing.assert_allclose(found.cdf[0, i, j], single.low.T, atol=1e-8)
            np.testing.assert_allclose(found.cdf[1, i, j], single.high.T, atol=1e-8)


def test_a_row_that_is_spread_too_widely_is_left_to_others():
    scheme, z, _ = samples(0.6, 200)
    wide = z.copy()
    wide[2, 0] = 1e6

    found = CdfRows(wide, scheme.law, shared_donors=True).ends(Q, np.zeros(1), LEVELS, tuple(TARGETS))
    alone = CdfRows(z, scheme.law, shared_donors=True).ends(Q, np.zeros(1), LEVELS, tuple(TARGETS))

    assert found.served.tolist() == [True, True, False, True, True]
    np.testing.assert_array_equal(found.quantiles[..., found.served], alone.quantiles[..., found.served])
    every = CdfRows(np.full((2, 3), [0.0, 1.0, 1e6]), scheme.law, shared_donors=True)
    assert not every.ends(Q, np.zeros(1), LEVELS, tuple(TARGETS)).served.any()


@pytest.mark.parametrize("step", [0.4, 0.9, 2.0])
def test_kernels_that_are_shorter_than_the_margin_are_no_matter(step):
    # at other widths of the data, a transform as long as all nodes need is longer than records reach
    for width in np.linspace(2.0, 40.0, 39):
        scheme = cm.ConditionalMasking(0.85, 0.7, step=step)
        x = scheme.law.from_units(scheme.law.to_units(np.linspace([0.0], [width], 30, axis=1)))
        found = CdfRows(x, scheme.law, shared_donors=False).ends(Q, np.zeros(1), LEVELS, tuple(TARGETS))
        assert found.served.all()
        single = scheme.estimate(x[0]).quantile_interval(Q, confidence_level=LEVELS[0])
        np.testing.assert_array_equal(found.quantiles[0, 0, 0, :, 0], single.low)


def test_a_level_beyond_the_records_bounds_nothing():
    scheme, z, _ = samples(0.6, 20, rows=2)  # z^2 of .999999 is 24
    found = CdfRows(z[:, :20], scheme.law, shared_donors=True).ends(
        Q, np.zeros(1), [0.999999], tuple(TARGETS)
    )

    assert (found.quantiles[0] == -np.inf).all()
    assert (found.quantiles[1] == np.inf).all()
    assert (found.cdf[0] == 0.0).all()
    assert (found.cdf[1] == 1.0).all()


@pytest.mark.parametrize("n", [200, 205])
def test_released_values_have_the_intervals_of_single_samples(n):
    scheme = cm.ConditionalMasking(0.6, 0.7, reverse_mapping=True)
    x = np.random.default_rng(5).normal(size=(4, n)).round(1)
    z = scheme.mask_rows(x, np.random.default_rng(6), ())
    at = np.array([-5.0, -0.3, 0.0, 1.25])

    found = exact_ends(z, Q, at, LEVELS, tuple(TARGETS))

    for i, level in enumerate(LEVELS):
        for j, target in enumerate(TARGETS):
            options = {"confidence_level": level, "target": target}
            single = scheme.estimate(z).quantile_interval(Q, **options)
            np.testing.assert_array_equal(found.quantiles[0, i, j], single.low.T)
            np.testing.assert_array_equal(found.quantiles[1, i, j], single.high.T)
            single = scheme.estimate(z).cdf_interval(at, **options)
            np.testing.assert_allclose(found.cdf[:, i, j], [single.low.T, single.high.T], atol=1e-12)
