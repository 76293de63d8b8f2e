"""Attackers in words: none is left out, and one of them knows all other columns. Oracle: the page's chart."""

import re

import numpy as np
import pandas as pd
import pytest
from report_pages import cells

import condmask as cm
from condmask.disclosure.risk_result import ALL, BEST, CONSTANT, LINKED, Risk
from condmask.reports.attacker_names import ONLY_CLEAR, SHORT, explained, short_names

EVERYTHING = SHORT[ALL]


def risk(*names):
    shares = {name: np.array([0.1]) for name in names}
    return Risk("release", 10, (1.0,), shares, dict.fromkeys(names, 10), None, None, None)


def test_attackers_are_named_from_the_weakest_to_the_strongest():
    assert list(short_names(risk(ALL, LINKED, BEST, CONSTANT))) == [CONSTANT, BEST, LINKED, ALL]
    assert short_names(risk(BEST, LINKED))[LINKED] == EVERYTHING
    assert short_names(risk(BEST, LINKED, ALL))[LINKED] == ONLY_CLEAR
    text = re.sub("<[^>]*>", "", explained(risk(BEST, LINKED, ALL), ["age"], ["wealth"]))
    assert (
        f"{EVERYTHING}: guesses in the same way, and knows all other columns of the record: wealth, age"
        in text
    )


@pytest.mark.usefixtures("undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_who_knows_all_other_columns_is_in_table_and_chart(tmp_path, internal):
    """Labels and gaps count as known; in a table of two masked columns so do the originals of the other."""
    assert len(cells(internal, EVERYTHING)[0]) == 2
    assert internal.count(f">{EVERYTHING}</text>") == 2  # a panel for each distance
    rng = np.random.default_rng(3)
    x, y = rng.lognormal(8.0, 0.5, (2, 600)).round(2)
    frame = pd.DataFrame({"x": x, "y": y, "region": rng.choice(["east", "west"], 600)})
    frame.to_parquet(tmp_path / "a.parquet")
    schemes = dict.fromkeys("xy", cm.ConditionalMasking(0.6, 300.0, decimals=2))
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", schemes, rng=1, accept_visible_coins=True)
    cm.report(tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.html", d=100)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert len(cells(page, EVERYTHING)) == len(cells(page, ONLY_CLEAR)) == 4  # shares and lifts, two columns
    assert page.count(f">{EVERYTHING}</text>") == 2
    assert "<code>y</code></bdi>, <bdi><code>region</code></bdi>, the masked ones with their true" in page
    assert "Anyone who knows the true value of a record in one of them guesses its swap status" in page
