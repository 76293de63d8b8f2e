"""Why an end of an interval, its error or the estimate is infinite or NaN, in words.

Oracle: each case is made so that one known reason holds; all other figures have an empty note."""

import json

import numpy as np
import pytest

import condmask as cm
from condmask import cli

N = 400
X = np.random.default_rng(1).normal(100.0, 15.0, N)
SCHEME = cm.ConditionalMasking(0.5, 5.0)
ESTIMATE = SCHEME.estimate(SCHEME.mask(X, rng=2))
WIDE = cm.ConditionalMasking(0.5, 5000.0)
LABELS = np.array(["most"] * (N - 3) + ["one", "two", "two"])
SMALL_GROUPS = "ignore:group_means. .* groups have fewer than:condmask.EstimateWarning"
FIGURES = ("low", "high", "standard_error", "estimate")


def weight_of_one(weight, rest=0.0):
    """Weights of which only one counts."""
    weights = np.full(N, rest)
    weights[7] = weight
    return weights


@pytest.mark.filterwarnings(SMALL_GROUPS)
@pytest.mark.parametrize(
    ("ask", "note"),
    [
        (lambda e: e.total(clusters=["a"] * N), "one cluster"),
        (lambda e: e.weighted_mean(np.ones(N), clusters=["a"] * N), "one cluster"),
        (lambda e: e.total(np.where(np.arange(N) == 3, 2.0, np.nan)), "one record"),
        (lambda e: e.group_means(LABELS)["one"], "one record"),
        (lambda e: e.group_means(LABELS, clusters=np.arange(N))["two"], ""),
        (lambda e: e.group_means(LABELS, clusters=LABELS)["two"], "one cluster"),
        (lambda e: e.regress({"x": X}, clusters=["a"] * N)["x"], "one cluster"),
        (lambda e: e.regress({"x": np.eye(N)[0]})["x"], "a record alone determines it"),
        (lambda e: e.regress({"x": np.eye(N)[0]})["intercept"], ""),
        (lambda e: e.regress({"x": np.eye(N)[0]}, target="file")["x"], ""),
        (lambda e: e.group_means(LABELS, target="file")["one"], ""),
        (lambda e: e.quantile_interval(0.001), "too few records to bound it"),
        (lambda e: e.summary([0.001])["quantile 0.001"], "too few records to bound it"),
        (lambda e: e.mean_interval(), ""),
        (
            lambda e: e.correlation_interval(np.ones(N)),
            "a column is constant, or its variance is estimated negative",
        ),
    ],
)
def test_a_figure_that_is_no_number_has_a_note(ask, note):
    found = ask(ESTIMATE)

    assert found.note == note
    assert type(found.note) is str
    assert np.isfinite([getattr(found, name) for name in FIGURES]).all() == (note == "")
    assert str(found).endswith(f" ({note})" if note else str(found)[-5:])


@pytest.mark.parametrize("weight", [1.0, 3.0, 49.0, 98.0, 161.0, 1e-7])
@pytest.mark.parametrize("rest", [0.0, 1e-20])
def test_one_weight_gives_no_error_however_it_is_rounded(weight, rest):
    """1/49 * 49 is less than 1: the rounding was taken for degrees of freedom."""
    found = ESTIMATE.weighted_mean(weight_of_one(weight, rest))

    assert np.isnan([found.low, found.high, found.standard_error]).all()
    assert found.estimate == pytest.approx(ESTIMATE.pseudo_values()[7])
    assert found.note == "one weight that is not 0"


@pytest.mark.filterwarnings(SMALL_GROUPS)
def test_each_group_has_its_own_note():
    z = SCHEME.mask(X, rng=2)
    z[LABELS == "one"] = np.nan
    weights = np.ones(N)
    weights[-1] = 0.0
    weights[:5] = 0.0
    labels = np.where(np.arange(N) < 5, "none", LABELS)

    found = SCHEME.estimate(z).group_means(labels, weights=weights)

    notes = {name: interval.note for name, interval in found.items()}
    assert notes == {
        "most": "",
        "none": "no weight that is not 0",
        "one": "no record with a value",
        "two": "one weight that is not 0",
    }
    assert found.notes.tolist() == list(notes.values())
    assert found.to_frame()["note"].tolist() == list(notes.values())
    assert {name: entry["note"] for name, entry in found.to_dict().items()} == notes
    _, head, most, none, one, two = repr(found).splitlines()
    assert head.endswith("note")
    assert most.split()[-1].isdigit() or "." in most.split()[-1]
    assert [line[line.index("nan  ") :].split("  ")[-1] for line in (none, one, two)] == [
        notes["none"],
        notes["one"],
        notes["two"],
    ]


def test_without_notes_tables_have_no_column_for_them():
    found = ESTIMATE.group_means(X > 100.0)

    assert not found.notes.any()
    assert "note" not in found.to_frame()
    assert "note" not in repr(found)


@pytest.mark.filterwarnings(SMALL_GROUPS)
def test_a_label_of_groups_may_be_called_note():
    found = ESTIMATE.group_means({"note": LABELS})

    assert found.to_frame()["note (label)"].tolist() == ["most", "one", "two"]
    assert found.to_frame()["note"].tolist() == ["", "one record", ""]


def test_a_negative_variance_is_noted_with_the_standard_deviation():
    masked = np.array([WIDE.mask(X[:50], rng=seed) for seed in range(6)])
    batch = WIDE.estimate(masked)

    with pytest.warns(cm.EstimateWarning):
        negative = np.isnan(batch.std())
    found = batch.std_interval()

    assert 0 < negative.sum() < 6
    assert found.note.tolist() == [
        "the variance is not estimated positive" if each else "" for each in negative
    ]
    assert batch.variance_interval().note.tolist() == [""] * 6
    assert str(found).splitlines()[1].endswith("note")


@pytest.mark.filterwarnings(SMALL_GROUPS)
def test_a_batch_has_a_note_for_each_replicate():
    masked = np.array([SCHEME.mask(X, rng=seed) for seed in (2, 3)])
    masked[1, LABELS == "one"] = np.nan
    found = SCHEME.estimate(masked[:1].repeat(2, axis=0)).group_means(LABELS)

    assert found.notes.tolist() == [["", "one record", ""]] * 2
    assert found["one"].note.tolist() == ["one record"] * 2
    assert found.to_frame()["note"].tolist() == ["", "one record", ""] * 2


def test_columns_masked_together_by_reverse_mapping_say_so():
    mapped = cm.ReverseMapping(0.5, 5.0)
    other = X + np.random.default_rng(2).normal(0.0, 1.0, N)
    release = cm.mask_table({"a": X, "b": other}, {"a": mapped, "b": mapped}, rng=3, accept="all")
    note = "both columns were masked together by reverse mapping"

    with pytest.warns(cm.EstimateWarning, match="is not known"):
        assert release["a"].covariance_interval("b").note == note
    with pytest.warns(cm.EstimateWarning, match="is not known"):
        assert release.regress("a", on="b").notes.tolist() == [note, note]


def test_the_command_line_shows_notes(tmp_path, capsys):
    path = tmp_path / "masked.parquet"
    table = {"x": X, "group": LABELS}
    cm.mask_table(table, {"x": SCHEME}, rng=3, accept="all").write(path, log=False)

    cli.main(["estimate", str(path), "--group", "group"])
    assert "one record" in capsys.readouterr().out
    cli.main(["estimate", str(path), "--group", "group", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["x"]["groups"]["one"]["note"] == "one record"
    assert told["x"]["groups"]["most"]["note"] == ""
    assert told["x"]["groups"]["one"]["low"] is None
