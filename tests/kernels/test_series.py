"""The series for K against 25 digits, and against the paper's own alternating sum.

The tolerance asked for is the tolerance tested, factor 1.
"""

from pathlib import Path

import numba
import numpy as np
import pytest
import reference

from condmask.kernels import series

ROWS = np.genfromtxt(Path(__file__).parents[1] / "data" / "weight.csv", delimiter=",", names=True)
P = sorted({float(p) for p in ROWS["p"]})


# --- the paper's series, cut off where a tolerance allows -----------------------------------------


def truncated_error(p, tol):
    """The worst over the table's rows for p, each K as the sum over a sample of one."""
    worst = 0.0
    for row in ROWS[ROWS["p"] == p]:
        total = np.zeros(1)
        c, rate, reach = series.truncated(p, row["bandwidth_over_sigma"], 0.0, tol)
        series.add_weights(np.array([row["u"]]), np.zeros(1), 1.0, c, rate, reach, 0, 1, 0, 1, total)
        worst = max(worst, abs(total.item() - row["weight"]))
    return worst


@pytest.mark.parametrize("tol", [1e-6, 1e-10, 1e-14])
@pytest.mark.parametrize("p", [p for p in P if p > 0.5])
def test_the_truncated_series_keeps_its_tolerance_against_25_digits(p, tol):
    # factor 1 at 1e-14 too: rounding is bounded by 4e-16 x 38 = 1.5e-14 at p = .501, but is 2e-15 there
    assert truncated_error(p, tol) <= tol


def test_the_truncated_series_needs_few_terms():
    assert [series.truncated(p, 0.0, 0.0, 1e-10)[0].size for p in (0.501, 0.6, 0.9)] == [21, 17, 8]


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_the_truncated_series_agrees_with_the_plain_one_in_and_beyond_its_reach(beta):
    c, rate, reach = series.truncated(0.6, beta, 0.0, 1e-6)
    u = np.concatenate([np.linspace(-9, 9, 37), reach * np.array([-2, -1.001, -0.999, 0.999, 1.001, 2])])
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

    z, x = np.array([-1.0, 0.2, 3.0]), np.array([0.0, 0.2])

    u = (x[:, None] - z) / 2.0
    assert estimate(x, z, 0.6, 2.0) == pytest.approx(reference.normal_weight(u, 0.6).mean(axis=1), abs=1e-10)


@pytest.mark.parametrize(("p", "delta", "tol"), [(0.6, 0.1, 2e-8), (0.45, 0.01, 1e-8), (0.9, 0.2, 1e-6)])
def test_half_a_step_to_the_right_rounded_noise_is_undone(p, delta, tol):
    k = np.arange(-60, 61)
    c, rate, reach = series.truncated(p, 0.0, delta, tol)
    total, far = np.zeros(k.size), int(12.0 / delta)

    series.add_weights((k + 0.5) * delta, np.zeros(1), 1.0, c, rate, reach, 0, k.size, 0, 1, total)

    assert total == pytest.approx(reference.rounded_weights("normal", p, delta, far)[far + k], abs=tol)


REMAINS = 0.55 / 0.45**3 * 0.1**4 / 2880.0 * 2.0 / np.pi  # of rounding, at a step of a tenth


@pytest.mark.parametrize(
    ("delta", "tol", "reached"),
    [(0.1, 1.99 * REMAINS, False), (0.1, 2.01 * REMAINS, True), (1e-3, 1e-15, False), (0.0, 1e-60, False)],
)
def test_what_the_series_cannot_reach_has_no_reach(delta, tol, reached):
    assert np.isfinite(series.truncated(0.45, 0.0, delta, tol)[2]) == reached
