"""Populations know their truth; the study of the paper and the figures it printed."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import expon, gamma, laplace, norm

import condmask as cm
from condmask.studies import paper, populations

POPULATION = cm.paper_population()


@pytest.mark.parametrize(
    "margin", [laplace(10.0, 1e3), laplace(3.0), norm(5.0, 2.0), norm(scale=2.0), expon()]
)
def test_margins_have_the_ranks_of_normal_values(margin):
    normal = np.linspace(-4.0, 4.0, 41)

    np.testing.assert_allclose(populations._of_normal(margin, normal), margin.ppf(ndtr(normal)), rtol=1e-9)


def test_margins_are_exact_in_both_tails():
    margin = gamma(2.0)
    normal = np.array([-9.0, -3.0, 0.0, 3.0, 9.0, 20.0])

    found = populations._of_normal(margin, normal)

    # P(X > x) = (1 + x) e^-x against the normal law's own upper tail, down to 3e-89
    upper = (1.0 + found[3:]) * np.exp(-found[3:])
    assert upper == pytest.approx(ndtr(-normal[3:]), rel=1e-10)
    assert margin.cdf(found[:3]) == pytest.approx(ndtr(normal[:3]), rel=1e-10)


def test_populations_know_their_truth():
    x, w = POPULATION(np.random.default_rng(1), 20, 20_000)
    assert x.shape == w.shape == (20, 20_000)
    assert POPULATION.correlation() == pytest.approx(-0.68645, abs=1e-5)
    # six standard errors of a correlation at n = 400,000, heavy tails included
    assert np.corrcoef(x.ravel(), w.ravel())[0, 1] == pytest.approx(POPULATION.correlation(), abs=0.02)
    assert POPULATION.quantile(np.array([0.3])) == pytest.approx(laplace(10, 1000).ppf([0.3]))
    assert np.quantile(x, 0.3) == pytest.approx(laplace(10, 1000).ppf(0.3), abs=15)
    real = cm.Resampled([1.0, 2.0, 3.0, 9.0], [2.0, 1.0, 4.0, 8.0])
    a, b = real(np.random.default_rng(1), 2, 50)
    assert set(zip(a.ravel(), b.ravel(), strict=True)) <= {(1, 2), (2, 1), (3, 4), (9, 8)}


@pytest.mark.parametrize(("other", "above"), [([4.0, 1.0, 2.0, 3.0], 2), ([0.0, 1.0, 1.0, 1.0], 3)])
def test_the_upper_half_of_the_other_column_is_never_empty(other, above):
    assert np.count_nonzero(np.array(other) > populations.split(np.array(other))) == above


def test_the_paper_agrees_where_it_is_no_misprint():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = paper.run(400, rng=7, sizes=(2000,))
    honest = [line for line in result.lines if not line["remark"]]
    # 24 cells within 4.5 joint standard errors: false alarm below 24 * 7e-6
    assert len(honest) == 24
    assert max(abs(line["z"]) for line in honest) < 4.5
    assert min(abs(line["z"]) for line in result.lines if line["remark"]) > 20
    text = paper.show(result)

    assert "misprint: scored against 1000" in text
    assert "-0.68645" in text
