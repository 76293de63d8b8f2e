"""Group means and a regression in an internal report, and what was settled and accepted.

Oracle: pandas and NumPy on the original and on the released file.
"""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.reports.relations import relations

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
N = 400


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    age = rng.integers(18, 80, N).astype(float)
    return pd.DataFrame(
        {
            "person": rng.permutation(N) * 3.0,
            "region": rng.choice(["north", "south"], N),
            "age": age,
            "wage": (1_000.0 + 30.0 * age + rng.normal(0.0, 300.0, N)).round(),
            "total": np.nan,
        }
    ).assign(total=lambda table: 2.0 * table["wage"])


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    people.to_parquet(folder / "a.parquet")
    scheme = {"wage": cm.ReverseMapping(0.6, 200.0)}
    where = (folder / "a.parquet", folder / "b.parquet", scheme)
    return cm.mask_file(*where, fix=True, accept=("C9", "C16"), log=False)


def test_relations_are_those_of_the_original_of_the_release_and_the_estimates(people, release):
    shown = pd.read_parquet(release.path)
    numbers = {name: (people[name].to_numpy(), shown[name].to_numpy()) for name in ("age",)}
    numbers["person"] = (people["person"].to_numpy(),) * 2
    both = (people["wage"].to_numpy(), shown["wage"].to_numpy(float))

    means, regression = relations(release, "wage", people, both, numbers)

    assert means.title == "Means of wage by region"
    for row in means.rows:
        of = people["region"] == row.label
        assert row.original == pytest.approx(people["wage"][of].mean())
        assert row.released == pytest.approx(shown["wage"][of].mean())
        assert row.found.estimate == release["wage"].group_means("region")[row.label].estimate
    assert regression.title == "Regression of wage on age"  # and not on a number of persons
    slope = {row.label: row for row in regression.rows}["age"]
    assert slope.original == pytest.approx(np.polyfit(people["age"], people["wage"], 1)[0])
    assert slope.released == pytest.approx(np.polyfit(shown["age"], shown["wage"], 1)[0])
    assert slope.found.estimate == release["wage"].regress("age")["age"].estimate


def test_a_report_names_what_was_settled_and_accepted_and_judges_what_is_released(
    people, release, tmp_path
):
    assert release.steps == ("'person' not released", "'total' not released")
    cm.report(release, tmp_path / "in.html", original=people)
    page = (tmp_path / "in.html").read_text()

    assert "This release may be published" in page
    assert "The publisher accepted: C9, C16." in page
    assert "&#39;total&#39; not released" in page
    assert "Regression of wage on age" in page
    assert page.count("Released values against originals") == 2  # picture and caption
    cm.report(release, tmp_path / "out.html")
    public = (tmp_path / "out.html").read_text()
    for text in ("Regression of", "against originals", "accepted"):
        assert text not in public


def test_records_left_out_for_rare_gaps_are_left_out_of_the_original_too(people, tmp_path):
    table = people.drop(columns=["person", "total"]).assign(
        bonus=people["wage"].sample(frac=1.0, random_state=1).to_numpy()
    )
    table.loc[::40, "bonus"] = np.nan
    release = cm.mask_table(table, ["wage", "bonus"], fix=True)
    assert release.records == N - 10

    cm.report(release, tmp_path / "in.html", original=table)

    assert "records with rare gaps left out" in (tmp_path / "in.html").read_text()
