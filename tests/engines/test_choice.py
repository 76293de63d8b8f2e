"""Which engine is chosen, and what is refused in one sentence."""

from math import inf

import numpy as np
import pytest

from condmask.deconvolution.weight import Masking
from condmask.engines import choice, grid
from condmask.engines.choice import Sizes
from condmask.engines.counting import ValueCounts

NORMAL, LAPLACE = Masking("normal", 0.6), Masking("laplace", 0.6)
FINE, TENTH, COARSE = (Masking("normal", 0.6, 0.0, delta) for delta in (1e-3, 0.1, 0.75))
SMOOTH, SMOOTH_LAPLACE = NORMAL._replace(beta=0.3), LAPLACE._replace(beta=0.3)
TOL = 1e-10


def ungridded(n):
    return Sizes(n, n, inf)


def on_grid(n, masking, spread=16.0):
    """Of n records over so many sigma, a value each as long as there are points."""
    points = spread / masking.delta
    return Sizes(n, int(min(n, points)), points + 2.0 * grid.reach_of(masking))


@pytest.mark.parametrize(
    ("masking", "sizes", "points", "expected"),
    [
        # a few pairs are summed, whatever else there is
        (NORMAL, ungridded(200), 5, "interpolant"),
        (LAPLACE, ungridded(200), 1, "interpolant"),
        (FINE, on_grid(200, FINE), 5, "interpolant"),
        (TENTH, on_grid(200, TENTH), 5, "interpolant"),
        (NORMAL, ungridded(10**6), 3, "interpolant"),  # sorting takes longer
        # many are not
        (NORMAL, ungridded(10**6), 100, "lattice"),
        (LAPLACE, ungridded(10**6), 100, "lattice"),
        (FINE, on_grid(200, FINE), 1000, "lattice"),
        (FINE, on_grid(10**6, FINE), 5, "lattice"),
        (TENTH, on_grid(10**6, TENTH), 1000, "grid"),
        (COARSE, on_grid(10**6, COARSE), 1, "lattice"),  # a few steps within reach
        (COARSE, on_grid(10**6, COARSE), 2000, "grid"),  # too many points for that
        # a bandwidth has a table of its own, and a transform less
        (SMOOTH, ungridded(200), 5, "series"),
        (SMOOTH_LAPLACE, ungridded(60_000), 5, "interpolant"),  # its table is soon made
        (SMOOTH, ungridded(10**4), 5, "interpolant"),
        (SMOOTH, ungridded(10**4), 1000, "lattice"),
        (FINE._replace(beta=0.3), on_grid(200, FINE), 5, "series"),
        (FINE._replace(beta=0.3), on_grid(200, FINE), 1000, "grid"),
        (SMOOTH_LAPLACE._replace(delta=1e-3), on_grid(200, FINE), 5, "grid"),
    ],
)
def test_what_answers_first_is_chosen(masking, sizes, points, expected):
    assert choice.choose(masking, sizes, points, TOL, "auto") == expected


@pytest.mark.parametrize(
    ("masking", "n", "probabilities", "crossing", "expected"),
    [
        (FINE, 200, 9, "first", "lattice"),
        (FINE, 200, 9, "rearranged", "lattice"),
        (FINE, 10**6, 10**4, "first", "grid"),
        (FINE, 10**6, 10**4, "rearranged", "grid"),
        (TENTH, 200, 99, "first", "grid"),
        (TENTH, 200, 99, "rearranged", "grid"),
        (FINE._replace(beta=0.3), 200, 9, "first", "grid"),
    ],
)
def test_crossings_are_looked_up_where_there_are_many(masking, n, probabilities, crossing, expected):
    found = choice.choose_for_crossings(masking, on_grid(n, masking), probabilities, crossing, TOL)
    assert found == expected


@pytest.mark.parametrize("masking", [FINE, FINE._replace(beta=0.3)])
def test_data_spread_too_widely_are_never_transformed(masking):
    wide = Sizes(1000, 1000, grid.LONGEST + 1.0)
    assert not wide.transformable
    for points in (1, 10**3, 10**6):
        assert choice.choose(masking, wide, points, TOL, "auto") != "grid"
        assert choice.choose_for_crossings(masking, wide, points, "first", TOL) == "lattice"
        assert choice.choose_for_crossings(masking, wide, points, "rearranged", TOL) == "lattice"


def test_sizes_are_those_of_the_counts():
    counts = ValueCounts(np.array([0.0, 3.0, 10.0]), np.array([5, 1, 2]))
    found = choice.sizes_of(counts, FINE)

    assert found == (8, 3, 10.0 + 2.0 * grid.reach_of(FINE))
    assert found.gridded
    assert found.transformable


@pytest.mark.parametrize("method", ["series", "interpolant", "lattice", "grid"])
def test_what_is_asked_for_is_taken(method):
    assert choice.choose(FINE, on_grid(10**6, FINE), 10**6, TOL, method) == method
    if method != "grid":
        assert choice.choose(NORMAL, ungridded(10**6), 10**6, TOL, method) == method


def test_closed_forms_serve_every_tolerance():
    assert choice.choose(LAPLACE, ungridded(9), 9, 1e-13, "series") == "series"
    assert choice.summable(LAPLACE, 1e-13)
    assert not choice.summable(Masking("laplace", 0.6, 0.5, 0.1), 1e-3)  # smoothed on a grid: none


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: choice.choose(NORMAL, ungridded(9), 9, 1e-10, "grid"),
            r"method must be 'auto', 'series', 'interpolant' or 'lattice' for data without a grid, "
            r"got 'grid'",
        ),
        (
            lambda: choice.choose(Masking("normal", 0.05), ungridded(9), 9, 1e-10, "series"),
            r"method must be 'auto', 'interpolant' or 'lattice' for tol=1e-10 at p=0\.05, got 'series'",
        ),
        (
            lambda: choice.choose(FINE._replace(delta=0.3), on_grid(9, TENTH), 9, 1e-10, "series"),
            r"method must be 'auto', 'grid', 'interpolant' or 'lattice' for a step of 0\.3 sigma "
            r".* got 'series'",
        ),
        (
            lambda: choice.choose(FINE, Sizes(9, 9, 1e12), 9, 1e-10, "grid"),
            r"method must be 'auto' or 'lattice' for data spread so widely, got 'grid'",
        ),
        (
            lambda: choice.choose(Masking("normal", 1e-4), ungridded(9), 9, 1e-10, "auto"),
            r"tol must be at least 2\.0e-10 at p=0\.0001 \(rounding\), got 1e-10",
        ),
        (
            lambda: choice.choose_for_crossings(FINE._replace(p=1e-4), on_grid(9, FINE), 9, "first", 1e-10),
            r"tol must be at least 2\.0e-10 at p=0\.0001 \(rounding\), got 1e-10",
        ),
    ],
)
def test_what_cannot_be_done_is_said(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()
