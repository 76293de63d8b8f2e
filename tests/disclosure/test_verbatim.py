"""What a release shows verbatim, and what ties tell, against simulated releases and the paper."""

import numpy as np
import pytest
from scipy.stats import laplace

import condmask as cm

D = np.array([250.0, 500.0, 1000.0, 1500.0, 2000.0])
# The file of Table 3 without its sampling error: the quantiles of Laplace(10, 1000), in shuffled order.
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(100_000) + 0.5) / 100_000, 10, 1000))


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("step", [2.0**-4, 8.0, 64.0])
def test_what_is_printed_is_what_releases_print(donors, step):
    scheme = cm.ConditionalMasking(0.6, 500.0, donors=donors, step=step)
    x = np.round(X[:4_000] / step) * step
    expected = cm.risk(x, scheme, d=D, audit=False).verbatim
    runs = []
    for key in range(8):
        z = scheme.mask_rows(scheme.law.to_units(x)[None] * scheme.step, np.random.default_rng(key), ())[0]
        _, place, counts = np.unique(z, return_inverse=True, return_counts=True)
        tied = counts[place] > 1
        swapped = coins_of(x, z, scheme, key)
        runs.append([np.isin(x, z).mean(), tied.mean(), swapped[tied].mean(), swapped[~tied].mean()])
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(8)

    # six standard errors of eight runs (t with 7 degrees, 5e-4 of keys each), and 1% for the Poisson law
    assert np.mean(runs, axis=0) == pytest.approx(list(expected), abs=0.01 + 6 * error.max())


def coins_of(x, z, scheme, key):
    """Which records were swapped, from the stream that masked them."""
    from condmask._randomness import words

    return words(np.random.default_rng(key), x.size) < np.uint64(int(scheme.p * 2.0**64))


def test_without_ties_the_printed_share_is_that_of_the_paper():
    x, step = X[:1_000], 2.0**-16
    scheme = cm.ConditionalMasking(0.6, 1000.0, donors="sample", step=step)
    printed = cm.risk(np.round(x / step) * step, scheme, d=1.0, audit=False).verbatim

    assert printed.share == pytest.approx(1 - np.exp(-0.6), abs=1e-3)
    assert printed.tied == pytest.approx(0.6 * (1 - np.exp(-0.6)), abs=1e-3)
    assert printed.swapped_if_tied == pytest.approx(1.0, abs=1e-3)
    assert 1 - printed.swapped_if_untied == pytest.approx(0.4 / (1 - 0.6 * (1 - np.exp(-0.6))), abs=1e-3)
