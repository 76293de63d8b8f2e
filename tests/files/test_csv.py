"""CSV files: nothing of an original value is left over, and all else stays byte for byte.

Oracles: the bytes that were written, Python's csv module, masking the same column in memory.
"""

import csv
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from csv_files import INCOME, LINES, UNITS, expected, mask_bytes, mask_lines, shortest, written

import condmask as cm
from condmask.files import csv_scan
from condmask.files.csv import CsvFile

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize("word", ["", '""', "NA", "nan", "NAN", "-nan", " ", "null"])
def test_missing_fields_stay_byte_for_byte(tmp_path, word):
    lines = mask_lines(tmp_path, [*LINES, f"12,{word},z"], nan_policy="omit").splitlines()

    assert lines[-1] == f"12,{word},z"
    assert all(a != b for a, b in zip(lines[1:-1], LINES, strict=True))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["id,income,note", "income,id,note", "id,note,income"])
def test_several_columns_go_to_their_places(tmp_path, head, ending):
    schemes = {"income": UNITS, "id": cm.ConditionalMasking(0.6, 3.0, decimals=0)}
    rows = [dict(zip(("id", "income", "note"), line.split(","), strict=True)) for line in LINES]
    lines = [",".join(row[name] for name in head.split(",")) for row in rows]
    columns = {name: np.array([float(row[name]) for row in rows]) for name in schemes}
    columns["id"] = columns["id"].astype(int)

    text = mask_lines(tmp_path, lines, head=head, ending=ending, schemes=schemes)

    expected = cm.mask_table(pd.DataFrame(columns), schemes, rng=1).data
    found = list(csv.DictReader(text.splitlines()))
    assert [float(row["income"]) for row in found] == expected["income"].tolist()
    assert [row["id"] for row in found] == [str(v) for v in expected["id"].tolist()]
    assert {row["note"] for row in found} == {"z"}
    assert text.count(ending) == 13


def test_fixed_decimals_are_written_out(tmp_path):
    lines = [f"{i},{i * 0.5:.1f},z" for i in range(12)]

    text = mask_lines(tmp_path, lines, schemes={"income": cm.ConditionalMasking(0.6, 2.0, decimals=2)})

    assert all(len(line.split(",")[1].partition(".")[2]) == 2 for line in text.splitlines()[1:])


def test_strata_that_look_like_numbers_are_told_apart(tmp_path):
    """In a CSV file 01 and 1 are two labels, when masking and when estimating."""
    random = np.random.default_rng(3)
    values = random.normal(size=40)
    other = random.normal(size=40)
    label = ["01" if i % 2 else "1" for i in range(40)]
    lines = [f"{o},{v},{g}" for o, v, g in zip(other, values, label, strict=True)]

    mask_lines(tmp_path, lines, strata="note")

    z = cm.read_column(tmp_path / "b.csv", "income")
    scheme = cm.read_schemes(tmp_path / "b.csv")["income"]
    assert np.array_equal(z, scheme.mask(pd.Series(values, name="income"), strata=label, rng=1))
    expected = scheme.estimate(z, strata=label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cm.read_release(tmp_path / "b.csv", "income").correlation(other) == pytest.approx(
            expected.correlation(other), rel=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("rows", [100, 2999, 3001, 80_000])
def test_a_source_that_changes_between_the_passes_is_not_published(tmp_path, monkeypatch, rows):
    source = tmp_path / "a.csv"

    def write(rows):
        source.write_text("id,income,note\n" + "".join(f"{i},{1000 + i}.123456,z\n" for i in range(rows)))

    def change_first(scheme, x, name, kind, out):  # called between the passes
        write(rows)
        return x

    monkeypatch.setattr(cm.ConditionalMasking, "canonical", change_first)
    write(3000)

    with pytest.raises(cm.FileError, match="while it was masked; nothing was published"):
        cm.mask_file(source, tmp_path / "b.csv", {"income": UNITS})

    assert list(tmp_path.iterdir()) == [source]


def test_padding_does_not_tell_how_long_a_number_was(tmp_path):
    text = "Jahr, income\n" + "".join(f"{k}, {v:>12.2f}\n" for k, v in enumerate(INCOME))
    masked = mask_bytes(tmp_path, text.encode()).read_text()

    assert masked == "Jahr, income\n" + "".join(f"{k}, {v:.2f}\n" for k, v in enumerate(expected()))


def test_whole_numbers_take_the_mark_of_their_neighbours(tmp_path):
    """Masked on the default grid they have decimals, which in such a file begin with a comma."""
    rows = [f"{k};{1000 + k};{k},5" for k in range(40)]
    masked = mask_bytes(
        tmp_path,
        "\n".join(["a;income;c", *rows]).encode(),
        schemes={"income": cm.ConditionalMasking(0.6, 300.0)},
    )

    fields = [line.split(";")[1] for line in masked.read_text().splitlines()[1:]]
    assert all("." not in field for field in fields)
    assert any("," in field for field in fields)


def test_unquoted_numbers_get_quotes_where_the_mark_is_the_delimiter(tmp_path):
    rows = [f'{k},{100 + k},"{k},5"' if k % 2 else f'{k},"{100 + k}","1"' for k in range(40)]
    scheme = cm.ConditionalMasking(0.6, 30.0, decimals=1)
    target = mask_bytes(
        tmp_path,
        "\n".join(["a,income,c", *rows]).encode(),
        schemes={"income": scheme},
        csv=cm.CsvFormat(delimiter=",", decimal=","),
    )

    with target.open(newline="") as file:
        found = list(csv.DictReader(file))
    z = expected(100.0 + np.arange(40), scheme)
    assert [float(row["income"].replace(",", ".")) for row in found] == z.tolist()
    assert [row["c"] for row in found] == [f"{k},5" if k % 2 else "1" for k in range(40)]


def test_an_empty_field_gets_no_quotes(tmp_path):
    scheme = cm.ConditionalMasking(0.6, 30.0, decimals=0, missing=-8, missing_as="null")
    rows = [-8.0 if k == 7 else 500.0 + k for k in range(40)]
    text = "a,income\n" + "".join(f"{k},{v:.0f}\n" for k, v in enumerate(rows))
    target = mask_bytes(
        tmp_path, text.encode(), schemes={"income": scheme}, csv=cm.CsvFormat(delimiter=",", decimal=",")
    )

    assert target.read_text().splitlines()[8] == "7,"


@pytest.mark.parametrize("mark", [".", ","])
def test_numbers_that_could_be_thousands_are_refused_with_what_settles_it(tmp_path, mark):
    rows = [f"{k};{1 + k % 999}{mark}{100 + k};x" for k in range(40)]
    data = "\n".join(["a;income;c", *rows]).encode()

    message = (
        f"income must show what its {mark} means, got only numbers such as 1{mark}234, thousands "
        f'or decimals; for decimals pass decimal="{mark}" (--decimal {mark}); thousands separators must be '
        "removed"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mask_bytes(tmp_path, data)
    schemes = {"income": cm.ConditionalMasking(0.6, 30.0)}
    target = mask_bytes(tmp_path, data, schemes=schemes, csv=cm.CsvFormat(decimal=mark))
    x = np.array([1 + k % 999 + (100 + k) / 1000 for k in range(40)])
    z = schemes["income"].mask(pd.Series(x, name="income"), rng=1).to_numpy()
    assert np.array_equal(cm.read_column(target, "income"), z)


@pytest.mark.parametrize(
    ("numbers", "options", "message"),
    [
        (["1,5", "2.5"], {}, r'a point \(decimal=".", --decimal .\) in line 25$'),
        (["1.5", "2,5"], {}, r'a comma \(decimal=",", --decimal ,\) in line 25$'),
        (["1,5", "1.234,5"], {}, r"without thousands separators, got some in line 25$"),
        (["1,5", "1.234"], {"decimal": ","}, r"a point .* in line 25$"),
        (["1.5", "1,234"], {"decimal": "."}, r"a comma .* in line 25$"),
        (["1,5", "1'234,5"], {"decimal": ","}, r"without thousands separators, got some in line 25$"),
        (["1,5", "1\u202f234,5"], {"decimal": ","}, r"without thousands separators, got some in line 25$"),
        (["1,5", "12 %"], {"decimal": ","}, r"got text in line 25$"),
    ],
)
@pytest.mark.parametrize("chunk", [61, 1 << 23])
def test_a_mark_that_changes_is_refused_with_its_line(
    tmp_path, monkeypatch, numbers, options, message, chunk
):
    """Line breaks within quotes count, as editors count them."""
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)
    first, odd = numbers
    rows = [f'{k};{first};"x\ny"' for k in range(11)] + [f"11;{first};x", f"12;{odd};x", f"13;{first};x"]

    with pytest.raises(TypeError, match=r"^income must be numeric.*" + message):
        mask_bytes(tmp_path, "\n".join(["a;income;c", *rows]).encode(), csv=cm.CsvFormat(**options))


def test_labels_in_another_encoding_name_their_line(tmp_path):
    text = "a;income;region\n" + "".join(f"{k};{k},5;{'Süd' if k == 20 else 'Nord'}\n" for k in range(40))
    with pytest.raises(ValueError, match=r"must be written in utf-8, got other bytes in line 22; encoding="):
        mask_bytes(tmp_path, text.encode("cp1252"), strata="region")


def test_an_audit_looks_at_texts_in_another_encoding(tmp_path):
    towns = np.random.default_rng(1).choice(["Köln", "Görlitz", "Bonn", "Kzln"], 200)
    (tmp_path / "a.csv").write_bytes("".join(f"{town}\n" for town in ["town", *towns]).encode("cp1252"))
    table = CsvFile(tmp_path / "a.csv")
    list(table.parts([]))

    towns_read = table.sample(["town"], np.arange(200)).columns["town"]

    assert dict(zip(towns, towns_read, strict=True)).keys() == set(towns)
    assert len(set(zip(towns, towns_read, strict=True))) == len(set(towns_read)) == 4
    assert all(town.isprintable() and town.isascii() for town in towns_read)


def test_what_was_said_is_published_and_what_was_told_too(tmp_path):
    text = written(";", ",", values=["." if k % 9 == 0 else v for k, v in enumerate(INCOME)])
    target = mask_bytes(
        tmp_path, text.encode("cp1252"), csv=cm.CsvFormat(encoding="cp1252", na=","), nan_policy="omit"
    )

    beside = json.loads((tmp_path / "b.csv.condmask.json").read_text())
    assert beside["csv"] == {"delimiter": ";", "decimal": ",", "encoding": "cp1252", "na": [","]}
    z = cm.read_column(target, "income")
    assert np.isnan(z).sum() == 7
    assert np.array_equal(cm.read_column(target, "income", csv=cm.CsvFormat(na=",")), z, equal_nan=True)


def test_a_column_masked_later_is_read_as_the_first_was(tmp_path):
    text = written(";", ",")
    target = mask_bytes(tmp_path, text.encode("cp1252"), csv=cm.CsvFormat(encoding="cp1252"))
    again = tmp_path / "c.csv"

    cm.mask_file(target, again, {"Jahr": cm.ConditionalMasking(0.6, 3.0, decimals=0)})

    assert set(cm.read_schemes(again)) == {"income", "Jahr"}
    assert np.array_equal(cm.read_column(again, "income"), expected())


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("chunk", [97, 1000, 1 << 23])
def test_bytes_do_not_depend_on_workers_or_chunks(tmp_path, monkeypatch, workers, chunk):
    random = np.random.default_rng(117)
    values = np.append(random.normal(size=500) * 10.0 ** random.integers(-8, 9, 500), [0.0, 1e-7])
    text = "a;income;c\n" + "".join(f'{k};{v!r};"x\n;{k}"\n' for k, v in enumerate(values.tolist()))
    schemes = {"income": cm.ConditionalMasking(0.6, 1e-3), "a": cm.ConditionalMasking(0.6, 9.0, decimals=0)}
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)

    target = mask_bytes(tmp_path, text.encode(), schemes=schemes, workers=workers)

    columns = {"a": np.arange(502), "income": values}
    order = {name: columns[name] for name in schemes}
    table = cm.mask_table(pd.DataFrame(order), schemes, rng=1).data
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [row["income"] for row in rows] == list(map(shortest, table["income"].tolist()))
    assert [row["a"] for row in rows] == list(map(str, table["a"].tolist()))
    assert [row["c"] for row in rows] == [f"x\n;{k}" for k in range(502)]


def test_numbers_of_many_digits_are_read_exactly(tmp_path):
    values = np.random.default_rng(118).normal(size=3_000)
    texts = [f"{v:.19g}" for v in values]
    (tmp_path / "a.csv").write_text("\n".join(["income", *texts]))

    assert cm.read_column(tmp_path / "a.csv", "income").tolist() == list(map(float, texts))


# --- missing codes: their bytes stay, or become empty fields; oracle: the column masked in memory ---

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

    with pytest.raises(ValueError, match=r"income has a masked value that equals its code \d+; nothing"):
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

    assert (written.schemes, written.patterns) == (release.schemes, release.patterns)
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
