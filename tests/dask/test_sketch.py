"""Sketches of Dask frames. Oracle: the same table on one machine, bit for bit."""

import dask
import numpy as np
import pandas as pd
import partitioned
import pytest
from partitioned import SCHEMES, people

import condmask as cm
from condmask._blocks import evenly_spaced
from condmask.dask.sketch import sketch_of_partitions
from condmask.files.frame_columns import column_of_frame
from condmask.files.frame_table import FrameTable
from condmask.releases.record_words import originals_of, sketch_of_frame
from condmask.releases.sketch import LOOKED_AT, common_values


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def on_one_machine(frame, schemes):
    columns = {name: column_of_frame(frame, name) for name in schemes}
    arrays = {name: column.array for name, column in columns.items()}
    originals = originals_of(arrays, {name: column.kind for name, column in columns.items()}, schemes)
    table = FrameTable(frame)
    return sketch_of_frame(table.batches(), table.names, originals), originals.some


def of_partitions(frame, schemes, cuts):
    return sketch_of_partitions(partitioned.cut(frame, cuts), schemes, partitioned.parts_of(frame, cuts)[0])


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "Int64"])
@pytest.mark.parametrize("cuts", [partitioned.CUTS, [], list(range(0, 20_000, 1_111))])
def test_a_sketch_from_partitions_is_that_of_the_whole(cuts, kind):
    frame = people(20_000)  # more than are looked at, and than are kept
    frame["income"] = frame["income"].where(np.arange(20_000) % 9 > 0, 5_000).astype(kind)  # a common value
    expected, some = on_one_machine(frame, SCHEMES)

    looked = of_partitions(frame, SCHEMES, cuts)
    assert np.array_equal(looked.some, some)
    assert looked.sketch.records == expected.records == 20_000
    assert len(looked.sketch.samples) == len(expected.samples) > 10
    for a, b in zip(looked.sketch.samples, expected.samples, strict=True):
        assert (a.level, a.whole) == (b.level, b.whole)
        for x, y in zip(a[2:], b[2:], strict=True):
            assert np.array_equal(x, y)
    assert max(sample.level for sample in expected.samples) > 2


@pytest.mark.parametrize("n", [100, 3_000, 17_001])
def test_the_values_that_tell_the_common_ones_are_those_of_one_machine(n):
    x = np.random.default_rng(n).integers(0, 40, n).astype(float)
    frame = pd.DataFrame({"x": x})
    schemes = {"x": cm.ConditionalMasking(0.6, 1.0, missing=(3.0, None))}
    expected, some = on_one_machine(frame, schemes)

    looked = of_partitions(frame, schemes, [n // 3, n // 2])
    assert np.array_equal(looked.some, some, equal_nan=True)
    assert looked.sketch.samples[0].tokens.tolist() == expected.samples[0].tokens.tolist()


def test_a_value_is_common_that_is_so_in_the_rows_that_one_machine_looks_at():
    frame = people(20_000)
    frame.loc[evenly_spaced(20_000, LOOKED_AT)[1::16], "income"] = 5_000.0  # 6% of these, 5% of all
    assert 5_000.0 in common_values(frame["income"].to_numpy())
    expected, _ = on_one_machine(frame, SCHEMES)

    found = of_partitions(frame, SCHEMES, [9_000]).sketch
    for a, b in zip(found.samples, expected.samples, strict=True):
        assert np.array_equal(a.tokens, b.tokens)


def test_a_frame_that_has_other_rows_by_now_is_refused():
    frame = people()
    starts, _ = partitioned.parts_of(frame)
    more = partitioned.cut(pd.concat([frame, frame[:100]]))
    with pytest.raises(ValueError, match="must have the 4,000 rows that were masked, got 4,100"):
        sketch_of_partitions(more, SCHEMES, starts)
    with pytest.raises(ValueError, match="got a partition with fewer"):
        sketch_of_partitions(partitioned.cut(frame.iloc[:3_900]), SCHEMES, starts)
