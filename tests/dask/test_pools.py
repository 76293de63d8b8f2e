"""Donor pools of a Dask frame against those of one machine."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from partitioned import cut

import condmask as cm
from condmask import donor_pools as here
from condmask.dask import pools
from condmask.dask.columns import DaskTable, Partition, numbers
from condmask.strata import labels_of

N = 300
RNG = np.random.default_rng(4)
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "y": RNG.normal(size=N),
        "region": RNG.choice(["north", "south", None], N, p=[0.6, 0.35, 0.05]),
        "size": RNG.choice([1.0, 10.0, 9.0, np.nan], N, p=[0.5, 0.3, 0.17, 0.03]),
        "code": RNG.choice([3, -1], N),
    }
)
FRAME.loc[RNG.random(N) < 0.2, "x"] = np.nan
FRAME.loc[RNG.random(N) < 0.1, "y"] = np.nan


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("small_strata", ["refuse", "merge"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("strata", [(), ("region",), ("size", "region"), ("code", "region", "size")])
def test_pools_have_the_numbers_that_they_have_on_one_machine(strata, gaps, small_strata):
    scheme = cm.ConditionalMasking(0.5, 1.0, strata=strata or None, small_strata=small_strata)
    table = DaskTable(cut(FRAME, [0, 1, 150, 299]))
    x, y = (table.column([name], partial(numbers, name, "z", ())) for name in "xy")
    values = {name: FRAME[name] for name in strata}
    masks = [FRAME[name].notna().to_numpy() for name in "xy"] if gaps else []
    labels = labels_of(values or None, scheme.strata, N, "z", "estimate")
    expected = here.donor_pools(scheme, labels, masks, FRAME["x"].notna().to_numpy())

    found = pools.donor_pools(table, scheme, strata, x, [x, y] if gaps else [])

    if expected is None:
        assert found is None
    else:
        assert Partition(FRAME).array(found).tolist() == expected.tolist()


@pytest.mark.usefixtures("synchronous")
def test_combinations_that_no_number_holds_are_refused(monkeypatch):
    monkeypatch.setattr(pools, "MOST", 5)
    table = DaskTable(cut(FRAME, []))
    scheme = cm.ConditionalMasking(0.5, 1.0, strata=("size", "region"))

    with pytest.raises(ValueError, match="strata must have fewer than 2\\^62 combinations of labels, got"):
        pools.donor_pools(table, scheme, ("size", "region"), table.named("x"), [])
