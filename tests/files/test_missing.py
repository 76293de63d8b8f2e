"""Missing codes in files: bytes of theirs stay where they stood, or become empty fields.

Oracle: masking the same column in memory, and the bytes that were written.
"""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

N = 400
RANDOM = np.random.default_rng(6)
VALUES = 5.0 * np.rint(RANDOM.lognormal(8.0, 0.4, N) / 5.0)
WORDS = {3: "-8", 40: "-8.0", 77: "-8.00", 120: " -8 ", 200: "-999", 300: "-9.99e2"}
SCHEME = cm.ConditionalMasking(0.6, 300.0, step=5, missing=(-8, -999))


def column(words=WORDS):
    texts = [f"{v:.0f}" for v in VALUES]
    for row, word in words.items():
        texts[row] = word
    return texts


def lines(texts):
    return "id,income,note\n" + "".join(f'{k},{v},"a ""{k}"\n' for k, v in enumerate(texts))


def mask(folder, texts, scheme=SCHEME, **options):
    source, target = folder / "a.csv", folder / "b.csv"
    source.write_text(lines(texts))
    cm.mask_file(source, target, {"income": scheme}, rng=1, overwrite=True, **options)
    return target


def fields(target):
    return [line.split(",")[1] for line in target.read_text().splitlines()[1:]]


def numbers(texts):
    return pd.Series([float(text) for text in texts], name="income")


@pytest.mark.parametrize("workers", [1, 2])
def test_codes_keep_their_bytes_and_all_else_is_masked(tmp_path, workers):
    target = mask(tmp_path, column(), workers=workers)

    z = SCHEME.mask(numbers(column()), rng=1).to_numpy()
    expected = [WORDS.get(row, f"{v:.0f}") for row, v in enumerate(z)]
    assert target.read_text() == lines(expected)
    scheme = cm.read_schemes(target)["income"]
    assert scheme == SCHEME
    assert json.loads((tmp_path / "b.csv.condmask.json").read_text())["columns"]["income"]["missing"] == [
        -8,
        -999,
    ]


def test_estimates_from_the_file_alone_leave_codes_out(tmp_path):
    target = mask(tmp_path, column())

    plain = replace(SCHEME, missing=()).estimate(
        np.array([v for v in cm.read_column(target, "income") if v > 0])
    )
    release, counts = cm.read_release(target, "income"), SCHEME.estimate(cm.read_counts(target))
    assert release.n == counts.n == plain.n == N - len(WORDS)
    assert release.mean() == counts.mean() == plain.mean()


def test_nulls_are_empty_fields_and_words_stay(tmp_path):
    words = {**WORDS, 9: "NA", 10: "", 11: "."}
    scheme = replace(SCHEME, missing_as="null")

    target = mask(tmp_path, column(words), scheme, csv=cm.CsvFormat(na="."), nan_policy="omit")

    found = fields(target)
    assert {row: found[row] for row in words} == {**dict.fromkeys(WORDS, ""), 9: "NA", 10: "", 11: "."}
    assert all(found[row] for row in range(N) if row not in words)
    assert cm.read_release(target, "income").n == N - len(words)


def test_gaps_need_a_word_and_codes_none(tmp_path):
    with pytest.raises(ValueError, match="income has 1 missing value, the first in line 11; pass nan_policy"):
        mask(tmp_path, column({**WORDS, 9: "NA"}))


def test_words_for_missing_values_stay_byte_for_byte(tmp_path):
    words = {2: ".", 5: "n/a", 8: "*", 12: " * "}

    target = mask(tmp_path, column(words), csv=cm.CsvFormat(na=[".", "n/a", "*"]), nan_policy="omit")

    assert {row: fields(target)[row] for row in words} == words
    assert cm.read_release(target, "income").n == N - len(words)
    with pytest.raises(TypeError, match="income must be numeric, got text in line 4"):
        mask(tmp_path, column(words), nan_policy="omit")


def test_a_code_within_reach_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="missing must be out of reach of masked values, got 1000, on which"):
        mask(tmp_path, column(), replace(SCHEME, missing=(-8, -999, 1000)))

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_code_that_is_hit_nevertheless_is_not_published(tmp_path, monkeypatch):
    monkeypatch.setattr("condmask.schemes.prepare.refuse_reachable", lambda *_: None)

    with pytest.raises(ValueError, match=r"income has a masked value that is its code \d+; nothing"):
        mask(tmp_path, column(), replace(SCHEME, missing=(-8, -999, *range(2800, 3200, 5))))

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_columns_share_coins_where_both_have_values(tmp_path):
    rng = np.random.default_rng(120)
    bonus = np.where(rng.random(N) < 0.2, -9.0, VALUES / 5.0)
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    schemes = {
        "income": replace(SCHEME, missing=(-8, -999), small_strata="merge"),
        "bonus": cm.ConditionalMasking(0.6, 40.0, decimals=0, missing=-9, small_strata="merge"),
    }
    frame = pd.DataFrame({"income": numbers(column()), "bonus": bonus})
    frame.loc[:25, "income"] = -8.0
    source.write_text(
        "income,bonus\n" + "".join(f"{a:.0f},{b:.0f}\n" for a, b in frame.itertuples(index=False))
    )

    written = cm.mask_file(source, target, schemes, rng=1)
    release = cm.mask_table(frame, schemes, rng=1)

    assert (written.schemes, written.origins) == (release.schemes, release.origins)
    for name in schemes:
        assert np.array_equal(cm.read_column(target, name), release.data[name])
    w = rng.normal(size=N)
    assert cm.read_release(target, "income").covariance(w) == release["income"].covariance(w)


@pytest.mark.parametrize("scheme", [cm.AdditiveNoise(30.0), cm.DataSwapping(), cm.RankSwapping(5.0)])
def test_schemes_without_codes_mask_words_as_they_did(tmp_path, scheme):
    """They have no missing values; a word for one is refused by its line."""
    with pytest.raises(
        ValueError, match=r"income must be complete, got 1 missing value.* in line 4|income has 1"
    ):
        mask(tmp_path, column({2: "."}), scheme, csv=cm.CsvFormat(na="."))
