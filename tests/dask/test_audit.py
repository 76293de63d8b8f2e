"""The audit of a Dask frame is that of the same table in memory, as long as it is looked at whole.

Oracle: `condmask.audit`.
"""

import dask
import numpy as np
import pandas as pd
import pytest
from marks import rest_slow
from partitioned import UNEQUAL, cut

import condmask as cm
import condmask.dask


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def table(n=20_000):
    rng = np.random.default_rng(1)
    income = rng.lognormal(8, 0.5, n).round(-1)
    return pd.DataFrame({"income": income, "tax": income * 0.3, "region": rng.choice(list("abcd"), n)})


@pytest.mark.parametrize("strata", rest_slow(["region", None]))
def test_a_table_that_is_looked_at_whole_gets_the_audit_of_one_machine(strata):
    schemes = {"income": cm.ConditionalMasking(0.6, 500.0, decimals=0, strata=strata)}
    one, many = cm.audit(table(), schemes), condmask.dask.audit(cut(table(), UNEQUAL), schemes)
    assert str(one) == str(many)
    assert one.visible
    assert many.visible


def test_of_a_larger_one_rows_from_all_over_are_looked_at(monkeypatch):
    from condmask.dask import gate

    monkeypatch.setattr(gate, "ROWS", 4_096)
    schemes = {"income": cm.ConditionalMasking(0.6, 500.0, decimals=0)}
    audit = condmask.dask.audit(cut(table(), UNEQUAL), schemes)
    assert audit.visible
    assert audit.n in range(4_000, 4_200)


def test_other_arguments_are_refused():
    scheme = cm.ConditionalMasking(0.6, 500.0)
    with pytest.raises(TypeError, match="frame must be a Dask DataFrame, got DataFrame"):
        condmask.dask.audit(table(), {"income": scheme})
    with pytest.raises(ValueError, match="frame must have the column 'wage'"):
        condmask.dask.audit(cut(table(), UNEQUAL), {"wage": scheme})
    with pytest.raises(TypeError, match="scheme must be one that swaps records"):
        condmask.dask.audit(cut(table(), UNEQUAL), {"income": cm.AdditiveNoise(3.0)})
    for schemes in (None, [1.5], scheme):
        with pytest.raises(TypeError, match=r"^schemes must be a dict of schemes by column, got"):
            condmask.dask.audit(cut(table(), UNEQUAL), schemes)


def test_thorough_is_true_or_false():
    frame = pd.DataFrame({"x": np.arange(10.0)})
    scheme = cm.ConditionalMasking(0.6, 1.0)
    for audit, data in ((cm.dask.audit, cut(frame, [4])), (cm.audit, frame)):
        with pytest.raises(TypeError, match=r"^thorough must be True or False, got 'no'$"):
            audit(data, {"x": scheme}, thorough="no")
