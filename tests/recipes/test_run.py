"""Recipes, carried out. Oracle: `mask_file` and `report`, called by hand; `risk` for the checks."""

import re

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html

RECIPE = """
source = "people.csv"
target = "released.csv"
[columns.income]
p = 0.6
sigma = 1000.0
decimals = 2
[report]
internal = "internal.html"
public = "public.html"
within = [250, 500]
"""
WRITTEN = [
    "internal.html",
    "public.html",
    "released.csv",
    "released.csv.condmask.json",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A recipe and its file, from another folder; without the picture that takes long."""
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))
    rng = np.random.default_rng(4)
    income = rng.lognormal(8.0, 0.5, 1000).round(2)
    frame = pd.DataFrame({"income": income, "region": rng.choice(["east", "west"], 1000)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def written(folder):
    return sorted(each.name for each in folder.iterdir() if each.name not in ("people.csv", "recipe.toml"))


def test_a_release_and_its_reports(folder):
    done = cm.run_recipe(folder / "recipe.toml")

    assert written(folder) == WRITTEN
    assert done.target == folder / "released.csv"
    assert done.reports == (folder / "internal.html", folder / "public.html")
    assert done.schemes == cm.read_schemes(done.target)
    assert done.schemes["income"].sigma == 1000.0
    for path, public in zip(done.reports, (False, True), strict=True):
        cm.report(
            folder / "people.csv",
            done.target,
            folder / "own.html",
            public=public,
            d=[250, 500],
            force=True,
        )
        assert path.read_text(encoding="utf-8") == (folder / "own.html").read_text(encoding="utf-8")


def test_the_same_recipe_gives_the_same_but_for_the_coins(folder):
    first = cm.run_recipe(folder / "recipe.toml")
    release = first.target.read_bytes()
    page = first.reports[0].read_text(encoding="utf-8")
    with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
        cm.run_recipe(folder / "recipe.toml")
    assert first.target.read_bytes() == release
    with pytest.raises(cm.ReleaseError, match="the same values are in"):
        cm.run_recipe(folder / "recipe.toml", force=True)
    again = cm.run_recipe(folder / "recipe.toml", force=True, again=True)
    other = again.reports[0].read_text(encoding="utf-8")

    assert again == first
    assert again.target.read_bytes() != release
    assert pd.read_csv(again.target)["region"].equals(pd.read_csv(folder / "people.csv")["region"])
    # what is said of scheme and original is the same, and so are all words
    assert re.findall(r"<td[^>]*>([^<]*)", page)[:10] == re.findall(r"<td[^>]*>([^<]*)", other)[:10]
    assert re.findall("<(?:h.|dt|caption)>.*?</", page) == re.findall("<(?:h.|dt|caption)>.*?</", other)


def test_nothing_is_written_to_try(folder):
    done = cm.run_recipe(folder / "recipe.toml", dry_run=True)

    assert written(folder) == []
    assert done.reports == ()
    assert list(done.schemes) == ["income"]


@pytest.mark.parametrize("strata", ["", 'strata = "region"\n'])
def test_checks_hold_before_anything_is_written(folder, strata):
    frame = pd.read_csv(folder / "people.csv")
    scheme = cm.ConditionalMasking(0.6, 1000.0, decimals=2, strata="region" if strata else None)
    labels = frame.region if strata else None
    best = cm.risk(frame.income, scheme, d=250, strata=labels, audit=False).attackers["best attacker"][0]
    recipe = RECIPE.replace("p = 0.6\n", f"p = 0.6\n{strata}") + "[checks.income]\n250 = "
    (folder / "recipe.toml").write_text(f"{recipe}{best - 1e-6:.9f}")

    with pytest.raises(ValueError, match=rf"^checks\.income allows .*.* closer than 250, got {best:.3f};"):
        cm.run_recipe(folder / "recipe.toml")
    assert written(folder) == []
    (folder / "recipe.toml").write_text(f"{recipe}{best + 1e-6:.9f}")
    cm.run_recipe(folder / "recipe.toml", dry_run=True)


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("people.csv", "nowhere.csv", cm.FileError, "nowhere.csv: no such file or directory"),
        ("public.html", "nowhere/public.html", cm.FileError, "nowhere: no such directory"),
        ("[columns.income]", "[columns.wage]", ValueError, "has no column 'wage'"),
        ("released.csv", "nowhere/released.csv", cm.FileError, "nowhere"),
    ],
)
def test_refused_with_nothing_written(folder, old, new, error, message):
    (folder / "recipe.toml").write_text(RECIPE.replace(old, new))

    with pytest.raises(error, match=re.escape(message)):
        cm.run_recipe(folder / "recipe.toml")
    assert written(folder) == []


def test_coins_that_show_are_accepted_only_where_the_recipe_says_so(folder):
    frame = pd.read_csv(folder / "people.csv")
    frame.assign(income=frame.income.round(-2)).to_csv(folder / "people.csv", index=False)
    with pytest.raises(cm.ReleaseError):
        cm.run_recipe(folder / "recipe.toml")
    (folder / "recipe.toml").write_text("accept_visible_coins = true\n" + RECIPE)
    cm.run_recipe(folder / "recipe.toml")

    assert "<strong>Yes, too often." in (folder / "internal.html").read_text(encoding="utf-8")


def test_a_recipe_masks_by_reverse_mapping(folder):
    recipe = folder / "mapped.toml"
    head = RECIPE.replace("decimals = 2", "reverse_mapping = true").partition("[report]")[0]
    recipe.write_text(head)

    cm.run_recipe(recipe)

    before, after = (
        np.sort(pd.read_csv(folder / f"{name}.csv")["income"]) for name in ("people", "released")
    )
    assert np.array_equal(after, before)


def test_a_recipe_of_reverse_mapping_has_reports_and_checks(folder):
    recipe = folder / "mapped.toml"
    mapped = RECIPE.replace("decimals = 2", "reverse_mapping = true")
    recipe.write_text(mapped)
    cm.run_recipe(recipe)

    for name in ("internal", "public"):
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert "the values are those of the original, each once, in another order" in page
    recipe.write_text(mapped + "[checks.income]\n250 = 0.05")
    with pytest.raises(ValueError, match=r"^checks\.income allows the best attacker to guess 0"):
        cm.run_recipe(recipe, force=True)


@pytest.mark.filterwarnings("ignore:.* was rounded to multiples:condmask.ReleaseWarning")
def test_a_recipe_file_rounds(tmp_path):
    amounts = np.random.default_rng(5).lognormal(7.0, 0.5, 2_500).round(3)
    pd.DataFrame({"x": amounts}).to_parquet(tmp_path / "a.parquet")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'source = "a.parquet"\ntarget = "b.parquet"\nround = true\naccept_visible_coins = true\n'
        "[columns.x]\np = 0.6\nsigma = 400\nstep = 0.5\n"
        '[report]\npublic = "public.html"\ninternal = "internal.html"\n'
    )

    cm.run_recipe(recipe)

    assert len(cm.read_release(tmp_path / "b.parquet", "x").origin.shift) == 2
    assert (pd.read_parquet(tmp_path / "b.parquet")["x"] % 0.5 == 0.0).all()
    assert "moved their mean by" in (tmp_path / "public.html").read_text()


def panel(folder):
    """Twelve months of each firm, which tell what one record does not."""
    rng = np.random.default_rng(4)
    level = np.repeat(rng.lognormal(9.0, 1.2, 200), 12)
    sales = (level * np.exp(rng.normal(0.0, 0.1, 2400))).round(0)
    pd.DataFrame({"sales": sales, "firm": np.repeat(np.arange(200), 12)}).to_csv(
        folder / "people.csv", index=False
    )
    return (
        'source = "people.csv"\ntarget = "released.csv"\nthorough = true\n'
        "[columns.sales]\np = 0.6\nsigma = 900.0\ndecimals = 0\n"
    )


def test_a_thorough_recipe_refuses_what_a_trained_attacker_sees(folder):
    u, v, noise = np.random.default_rng(17).normal(size=(3, 2_000))  # tell together, neither by itself
    frame = pd.DataFrame({"x": 1000.0 * np.sign(u * v) + 300.0 * noise, "u": u, "v": v})
    frame.to_csv(folder / "people.csv", index=False)
    recipe = 'source = "people.csv"\ntarget = "released.csv"\n[columns.x]\np = 0.6\nsigma = 200.0\n'
    (folder / "recipe.toml").write_text("thorough = true\n" + recipe)

    with pytest.raises(cm.ReleaseError, match=r"trained on releases of half of the file.*columns in clear"):
        cm.run_recipe(folder / "recipe.toml")
    assert written(folder) == []
    (folder / "recipe.toml").write_text(recipe)
    cm.run_recipe(folder / "recipe.toml")


def test_a_thorough_recipe_checks_the_trained_attacker(folder):
    recipe = panel(folder) + "[checks.sales]\n2000 = 0.62\n"
    (folder / "recipe.toml").write_text(recipe)

    with pytest.raises(ValueError, match=r"checks\.sales allows the best attacker to guess 0"):
        cm.run_recipe(folder / "recipe.toml")
    best = cm.risk(
        pd.read_csv(folder / "people.csv").sales, cm.ConditionalMasking(0.6, 900.0, decimals=0), d=2000
    )
    assert best.attackers["best attacker"][0] < 0.62
