"""Mean squares of what T is made of, against double sums over the records.

Oracle: the kernel on the grid from a direct Fourier sum, the mass of the originals by convolution, and sums
over all pairs; for T_b the kernel by quadrature. No randomness but that of the seeded data.
"""

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import ndtr

from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import cdf_variance

FAR = 40.0  # sigma, beyond which K is 0 or 1 to rounding at these p


def noise_chances(noise, delta):
    """P(Y = k steps), k = -m .. m."""
    m = int(FAR / delta)
    edges = (np.arange(-m, m + 2) - 0.5) * delta
    if noise == "normal":
        below = ndtr(edges)
    else:
        tail = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(edges))
        below = np.where(edges < 0.0, tail, 1.0 - tail)
    return np.diff(below)


def masses(p, noise, delta):
    """mu_j, j = -m .. m - 1, with p mu + (1-p) mu * noise = 1 at 0: a plain Fourier sum."""
    chances = noise_chances(noise, delta)
    m = chances.size // 2
    circle = np.zeros(2 * m)
    np.add.at(circle, np.arange(-m, m + 1) % (2 * m), chances)
    return np.roll(np.real(np.fft.ifft(1.0 / (p + (1.0 - p) * np.fft.fft(circle)))), m)


def slow(z, x, p, noise, delta, bandwidth=None):
    """(psi, psi^2, r, r^2, h^2) as means, at each x; bandwidth in steps."""
    mu = masses(p, noise, delta)
    m = mu.size // 2
    grid = np.arange(z.min() - m, z.max() + m + 1)
    held = np.bincount((z - grid[0]).astype(int), minlength=grid.size) / z.size
    originals = fftconvolve(held, mu)[m : m + grid.size]

    if bandwidth is None:
        running = np.cumsum(mu)

        def psi(u):
            return running[np.clip(u.astype(int) + m, 0, 2 * m - 1)]

        def h(u):
            return (u >= 0.0).astype(float)
    else:

        def h(u):
            return ndtr(u / bandwidth)

    found = []
    for point in x:
        if bandwidth is None:
            of_x = psi(point - grid)
        else:
            ahead = h(point - np.arange(grid[0] - m, grid[-1] + m))
            of_x = fftconvolve(ahead, mu[::-1], mode="valid")
        of_z = of_x[(z - grid[0]).astype(int)]
        rest = h(point - grid) - p * of_x
        found.append(
            [
                of_z.mean(),
                (of_z**2).mean(),
                originals @ rest,
                originals @ rest**2,
                originals @ h(point - grid) ** 2,
            ]
        )
    return np.array(found).T


def errors(sums):
    """Roots of V - D, V - D + Var h and V: the standard errors that are made of them."""
    psi, psi_squared, residual, residual_squared, h_squared = sums
    v, d, h = psi_squared - psi**2, residual_squared - residual**2, h_squared - psi**2
    return np.sqrt(np.array([v - d, v - d + h, v]))


def sample(delta, n=400):
    z = np.rint(np.random.default_rng(5).laplace(0.0, 1.5, n) / delta)
    return z, ValueCounts(*np.unique(z, return_counts=True))


PLACES = (0.03, 0.2, 0.5, 0.77, 0.95)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("delta", [1 / 50, 0.3, 1.5])
def test_nothing_is_approximated_on_steps_of_a_64th_of_sigma_and_more(noise, p, delta):
    z, counts = sample(delta)
    x = np.quantile(z, PLACES).round()

    found = cdf_variance.sums(counts, Masking(noise, p, 0.0, delta), x).over(z.size)

    np.testing.assert_allclose(found, slow(z, x, p, noise, delta), rtol=0.0, atol=2e-11)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_standard_errors_on_fine_grids_are_right_to_three_digits(noise, p):
    # without the jump's own place the error is 1e-2
    z, counts = sample(1 / 400)
    x = np.quantile(z, PLACES).round()

    found = cdf_variance.sums(counts, Masking(noise, p, 0.0, 1 / 400), x).over(z.size)

    np.testing.assert_allclose(errors(found), errors(slow(z, x, p, noise, 1 / 400)), rtol=2e-3)


def test_atoms_count_at_their_place_within_a_cell():
    # all records on every 100th of steps of sigma/1000, six to a cell
    z = np.rint(np.random.default_rng(6).normal(0.0, 1.0, 500) * 10.0) * 100.0
    counts = ValueCounts(*np.unique(z, return_counts=True))
    x = np.array([-100.0, -1.0, 0.0, 1.0, 99.0])

    found = cdf_variance.sums(counts, Masking("normal", 0.5, 0.0, 1e-3), x).over(500)

    np.testing.assert_allclose(errors(found), errors(slow(z, x, 0.5, "normal", 1e-3)), rtol=2e-3)


def test_points_beyond_all_records():
    _, counts = sample(1 / 50, 100)
    x = np.array([-np.inf, -1e18, 1e18, np.inf])

    found = cdf_variance.sums(counts, Masking("normal", 0.4, 0.0, 1 / 50), x).over(100)

    expected = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0.6, 0.6], [0, 0, 0.36, 0.36], [0, 0, 1, 1]]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8)


def test_wide_data_are_done_in_stretches():
    # points in many stretches, each with the bits as if asked for alone, or after others; records 1e12 sigma
    # apart need no more memory
    z = np.concatenate([np.random.default_rng(7).normal(0.0, 3e5, 300), [1e15]]).round()
    counts, masking = ValueCounts(*np.unique(z, return_counts=True)), Masking("laplace", 0.4, 0.0, 1e-2)
    x = np.append(np.linspace(-9e5, 9e5, 200).round(), [1e15 - 7.0, 1e15])

    together = cdf_variance.sums(counts, masking, x)

    alone = [cdf_variance.sums(counts, masking, x[k : k + 1]) for k in range(x.size)]
    np.testing.assert_array_equal(together, np.concatenate(alone, axis=1))
    kept = cdf_variance.CdfSums(counts, masking)
    for k in np.random.default_rng(8).permutation(x.size):
        np.testing.assert_array_equal(kept.at(x[k : k + 1]), alone[k])


def test_known_values_have_no_noise():
    counts, masking = ValueCounts(np.array([3.0, 5.0]), np.array([2, 1])), Masking("normal", 0.4, 0.0, 1e3)
    x = np.array([2.0, 3.0, 7.0])

    # noise that is rounded to 0 leaves values as they are as well
    np.testing.assert_allclose(
        cdf_variance.sums(counts, masking, x),
        cdf_variance.without_noise(counts, 0.4, x),
        rtol=0.0,
        atol=1e-12,
    )
    assert cdf_variance.without_noise(counts, 0.4, x).psi.tolist() == [0.0, 2.0, 3.0]


def test_points_near_those_of_before_are_looked_up(monkeypatch):
    _, counts = sample(1 / 50)
    masking, x = Masking("normal", 0.4, 0.0, 1 / 50), np.arange(-40.0, 40.0)
    expected, curve, made = cdf_variance.sums(counts, masking, x), cdf_variance.CdfSums(counts, masking), []
    nodes = cdf_variance._nodes
    monkeypatch.setattr(cdf_variance, "_nodes", lambda *args: made.append(args) or nodes(*args))

    curve.at(x[20:30])
    for _ in range(3):
        np.testing.assert_array_equal(curve.at(x), expected)
        curve.at(x[5:7])

    assert len(made) == 1
