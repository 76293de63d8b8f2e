"""Mean products of what T is made of, against sums over the records one by one.

Oracle: the weights from the equation that defines them (tests/reference.py), the mass of the originals as the
differences of T, and loops. No randomness but that of the data.
"""

import numpy as np
import pytest
import reference
from scipy.special import ndtr

from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import cdf_covariance, cdf_variance
from condmask.inference.cdf_covariance import Counted, Expected, WithoutNoise


def counted(z):
    return ValueCounts(*np.unique(z, return_counts=True))


def found_by(records, x):
    """The sums and products of psi, and those of r."""
    return *records.psi(x), *records.residual(x)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("delta", [0.125, 1.3])
@pytest.mark.parametrize("chunk", [1 << 12, 50])  # cells at a time: all, and many times so many
def test_products_are_sums_over_the_records(noise, delta, chunk, monkeypatch):
    # on steps of sigma/8 and more nothing is approximated
    monkeypatch.setattr(cdf_covariance, "CHUNK", chunk)
    monkeypatch.setattr(cdf_covariance, "CACHED", max(7, chunk // 9))
    p, z = 0.4, np.rint(np.random.default_rng(5).laplace(0.0, 1.5, 60) / delta)
    x, reach = np.array([-3.0, 0.0, 0.0, 9.0]), int(24.0 / delta)
    k = reference.rounded_weights(noise, p, delta, reach)
    weight = lambda apart: k[np.clip(apart.astype(int) + reach, 0, 2 * reach)]  # noqa: E731
    grid = np.arange(z.min() - reach, z.max() + reach + 1)
    mass = np.diff([weight(t - z).sum() for t in grid], prepend=0.0)  # of the originals

    found = found_by(Counted(counted(z), Masking(noise, p, 0.0, delta)), x)

    psi = np.array([weight(t - z) for t in x])
    rest = np.array([(t >= grid) - p * weight(t - grid) for t in x])
    expected = (psi.sum(axis=1), psi @ psi.T, rest @ mass, (rest * mass) @ rest.T)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_standard_errors_on_fine_grids_are_right_to_a_percent(noise, p):
    # steps of sigma/1000, counted in cells of sigma/32; the other route, in cells of sigma/64 and with each
    # record's jump at its place, is right to .2% (test_variances.py)
    z = np.rint(np.random.default_rng(5).laplace(0.0, 1500.0, 400))
    x, masking = np.array([-2000.0, -500.0, 0.0, 300.0, 2500.0]), Masking(noise, p, 0.0, 1e-3)

    psi, products, rest, rest_products = found_by(Counted(counted(z), masking), x)
    each = cdf_variance.sums(counted(z), masking, x)

    v = np.diag(products) / 400 - (psi / 400) ** 2
    d = np.diag(rest_products) / 400 - (rest / 400) ** 2
    expected = each.psi_squared / 400 - (each.psi / 400) ** 2
    expected -= each.residual_squared / 400 - (each.residual / 400) ** 2
    np.testing.assert_allclose(np.sqrt(v - d), np.sqrt(expected), rtol=0.01)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.6, 0.9])
def test_on_nodes_the_variances_are_those_of_cells(noise, p, monkeypatch):
    # products of r, which nodes hold sigma/8 apart and cells sigma/32: to .2% of the variance of T about the
    # file, which they are a part of; on nodes sigma/4 apart it would be .3% of Laplace noise at p = .1
    z = np.rint(np.random.default_rng(5).laplace(0.0, 48.0, 2000))
    x, masking = np.arange(-90.0, 91.0, 7.0), Masking(noise, p, 0.0, 1 / 32)
    monkeypatch.setattr(cdf_covariance, "CACHED", 20)  # so that there are many blocks of nodes, too
    psi, psi_products, rest, products = found_by(Counted(counted(z), masking), x)

    monkeypatch.setattr(cdf_covariance, "NODES_PER_SIGMA", 32)
    cells = Counted(counted(z), masking).residual(x)

    variances = np.diag(psi_products - cells.products) / 2000 - (psi**2 - cells.sums**2) / 2000**2
    moved = (products - cells.products) / 2000 - (
        np.outer(rest, rest) - np.outer(cells.sums, cells.sums)
    ) / 2000**2
    assert np.abs(moved).max() > 1e-7
    assert (np.abs(moved) < 0.002 * np.sqrt(np.outer(variances, variances))).all()


def test_products_of_records_that_stay_as_they_are_are_counts():
    # psi is 1 up to a point and r = h - p psi is 1 - p: products count the records up to both points
    p, z, x = 0.3, [-4.0, -4.0, 0.0, 2.0, 2.0, 2.0, 7.0], [-5.0, -4.0, 1.0, 2.0, 9.0]

    def share(points):
        return np.array([np.mean(np.array(z) <= t) for t in points])

    found = found_by(WithoutNoise(share, 7, p), np.array(x))

    psi = [[float(value <= t) for value in z] for t in x]
    both = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in psi] for one in psi]
    rests = [
        [sum((a - p * a) * (b - p * b) for a, b in zip(one, other, strict=True)) for other in psi]
        for one in psi
    ]
    sums = np.array(psi).sum(axis=1)
    expected = (sums, both, (1.0 - p) * sums, rests)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    # noise that is rounded to 0 leaves values as they are as well
    rounded = found_by(Counted(counted(np.array(z)), Masking("normal", p, 0.0, 1e3)), np.array(x))
    for one, other in zip(found, rounded, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12)


def test_products_under_a_hypothesis_are_their_expectation():
    # the masses of the originals and, by a plain convolution, of the masked values, at all points
    p, n, delta, reach = 0.4, 500, 0.25, 80
    below = lambda t: ndtr((np.floor(t) + 0.5) / 7.0)  # noqa: E731
    x, grid = np.array([-9.0, 0.0, 0.0, 6.0]), np.arange(-60.0, 61.0)
    of_x = n * np.diff(below(np.append(grid[0] - 1.0, grid)))
    chance = reference.rounded_noise("normal", delta, reach)
    wide = np.arange(grid[0] - reach, grid[-1] + reach + 1)
    of_z = p * np.pad(of_x, reach) + (1.0 - p) * np.convolve(of_x, chance)
    k = reference.rounded_weights("normal", p, delta, 2 * reach)
    weight = lambda apart: k[np.clip(apart.astype(int) + 2 * reach, 0, 4 * reach)]  # noqa: E731

    found = found_by(Expected(below, n, Masking("normal", p, 0.0, delta)), x)

    psi = np.array([weight(t - wide) for t in x])
    rest = np.array([(t >= grid) - p * weight(t - grid) for t in x])
    # beyond the grid lie 1e-16 of the originals
    expected = (psi @ of_z, (psi * of_z) @ psi.T, rest @ of_x, (rest * of_x) @ rest.T)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(("noise", "p"), [("normal", 0.4), ("laplace", 0.1), ("laplace", 0.8)])
def test_what_is_expected_far_from_all_points_is_taken_together(noise, p):
    # psi undoes the masking, so n times the distribution function is to be expected of it; and as a further
    # point reaches farther, the rest is what it is with that. Points beside a mode that half of them are in.
    below = lambda t: 0.5 * ndtr((np.floor(t) + 0.5) / 3.0) + 0.5 * ndtr((np.floor(t) + 0.5) / 400.0)  # noqa: E731
    records = Expected(below, 500, Masking(noise, p, 0.0, 0.125))
    x = np.array([records.reach - 2.0, records.reach + 5.0, 6.0 * records.reach])

    found, wider = (
        found_by(records, x),
        found_by(records, np.append(np.arange(-30.0, -10.0) * records.reach, x)),
    )

    np.testing.assert_allclose(found[0], 500 * below(x), rtol=0.0, atol=1e-3)
    for one, other in zip(found, wider, strict=True):
        np.testing.assert_allclose(one, other[-3:] if one.ndim == 1 else other[-3:, -3:], rtol=0.0, atol=1e-3)


def test_far_records_are_taken_together():
    # two clusters 10^7 sigma apart and points in both and between them
    rng = np.random.default_rng(7)
    z = np.concatenate([rng.normal(0.0, 100.0, 200), rng.normal(1e9, 100.0, 300)]).round()
    masking = Masking("normal", 0.4, 0.0, 1 / 8)
    x = np.array([-50.0, 20.0, 5e8, 1e9, 1e9 + 70.0])

    found, each = found_by(Counted(counted(z), masking), x), cdf_variance.sums(counted(z), masking, x)

    expected = (each.psi, each.psi_squared, each.residual, each.residual_squared)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.diag(one) if one.ndim == 2 else one, other, rtol=0.0, atol=1e-6)
