"""Files in, files out: what is masked is what memory has, and all else comes back as it was, cell
by cell."""

import csv
import gzip
import io

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from worlds import (
    AGE,
    JOINT,
    KEY,
    PAY,
    assert_same,
    in_memory,
    masked,
    numbers,
    people,
    read,
    write,
)

import condmask as cm

SCORE = cm.ConditionalMasking(0.6, 5.0, decimals=3)
ALL = {**JOINT, "score": SCORE, "euro": cm.ConditionalMasking(0.6, 500.0, decimals=2)}
TYPES = {
    "pay": pa.float64(),
    "age": pa.int64(),
    "score": pa.float32(),
    "euro": pa.decimal128(6, 2),
}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("out", ["parquet", "arrow"])
def test_a_table_comes_back_with_its_types_nulls_and_order(tmp_path, form, out):
    table = people()
    source = write(table, tmp_path / f"a.{form}", row_group_size=77)
    release = masked(source, tmp_path / f"b.{out}", ALL)

    found = read(tmp_path / f"b.{out}")
    expected = in_memory(table, ALL)
    assert found.schema.names == table.schema.names
    for name in table.schema.names:
        if name in ALL:
            assert found.schema.field(name).type == TYPES[name]
            assert_same(found[name], expected[name])
            assert not np.array_equal(numbers(found[name]), numbers(table[name]), equal_nan=True)
        elif name == "region":
            assert pa.types.is_dictionary(found[name].type)
            assert found[name].to_pylist() == table[name].to_pylist()
        else:
            assert found.schema.field(name).type == table.schema.field(name).type
            assert found[name].equals(table[name])
    assert release.records == 600
    assert release.parts == (600,)
    assert dict(release.schemes) == ALL


def test_integers_with_noise_that_is_not_whole_become_float_and_mapped_ones_stay(tmp_path):
    source = write(people(), tmp_path / "a.parquet")
    masked(source, tmp_path / "b.parquet", {"age": cm.ConditionalMasking(0.6, 9.0, decimals=1)})
    masked(
        source,
        tmp_path / "c.parquet",
        {"age": cm.ReverseMapping(0.6, 9.0)},
    )

    assert read(tmp_path / "b.parquet").schema.field("age").type == pa.float64()
    mapped = read(tmp_path / "c.parquet")["age"]
    assert mapped.type == people()["age"].type
    assert sorted(mapped.to_pylist()) == sorted(people()["age"].to_pylist())


def test_codecs_of_the_source_are_kept(tmp_path):
    codecs = dict.fromkeys(people().select(["id", "pay", "age", "note"]).schema.names, "zstd")
    codecs |= {"note": "gzip", "id": "none"}
    source = write(people().select(list(codecs)), tmp_path / "a.parquet", compression=codecs)
    masked(source, tmp_path / "b.parquet")

    group = pq.read_metadata(tmp_path / "b.parquet").row_group(0)
    columns = [group.column(k) for k in range(4)]
    found = {column.path_in_schema: column.compression for column in columns}
    assert found == {"id": "UNCOMPRESSED", "pay": "ZSTD", "age": "ZSTD", "note": "GZIP"}


def test_pandas_gets_its_index_and_types_back_and_of_attributes_the_mark_alone(tmp_path):
    frame = people().select(["id", "day", "pay", "region", "time"]).to_pandas().set_index("id")
    frame["hours"] = pd.array([None if k % 7 == 0 else k % 40 for k in range(600)], "Int64")
    frame["age"] = pd.array(np.random.default_rng(2).integers(18, 90, 600), "Int64")
    frame.iloc[:60:4, frame.columns.get_loc("age")] = None
    frame.columns.name = "what"
    frame.attrs["checked by"] = "us"
    frame.to_parquet(tmp_path / "a.parquet")
    masked(tmp_path / "a.parquet", tmp_path / "b.parquet")

    found = pd.read_parquet(tmp_path / "b.parquet")
    plain = frame.drop(columns=list(JOINT))
    pd.testing.assert_frame_equal(found.drop(columns=list(JOINT)), plain, check_freq=False)
    assert found.dtypes[["pay", "age"]].astype(str).to_dict() == {"pay": "float64", "age": "Int64"}
    assert found["age"].isna().tolist() == frame["age"].isna().tolist()
    assert found.attrs == {"condmask": {"version": 1, "columns": [*JOINT], "records": len(frame)}}


def by_duckdb(table, path):
    import duckdb  # which the lowest versions do without

    with duckdb.connect() as own:
        own.register("t", table)
        own.sql(f"copy t to '{path}' (format parquet, row_group_size 2048)")


def from_duckdb(path):
    import duckdb

    with duckdb.connect() as own:
        return own.sql(f"select * from read_parquet('{path}')").to_arrow_table()


def by_fastparquet(table, path):
    import fastparquet

    frame = table.to_pandas()
    fastparquet.write(str(path), frame.assign(id=frame["id"].astype(object)), compression="ZSTD")


def from_fastparquet(path):
    import fastparquet

    content = io.BytesIO(path.read_bytes())
    frame = fastparquet.ParquetFile("a", open_with=lambda *_: content).to_pandas()
    return pa.Table.from_pandas(frame, preserve_index=False)


PROGRAMS = {
    "DuckDB": (by_duckdb, from_duckdb),
    "fastparquet": (by_fastparquet, from_fastparquet),
    "polars": (
        lambda table, path: pl.from_arrow(table).write_parquet(path),
        lambda path: pl.read_parquet(path).to_arrow(),
    ),
    "pandas": (
        lambda table, path: table.to_pandas().to_parquet(path),
        lambda path: pa.Table.from_pandas(pd.read_parquet(path), preserve_index=False),
    ),
}


@pytest.mark.parametrize("writer", PROGRAMS)
def test_other_programs_write_what_is_read_and_read_what_is_written(tmp_path, writer):
    table = people(5_000).select(
        ["id", "pay", "age", "yes" if writer != "fastparquet" else "score"]
    )
    PROGRAMS[writer][0](table, tmp_path / "a.parquet")
    masked(tmp_path / "a.parquet", tmp_path / "b.parquet")

    expected = in_memory(table)
    for _, back in PROGRAMS.values():
        found = back(tmp_path / "b.parquet")
        assert found.schema.names == table.schema.names
        for name in JOINT:
            assert_same(found[name], expected[name])
        for name in (name for name in table.schema.names if name not in JOINT):
            assert found[name].to_pylist() == table[name].to_pylist()


def test_views_of_text_come_back_as_such(tmp_path):
    frame = pl.from_arrow(people().select(["pay", "region", "note"]))
    frame = frame.with_columns(
        pl.struct("note").alias("pair"), pl.concat_list("note").alias("list")
    )
    frame = frame.with_columns(pl.col("list").list.to_array(1).alias("array"))
    frame.write_ipc(tmp_path / "a.arrow", compat_level=pl.CompatLevel.newest())
    for options in ({"shuffle": True}, {"part_rows": 400}):
        release = masked(
            tmp_path / "a.arrow", tmp_path / "b.arrow", {"pay": PAY}, force=True, **options
        )
        assert read(release.path).schema.types == read(tmp_path / "a.arrow").schema.types
    assert pl.read_ipc(release.path).drop("pay").equals(frame.drop("pay"))


def test_notes_are_left_out_unless_they_are_kept_by_name(tmp_path):
    table = (
        people()
        .select(["id", "pay", "age"])
        .replace_schema_metadata({"geo": "{}", "made by": "us"})
    )
    field = table.schema.field("id").with_metadata({"unit": "none", "geo": "x"})
    table = table.set_column(0, field, table["id"])
    field = table.schema.field("pay").with_metadata({"geo": "of pay"})
    table = table.set_column(1, field, table["pay"])
    source = write(table, tmp_path / "a.arrow")
    masked(source, tmp_path / "b.arrow")
    masked(source, tmp_path / "c.arrow", keep_metadata=["geo"])

    bare = read(tmp_path / "b.arrow").schema
    kept = read(tmp_path / "c.arrow").schema
    mark = {b"PANDAS_ATTRS", b"pandas"}
    assert set(bare.metadata) == {b"condmask", *mark}
    assert kept.metadata[b"geo"] == b"{}"
    assert set(kept.metadata) == {b"condmask", b"geo", *mark}
    assert [bare.field(name).metadata for name in bare.names] == [None, None, None]
    assert [kept.field(name).metadata for name in kept.names] == [{b"geo": b"x"}, None, None]
    with pytest.raises(
        ValueError, match=r"keep_metadata must name .* got 'other'; it has \['geo', "
    ):
        masked(source, tmp_path / "d.arrow", keep_metadata=["other"])


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_a_masked_frame_is_written(tmp_path, form):
    table = people(5_000).select(["id", "pay", "age", "region"])
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        release = cm.mask_table(
            frame, JOINT, strata="region", rng=KEY, nan_policy="omit", accept="all"
        )
        target = tmp_path / f"all.{form}"
        release.write(target, force=True, log=False)
        with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
            release.write(target, log=False)
        found = read(target)
        assert found["id"].to_pylist() == table["id"].to_pylist()
        for name in JOINT:
            assert_same(found[name], in_memory(table, strata="region")[name])
        again = cm.read_release(target)
        assert again["pay"].mean() == release["pay"].mean()
        assert again["pay"].correlation("age") == release["pay"].correlation("age")
        assert again["pay"].group_means("region") == release["pay"].group_means("region")


@pytest.mark.parametrize("make", [dict, pl.DataFrame, pa.table])
def test_gaps_that_are_nan_and_strata_of_any_kind_are_those_of_the_frame(tmp_path, make):
    random = np.random.default_rng(2)
    n = 900
    strata = {"zero": [0.0, -0.0, 1.0], "gap": [None, float("nan"), 1.0], "text": ["", None, "a"]}
    for kind, labels in strata.items():
        pay = random.lognormal(7.0, 0.5, n).round(2)
        group = [labels[k] for k in random.integers(0, 3, n)]
        pay[::9] = np.nan
        frame = make({"pay": pay, "age": random.normal(size=n), "group": group})
        scheme = {"pay": cm.ConditionalMasking(0.6, 500.0, decimals=2, strata="group")}
        release = cm.mask_table(frame, scheme, nan_policy="omit", accept="all")
        told = release["pay"].covariance("age")
        release.write(tmp_path / f"{kind}.parquet", log=False)
        assert cm.read_release(tmp_path / f"{kind}.parquet", "pay").covariance("age") == told
        with pytest.raises(cm.FileError, match="group has strata that are others in text"):
            release.write(tmp_path / f"{kind}.csv", log=False)
    scheme = {"pay": PAY}
    release = cm.mask_table(frame, scheme, nan_policy="omit", accept="all")
    release.write(tmp_path / "a.csv", log=False)
    assert cm.read_release(tmp_path / "a.csv", "pay").mean() == release["pay"].mean()


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_a_second_column_of_a_release_is_refused(tmp_path, form):
    source = write(people().select(["id", "pay", "age"]), tmp_path / f"a.{form}")
    masked(source, tmp_path / f"b.{form}", {"pay": PAY})

    with pytest.raises(
        ValueError, match=r"^pay is masked already in .*: mask all columns in one call"
    ):
        masked(tmp_path / f"b.{form}", tmp_path / f"c.{form}", {"age": AGE})
    assert not (tmp_path / f"c.{form}").exists()


INCOME = np.random.default_rng(4).lognormal(7.0, 0.5, 60).round(2)
UNROUNDED = cm.ConditionalMasking(0.6, 500.0)
FINE = cm.ConditionalMasking(0.6, 5e-7)


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
    masked(
        folder / name, folder / f"masked {name}", schemes or {"pay": PAY}, force=True, **options
    )
    return (folder / f"masked {name}").read_bytes()


@pytest.mark.parametrize(
    ("written", "encoding", "options", "name"),
    [
        ({}, "utf-8", {}, "a.csv"),
        ({"end": "\r\n"}, "utf-8-sig", {}, "a.txt"),
        ({"delimiter": ";", "decimal": ","}, "cp1252", {"encoding": "cp1252"}, "a.csv"),
        (
            {"delimiter": ";", "decimal": ",", "above": "sep=;\r\n", "end": "\r\n"},
            "utf-8",
            {},
            "a.csv",
        ),
        (
            {"delimiter": "|", "decimal": ","},
            "latin-1",
            {"encoding": "latin-1", "decimal": ","},
            "a.csv",
        ),
        ({"delimiter": "\t"}, "utf-16", {}, "a.tsv"),
        ({"delimiter": ","}, "utf-16-le", {"encoding": "utf-16"}, "a.csv"),
        (
            {"delimiter": ";", "end": "\r\n"},
            "utf-16-be",
            {"encoding": "utf-16-be", "decimal": "."},
            "a.csv",
        ),
        ({"delimiter": "~", "end": "\r", "above": "SEP=~\r"}, "utf-8", {}, "a.csv"),
        ({}, "utf-8", {}, "a.csv.gz"),
    ],
)
def test_a_file_in_any_writing_comes_back_byte_for_byte(
    tmp_path, written, encoding, options, name
):
    form = cm.CsvFormat(**options) if options else None
    pack = gzip.compress if name.endswith("gz") else bytes
    unpack = gzip.decompress if name.endswith("gz") else bytes
    found = mask_bytes(
        tmp_path, pack(text(INCOME, **written).encode(encoding)), name=name, csv=form
    )

    assert unpack(found) == text(memory(INCOME), **written).encode(encoding)
    # which needs not be told the format again
    release = cm.read_release(tmp_path / f"masked {name}")
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
    mapped = cm.ReverseMapping(0.6, 500.0)
    small = np.append(INCOME * 1e-9, np.array([5e-12, 7e-15, 0.25, 3.0]))
    tiny = cm.ReverseMapping(0.6, 5e-7)
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
    assert sorted(found) == sorted(cells)  # as they are written
    few = [f"{value!r}" for value in memory(small, FINE).tolist()]
    found = column(mask_bytes(tmp_path, text(cells).encode(), {"pay": FINE}))
    assert sorted(map(float, found)) == sorted(map(float, few))
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
def test_whatever_python_writes_comes_back_equal_for_python(
    tmp_path_factory, rows, delimiter, end, quoting
):
    folder = tmp_path_factory.mktemp("any")
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["first", "pay", 'the "last"'])
    for k, value in enumerate(INCOME):
        first, last = rows[k % len(rows)]
        writer.writerow([first, f"{value:.2f}", last])
    expected = list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter))
    # Python 3.11 may leave a carriage return bare, and itself reads it as the end of a line
    hypothesis.assume(len(expected) == 1 + len(INCOME))
    form = cm.CsvFormat(delimiter=delimiter, decimal=".")
    found = mask_bytes(folder, file.getvalue().encode(), csv=form).decode()

    for row, value in zip(expected[1:], memory(INCOME), strict=True):
        row[1] = f"{value:.2f}"
    assert list(csv.reader(io.StringIO(found, newline=""), delimiter=delimiter)) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_cells_across_blocks_of_the_reader_are_whole(tmp_path, end):
    random = np.random.default_rng(3)
    n = 60_000
    pay = random.lognormal(7.0, 0.5, n).round(2)
    pieces = np.array(
        ["plain", f'"two{end}lines"', '"a,b"', '"say ""no"""', '"é' + "x" * 90 + f'{end},"']
    )
    notes = pieces[random.integers(0, 5, n)]

    def content(values):
        lines = (
            f"{k},{value:.2f},{note}"
            for k, (value, note) in enumerate(zip(values, notes, strict=True))
        )
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
        (
            "7.341",
            cm.CsvFormat(delimiter="|", decimal=","),
            "the decimal mark ',', got another text",
        ),
        ("-", None, r"pass csv=CsvFormat\(decimal=..., na=...\) to say how they are written"),
        ("9007199254740994", None, "numbers of at most 2.53 with .* got another text in row 3"),
    ],
)
def test_what_is_no_number_is_refused_with_its_row_and_without_its_text(
    tmp_path, cell, form, message
):
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
        (
            b'id,"pay\nx",y\n1,2,3\n',
            {},
            "must have a header of one line in which every quote is closed",
        ),
        (b"pay,id,pay\n1,2,3\n", {}, "has more than one column 'pay'"),
        (
            b"id,pay\n1,2\n1,2,3\n",
            {},
            "it is damaged, or of another format, encoding or delimiter",
        ),
        (
            "id,pay,é\n1,2,3\n".encode("latin-1"),
            {},
            r"another format, encoding or delimiter; pass csv=CsvFormat\(encoding=",
        ),
        (b"id,pay\n", {}, "pay must have at least 2 values, got 0"),
        (b"id,pay", {}, "it is damaged, or of another format"),
        (b"i" * (1 << 20) + b",pay\n1,2\n", {}, "must have a header of one line"),
        (
            b"id,pay\n1,2\n",
            {"delimiter": "7"},
            "delimiter must be one character other than a letter",
        ),
        (b"id,pay\n1,2\n", {"decimal": "x"}, "decimal must be one of"),
        (
            b"id,pay\n1,2\n",
            {"encoding": "hex"},
            "encoding must be the name of an encoding of text",
        ),
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
    ("name", "header", "row"),
    [("a.tsv", 'x,y,z\t "pay"', "1,2\t{}\n"), ("a.csv", '"x;y,z"|pay', "1,2|{}\n")],
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
            assert list(columns[name]) == [
                "" if v is None else str(v) for v in table[name].to_pylist()
            ]
        for name, places in (("pay", 2), ("age", 0)):
            assert list(columns[name]) == [
                "" if value is None else f"{value:.{places}f}"
                for value in expected[name].to_pylist()
            ]
        assert list(cm.read_release(path)) == list(JOINT)
    with pytest.raises(
        cm.FileError, match=r"list cannot be written as text, got .*: leave it out"
    ):
        masked(write(people(), source), tmp_path / "c.csv")
    for name in ("pay\nnet", " pay"):  # which reading would not find
        write(table.rename_columns([name, *table.schema.names[1:]]), source)
        with pytest.raises(
            ValueError, match=r"c\.csv must have names without line breaks and blanks around"
        ):
            masked(source, tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()
    assert AGE.decimals == 0
