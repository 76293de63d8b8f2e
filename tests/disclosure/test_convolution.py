"""F * noise on cells, against the sum over all steps of the noise."""

import numpy as np
import pytest
from scipy.special import ndtr

from condmask.disclosure import convolution, digit_classes, learned_density, swap_posterior
from condmask.disclosure.folds import count_by_fold, fold_of
from condmask.grid import decimal_grid
from condmask.law import Law

N, P, SIGMA = 40_000, 0.6, 500.0


def test_noised_densities_are_those_of_all_steps_of_the_noise():
    law = Law(P, "normal", 70.0, decimal_grid(0))
    at = np.random.default_rng(3).integers(0, 288, 3_000)
    task = count_by_fold(at, fold_of(3_000, 2), 2, law)
    known = learned_density.learn(task, task.counts, digit_classes.ONE_CLASS)
    who = swap_posterior.attacker(known, convolution.pieces_around(task.values, task).cells())
    points = np.random.default_rng(4).integers(-150, 420, 60)

    law_there, noised = (found / 4.0 for found in who.densities(points))

    steps = np.arange(-600, 601)
    noise = ndtr((steps + 0.5) / 70.0) - ndtr((steps - 0.5) / 70.0)
    exact = [float(noise @ known.density(z - steps)) for z in points.tolist()]
    # (1/17)^2 / 8 of a second derivative that is (u^2 - 1) times as large as the density, u below 3; taken
    # from the middle of its cell a density of slope u would err by 3 / 17 / 4
    assert noised == pytest.approx(exact, rel=4e-3)
    assert law_there == pytest.approx(known.density(points), rel=1e-9)


def test_cells_of_apart_pieces_hold_what_is_known_to_lie_in_them():
    law = Law(P, "normal", 70.0, decimal_grid(0))
    at = np.random.default_rng(3).integers(0, 20_000, 3_000)
    task = count_by_fold(at, fold_of(3_000, 2), 2, law)
    known = learned_density.learn(task, task.counts, digit_classes.ONE_CLASS)

    who = swap_posterior.attacker(known, convolution.pieces_around(np.array([3_000, 15_000]), task).cells())

    assert who.cells.offsets.size == 3
    first = who.cells.first
    assert who.masses == pytest.approx(known.below(first + 4) - known.below(first), abs=1e-15)
