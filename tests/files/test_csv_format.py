"""Every dialect of CSV goes out as it came in; what is unsure is refused.

Oracle: the bytes that were written.
"""

import csv
from itertools import product

import numpy as np
import pytest
from csv_files import CENTS, INCOME, LINES, expected, mask_bytes, mask_lines, written
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask.files import csv_format
from condmask.files.csv import CsvFile
from condmask.files.csv_format import Dialect

pytestmark = pytest.mark.usefixtures("unaudited")


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

    target = mask_bytes(tmp_path, text.encode(), csv=cm.CsvFormat(**given) if given else None)

    fixed = written(delimiter, decimal, ending, quoting, values=expected())
    assert target.read_bytes() == fixed.encode()
    assert np.array_equal(cm.read_column(target, "income"), expected())
    assert cm.read_release(target, "income").mean() == CENTS.estimate(expected()).mean()


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv"])
def test_names_of_files_say_no_more_than_they_know(tmp_path, name):
    text = written("\t", ",")
    target = mask_bytes(tmp_path, text.encode(), name=name, out=name.replace("a.", "b."))

    assert target.read_bytes().decode() == written("\t", ",", values=expected())


def test_a_blank_after_the_delimiter_stays(tmp_path):
    text = 'Jahr, income, "Eine Bemerkung"\n' + "".join(
        f'{k}, {v:.2f}, "a, b; c {k}"\n' for k, v in enumerate(INCOME)
    )
    target = mask_bytes(tmp_path, text.encode())

    assert [line.split(", ", 2)[2] for line in target.read_text().splitlines()] == [
        line.split(", ", 2)[2] for line in text.splitlines()
    ]
    assert [float(line.split(", ")[1]) for line in target.read_text().splitlines()[1:]] == expected().tolist()
    assert CsvFile(target).names == ["Jahr", "income", "Eine Bemerkung"]
    assert cm.read_column(target, "Eine Bemerkung")[3] == "a, b; c 3"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_excel_writes_before_the_header_stays(tmp_path, ending, mark):
    first = f"{mark}sep=;{ending}"
    text = first + written(";", ",", ending)
    target = mask_bytes(tmp_path, text.encode())

    assert target.read_bytes().decode() == first + written(";", ",", ending, values=expected())
    with pytest.raises(TypeError, match=r"income must be numeric, got text in line 7"):
        mask_bytes(tmp_path, text.replace(f"{INCOME[3]:.2f}".replace(".", ","), "viel").encode())


def test_a_quoted_name_may_hold_delimiters(tmp_path):
    text = mask_lines(tmp_path, [line.replace(",", ";") for line in LINES], head='"a,,,,,";income;note')

    assert text.startswith('"a,,,,,";income;note\n0;')


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
            "delimiter must be one character other than a letter, digit, quote or line break",
        ),
        ({"delimiter": "."}, "delimiter must be one character"),
        ({"decimal": ";"}, "decimal must be one of '.', ',', got ';'"),
        ({"encoding": "latin-99"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "shift_jis"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "utf-7"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "rot13"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"encoding": "cp037"}, "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each"),
        ({"na": ["-8"]}, "na must contain words, got '-8'; a number that stands for missing values belongs"),
    ],
)
def test_formats_are_checked(options, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        cm.CsvFormat(**options)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (written().encode("utf-16-le"), {}, 'encoding="utf-16-le" or "utf-16-be"'),
        (written().encode("utf-16-le"), {"encoding": "utf-16"}, "utf-16-le or utf-16-be sets the order"),
        (
            "Größe;income\n1;2\n".encode("cp1252"),
            {},
            r'in utf-8, got other bytes in line 1; encoding="latin-1"',
        ),
    ],
)
def test_an_encoding_that_cannot_be_told_is_asked_for(tmp_path, data, options, message):
    with pytest.raises(ValueError, match=message):
        mask_bytes(tmp_path, data, csv=cm.CsvFormat(**options))


HEADERS = {
    'income,b"x,z': ["income", 'b"x', "z"],  # quotes within a bare name are part of it
    'income,b""x,z': ["income", 'b""x', "z"],
    'income,5" pipe,z': ["income", '5" pipe', "z"],
    '"income","b""x",z': ["income", 'b"x', "z"],
    'income,"b\n,x",z': ["income", "b\n,x", "z"],
    'income,"b""\n,x",z': ["income", 'b"\n,x', "z"],
    'income, "b\n, x", z': ["income", "b\n, x", "z"],
    '"income",b,"z"': ["income", "b", "z"],
}


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("header", HEADERS)
def test_no_record_becomes_part_of_a_header(tmp_path, header, quoted):
    (tmp_path / "a.csv").write_text(header + "\n" + ('1,"2",3\n' if quoted else "1,2,3\n") * 9)
    file = CsvFile(tmp_path / "a.csv")

    assert file.names == HEADERS[header]
    assert file.dialect.header == header.encode() + b"\n"
    assert sum(part.numbers["income"][0].size for part in file.parts(["income"])) == 9


@pytest.mark.parametrize("names", ['income,"b,z', '"income,b,z', 'income,"b"",z', 'income,b,"'])
@pytest.mark.parametrize("record", ["1,2,3\n", '1,"",3\n', '1,"2",3\n', '"1","2","3"\n'])
def test_a_quote_left_open_in_a_header_is_refused(tmp_path, names, record):
    """Its records would be copied with it, as they are."""
    (tmp_path / "a.csv").write_text(names + "\n" + record * 101)
    with pytest.raises(ValueError, match=r"every quote is closed|not a line of CSV|fields in line"):
        next(CsvFile(tmp_path / "a.csv").parts([]))


def test_a_quote_that_nothing_closes_is_named(tmp_path):
    (tmp_path / "a.csv").write_text('income,"b,z\n' + "1,2,3\n" * 101)
    with pytest.raises(ValueError, match=r"a header of at most 4 MB in which every quote is closed"):
        CsvFile(tmp_path / "a.csv")


def test_no_more_is_read_for_a_header_than_one_may_have(tmp_path, monkeypatch):
    read, here = [], csv_format.read_bytes
    monkeypatch.setattr(csv_format, "LONGEST", 1 << 18)
    monkeypatch.setattr(csv_format, "read_bytes", lambda *given: read.append(given[2]) or here(*given))
    (tmp_path / "a.csv").write_text("a" * 1_000_000)

    with pytest.raises(ValueError, match=r"a\.csv must have a header of at most 0 MB"):
        CsvFile(tmp_path / "a.csv")
    assert sum(read) <= (1 << 18) + csv_format.SAMPLE
