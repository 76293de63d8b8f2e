"""Closed forms of risk against all pairs of records and against simulation."""

import numpy as np
import pytest
import reference
from releases import DONORS, NOISES
from scipy.stats import norm

import condmask as cm
from condmask.closed_form_risk import interval_risk


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("step", [0.125, 0.05, 1 / 3])
def test_risk_on_a_grid_is_that_of_all_pairs_and_all_steps_of_noise(noise, step):
    scheme = cm.ConditionalMasking(0.6, 0.9, noise=noise, step=step)
    k = np.random.default_rng(5).integers(-12, 12, 40)
    x = scheme.grid.values(k.astype(float))
    d = np.array([0.0, step / 2, step, 1.5 * step, 3 * step, 7.2 * step, 100.0])
    exact = reference.exact_step(step)
    steps = [next(j for j in range(10**6) if j * exact >= v or abs(j * step - v) < 1e-12) for v in d.tolist()]

    differences = np.abs(k[:, None] - k)[~np.eye(k.size, dtype=bool)]
    share = np.array([np.mean(differences < j) for j in steps])
    drawn = scheme.law._replace(grid=None)  # a number of steps j is drawn with the chance of its cell
    kept = np.array([float(drawn.noise_within(np.array([max(j - 0.5, 0.0) * step]))[0]) for j in steps])

    assert scheme.risk(x, d) == pytest.approx(0.6 * share + 0.4 * kept, rel=1e-12, abs=1e-14)
    assert np.array_equal(scheme.risk(np.append(x, np.nan), d), scheme.risk(x, d))
    assert scheme.mse([*x, np.nan]) == scheme.mse(x)
    rows = np.sort(np.stack([x, x[::-1] + step]), axis=1)
    assert interval_risk(rows, d, scheme.law)[0] == pytest.approx(scheme.risk(x, d), rel=1e-12)


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_the_error_of_the_mean_of_masked_values_is_that_of_simulated_files(donors, p):
    n, files = 12, 40_000
    scheme = cm.ConditionalMasking(p, 0.5, donors=donors)
    x = np.random.default_rng(6).normal(size=(files, n))
    z = scheme.mask_rows(x, np.random.default_rng(7), ())
    found = np.mean((z.mean(axis=1, keepdims=True) - x) ** 2, axis=1)

    unit = x[0] / np.std(x[0], ddof=1)  # a file with variance 1
    expected = scheme.mse_of_mean(unit)

    # five standard errors: an alarm in 6e-7 of keys. kappa of shared donors adds (n - 1) kappa / n, .042 and
    # .067 of Var X, twelve and more. A lone swapped record, of chance .07 at p = .3, shares a donor with a
    # kept one, which adds 2/n^2: .001 in all
    error = found.std() / np.sqrt(files)
    assert error < 0.0035
    assert abs(found.mean() - expected) < 5 * error


def test_the_error_of_masked_values_is_that_of_all_pairs():
    scheme = cm.ConditionalMasking(0.6, 2.0, noise="laplace", step=3)
    x = np.array([0.0, 3.0, 9.0, 33.0])
    pairs = np.mean(np.subtract.outer(x, x)[~np.eye(4, dtype=bool)] ** 2)
    k = np.arange(1, 60)
    chance = np.exp(-(k - 0.5) * 3 * np.sqrt(2) / 2.0) - np.exp(-(k + 0.5) * 3 * np.sqrt(2) / 2.0)

    assert scheme.mse(x) == pytest.approx(0.6 * pairs + 0.4 * np.sum(chance * (3.0 * k) ** 2), rel=1e-12)


X = np.random.default_rng(31).laplace(10, 1000, 3_000)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_risk_is_the_share_of_records_near_their_masked_values(noise):
    scheme = cm.ConditionalMasking(0.6, 700.0, noise=noise, step=0)
    x = X[:300]
    d = np.array([100.0, 500.0, 2_000.0])
    pairs = np.abs(x[:, None] - x) < d[:, None, None]
    share = (pairs.sum(axis=(1, 2)) - x.size) / (x.size * (x.size - 1))
    kept = 2 * norm.cdf(d / 700.0) - 1 if noise == "normal" else 1 - np.exp(-d * np.sqrt(2) / 700.0)

    assert scheme.risk(x, d) == pytest.approx(0.6 * share + 0.4 * kept, rel=1e-12)
    differences = (x[:, None] - x) ** 2
    exact = 0.6 * differences.sum() / (x.size * (x.size - 1)) + 0.4 * 700.0**2
    assert scheme.mse(x) == pytest.approx(exact, rel=1e-12)
    assert cm.AdditiveNoise(700.0, noise=noise).risk(x, d) == pytest.approx(kept, rel=1e-12)
