"""Handles of columns, and what is sent with tasks."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from partitioned import cut

from condmask.dask.columns import DaskTable, Partition, numbers, travelling
from condmask.inference.parts import CompleteRows, frame_of, numbered
from condmask.inference.pseudo_values import PseudoValues
from condmask.law import Law

pytestmark = pytest.mark.usefixtures("synchronous")

N = 60
RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "z": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "code": RNG.integers(-1, 4, N),
        "label": RNG.choice(["b", "a", None], N),
        "yes": RNG.random(N) < 0.5,
    }
)
CUTS = [0, 7, 7, 8, 40]


def table(frame=FRAME):
    return DaskTable(cut(frame, CUTS))


def z_of(own):
    return own.column(["z"], partial(numbers, "z", "z", ()))


def test_rows_of_partitions_are_those_of_the_column():
    own = table()
    z, code = z_of(own), own.named("code").numbers("code")
    rows = z.complete([z, code])
    here = CompleteRows(*(FRAME[name].to_numpy(dtype=float) for name in ("z", "code")))

    def listed(found, part):
        return [*found, *part.of(z).tolist()]

    expected = here.fold(lambda found, part: [*found, *part.of(FRAME["z"].to_numpy()).tolist()], [])
    assert rows.fold(listed, [], lambda one, other: one + other) == expected
    assert frame_of(z, z.complete([z])) == frame_of(FRAME["z"].to_numpy(), here)
    assert z.size == len(z) == N


def test_labels_are_numbered_over_all_partitions():
    code, names = table().named("label").groups("labels")

    assert names == ["a", "b"]
    expected = FRAME["label"].map({"a": 0, "b": 1}).fillna(-1).astype(int)
    assert Partition(FRAME).array(code).tolist() == expected.tolist()
    # a partition may have some of the labels alone
    assert Partition(FRAME.iloc[7:8]).array(code).tolist() == expected[7:8].tolist()


def test_yes_and_no_are_numbers_in_a_design_alone():
    yes = table().named("yes")

    assert Partition(FRAME).array(yes.in_design("yes", "W")).tolist() == FRAME["yes"].astype(float).tolist()
    with pytest.raises(TypeError, match="other must be numeric"):
        Partition(FRAME).array(yes.numbers("other"))


@pytest.mark.parametrize("most", [10, 10**9])
def test_codes_that_occur_are_numbered_over_all_partitions(most):
    own = table(FRAME.assign(code=3 + FRAME["code"]))
    code = own.column(["code"], lambda part: part.frame["code"].to_numpy())

    distinct, number = numbered(code.complete([code]), lambda rows: rows.of(code), most, N)

    assert distinct.tolist() == [2, 3, 4, 5, 6]
    assert number(np.array([6, 2])).tolist() == [4, 0]


def test_a_handle_travels_with_the_names_of_its_columns_and_without_its_table():
    own = table()
    z, code = z_of(own), own.named("code").numbers("code")

    content, names = travelling((z, [z.derived(np.add, z, code)]))
    there, (total,) = pickle.loads(content)

    assert names == ["z", "code"]
    assert there.table is total.table is None
    expected = FRAME["z"] + FRAME["code"]
    np.testing.assert_array_equal(Partition(FRAME).array(total), expected)
    with pytest.raises(AssertionError, match="figures of all records are worked out before they are sent"):
        _ = there.size


def test_figures_by_pool_are_worked_out_before_they_are_sent():
    own = table()
    file = PseudoValues(z_of(own), Law(0.4, "normal", 0.5), None, cycle=True)

    sent = pickle.loads(travelling(file)[0])

    assert sent._present is None  # so nothing of all records can be worked out there
    assert {"pool_mean", "_squares"} <= set(vars(sent))
    assert sent.originals == file.originals
