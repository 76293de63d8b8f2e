"""Records that columns in clear single out are counted.

Oracle: pandas' groups of each combination of columns.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.disclosure.identity import singled_out

N = 400


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "wage": rng.lognormal(8.0, 0.5, N).round(),
            "age": rng.integers(18, 80, N),
            "town": rng.choice(list("abcdefgh"), N),
            "job": rng.choice(list("klmnopqrst"), N),
            "sex": rng.choice(["f", "m"], N),
            "height": rng.normal(170.0, 10.0, N),
        }
    )


def alone(table, columns):
    return int((table.groupby([*columns], observed=True).size() == 1).sum())


def test_the_combination_is_the_one_that_singles_most_records_out(people):
    found = singled_out(people, {"wage"})

    clear = ["age", "town", "job", "sex"]  # a height is measured
    some = [each for size in (1, 2, 3) for each in combinations(clear, size)]
    assert (
        found.unique == alone(people, found.columns) == max(alone(people, each) for each in some)
    )
    others = [name for name in found.columns if name != found.coarsen]
    assert found.without == alone(people, others)
    assert found.without == min(
        alone(people, [each for each in found.columns if each != name]) for name in found.columns
    )
    assert str(found).startswith(f"{found.unique} of {N} records are alone with their values of ")


def test_columns_can_be_named_and_few_levels_single_nobody_out(people):
    found = singled_out(people, {"wage"}, ["sex", "job"])
    assert {*found.columns} <= {"sex", "job"}
    assert found.unique == max(alone(people, each) for each in (["sex"], ["job"], ["sex", "job"]))
    assert singled_out({"wage": people["wage"], "height": people["height"]}, {"wage"}) is None


def test_an_audit_counts_them_and_warns_by_code(people):
    scheme = {"wage": cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=3)}
    audit = cm.audit(people, scheme)

    assert audit.singled_out == singled_out(people, {"wage"})
    assert str(audit.singled_out) in str(audit)
    (finding,) = (each for each in audit.findings if each.code == "C21")
    assert "coarsen age" in finding.remedy
    assert not finding.refuses
    assert cm.audit(people, scheme, known=["sex"]).singled_out.columns == ("sex",)
    with pytest.warns(cm.ReleaseWarning, match=r"^C21 \d+ of 400 records are alone"):
        cm.mask_table(people, scheme, accept=("C16", "C22", "C12"))
    coarse = people.assign(age=people["age"] // 20 * 20, job="k")
    assert "C21" not in {each.code for each in cm.audit(coarse, scheme).findings}
