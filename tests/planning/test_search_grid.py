"""Which schemes are tried, and which of them are on the frontier."""

import numpy as np
from scipy.stats import laplace, norm

import condmask as cm
from condmask.planning.search_grid import frontier

N = 2_000
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(N) + 0.5) / N, 10, 1000))
ADDED = {"p": 0.6, "sigma": 1000.0, "reverse_mapping": False, "donors": "sample"}


def test_whole_numbers_get_a_step_that_suits_them():
    made = cm.plan(np.round(X).astype(int), d=[500], **ADDED | {"sigma": [500.0, 1500.0]})

    assert [each.scheme.step for each in made.candidates] == [1.0, 1.0]
    made.best.scheme.mask(np.round(X).astype(int), rng=1)  # which refuses digits that show


def test_the_frontier_is_what_no_other_beats():
    risk = np.array([0.1, 0.2, 0.3, 0.3, 0.25])
    loss = np.array([5.0, 2.0, 1.0, 1.5, 3.0])

    assert frontier(risk, loss).tolist() == [True, True, True, False, False]


def scales(x, **options):
    made = cm.plan(x, p=0.6, reverse_mapping=True, **options)
    return {each.scheme.scale for each in made.candidates}


def test_amounts_are_tried_on_both_scales():
    # the upper half of exp(s z), z normal, spreads exp(1.645 s) times as far: 1.39 at s = .2, 1.93 at .4
    z = norm.ppf((np.arange(400) + 0.5) / 400)
    some, much = 1000.0 * np.exp(0.2 * z), 1000.0 * np.exp(0.4 * z)
    assert scales(some) == {"linear"}
    assert scales(much) == {"linear", "log"}
    assert scales(much - 500.0) == {"linear"}  # some are negative
    assert scales(much, sigma=500.0) == {"linear"}  # which would be e^500 on the other scale
    assert scales(much, scale="log") == {"log"}
