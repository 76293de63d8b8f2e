"""The originals of a partition: known again by their digest, and in whole steps as they are masked.

Oracle: the partition itself, changed in one place; the grid of the scheme.
"""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.dask.originals import Task, narrow, originals

SCHEME = cm.ConditionalMasking(0.6, 30.0, step=0.5, missing=-9)
TASK = Task({"x": SCHEME}, ("town",), False)
POOLS = {("a", (True,)): 3, ("b", (True,)): 1, ("b", (False,)): -1, ("c", (True,)): 1}


@pytest.fixture
def part():
    return pd.DataFrame({"x": [1.5, 2.0, -9.0, 7.0], "town": ["a", "b", "b", "c"], "y": 0.0})


def test_a_partition_is_known_again_by_its_values_and_strata(part):
    digest = originals(part, TASK).digest()
    assert originals(part.copy(), TASK).digest() == digest
    assert originals(part.assign(y=1.0), TASK).digest() == digest
    for change in (
        {"x": part.x[::-1].to_numpy()},
        {"x": part.x.replace(2.0, 2.5)},
        {"town": part.town[::-1].to_numpy()},
        {"town": part.town.replace("a", "d")},
        {"town": part.town.replace("c", "d")},  # which is the third of the labels as well
    ):
        assert originals(part.assign(**change), TASK).digest() != digest


def test_it_is_masked_in_whole_steps_and_by_pools(part):
    made = narrow(part, TASK, POOLS, originals(part, TASK).digest(), 0)
    assert np.array_equal(made.units, [[3.0, 4.0, np.nan, 14.0]], equal_nan=True)
    assert made.pool.tolist() == [3, 1, -1, 1]
    assert narrow(part, TASK, None, originals(part, TASK).digest(), 0).pool is None


def test_another_one_than_was_audited_is_not(part):
    digest = originals(part, TASK).digest()
    with pytest.raises(RuntimeError, match="partition 5 changed after it was audited"):
        narrow(part.replace(2.0, 2.5), TASK, POOLS, digest, 5)
