"""A release on its way into the ledger says what another one of its records costs, or that it cannot tell."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


def ages(seed, n=5_000):
    return pd.DataFrame({"age": np.random.default_rng(seed).integers(18, 90, n)})


def release(frame, scheme, path):
    cm.mask_table(frame, {frame.columns[0]: scheme}).write(path)


def test_records_too_much_alike_are_a_warning(tmp_path):
    scheme = cm.ConditionalMasking(0.6, 12.0, decimals=0)
    release(ages(1), scheme, tmp_path / "a.csv")
    with pytest.warns(cm.ReleaseWarning, match="the records of b.csv are too much alike to tell"):
        release(ages(2), scheme, tmp_path / "b.csv")

    assert (tmp_path / "b.csv").exists()


def test_the_cost_is_that_of_the_laws_of_both(tmp_path):
    x = pd.DataFrame({"income": np.random.default_rng(1).lognormal(8, 0.5, 3_000).round(2)})
    release(x, cm.ConditionalMasking(0.6, 100.0, decimals=2), tmp_path / "a.csv")
    loud, quiet = (cm.ConditionalMasking(p, 100.0, decimals=2) for p in (0.9, 0.3))
    for k, (scheme, alone) in enumerate([(loud, "9[01]"), (quiet, "7[01]")]):
        with pytest.raises(cm.ReleaseError, match=f"from one release alone of {alone}%"):
            release(x, scheme, tmp_path / f"{k}.csv")


def test_a_scheme_without_a_law_has_no_figure(tmp_path):
    x = pd.DataFrame({"income": np.random.default_rng(1).lognormal(8, 0.5, 3_000).round(2)})
    release(x, cm.RankSwapping(10.0), tmp_path / "a.csv")
    with pytest.raises(cm.ReleaseError, match="anyone who has both sees which values stayed close"):
        release(x, cm.RankSwapping(10.0), tmp_path / "b.csv")


def test_again_is_true_or_false(tmp_path):
    made = cm.mask_table(ages(1), {"age": cm.ConditionalMasking(0.6, 12.0, decimals=0)})
    with pytest.raises(TypeError, match="again must be True or False, got 1"):
        made.write(tmp_path / "a.csv", again=1)


def test_a_column_that_the_other_release_masks(tmp_path):
    rng = np.random.default_rng(1)
    x = pd.DataFrame({name: rng.lognormal(8, 0.5, 3_000).round(2) for name in ("income", "wealth")})
    scheme = cm.ConditionalMasking(0.6, 100.0, decimals=2)
    cm.mask_table(x, {"income": scheme}).write(tmp_path / "a.csv")
    with pytest.raises(
        cm.ReleaseError, match=r"100% of .*: a column masked in one of them may be unmasked in the other"
    ):
        cm.mask_table(x, {"wealth": scheme}).write(tmp_path / "b.csv")
