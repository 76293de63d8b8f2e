"""Files in, files out: two streaming passes, and an output that appears whole or not at all.

Pass 1 counts the rows, checks every value and spools the columns to be masked to a temporary file that
only its owner can read, mapped into memory. Pass 2 streams the source again and puts masked values in
place. Memory is flat apart from that file.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, blocks
from condmask._randomness import check_rng, working_key
from condmask.estimates.summary import Summary
from condmask.files.atomic import FileError, publishing, reason, sidecar_of, spool
from condmask.files.csv import CsvFile, kind_of, render_numbers
from condmask.frames import codes
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.joint import agree, stamp
from condmask.schemes.pools import NAN_POLICIES, Coded, pools_of

if TYPE_CHECKING:
    from condmask.estimates.estimate import Estimate

FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
VERSION = 1


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, ConditionalMasking],
    *,
    strata: str | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    overwrite: bool = False,
    workers: Workers = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, ConditionalMasking]:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays as it is.

    Parameters
    ----------
    source, target : path
        Files of the same format, told by suffix: .parquet, .pq, .csv, .arrow, .feather or .ipc.
    schemes : dict of str to ConditionalMasking
        The scheme of each column to mask. Several columns are masked together, as by `mask_table`.
    strata : str, optional
        Column within whose groups donors are drawn.
    rng, nan_policy, workers
        As for `ConditionalMasking.mask`.
    overwrite : bool
        Whether an existing target may be replaced.
    progress : callable (rows_done, rows_total), optional
        Called as rows are written.

    Returns
    -------
    dict of str to ConditionalMasking
        The schemes as they were published, in the target's metadata (for CSV in ``target.condmask.json``).

    Raises
    ------
    FileError
        If a file cannot be read or written, or the target exists.
    ValueError, TypeError
        If a column is unknown or was masked before, or the data cannot be masked. Nothing is written.

    Notes
    -----
    Two passes; memory is flat apart from a temporary file of 8 bytes a value and masked column. Masking a
    file again draws a new key: never publish both results.
    """
    source, target = Path(source), Path(target)
    first = agree(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    if FORMATS[_suffix(source)] != FORMATS[_suffix(target)]:
        raise ValueError(f"target must have the format of the source, got {source.name} and {target.name}")
    with _reading(source):
        file = open_table(source)
        _columns_exist(file, [*schemes, *([] if strata is None else [strata])], source)
        published = published_schemes(file)
        before = _state(source)
    if target.exists() and source.samefile(target):
        raise FileError(f"target must be another file than the source, got {target}")
    if target.is_dir():
        raise FileError(f"{target} is a directory")
    for path in [target, *([sidecar_of(target)] if isinstance(file, CsvFile) else [])]:
        if path.exists() and not overwrite:
            raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")
    for name in schemes:
        if name in published:
            raise ValueError(f"{name} is masked already in {source}: mask the original instead")
    if strata in schemes:
        raise ValueError(f"strata must not be a column that is masked, got {strata!r}")

    with _reading(source), spool() as create:
        columns, kinds = _spool_columns(file, list(schemes), create)
        labels = None if strata is None else _spool_strata(file, strata, create)
        total = columns[0].size
        _checks.at_least_two(total, next(iter(schemes)))
        pools, patterns = pools_of(columns, labels, policy, list(schemes))
        for (name, scheme), column in zip(schemes.items(), columns, strict=True):
            scheme.canonical(column, name, kinds[name], out=column)
        done = 0

        def masked_rows() -> Iterator[list[np.ndarray]]:
            yield from first.masked_blocks(
                schemes,
                dict(zip(schemes, columns, strict=True)),
                working_key(random, columns),
                pools,
                threads,
            )

        rows = _Rows(masked_rows())

        def take(count: int) -> dict[str, np.ndarray]:
            nonlocal done
            done += count
            if progress is not None:
                progress(done, total)
            return {name: z for name, z in zip(schemes, rows.take(count), strict=True)}

        stamped = stamp(schemes, strata, patterns)
        entries = {name: scheme.to_dict() for name, scheme in {**published, **stamped}.items()}
        metadata = {"version": VERSION, "columns": entries}
        whole = {name for name, s in schemes.items() if s.grid is not None and s.grid.whole}
        released = {
            name: kind if kind != "int" or name in whole else "float64" for name, kind in kinds.items()
        }
        with publishing(target, overwrite) as (output, sidecar):
            if isinstance(file, CsvFile):
                render = {n: render_numbers(schemes[n].decimals, released[n]) for n in schemes}
                file.rewrite(output, list(schemes), render, take)
                sidecar(json.dumps(metadata, indent=1))
            else:
                file.rewrite(output, released, take, metadata)
            if done != total or _state(source) != before:
                raise FileError(f"{source} changed while it was masked; nothing was published")
    return stamped


def read_schemes(path: str | os.PathLike[str]) -> dict[str, ConditionalMasking]:
    """The schemes of the masked columns of a file.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.

    Returns
    -------
    dict of str to ConditionalMasking

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme.
    """
    path = Path(path)
    with _reading(path):
        schemes = published_schemes(open_table(path))
    if not schemes:
        raise ValueError(f"{path} holds no scheme: it was not masked by condmask, or its metadata is lost")
    return schemes


def read_column(path: str | os.PathLike[str], name: str) -> np.ndarray:
    """One column of a file: float64 with NaN for missing where it is numeric, else as it is.

    Parameters
    ----------
    path : path
    name : str

    Returns
    -------
    ndarray of shape (n,)
    """
    path = Path(path)
    with _reading(path):
        file = open_table(path)
        _columns_exist(file, [name], path)
        try:
            parts = [chunk[name][0] for chunk in file.chunks([name])]
        except TypeError:
            parts = [np.array(values, dtype=object)[code] for code, values in file.labels(name)]
        return np.concatenate(parts) if parts else np.empty(0)


def read_release(
    path: str | os.PathLike[str], column: str | None = None, *, workers: Workers = 1
) -> "Estimate":
    """The estimate of a masked column, from the file alone.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.
    column : str, optional
        May be left out where one column is masked.
    workers : int or map-like callable
        Results do not depend on it.

    Returns
    -------
    Estimate
        Its scheme is the one in the file.

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme, or not of this column.
    """
    name, scheme = _masked_column(path, column)
    strata = None
    if scheme.strata is not None:
        with _reading(Path(path)):
            file = open_table(Path(path))
            _columns_exist(file, [scheme.strata], Path(path))
            strata = np.concatenate(list(_coded(file, scheme.strata, {})))
    found: Estimate = scheme.estimate(read_column(path, name), strata=strata, workers=workers)
    return found


def read_summary(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    other: str | None = None,
) -> Summary:
    """The summary of a masked column in one pass, for files larger than memory.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.
    column : str, optional
        May be left out where one column is masked.
    other : str, optional
        A column that was not masked, for their covariance.
    Returns
    -------
    Summary
        The scheme's ``estimate(summary)`` has the estimates; `read_schemes` gives the scheme.
    """
    name, scheme = _masked_column(path, column)
    summary = Summary(scheme)
    names = [name] if other is None else [name, other]
    with _reading(Path(path)):
        file = open_table(Path(path))
        _columns_exist(file, names, Path(path))
        for chunk in file.chunks(names):
            summary.update(*(chunk[each][0] for each in names))
    return summary


def _masked_column(path: str | os.PathLike[str], column: str | None) -> tuple[str, ConditionalMasking]:
    schemes = read_schemes(path)
    masked = ", ".join(map(repr, schemes))
    if column is None and len(schemes) > 1:
        raise ValueError(f"column must be one of the masked columns {masked}, got None")
    name = next(iter(schemes)) if column is None else column
    if name not in schemes:
        raise ValueError(f"column must be one of the masked columns {masked}, got {name!r}")
    return name, schemes[name]


def open_table(path: Path) -> Any:
    """The reader of a file, by its suffix."""
    if _suffix(path) == ".csv":
        return CsvFile(path)
    try:
        from condmask.files.arrow import ArrowFile
    except ImportError as error:
        raise ImportError(f"{path.name} needs pyarrow: pip install 'condmask[cli]'") from error
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return ArrowFile(path)


def published_schemes(file: Any) -> dict[str, ConditionalMasking]:
    """The schemes that a file carries, in its metadata or in the file beside it."""
    if isinstance(file, CsvFile):
        beside = sidecar_of(file.path)
        metadata = json.loads(beside.read_text()) if beside.exists() else None
    else:
        metadata = file.metadata()
    if metadata is None:
        return {}
    if metadata.get("version") != VERSION:
        raise ValueError(
            f"{file.path} was masked by a newer condmask, got version {metadata.get('version')!r}"
        )
    return {name: ConditionalMasking.from_dict(entry) for name, entry in metadata["columns"].items()}


class _Rows:
    """Blocks of masked rows, handed out in any number of rows at a time."""

    def __init__(self, parts: Iterator[list[np.ndarray]]) -> None:
        self._parts = parts
        self._rest: list[np.ndarray] = []

    def take(self, count: int) -> list[np.ndarray]:
        held = [self._rest] if self._rest else []
        while sum(part[0].size for part in held) < count:
            part = next(self._parts, None)
            if part is None:
                raise FileError("the source grew while it was masked; nothing was published")
            held.append(part)
        columns = [np.concatenate(column) for column in zip(*held, strict=True)]
        self._rest = [column[count:] for column in columns]
        return [column[:count] for column in columns]


def _spool_columns(
    file: Any, names: list[str], spool: Callable[[str], IO[bytes]]
) -> tuple[list[np.ndarray], dict[str, str]]:
    """The columns to be masked, in memory-mapped files, and what they hold."""
    outputs = [spool(f"column{k}") for k in range(len(names))]
    kinds: dict[str, set[str]] = {name: set() for name in names}
    row = 0
    for chunk in file.chunks(names):
        for output, name in zip(outputs, names, strict=True):
            values, kind = chunk[name]
            _checks.no_infinities(values, name, row)
            kinds[name].add(kind)
            output.write(values.tobytes())
        row += values.size
    columns = []
    for output, name in zip(outputs, names, strict=True):
        output.flush()
        _checks.at_least_two(row, name)
        columns.append(np.asarray(np.memmap(output, dtype=np.float64, mode="r+")))
    return columns, {name: kind_of(found) for name, found in kinds.items()}


def _spool_strata(file: Any, name: str, spool: Callable[[str], IO[bytes]]) -> Coded:
    """The strata as codes in a memory-mapped file, numbered in the order of their labels."""
    output = spool("strata")
    table: dict[Any, int] = {}
    for part in _coded(file, name, table):
        output.write(part.tobytes())
    output.flush()
    rank, distinct = codes(list(table))
    code = np.asarray(np.memmap(output, dtype=np.int64, mode="r+"))
    for start, stop in blocks(code.size):
        code[start:stop] = rank[code[start:stop]]
    return Coded(code, distinct)


def _coded(file: Any, name: str, table: dict[Any, int]) -> Iterator[np.ndarray]:
    """A column of labels as numbers, part by part; ``table`` collects which number is which label."""
    for code, values in file.labels(name):
        # NaN differs from itself: as a label it would be a new one each time
        labels = [None if value != value else value for value in values]
        yield np.array([table.setdefault(label, len(table)) for label in labels], dtype=np.int64)[code]


def _state(path: Path) -> tuple[int, int, int]:
    """What changes when somebody writes to a file."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _columns_exist(file: Any, names: list[str], path: Path) -> None:
    for name in names:
        if file.names.count(name) != 1:
            there = ", ".join(map(repr, file.names))
            number = "no column" if name not in file.names else "several columns"
            raise ValueError(f"{path} has {number} {name!r}, it has {there}")


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path} must end in one of {', '.join(FORMATS)}, got {path.suffix or 'no suffix'}")
    return suffix


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of the operating system, as one sentence that names the file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        where = path if error.filename is None else error.filename
        raise FileError(f"{where}: {reason(error)}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise FileError(f"{path}: not readable: {error}") from error
