"""When intervals of second moments warn of heavy tails.

Oracles: the fourth moment of a mixture written out, and how often files of known laws are warned of, which
docs/inference.rst states; every test has a fixed seed.
"""

import warnings

import numpy as np
import pytest
from releases import in_group

import condmask as cm
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, powers
from condmask.variance import heavy_tails

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
P, N, FILES = 0.6, 150, 200


def masked_moments(second, fourth, p, sigma, about=0.0):
    """Raw moments about a centre of p X + (1-p) (X + Y), Y normal, of a symmetric X with mean `about`."""
    m2 = second + (1 - p) * sigma**2
    m4 = fourth + (1 - p) * (6 * second * sigma**2 + 3 * sigma**4)
    return np.array([1.0, about, m2 + about**2, 3 * about * m2 + about**3, m4 + 6 * about**2 * m2 + about**4])


@pytest.mark.parametrize("about", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_kurtosis_is_that_of_the_originals(about, scale):
    law = Law(P, "normal", 0.7)
    means = masked_moments(1.0, 7.5, P, 0.7, about) / scale ** np.arange(5)

    found = heavy_tails.kurtosis(Powers(2.0, scale, means), law)

    assert found == pytest.approx(7.5, rel=1e-12)


@pytest.mark.parametrize(("second", "known"), [(0.401, True), (0.399, False)])
def test_nothing_is_known_where_half_of_the_variance_is_noise(second, known):
    law = Law(P, "normal", 1.0)  # (1-p) sigma^2 = .4
    means = masked_moments(second, 30.0, P, 1.0)

    found = heavy_tails.kurtosis(Powers(0.0, 1.0, means), law)

    assert np.isnan(found) != known


def of_plain(w):
    """The kurtosis of a column, in a unit in which it is of about 1."""
    about = w / np.abs(w).max()
    return heavy_tails.plain_kurtosis(*(np.mean((about - about.mean()) ** k) for k in (2, 3, 4)))


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
def test_kurtosis_of_a_plain_column(unit):
    # -1, 0, 0, 0, 0, 0, 0, 1: m2 = 1/4, m4 = 1/4
    w = unit * np.array([-1.0, 0, 0, 0, 0, 0, 0, 1.0]) + 2 * unit

    assert of_plain(w) == pytest.approx(4.0, rel=1e-12)


def test_a_column_of_two_values_has_no_tails():
    assert np.isnan(of_plain(np.append(np.zeros(99), 1.0)))
    assert np.isnan(of_plain(np.full(5, 3.0)))
    assert of_plain(np.append(np.zeros(98), [1.0, 2.0])) > heavy_tails.HEAVY


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: np.sqrt(12.0) * rng.random(shape),
    "laplace": lambda rng, shape: np.sqrt(0.5) * rng.laplace(size=shape),
    "t4": lambda rng, shape: np.sqrt(0.5) * rng.standard_t(4.0, shape),
    "pareto": lambda rng, shape: rng.pareto(3.0, shape) / np.sqrt(0.75),
}


@pytest.mark.parametrize(
    ("name", "share"), [("normal", 0.0), ("uniform", 0.0), ("laplace", 0.04), ("t4", 0.13), ("pareto", 0.7)]
)
def test_it_speaks_as_often_as_the_docs_say(name, share):
    # 200 files: 4.5 standard errors and what the stated shares are rounded by, .01; 1 seed in 10^5
    rng = np.random.default_rng(4)
    x = LAWS[name](rng, (FILES, N))
    donor = (np.arange(N) + rng.integers(1, N, x.shape)) % N
    noisy = x + 0.7 * rng.normal(size=x.shape)
    z = np.where(rng.random(x.shape) < P, np.take_along_axis(x, donor, 1), noisy)
    law = Law(P, "normal", 0.7)

    found = np.mean([heavy_tails.kurtosis(powers(row, 4, law.sigma), law) > heavy_tails.HEAVY for row in z])

    assert abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / FILES) + 0.01


HEAVY = np.append(np.random.default_rng(1).normal(size=199), 40.0)
SCHEME = cm.ConditionalMasking(0.3, 0.5, step=0.0)
LIGHT = np.random.default_rng(2).normal(size=200)
CALLS = {
    "variance": lambda e, w: e.variance_interval(),
    "deviation": lambda e, w: e.std_interval(),
    "moment": lambda e, w: e.moment_interval(2),
    "slope": lambda e, w: e.regress(w),
    "covariance": lambda e, w: e.covariance_interval(w),
    "correlation": lambda e, w: e.correlation_interval(w),
    "covariance, together": lambda e, w: e.covariance_interval(in_group(SCHEME.estimate(w))),
    "correlation, together": lambda e, w: e.correlation_interval(in_group(SCHEME.estimate(w))),
}


def said(call, z, w):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(in_group(SCHEME.estimate(z)), w)
    assert all(each.filename == __file__ and each.category is cm.EstimateWarning for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("name", CALLS)
def test_an_interval_warns_once(name):
    call = CALLS[name]
    own, other, both = said(call, HEAVY, LIGHT), said(call, LIGHT, HEAVY), said(call, HEAVY, HEAVY)

    assert said(call, LIGHT, LIGHT) == []
    assert len(own) == len(both) == 1
    assert len(other) == (name not in ("variance", "deviation", "moment"))
    assert own[0].startswith("heavy tails, of kurtosis ")
    assert own[0].endswith("cover less often than they say, as they would without masking")


@pytest.mark.parametrize(
    ("kurtosis", "n", "says"),
    [(10.0, 2, False), (10.1, 2, True), (20.0, 6_000, False), (20.1, 6_000, True), (np.nan, 2, False)],
)
def test_more_records_bear_heavier_tails(kurtosis, n, says):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        heavy_tails.warn_of_heavy_tails([1.0, kurtosis, np.nan], n, "variances")

    expected = (
        f"heavy tails, of kurtosis {kurtosis:.3g} in {n} records: intervals of variances cover less often "
    )
    assert [str(each.message)[: len(expected)] for each in caught] == [expected] * says


def test_means_do_not_warn():
    assert said(lambda e, w: (e.mean_interval(), e.moment_interval(1)), HEAVY, LIGHT) == []
