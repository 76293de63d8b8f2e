"""What several targets begin with, and what each demands of a release."""

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import condmask as cm
from fuzz.target import PLACE, REFUSALS

SCHEME = cm.ConditionalMasking(0.6, 3.0)
TABLE = pa.table({
    "x": pa.array([*np.arange(30) * 1.5, None]),
    "t": pa.array(["a", "b", None] * 10 + [""]),
    "k": pa.array([7, -8, 9] * 10 + [0], pa.int32()),
    "d": pa.array(["u", "v", "w"] * 10 + ["u"]).dictionary_encode(),
})  # fmt: skip


def fresh(name: str, data: bytes) -> Path:
    """A file of these bytes, alone in the working folder, which must be the one that `own_place` made."""
    here = Path.cwd()
    if here.name != "work" or not here.parent.name.startswith(PLACE):
        raise RuntimeError(f"inputs may empty the folder of own_place alone, not {here}")
    for entry in Path().iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    Path(name).write_bytes(data)
    return Path(name)


def as_parquet(table: Any = TABLE, **options: Any) -> bytes:
    """A table as a Parquet file."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def as_arrow(table: Any = TABLE, *, stream: bool = False, **options: Any) -> bytes:
    """A table as an Arrow file, or as a stream."""
    file = io.BytesIO()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=20)
    return file.getvalue()


@contextmanager
def nothing_left() -> Iterator[None]:
    """A refusal leaves the working folder as it was."""
    before = sorted(Path().rglob("*"))
    try:
        yield
    except REFUSALS:
        after = sorted(Path().rglob("*"))
        assert after == before, f"refused, and yet there is {[str(one) for one in {*after} - {*before}]}"
        raise


def released(source: Path, column: str, **options: Any) -> Path:
    """What becomes of a file in which a column is masked; a refusal leaves nothing."""
    target = Path("released" + "".join(source.suffixes))
    with nothing_left():
        cm.mask_file(
            source, target, {column: SCHEME}, rng=1, nan_policy="omit", accept_visible_coins=True,
            ledger=False, **options,
        )  # fmt: skip
    return target


def same(one: Any, other: Any) -> bool:
    """Whether two columns hold the same objects or numbers, NaN included."""
    if one.dtype == object or other.dtype == object:
        return [*map(repr, one.tolist())] == [*map(repr, other.tolist())]
    return bool(np.array_equal(one, other, equal_nan=True))
