"""The series for K against 25 digits and the paper's own sum, tables of polynomials, the normal
law.

Oracles: 25 digits, mpmath. The tolerance asked for is the tolerance tested, factor 1."""

from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest
import reference
from scipy.interpolate import barycentric_interpolate
from scipy.optimize import brentq
from scipy.special import erfc

from condmask.kernels import nodes, series
from condmask.kernels.normal import within

ROWS = np.genfromtxt(Path(__file__).parents[1] / "data" / "weight.csv", delimiter=",", names=True)
P = sorted({float(p) for p in ROWS["p"]})


# --- the paper's series, cut off where a tolerance allows
# -----------------------------------------


def truncated_error(p, tol):
    """The worst over the table's rows for p, each K as the sum over a sample of one."""
    worst = 0.0
    for row in ROWS[ROWS["p"] == p]:
        total = np.zeros(1)
        c, rate, reach = series.truncated(p, row["bandwidth_over_sigma"], 0.0, tol)
        series.add_weights(
            np.array([row["u"]]), np.zeros(1), 1.0, c, rate, reach, 0, 1, 0, 1, total
        )
        worst = max(worst, abs(total.item() - row["weight"]))
    return worst


@pytest.mark.parametrize("tol", [1e-6, 1e-10, 1e-14])
@pytest.mark.parametrize("p", [p for p in P if p > 0.5])
def test_the_truncated_series_keeps_its_tolerance_against_25_digits(p, tol):
    # factor 1 at 1e-14 too: rounding is bounded by 4e-16 x 38 = 1.5e-14 at p = .501, but is 2e-15
    # there
    assert truncated_error(p, tol) <= tol


def test_the_truncated_series_needs_few_terms():
    assert [series.truncated(p, 0.0, 0.0, 1e-10)[0].size for p in (0.501, 0.6, 0.9)] == [21, 17, 8]


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_the_truncated_series_agrees_with_the_plain_one_in_and_beyond_its_reach(beta):
    c, rate, reach = series.truncated(0.6, beta, 0.0, 1e-6)
    u = np.concatenate(
        [np.linspace(-9, 9, 37), reach * np.array([-2, -1.001, -0.999, 0.999, 1.001, 2])]
    )
    total = np.full(u.size, 5.0)  # what is there already stays

    series.add_weights(u, np.zeros(1), 1.0, c, rate, reach, 0, u.size, 0, 1, total)

    expected = [reference.plain_series(v, 0.6, beta) for v in u]
    assert total == pytest.approx(np.add(expected, 5.0), abs=1e-6)
    assert set(total[np.abs(u) > reach]) == {5.0, 6.0}


def test_a_user_may_sum_the_truncated_series_in_compiled_code():
    @numba.njit
    def estimate(x, z, p, sigma):
        c, rate, reach = series.truncated(p, 0.0, 0.0, 1e-10)
        total = np.zeros(x.size)
        series.add_weights(x, z, sigma, c, rate, reach, 0, x.size, 0, z.size, total)
        return total / z.size

    z = np.array([-1.0, 0.2, 3.0])
    x = np.array([0.0, 0.2])

    u = (x[:, None] - z) / 2.0
    assert estimate(x, z, 0.6, 2.0) == pytest.approx(
        reference.normal_weight(u, 0.6).mean(axis=1), abs=1e-10
    )


@pytest.mark.parametrize(
    ("p", "delta", "tol"), [(0.6, 0.1, 2e-8), (0.45, 0.01, 1e-8), (0.9, 0.2, 1e-6)]
)
def test_half_a_step_to_the_right_rounded_noise_is_undone(p, delta, tol):
    k = np.arange(-60, 61)
    c, rate, reach = series.truncated(p, 0.0, delta, tol)
    total = np.zeros(k.size)
    far = int(12.0 / delta)

    series.add_weights((k + 0.5) * delta, np.zeros(1), 1.0, c, rate, reach, 0, k.size, 0, 1, total)

    assert total == pytest.approx(
        reference.rounded_weights("normal", p, delta, far)[far + k], abs=tol
    )


@pytest.mark.parametrize("p", [0.501, 0.9])
def test_the_reach_is_as_short_as_the_terms_allow(p):
    c, rate, reach = series.truncated(p, 0.5, 0.0, 1e-10)
    ends = brentq(lambda v: np.abs(c) @ erfc(v * rate) - 1e-10, 1.0, 100.0)
    assert ends <= reach < 1.04 * ends


@pytest.mark.parametrize("beta", [0.3, 0.9])
def test_beside_a_bandwidth_rounded_noise_is_undone_everywhere(beta):
    # the integral of the transform, which has vanished at w = 30, by midpoints
    p = 0.6
    delta = 0.1
    u = np.linspace(-5.0, 5.0, 21)
    w = 0.02 * (np.arange(1500) + 0.5)
    phi = reference.rounded_noise("normal", delta, 90) @ np.cos(
        delta * np.arange(-90, 91)[:, None] * w
    )
    transform = np.exp(-0.5 * (beta * w) ** 2) / (p + (1.0 - p) * phi)
    c, rate, reach = series.truncated(p, beta, delta, 2e-8)
    total = np.zeros(u.size)

    series.add_weights(u, np.zeros(1), 1.0, c, rate, reach, 0, u.size, 0, 1, total)

    waves = np.sin(u[:, None] * w) @ (transform / w)
    assert total == pytest.approx(0.5 + waves * 0.02 / np.pi, abs=2e-8)


REMAINS = 0.55 / 0.45**3 * 0.1**4 / 2880.0 * 2.0 / np.pi  # of rounding, at a step of a tenth


@pytest.mark.parametrize(
    ("delta", "tol", "reached"),
    [
        (0.1, 1.99 * REMAINS, False),
        (0.1, 2.01 * REMAINS, True),
        (1e-3, 1e-15, False),
        (0.0, 1e-60, False),
    ],
)
def test_what_the_series_cannot_reach_has_no_reach(delta, tol, reached):
    assert np.isfinite(series.truncated(0.45, 0.0, delta, tol)[2]) == reached


def test_a_smooth_function_is_read_between_nodes():
    place = np.linspace(5.0, 90.0, 300)
    read = np.zeros(300)
    rate = np.pi / 20.0
    nodes.read(place, np.sin(rate * np.arange(100.0)), read)

    assert read == pytest.approx(np.sin(rate * place), abs=2e-11)


def test_what_was_spread_weighs_as_what_is_read():
    rng = np.random.default_rng(1)
    place = rng.uniform(5.0, 90.0, 50)
    counts = rng.uniform(size=50)
    known = rng.normal(size=100)
    spread = np.zeros(100)
    rows = np.zeros((1, 100))
    read = np.zeros(50)
    nodes.spread(place, counts, spread)
    nodes.spread_rows(0.5 * place[None] - 3.0, np.full(1, -3.0), 2.0, rows)
    nodes.read(place, known, read)

    exact = [
        barycentric_interpolate(np.arange(i - 4, i + 6), known[i - 4 : i + 6], at)
        for i, at in zip(place.astype(int), place, strict=True)
    ]
    assert read == pytest.approx(np.array(exact), rel=1e-9)
    assert spread @ known == pytest.approx(counts @ read)
    assert rows[0] @ known == pytest.approx(read.sum())


@pytest.mark.parametrize("u", [0.0, 1e-300, 1e-9, 0.3, 1.0, 1.9599, 5.0, 8.2, 40.0, np.inf])
def test_shares_are_those_of_the_error_function(u):
    shares = np.empty(1)
    within(np.array([u]), shares)

    exact = 1.0 if u == np.inf else float(mpmath.erf(mpmath.mpf(u) / mpmath.sqrt(2)))
    assert shares[0] == pytest.approx(exact, rel=4e-16)
