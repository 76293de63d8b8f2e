"""No original in what is written but those that swapped records carry, and none in what is
said."""

import json
import os
import struct
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columns import DIGITS, GENERIC, LARGE, VALUE
from worlds import KEY, masked, write

import condmask as cm
from condmask.errors import collect_warnings, warn

N = 400
# digits enough to be found by chance never
PAY = np.random.default_rng(6).lognormal(14.0, 0.5, N).round(2)
VISITS = np.random.default_rng(7).integers(10**8, 10**9, N).astype(np.int32)
SCHEMES = {
    "pay": cm.ConditionalMasking(0.05, 3e5, decimals=2),
    "visits": cm.ConditionalMasking(0.05, 1e8, decimals=0),
}
FORMS = {"pay": "d", "visits": "iq"}  # no shorter ones, which are found by chance


def table(form="parquet"):
    """A table with originals in all places where a program might leave them."""
    frame = pd.DataFrame(
        {"pay": PAY, "place": [f"p{k % 7}" for k in range(N)], "visits": VISITS},
        index=pd.Index(range(N), name="row"),
    )
    frame.attrs = {"largest": float(PAY.max())}
    found = pa.Table.from_pandas(frame)
    if form == "csv":
        return found.select(["pay", "place", "visits"])
    texts = json.dumps({"pay": PAY.tolist(), "visits": VISITS.tolist()})
    found = found.replace_schema_metadata({**found.schema.metadata, b"computed": texts.encode()})
    for name in ("pay", "place"):
        field = found.schema.field(name).with_metadata({"of pay": texts})
        found = found.set_column(found.schema.get_field_index(name), field, found[name])
    return found


def originals_in(content, released):
    """The originals, other than those released, that are in these bytes in any form."""
    found = set()
    for name, values in (("pay", PAY), ("visits", VISITS)):
        kept = set(released[name])
        for value in (value for value in values.tolist() if value not in kept):
            forms = [
                f"{value!r}".encode(),
                *(struct.pack(f"<{form}", value) for form in FORMS[name]),
            ]
            if any(form in content for form in forms):
                found.add((name, value))
    return found


NOTHING = {"pay": [], "visits": []}


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("parts", [None, 100])
def test_no_file_of_a_release_holds_an_original(tmp_path, monkeypatch, form, parts):
    options = {"row_group_size": 50}
    if form == "parquet":
        options |= {
            "write_page_index": True,
            "use_dictionary": ["pay", "place"],
            "store_decimal_as_integer": True,
        }
    write(table(form), tmp_path / f"in/a.{form}", **options)
    write(table(form), tmp_path / f"in/b.{form}", **options)
    assert len(originals_in((tmp_path / f"in/a.{form}").read_bytes(), NOTHING)) == 2 * N
    (tmp_path / "out").mkdir()
    hidden = []

    def named(before, after, *, replace=os.replace):
        hidden.append(b"".join(path.read_bytes() for path in before.rglob("*") if path.is_file()))
        replace(before, after)

    monkeypatch.setattr("os.replace", named)
    one = masked(tmp_path / f"in/a.{form}", tmp_path / f"out/one.{form}", SCHEMES, part_rows=parts)
    many = masked(tmp_path / "in", tmp_path / "out/many", SCHEMES, part_rows=parts, rng=9)
    released = {
        name: [*cm.read_column(one.path, name).tolist(), *cm.read_column(many.path, name).tolist()]
        for name in SCHEMES
    }
    shown = sum(value in released["pay"] for value in PAY.tolist())
    assert 0 < shown < 0.3 * N  # those of swapped records
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) == {"parquet": 4, "arrow": 4, "csv": 5}[form]
    for content in (*written, *hidden):
        assert not originals_in(content, released)


def test_originals_in_a_dictionary_are_not_released(tmp_path):
    coded = table().set_column(0, "pay", pa.array(PAY).dictionary_encode())
    for form in ("parquet", "arrow"):
        source = write(coded.replace_schema_metadata(None), tmp_path / f"a.{form}")
        try:
            release = masked(source, tmp_path / f"b.{form}", {"pay": SCHEMES["pay"]})
        except (TypeError, ValueError):
            assert not (tmp_path / f"b.{form}").exists()
            continue
        released = {"pay": cm.read_column(release.path, "pay").tolist(), "visits": VISITS.tolist()}
        assert not originals_in(release.path.read_bytes(), released)


def test_a_key_is_in_no_file_and_no_message(tmp_path):
    secret = b"sixteen of tests"
    source = write(table(), tmp_path / "a.parquet")
    masked(source, tmp_path / "b.parquet", SCHEMES, rng=cm.Key(secret))
    masked(source, tmp_path / "c.csv", SCHEMES, rng=KEY)
    for path in tmp_path.iterdir():
        assert secret not in path.read_bytes()
        assert secret.hex().encode() not in path.read_bytes()
    with pytest.raises(cm.FileError) as caught:
        masked(source, tmp_path / "b.parquet", SCHEMES, rng=KEY)
    assert "sixteen" not in "".join(traceback.format_exception(caught.value))
    assert pq.read_metadata(tmp_path / "b.parquet").num_rows == N


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_labels_that_no_record_has_are_left_out(form, tmp_path):
    # two of a large file were kept: pandas and Arrow keep the names of all others
    names = pd.Categorical.from_codes(
        np.arange(N) % 2 * 3, ["low", "Ann Lee", "Bo Roy", "high"], ordered=True
    )
    frame = pd.DataFrame({"pay": PAY, "name": names})
    frame.loc[3, "name"] = None
    source = write(pa.Table.from_pandas(frame), tmp_path / "in.arrow")
    pay = {"pay": SCHEMES["pay"]}
    release = cm.mask_table(frame, pay, accept="all")
    release.write(tmp_path / f"frame.{form}", log=False)
    cm.mask_file(source, tmp_path / f"file.{form}", pay, log=False, accept="all")

    for place in ("frame", "file"):
        path = tmp_path / f"{place}.{form}"
        assert b"Bo Roy" not in path.read_bytes()
        if form == "parquet":
            back = pd.read_parquet(path)["name"]
            assert back.cat.categories.tolist() == ["low", "high"]
            assert back.cat.ordered
            assert back.astype(object).where(back.notna(), None).tolist() == [
                None if k == 3 else ("low", "high")[k % 2] for k in range(N)
            ]


pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")

REST = GENERIC * 1e3
NO_NUMBER = "x must hold numbers"
CODE = "missing must say whether -9 in x"


def scheme(sigma=1e4, **options):
    return cm.ConditionalMasking(0.6, sigma, **options)


def among(value, rest=REST, dtype=float):
    return np.append(rest, value).astype(dtype)


COLUMNS = {  # the scheme, the column, and how the message begins; of a CSV file, too
    "missing": (
        scheme(),
        np.append(REST, [VALUE, np.nan]),
        "x has 1 missing value, the first at position",
    ),
    "infinite": (
        scheme(),
        np.append(REST, [VALUE, np.inf]),
        "x must be finite, got 1 infinite",
        NO_NUMBER,
    ),
    "beyond": (scheme(), among(-VALUE * 1e301), "x must be at most 4.5e+307 in size", NO_NUMBER),
    "off the step": (
        scheme(step=0.25),
        among(VALUE, np.arange(10)),
        "x must hold multiples of its step",
    ),
    "too many steps": (
        scheme(1.0, decimals=12),
        among(VALUE),
        "x must stay within 2^53 steps of 1e-12",
    ),
    "large integers": (
        scheme(),
        np.array([1, LARGE * 10**7]),
        "x must hold integers of at most",
        NO_NUMBER,
    ),
    "one record": (scheme(), np.array([VALUE]), "x must have at least 2 values"),
    "a code": (scheme(), among(VALUE, np.where(np.arange(900) % 9, np.arange(900), -9)), CODE),
}


def assert_silent(call, beginning):
    """The refusal says this, and all that a log would have of it shows no digits of the value."""
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        call()
    log = "".join(traceback.format_exception(caught.value))
    assert beginning in str(caught.value)
    assert not [form for form in DIGITS if form in log]


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_refused_file_is_not_shown(tmp_path, name, suffix):
    masking, x, *said = COLUMNS[name]
    source = write(pa.table({"x": x}), tmp_path / f"a.{suffix}")

    beginning = said[-1 if suffix == "csv" else 0]
    assert_silent(
        lambda: cm.mask_file(source, tmp_path / f"b.{suffix}", {"x": masking}), beginning
    )


TEXTS = {
    "a unit": ("x\n1.5\n{value} kg\n", NO_NUMBER),
    "an underscore": ("x\n1.5\n8_675_309.123\n", NO_NUMBER),
    "a comma": ('x\n1.5\n"8,675,309.123"\n', NO_NUMBER),
    "a large integer": ("x\n1.5\n{whole}0000000\n", "x must hold numbers of at most 2^53 with"),
    "no header": (
        "{value},y\n1.5,2\n",
        "{path} has no column 'x'; it has 'y' and 1 named by numbers",
    ),
    "a field too few": ("x,y\n{value}\n", "{path} cannot be read"),
    "a field too many": ("x\n{value},2\n", "{path} cannot be read"),
    "no text": ("x\n1.5\n{value}\udcff\n", "{path} cannot be read"),
    "a header of bytes": ("x\udcff{value}\n1.5\n", "{path} cannot be read"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_refused_text_is_not_shown(tmp_path, name):
    text, beginning = TEXTS[name]
    source = tmp_path / "a.csv"
    source.write_bytes(text.format(value=VALUE, whole=LARGE).encode(errors="surrogateescape"))

    assert_silent(
        lambda: cm.mask_file(source, tmp_path / "b.csv", {"x": scheme()}),
        beginning.format(path=source),
    )


def test_a_column_of_mixed_types_beside_it_is_not_shown(tmp_path):
    frame = pd.DataFrame({"x": GENERIC.repeat(20), "note": [1.5] * 199 + [str(VALUE)]})
    release = cm.mask_table(frame, {"x": scheme(1.0, step=0)}, accept="all")

    assert_silent(
        lambda: release.write(tmp_path / "b.parquet"), "frame['note'] must be a column of one"
    )


def test_positions_are_those_of_the_whole_file(tmp_path):
    n = 70_001
    x = np.random.default_rng(1).normal(size=n).round(3)
    x[n - 2] = 0.00012
    large = np.arange(n)
    large[n - 1] = 2**60
    for suffix in ("parquet", "arrow", "csv"):
        source = write(pa.table({"x": x}), tmp_path / f"a.{suffix}")
        target = tmp_path / f"b.{suffix}"
        with pytest.raises(ValueError, match=rf"got another number at position {n - 2};"):
            cm.mask_file(source, target, {"x": scheme(0.5, decimals=3)}, accept="all")
        source = write(pa.table({"x": large}), tmp_path / f"e.{suffix}")
        where = (
            rf"another text in row {n} "
            if suffix == "csv"
            else f"a larger one at position {n - 1};"
        )
        with pytest.raises(ValueError, match=f"got {where}"):
            cm.mask_file(source, target, {"x": scheme(decimals=0)})
    far = np.append(REST.repeat(7_000), 1e12)
    with pytest.raises(ValueError, match=rf"got a value beyond at position {far.size - 1};"):
        scheme(sigma=1.0, step=2.0**-14).mask(np.rint(far * 2**14) / 2**14)


INCOMES = np.random.default_rng(2).lognormal(10.0, 0.6, 2_000)
AUDITED = {  # what an audit refuses, or warns of
    "half have one value": np.where(np.arange(2_000) % 2, INCOMES, VALUE),
    "zeros and one value": np.where(
        np.arange(2_000) % 3, INCOMES, np.where(np.arange(2_000) % 2, 0.0, VALUE)
    ),
    "heaped": np.append(np.rint(INCOMES / 100) * 100, VALUE),
    "whole but one": np.append(np.rint(INCOMES), VALUE),
    "one far out": np.append(INCOMES, VALUE),
    "sorted": np.sort(np.append(INCOMES, VALUE)),
    "two values": np.where(np.arange(2_000) % 2, VALUE, 12.5),
}


@pytest.mark.parametrize("options", [{}, {"decimals": 2}, {"step": 0}], ids=repr)
@pytest.mark.parametrize("name", AUDITED)
def test_what_an_audit_says_shows_no_value(name, options):
    masking = scheme(5e3, missing=None, **options)  # which would be asked about
    x = AUDITED[name].round(2) if "decimals" in options else AUDITED[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            masking.mask(x)
        except ValueError as error:
            log = "".join(traceback.format_exception(error))
        else:
            log = ""
    said = log + " ".join(str(warning.message) for warning in caught)

    assert not [form for form in DIGITS if form in said]


def test_a_warning_from_outside_points_at_the_line_of_the_call():
    with pytest.warns(UserWarning, match="^careful$") as caught:
        warn("careful", UserWarning)

    assert caught[0].filename == __file__


def test_a_warning_from_deep_inside_points_at_the_users_line():
    column = [100.26, 100.51, 101.02, 101.13] * 10
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cm.ConditionalMasking(0.6, 4.0, decimals=1).mask(column, rng=1, round=True, accept="all")

    assert [each.filename for each in caught] == [__file__]


def test_each_thread_hears_its_own_warnings_and_the_filters_stay():
    filters = list(warnings.filters)
    first_in = Event()
    second_in = Event()
    first_out = Event()

    def first():
        with collect_warnings(UserWarning) as texts:
            first_in.set()
            second_in.wait(60)
            warn("of the first", UserWarning)
        first_out.set()
        return texts

    def second():
        first_in.wait(60)
        with collect_warnings() as texts:
            second_in.set()
            first_out.wait(60)
            warn("of the second", ResourceWarning)
            with collect_warnings(UserWarning) as inner:
                warn("not of the inner's category", ResourceWarning)
                warn("the inner's", UserWarning)
        return texts, inner

    with ThreadPoolExecutor(2) as pool:
        found = [each.result() for each in (pool.submit(first), pool.submit(second))]

    assert found == [
        ["of the first"],
        (["of the second", "not of the inner's category"], ["the inner's"]),
    ]
    assert warnings.filters == filters
    with pytest.warns(UserWarning, match="^again$"):
        warn("again", UserWarning)
