"""Counts of the partitions of a Dask series against those of the whole column."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from partitioned import cut

import condmask as cm
from condmask.dask import counts

pytestmark = [
    pytest.mark.usefixtures("unaudited", "synchronous"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]

SCHEMES = [
    cm.ConditionalMasking(0.5, 1.0),
    cm.ConditionalMasking(0.5, 1.0, decimals=1, missing=-9.0),
    cm.ConditionalMasking(0.5, 1.0, reverse_mapping=True),
]


def column(scheme, n=400):
    x = np.random.default_rng(2).normal(size=n).round(3 if scheme.decimals is None else scheme.decimals)
    x[::7] = -9.0 if scheme.codes else np.nan
    return pd.Series(scheme.mask(x, rng=3, nan_policy="omit"), name="x")


@pytest.mark.parametrize("scheme", SCHEMES, ids=["grid", "code", "mapped"])
@pytest.mark.parametrize("most_points", [1 << 20, 16])
def test_counts_of_partitions_are_those_of_the_column(scheme, most_points):
    z = column(scheme)
    whole = cm.Counts(scheme, most_points=most_points)
    whole.update(z)

    found = counts(cut(z.to_frame(), [0, 90, 91, 300])["x"], scheme, most_points=most_points)

    assert found.to_bytes() == whole.to_bytes()
    assert found.n == z.notna().sum() - (z == -9.0).sum()


def test_a_column_without_grid_and_a_column_of_pandas_are_refused():
    z = column(SCHEMES[0])
    with pytest.raises(ValueError, match="scheme must have a grid for Counts, got step=0"):
        counts(dd.from_pandas(z, npartitions=1), cm.ConditionalMasking(0.5, 1.0, step=0))
    with pytest.raises(TypeError, match="column must be a series of Dask, got Series"):
        counts(z, SCHEMES[0])


def test_what_is_no_scheme_or_origin_is_refused():
    column = cut(pd.DataFrame({"x": [1.0, 2.0]}), [1])["x"]
    with pytest.raises(TypeError, match=r"^scheme must be ConditionalMasking, got None$"):
        counts(column, None)
    with pytest.raises(TypeError, match=r"^origin must be an Origin, got 3$"):
        counts(column, SCHEMES[0], origin=3)
