"""Text: every cell that is not masked comes back as it was, and a masked one in its column's own writing.

Oracles: the same file written with the masked numbers in memory, Python's csv module, and pyarrow.
"""

import csv
import gzip
import io

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from worlds import AGE, JOINT, KEY, PAY, in_memory, masked, people, write

import condmask as cm

INCOME = np.random.default_rng(4).lognormal(7.0, 0.5, 60).round(2)
UNROUNDED = cm.ConditionalMasking(0.6, 500.0)


def memory(values, scheme=PAY):
    return scheme.mask(pd.Series(values, name="pay"), rng=KEY, nan_policy="omit").to_numpy()


def text(values, *, delimiter=",", decimal=".", end="\n", above="", last="\n"):
    """A file of numbers between cells that a reader who guesses types would change."""
    notes = ["007", "2020-01-31", "1e5", " left ", "true", "-0", "Größe", "NA", "", "0x10", "1.50"]
    lines = [delimiter.join(("plz", "pay", "note"))]
    for k, value in enumerate(values):
        number = value if isinstance(value, str) else f"{value:.2f}".replace(".", decimal)
        lines.append(delimiter.join((f"{k:05}", number, notes[k % len(notes)])))
    return above + end.join(lines) + last.replace("\n", end)


def mask_bytes(folder, content, schemes=None, *, name="a.csv", **options):
    """The bytes of a release of these bytes."""
    (folder / name).write_bytes(content)
    masked(folder / name, folder / f"masked {name}", schemes or {"pay": PAY}, force=True, **options)
    return (folder / f"masked {name}").read_bytes()


@pytest.mark.parametrize(
    ("written", "encoding", "options", "name"),
    [
        ({}, "utf-8", {}, "a.csv"),
        ({"end": "\r\n"}, "utf-8-sig", {}, "a.txt"),
        ({"delimiter": ";", "decimal": ","}, "cp1252", {"encoding": "cp1252"}, "a.csv"),
        ({"delimiter": ";", "decimal": ",", "above": "sep=;\r\n", "end": "\r\n"}, "utf-8", {}, "a.csv"),
        ({"delimiter": "|", "decimal": ","}, "latin-1", {"encoding": "latin-1", "decimal": ","}, "a.csv"),
        ({"delimiter": "\t"}, "utf-16", {}, "a.tsv"),
        ({"delimiter": ";", "end": "\r\n"}, "utf-16-be", {"encoding": "utf-16-be", "decimal": "."}, "a.csv"),
        ({"delimiter": "~", "end": "\r", "above": "SEP=~\r"}, "utf-8", {}, "a.csv"),
        ({}, "utf-8", {}, "a.csv.gz"),
    ],
)
def test_a_file_in_any_writing_comes_back_byte_for_byte(tmp_path, written, encoding, options, name):
    form = cm.CsvFormat(**options) if options else None
    pack = gzip.compress if name.endswith("gz") else bytes
    unpack = gzip.decompress if name.endswith("gz") else bytes
    found = mask_bytes(tmp_path, pack(text(INCOME, **written).encode(encoding)), name=name, csv=form)

    assert unpack(found) == text(memory(INCOME), **written).encode(encoding)
    release = cm.read_release(tmp_path / f"masked {name}")  # which needs not be told the format again
    assert release["pay"].mean() == PAY.estimate(memory(INCOME)).mean()


def test_the_last_line_need_not_end_and_words_for_missing_keep_their_cells(tmp_path):
    words = ["", " ", "NA", "N/A", "NaN", "nan", "null", "NULL", " - ", "*"]
    values = np.concatenate([INCOME, np.full(len(words), np.nan)])
    cells = [*INCOME.tolist(), *words]
    found = mask_bytes(tmp_path, text(cells, last="").encode(), csv=cm.CsvFormat(na=["-", "*"]))

    assert found.decode() == text([*memory(values)[:60].tolist(), *words])
    assert cm.read_release(tmp_path / "masked a.csv")["pay"].n == 60
    assert {"NA", ""}.isdisjoint(cm.read_column(tmp_path / "masked a.csv", "note"))


def test_numbers_are_trimmed_and_read_in_any_usual_form(tmp_path):
    odd = [" 12.5 ", "+7", "1e3", ".5", "3.", "0012", "\t9", "-0.0"]
    cells = [*INCOME.tolist(), *odd]
    found = mask_bytes(tmp_path, text(cells).encode()).decode()

    assert found == text(memory([*INCOME, 12.5, 7.0, 1000.0, 0.5, 3.0, 12.0, 9.0, 0.0]))


def test_masked_cells_have_the_places_of_their_scheme_and_no_exponent(tmp_path):
    def column(found):
        return [line.split(",")[1] for line in found.decode().splitlines()[1:]]

    whole = cm.ConditionalMasking(0.6, 500.0, step=100)
    mapped = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True)
    small = np.append(INCOME * 1e-9, np.array([5e-12, 7e-15, 0.25, 3.0]))
    tiny = cm.ConditionalMasking(0.6, 5e-7, reverse_mapping=True)
    hundreds = (INCOME / 100).round() * 100

    assert column(mask_bytes(tmp_path, text(hundreds).encode(), {"pay": whole})) == [
        str(int(value)) for value in memory(hundreds, whole)
    ]
    found = column(mask_bytes(tmp_path, text(INCOME).encode(), {"pay": mapped}))
    assert sorted(found) == sorted(f"{value:.2f}" for value in INCOME)
    free = column(mask_bytes(tmp_path, text(INCOME).encode(), {"pay": UNROUNDED}))
    assert [float(cell) for cell in free] == memory(INCOME, UNROUNDED).tolist()
    cells = [f"{value!r}" for value in small.tolist()]
    found = column(mask_bytes(tmp_path, text(cells).encode(), {"pay": tiny}))
    assert sorted(map(float, found)) == sorted(small.tolist())
    assert not any("e" in cell or cell.endswith(".") for cell in found)


def test_one_column_with_empty_lines_keeps_them(tmp_path):
    cells = [f"{value:.2f}" for value in INCOME]
    cells[5:5] = ["", ""]
    values = np.insert(INCOME, 5, [np.nan, np.nan])
    found = mask_bytes(tmp_path, ("pay\n" + "\n".join(cells) + "\n").encode()).decode()

    expected = ["" if np.isnan(value) else f"{value:.2f}" for value in memory(values)]
    assert found == "pay\n" + "\n".join(expected) + "\n"


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
ODD = st.text(st.sampled_from("\"';,|\t\r\n a7.\ufeffé"), max_size=6)


@hypothesis.given(
    rows=st.lists(st.tuples(TEXTS | ODD, TEXTS | ODD), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;|\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
@hypothesis.settings(max_examples=60)
def test_whatever_python_writes_comes_back_equal_for_python(tmp_path_factory, rows, delimiter, end, quoting):
    folder = tmp_path_factory.mktemp("any")
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["first", "pay", 'the "last"'])
    for k, value in enumerate(INCOME):
        first, last = rows[k % len(rows)]
        writer.writerow([first, f"{value:.2f}", last])
    form = cm.CsvFormat(delimiter=delimiter, decimal=".")
    found = mask_bytes(folder, file.getvalue().encode(), csv=form).decode()

    expected = list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter))
    for row, value in zip(expected[1:], memory(INCOME), strict=True):
        row[1] = f"{value:.2f}"
    assert list(csv.reader(io.StringIO(found, newline=""), delimiter=delimiter)) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_cells_across_blocks_of_the_reader_are_whole(tmp_path, end):
    random = np.random.default_rng(3)
    n = 60_000
    pay = random.lognormal(7.0, 0.5, n).round(2)
    pieces = np.array(["plain", f'"two{end}lines"', '"a,b"', '"say ""no"""', '"é' + "x" * 90 + f'{end},"'])
    notes = pieces[random.integers(0, 5, n)]

    def content(values):
        lines = (f"{k},{value:.2f},{note}" for k, (value, note) in enumerate(zip(values, notes, strict=True)))
        return end.join(["id,pay,note", *lines, ""]).encode()

    assert len(content(pay)) > 2 << 20
    assert mask_bytes(tmp_path, content(pay)) == content(memory(pay))


@pytest.mark.parametrize(
    ("cell", "form", "message"),
    [
        ("7341x", None, "the decimal mark '.', got another text in row 3 .1 cells"),
        ("inf", None, "2.53 with the decimal mark .*, got another text in row 3"),
        ("1e999", None, "2.53 with the decimal mark .*, got another text in row 3"),
        ("7341,5", cm.CsvFormat(delimiter="|"), "the decimal mark '.', got another text in row 3"),
        ("7.341", cm.CsvFormat(delimiter="|", decimal=","), "the decimal mark ',', got another text"),
        ("-", None, r"--decimal and --na \(CsvFormat\) say how they are written"),
        ("9007199254740994", None, "numbers of at most 2.53 with .* got another text in row 3"),
    ],
)
def test_what_is_no_number_is_refused_with_its_row_and_without_its_text(tmp_path, cell, form, message):
    cells = [f"{k}" for k in range(60)]
    cells[2] = cell
    content = text(cells, delimiter="," if form is None else "|")
    with pytest.raises(ValueError, match=message) as caught:
        mask_bytes(tmp_path, content.encode(), csv=form)
    assert len(cell) == 1 or cell not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_numbers_in_the_wrong_place_name_the_row_of_the_whole_file(tmp_path):
    cells = [f"{k}" for k in range(60)]
    cells[47] = "x"
    with pytest.raises(ValueError, match=r"in row 48 \(1 cells\).* \(in rows 41 to 60\)$"):
        mask_bytes(tmp_path, text(cells).encode(), part_rows=20)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", {}, "is empty: it has no header"),
        (b"\n1\n", {}, "is empty: it has no header"),
        (b'id,"pay\nx",y\n1,2,3\n', {}, "must have a header of one line in which every quote is closed"),
        (b"pay,id,pay\n1,2,3\n", {}, "has more than one column 'pay'"),
        (b"id,pay\n1,2\n1,2,3\n", {}, "it is damaged, or of another format, encoding or delimiter"),
        ("id,pay,é\n1,2,3\n".encode("latin-1"), {}, "another format, encoding or delimiter; --encoding"),
        (b"id,pay\n", {}, "pay must have at least 2 values, got 0"),
        (b"id,pay", {}, "it is damaged, or of another format"),
        (b"i" * (1 << 20) + b",pay\n1,2\n", {}, "must have a header of one line"),
        (b"id,pay\n1,2\n", {"delimiter": "7"}, "delimiter must be one character other than a letter"),
        (b"id,pay\n1,2\n", {"decimal": "x"}, "decimal must be one of"),
        (b"id,pay\n1,2\n", {"encoding": "hex"}, "encoding must be the name of an encoding of text"),
    ],
)
def test_files_and_formats_that_are_none_are_refused(tmp_path, content, options, message):
    with pytest.raises((ValueError, cm.FileError), match=message):
        mask_bytes(tmp_path, content, csv=cm.CsvFormat(**options) if options else None)


def test_a_code_that_is_to_be_missing_leaves_nothing_behind(tmp_path):
    pay = np.random.default_rng(1).integers(1_000, 5_000, 400)
    pay[::10] = -8
    scheme = cm.ConditionalMasking(0.6, 400.0, decimals=0, missing=-8, missing_as="null")
    text = "pay,id\n" + "".join(f"{value},{k}\n" for k, value in enumerate(pay)) + "\n"

    released = mask_bytes(tmp_path, text.encode(), {"pay": scheme}).decode().splitlines()[1:]

    assert [line.split(",")[0] == "" for line in released] == (pay == -8).tolist()


@pytest.mark.parametrize(
    ("name", "header", "row"), [("a.tsv", 'x,y,z\t "pay"', "1,2\t{}\n"), ("a.csv", '"x;y,z"|pay', "1,2|{}\n")]
)
def test_fields_end_at_tabs_in_tsv_and_outside_of_quotes(tmp_path, name, header, row):
    content = header + "\n" + "".join(map(row.format, range(60)))
    released = mask_bytes(tmp_path, content.encode(), name=name).decode()
    assert [line[:3] for line in released.splitlines()] == [header[:3], *["1,2"] * 60]


def test_text_stays_text(tmp_path):
    source = write(people().select(["id", "pay", "note", "age"]), tmp_path / "a.csv")
    with pytest.raises(
        ValueError, match=r"b\.parquet must be text, as .*a\.csv is; docs/files\.rst has a way"
    ):
        masked(source, tmp_path / "b.parquet")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_table_becomes_text(tmp_path, form):
    table = people().drop_columns(["list", "pair"])
    source = write(table, tmp_path / f"a.{form}")
    masked(source, tmp_path / "b.csv")
    masked(source, tmp_path / "b.tsv")

    expected = in_memory(table)
    for path, delimiter in ((tmp_path / "b.csv", ","), (tmp_path / "b.tsv", "\t")):
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file, delimiter=delimiter)
        columns = dict(zip(head, zip(*rows, strict=True), strict=True))
        assert head == table.schema.names
        for name in ("id", "note", "day", "region", "euro"):
            assert list(columns[name]) == ["" if v is None else str(v) for v in table[name].to_pylist()]
        for name, places in (("pay", 2), ("age", 0)):
            assert list(columns[name]) == [
                "" if value is None else f"{value:.{places}f}" for value in expected[name].to_pylist()
            ]
        assert list(cm.read_release(path)) == list(JOINT)
    with pytest.raises(cm.FileError, match=r"list cannot be written as text, got .*: leave it out"):
        masked(write(people(), source), tmp_path / "c.csv")
    for name in ("pay\nnet", " pay"):  # which reading would not find
        write(table.rename_columns([name, *table.schema.names[1:]]), source)
        with pytest.raises(ValueError, match=r"c\.csv must have names without line breaks and blanks around"):
            masked(source, tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()
    assert AGE.decimals == 0
