"""Sums of a function over the originals, against convolutions written out.

Oracle: the mass by `numpy.convolve` with a directly summed kernel. No randomness but that of the data.
"""

import numpy as np
import pytest

from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import expectations

STEPS = np.arange(-400, 401)


def masses(p, delta):
    """mu_j for normal noise of these steps: p mu + (1-p) mu * noise = 1 at 0, term by term."""
    from scipy.special import ndtr

    noise = ndtr((STEPS + 0.5) * delta) - ndtr((STEPS - 0.5) * delta)
    power, found = np.where(STEPS == 0, 1.0, 0.0), np.zeros(STEPS.size)
    for k in range(60):  # the paper's series, which converges for p > 1/2
        found += (-(1.0 - p) / p) ** k / p * power
        power = np.convolve(power, noise, mode="same")
    return found


FUNCTIONS = [lambda k: k**2 - 3.0 * k, lambda k: (k > 2.0) * 1.0, lambda k: np.sin(0.1 * k)]


def test_sums_are_those_of_convolutions():
    p, delta = 0.8, 0.2
    z = np.rint(np.random.default_rng(1).normal(0.0, 8.0, 50))
    mu, grid = masses(p, delta), np.arange(-300.0, 301.0)
    mass = np.convolve([np.count_nonzero(z == k) for k in grid], mu)[400:-400]
    counts = ValueCounts(*np.unique(z, return_counts=True))

    found = expectations.sums(counts, Masking("normal", p, 0.0, delta), FUNCTIONS)

    for k, g in enumerate(FUNCTIONS):
        psi = np.convolve(g(np.arange(-700.0, 701.0)), mu, mode="valid")  # mu is symmetric
        rest = g(grid) - p * psi
        of_z = psi[(z + 300).astype(int)]
        expected = [of_z.sum(), (of_z**2).sum(), mass @ rest, mass @ rest**2, mass @ g(grid) ** 2]
        np.testing.assert_allclose([each[k] for each in found], expected, rtol=1e-9, atol=1e-9)


def test_sums_of_records_that_stay_as_they_are_are_loops_over_them():
    # psi is g then, and r = h - p psi is (1-p) g
    p, held = 0.3, {-4.0: 2, 0.0: 1, 7.0: 3}
    counts = ValueCounts(np.array(list(held)), np.array(list(held.values())))

    found = expectations.sums_without_noise(counts, p, FUNCTIONS)

    for k, g in enumerate(FUNCTIONS):
        values = [float(g(np.float64(z))) for z, times in held.items() for _ in range(times)]
        rest = [v - p * v for v in values]
        expected = [sum(values), sum(v * v for v in values), sum(rest), sum(r * r for r in rest)]
        expected.append(sum(v * v for v in values))
        assert [each[k] for each in found] == pytest.approx(expected, rel=1e-14)


def test_long_pieces_and_far_values_are_done_part_by_part(monkeypatch):
    z = np.append(np.rint(np.random.default_rng(2).uniform(0.0, 1e5, 2000)), 1e15)
    counts, masking = ValueCounts(*np.unique(z, return_counts=True)), Masking("laplace", 0.4, 0.0, 0.1)
    g = lambda k: np.tanh(k / 1e4)  # noqa: E731
    whole = expectations.sums(counts, masking, [g])

    monkeypatch.setattr(expectations, "LONGEST", 1000)

    np.testing.assert_allclose(expectations.sums(counts, masking, [g]), whole, rtol=1e-9)


def test_a_value_that_is_not_finite_counts_where_there_is_mass():
    counts, masking = ValueCounts(np.array([0.0, 10.0]), np.array([3, 2])), Masking("normal", 0.5, 0.0, 0.1)

    with np.errstate(all="ignore"), pytest.raises(expectations.NotFiniteError) as info:
        expectations.sums(counts, masking, [lambda k: 1.0 / k])
    assert info.value.args == (0.0, np.inf)
    far = expectations.sums(counts, masking, [lambda k: np.where(k > 150.0, np.inf, 1.0)])  # 14 sigma away
    assert abs(far.psi - 5.0) < 1e-9
    with np.errstate(all="ignore"), pytest.raises(expectations.NotFiniteError):
        expectations.sums_without_noise(counts, 0.5, [lambda k: 1.0 / k])


def test_what_grows_too_fast_is_not_known():
    counts, masking = ValueCounts(np.array([0.0, 10.0]), np.array([3, 2])), Masking("normal", 0.5, 0.0, 0.1)

    slow, fast = (lambda k: np.exp(0.1 * k)), (lambda k: np.exp(0.25 * k))  # exp(x / sigma) the first
    found = expectations.sums(counts, masking, [slow, fast])

    assert np.isnan([found.psi, found.psi_squared]).tolist() == [[False, True], [True, True]]
    assert np.isnan(found).all(axis=0).tolist() == [False, True]
