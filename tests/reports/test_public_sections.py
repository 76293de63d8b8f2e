"""What a public report says, and what it must not.

Oracle: the estimates of the release, and a search for leaks of the original (leaks.py).
"""

import re

import leaks
import numpy as np
import pandas as pd
from report_pages import MAPPED, SCHEME, N, cells

import condmask as cm
from condmask._digits import number


def test_estimates_are_those_of_the_release(files, public):
    found = cm.read_release(files[0] / "released.parquet", "income").summary()

    for name, shown in (
        ("mean", "mean"),
        ("quantile 0.9", "90% lie at or below"),
        ("quantile 0.5", "median"),
    ):
        each = found[name]
        parts = (each.estimate, each.standard_error, each.low, each.high)
        assert cells(public, shown) == [[number(part, each.standard_error) for part in parts]]


def test_no_figure_of_the_original_is_in_the_public_one(files, internal, public):
    frame = files[1]
    own = leaks.figures(frame.income.to_numpy(), [frame.age, frame.schooling])

    assert leaks.told(public, own) == []
    assert len(leaks.told(internal, own)) >= 10  # the search finds what is there


def test_no_hash_of_the_original_is_in_the_public_one(files, internal, public):
    folder, frame = files
    found = leaks.hashes(folder / "people.parquet", frame.income.to_numpy())

    assert [each for each in found if each in public] == []
    assert [each for each in found if each in internal] != []


def test_no_single_record_is_in_the_public_one(files, public):
    folder, frame = files
    released = set(pd.read_parquet(folder / "released.parquet")["income"])
    hidden = [f"{value:.2f}" for value in frame.income if value not in released]
    rows = cm.record_risk(
        frame.income, pd.read_parquet(folder / "released.parquet")["income"], SCHEME, d=500.0
    )

    assert len(hidden) > N / 3
    assert leaks.numbers(public) & {each.rstrip("0").rstrip(".") for each in hidden} == set()
    assert leaks.numbers(public) & set(hidden) == set()
    assert leaks.numbers(public) & {str(row + 1) for row in rows.exposed(10)} == set()
    assert "people.parquet" not in public


def test_the_public_report_of_reverse_mapping_tells_nothing_of_records(files, mapped):
    folder, frame = files
    release, internal, public = mapped
    income, deciles = frame.income.to_numpy(), cm.read_release(release, "income").summary()
    told = {
        number(part, each.standard_error)
        for each in deciles.values()
        for part in (each.estimate, each.low, each.high)
    }
    hashes = leaks.hashes(folder / "people.parquet", income)

    # the values are in the release; the public report shows deciles of these and no other
    assert leaks.numbers(public) & {f"{value:.2f}" for value in income} <= {
        each.replace(",", "") for each in told
    }
    # what goes with the other columns is the original's alone
    joint = [np.corrcoef(income, frame[other])[0, 1] for other in ("age", "schooling")]
    joint += [income[frame.region == region].mean() for region in ("east", "west")]
    assert leaks.told(public, joint) == []
    assert [each for each in hashes if each in public] == []
    assert [each for each in hashes if each in internal] != []
    rows = cm.record_risk(frame.income, pd.read_parquet(release)["income"], MAPPED, d=500.0).exposed(10)
    shown = leaks.numbers(re.sub("<style>.*?</style>|<svg.*?</svg>", "", public, flags=re.DOTALL))
    assert shown & {str(row + 1) for row in rows} == set()
    assert "people.parquet" not in public
    assert leaks.Links(public).found == leaks.Links(internal).found == []


def test_sections_stand_in_the_order_in_which_they_are_needed(public, mapped):
    for page in (public, mapped[2]):
        heads = re.findall("<h2>(.*?)</h2>", page)
        order = ["What can be computed, and what cannot", "What this release does not promise", "The files"]

        assert heads[0] == order[0]
        assert [head for head in heads if head in order] == order
        assert heads[-1] == "Parameters and equations"
        opening = page.index("Individual values here are not real")
        averages = page.index("Averages are reliable")
        assert opening < averages < page.index("<h2>") < page.index("<table") < page.index("<math")
        assert "<math" not in page[: page.index("Parameters and equations</h2>")]


def test_the_opening_says_how_reliable_the_mean_is(files, public):
    mean = cm.read_release(files[0] / "released.parquet", "income").mean_interval()
    reach = number((mean.high - mean.low) / 2, mean.standard_error)

    assert f" is {number(mean.estimate, mean.standard_error)}, to within \u00b1{reach} (95%" in public


def test_rows_that_say_nothing_are_left_out(public, mapped):
    for page in (public, mapped[2]):
        assert "small_strata" not in page
        assert "missing_as" not in page
    assert "(<bdi><code>scale" not in public
    assert "(<bdi><code>scale" in mapped[2]
