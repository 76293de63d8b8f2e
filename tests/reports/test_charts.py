"""Pictures of a report. Oracle: the points of their lines, and the letters within them."""

import re

import leaks
import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.reports import charts
from condmask.reports.release_view import ReleaseView


def test_no_line_of_the_original_is_in_a_public_picture(files, public):
    folder, frame = files
    view = ReleaseView(folder / "released.parquet", 1)
    estimate, z = view.release["income"], view.masked("income")
    with_it = charts.distributions(estimate, z, frame.income.to_numpy(), "population", "income")
    without = charts.distributions(estimate, z, None, "population", "income")
    shared = set().union(*leaks.places(without))
    own = [line - shared for line in leaks.places(with_it)]
    (curve,) = [line for line in own if len(line) > 50]  # the only line of many points that is there with it

    assert without in public
    assert not curve & set().union(*leaks.places(public))
    assert "<metadata" not in public
    # all pictures are text, and searched; the font alone is not
    assert public.count("base64") == public.count("data:font/woff;base64") == 1


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_every_picture_has_the_column_and_its_unit_on_an_axis(tmp_path):
    """Names are letters, and no mathematics."""
    name, unit = "$x^2$ of <b>", "euros a month"
    values = np.random.default_rng(3).lognormal(8.0, 0.5, 500).round(2)
    pd.DataFrame({name: values, "age": np.arange(500) % 60}).to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {name: scheme}, rng=1)
    for public in (False, True):
        out = tmp_path / f"{public}.html"
        cm.report(
            tmp_path / "a.parquet", tmp_path / "b.parquet", out, public=public, d=500, units={name: unit}
        )
        page = out.read_text(encoding="utf-8")
        pictures = re.findall("<svg.*?</svg>", page, flags=re.DOTALL)

        assert len(pictures) == (1 if public else 2)
        for picture in pictures:
            letters = " ".join(re.findall("<text[^>]*>(.*?)</text>", picture, flags=re.DOTALL))
            assert "$x^2$ of &lt;b&gt;" in letters
            assert unit in letters
        assert f"\u00a0{unit}" in page  # and beside figures


def test_the_scale_of_a_chart_is_that_of_its_shares(monkeypatch, files):
    """The largest end of an interval lies in the last fifth of each panel."""
    folder, frame = files
    release = pd.read_parquet(folder / "released.parquet")
    scheme = cm.read_schemes(folder / "released.parquet")["income"]
    risk = cm.release_risk(frame.income, release.income, scheme, d=[10, 500], audit=False)
    drawn = []
    monkeypatch.setattr(charts, "svg", lambda figure, _: drawn.append(figure))
    charts.attackers(risk, {name: name for name in risk.attackers}, ["10", "500"], "income")

    for k, axes in enumerate(drawn[0].axes):
        most = max(risk.interval(name)[1][k] for name in risk.attackers)
        assert axes.get_xlim()[0] == 0.0
        assert 0.8 * axes.get_xlim()[1] < most < axes.get_xlim()[1]
