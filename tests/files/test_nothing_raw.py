"""No original in what is written but those that swapped records carry, and none in what is said.

Oracle: a search of bytes for every original, in the forms in which files hold numbers, that finds all of them
in the source.
"""

import json
import os
import struct
import traceback

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from worlds import KEY, masked, write

import condmask as cm

N = 400
PAY = np.random.default_rng(6).lognormal(14.0, 0.5, N).round(2)  # digits enough to be found by chance never
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
            forms = [f"{value!r}".encode(), *(struct.pack(f"<{form}", value) for form in FORMS[name])]
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
    release = cm.mask_table(frame, pay, accept_visible_coins=True)
    release.write(tmp_path / f"frame.{form}", log=False)
    cm.mask_file(source, tmp_path / f"file.{form}", pay, log=False, accept_visible_coins=True)

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
