"""Every dialect of CSV goes out as it came in, and is read again without a word; what is unsure is refused.

Oracles: the bytes that were written; Python's csv module and float; masking the same column in memory.
"""

import csv
import gzip
import io
import json
import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask.files import csv_scan
from condmask.files.csv import CsvFile
from condmask.files.csv_format import Dialect

pytestmark = pytest.mark.usefixtures("unaudited")

N = 60
RANDOM = np.random.default_rng(4)
INCOME = RANDOM.lognormal(7.0, 0.5, N).round(2)
SCHEME = cm.ConditionalMasking(0.6, 300.0, decimals=2)
NOTES = ["Größe; klein", 'sagt "nein"', "Zeile\numbrochen", "", "schlicht", "a,b", "tab\there"]


def written(
    delimiter=",",
    decimal=".",
    ending="\n",
    quoting=csv.QUOTE_MINIMAL,
    blank=False,
    values=INCOME,
    head="income",
):
    """A file as text, by Python's csv module."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(["Jahr", head, "Bemerkung"])
    for k, v in enumerate(values):
        number = v if isinstance(v, str) else f"{v:.2f}"
        writer.writerow([2000 + k, number.replace(".", decimal), NOTES[k % len(NOTES)]])
    return file.getvalue()


def mask(folder, data, *, name="a.csv", out="b.csv", schemes=None, **options):
    """Mask a file of these bytes; where it went."""
    source, target = folder / name, folder / out
    source.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        cm.mask_file(source, target, schemes or {"income": SCHEME}, rng=1, overwrite=True, **options)
    return target


def expected(values=INCOME, scheme=SCHEME):
    return scheme.mask(pd.Series(values, name="income"), rng=1).to_numpy()


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [*product(";\t|", ".,"), (",", "."), (",", ","), (" ", ","), (":", ".")]
)
def test_a_dialect_comes_back_with_all_other_bytes(tmp_path, delimiter, decimal, ending, quoting):
    text = written(delimiter, decimal, ending, quoting)
    given = {}
    if delimiter == ",":
        given["decimal"] = decimal
    if delimiter in " :":
        given["delimiter"] = delimiter

    target = mask(tmp_path, text.encode(), csv=cm.CsvFormat(**given) if given else None)

    fixed = written(delimiter, decimal, ending, quoting, values=expected())
    assert target.read_bytes() == fixed.encode()
    assert np.array_equal(cm.read_column(target, "income"), expected())
    assert cm.read_release(target, "income").mean() == SCHEME.estimate(expected()).mean()


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "cp1252", "utf-16-le", "utf-16-be", "utf-32-le", "mac-roman"]
)
def test_an_encoding_comes_back_with_all_other_bytes(tmp_path, encoding, marked):
    if marked and not encoding.startswith("utf"):
        pytest.skip("has no mark")
    text = ("\ufeff" if marked else "") + written(";", ",", "\r\n", head="Einkünfte")
    schemes = {"Einkünfte": SCHEME}
    given = None if marked or encoding == "utf-8" else cm.CsvFormat(encoding=encoding)

    target = mask(tmp_path, text.encode(encoding), schemes=schemes, csv=given)

    z = SCHEME.mask(pd.Series(INCOME, name="Einkünfte"), rng=1).to_numpy()
    masked = ("\ufeff" if marked else "") + written(";", ",", "\r\n", values=z, head="Einkünfte")
    assert target.read_bytes() == masked.encode(encoding)
    assert np.array_equal(cm.read_column(target, "Einkünfte"), z)
    notes = list(cm.read_column(target, "Bemerkung"))
    assert notes == [NOTES[k % len(NOTES)] for k in range(N)]


def test_text_that_is_no_text_comes_back_too(tmp_path):
    """Lone halves of pairs, and bytes that stand for no character, are nobody's matter but a reader's."""

    def odd(encoding, **options):
        text = written(";", ",", **options).replace(
            "klein", "kl\ud800n" if encoding == "utf-16-le" else "kl\x81n"
        )
        if encoding == "utf-16-le":
            return text.encode(encoding, "surrogatepass")
        return text.replace("\x81", "§").encode(encoding).replace(b"\xa7", b"\x81")

    for encoding in ("utf-16-le", "cp1252"):
        target = mask(tmp_path, odd(encoding), csv=cm.CsvFormat(encoding=encoding))

        assert target.read_bytes() == odd(encoding, values=expected())
    with pytest.raises(ValueError, match=r"b\.csv must be written in cp1252, got other bytes in line 2; enc"):
        cm.read_column(tmp_path / "b.csv", "Bemerkung")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz", "a.txt.gz", "a.CSV.GZ"])
def test_packed_files_are_packed_again_without_a_name_or_a_time(tmp_path, name):
    delimiter = "\t" if "tsv" in name else ";"
    text = written(delimiter, ",")
    out = name.replace("a.", "b.")

    target = mask(tmp_path, gzip.compress(text.encode()), name=name, out=out)

    data = target.read_bytes()
    assert gzip.decompress(data).decode() == written(delimiter, ",", values=expected())
    assert data[:2] == b"\x1f\x8b"
    assert data[3:8] == bytes(5)  # no flags: no name; no time
    assert np.array_equal(cm.read_column(target, "income"), expected())


@pytest.mark.parametrize("kept", [1000, 30, 5, 0])
def test_a_damaged_archive_is_said_in_one_sentence_without_its_bytes(tmp_path, kept):
    source = tmp_path / "a.csv.gz"
    data = gzip.compress(written().encode())
    source.write_bytes(data[: min(kept, len(data) - 9)] or b"12345")

    with pytest.raises(
        cm.FileError, match=r"a\.csv\.gz: not readable: it is no gzip file, or a damaged one$"
    ):
        cm.mask_file(source, tmp_path / "b.csv.gz", {"income": SCHEME})

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.gz"]


def test_half_a_character_is_said_without_its_bytes(tmp_path):
    with pytest.raises(cm.FileError, match=r"it holds what is no text in utf-16-le$"):
        mask(tmp_path, written().encode("utf-16") + b"1")


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv"])
def test_names_of_files_say_no_more_than_they_know(tmp_path, name):
    text = written("\t", ",")
    target = mask(tmp_path, text.encode(), name=name, out=name.replace("a.", "b."))

    assert target.read_bytes().decode() == written("\t", ",", values=expected())


def test_a_blank_after_the_delimiter_stays(tmp_path):
    text = 'Jahr, income, "Eine Bemerkung"\n' + "".join(
        f'{k}, {v:.2f}, "a, b; c {k}"\n' for k, v in enumerate(INCOME)
    )
    target = mask(tmp_path, text.encode())

    assert [line.split(", ", 2)[2] for line in target.read_text().splitlines()] == [
        line.split(", ", 2)[2] for line in text.splitlines()
    ]
    assert [float(line.split(", ")[1]) for line in target.read_text().splitlines()[1:]] == expected().tolist()
    assert CsvFile(target).names == ["Jahr", "income", "Eine Bemerkung"]
    assert cm.read_column(target, "Eine Bemerkung")[3] == "a, b; c 3"


def test_padding_does_not_tell_how_long_a_number_was(tmp_path):
    text = "Jahr, income\n" + "".join(f"{k}, {v:>12.2f}\n" for k, v in enumerate(INCOME))
    masked = mask(tmp_path, text.encode()).read_text()

    assert masked == "Jahr, income\n" + "".join(f"{k}, {v:.2f}\n" for k, v in enumerate(expected()))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_excel_writes_before_the_header_stays(tmp_path, ending, mark):
    first = f"{mark}sep=;{ending}"
    text = first + written(";", ",", ending)
    target = mask(tmp_path, text.encode())

    assert target.read_bytes().decode() == first + written(";", ",", ending, values=expected())
    with pytest.raises(TypeError, match=r"income must be numeric, got text in line 7"):
        mask(tmp_path, text.replace(f"{INCOME[3]:.2f}".replace(".", ","), "viel").encode())


def test_whole_numbers_take_the_mark_of_their_neighbours(tmp_path):
    """Masked on the default grid they have decimals, which in such a file begin with a comma."""
    rows = [f"{k};{1000 + k};{k},5" for k in range(40)]
    masked = mask(
        tmp_path,
        "\n".join(["a;income;c", *rows]).encode(),
        schemes={"income": cm.ConditionalMasking(0.6, 300.0)},
    )

    fields = [line.split(";")[1] for line in masked.read_text().splitlines()[1:]]
    assert all("." not in field and "," in field for field in fields)


def test_unquoted_numbers_get_quotes_where_the_mark_is_the_delimiter(tmp_path):
    rows = [f'{k},{100 + k},"{k},5"' if k % 2 else f'{k},"{100 + k}","1"' for k in range(40)]
    scheme = cm.ConditionalMasking(0.6, 30.0, decimals=1)
    target = mask(
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
    target = mask(
        tmp_path, text.encode(), schemes={"income": scheme}, csv=cm.CsvFormat(delimiter=",", decimal=",")
    )

    assert target.read_text().splitlines()[8] == "7,"


# --- what is unsure ---


@pytest.mark.parametrize("mark", [".", ","])
def test_numbers_that_could_be_thousands_are_refused_with_what_settles_it(tmp_path, mark):
    rows = [f"{k};{1 + k % 999}{mark}{100 + k};x" for k in range(40)]
    data = "\n".join(["a;income;c", *rows]).encode()

    message = (
        f"income must show what its {mark} is, got numbers such as 1{mark}234 alone, some thousand or some "
        f'ones; decimal="{mark}" (--decimal {mark}) says it parts decimals, and thousands separators have '
        "to go"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mask(tmp_path, data)
    schemes = {"income": cm.ConditionalMasking(0.6, 30.0)}
    target = mask(tmp_path, data, schemes=schemes, csv=cm.CsvFormat(decimal=mark))
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
        mask(tmp_path, "\n".join(["a;income;c", *rows]).encode(), csv=cm.CsvFormat(**options))


@pytest.mark.parametrize(
    ("head", "row", "delimiter"),
    [
        ("a;b", "1;2", ";"),
        ("a,b", "1,2", ","),
        ("a\tb", "1\t2", "\t"),
        ("a|b|c", "1|2|3", "|"),
        ("a;b, c", "1;2", ";"),
        ('"a,b";"c,d"', "1;2", ";"),
        ("a;b,c", "1;2,5", None),
        ("a,b;c", "1;2;3", None),
        ("income", "12", ","),
    ],
)
def test_delimiters_are_told_or_refused(tmp_path, head, row, delimiter):
    source = tmp_path / "a.csv"
    source.write_text("\n".join([head, *[row] * 5]) + "\n")

    if delimiter is None:
        with pytest.raises(
            ValueError, match=r'delimiter must be given for .* \(delimiter=".", --delimiter "."\)'
        ):
            CsvFile(source)
    else:
        assert CsvFile(source).dialect.delimiter == delimiter


@given(
    names=st.lists(st.text("abc ,;|\t\"\n'", min_size=1, max_size=5), min_size=1, max_size=4),
    rows=st.lists(
        st.lists(st.text('1.5,;|\t"\nx ', max_size=5), min_size=4, max_size=4), min_size=1, max_size=8
    ),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_delimiter_is_told_rightly_or_not_at_all(tmp_path_factory, names, rows, delimiter, quoting):
    """Whatever stands in names and fields: where several would fit, none is taken."""
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(row[: len(names)] for row in rows)
    try:
        found = Dialect.of(path, cm.CsvFormat())
    except ValueError:  # said to be unsure
        return

    if len(names) > 1:
        assert found.delimiter == delimiter or not any(
            len(row) == len(names) for row in list(csv.reader(path.open(newline=""), delimiter=delimiter))[1:]
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"delimiter": "ab"},
            "delimiter must be one character that is no letter, digit, quote or line break",
        ),
        ({"delimiter": "."}, "delimiter must be one character"),
        ({"decimal": ";"}, "decimal must be one of '.', ',', got ';'"),
        ({"encoding": "latin-99"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "shift_jis"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "utf-7"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "rot13"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "cp037"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"na": ["-8"]}, "na must hold words, got '-8'; a number that stands for missing values is declared"),
    ],
)
def test_formats_are_checked(options, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        cm.CsvFormat(**options)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (written().encode("utf-16-le"), {}, 'encoding="utf-16-le" or "utf-16-be"'),
        (written().encode("utf-16-le"), {"encoding": "utf-16"}, "utf-16-le or utf-16-be says the order"),
        (
            "Größe;income\n1;2\n".encode("cp1252"),
            {},
            r'in utf-8, got other bytes in line 1; encoding="latin-1"',
        ),
    ],
)
def test_an_encoding_that_cannot_be_told_is_asked_for(tmp_path, data, options, message):
    with pytest.raises(ValueError, match=message):
        mask(tmp_path, data, csv=cm.CsvFormat(**options))


def test_labels_in_another_encoding_name_their_line(tmp_path):
    text = "a;income;region\n" + "".join(f"{k};{k},5;{'Süd' if k == 20 else 'Nord'}\n" for k in range(40))
    with pytest.raises(ValueError, match=r"must be written in utf-8, got other bytes in line 22; encoding="):
        mask(tmp_path, text.encode("cp1252"), strata="region")


def test_what_was_said_is_published_and_what_was_told_too(tmp_path):
    text = written(";", ",", values=["." if k % 9 == 0 else v for k, v in enumerate(INCOME)])
    target = mask(
        tmp_path, text.encode("cp1252"), csv=cm.CsvFormat(encoding="cp1252", na=","), nan_policy="omit"
    )

    beside = json.loads((tmp_path / "b.csv.condmask.json").read_text())
    assert beside["csv"] == {"delimiter": ";", "decimal": ",", "encoding": "cp1252", "na": [","]}
    z = cm.read_column(target, "income")
    assert np.isnan(z).sum() == 7
    assert np.array_equal(cm.read_column(target, "income", csv=cm.CsvFormat(na=",")), z, equal_nan=True)


def test_a_column_masked_later_is_read_as_the_first_was(tmp_path):
    text = written(";", ",")
    target = mask(tmp_path, text.encode("cp1252"), csv=cm.CsvFormat(encoding="cp1252"))
    again = tmp_path / "c.csv"

    cm.mask_file(target, again, {"Jahr": cm.ConditionalMasking(0.6, 3.0, decimals=0)})

    assert set(cm.read_schemes(again)) == {"income", "Jahr"}
    assert np.array_equal(cm.read_column(again, "income"), expected())


# --- one answer, whatever the chunks and workers ---


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("chunk", [97, 1000, 1 << 23])
def test_bytes_do_not_depend_on_workers_or_chunks(tmp_path, monkeypatch, workers, chunk):
    random = np.random.default_rng(117)
    values = np.append(random.normal(size=500) * 10.0 ** random.integers(-8, 9, 500), [0.0, 1e-7])
    text = "a;income;c\n" + "".join(f'{k};{v!r};"x\n;{k}"\n' for k, v in enumerate(values.tolist()))
    schemes = {"income": cm.ConditionalMasking(0.6, 1e-3), "a": cm.ConditionalMasking(0.6, 9.0, decimals=0)}
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)

    target = mask(tmp_path, text.encode(), schemes=schemes, workers=workers)

    columns = {"a": np.arange(502), "income": values}
    order = {name: columns[name] for name in schemes}
    table = cm.mask_table(pd.DataFrame(order), schemes, rng=1).data
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [row["income"] for row in rows] == list(map(repr, table["income"].tolist()))
    assert [row["a"] for row in rows] == list(map(str, table["a"].tolist()))
    assert [row["c"] for row in rows] == [f"x\n;{k}" for k in range(502)]


def test_files_are_read_and_written_without_pyarrow(tmp_path, monkeypatch):
    """Numbers of many digits are read by Python then, to the same bits."""
    rng = np.random.default_rng(118)
    import sys

    values = rng.normal(size=3_000)
    text = "income\n" + "".join(f"{v:.19g}\n" for v in values)
    (tmp_path / "a.csv").write_text(text)
    fast = cm.read_column(tmp_path / "a.csv", "income")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert np.array_equal(cm.read_column(tmp_path / "a.csv", "income"), fast)
    assert np.array_equal(fast, [float(f"{v:.19g}") for v in values])


@given(rows=st.lists(st.text("0123456789.eE+-, ", max_size=12), min_size=2, max_size=12))
def test_numbers_are_those_of_python(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    path.write_text("x\n" + "".join(f'"{row}"\n' for row in rows))
    try:
        numbers = [float(row) if row.strip() else np.nan for row in rows]
    except ValueError:
        found = cm.read_column(path, "x")  # as text
        assert found.tolist() == rows
    else:
        if all(abs(v) < 2**53 or v != v for v in numbers):
            assert np.array_equal(cm.read_column(path, "x"), numbers, equal_nan=True)
