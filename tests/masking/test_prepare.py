"""One way to being masked: a column, a table, a file and an audit look at the same data, and say
the same.

Oracle: each other, on one table with a fault that only a column in clear shows.
"""

import warnings

import numpy as np
import pandas as pd

import condmask as cm
from condmask.disclosure.unmasked import MAX_EXAMINED_ROWS
from condmask.files.parts import Source

RNG = np.random.default_rng(3)
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)


def said(call):
    """What masking says: an error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            error = ""
        except cm.ReleaseError as refused:
            error = str(refused)
    return error, sorted({str(each.message) for each in caught})


def test_a_table_and_a_file_are_refused_alike_for_a_column_behind_many_others(tmp_path):
    wage = np.round(RNG.lognormal(8.0, 0.5, 400))
    others = {f"x{k}": RNG.normal(size=wage.size) for k in range(24)}  # behind 20 less is asked
    frame = pd.DataFrame({"wage": wage, **others, "income": wage + 600.0})
    frame.to_parquet(tmp_path / "a.parquet")
    schemes = {"wage": SCHEME}

    first = said(lambda: cm.mask_table(frame, schemes, rng=1))
    second = said(
        lambda: cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", schemes, rng=1)
    )

    assert first == second
    assert "income" in first[0]


def test_a_column_in_clear_is_seen_in_a_file_sorted_by_the_masked_one(tmp_path):
    n = 2 * MAX_EXAMINED_ROWS + 1_000
    wage = np.sort(np.round(RNG.lognormal(8.0, 0.5, n)))
    # what follows it over the whole range, and in no short one
    frame = pd.DataFrame({"wage": wage, "tax": wage + RNG.normal(0.0, 300.0, n)})
    assert (
        np.corrcoef(frame["wage"][:MAX_EXAMINED_ROWS], frame["tax"][:MAX_EXAMINED_ROWS])[0, 1]
        < 0.9
    )
    frame.to_parquet(tmp_path / "a.parquet")

    audit = cm.audit(Source(tmp_path / "a.parquet").table(), {"wage": SCHEME})
    assert {finding.code for finding in audit.findings} & {"C2", "C12"}


def test_an_audit_pools_small_strata_as_masking_does():
    n = 1_000
    x = np.round(RNG.lognormal(8.0, 0.5, n))
    region = np.where(np.arange(n) < 5, "tiny", np.where(np.arange(n) < 12, "small", "large"))
    pooled = np.where(np.arange(n) < 12, "small", "large")
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=0, strata="region", small_strata="merge")

    assert (
        cm.audit(x, scheme, strata=region).to_dict()
        == cm.audit(x, scheme, strata=pooled).to_dict()
    )
    found = cm.risk(x, scheme, d=500, strata=region)
    assert found.to_dict() == cm.risk(x, scheme, d=500, strata=pooled).to_dict()
