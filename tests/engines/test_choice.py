"""Which engine is chosen, and what is refused in one sentence."""

import pytest

from condmask.deconvolution.weight import Masking
from condmask.engines import choice

NORMAL, LAPLACE, ROUNDED = Masking("normal", 0.6), Masking("laplace", 0.6), Masking("normal", 0.6, 0.0, 0.3)


@pytest.mark.parametrize(
    ("masking", "n", "points", "expected"),
    [
        (NORMAL, 100, 200, "series"),
        (NORMAL, 101, 200, "interpolant"),
        (NORMAL, 1000, 200, "interpolant"),
        (NORMAL, 1001, 200, "lattice"),
        (NORMAL, 10**6, 3, "interpolant"),
        (NORMAL, 10**6, 4, "lattice"),
        (Masking("normal", 0.5), 10, 1, "interpolant"),
        (LAPLACE, 10, 1, "interpolant"),
        (LAPLACE, 10**6, 4, "lattice"),
        (ROUNDED, 10, 1, "interpolant"),
    ],
)
def test_work_decides_without_a_grid(masking, n, points, expected):
    assert choice.choose(masking, n, points, 1e-10, "auto") == expected


@pytest.mark.parametrize("method", ["series", "interpolant", "lattice"])
def test_what_is_asked_for_is_taken(method):
    assert choice.choose(NORMAL, 10**6, 10**6, 1e-10, method) == method
    assert choice.choose_counted(NORMAL, True, 1e-10, method) == method
    assert choice.choose_counted(NORMAL, False, 1e-10, method) == method


def test_a_grid_is_transformed_where_it_is_not_too_long():
    assert choice.choose_counted(ROUNDED, True, 1e-10, "auto") == "grid"
    assert choice.choose_counted(ROUNDED, False, 1e-10, "auto") == "lattice"
    assert choice.choose_counted(ROUNDED, True, 1e-10, "grid") == "grid"


def test_closed_forms_serve_every_tolerance():
    assert choice.choose(LAPLACE, 9, 9, 1e-13, "series") == "series"
    assert choice.summable(LAPLACE, 1e-13)
    assert not choice.summable(Masking("laplace", 0.6, 0.5, 0.1), 1e-3)  # smoothed on a grid: none


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: choice.choose(NORMAL, 9, 9, 1e-10, "grid"),
            r"method must be 'auto', 'series', 'interpolant' or 'lattice' for data without a grid, "
            r"got 'grid'",
        ),
        (
            lambda: choice.choose(Masking("normal", 0.05), 9, 9, 1e-10, "series"),
            r"method must be 'auto', 'interpolant' or 'lattice' for tol=1e-10 at p=0\.05, got 'series'",
        ),
        (
            lambda: choice.choose_counted(ROUNDED, True, 1e-10, "series"),
            r"method must be 'auto', 'grid', 'interpolant' or 'lattice' for a step of 0\.3 sigma "
            r".* got 'series'",
        ),
        (
            lambda: choice.choose_counted(ROUNDED, False, 1e-10, "grid"),
            r"method must be 'auto' or 'lattice' for data spread so widely, got 'grid'",
        ),
        (
            lambda: choice.choose(Masking("normal", 1e-4), 9, 9, 1e-10, "auto"),
            r"tol must be at least 2\.0e-10 at p=0\.0001 \(rounding\), got 1e-10",
        ),
        (
            lambda: choice.choose_counted(Masking("normal", 1e-4, 0.0, 0.1), True, 1e-10, "auto"),
            r"tol must be at least 2\.0e-10 at p=0\.0001 \(rounding\), got 1e-10",
        ),
    ],
)
def test_what_cannot_be_done_is_said(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()
