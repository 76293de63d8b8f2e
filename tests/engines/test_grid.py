"""The grid engine against the equation that defines it, the weights one by one, and plain sums.

Lengths are in steps of the grid throughout; `delta` is the step in units of sigma.
"""

import tracemalloc

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr

from condmask.deconvolution import weight
from condmask.deconvolution.table import smallest_tol
from condmask.deconvolution.weight import Masking
from condmask.engines import grid
from condmask.engines.counting import ValueCounts, merged

NOISES = ("normal", "laplace")
P = (1e-4, 0.05, 0.3, 0.6, 0.9, 0.99)
DELTAS = (1e-3, 0.05, 0.4, 1.5)
ONE = ValueCounts(np.zeros(1), np.ones(1, dtype=np.int64))


def counts(units):
    values, number = np.unique(np.asarray(units, dtype=float), return_counts=True)
    return ValueCounts(values, number)


def weights(masking, k):
    """K half a step beyond the grid points k, by deconvolution/weight.py."""
    u = (k + 0.5) * masking.delta
    half = weight.half_weight(masking, np.abs(u))
    return np.where(u > 0.0, 0.5 + half, 0.5 - half)


def smooth_weights(noise, p, delta, beta, at):
    """K_b at any places, in steps: the jumps of K_d, each smoothed."""
    reach = int(weight.reach(Masking(noise, p, 0.0, delta), 1e-16) / delta) + 2
    line = weights(Masking(noise, p, 0.0, delta), np.arange(-reach - 1.0, reach + 1.0))
    jumps, k = np.diff(line), np.arange(-reach, reach + 1.0)
    return np.array([np.sum(jumps * ndtr((x - k) * delta / beta)) for x in at])


# --- T_1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("noise", NOISES)
def test_one_record_gives_the_weight(noise, p, delta):
    masking = Masking(noise, p, 0.0, delta)
    line = grid.steps(ONE, masking)
    far = 0.6 * grid.length(ONE, masking)
    k = np.unique(np.concatenate([np.arange(-9.0, 10.0), np.rint(np.linspace(-far, far, 201))]))

    # the engine rounds as the weights do: check_tol promises no more than this
    assert np.abs(line.at(k) - weights(masking, k)).max() <= smallest_tol(p)


@pytest.mark.parametrize("delta", [0.05, 0.4, 1.5])
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("noise", NOISES)
def test_the_engine_solves_the_equation_that_defines_it(noise, p, delta):
    line = grid.steps(ONE, Masking(noise, p, 0.0, delta))
    reach = int(40 / delta)
    chance = reference.rounded_noise(noise, delta, reach)
    for k in (-7, -1, 0, 1, 3, 40):
        smeared = np.sum(chance * line.at(k - np.arange(-reach, reach + 1.0)))

        # chances sum to 1, so the error is that of K
        assert abs(p * line.at(np.array([float(k)]))[0] + (1 - p) * smeared - (k >= 0)) <= smallest_tol(p)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("noise", NOISES)
def test_mass_is_one_and_nothing_lies_beyond_the_pieces(noise, p, delta):
    data = counts([-3, 0, 0, 4, 10**7, 10**7 + 1])
    line = grid.steps(data, Masking(noise, p, 0.0, delta))
    # before all, between the clusters, after all
    found = line.at(np.array([-np.inf, -1e300, line.starts[0] - 1, 5e6, 2e7, 1e300, np.inf]))

    assert found[:3].tolist() == [0.0, 0.0, 0.0]
    assert found[3:] == pytest.approx([4 / 6, 1.0, 1.0, 1.0], abs=smallest_tol(p))
    assert line.values[0] == pytest.approx(0.0, abs=smallest_tol(p))


@settings(max_examples=40)
@given(
    units=st.lists(st.integers(-40, 40), min_size=1, max_size=20),
    p=st.sampled_from(P[1:]),
    delta=st.sampled_from([0.4, 1.5]),
    noise=st.sampled_from(NOISES),
)
def test_steps_are_the_plain_sum(units, p, delta, noise):
    k = np.arange(-60.0, 61.0, 3.0)

    found = grid.steps(counts(units), Masking(noise, p, 0.0, delta)).at(k)

    # the plain Fourier sum rounds by 1e-16 a term of size 1/p, some hundred of them
    assert found == pytest.approx(reference.grid_cdf(units, k, noise, p, delta), abs=3e-14 / p)


@settings(max_examples=60)
@given(
    units=st.lists(st.one_of(st.integers(-60, 60), st.integers(9_000, 9_050)), min_size=1, max_size=40),
    p=st.sampled_from([0.1, 0.3, 0.6]),
    q=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=40),
    noise=st.sampled_from(NOISES),
)
def test_crossings_are_those_of_the_whole_line(units, p, q, noise):
    # two clusters, so that the gap between pieces counts in a rearrangement with its length
    line = grid.steps(counts(units), Masking(noise, p, 0.0, 0.4))
    k = np.arange(line.starts[0], line.starts[-1] + np.diff(line.offsets)[-1])
    first, rearranged = reference.grid_quantiles(line.at(k).tolist(), q)
    q = np.array(q)

    assert line.quantile(q, "first").tolist() == (k[0] + np.minimum(first, k.size - 1)).tolist()
    # few are counted, many sorted
    assert line.quantile(q, "rearranged").tolist() == (k[0] + rearranged).tolist()
    assert line.quantile(np.tile(q, 20), "rearranged").tolist() == np.tile(k[0] + rearranged, 20).tolist()


@settings(max_examples=60)
@given(
    units=st.lists(st.one_of(st.integers(-60, 60), st.integers(9_000, 9_050)), min_size=1, max_size=40),
    p=st.sampled_from([0.1, 0.3, 0.6]),
)
def test_the_rearrangement_has_the_values_of_the_line_in_ascending_order(units, p):
    line = grid.steps(counts(units), Masking("normal", p, 0.0, 0.4))
    k = np.arange(line.starts[0], line.starts[-1] + np.diff(line.offsets)[-1])
    found = line.rearranged(k)

    assert found.tolist() == np.clip(np.sort(line.at(k)), 0.0, 1.0).tolist()
    assert line.rearranged(np.array([-np.inf, k[0] - 1, k[-1] + 1, np.inf])).tolist() == [0, 0, 1, 1]


# --- T_b ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "steps"), [(1e-3, 40), (0.05, 1.5), (0.05, 9), (0.4, 1.5), (0.4, 7.5), (1.5, 2)]
)
@pytest.mark.parametrize("p", [0.05, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("noise", NOISES)
def test_one_record_gives_the_smooth_weight_and_its_slope(noise, p, delta, steps):
    beta = steps * delta
    masking = Masking(noise, p, beta, delta)
    at = np.concatenate([np.linspace(-30, 30, 41), np.linspace(-8, 8, 21) / delta])
    shift = 1e-3 * steps
    exact, right, left = (smooth_weights(noise, p, delta, beta, at + s) for s in (0.0, shift, -shift))

    for tol in (1e-4, 1e-8, 1e-12):
        tol = max(tol, smallest_tol(p))
        found = grid.polynomials(ONE, masking, tol)
        slope = grid.polynomials(ONE, masking, tol, density=True)

        assert np.abs(found.at(at) - exact).max() <= tol
        # central differences: K''' shift^2 / 6 is 1e-6 of the slope, and rounding 1e-14 / (p shift)
        error = np.abs(slope.at(at) - (right - left) / (2 * shift)).max()
        assert error <= tol + 1e-6 / (p * steps) + 2e-14 / (p * shift)


@pytest.mark.parametrize("delta", [0.05, 0.4, 1.5])
@pytest.mark.parametrize("noise", NOISES)
def test_records_add_up_where_the_bandwidth_is_as_narrow_as_the_grid_allows(noise, delta):
    # the normal factor reaches beyond the sampling frequency, where the transform of counts is mirrored
    units, at = np.array([-7.0, 0.0, 1.0, 1.0, 5.0, 40.0]), np.linspace(-20.0, 50.0, 101)
    masking = Masking(noise, 0.3, 1.5 * delta, delta)

    found = grid.polynomials(counts(units), masking, 1e-10).at(at)

    exact = np.mean([smooth_weights(noise, 0.3, delta, 1.5 * delta, at - unit) for unit in units], axis=0)
    assert np.abs(found - exact).max() <= 1e-10


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [1e-4, 0.05, 0.6])
def test_the_smooth_line_has_its_limits_outside_the_pieces(noise, p):
    data = counts([-3, 0, 0, 4, 10**7, 10**7 + 1])
    masking = Masking(noise, p, 0.2, 0.05)
    points = np.array([-np.inf, -1e300, -1e6, 5e6, 2e7, 1e300, np.inf])

    line = grid.polynomials(data, masking, 1e-9)
    slope = grid.polynomials(data, masking, 1e-9, density=True)

    assert line.at(points) == pytest.approx([0, 0, 0, 4 / 6, 1, 1, 1], abs=1e-15)
    assert slope.at(points).tolist() == [0.0] * 7
    # and reaches them where the pieces end
    ends = line.lefts + line.widths * line.sizes
    assert line.at(np.nextafter(line.lefts, np.inf)) == pytest.approx([0, 4 / 6], abs=1e-9)
    assert line.at(np.nextafter(ends, -np.inf)) == pytest.approx([4 / 6, 1], abs=1e-9)


@settings(max_examples=40)
@given(
    units=st.lists(st.one_of(st.integers(-60, 60), st.integers(9_000, 9_050)), min_size=1, max_size=30),
    p=st.sampled_from([0.1, 0.3, 0.6]),
    q=st.lists(st.floats(0.02, 0.98), min_size=1, max_size=9),
    steps=st.floats(1.5, 12),
)
def test_smooth_crossings_are_those_of_a_fine_scan(units, p, q, steps):
    line = grid.polynomials(counts(units), Masking("normal", p, 0.4 * steps, 0.4), 1e-9)
    spacing = 0.05
    x = np.concatenate([
        np.arange(a, a + w * n, spacing) for a, w, n in zip(line.lefts, line.widths, line.sizes, strict=True)
    ])  # fmt: skip
    value = line.at(x)
    first, below = line.quantile(np.array(q), "first"), line.quantile(np.array(q), "rearranged")
    for target, found, length in zip(q, first, below, strict=True):
        # |T'| <= 1/(p sqrt(2 pi) b) < 3 a step, and a crossing is known to rounding of T
        assert abs(line.at(np.array([found]))[0] - target) <= 1e-12 or line.at(x).max() < target
        assert not (value[x < found - 1e-9] >= target + 1e-12).any()
        gaps = np.diff(line.lefts) - (line.widths * line.sizes)[:-1]
        total = spacing * np.count_nonzero(value < target) + np.sum(gaps * (line.before[1:-1] < target))
        # each time the scan changes side, and at the end of each piece, it may be off by its spacing
        turns = np.count_nonzero(np.diff(value < target)) + line.lefts.size
        # and where T is the probability to rounding, on a plateau, either side may be right
        even = np.count_nonzero(np.abs(value - target) <= 1e-12)
        unsure = spacing * (turns + even) + np.sum(gaps * (np.abs(line.before[1:-1] - target) <= 1e-12))
        assert abs(length - line.lefts[0] - total) <= unsure


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_the_smooth_rearrangement_undoes_its_quantiles(p):
    data = counts([-30, -3, 0, 0, 4, 9_000])
    line = grid.polynomials(data, Masking("normal", p, 1.2, 0.4), 1e-10)
    q = np.array([0.03, 0.2, 0.5, 0.75, 0.9])
    x = line.quantile(q, "rearranged")

    assert line.rearranged(x, 1e-9) == pytest.approx(q, abs=2e-9)
    assert line.rearranged(np.array([-np.inf, -1e9, 1e9, np.inf]), 1e-9) == pytest.approx(
        [0, 0, 1, 1], abs=1e-9
    )


# --- pieces and hostile data ----------------------------------------------------------------------


def plain(units, masking, k):
    """The direct sum, a record after the other."""
    apart = [np.clip(point - units, -5e3, 5e3) for point in k]  # 100 sigma, where K has settled
    return np.array([weights(masking, distance).mean() for distance in apart])


CLUSTERS = {
    "two far clusters": np.concatenate([np.arange(50), 10**6 + np.arange(50) ** 2]),
    "gaps just longer and shorter than the reach": np.cumsum(np.linspace(100, 4000, 60)).round(),
    "one outlier": np.append(np.arange(300) * 3, 10**15),
    "isolated points": np.arange(200) * 10**5,
    "both ends of what can be told apart": np.array([-(2**52), -5, 0, 2**52]),
    "one value": np.full(7, -12),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.05, 0.6])
@pytest.mark.parametrize("name", CLUSTERS)
def test_hostile_places_give_the_plain_sum(name, p, noise):
    units = CLUSTERS[name].astype(float)
    masking = Masking(noise, p, 0.0, 0.02)
    rng = np.random.default_rng(4)
    near = rng.choice(units, 30) + rng.integers(-300, 300, 30)
    k = np.concatenate([near, rng.integers(units.min() - 9, units.max() + 9, 20), units[:9]])

    assert grid.steps(counts(units), masking).at(k) == pytest.approx(
        plain(units, masking, k), abs=smallest_tol(p)
    )


def test_pieces_far_apart_take_no_memory_between_them():
    data = counts(np.append(np.arange(1000), 10**15))
    masking = Masking("normal", 0.6, 0.0, 1e-3)
    grid.steps(ONE, masking)
    tracemalloc.start()
    grid.steps(data, masking)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # 80,000 points, some ten arrays of 8 bytes for each
    assert peak < 1e7


def test_what_is_too_wide_for_a_transform_is_not_served():
    masking = Masking("normal", 0.6, 0.0, 1e-3)
    reach = grid.length(ONE, masking)

    def serves(data):
        return grid.serves(grid.length(data, masking), data.n)

    assert serves(counts(np.arange(1000)))
    assert serves(counts([0, 10**15]))
    assert not serves(counts(np.arange(0, 10**9, 10**6)))
    # each isolated point takes twice the reach
    few = int(grid.LONGEST / reach)
    assert serves(counts(np.arange(few) * 10**6))
    assert not serves(counts(np.arange(few + 2) * 10**6))
    # unless there are records enough
    assert serves(ValueCounts(np.arange(few + 2) * 1e6, np.full(few + 2, 10**6)))


# --- neighbours counted together -------------------------------------------------------------------


def steepest(noise, p):
    """The largest slope of K beside its step, which is that at 0, by sigma."""
    if noise == "laplace":
        return (1.0 - p) / p / (2.0 * np.sqrt(0.5 * p))
    fall = lambda w: np.exp(-0.5 * w * w)  # noqa: E731
    found, _ = quad(lambda w: fall(w) / (p + (1.0 - p) * fall(w)), 0.0, 12.0, epsabs=1e-12)
    return (1.0 - p) / p * found / np.pi


def test_counts_in_parts_give_the_same_line():
    units = np.random.default_rng(5).normal(0, 300, 1000).round()
    masking = Masking("normal", 0.3, 0.0, 0.01)
    parts = merged([counts(units[:10]), counts(units[10:400]), counts(units[400:])])

    assert np.array_equal(grid.steps(parts, masking).values, grid.steps(counts(units), masking).values)
