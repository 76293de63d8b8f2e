"""Densities learned from counts, against the mixture over all partitions, in exact fractions.

The oracle is the definition: a cell of 2^h numbers is even, or split in halves whose shares have the law
Beta(1/2, 1/2), each with chance 1/2; nothing is a product along a path. Kinds are found by trying all
multiples.
"""

from fractions import Fraction
from math import comb, exp, log, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.disclosure import digit_classes
from condmask.disclosure.folds import count_by_fold
from condmask.disclosure.learned_density import learn
from condmask.grid import Grid, decimal_grid
from condmask.kernels import learned_density
from condmask.law import Law


def beta(left, right):
    """The chance of a sequence of halves under Beta(1/2, 1/2): Gamma functions at half integers."""
    top = Fraction(comb(2 * left, left) * comb(2 * right, right), 4 ** (left + right))
    return top / comb(left + right, left)


def chance(counts):
    """The chance of records so many at each of 2^h numbers, in their order."""
    n, cell = sum(counts), len(counts)
    even = Fraction(1, cell**n)
    if cell == 1:
        return Fraction(1)
    left, right = counts[: cell // 2], counts[cell // 2 :]
    return (even + beta(sum(left), sum(right)) * chance(left) * chance(right)) / 2


def grown(counts, base=0):
    """A trees of one tree."""
    there = np.flatnonzero(counts)
    before, height = np.append(0, np.cumsum(np.array(counts)[there])), len(counts).bit_length() - 1
    nodes = 2 * len(counts)
    spans, kids = np.empty((nodes, 3), dtype=np.int64), np.empty((nodes, 2), dtype=np.int64)
    weights, evidence = np.empty((nodes, 3)), np.empty(nodes)
    root, found, free = learned_density.grow_tree(
        there, before, 0, there.size, height, 0, spans, kids, weights, evidence
    )
    trees = learned_density.OptionalPolyaTrees(
        there, kids[:free], weights[:free], np.array([root]), np.array([height]), np.array([base])
    )
    return trees, found


CELLS = st.integers(0, 4).flatmap(lambda h: st.lists(st.integers(0, 5), min_size=2**h, max_size=2**h))


@given(CELLS)
def test_the_evidence_is_the_chance_of_the_records(counts):
    assert grown(counts)[1] == pytest.approx(log(chance(counts)), abs=1e-12)


@given(CELLS, st.integers(-5, 5))
def test_a_density_is_the_chance_of_one_more_record(counts, base):
    trees, _ = grown(counts, base)
    now = chance(counts)

    found = [learned_density.density(trees, 0, base + k) for k in range(-1, len(counts) + 1)]

    more = [chance([*counts[:k], counts[k] + 1, *counts[k + 1 :]]) / now for k in range(len(counts))]
    assert found == pytest.approx([0.0, *map(float, more), 0.0], abs=1e-14)


@given(CELLS, st.integers(-5, 5))
def test_masses_are_running_sums_of_the_density(counts, base):
    trees, _ = grown(counts, base)

    below = [learned_density.mass_below(trees, 0, base + k) for k in range(-1, len(counts) + 2)]

    density = [learned_density.density(trees, 0, base + k) for k in range(len(counts))]
    assert below == pytest.approx([0.0, 0.0, *np.cumsum(density), 1.0], abs=1e-14)


def test_one_record_doubles_its_own_density_at_most_and_a_hundred_are_known():
    height = 40
    few = np.zeros((3, 3))
    for row, count in enumerate((1, 2, 100)):
        spans, kids = np.empty((50, 3), dtype=np.int64), np.empty((50, 2), dtype=np.int64)
        weights, evidence = np.empty((50, 3)), np.empty(50)
        places, before = np.array([12_345]), np.array([0, count])
        root, _, free = learned_density.grow_tree(
            places, before, 0, 1, height, 0, spans, kids, weights, evidence
        )
        one, zero = np.array([height]), np.zeros(1, dtype=np.int64)
        trees = learned_density.OptionalPolyaTrees(
            places, kids[:free], weights[:free], np.array([root]), one, zero
        )
        few[row] = [2.0**height * learned_density.density(trees, 0, z) for z in (12_345, 12_346, 2**39)]

    # the recursion d = 1/2 + 3/4 d has the fixed point 2, from which a number beside parts late; a number in
    # the other half has 1/2 + 1/4
    assert few[0] == pytest.approx([2.0, 2.0, 0.75], abs=1e-4)
    # a hundred are known: what each halving leaves for the other side is 1/2 of 101
    assert few[2, 0] / 2.0**height == pytest.approx((100.5 / 101.0) ** height, rel=1e-9)


# --- kinds ----------------------------------------------------------------------------------------

LINEAR = [
    (Fraction(1), [5, 10, 50]),
    (Fraction(1, 4), [1, 5, 10]),
    (Fraction(1, 8), [Fraction(1, 5), 1, 2]),
    (Fraction(2), [5, 10]),
    (Fraction(1, 4), [Fraction(1, 3), 1]),
    (Fraction(33, 10), [7, 35]),
]


def rounded(ratio):
    """To the nearest whole number, ties up."""
    return (2 * ratio.numerator + ratio.denominator) // (2 * ratio.denominator)


@pytest.mark.parametrize(("step", "multiples"), LINEAR)
def test_the_level_of_a_point_is_the_coarsest_multiple_next_to_it(step, multiples):
    grid = Grid(float(step.numerator), float(step.denominator))
    look = digit_classes.levels([Fraction(m) for m in multiples], grid)
    units = np.arange(-300, 300)

    kinds = digit_classes.classify(look, units)

    members = [{rounded(Fraction(m) * j / step) for j in range(-2000, 2000)} for m in multiples]
    expected = [max([k + 1 for k, own in enumerate(members) if u in own], default=0) for u in units.tolist()]
    assert kinds.tolist() == expected


@pytest.mark.parametrize("look", [
    *(digit_classes.levels([Fraction(m) for m in ms], Grid(float(s.numerator), float(s.denominator)))
      for s, ms in LINEAR),
    digit_classes.residues(7), digit_classes.ONE_CLASS,
])  # fmt: skip
def test_places_count_the_points_of_a_kind(look):
    units = np.arange(-50, 200)
    kinds, places = np.empty((2, units.size), dtype=np.int64)

    learned_density.classify(look, units, kinds, places)

    for kind in np.unique(kinds):
        assert (np.diff(places[kinds == kind]) == 1).all()


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_densities_of_kinds_sum_to_one_and_masses_are_their_sums(modulus, seed):

    rng = np.random.default_rng(seed)
    law = Law(0.6, "normal", 0.5, decimal_grid(0))
    at = rng.integers(0, 60, 40)
    task = count_by_fold(at, np.zeros(40, dtype=np.int64), 1, law)
    units = np.arange(-200, 400)
    for look in (
        digit_classes.residues(modulus),
        digit_classes.levels([Fraction(5), Fraction(10)], decimal_grid(0)),
        digit_classes.ONE_CLASS,
    ):
        known = learn(task, task.counts, look)
        density = known.density(units)

        # what is cut off lies beyond 64 sigma; the trees end at powers of two, a little later
        assert density.sum() == pytest.approx(1.0, abs=0.02)
        below = known.below(np.append(units, units[-1] + 1))
        assert np.diff(below) == pytest.approx(density, abs=1e-13)


def test_the_beta_function_is_that_of_its_integral():
    # B(7/2, 5/2) / B(1/2, 1/2) = Gamma(3.5) Gamma(2.5) / (Gamma(6) pi)
    gamma = {0.5: pi**0.5, 2.5: 0.75 * pi**0.5, 3.5: 1.875 * pi**0.5}
    assert float(beta(3, 2)) == pytest.approx(gamma[3.5] * gamma[2.5] / (120.0 * pi), rel=1e-14)
    assert exp(grown([3, 2])[1]) == pytest.approx(0.5 * 2.0**-5 + 0.5 * float(beta(3, 2)), rel=1e-13)
