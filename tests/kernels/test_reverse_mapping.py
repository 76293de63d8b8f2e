"""Keys and windows under reverse mapping: SciPy's laws, and loops over all windows."""

import numpy as np
import pytest
from scipy.stats import laplace, norm

from condmask.kernels import reverse_mapping

STREAM = np.random.default_rng(3)
LAWS = {True: norm(), False: laplace(scale=np.sqrt(0.5))}
AT = np.sort(STREAM.normal(0.0, 2.0, 12))
MASS = STREAM.dirichlet(np.ones(12))


@pytest.mark.parametrize("normal", [True, False])
def test_noise_has_the_law_of_its_name_with_unit_variance(normal):
    for u in (-3.0, -1e-9, 0.0, 0.4, 7.0):
        assert reverse_mapping.noise_below(u, normal) == pytest.approx(LAWS[normal].cdf(u), rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("normal", [True, False])
def test_the_best_window_holds_most_of_all(p, normal):
    """Windows of three bins; the constant one is the fullest of them."""
    low, high = np.array([-3.0, -0.5, 1.0]), np.array([-1.0, 0.2, 9.0])
    running = np.append(0.0, np.cumsum(MASS))
    end = np.minimum(np.arange(12) + 3, 12)
    held = running[end] - running[:12]
    fullest = int(np.argmax(held))
    choice, chance = np.empty(3, dtype=np.int64), np.empty(3)

    reverse_mapping.best_windows(
        low, high, p, AT, MASS, held, end, np.zeros(12), held[fullest], np.array([fullest, end[fullest]]),
        np.zeros(2), 40.0, normal, choice, chance,
    )  # fmt: skip

    law = LAWS[normal]
    for c in range(3):
        kept = MASS * (law.cdf(high[c] - AT) - law.cdf(low[c] - AT))
        kept = np.append(0.0, np.cumsum(kept / kept.sum()))
        windows = p * held + (1.0 - p) * (kept[end] - kept[:12])
        # noise is interpolated between sixteenths of a sigma, to 2e-4 of it
        assert chance[c] == pytest.approx(windows.max(), abs=2e-3)
        if choice[c] != reverse_mapping.CONSTANT:
            assert windows[choice[c]] == pytest.approx(windows.max(), abs=2e-3)


def test_chances_are_balanced_by_rows_and_columns():
    chance = STREAM.random((6, 6)) + 0.05
    ratio = chance[0, 0] * chance[1, 1] / (chance[0, 1] * chance[1, 0])

    reverse_mapping.balance(chance, 200)

    assert chance.sum(axis=0) == pytest.approx(np.ones(6), abs=1e-9)
    assert chance.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-9)
    # rows and columns are scaled, so ratios across stay
    assert chance[0, 0] * chance[1, 1] / (chance[0, 1] * chance[1, 0]) == pytest.approx(ratio, rel=1e-9)
