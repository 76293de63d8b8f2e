"""An original, releases of it, and their reports."""

import numpy as np
import pandas as pd
import pytest
from report_pages import MAPPED, SCHEME, N

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """An original, a release of it, and both reports."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(5)
    income = rng.lognormal(8.0, 0.5, N).round(2)
    frame = pd.DataFrame({
        "income": income, "age": rng.integers(18, 66, N),
        "schooling": np.round(np.log(income) + rng.normal(0.0, 0.5, N), 3),
        "region": rng.choice(["east", "west"], N),
    })  # fmt: skip
    frame.to_parquet(folder / "people.parquet")
    cm.mask_file(folder / "people.parquet", folder / "released.parquet", {"income": SCHEME}, rng=8)
    cm.report(folder / "people.parquet", folder / "released.parquet", folder / "internal.html", d=[250, 500])
    cm.report(None, folder / "released.parquet", folder / "public.html", public=True)
    return folder, frame


@pytest.fixture(scope="session")
def internal(files):
    return (files[0] / "internal.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def public(files):
    return (files[0] / "public.html").read_text(encoding="utf-8")


@pytest.fixture
def undrawn(monkeypatch):
    """Reports without the picture that takes longest."""
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))


@pytest.fixture(scope="session")
def mapped(files, tmp_path_factory):
    """A release of the same original by reverse mapping, and both reports."""
    folder = tmp_path_factory.mktemp("mapped")
    people, release = files[0] / "people.parquet", folder / "released.parquet"
    cm.mask_file(people, release, {"income": MAPPED}, rng=3, accept_visible_coins=True)
    cm.report(people, release, folder / "internal.html", d=[250, 500])
    cm.report(None, release, folder / "public.html", public=True)
    pages = [(folder / f"{name}.html").read_text(encoding="utf-8") for name in ("internal", "public")]
    return release, *pages
