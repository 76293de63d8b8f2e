"""What an internal report says. Oracle: NumPy on the original, the functions of the API that it calls."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from report_pages import MAPPED, SCHEME, cells

import condmask as cm
from condmask._digits import number
from condmask.reports.attacker_names import SHORT


def test_errors_are_predicted_and_actual(files, internal):
    folder, frame = files
    each = cm.read_release(folder / "released.parquet", "income").summary(target="file")["mean"]
    beside, _ = cells(internal, "mean")
    masked = pd.read_parquet(folder / "released.parquet")["income"]
    values = (frame.income.mean(), masked.mean(), each.estimate, each.standard_error)

    assert beside[:4] == [number(value, each.standard_error) for value in values]
    off = each.estimate - frame.income.mean()
    assert beside[4] == number(off, each.standard_error).replace("-", "\u2212")
    assert float(beside[5].replace("\u2212", "-")) == pytest.approx(off / each.standard_error, abs=0.051)


def test_risks_are_those_of_the_release(files, internal):
    folder, frame = files
    z = pd.read_parquet(folder / "released.parquet")["income"]
    others = frame[["age", "schooling"]].assign(region=frame.region == "east")
    found = cm.release_risk(frame.income, z, SCHEME, d=[250, 500], others=others, audit=False)

    assert len(found.attackers) == 5
    for attacker, share in found.attackers.items():
        shown = cells(internal, SHORT[attacker])[0]
        assert [each.split("%")[0] for each in shown] == [f"{100 * value:.1f}" for value in share]
    audit = cm.audit(frame, {"income": SCHEME})
    assert cells(internal, "best attacker") == [[f"{100 * audit.guessed:.1f}%"]]


def test_most_exposed_records_are_named_by_their_place(files, internal):
    folder, frame = files
    z = pd.read_parquet(folder / "released.parquet")["income"]
    exposed = cm.record_risk(frame.income, z, SCHEME, d=500.0).exposed(10)
    table = internal[internal.index("Most exposed records") :]

    assert re.findall(r'<th scope="row">([\d,]+)</th>', table)[:10] == [f"{row + 1:,}" for row in exposed]


def test_both_hashes_are_in_the_internal_one(files, internal, public):
    folder, _ = files
    original, release = (
        hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("people.parquet", "released.parquet")
    )

    assert original in internal
    assert release in internal
    assert release in public
    assert original not in public


def test_risks_of_reverse_mapping_are_those_of_the_release(files, mapped):
    frame, z = files[1], pd.read_parquet(mapped[0])["income"]
    others = frame[["age", "schooling"]].assign(region=frame.region == "east")
    found = cm.release_risk(frame.income, z, MAPPED, d=[250, 500], others=others, audit=False)
    insiders = cm.insider_risk(frame.income, MAPPED, d=[250, 500])

    for attacker, share in found.attackers.items():
        shown = cells(mapped[1], SHORT[attacker])[0]
        assert [each.split("%")[0] for each in shown] == [f"{100 * value:.1f}" for value in share]
    worst = cells(mapped[1], "the masked value of the most exposed record")
    assert worst == [[f"{100 * value:.1f}%" for value in found.most_exposed]]
    assert (
        cells(mapped[1], "all but 20")[0][0]
        == f"{100 * insiders.exact[3]:.1f}% ({100 * insiders.additive_exact[3]:.1f}%)"
    )
    assert "Exactly as in the original: mean, standard deviation, quantiles at 10%" in mapped[1]


@pytest.mark.usefixtures("unaudited", "undrawn")
def test_guard_rails_that_do_not_hold_are_told(tmp_path):
    rng = np.random.default_rng(4)
    x, y = rng.normal(100.0, 10.0, (2, 200)).round(2)
    x[7] = 900.0
    pd.DataFrame({"x": x, "y": y, "z": x + rng.normal(0.0, 1.0, 200)}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 3.0, reverse_mapping=True)
    cm.mask_file(
        tmp_path / "a.csv", tmp_path / "b.csv", {"x": scheme, "y": scheme}, rng=1, accept_visible_coins=True
    )
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=2.0)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert "This release should not be published, because masking would refuse it: " in page
    assert "of x with a rare value get" in page
    assert "it gives much of &#x27;x&#x27; away" in page
    assert "The columns were masked together" in page


def test_a_thorough_report_has_what_trained_attackers_reach(files, internal, tmp_path):
    folder, frame = files
    paths = folder / "people.parquet", folder / "released.parquet", tmp_path / "thorough.html"
    cm.report(*paths, d=[250, 500], thorough=True)
    page = paths[-1].read_text(encoding="utf-8")
    audit = cm.audit(frame, {"income": SCHEME}, thorough=True)

    assert "No attacker was trained" in internal
    assert "No attacker was trained" not in page
    assert cells(page, "trained attacker") == [[f"{100 * audit.trained:.1f}%"]]
    assert len(cells(page, "trained on examples")[0]) == 2
    assert not cells(internal, "trained on examples")
