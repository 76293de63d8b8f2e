"""Unique records against every coin and donor of a small file, and samples from a known population."""

import itertools

import numpy as np
import pytest

import condmask as cm
from condmask._blocks import BLOCK


def passed_on(n, p, donors):
    """The chance that some record of n takes the values of record 0, over all coins and donors."""
    total = 0.0
    for coins in itertools.product([False, True], repeat=n):
        chance = p ** sum(coins) * (1.0 - p) ** (n - sum(coins))
        swapped = [row for row in range(n) if coins[row]]
        if donors == "permutation" and len(swapped) > 1:
            share = float(coins[0])  # along the cycle of the swapped ones each gives its values once
        else:  # each takes those of any other record
            choices = list(itertools.product(*([j for j in range(n) if j != row] for row in swapped)))
            share = sum(0 in taken for taken in choices) / len(choices)
        total += chance * share
    return total


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("p", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_unique_record_is_printed_as_often_as_some_record_takes_its_values(n, p, donors):
    table = {"a": [1.0] * (n - 1) + [2.0], "b": [*range(n - 1), 0]}  # all unique, by both columns alone
    scheme = cm.ConditionalMasking(p, 5.0, donors=donors)

    found = cm.uniques(table, scheme)

    assert found.n == n
    assert found.unique == 1.0
    assert found.verbatim == pytest.approx(passed_on(n, p, donors), rel=1e-12)
    assert found.correct_match == 1.0  # the file is all there is


def test_records_are_unique_where_no_other_is_equal_in_all_columns():
    rows = [(1, 1), (1, 2), (1, 2), (2, 1), (2, 2), (3, 3), (3, 3), (3, 3), (np.nan, 9), (4, np.nan)]
    table = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
    there = [row for row in rows if row == row and not any(value != value for value in row)]
    once = [row for row in there if there.count(row) == 1]

    found = cm.uniques(table, cm.ConditionalMasking(0.6, 5.0))

    assert found.n == len(there) == 8
    assert found.unique == len(once) / len(there) == 3 / 8


def test_unique_records_are_counted_across_blocks():
    """The last one of a block equals the first of the next, but for the sign of zero."""
    value = np.arange(3 * BLOCK)
    value[[BLOCK, 2 * BLOCK]] -= 1
    zero = np.where(value % 2 == 0, 0.0, -0.0)
    zero[BLOCK] *= -1.0

    found = cm.uniques({"a": value, "b": zero}, cm.ConditionalMasking(0.6, 5.0))

    assert found.unique == (value.size - 4) / value.size


@pytest.mark.parametrize("fraction", [0.2, 0.4])
def test_a_match_is_right_as_often_as_in_samples_from_a_population(fraction):
    """Of all in the population who have the values of a record unique in the sample one is right."""
    stream = np.random.default_rng(3)
    in_population = np.repeat([1, 2, 5], [8_000, 6_000, 4_000])  # how many people have each value
    everybody = np.repeat(np.arange(in_population.size), in_population)
    sample = stream.permutation(everybody)[: round(fraction * everybody.size)]
    values, times = np.unique(sample, return_counts=True)
    once = values[times == 1]
    right = once.size / in_population[once].sum()

    found = cm.uniques({"x": sample}, cm.ConditionalMasking(0.6, 5.0), fraction=fraction)

    # .38 or .50; 1,000 values or more are twice in the sample, 3%, of what counts for .6: 2%, three times
    assert abs(right / fraction - 1.0) > 0.05
    assert found.correct_match == pytest.approx(right, rel=0.06)


@pytest.mark.parametrize("fraction", [0.2, 1.0])
def test_where_nobody_is_unique_nothing_is_known_of_matches(fraction):
    found = cm.uniques({"x": [1, 1, 2, 2]}, cm.ConditionalMasking(0.6, 5.0), fraction=fraction)

    assert (found.unique, found.verbatim) == (0.0, 0.0)
    assert np.isnan(found.correct_match)
