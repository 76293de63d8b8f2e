"""What partitions tell is, together, what the whole table tells.

Oracle: the rules of one machine applied to the whole: `donor_pools`, `outside`, `rounded`.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from partitioned import UNEQUAL

import condmask as cm
from condmask import frames
from condmask.dask import partitions
from condmask.dask.originals import Task, originals, pool_of
from condmask.donor_pools import pools_of
from condmask.frames import Labels
from condmask.schemes.limits import outside

N = 12_000


def table():
    rng = np.random.default_rng(2)
    x = rng.normal(100.0, 20.0, N).round(1)
    y = rng.normal(100.0, 20.0, N)
    y[rng.random(N) < 0.2] = np.nan
    x[rng.random(N) < 0.1] = np.nan
    town = rng.choice(["a", "b", "c"], N).astype(object)
    town[rng.random(N) < 0.05] = None
    size = rng.choice([1.0, 2.0, np.nan], N)
    return pd.DataFrame({"x": x, "y": y, "town": town, "size": size})


def parts_of(frame, ends=UNEQUAL):
    ends = [0, *ends, len(frame)]
    return [frame.iloc[first:last] for first, last in pairwise(ends)]


def whole_of(frame, task, policy="omit"):
    parts = parts_of(frame)
    return parts, partitions.layout([partitions.look(part, task) for part in parts], task, policy)


@pytest.mark.parametrize("strata", [(), ("town",), ("town", "size")])
@pytest.mark.parametrize("names", [("x",), ("x", "y")])
def test_records_are_in_one_pool_where_they_are_on_one_machine(strata, names):
    frame = table()
    schemes = {name: cm.ConditionalMasking(0.6, 30.0, strata=strata or None) for name in names}
    task = Task(schemes, strata, False)
    parts, whole = whole_of(frame, task)
    own = [pool_of(originals(part, task), whole.pools) for part in parts]
    labels = [Labels(*frames.codes(frames.labels(frame[name], name), name)) for name in strata]
    columns = {name: frame[name].to_numpy() for name in names}
    expected, patterns = pools_of(schemes["x"], columns, labels, "omit")
    got = np.concatenate(own)
    assert whole.patterns == patterns
    assert ((got < 0) == (expected.pool < 0)).all()
    pairs = {(a, b) for a, b in zip(got.tolist(), expected.pool.tolist(), strict=True) if a >= 0}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert np.bincount(got[got >= 0], minlength=whole.sizes.size).tolist() == whole.sizes.tolist()


def test_all_are_one_pool_without_strata_and_gaps():
    frame = table().fillna({"x": 3.0})
    _, whole = whole_of(frame, Task({"x": cm.ConditionalMasking(0.6, 30.0)}, (), False))
    assert (whole.pools, whole.sizes, whole.patterns) == (None, None, ())
    assert whole.starts.tolist() == [0, *UNEQUAL, N]


def test_what_lies_outside_of_a_range_is_summed_up():
    frame = table()
    scheme = cm.ConditionalMasking(0.6, 1.0, range=(50.0, 170.0))
    _, whole = whole_of(frame, Task({"x": scheme}, (), False))
    expected = outside(frame.x.to_numpy(), scheme)
    assert expected.values > 30
    assert whole.outside("x")[:2] == expected[:2]
    scheme = cm.ConditionalMasking(0.6, 1.0, range=(0.0, 200.0))
    _, whole = whole_of(frame, Task({"x": scheme}, (), False))
    assert whole.outside("x").expected == pytest.approx(
        outside(frame.x.to_numpy(), scheme).expected, rel=1e-9
    )


def test_codes_are_in_no_range():
    frame = table().fillna({"x": -9.0})
    scheme = cm.ConditionalMasking(0.6, 1.0, range=(0.0, 200.0), missing=-9)
    _, whole = whole_of(frame, Task({"x": scheme}, (), False))
    assert whole.outside("x").values == 0


def test_a_partition_without_rows_has_no_say_in_types():
    task = Task({"x": cm.ConditionalMasking(0.6, 30.0)}, (), False)
    parts = parts_of(table())
    looks = [partitions.look(part if len(part) else part.astype({"x": int}), task) for part in parts]
    assert partitions.layout(looks, task, "omit").kinds == {"x": "float64"}


def test_a_column_has_the_type_that_gaps_take_wherever_they_are():
    frame = table().assign(x=np.where(np.arange(N) == N - 1, -9, 50))
    task = Task({"x": cm.ConditionalMasking(0.6, 30.0, decimals=0, missing=-9, missing_as="null")}, (), False)
    _, whole = whole_of(frame, task)
    assert whole.dtypes == {"x": np.dtype("float64")}


def test_what_rounding_moves_is_summed_up():
    frame = table()
    scheme = cm.ConditionalMasking(0.6, 30.0, step=7.0)
    _, whole = whole_of(frame, Task({"x": scheme}, (), True))
    x = frame.x.dropna()
    on_grid = np.floor(x / 7.0 + 0.5) * 7.0
    moved = whole.moved("x")
    assert moved.total == pytest.approx((on_grid - x).sum(), rel=1e-9)
    assert (moved.values, moved.largest) == (len(x), (x.max(), on_grid.max()))


def test_types_that_differ_between_partitions_are_refused():
    task = Task({"x": cm.ConditionalMasking(0.6, 30.0)}, (), False)
    looks = [partitions.look(part, task) for part in parts_of(table())]
    looks[-1] = looks[-1]._replace(kinds={"x": "int"})
    with pytest.raises(TypeError, match="x must be of one type in all partitions, got float64 and int"):
        partitions.layout(looks, task, "omit")
