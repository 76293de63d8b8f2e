"""Decimal places of a column in partitions. Oracle: `decimals_of` the whole column."""

import itertools

import dask
import numpy as np
import pytest
from dask import delayed
from hypothesis import given, settings
from hypothesis import strategies as st

from condmask import _grid
from condmask.dask.decimals import decimals_of_parts

KINDS = {
    "whole": lambda u: np.round(1e3 * u),
    "cents": lambda u: np.round(1e3 * u, 2),
    "fine": lambda u: np.round(u, 6),
    "finest": lambda u: np.round(u, 12),
    "large": lambda u: np.round(1e6 * u) * 1e9,
    "tenths": lambda u: np.round(1e9 * u) * 1e4 + 0.1,
    "continuous": lambda u: u,
    "zero": lambda u: 0.0 * u,
    "missing": lambda u: np.nan * u,
}


@pytest.fixture(scope="module", autouse=True)
def short_parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_grid, "PART", 8)
        yield


@settings(max_examples=300)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 20)), min_size=1, max_size=5),
    cuts=st.lists(st.integers(0, 100), max_size=4),
    seed=st.integers(0, 2**32),
)
def test_partitions_tell_the_places_of_the_column(pieces, cuts, seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([KINDS[kind](rng.normal(size=size)) for kind, size in pieces])
    edges = [0, *sorted(min(cut, x.size) for cut in cuts), x.size]
    columns = [delayed(x[a:b]) for a, b in itertools.pairwise(edges)]

    (places,) = dask.compute(decimals_of_parts(columns, np.array(edges)), scheduler="synchronous")

    assert places == _grid.decimals_of(x)


@pytest.mark.parametrize("cut", [5, 16])
def test_the_order_of_parts_decides_where_it_does_on_one_machine(cut):
    large, fine = np.round(np.linspace(1e12, 9e12, 16)) + 0.1, np.round(np.linspace(0.1, 0.2, 16), 8)
    expected = []
    for x in (np.concatenate([large, fine]), np.concatenate([fine, large])):
        expected.append(_grid.decimals_of(x))
        made = decimals_of_parts([delayed(x[:cut]), delayed(x[cut:])], np.array([0, cut, 32]))
        assert dask.compute(made, scheduler="synchronous") == (expected[-1],)
    assert expected[0] != expected[1]
