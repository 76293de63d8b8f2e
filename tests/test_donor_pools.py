"""Donor pools: strata under any label, by the draw contract of tests/reference.py and by their law."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
import strategies
from hypothesis import given
from hypothesis import strategies as st
from releases import DONORS, assert_same_bits, generic, masked, reference_of

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


@given(
    strata=st.lists(st.sampled_from("abc"), min_size=0, max_size=20),
    scheme=strategies.schemes(),
    seed=strategies.SEEDS,
    missing=st.booleans(),
)
def test_strata_follow_the_draw_contract(strata, scheme, seed, missing):
    strata = [*"abc" * 14, *strata]
    x = generic(len(strata), 5)
    if missing:
        x[::7] = np.nan
    if missing and any(np.sum((np.array(strata) == s) & ~np.isnan(x)) < 10 for s in "abc"):
        return

    scheme = replace(scheme, strata="region")
    z = masked(scheme, x, rng=seed, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, seed, strata))


CROSSED = {"region": np.random.default_rng(44).choice(["n", "s", "w"], 400, p=[0.02, 0.4, 0.58]).tolist()}
CROSSED["sex"] = np.random.default_rng(45).integers(0, 2, 400).tolist()


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_crossed_and_merged_strata_follow_the_draw_contract(donors, merge, missing):
    x, table = generic(400, 6), CROSSED
    if missing:
        x[::5] = np.nan
    if not merge:  # without those that are too small
        kept = np.array(CROSSED["region"]) != "n"
        x, table = x[kept], {name: np.array(values)[kept].tolist() for name, values in CROSSED.items()}
    scheme = cm.ConditionalMasking(
        0.6, 500.0, donors=donors, strata=["region", "sex"], small_strata="merge" if merge else "refuse"
    )
    strata = list(zip(table["region"], table["sex"], strict=True))
    if merge:
        pools = reference.merged_strata([x], strata)
        assert len(set(pools) - {None}) < len(set(strata)) == 6
        strata = [row if own is None else own for row, own in enumerate(pools)]

    z = scheme.mask(x, rng=7, strata=table, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, 7, strata))
    assert_same_bits(z, scheme.mask(x, rng=7, strata=list(table.values()), nan_policy="omit"))


@pytest.mark.parametrize(
    "label",
    [
        lambda s: s,
        lambda s: [f"region {k}" for k in s],
        lambda s: pd.Series([f"region {k}" for k in s], dtype="category"),
        lambda s: pl.Series([f"region {k}" for k in s]),
        lambda s: pa.chunked_array([[f"region {k}" for k in s]]).dictionary_encode(),
        lambda s: np.where(s == 0, np.nan, s),
        lambda s: pl.Series([None if k == 0 else f"region {k}" for k in s]),
    ],
    ids=["int", "list", "pandas category", "polars", "pyarrow dictionary", "nan", "null"],
)
def test_strata_are_the_same_under_any_label(label):
    strata = np.random.default_rng(43).integers(0, 3, 90)
    x = generic(90)
    scheme = cm.ConditionalMasking(0.6, 500.0, strata="region")

    assert_same_bits(scheme.mask(x, rng=1, strata=label(strata)), scheme.mask(x, rng=1, strata=strata))


def test_a_stratum_has_ten_records():
    x, scheme = generic(50), cm.ConditionalMasking(0.6, 500.0, strata="region")

    scheme.mask(x, strata=np.repeat(["a", "b"], [10, 40]))
    with pytest.raises(ValueError, match="strata must have at least 10 records each, got 9 in stratum 'a'"):
        scheme.mask(x, strata=np.repeat(["a", "b"], [9, 41]))
