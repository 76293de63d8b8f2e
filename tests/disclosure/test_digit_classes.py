"""Classes of digits: those that data show are chosen, and no others."""

from fractions import Fraction

import numpy as np

from condmask.disclosure import digit_classes, learned_density
from condmask.disclosure.folds import count_by_fold, fold_of
from condmask.grid import Grid
from condmask.law import Law

N, P, SIGMA = 40_000, 0.6, 500.0
RNG = np.random.default_rng(1)
X = RNG.lognormal(8.0, 0.5, N)


def test_looks_are_chosen_by_what_they_say():
    grid = Grid(1.0, 4.0)
    law = Law(P, "normal", SIGMA, grid)
    at, continuous = (grid.units(x).astype(np.int64) for x in (np.rint(X), X))
    tells, fold = digit_classes.levels([Fraction(1)], grid), fold_of(N, 2)

    assert digit_classes.tell_from_noise(tells, at, law, 2048)
    assert not digit_classes.tell_from_noise(digit_classes.levels([Fraction(73, 10)], grid), at, law, 2048)
    assert not digit_classes.tell_from_noise(tells, continuous, law, 2048)
    assert learned_density.best_classes(count_by_fold(at, fold, 2, law), [tells])[0] is tells
    assert (
        learned_density.best_classes(count_by_fold(continuous, fold, 2, law), [tells])[0]
        is digit_classes.ONE_CLASS
    )
