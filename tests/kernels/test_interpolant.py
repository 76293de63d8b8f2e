"""The certified table of K against 25 digits, and against the integral it interpolates.

The tolerance asked for is the tolerance tested, factor 1.
"""

from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condmask.deconvolution import table as weights
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.kernels import interpolant

ROWS = np.genfromtxt(Path(__file__).parents[1] / "data" / "weight.csv", delimiter=",", names=True)
TABULATED = sorted(
    {(float(p), float(beta)) for p, beta in zip(ROWS["p"], ROWS["bandwidth_over_sigma"], strict=True)}
)
NOISES = ("normal", "laplace")
TOLERANCES = (1e-4, 1e-8, 1e-12)


def from_table(masking, tol, u, density=False):
    """K at every u, each as the sum over a sample of one."""
    table = weights.table(masking, tol, density)
    zero = np.zeros(1)
    return np.array([interpolant.sum_weights(zero, x, 1.0, table, 0, 1) for x in np.asarray(u, dtype=float)])


def exactly(masking, u):
    half = weight.half_weight(masking, np.abs(u))
    return 0.5 + np.where(u >= 0.0, half, -half)


def points(masking, tol, seed=1):
    """The step, both zones and what lies beyond the reach, at random."""
    end = weight.reach(masking, tol)
    far = end * np.array([1.0, 1.5, 99.0])
    rng = np.random.default_rng(seed)
    fine = 10.0 * (masking.beta or 0.1)
    u = np.concatenate([
        [0.0, 1e-12], rng.uniform(0, min(fine, end), 100), rng.uniform(0, end, 100), far
    ])  # fmt: skip
    return np.concatenate([u, -u[1:]])


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize(("p", "beta"), TABULATED)
def test_table_keeps_its_tolerance_against_25_digits(p, beta, tol):
    if tol < weights.smallest_tol(p):
        pytest.skip(f"rounding: tol must be at least {weights.smallest_tol(p):.0e} at p={p}")
    chosen = (ROWS["p"] == p) & (ROWS["bandwidth_over_sigma"] == beta)

    found = from_table(Masking("normal", p, beta), tol, ROWS["u"][chosen])

    assert np.abs(found - ROWS["weight"][chosen]).max() <= tol


def test_the_tolerances_tested_are_nearly_all_allowed():
    skipped = {p for p, _ in TABULATED for tol in TOLERANCES if tol < weights.smallest_tol(p)}

    assert skipped == set()


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.04, 0.5, 0.97])
@pytest.mark.parametrize(
    ("beta", "delta"),
    [(0.0, 0.0), (0.03, 0.0), (1.5, 0.0), (0.0, 0.1), (0.0, 2.0), (0.2, 0.1), (3.0, 2.0), (1e6, 0.0)],
)
def test_table_keeps_its_tolerance_against_the_integral(noise, p, beta, delta, tol):
    masking = Masking(noise, p, beta, delta)
    u = points(masking, tol)
    if delta > 0.0 and beta == 0.0:  # only half steps mean anything there
        u = (np.rint(u / delta) + 0.5) * delta

    assert np.abs(from_table(masking, tol, u) - exactly(masking, u)).max() <= tol


@settings(max_examples=25)
@given(
    noise=st.sampled_from(NOISES),
    p=st.floats(0.02, 0.999),
    beta=st.one_of(st.just(0.0), st.floats(0.02, 5.0)),
    tol=st.floats(-12.0, -2.0).map(lambda power: 10.0**power),
    seed=st.integers(0, 2**32),
)
def test_table_keeps_any_tolerance(noise, p, beta, tol, seed):
    masking = Masking(noise, p, beta)
    tol = max(tol, weights.smallest_tol(p))
    u = points(masking, tol, seed)

    assert np.abs(from_table(masking, tol, u) - exactly(masking, u)).max() <= tol


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.04, 0.5, 0.97])
@pytest.mark.parametrize(("beta", "delta"), [(0.03, 0.0), (0.4, 0.0), (3.0, 0.0), (0.2, 0.1), (3.0, 2.0)])
def test_density_table_keeps_its_tolerance(noise, p, beta, delta, tol):
    masking = Masking(noise, p, beta, delta)
    tol = max(tol, weights.smallest_tol(p) / beta)
    u = points(masking, tol)

    exact = weight.density_weight(masking, np.abs(u))

    assert np.abs(from_table(masking, tol, u, density=True) - exact).max() <= tol


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("beta", [1e-20, 1e-6, 30.0, 1e6, 1e20])
def test_tables_stay_small_at_any_bandwidth(noise, beta):
    masking = Masking(noise, 0.6, beta)

    # some 200 cells for each of the zones at this tolerance
    assert len(weights.table(masking, 1e-10).coefficients) < 1000


@pytest.mark.parametrize("split", [0, 1, 17, 50])
def test_parts_of_a_sample_add_up(split):
    rng = np.random.default_rng(2)
    z, x = rng.normal(0, 3, 50), np.array([-1.0, 0.0, 2.5, z_max := 40.0, -z_max])
    table = weights.table(Masking("normal", 0.4), 1e-10)
    whole, parts = np.zeros(x.size), np.zeros(x.size)

    interpolant.add_weights(x, z, 1.3, table, 0, 50, whole)
    interpolant.add_weights(x, z, 1.3, table, 0, split, parts)
    interpolant.add_weights(x, z, 1.3, table, split, 50, parts)

    assert parts == pytest.approx(whole, abs=1e-13 * 50)  # 50 additions, in another order
    assert whole[3:].tolist() == [50.0, 0.0]


def test_a_scheme_may_call_the_kernels_in_its_own_compiled_code():
    table = weights.table(Masking("normal", 0.6), 1e-10)

    @numba.njit
    def median_weight(z, table):
        return interpolant.sum_weights(z, 0.0, 2.0, table, 0, z.size) / z.size

    z = np.array([-3.0, -0.7, 0.0, 1.9])

    assert median_weight(z, table) == pytest.approx(
        exactly(Masking("normal", 0.6), -z / 2.0).mean(), abs=1e-10
    )
