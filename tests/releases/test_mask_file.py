"""Files against masking the same column in memory, and against readers that are not ours (pyarrow, csv)."""

import csv
import errno
import json
import os
import stat
import subprocess
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask.files.csv import CsvFile
from condmask.releases import masking as files

pytestmark = pytest.mark.usefixtures("unaudited")

N = 70_001  # more than one block of 65,536
SCHEME = cm.ConditionalMasking(0.6, 500.0)
FORMATS = ["parquet", "arrow", "csv"]


def people(n=N):
    rng = np.random.default_rng(5)
    return pa.table({
        "id": np.arange(n),
        "income": rng.lognormal(6, 0.7, n),
        "age": pa.array(rng.integers(18, 90, n), pa.int32()),
        "region": pa.array(np.array(["north", "south, east", 'the "west"'])[rng.integers(0, 3, n)]),
        "small": pa.array(rng.normal(size=n), pa.float32()),
    }).replace_schema_metadata({b"made by": b"a test"})  # fmt: skip


def write(table, path, group=20_000):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=group, compression="zstd")
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\r\n")
            writer.writerow(table.column_names)
            columns = [table[name].to_pylist() for name in table.column_names]
            writer.writerows(["" if v is None else v for v in row] for row in zip(*columns, strict=True))
    return path


@pytest.fixture(scope="module", params=FORMATS)
def source(request, tmp_path_factory):
    return write(people(), tmp_path_factory.mktemp("people") / f"people.{request.param}")


def masked_income(scheme=SCHEME, **options):
    """The column of `people` masked in memory, under its name."""
    return scheme.mask(pd.Series(people()["income"].to_numpy(), name="income"), rng=3, **options).to_numpy()


def target_of(source, tmp_path):
    return tmp_path / f"masked{source.suffix}"


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_file_is_masked_as_its_column_is(source, tmp_path, workers):
    target = target_of(source, tmp_path)
    cm.mask_file(source, target, {"income": SCHEME}, rng=3, workers=workers)

    assert np.array_equal(cm.read_column(target, "income"), masked_income())


def test_the_estimate_needs_the_file_alone(source, tmp_path):
    target = target_of(source, tmp_path)
    cm.mask_file(source, target, {"income": SCHEME})
    estimate = cm.read_release(target, "income")

    assert estimate.scheme == SCHEME
    assert estimate.n == N
    # sd of the mean of Z: sqrt((Var X + .4 sigma^2 + 1.4 * .6 Var X) / n) = 3; six of them
    assert abs(estimate.mean() - np.mean(people()["income"])) < 18


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("group", [1_000, 65_536, N])
def test_all_else_stays(tmp_path, suffix, group):
    table = people()
    source = write(table, tmp_path / f"people.{suffix}", group)
    target = tmp_path / f"masked.{suffix}"
    cm.mask_file(source, target, {"income": SCHEME}, rng=3)
    found = pq.read_table(target) if suffix == "parquet" else pa.ipc.open_file(target).read_all()

    assert found.drop(["income"]).equals(table.drop(["income"]))
    assert found.schema.names == table.schema.names
    assert b"made by" not in found.schema.metadata
    assert found.schema.field("income") == table.schema.field("income")
    assert np.array_equal(found["income"].to_numpy(), masked_income())
    if suffix == "parquet":
        assert pq.ParquetFile(target).metadata.row_group(0).column(0).compression == "ZSTD"


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=8)


@given(
    rows=st.lists(st.tuples(FIELD, st.floats(-1e9, 1e9), FIELD), min_size=2, max_size=30),
    ending=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    last=st.booleans(),
    bom=st.booleans(),
)
def test_every_other_byte_of_a_csv_file_stays(rows, ending, delimiter, last, bom):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "a.csv"), Path(folder, "b.csv")
        with source.open("w", newline="", encoding="utf-8-sig" if bom else "utf-8") as file:
            writer = csv.writer(file, lineterminator=ending, delimiter=delimiter)
            writer.writerow(["first", "value", "last"])
            writer.writerows(rows)
        text = source.read_bytes()
        if not last:
            text = text.removesuffix(ending.encode())
            source.write_bytes(text)
        # of any numbers, which may have a grid of their own, and look like codes
        scheme = cm.ConditionalMasking(0.6, 1.0, step=0, missing=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cm.ReleaseWarning)
            # numbers drawn at random may all look like thousands
            cm.mask_file(source, target, {"value": scheme}, rng=1, csv=cm.CsvFormat(decimal="."))
        masked = target.read_bytes()
        with source.open(newline="", encoding="utf-8-sig") as file:
            before = list(csv.reader(file, delimiter=delimiter))
        with target.open(newline="", encoding="utf-8-sig") as file:
            after = list(csv.reader(file, delimiter=delimiter))

        assert [(a[0], a[2]) for a in after] == [(b[0], b[2]) for b in before]
        # putting the original numbers back gives the original bytes
        reader = CsvFile(target)
        pieces, row = [reader.dialect.header], 0
        parts = list(reader._records(["value"], tail=True))
        for chunk, starts, stops, *_ in parts:
            done = 0
            for a, b in zip(starts[:, 0], stops[:, 0], strict=True):
                pieces += (chunk[done:a], before[row + 1][1].encode())
                done, row = b, row + 1
            pieces.append(chunk[done:])
        assert len(masked) == len(b"".join(part.text for part in parts)) + len(reader.dialect.header)
        assert b"".join(pieces) == text


def test_columns_are_masked_together(source, tmp_path):
    target = target_of(source, tmp_path)
    schemes = {"income": SCHEME, "age": cm.ConditionalMasking(0.6, 20.0, decimals=0)}
    published = cm.mask_file(source, target, schemes, rng=3)
    frame = people().to_pandas()
    together = cm.mask_table(frame, schemes, rng=3).data

    assert published.group["income"] == published.group["age"] is not None
    for name in schemes:
        assert np.array_equal(cm.read_column(target, name), together[name])
    a, b = cm.read_release(target, "income"), cm.read_release(target, "age")
    assert abs(a.correlation(b)) < 0.1  # independent; sd about 1/sqrt(n) of a few = .01


def test_donors_stay_within_strata(source, tmp_path):
    target = target_of(source, tmp_path)
    cm.mask_file(source, target, {"income": SCHEME}, strata="region", rng=3)
    table = people()

    estimate = cm.read_release(target, "income")
    assert estimate.scheme.strata == "region"
    assert np.isfinite(estimate.correlation(table["age"].to_numpy()))
    alone = masked_income(estimate.scheme, strata=table["region"].to_pylist())
    assert np.array_equal(cm.read_column(target, "income"), alone)


@pytest.mark.parametrize("named", ["call", "scheme"])
def test_strata_of_several_columns_are_crossed(source, tmp_path, named):
    target, names = target_of(source, tmp_path), ["region", "age"]
    own, call = (None, names) if named == "call" else (names, None)
    scheme = cm.ConditionalMasking(0.6, 500.0, strata=own, small_strata="merge")
    cm.mask_file(source, target, {"income": scheme}, strata=call, rng=3)
    frame = people().to_pandas()

    estimate = cm.read_release(target, "income")
    assert estimate.scheme == replace(scheme, strata=tuple(names))
    assert np.array_equal(cm.read_column(target, "income"), masked_income(estimate.scheme, strata=frame))
    w = np.random.default_rng(1).normal(size=N)
    z = cm.read_column(target, "income")
    assert estimate.covariance(w) == estimate.scheme.estimate(z, strata=frame).covariance(w)
    if named == "scheme":
        with pytest.raises(ValueError, match="schemes must agree in strata"):
            cm.mask_file(source, target, {"income": scheme}, strata="region", overwrite=True)


@pytest.mark.parametrize("suffix", FORMATS)
def test_missing_values_stay_missing(tmp_path, suffix):
    income = pa.array([None if i % 7 == 0 else i + 0.123456 for i in range(500)])
    source = write(pa.table({"id": range(500), "income": income}), tmp_path / f"a.{suffix}")
    target = tmp_path / f"b.{suffix}"
    where = "in line 2" if suffix == "csv" else "at position 0"
    with pytest.raises(ValueError, match=f"income has 72 missing values, the first {where}"):
        cm.mask_file(source, target, {"income": SCHEME})
    assert not target.exists()
    cm.mask_file(source, target, {"income": SCHEME}, nan_policy="omit")

    assert np.array_equal(np.isnan(cm.read_column(target, "income")), np.arange(500) % 7 == 0)
    if suffix == "parquet":
        assert pq.read_table(target)["income"].null_count == 72


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_types_show_nothing(tmp_path, suffix):
    source = write(people(3_000), tmp_path / f"a.{suffix}")
    target = tmp_path / f"b.{suffix}"
    schemes = {"age": cm.ConditionalMasking(0.6, 5.0, decimals=0), "small": cm.ConditionalMasking(0.6, 1.0)}
    cm.mask_file(source, target, schemes)
    found = pq.read_table(target) if suffix == "parquet" else pa.ipc.open_file(target).read_all()

    assert found.schema.field("age").type == pa.int64()
    assert found.schema.field("small").type == pa.float32()


def test_the_key_and_the_seed_land_nowhere(source, tmp_path, monkeypatch):
    secret = bytes.fromhex("9f3be1704dc82a56be917ef00c6d35a8")
    monkeypatch.setattr("condmask._randomness.secrets.token_bytes", lambda _: secret)
    target = target_of(source, tmp_path)
    cm.mask_file(source, target, {"income": SCHEME})
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert secret not in written
    assert secret.hex().encode() not in written
    assert str(int.from_bytes(secret, "little")).encode() not in written


def test_a_target_is_replaced_only_on_demand(source, tmp_path):
    target = target_of(source, tmp_path)
    target.write_bytes(b"precious")
    with pytest.raises(cm.FileError, match="exists; it is replaced only with --force"):
        cm.mask_file(source, target, {"income": SCHEME})
    assert target.read_bytes() == b"precious"
    cm.mask_file(source, target, {"income": SCHEME}, overwrite=True)
    assert cm.read_release(target, "income").n == N


def test_originals_are_kept_in_files_without_a_name(source, tmp_path, monkeypatch):
    seen = []
    original = files.spool_columns

    def spool(file, names, groups, create, progress):
        opened = []
        result = original(file, names, groups, lambda: opened.append(create()) or opened[-1], progress)
        seen.extend(os.fstat(each.fileno()) for each in opened)
        assert list(folder.iterdir()) == []
        return result

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(files, "spool_columns", spool)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    cm.mask_file(source, target_of(source, tmp_path), {"income": SCHEME})

    assert [(each.st_size, each.st_nlink, stat.S_IMODE(each.st_mode)) for each in seen] == [(8 * N, 0, 0o600)]


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), cm.FileError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failed_job_leaves_nothing(source, tmp_path, failure, raised):
    def fail(done, total):
        if total is not None and done > total // 2:
            raise failure

    with pytest.raises(raised):
        cm.mask_file(source, target_of(source, tmp_path), {"income": SCHEME}, progress=fail)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_is_said_in_one_sentence(source, tmp_path, monkeypatch):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", small], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(cm.FileError, match="has no room for the release"):
            cm.mask_file(source, target_of(source, small), {"income": SCHEME})
        monkeypatch.setattr("condmask.releases.masking.check_room", lambda *_: None)  # it fills up meanwhile
        with pytest.raises(cm.FileError, match="no space left on the device; nothing was published"):
            cm.mask_file(source, target_of(source, small), {"income": SCHEME})
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_folder_that_cannot_be_written_is_named(source):
    target = Path("/proc", f"masked{source.suffix}")
    with pytest.raises(cm.FileError, match="cannot write to /proc"):
        cm.mask_file(source, target, {"income": SCHEME})


BROKEN = {
    "empty.parquet": (b"", "is empty"),
    "empty.arrow": (b"", "is empty"),
    "empty.csv": (b"", "is empty: it has no header"),
    "corrupt.parquet": (b"PAR1 nonsense PAR1", "is no readable Parquet file"),
    "corrupt.arrow": (b"nonsense", "is no readable Arrow file"),
    "short.csv": (b"a,income\n1,2.5\n3\n", "has too few fields in line 3"),
    "open.csv": (b'a,income\n1,2.5\n"3,4\n', "has a quoted field that never ends, from line 3 on"),
    "header.csv": (b"a,income\n", "income must have at least 2 values, got 0"),
    "words.csv": (b"a,income\n1,much\n2,3\n", "income must be numeric, got text in line 2"),
    "infinite.csv": (
        b"a,income\n1,2.5\n2,inf\n",
        "income must be finite, got 1 infinite value, the first in line 3",
    ),
    "other.csv": (b"a,b\n1,2\n2,3\n", "has no column 'income', it has 'a', 'b'"),
    "twice.csv": (b"income,income\n1,2\n2,3\n", "has several columns 'income'"),
    "notes.rtf": (b"", "must end in one of .parquet"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_said_in_one_sentence(tmp_path, name):
    content, message = BROKEN[name]
    source = tmp_path / name
    source.write_bytes(content)
    with pytest.raises((ValueError, TypeError), match=message):
        cm.mask_file(source, tmp_path / f"masked{source.suffix}", {"income": SCHEME})

    assert list(tmp_path.iterdir()) == [source]


def test_other_refusals(source, tmp_path):
    target = target_of(source, tmp_path)
    with pytest.raises(cm.FileError, match="no such file"):
        cm.mask_file(tmp_path / f"none{source.suffix}", target, {"income": SCHEME})
    with pytest.raises(ValueError, match="holds no scheme: it was not masked by condmask"):
        cm.read_release(source)
    with pytest.raises(cm.FileError, match="a different file from the source"):
        cm.mask_file(source, source, {"income": SCHEME}, overwrite=True)
    with pytest.raises(ValueError, match="agree in p and donors"):
        cm.mask_file(source, target, {"income": SCHEME, "age": cm.ConditionalMasking(0.5, 1.0)})
    with pytest.raises(TypeError, match="region must be numeric"):
        cm.mask_file(source, target, {"region": SCHEME})
    with pytest.raises(ValueError, match="strata must have at least 10 records each, got 1 in stratum"):
        cm.mask_file(source, target, {"income": SCHEME}, strata="id")
    assert list(tmp_path.iterdir()) == []
    cm.mask_file(source, target, {"income": SCHEME})
    with pytest.raises(ValueError, match="income is masked already"):
        cm.mask_file(target, tmp_path / f"again{source.suffix}", {"income": SCHEME})
    with pytest.raises(ValueError, match="column must be one of the masked columns 'income', got 'age'"):
        cm.read_release(target, "age")


def test_schemes_of_columns_masked_before_are_kept(source, tmp_path):
    once, twice = target_of(source, tmp_path), tmp_path / f"twice{source.suffix}"
    cm.mask_file(source, once, {"income": SCHEME})
    cm.mask_file(once, twice, {"small": cm.ConditionalMasking(0.3, 1.0)})

    assert list(cm.read_schemes(twice)) == ["income", "small"]
    if source.suffix == ".csv":
        assert json.loads(Path(f"{twice}.condmask.json").read_text())["version"] == 1


@pytest.mark.parametrize("names", ["income,pay,pay", "income,pay,pay,age"])
def test_columns_of_one_name_are_no_hiding_place(tmp_path, names):
    x = np.random.default_rng(1).lognormal(8.0, 0.5, 500).round()
    table = np.stack([x, x, x, x[::-1]][: names.count(",") + 1], axis=1)
    source, scheme = tmp_path / "pay.csv", cm.ConditionalMasking(0.6, 900.0, decimals=0)
    np.savetxt(source, table, "%d", ",", header=names, comments="")

    with pytest.raises(ValueError, match=r"got 'pay' 2 times: rename them"):
        cm.mask_file(source, tmp_path / "out.csv", {"income": scheme}, ledger=False)
    cm.mask_file(source, tmp_path / "out.csv", {"income": scheme}, ledger=False, accept_visible_coins=True)
