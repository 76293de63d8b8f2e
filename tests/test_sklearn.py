"""The transformer masks a table once, keeps nothing of it, and has the habits of scikit-learn.

Oracle: scikit-learn's own checks; `mask_table` on the same columns.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import condmask as cm
from condmask.sklearn import ConditionalMasker

SCHEME = cm.ConditionalMasking(0.6, 500.0)
FORGOTTEN = "a pickle that knew the table again would hold a digest of it, which could be searched"
ONE_TABLE = "it transforms records that were not fitted, and these have no donors: they are refused"
CONTAINERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def columns(n=2_000):
    rng = np.random.default_rng(1)
    first, second = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], n).T
    return {
        "age": rng.integers(20, 66, n),
        "income": 3_000.0 + 800.0 * first,
        "bonus": 2_000.0 + 800.0 * second,
        "sex": np.where(rng.random(n) < 0.5, "female", "male"),
    }


@pytest.fixture(scope="module")
def people():
    return pd.DataFrame(columns())


def both():
    return {"income": SCHEME, "bonus": SCHEME}


def held(thing, seen=None):
    """All arrays and bytes that an object holds, however deep."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, pd.DataFrame):
        yield from (thing[name].to_numpy() for name in thing)
    elif isinstance(thing, np.ndarray | bytes):
        yield thing
    elif isinstance(thing, dict):
        for part in [*thing, *thing.values()]:
            yield from held(part, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for part in thing:
            yield from held(part, seen)
    elif hasattr(thing, "__dict__"):
        yield from held(vars(thing), seen)


def shares(thing, x):
    """The largest share of its places in which an array that an object holds has the originals."""
    alike = [each for each in held(thing) if isinstance(each, np.ndarray) and each.dtype == x.dtype]
    return max((np.mean(array == x) for array in alike if array.shape == x.shape), default=0.0)


@pytest.mark.parametrize(
    "scheme", [cm.ConditionalMasking(0.6, 0.3, reverse_mapping=True), cm.AdditiveNoise(0.3)]
)
def test_scikit_learn_finds_it_in_order(scheme):
    masker = ConditionalMasker(scheme, accept_visible_coins=True)  # its tables have ten records

    found = check_estimator(
        masker,
        expected_failed_checks={"check_estimators_pickle": FORGOTTEN, "check_fit_idempotent": ONE_TABLE},
        on_skip=None,
    )

    by_status = {each["check_name"]: each["status"] for each in found}
    assert list(by_status.values()).count("passed") >= 25
    assert {name for name, status in by_status.items() if status == "xfail"} == {
        "check_estimators_pickle",
        "check_fit_idempotent",
    }


def test_columns_are_masked_together_and_others_stay(people):
    masker = ConditionalMasker(both())

    masked = masker.fit_transform(people)

    release = masker.release_
    assert masked[["age", "sex"]].equals(people[["age", "sex"]])
    assert list(release) == ["income", "bonus"]
    assert release.group["income"] == release.group["bonus"] is not None
    original = people[["income", "bonus"]].corr().iloc[0, 1]
    assert abs(release["income"].correlation("bonus") - original) < 0.1
    assert release.data.equals(masked)


def test_what_was_fitted_is_masked_once(people):
    masker = ConditionalMasker(both())

    first = masker.fit_transform(people)

    pd.testing.assert_frame_equal(masker.transform(people.copy()), first)
    pd.testing.assert_frame_equal(masker.fit(people).transform(people), first)
    pd.testing.assert_frame_equal(masker.set_params(workers=2).fit_transform(people), first)
    other = masker.set_params(schemes={"income": SCHEME}).fit_transform(people)
    assert not other["income"].equals(first["income"])


def test_what_is_given_out_is_a_copy(people):
    masker = ConditionalMasker(both())
    masked = masker.fit_transform(people)
    kept = masked.copy()

    masked.loc[:, "income"] = 0.0

    pd.testing.assert_frame_equal(masker.transform(people), kept)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "other",
    [
        lambda frame: frame.iloc[:-1],
        lambda frame: frame.iloc[::-1],
        lambda frame: frame.assign(income=frame["income"].where(frame.index > 0, 1.0)),
        lambda frame: frame.assign(sex=frame["sex"].where(frame.index != 1_999, "other")),
        lambda frame: frame.rename(columns={"age": "years"}),
        lambda frame: frame[["income", "bonus", "sex", "age"]],
        lambda frame: frame[["income", "bonus"]],
        lambda frame: frame[["income", "bonus"]].to_numpy(),
    ],
)
def test_what_was_not_fitted_is_refused(people, other):
    masker = ConditionalMasker(both()).fit(people)

    with pytest.raises(ValueError, match=r"X must be the table that was fitted|features"):
        masker.transform(other(people))


def test_nothing_is_transformed_before_it_is_fitted(people):
    with pytest.raises(NotFittedError):
        ConditionalMasker(SCHEME).transform(people)


def test_no_original_is_kept(people):
    masker = ConditionalMasker(both()).fit(people)
    noted = cm.mask_table(people, both())  # which keeps them for the ledger

    assert shares(masker, people["income"].to_numpy()) < 0.01
    assert shares(masker, people["bonus"].to_numpy()) < 0.01
    assert shares(noted, people["income"].to_numpy()) == 1.0
    words = [array for array in held(noted) if isinstance(array, np.ndarray) and array.dtype == np.uint64]
    assert words
    assert not [a for a in held(masker) if isinstance(a, np.ndarray) and a.dtype == np.uint64]


def test_a_pickle_holds_no_key_and_no_digest(people):
    masker = ConditionalMasker(both()).fit(people)
    key, digest, _ = masker._masked

    for again in (pickle.loads(pickle.dumps(masker)), copy.deepcopy(masker), copy.copy(masker)):
        pd.testing.assert_frame_equal(again.release_.data, masker.release_.data)
        assert again.release_["income"].mean() == masker.release_["income"].mean()
        with pytest.raises(cm.CondmaskError, match="a pickle has forgotten the table"):
            again.transform(people)
    pickled = pickle.dumps(masker)
    assert key not in pickled
    assert digest not in pickled
    assert repr(key) == "<secret>"


def test_two_digests_of_a_table_have_nothing_in_common(people):
    masker = ConditionalMasker(both())

    digests = {clone(masker).fit(people)._masked.digest for _ in range(3)}

    assert len(digests) == 3


def test_a_refused_release_is_refused(people):
    rounded = people.assign(income=people["income"].round(-2))

    with pytest.raises(cm.ReleaseError, match="income"):
        ConditionalMasker({"income": SCHEME}).fit(rounded)
    with pytest.raises(ValueError, match="frame must have the column 'wage'"):
        ConditionalMasker({"wage": SCHEME}).fit(people)
    with pytest.raises(ValueError, match="income is masked already"):
        make_pipeline(*(ConditionalMasker({"income": SCHEME}) for _ in range(2))).fit(people)
    with pytest.raises(ValueError, match="different names that are text"):
        ConditionalMasker(SCHEME).fit(pd.DataFrame(np.ones((200, 2))))


def test_the_ledger_says_that_it_cannot_look(people, tmp_path):
    release = ConditionalMasker(both()).fit(people).release_

    with pytest.raises(ValueError, match="ledger must be False for the release of a transformer"):
        release.write(tmp_path / "masked.parquet")
    release.write(tmp_path / "masked.parquet", ledger=False)

    assert cm.read_release(tmp_path / "masked.parquet", "income").mean() == release["income"].mean()


def test_one_scheme_is_for_all_columns_but_the_strata(people):
    masker = ConditionalMasker(SCHEME, strata="sex").fit(people[["income", "bonus", "sex"]])

    assert list(masker.release_) == ["income", "bonus"]
    assert masker.release_.schemes["income"].strata == "sex"
    inside = ConditionalMasker(cm.ConditionalMasking(0.6, 500.0, strata="sex"))
    assert list(inside.fit(people[["income", "sex"]]).release_) == ["income"]


def test_gaps_are_refused_or_kept():
    x = np.array([columns()["income"], columns()["bonus"]]).T
    x[::20, 0] = np.nan

    with pytest.raises(ValueError, match="Input X contains NaN"):
        ConditionalMasker(SCHEME).fit(x)
    masker = ConditionalMasker(SCHEME, nan_policy="omit")
    masked = masker.fit_transform(x)

    assert get_tags(masker).input_tags.allow_nan
    assert (np.isnan(masked) == np.isnan(x)).all()


@pytest.mark.parametrize("given", CONTAINERS)
@pytest.mark.parametrize("asked", ["default", "pandas", "polars"])
def test_output_is_of_the_container_that_is_asked_for(given, asked):
    frame = CONTAINERS[given](columns())
    masker = ConditionalMasker(both()).set_output(transform=asked)

    masked = masker.fit_transform(frame)

    expected = CONTAINERS[given if asked == "default" else asked](columns())
    assert type(masked) is type(expected)
    assert np.array_equal(masked["age"], expected["age"])
    assert np.array_equal(masked["income"], masker.release_.data["income"])
    assert masker.get_feature_names_out().tolist() == list(columns())
    assert np.asarray(masked["age"]).dtype == np.asarray(expected["age"]).dtype


def test_the_index_is_that_of_the_table(people):
    moved = people.set_index(pd.RangeIndex(7, 7 + len(people)))

    masker = ConditionalMasker(both()).fit(people)

    assert masker.transform(moved).index.equals(moved.index)
    assert masker.transform(people).index.equals(people.index)


def test_a_pipeline_is_fitted_on_masked_values(people):
    masker = ConditionalMasker({"income": SCHEME})
    pipeline = make_pipeline(masker, ColumnTransformer([("income", "passthrough", ["income"])]))
    pipeline.steps.append(("model", LinearRegression()))

    pipeline.fit(people, people["bonus"])

    masked = masker.release_.data[["income"]].to_numpy()
    slope = LinearRegression().fit(masked, people["bonus"]).coef_
    assert np.allclose(pipeline[-1].coef_, slope)
    assert np.allclose(
        pipeline.predict(people), pipeline[-1].predict(masker.release_.data[["income"]].to_numpy())
    )
    with pytest.raises(ValueError, match="X must be the table that was fitted"):
        pipeline.predict(people.iloc[:100])


def test_it_is_a_part_of_a_column_transformer(people):
    parts = ColumnTransformer(
        [("masked", ConditionalMasker(SCHEME), ["income", "bonus"])],
        remainder="passthrough", verbose_feature_names_out=False,
    ).set_output(transform="pandas")  # fmt: skip

    masked = parts.fit_transform(people)

    assert list(masked) == ["income", "bonus", "age", "sex"]
    pd.testing.assert_frame_equal(
        masked[["income", "bonus"]], parts.named_transformers_["masked"].release_.data, check_flags=False
    )


def test_parameters_are_read_set_and_cloned():
    masker = ConditionalMasker(both(), strata="sex", round=True)

    again = clone(masker.set_params(nan_policy="omit"))

    assert again.get_params() == {
        "schemes": both(), "strata": "sex", "nan_policy": "omit", "round": True, "workers": 1,
        "accept_visible_coins": False,
    }  # fmt: skip
    assert "sigma=500" in repr(again)
