"""Releases of Dask frames: what is written is what was masked, and no record twice without a word.

Oracle: the same release on one machine.
"""

import pickle
import warnings

import dask
import numpy as np
import pandas as pd
import partitioned
import pytest
from partitioned import SCHEMES, people, released

import condmask as cm
import condmask.dask
from condmask.disclosure.release_check import ReleaseError, ReleaseWarning
from condmask.releases.ledger import Ledger


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_what_is_written_is_read_on_one_machine_as_the_same_release(tmp_path):
    frame = people()
    alone, release = released(frame, strata="kind")
    release.write(tmp_path / "released")
    found = cm.read_release(tmp_path / "released")

    assert (found.records, found.schemes, found.origins) == (4_000, alone.schemes, alone.origins)
    for name in SCHEMES:
        assert found[name].mean() == alone[name].mean()
        assert found[name].correlation("age") == pytest.approx(alone[name].correlation("age"), rel=1e-12)


CHANGES = {
    "a new column": (lambda ddf: ddf.assign(tax=1), "have gained 'tax' since"),
    "a column in place": (lambda ddf: ddf.__setitem__("tax", 1), "have gained 'tax' since"),
    "other values": (lambda ddf: ddf.assign(age=ddf.age + 1), "have changed 'age' since"),
    "values in place": (lambda ddf: ddf.__setitem__("age", 3), "have changed 'age' since"),
    "no masked column": (lambda ddf: ddf.drop(columns="income"), "have lost 'income' since"),
    "some rows": (lambda ddf: ddf[ddf.age > 30][["income", "bonus"]], "have changed 'income', 'bonus' since"),
    "another table": (lambda ddf: partitioned.cut(people(seed=2)), "have changed .*income"),
    "no Dask frame": (lambda ddf: ddf.compute(), "must be the Dask frame that was masked, got DataFrame"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_data_that_changed_since_they_were_masked_are_not_written(tmp_path, name):
    _, release = released(people())
    change, match = CHANGES[name]
    changed = change(release.data)
    release.data = release.data if changed is None else changed

    with pytest.raises((ValueError, TypeError), match=match):
        release.write(tmp_path / "released")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("choose", [
    lambda ddf: ddf.drop(columns=["age", "day"]), lambda ddf: ddf[["kind", "bonus", "income"]],
])  # fmt: skip
def test_columns_may_be_dropped(tmp_path, choose):
    _, release = released(people())
    release.data = choose(release.data)
    release.write(tmp_path / "released")
    assert cm.read_release(tmp_path / "released")["income"].mean() > 0
    assert list(pd.read_parquet(tmp_path / "released").columns) == list(release.data.columns)


def test_few_records_with_noise_are_not_written(tmp_path):
    few = people(99)
    with pytest.warns(ReleaseWarning, match="too few"):
        made = cm.mask_table(few[["income"]], {"income": SCHEMES["income"]})
    starts, _ = partitioned.parts_of(few, [50])
    release = partitioned.DaskRelease(made._published, data=partitioned.cut(made.data, [50]), starts=starts)
    with pytest.raises(ReleaseError, match="at least 100"):
        release.write(tmp_path / "released")
    partitioned.DaskRelease(
        made._published, data=partitioned.cut(made.data, [50]), starts=starts, audited=False
    ).write(tmp_path / "released")


@pytest.mark.parametrize("first", [0, 1])
def test_records_released_on_one_machine_and_by_dask_are_known_again(tmp_path, first):
    frame = people()
    names = ["one.parquet", "many"]
    kinds = [released(frame, cuts=[k * 900])[k] for k in (0, 1)]
    kinds[first].write(tmp_path / names[first])

    other = 1 - first
    match = rf"{names[other]} shares 100% of its records with .*{names[first]}, released on"
    with pytest.raises(ReleaseError, match=match):
        kinds[other].write(tmp_path / names[other])
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".md"] == [names[first]]
    with pytest.warns(ReleaseWarning, match=match):
        kinds[other].write(tmp_path / names[other], again=True)


def test_a_part_of_the_records_is_known_again_and_other_records_are_let_through(tmp_path):
    frame = people()
    released(frame)[1].write(tmp_path / "first")
    released(people(seed=3))[1].write(tmp_path / "others")
    half = pd.concat([frame[:2_000], people(2_000, seed=4)], ignore_index=True)
    with pytest.raises(ReleaseError, match=r"shares [45]\d% of its records with .*first, released on"):
        released(half, cuts=[1_000, 3_000])[1].write(tmp_path / "half")


def test_one_release_may_be_written_again_and_one_without_an_entry_too(tmp_path):
    _, release = released(people())
    release.write(tmp_path / "a")
    release.write(tmp_path / "b")
    _, again = released(people())
    again.write(tmp_path / "c", ledger=False)
    _, seeded = released(people(), rng=3)
    seeded.write(tmp_path / "d")


def test_records_that_were_released_meanwhile_are_refused_at_last(tmp_path, monkeypatch):
    frame = people()
    _, slow = released(frame)
    _, fast = released(frame)
    module = "condmask.dask.release.publish_frame"
    publish = partitioned.DaskRelease.write.__globals__["publish_frame"]

    def overtaken(*arguments):
        monkeypatch.setattr(module, publish)
        fast.write(tmp_path / "fast")
        publish(*arguments)

    monkeypatch.setattr(module, overtaken)
    with pytest.raises(ReleaseError, match=r"slow shares 100% of its records with .*fast"):
        slow.write(tmp_path / "slow")
    assert [path.name for path in tmp_path.iterdir()] == ["fast"]


def test_the_originals_stay_where_they_are():
    _, release = released(people())
    copy = pickle.loads(pickle.dumps(release))
    assert copy._original is None
    assert release._original is not None
    assert np.array_equal(copy.data["age"].compute(), release.data["age"].compute())


@pytest.mark.parametrize("of_dask", [False, True])
def test_a_release_that_was_written_without_the_ledger_is_entered_with_it(tmp_path, of_dask):
    names = ["a.parquet", "b.parquet", "c.parquet"] if not of_dask else ["a", "b", "c"]
    release, other = released(people())[of_dask], released(people())[of_dask]
    release.write(tmp_path / names[0], ledger=False)
    release.write(tmp_path / names[1])
    with pytest.raises(ReleaseError, match=f"shares 100% of its records with .*{names[1]}, released on"):
        other.write(tmp_path / names[2])


def test_what_mask_table_makes_is_written_and_known_again(tmp_path):
    frame = people()
    options = {"nan_policy": "omit", "accept_visible_coins": True}
    release = condmask.dask.mask_table(partitioned.cut(frame), SCHEMES, **options)
    release.write(tmp_path / "many")

    found = cm.read_release(tmp_path / "many")
    assert found["income"].mean() == pytest.approx(frame["income"].mean(), rel=0.05)
    assert found.origins == release.origins
    with pytest.raises(ReleaseError, match=r"shares 100% of its records with .*many, released on"):
        cm.mask_table(frame, SCHEMES, **options).write(tmp_path / "one.parquet")


def test_the_entry_is_the_one_of_one_machine(tmp_path):
    book = tmp_path / "ledger"
    for target, release in zip(["a.parquet", "b"], released(people()), strict=True):
        release.data = release.data[["income", "bonus", "region"]]
        with warnings.catch_warnings(action="ignore", category=ReleaseWarning):
            release.write(tmp_path / target, ledger=book, again=True)

    one, other = Ledger(book).content().entries.values()
    assert len(one.sketch.samples) == len(other.sketch.samples)
    for a, b in zip(one.sketch.samples, other.sketch.samples, strict=True):
        assert a.whole == b.whole
        assert np.array_equal(a.tokens, b.tokens)


def test_records_that_are_known_are_refused_before_anything_is_written(tmp_path, monkeypatch):
    released(people())[1].write(tmp_path / "first")
    monkeypatch.setattr("condmask.dask.release.publish_frame", None)
    with pytest.raises(ReleaseError, match=r"shares 100% of its records with"):
        released(people())[1].write(tmp_path / "second")


@pytest.mark.parametrize("path", [None, 3, b"released", "a\0b", ["released"]])
def test_what_is_no_path_is_refused_by_name(tmp_path, path):
    for take in (
        released(people())[1].write,
        cm.dask.read_release,
        cm.read_release,
        released(people())[0].write,
    ):
        with pytest.raises(TypeError, match=r"^path must be a path, got "):
            take(path)


@pytest.mark.parametrize("which", [0, 1])
def test_overwrite_is_true_or_false(tmp_path, which):
    release = released(people())[which]
    with pytest.raises(TypeError, match=r"^overwrite must be True or False, got 'no'$"):
        release.write(tmp_path / ("released" if which else "released.parquet"), overwrite="no", ledger=False)
    assert not list(tmp_path.iterdir())
