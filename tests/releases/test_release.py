"""A release: estimates by column from a table or a file, written and read back; a part of it is no release.

Oracles: the same estimates from arrays and their schemes, and the originals.
"""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import condmask as cm
from condmask.arrow_tables import arrow_table

pytestmark = pytest.mark.usefixtures("unaudited")
RNG = np.random.default_rng(1)
MALE = RNG.random(4000) < 0.4
INCOME = np.round(RNG.lognormal(7.3, 0.4, 4000) * np.where(MALE, 1.6, 1.0))
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)
FRAME = pd.DataFrame({"income": INCOME, "bonus": INCOME / 2 // 1, "male": MALE, "age": INCOME % 60 + 18})
FRAME.loc[:99, "bonus"] = np.nan
SCHEMES = {"income": SCHEME, "bonus": SCHEME}


def masked(frame=FRAME, **options):
    return cm.mask_table(frame, SCHEMES, rng=1, nan_policy="omit", **options)


@pytest.fixture(scope="module")
def released():
    return masked(accept_visible_coins=True)


# --- estimates ---


def test_a_release_is_a_mapping_of_estimates(released):
    assert list(released) == ["income", "bonus"]
    assert released.records == 4000
    assert released.schemes == SCHEMES
    assert released["income"] is released["income"]
    with pytest.raises(KeyError):
        released["age"]


def test_strata_and_patterns_are_found(released):
    within = masked(strata="male")
    patterns = {name: within.data[name] for name in SCHEMES}
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=0, strata="male")
    w = RNG.normal(size=4000)

    by_hand = scheme.estimate(within.data["income"], strata=MALE, patterns=patterns)
    assert within["income"].covariance(w) == by_hand.covariance(w)
    assert within["income"].covariance(w) != released["income"].covariance(w)


@pytest.mark.filterwarnings("ignore:group_means. 53 of 120 groups")
def test_other_columns_are_named(released):
    income = released["income"]

    assert income.correlation("age") == income.correlation(FRAME["age"])
    assert income.correlation("bonus") == income.correlation(released["bonus"])
    assert list(income.group_means("male")) == list(income.group_means(["male"])) == [False, True]
    by_both = income.group_means(["male", "age"])
    assert by_both.about.endswith("by male and age")
    assert list(by_both) == sorted(set(zip(MALE.tolist(), FRAME["age"].tolist(), strict=True)))
    assert by_both.estimate.tolist() == income.group_means(FRAME[["male", "age"]]).estimate.tolist()
    with pytest.raises(ValueError, match="frame must have the column 'wage'"):
        income.correlation("wage")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_what_is_written_is_read_back(tmp_path, make):
    release = masked(make({name: FRAME[name].to_numpy() for name in FRAME}), strata="male")
    for suffix in ("parquet", "csv"):
        release.write(path := tmp_path / f"a.{suffix}")
        found = cm.read_release(path)

        assert (found.records, found.schemes, found.origins) == (4000, release.schemes, release.origins)
        for name in SCHEMES:
            assert found[name].mean() == release[name].mean()
            assert found[name].correlation("age") == release[name].correlation("age")
    assert found["income"].correlation("bonus") == release["income"].correlation("bonus")


MADE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}


@pytest.mark.parametrize("kind", MADE)
def test_data_that_changed_since_they_were_masked_are_not_written(tmp_path, kind):
    columns = {"income": INCOME, "age": INCOME % 60 + 18, "name": np.array(["a", "b"] * 2000, dtype=object)}
    release = cm.mask_table(MADE[kind](columns), {"income": SCHEME}, rng=1)
    whole = arrow_table(release.data).to_pydict()

    def write(**changed):
        values = {name: column for name, column in {**whole, **changed}.items() if column is not None}
        types = {"name": object}
        release.data = MADE[kind]({name: np.asarray(x, types.get(name)) for name, x in values.items()})
        release.write(tmp_path / "a.csv", overwrite=True)

    write()
    write(age=None)  # a column less shows less
    for name in ("income", "age", "name"):
        other = list(whole[name])
        other[1234] = "c" if name == "name" else other[1234] + 1
        with pytest.raises(
            ValueError, match=f"as they were when masked and audited, but have changed '{name}'"
        ):
            write(**{name: other})
        with pytest.raises(ValueError, match=f"have changed '{name}'"):
            write(**{name: whole[name][::-1]})
    with pytest.raises(ValueError, match="have gained 'wage' since: change the original, mask it again"):
        write(wage=INCOME)
    with pytest.raises(ValueError, match="have lost 'income'"):
        write(income=None)
    with pytest.raises(ValueError, match="have changed 'income', 'age', 'name'"):
        write(**{name: column[:3000] for name, column in whole.items()})


def test_an_index_that_was_added_is_not_written(tmp_path):
    release = cm.mask_table(FRAME[["income"]], {"income": SCHEME}, rng=1)
    release.data.index = INCOME

    with pytest.raises(ValueError, match="have changed 'the index' since"):
        release.write(tmp_path / "a.parquet")


def test_a_file_that_stands_is_not_replaced_without_a_word(tmp_path, released):
    released.write(tmp_path / "a.csv")

    with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
        released.write(tmp_path / "a.csv")
    released.write(tmp_path / "a.csv", overwrite=True)
    with pytest.raises(ValueError, match=r"^write must be called on the release of a table"):
        cm.read_release(tmp_path / "a.csv").write(tmp_path / "b.csv")


def test_a_masked_file_is_the_release_that_is_read_from_it(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    made = cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": SCHEME})
    found = cm.read_release(tmp_path / "b.parquet")

    assert made.data is None
    assert (made.records, made.schemes, made.origins) == (found.records, found.schemes, found.origins)
    assert made["income"].mean() == found["income"].mean() == cm.read_release(found.path, "income").mean()


def test_a_dry_run_has_no_estimates(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    made = cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": SCHEME}, dry_run=True)

    assert made.schemes == {"income": SCHEME}
    with pytest.raises(ValueError, match=r"^'income' has no estimate: nothing was written \(dry_run=True\)$"):
        made["income"]


def test_columns_masked_later_are_of_another_group(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", SCHEMES, nan_policy="omit")
    made = cm.mask_file(tmp_path / "b.parquet", tmp_path / "c.parquet", {"age": SCHEME})

    assert list(made) == ["income", "bonus", "age"]
    assert made.group["income"] == made.group["bonus"] is not None
    assert made.group["age"] is None
    assert made.patterns == {"income": ("income", "bonus"), "bonus": ("income", "bonus"), "age": ()}


# --- a part of a release ---


def select(path, rows):
    """A release of which somebody kept some records, and what was published with it."""
    masked().write(path)
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).slice(0, rows), path)


def test_an_estimate_from_a_part_warns(tmp_path):
    select(tmp_path / "a.parquet", 1000)

    message = "income has 1000 records, and the release 4000: "
    with pytest.warns(cm.EstimateWarning, match=message) as caught:
        cm.read_release(tmp_path / "a.parquet", "income")
    assert "group_means, weighted_mean and regress give means of subgroups" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(cm.EstimateWarning, match=message) as caught:
        cm.read_counts(tmp_path / "a.parquet", "income")
    assert caught[0].filename == __file__


def test_estimates_from_a_part_are_wrong_and_means_of_parts_are_right(released):
    # what selecting records gives is off by 7 standard errors; group_means is within 5
    part = SCHEME.estimate(released.data["income"][MALE])
    found = released["income"].group_means(MALE)[True]
    true = INCOME[MALE].mean()

    assert abs(found.estimate - true) < 5 * found.standard_error
    assert abs(part.mean() - true) > 5 * found.standard_error


def test_whole_releases_do_not_warn(tmp_path, released):
    released.write(tmp_path / "a.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in SCHEMES:
            assert cm.read_release(tmp_path / "a.parquet", name).n == 4000 - 100 * (name == "bonus")
            cm.read_counts(tmp_path / "a.parquet", name)


def test_whole_strata_are_releases_of_their_own(tmp_path):
    masked(strata="male").write(path := tmp_path / "a.parquet")
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).slice(0, 1000), path)

    message = re.escape("(except whole strata of 'male')")
    with pytest.warns(cm.EstimateWarning, match=message):
        cm.read_release(path, "income")
