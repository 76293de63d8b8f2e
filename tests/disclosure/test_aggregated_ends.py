"""Means at the ends of a column, against small cases worked out by hand."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure.aggregated_ends import aggregate

RNG = np.random.default_rng(1)
NORMAL = RNG.normal(0.0, 1.0, 1_000)


def scheme_of(p=0.6, sigma=1.0, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 3, 6, 10, 20, 30, 40, 60], [2, 2, 6, 10, 20, 30, 50, 50]),
        ([1, 4, 4, 10, 20, 30, 40, 60], [3, 3, 3, 10, 20, 30, 50, 50]),  # what equals the second goes with it
        ([1, 2, 5], [1, 2, 5]),  # too few
        ([3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3]),
        ([0.5, 0.26, 7, 8, 9, 12.1], [0.38, 0.38, 7, 8, 10.55, 10.55]),
        ([1, 2.2, 7, 8, 9, 12], [1.6, 1.6, 7, 8, 10.5, 10.5]),
        ([1, 1, 2, 7, 8, 9, 12, 13.2], [1, 1, 2, 7, 8, 9, 12.6, 12.6]),
        ([1, 2, 3, 7, 8, 9, 12, 14], [2, 2, 3, 7, 8, 9, 13, 13]),  # 1.5 as whole as the data
    ],
)
def test_the_smallest_and_the_largest_become_their_means(values, expected):
    x = np.array(values, dtype=float)

    aggregate(x, None, 2)

    assert np.array_equal(x, np.array(expected, dtype=float))


def test_each_pool_has_ends_of_its_own():
    x = np.array([1.0, 100.0, 3.0, 300.0, 5.5, 500.0, 9.0, 900.0, np.nan])
    code = np.array([0, 1] * 4 + [-1])

    aggregate(x, code, 2)

    # to one decimal, which the data have
    assert np.array_equal(x, [2.0, 200.0, 2.0, 200.0, 7.2, 700.0, 7.2, 700.0, np.nan], equal_nan=True)


def test_released_ends_are_means_and_the_mean_of_all_stays():
    x = np.round(1_000.0 * np.exp(NORMAL))
    scheme = scheme_of(0.6, 0.5, scale="log", aggregate_ends=4)
    with pytest.warns(
        cm.ReleaseWarning, match="aggregate_ends=4 changes the standard deviation of x from 2,257 to"
    ):
        z = scheme.mask(x.astype(int), rng=2)

    ordered = np.sort(x)
    expected = np.concatenate([
        np.full(4, np.round(ordered[:4].mean())), ordered[4:-4], np.full(4, np.round(ordered[-4:].mean())),
    ])  # fmt: skip
    assert z.dtype == np.int64
    assert np.array_equal(np.sort(z), expected)
