"""What analysts look for under other names is there, and gives the same numbers."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import condmask as cm

RNG = np.random.default_rng(4)
N = 3_000
AGE = RNG.normal(40.0, 10.0, N)
SEX = RNG.integers(0, 2, N)
INCOME = 100.0 + AGE + 10.0 * SEX + RNG.normal(0.0, 15.0, N)
BONUS = INCOME / 2.0 + RNG.normal(0.0, 10.0, N)
FRAME = pd.DataFrame({"income": INCOME, "bonus": BONUS, "age": AGE, "sex": SEX})
SCHEME = cm.ConditionalMasking(0.4, 20.0, step=0)
RELEASE = cm.mask_table(FRAME, {"income": SCHEME, "bonus": SCHEME}, rng=1, accept="all")


def test_a_release_has_its_columns_and_completes_the_masked_ones():
    assert RELEASE.columns == ["income", "bonus", "age", "sex"]
    assert RELEASE._ipython_key_completions_() == ["income", "bonus"]
    assert {"summary", "describe", "correlations", "columns"} <= {*dir(RELEASE)}


def test_a_dry_run_knows_the_masked_columns(tmp_path):
    FRAME.to_parquet(tmp_path / "in.parquet")
    release = cm.mask_file(
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        {"income": SCHEME},
        accept="all",
        dry_run=True,
        log=False,
    )

    assert release.columns == ["income"]


def test_the_summary_of_a_release_is_that_of_its_columns():
    found = RELEASE.summary([0.5], target="file")

    for column in ("income", "bonus"):
        expected = RELEASE[column].summary([0.5], target="file")
        for statistic in ("mean", "s.d.", "quantile 0.5"):
            assert found[column, statistic][:4] == expected[statistic][:4]
    assert RELEASE.describe()["income", "mean"] == RELEASE.summary()["income", "mean"]
    assert list(RELEASE["income"].describe()) == ["mean", "s.d."] + [
        f"quantile {q}" for q in (0.25, 0.5, 0.75)
    ]


def test_correlations_are_those_of_pairs():
    found = RELEASE.correlations(["age", "sex"])

    assert list(found) == [
        ("income", "bonus"),
        *[(one, two) for one in ("income", "bonus") for two in ("age", "sex")],
    ]
    expected = RELEASE["income"].correlation_interval("age")
    assert found["income", "age"][:4] == expected[:4]
    expected = RELEASE["income"].correlation_interval(RELEASE["bonus"])
    assert found["income", "bonus"][:4] == expected[:4]
    assert found.to_frame()["other"].tolist()[:2] == ["bonus", "age"]


def test_correlations_without_a_pair_or_a_column_are_refused():
    alone = cm.mask_table(FRAME, {"income": SCHEME}, rng=1, accept="all")

    with pytest.raises(ValueError, match="others must name columns in clear where one column"):
        alone.correlations()
    with pytest.raises(ValueError, match="others must be columns of the release, 'income', 'b"):
        RELEASE.correlations("height")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (lambda g: g.mean(), lambda e: e.group_means("sex", target="file")),
        (lambda g: g.median(), lambda e: e.group_quantiles("sex", 0.5, target="file")),
        (lambda g: g.quantile(0.3), lambda e: e.group_quantiles("sex", 0.3, target="file")),
        (lambda g: g.cdf(150.0), lambda e: e.group_cdf("sex", 150.0, target="file")),
    ],
)
def test_statistics_of_groups_by_short_names(short, long):
    found = short(RELEASE["income"].group_by("sex", target="file"))

    expected = long(RELEASE["income"])
    assert [found[k][:4] for k in (0, 1)] == [expected[k][:4] for k in (0, 1)]


def test_help_of_the_package_begins_with_one_screen():
    text = cm.__doc__.splitlines()

    assert len(text) <= 30
    assert max(map(len, text)) <= 99
    code = "import condmask; print(len(condmask.__dir__()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) > 30
