"""One way to being masked: a column, a table, a file and an audit look at the same data, and say the same.

Oracle: each other, on one table with a fault that only a column in clear shows.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from marks import rest_long

import condmask as cm
from condmask.disclosure.table import ROWS
from condmask.files.parts import read_table

RNG = np.random.default_rng(3)
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)


def table(n):
    """Two columns to mask, and one that gives the first away."""
    wage, rent = (np.round(RNG.lognormal(8.0, 0.5, n)) for _ in range(2))
    return pd.DataFrame({"wage": wage, "rent": rent, "income": wage + 600.0})


def verdicts(frame, schemes, folder):
    """What masking a table, and a file of it, says: an error or the warnings."""
    frame.to_parquet(folder / "a.parquet")
    calls = (
        lambda: cm.mask_table(frame, schemes, rng=1),
        lambda: cm.mask_file(folder / "a.parquet", folder / "b.parquet", schemes, rng=1, dry_run=True),
    )
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                call()
                error = None
            except cm.ReleaseError as refused:
                error = str(refused)
        yield error, sorted({str(each.message) for each in caught})


@pytest.mark.parametrize("n", [3_000, ROWS + 2_000])
def test_a_table_and_a_file_are_refused_alike(tmp_path, n):
    schemes = {"wage": SCHEME, "rent": SCHEME}

    first, second = verdicts(table(n), schemes, tmp_path)

    assert first == second
    assert "income" in first[0]


@pytest.mark.parametrize("suffix", rest_long(["parquet", "arrow", "csv"]))
def test_a_column_in_clear_is_seen_in_a_table_sorted_by_the_masked_one(tmp_path, suffix):
    n = 2 * ROWS + 1_000
    wage = np.sort(np.round(RNG.lognormal(8.0, 0.5, n)))
    # what follows it over the whole range, and in no short one
    frame = pd.DataFrame({"wage": wage, "tax": wage + RNG.normal(0.0, 500.0, n)})
    first = frame.iloc[:ROWS]
    assert np.corrcoef(first["wage"], first["tax"])[0, 1] < 0.8
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        getattr(frame, {"parquet": "to_parquet", "arrow": "to_feather"}[suffix])(path)
    scheme = {"wage": cm.ConditionalMasking(0.6, 500.0, decimals=0)}

    for audit in (cm.audit(frame, scheme), cm.audit(read_table(path, scheme), scheme)):
        assert any(finding.refuses and "drop tax" in finding.remedy for finding in audit.findings)
    with pytest.raises(cm.ReleaseError, match="tax"):
        cm.mask_table(frame, scheme)
    with pytest.raises(cm.ReleaseError, match="tax"):
        cm.mask_file(path, tmp_path / f"b.{suffix}", scheme, dry_run=True)


def test_a_column_that_stands_behind_many_others_is_looked_at(tmp_path):
    frame = table(2_000)
    for k in range(64):
        frame[f"x{k}"] = RNG.normal(size=2_000)
    frame["salary"] = frame["wage"]
    late = frame.copy()
    frame.insert(0, "salary", frame.pop("salary"))
    schemes = {"wage": SCHEME, "rent": SCHEME}

    for each in (late, frame):
        first, second = verdicts(each, schemes, tmp_path)
        assert first == second
        assert "salary" in first[0]


def test_an_audit_pools_small_strata_as_masking_does():
    n = 1_000
    x = np.round(RNG.lognormal(8.0, 0.5, n))
    region = np.where(np.arange(n) < 5, "tiny", np.where(np.arange(n) < 12, "small", "large"))
    pooled = np.where(np.arange(n) < 12, "small", "large")
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=0, strata="region", small_strata="merge")

    assert cm.audit(x, scheme, strata=region).to_dict() == cm.audit(x, scheme, strata=pooled).to_dict()
    found = cm.risk(x, scheme, d=500, strata=region)
    assert np.isfinite(found.attackers["best attacker"]).all()
    assert found.to_dict() == cm.risk(x, scheme, d=500, strata=pooled).to_dict()


TENS = 10.0 * np.rint(np.random.default_rng(8).lognormal(7.0, 0.4, 600) / 10.0)


def test_what_would_show_too_much_is_refused_unless_that_is_accepted():
    scheme = cm.ConditionalMasking(0.6, 3.0, decimals=0)

    with pytest.raises(ValueError, match="the noise is too narrow"):
        scheme.mask(TENS, rng=1)
    assert scheme.mask(TENS, rng=1, accept_visible_coins=True).size == TENS.size


def test_a_code_within_reach_of_masked_values_is_refused():
    scheme = cm.ConditionalMasking(0.6, 2_000.0, step=10, missing=-10)

    with pytest.raises(ValueError, match="out of reach of masked values, got -10"):
        scheme.mask(TENS, rng=1, accept_visible_coins=True)


def test_other_strata_have_another_noise():
    """Two releases of one file by one seed: a record that has one noise in both is a kept one."""
    x = 10_000.0 * np.arange(600.0)
    scheme = cm.ConditionalMasking(0.5, 300.0, step=1, strata="s")
    first, second = (
        scheme.mask(x, strata=np.arange(600) // size % 2, rng=5, accept_visible_coins=True) for size in (1, 7)
    )

    kept = (np.abs(first - x) < 3_000.0) & (np.abs(second - x) < 3_000.0)
    assert kept.sum() > 50
    assert np.mean(first[kept] == second[kept]) < 0.1
