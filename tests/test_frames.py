"""Containers: what comes back is of the kind that went in."""

import numpy as np
import polars as pl
import pytest
from columns import GENERIC, WHOLE, ZOO, values_of

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize("name", ZOO)
def test_the_same_container_comes_back(name):
    x = ZOO[name].make()

    z = cm.ConditionalMasking(0.5, 1.0, step=0).mask(x, rng=1, nan_policy="omit")

    assert type(z) is (np.ndarray if isinstance(x, (list, tuple)) else type(x))
    assert len(z) == len(x)
    assert np.isnan(values_of(z)).tolist() == np.isnan(ZOO[name].values).tolist()


def test_a_pandas_series_keeps_its_index_and_name():
    x = ZOO["pandas"].make()

    z = cm.ConditionalMasking(0.5, 1.0).mask(x, rng=1)

    assert z.index.equals(x.index)
    assert z.name == "income"


def test_polars_and_pyarrow_keep_null_apart_from_nan():
    x = pl.Series("income", [1.5, None, float("nan"), 2.25, 0.125])
    scheme = cm.ConditionalMasking(0.5, 1.0, decimals=3)

    z = scheme.mask(x, rng=1, nan_policy="omit")
    arrow = scheme.mask(x.to_arrow(), rng=1, nan_policy="omit")

    assert z.name == "income"
    assert z.is_null().to_list() == [False, True, False, False, False]
    assert z.is_nan().to_list() == [False, None, True, False, False]
    assert arrow.is_null().to_pylist() == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("x", "grid", "dtype"),
    [
        (WHOLE.astype(np.int32), {"decimals": 0}, "int64"),
        (WHOLE * 100, {"decimals": -2}, "int64"),
        (WHOLE * 12, {"step": 12}, "int64"),
        (WHOLE, {"decimals": 1}, "float64"),
        (WHOLE, {"step": 0}, "float64"),
        (GENERIC.astype(np.float32), {}, "float32"),
        (GENERIC.astype(np.float32), {"step": 0}, "float32"),
        (GENERIC, {}, "float64"),
        (GENERIC.round(0), {"decimals": 0}, "float64"),
    ],
)
def test_the_dtype_follows_the_original_where_it_can(x, grid, dtype):
    assert cm.ConditionalMasking(0.5, 30.0, **grid).mask(x, rng=1).dtype == dtype


def test_integers_whose_noise_leaves_the_exact_integers_become_floats():
    x = np.arange(2**53 - 2**53 % 100 - 2_000, 2**53, 100)

    z = cm.ConditionalMasking(0.5, 1e6, decimals=-2).mask(x, rng=2)

    assert z.dtype == np.float64  # as integers they would claim digits that they have not
    assert z.max() > 2.0**53
