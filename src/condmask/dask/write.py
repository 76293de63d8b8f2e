"""Writing a Dask frame to a folder of Parquet: its workers write a file for each partition.

All of them write into one hidden folder, on a file system that they share with the client; it gets its name
when they are done. A task that is retried writes its file again, under a name that no reader knows until the
file is complete.
"""

import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from dask.base import compute
from dask.delayed import delayed
from distributed import KilledWorker

from condmask.dask.schema import arrow_part, schema_of
from condmask.files.atomic import Entering, FileError
from condmask.files.frame_table import FrameTable, MaskedRows
from condmask.files.metadata import Published, part_entry
from condmask.files.publish_folder import OutputFolder, publish_parts, written_part

DIGITS = 5  # of a part's number, or more: names are in the order of parts


class Written(NamedTuple):
    """A part on the disk: its records, the types of its columns, and the machine that wrote it."""

    records: int
    types: tuple[str, ...]
    machine: str


def publish_frame(
    data: Any,
    target: Path,
    state: Any,
    starts: np.ndarray,
    published: Published,
    entering: Entering | None = None,
) -> None:
    """Write a Dask frame with its masked columns; nothing if a part cannot be written.

    Parameters
    ----------
    data : dask.dataframe.DataFrame
        The released columns.
    target, state
        The folder, and how it stood when the job began.
    starts : ndarray of shape (partitions + 1,)
        The first row of each partition when it was masked, and the number of rows.
    published : Published
    entering : Entering, optional
        Within which the folder takes its name, and which may refuse it still.
    """
    schema, parts = schema_of(data), data.to_delayed()
    digits = max(DIGITS, len(str(len(parts) - 1)))
    names = [f"part-{k:0{digits}}.parquet" for k in range(len(parts))]

    def write(folder: OutputFolder, metadata: dict[str, Any]) -> dict[str, Any]:
        one = delayed(
            partial(_write_part, schema=schema, schemes=published.schemes, mode=folder.mode), pure=False
        )
        tasks = [
            one(part, str(folder.path.absolute() / name), part_entry(metadata, k))
            for k, (name, part) in enumerate(zip(names, parts, strict=True), 1)
        ]
        try:
            written: tuple[Written, ...] = compute(*tasks)
        except KilledWorker as error:
            raise FileError(
                f"cannot write {target}: the workers that wrote one of its parts died, probably of too "
                "little memory; nothing was published"
            ) from error
        _check(folder.path, names, written, starts, target)
        for left in folder.path.iterdir():
            if left.name not in names:  # by a worker that died, where files on their way have names
                left.unlink()
        for name, part in zip(names, written, strict=True):
            folder.wrote(name, part.records)
        return {}

    publish_parts(names, target, state, write, published, entering)


def _write_part(
    part: Any,
    path: str,
    metadata: dict[str, Any],
    *,
    schema: Any,
    schemes: Mapping[str, Any],
    mode: int,
) -> Written:
    """Write a partition; the result depends only on its rows."""
    place = Path(path)
    if not place.parent.is_dir():
        raise FileError(_not_shared(place.parent.parent, socket.gethostname()))
    table = arrow_part(part, schema)
    rows = MaskedRows(table, dict(schemes))
    with written_part(place, mode) as output:
        FrameTable(table).rewrite(output, rows, metadata)
    types = tuple(map(str, pq.read_schema(place).types))
    return Written(rows.done, types, socket.gethostname())


def _check(
    folder: Path, names: list[str], written: tuple[Written, ...], starts: np.ndarray, target: Path
) -> None:
    """Refuse parts that are not those of the frame that was masked, or that cannot be read here."""
    for name, part, records in zip(names, written, np.diff(starts).tolist(), strict=True):
        if not (folder / name).is_file():
            raise FileError(_not_shared(folder.parent, "the client", f"{name}, which {part.machine} wrote"))
        if part.records != records:
            raise FileError(
                f"the frame changed while it was masked: {name} has {part.records:,} records, not "
                f"{records:,}; nothing was published"
            )
        if part.types != written[0].types:
            kinds = next(f"{a} and {b}" for a, b in zip(written[0].types, part.types, strict=True) if a != b)
            raise FileError(
                f"cannot write {target}: a column would be {kinds} in {names[0]} and {name}; nothing was "
                "published"
            )


def _not_shared(hidden: Path, machine: str, what: str = "") -> str:
    """The sentence on a folder that one machine has and another does not see."""
    return (
        f"path must be on a file system that the client and all workers share: {machine} does not see "
        f"{what or hidden.name} in {hidden.parent}; nothing was published"
    )
