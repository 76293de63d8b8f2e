"""The lattice against the 25-digit table, exact pairwise sums and itself under other cuts of the data."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from deconvolution.test_weight import CASES, tabulated
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import rest_slow

from condmask.deconvolution import expansion, weight
from condmask.deconvolution.expansion import Shape
from condmask.deconvolution.weight import Masking
from condmask.engines import lattice as curves
from condmask.engines.sorting import ascending
from condmask.kernels import lattice
from condmask.kernels.lattice import ORDER

NOISES = ("normal", "laplace")
PS = (0.05, 0.2, 0.5, 0.6, 0.9, 0.99)
FAR = 90.0  # beyond, every K below is 0 or 1 to 1e-30
BETAS = (0.0, 0.01, 0.1, 1.0)


def exact(z, x, sigma, masking, density=False):
    """T, or sigma times its density, by the integral or closed form of K at every pair."""
    u = np.clip((x[:, None] - z) / sigma, -FAR, FAR)
    if density:
        return weight.density_weight(masking, np.abs(u).ravel()).reshape(u.shape).mean(axis=1)
    half = weight.half_weight(masking, np.abs(u).ravel()).reshape(u.shape)
    return np.where(u >= 0.0, 0.5 + half, 0.5 - half).mean(axis=1)


def points(z, sigma, rng, count=60):
    """On, near and far from the data, in no order, and at the ends of the line."""
    near = rng.choice(z, count)
    spread = rng.uniform(z.min() - 9 * sigma, z.max() + 9 * sigma, count)
    return np.concatenate((near, near + rng.normal(0, sigma, count), spread, [-np.inf, np.inf]))


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("p", "beta"), CASES)
def test_the_lattice_keeps_its_tolerance_on_25_digits(p, beta, tol):
    u, k = tabulated(p, beta)

    found = curves.values(curves.curve(np.zeros(1), 1.0, Masking("normal", p, beta), tol), u)

    assert np.abs(found - k).max() <= tol


@pytest.mark.parametrize("beta", rest_slow(BETAS))
@pytest.mark.parametrize("p", PS)
@pytest.mark.parametrize("noise", NOISES)
def test_any_sample_keeps_its_tolerance(noise, p, beta):
    rng = np.random.default_rng(3)
    z = np.sort(rng.laplace(5, 3, 500))
    masking = Masking(noise, p, beta)
    x = points(z, 1.3, rng)
    truth = exact(z, x, 1.3, masking)
    slope = exact(z, x, 1.3, masking, density=True) if beta > 0.0 else None

    for tol in (1e-5, 1e-10):
        assert np.abs(curves.values(curves.curve(z, 1.3, masking, tol), x) - truth).max() <= tol
        if slope is None:
            continue
        for make, sample in ((curves.curve, z), (curves.smooth_curve, rng.permutation(z))):
            if make is curves.smooth_curve and beta < 0.1:
                continue  # too many cells
            assert np.abs(curves.values(make(sample, 1.3, masking, tol), x) - truth).max() <= tol
            density = make(sample, 1.3, masking, tol, density=True)
            assert np.abs(curves.values(density, x) - slope).max() <= tol


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("delta", [0.1, 0.3, 0.5, 2.0])
def test_rounded_data_keep_their_tolerance(noise, delta):
    rng = np.random.default_rng(4)
    z = np.sort(rng.integers(-40, 60, 400).astype(float))
    x = np.unique(points(z, 3.0, rng)[:-2] // 1) + 0.5
    masking = Masking(noise, 0.6, 0.0, delta)

    found = curves.values(curves.curve(z, 1 / delta, masking, 1e-10), x)

    assert np.abs(found - exact(z, x, 1 / delta, masking)).max() <= 1e-10


RNG = np.random.default_rng(5)
ANY_DATA = {
    "Cauchy": RNG.standard_cauchy(3_000),
    "Pareto": RNG.pareto(0.5, 3_000),
    "outlier": np.append(RNG.normal(size=1_000), 1e15),
    "all equal": np.zeros(1_000),
    "two clusters": np.append(RNG.normal(size=800), 1e6 + RNG.normal(size=900)),
    "isolated": 1_000.0 * np.arange(1_000),
    "sigma tiny": 1e6 * RNG.normal(size=1_000),
    "sigma huge": 1e-6 * RNG.normal(size=1_000),
    "beyond all cells": 1e300 * RNG.standard_cauchy(1_000) / 1e5,
    "one": np.array([3.0]),
}


@pytest.mark.parametrize(
    ("data", "noise", "beta"),
    [
        *((data, noise, 0.0) for data in ANY_DATA for noise in NOISES),
        *(
            pytest.param(data, NOISES[k % 2], beta, marks=pytest.mark.slow)
            for data in ANY_DATA
            for k, beta in enumerate([1e-4, 0.1])
        ),
    ],
)
def test_any_data_keep_their_tolerance(data, noise, beta):
    z = np.sort(ANY_DATA[data])
    masking = Masking(noise, 0.6, beta)
    x = points(z, 1.0, np.random.default_rng(6), 40)[:-2]

    found = curves.values(curves.curve(z, 1.0, masking, 1e-9), x)

    assert np.abs(found - exact(z, x, 1.0, masking)).max() <= 1e-9


def test_thin_records_are_left_to_the_table_and_thick_ones_get_a_lattice():
    rng = np.random.default_rng(101)
    z = np.sort(np.concatenate((rng.normal(size=500), [1e4, 1e8, 1e9], 1e6 + rng.normal(size=400))))

    stretches = curves.curve(z, 1.0, Masking("normal", 0.6), 1e-10).stretches

    assert stretches["start"].tolist() == [0, 501]
    assert stretches["stop"].tolist() == [500, 901]


def test_cells_stay_within_the_room_and_the_fullest_pages_come_first(monkeypatch):
    rng = np.random.default_rng(102)
    monkeypatch.setattr(curves, "CELLS", 600)
    z = np.sort(np.concatenate([k * 200.0 + rng.normal(size=20 + 10 * k) for k in range(12)]))
    masking = Masking("normal", 0.6)

    curve = curves.curve(z, 1.0, masking, 1e-10)

    assert 0 < len(curve.coefficients) <= 600 + z.size // curves.RECORDS_PER_CELL
    assert curve.stretches["stop"][-1] == z.size
    assert curve.stretches["start"][0] > 100
    x = points(z, 1.0, rng)[:-2]
    assert np.abs(curves.values(curve, x) - exact(z, x, 1.0, masking)).max() <= 1e-10


def test_widely_spread_records_are_not_scattered():
    z = np.array([0.0, 1e9, 3.0])

    assert curves.smooth_curve(z, 1.0, Masking("normal", 0.6, 0.1), 1e-10) is None


@settings(max_examples=30)
@given(
    z=st.lists(st.floats(-50, 50), min_size=1, max_size=40),
    times=st.integers(2, 9),
)
def test_coarser_cells_hold_the_same_power_sums(z, times):
    z = np.sort(z)
    cells = int(z[-1] - z[0]) + 1
    wide = -(-cells // times)
    fine, direct = np.zeros((cells, ORDER)), np.zeros((wide + 1, ORDER))
    lattice.power_sums(z, 0, z.size, z[0], 1.0, 0, fine)
    lattice.power_sums(z, 0, z.size, z[0], 1.0 / times, 0, direct)

    # a record on an edge may be counted on either side of it
    found = expansion.coarser(fine, times)

    assert len(found) == wide
    assert found[:, 0].sum() == z.size
    if not np.any(np.abs((z - z[0]) / times % 1.0 - 0.5) > 0.5 - 1e-9):
        assert found == pytest.approx(direct[:wide], abs=1e-13 * z.size)


def test_scattered_sums_are_those_of_sorted_records():
    rng = np.random.default_rng(103)
    z = rng.normal(0, 5, 3_001)
    low = z.min()
    sums = [np.zeros((200, ORDER)) for _ in range(2)]
    lattice.scattered_power_sums(z, np.empty(0, dtype=np.int64), 0, z.size, low, 3.0, 0, sums[0])
    lattice.power_sums(np.sort(z), 0, z.size, low, 3.0, 0, sums[1])

    assert sums[0] == pytest.approx(sums[1], abs=1e-12)


@pytest.mark.parametrize(
    "masking", [Masking("normal", 0.05), Masking("normal", 0.6), Masking("laplace", 0.3, 0.2)]
)
def test_the_smooth_part_rises_no_faster_than_its_bound(masking):
    v = np.linspace(0.0, 30.0, 20_001)
    slope = np.diff(weight.smooth_weight(masking, v)) / np.diff(v)

    rise, bend = expansion.steepness(Shape(masking), 1e-10)

    assert slope.max() <= rise <= max(slope.max(), 0.0) + 0.05 * np.abs(slope).max()
    curvature = np.abs(np.diff(slope)).max() / (v[1] - v[0])
    assert curvature <= bend <= 1.05 * curvature


@pytest.mark.parametrize(
    "masking", [Masking("normal", 0.6), Masking("normal", 0.6, 0.05), Masking("laplace", 0.6)]
)
def test_workers_leave_no_trace(masking):
    rng = np.random.default_rng(104)
    z = rng.normal(0, 4, 300_000)
    x = np.linspace(-9, 9, 10_001)
    with ThreadPoolExecutor(3) as pool:
        found = [
            curves.values(
                curves.curve(ascending(z, workers), 1.0, masking, 1e-10, workers=workers), x, workers
            )
            for workers in (1, 2, 5, pool.map)
        ]
        if masking.beta > 0.0:
            scattered = [
                curves.values(curves.smooth_curve(z, 1.0, masking, 1e-10, workers=w), x, w)
                for w in (1, 2, 5, pool.map)
            ]
            assert all(np.array_equal(one, scattered[0]) for one in scattered)

    assert all(np.array_equal(one, found[0]) for one in found)


# Counts: sorted distinct values with the number of records before each.


def counted(values, counts):
    """Distinct values with counts, and the records they stand for."""
    return values, np.append(0, np.cumsum(counts)), np.repeat(values, counts)


def some_counts(rng, size):
    """Mostly small, some large."""
    return np.where(rng.random(size) < 0.1, rng.integers(100, 10_000, size), rng.integers(1, 4, size))


def distinct(name):
    """Distinct values in whole steps of a grid of sigma / 10, in no pattern that sums could hide behind."""
    rng = np.random.default_rng(11)
    steps = {
        "dense": np.arange(400) + rng.integers(-3000, 3000),
        "gaps": rng.choice(4_000, 300, replace=False),
        "isolated": 1_000 * np.arange(300) + rng.integers(0, 9, 300),
        "Cauchy": np.rint(50 * rng.standard_cauchy(2_000)),
        "two clusters": np.append(rng.choice(300, 150, replace=False), 10**6 + np.arange(40)),
        "one": np.array([17]),
    }[name]
    return counted(np.unique(steps.astype(float)), some_counts(rng, np.unique(steps).size))


DATA = ("dense", "gaps", "isolated", "Cauchy", "two clusters", "one")


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("p", [0.1, 0.9])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("beta", "delta"), [(0.0, 0.0), (0.0, 0.1), (0.0, 0.5), (0.3, 0.0), (0.3, 0.1)])
def test_counts_stand_for_their_records(noise, p, beta, delta, data):
    z, below, records = distinct(data)
    tol, sigma = 1e-9, 1.0 / delta if delta > 0.0 else 10.0
    masking = Masking(noise, p, beta, delta)
    x = np.unique(points(z, sigma, np.random.default_rng(12))[:-2] // 1) + 0.5

    for density in (False, True) if beta > 0.0 else (False,):
        found = curves.values(curves.curve(z, sigma, masking, tol, density=density, below=below), x)

        # each side is within tol of the exact sum
        of_records = curves.values(curves.curve(records, sigma, masking, tol, density=density), x)
        assert np.abs(found - of_records).max() <= 2.0 * tol
        if beta > 0.0:
            smooth = curves.smooth_curve(records, sigma, masking, tol, density=density)
            if smooth is not None:
                assert np.abs(curves.values(smooth, x) - of_records).max() <= 2.0 * tol


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("p", "beta"), [(0.3, 0.0), (0.7, 0.0), (0.3, 0.4), (0.7, 0.4)])
def test_few_counts_are_those_of_the_plain_reference(noise, p, beta):
    z, below, records = counted(np.array([-3.1, -0.4, 0.25, 1.0, 8.5]), [3, 1, 40, 2, 7])
    x = np.array([-9.0, -3.1, -1.0, 0.25, 0.3, 2.0, 8.4, 8.5, 30.0])

    found = curves.values(curves.curve(z, 1.3, Masking(noise, p, beta), 1e-11, below=below), x)

    # the reference is good to 1e-12
    assert found == pytest.approx(reference.cdf(records, x, noise, p, 1.3, beta * 1.3), abs=1.1e-11)


def test_thin_counts_are_summed_by_the_table_and_thick_ones_by_cells():
    z, below, _ = counted(np.append(np.arange(500.0), [1e6, 2e6, 3e6]), np.full(503, 1_000))
    masking = Masking("normal", 0.6)
    x = np.append(np.arange(-50.0, 550.0, 7.3), [1e6 - 3.0, 1e6, 2e6 + 4.0])

    curve = curves.curve(z, 10.0, masking, 1e-10, below=below)

    assert curve.stretches["stop"].tolist() == [500]
    # all count alike, so that T is that of one record each
    assert np.abs(curves.values(curve, x) - exact(z, x, 10.0, masking)).max() <= 1e-10


@pytest.mark.parametrize("beta", [0.0, 0.05])
@pytest.mark.parametrize("noise", NOISES)
def test_workers_leave_no_trace_in_counts(noise, beta, monkeypatch):
    monkeypatch.setattr(curves, "PARALLEL", 1)
    monkeypatch.setattr(curves, "SUMMED_BLOCK", 1_000)  # many blocks, which threads add in order
    rng = np.random.default_rng(13)
    z, below, _ = counted(np.sort(rng.normal(0, 4, 20_011)), some_counts(rng, 20_011))
    x, masking = np.linspace(-20, 20, 9_001), Masking(noise, 0.6, beta)

    found = [
        curves.values(curves.curve(z, 1.0, masking, 1e-10, workers=w, below=below), x, w) for w in (1, 2, 5)
    ]
    assert all(np.array_equal(one, found[0]) for one in found)


def test_a_count_of_one_is_a_record():
    z, below, records = counted(np.sort(np.random.default_rng(14).normal(0, 4, 5_000)), np.ones(5_000, int))
    x = np.linspace(-20, 20, 901)

    for noise in NOISES:
        masking = Masking(noise, 0.4)
        found = curves.values(curves.curve(z, 1.0, masking, 1e-10, below=below), x)

        # the same sums in another order: 5,000 additions of numbers up to 1 / p
        expected = curves.values(curves.curve(records, 1.0, masking, 1e-10), x)
        assert found == pytest.approx(expected, abs=1e-13)
