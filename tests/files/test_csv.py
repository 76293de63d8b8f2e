"""CSV files: nothing of an original value is left over, and what is no number is refused.

Oracle: the bytes that were written, and Python's csv module.
"""

import csv
import warnings

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.files import csv_scan

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 500.0)
FIRST = [f"{i},{1000 + i}.123456,z" for i in range(12)]


def mask(folder, lines, *, head="id,income,note", ending="\n", schemes=None, **options):
    """Mask a file of these lines; what was written."""
    source, target = folder / "a.csv", folder / "b.csv"
    source.write_bytes((ending.join([head, *lines]) + ending).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        cm.mask_file(source, target, schemes or {"income": SCHEME}, rng=1, overwrite=True, **options)
    return target.read_bytes().decode()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # an unquoted thousands separator would mask "1" and publish "234.56"
        ("12,1,234.56,z", "has too many fields in line 14"),
        ("12,234.56", "has too few fields in line 14"),
        # "7" would be masked and 654321 published
        ('12,"7"654321,z', "has text after a closing quote in line 14"),
    ],
)
def test_a_record_out_of_shape_is_refused(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        mask(tmp_path, [*FIRST, line])

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


TEXTS = ["much", "1_000", "\u0661\u0662", "0x10", "True", '1""5', "1.2.3", "--1", "1e", "1e+", ".", "-"]
WORDS = dict.fromkeys(TEXTS, "text")
COMMAS = {"1,5": r'a comma \(decimal=",", --decimal ,\)', "1,234": r"a comma \(decimal="}
SEPARATED = ["1,234.5", "1.234,5", "1'234", "1 234,50", "1.234.567", "1\u202f234.5", "-1,234,567"]
NO_NUMBERS = {**WORDS, **COMMAS, **dict.fromkeys(SEPARATED, "some")}


@pytest.mark.parametrize(("word", "what"), NO_NUMBERS.items())
def test_what_is_no_number_is_refused(tmp_path, word, what):
    with pytest.raises(TypeError, match=rf"income must be numeric.*, got {what}.*in line 14"):
        mask(tmp_path, [*FIRST, f'12,"{word}",z'])


def test_integers_beyond_2_to_the_53_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"income must hold integers of at most 2\^53, got a larger one in line 14"
    ):
        mask(tmp_path, [*FIRST, "12,9007199254740993,z"])


@pytest.mark.parametrize("word", ["", '""', "NA", "nan", "NAN", "-nan", " ", "null"])
def test_missing_fields_stay_byte_for_byte(tmp_path, word):
    lines = mask(tmp_path, [*FIRST, f"12,{word},z"], nan_policy="omit").splitlines()

    assert lines[-1] == f"12,{word},z"
    assert all(a != b for a, b in zip(lines[1:-1], FIRST, strict=True))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["id,income,note", "income,id,note", "id,note,income"])
def test_several_columns_go_to_their_places(tmp_path, head, ending):
    schemes = {"income": SCHEME, "id": cm.ConditionalMasking(0.6, 3.0, decimals=0)}
    rows = [dict(zip(("id", "income", "note"), line.split(","), strict=True)) for line in FIRST]
    lines = [",".join(row[name] for name in head.split(",")) for row in rows]
    columns = {name: np.array([float(row[name]) for row in rows]) for name in schemes}
    columns["id"] = columns["id"].astype(int)

    text = mask(tmp_path, lines, head=head, ending=ending, schemes=schemes)

    expected = cm.mask_table(pd.DataFrame(columns), schemes, rng=1).data
    found = list(csv.DictReader(text.splitlines()))
    assert [float(row["income"]) for row in found] == expected["income"].tolist()
    assert [row["id"] for row in found] == [str(v) for v in expected["id"].tolist()]
    assert {row["note"] for row in found} == {"z"}
    assert text.count(ending) == 13


def test_fixed_decimals_are_written_out(tmp_path):
    lines = [f"{i},{i * 0.5:.1f},z" for i in range(12)]

    text = mask(tmp_path, lines, schemes={"income": cm.ConditionalMasking(0.6, 2.0, decimals=2)})

    assert all(len(line.split(",")[1].partition(".")[2]) == 2 for line in text.splitlines()[1:])


def test_a_quoted_name_may_hold_delimiters(tmp_path):
    text = mask(tmp_path, [line.replace(",", ";") for line in FIRST], head='"a,,,,,";income;note')

    assert text.startswith('"a,,,,,";income;note\n0;')


def test_chunks_do_not_show(tmp_path, monkeypatch):
    lines = [f'{i},"{1000 + i}.123456","z\n,""{i}"""' for i in range(300)]
    whole = mask(tmp_path, lines)
    monkeypatch.setattr(csv_scan, "CHUNK", 61)  # shorter than two records

    assert mask(tmp_path, lines) == whole


def test_strata_that_look_like_numbers_are_told_apart(tmp_path):
    """In a CSV file 01 and 1 are two labels, when masking and when estimating."""
    random = np.random.default_rng(3)
    values = random.normal(size=40)
    other = random.normal(size=40)
    label = ["01" if i % 2 else "1" for i in range(40)]
    lines = [f"{o},{v},{g}" for o, v, g in zip(other, values, label, strict=True)]

    mask(tmp_path, lines, strata="note")

    z = cm.read_column(tmp_path / "b.csv", "income")
    scheme = cm.read_schemes(tmp_path / "b.csv")["income"]
    assert np.array_equal(z, scheme.mask(pd.Series(values, name="income"), strata=label, rng=1))
    expected = scheme.estimate(z, strata=label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cm.read_release(tmp_path / "b.csv", "income").correlation(other) == pytest.approx(
            expected.correlation(other), rel=1e-12, nan_ok=True
        )


def test_a_scheme_that_lies_about_is_not_replaced_unasked(tmp_path):
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("\n".join(["id,income,note", *FIRST]))
    beside = tmp_path / "b.csv.condmask.json"
    beside.write_text("{}")

    with pytest.raises(cm.FileError, match=r"condmask\.json exists"):
        cm.mask_file(source, target, {"income": SCHEME})

    assert beside.read_text() == "{}"
    assert not target.exists()


def test_masked_values_never_stand_without_their_scheme(tmp_path, monkeypatch):
    replaced = []
    monkeypatch.setattr("condmask.files.atomic.os.replace", lambda _, final: replaced.append(final.name))

    (tmp_path / "b.csv").write_text("id,income,note\n")  # for mask() to read
    mask(tmp_path, FIRST)

    assert replaced == ["b.csv.README.md", "b.csv.condmask.json", "b.csv"]


def test_a_directory_is_no_target(tmp_path):
    (tmp_path / "b.csv").mkdir()

    with pytest.raises(cm.FileError, match="is a directory"):
        mask(tmp_path, FIRST)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_a_quote_left_open_does_not_read_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_scan, "CHUNK", 64)
    monkeypatch.setattr(csv_scan, "LONGEST", 256)

    with pytest.raises(ValueError, match="has a record of more than 0 MB, from line 14 on"):
        mask(tmp_path, [*FIRST, '12,"3,z', *FIRST * 50])


def test_line_breaks_of_old_macs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="income must have at least 2 values, got 0"):
        mask(tmp_path, FIRST, ending="\r")


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
        cm.mask_file(source, tmp_path / "b.csv", {"income": SCHEME})

    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("head", "small", "large"),
    [
        ("id,income,note", "{}", '"{}"'),
        ("id, income, note", "{}", " {}"),
        ("id, income, note", " {}", ' "{}"'),
        ("id, income, note", '"{}"', ' "{}"'),
    ],
)
@pytest.mark.parametrize("chunk", [200, 1 << 23])
def test_what_only_some_numbers_have_around_them_goes(tmp_path, monkeypatch, head, small, large, chunk):
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)
    values = np.random.default_rng(1).integers(400, 1_600, 300).tolist()
    cells = [(large if value > 999 else small).format(value) for value in values]
    lines = [f'{i},{cell},"z,{i}"' for i, cell in enumerate(cells)]
    lines[7], lines[9] = '7,"",z', "9,,z"
    scheme = cm.ConditionalMasking(0.6, 300.0, decimals=0)

    found = mask(tmp_path, lines, head=head, schemes={"income": scheme}, nan_policy="omit").splitlines()
    assert found[0] == head
    assert (found[8], found[10]) == (lines[7], lines[9])
    for i, line in enumerate(found[1:]):
        before, cell, after = line.split(",", 2)
        assert (before, after) == (str(i), "z" if i in (7, 9) else f'"z,{i}"')
        assert i in (7, 9) or str(int(cell)) == cell
    assert len(cm.read_release(tmp_path / "b.csv")) == 1


def test_what_all_numbers_have_around_them_stays(tmp_path):
    lines = [f'{i}, "{900 + i}", z' for i in range(300)]
    scheme = cm.ConditionalMasking(0.6, 100.0, decimals=0)

    found = mask(tmp_path, lines, head="id, income, note", schemes={"income": scheme}).splitlines()
    assert all(line.split(",")[1].startswith(' "') and line.split(",")[1].endswith('"') for line in found[1:])
