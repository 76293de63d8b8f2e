"""Files in, files out: two streaming passes, and an output that appears whole or not at all.

Pass 1 counts the rows, checks every value and spools the columns to be masked to a temporary file that
only its owner can read, mapped into memory. Pass 2 streams the source again and puts masked values in
place. Memory is flat apart from that file, where the scheme masks block by block.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, blocks
from condmask._randomness import check_rng
from condmask.disclosure.review import Data
from condmask.disclosure.verdict import Audit
from condmask.estimates.estimate import Estimate
from condmask.estimates.summary import Summary
from condmask.files.atomic import FileError, publishing, spool
from condmask.files.csv import CsvFile
from condmask.files.table import (
    VERSION,
    Table,
    columns_exist,
    format_of,
    published_schemes,
    reading,
)
from condmask.frames import codes
from condmask.schemes.audit import audit
from condmask.schemes.pools import numbers_of, pools_of
from condmask.schemes.scheme import Scheme, release_key, together
from condmask.strata import Labels, names_of, not_masked

MOST_CLEAR, BEGINNING = 64, 1 << 14  # columns and rows that are looked at beside the masked ones


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    overwrite: bool = False,
    workers: Workers = 1,
    progress: Callable[[int, int], None] | None = None,
    accept_visible_coins: bool = False,
) -> dict[str, Any]:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays as it is.

    Parameters
    ----------
    source, target : path
        Files of the same format, told by suffix: .parquet, .pq, .csv, .arrow, .feather or .ipc.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. By `ConditionalMasking` several columns are
        masked together, as by `mask_table`; by others each on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn, or several that are crossed. The schemes may name them
        instead.
    rng, nan_policy, workers
        As for `ConditionalMasking.mask`.
    overwrite : bool
        Whether an existing target may be replaced.
    progress : callable (rows_done, rows_total), optional
        Called as rows are written.
    accept_visible_coins : bool
        Release without an audit, whatever shows which records were swapped.

    Returns
    -------
    dict of str to scheme
        The schemes as they were published, in the target's metadata (for CSV in ``target.condmask.json``).

    Raises
    ------
    FileError
        If a file cannot be read or written, or the target exists.
    ValueError, TypeError
        If a column is unknown or was masked before, or the data cannot be masked. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`). Nothing is written.

    Notes
    -----
    Two passes; memory is flat apart from a temporary file of 8 bytes a value and masked column (schemes
    other than `ConditionalMasking` mask a column in memory). Integers stay integers where the scheme's grid
    has whole steps, float32 stays float32, and CSV has the scheme's decimals. Masking a file again draws a
    new key: never publish both results.
    """
    source, target = Path(source), Path(target)
    masking = together(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    named = masking.within(schemes, strata)
    within = next(iter(named.values()))
    groups = not_masked(within.strata, schemes)
    with reading(source), spool() as create:
        table, before = _opened(source, target, list(schemes), groups, overwrite)
        state = _state(source)
        columns, kinds = _spool_columns(table, list(schemes), create)
        labels = [_spool_strata(table, group, create) for group in groups]
        merge = within.small_strata == "merge"
        pools, patterns = pools_of(list(columns.values()), labels, policy, list(schemes), merge=merge)
        if not accept_visible_coins:
            code = None if pools is None else pools.pool
            masking.check(schemes, Data(columns, kinds, {}, code), _beginning(table, columns, kinds, groups))
        for name, scheme in schemes.items():
            scheme.canonical(columns[name], name, kinds[name], out=columns[name])
        key = release_key(random, named, list(columns.values()), pools)
        stamped = masking.stamp(named, patterns, key, numbers_of(columns))
        parts = masking.masked_blocks(schemes, columns, key, pools, threads)
        rows = _Rows(parts, schemes, kinds, next(iter(columns.values())).size, progress)
        _publish(table, target, rows, {**before, **stamped}, state, overwrite)
    return stamped


def audit_file(source: str | os.PathLike[str], schemes: dict[str, Any]) -> Audit:
    """What an attacker could tell of the coins of a release of a file; see `audit`.

    Parameters
    ----------
    source : path
        The original.
    schemes : dict of str to ConditionalMasking
        The scheme of each column that is to be masked; other numeric columns are those left in clear.

    Returns
    -------
    Audit
    """
    groups = names_of(next(iter(schemes.values())).strata)
    with reading(Path(source)):
        table = open_table(Path(source))
        columns_exist(table, [*schemes, *groups])
    others = [name for name in table.names[:MOST_CLEAR] if table.names.count(name) == 1]
    return audit(
        {name: read_column(source, name) for name in dict.fromkeys([*schemes, *groups, *others])}, schemes
    )


def read_schemes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The schemes of the masked columns of a file.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.

    Returns
    -------
    dict of str to scheme

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme.
    """
    path = Path(path)
    with reading(path):
        schemes = published_schemes(open_table(path))
    if not schemes:
        raise ValueError(f"{path} holds no scheme: it was not masked by condmask, or its metadata is lost")
    return schemes


def read_column(path: str | os.PathLike[str], name: str) -> np.ndarray:
    """One column of a file: float32 or float64, NaN for missing, where it is numeric, else as it is.

    Parameters
    ----------
    path : path
    name : str

    Returns
    -------
    ndarray of shape (n,)
    """
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, [name])
        try:
            parts = [part[name] for part in _numbers(table, [name])]
        except TypeError:
            parts = [np.array(values, dtype=object)[code] for code, values in table.labels(name)]
        return np.concatenate(parts) if parts else np.empty(0)


def read_labels(path: str | os.PathLike[str], name: str) -> np.ndarray:
    """One column of a file as labels: what its records have in common, whatever its type; None for missing.

    Parameters
    ----------
    path : path
    name : str

    Returns
    -------
    ndarray of shape (n,), of objects
    """
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, [name])
        parts = [np.array([*values, None], dtype=object)[code] for code, values in table.labels(name)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def read_release(
    path: str | os.PathLike[str], column: str | None = None, *, workers: Workers = 1
) -> Estimate:
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
        Its scheme is the one in the file, and donor pools are told from the columns that this names.

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme, or not of this column, or lacks a column that tells the donor pools.
    """
    name, scheme = _masked_column(path, column)
    pools: dict[str, Any] = {}
    if scheme.strata is not None:
        with reading(Path(path)):
            table, groups = open_table(Path(path)), names_of(scheme.strata)
            columns_exist(table, groups)
            pools["strata"] = {each: np.concatenate(list(_coded(table, each, {}))) for each in groups}
    if scheme.patterns:
        pools["patterns"] = {each: read_column(path, each) for each in scheme.patterns}
    found: Estimate = scheme.estimate(read_column(path, name), workers=workers, **pools)
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
    path, column
        As for `read_release`.
    other : str, optional
        A column that was not masked, for their covariance.

    Returns
    -------
    Summary
        The scheme's ``estimate(summary)`` has the estimates; `read_schemes` gives the scheme.
    """
    name, scheme = _masked_column(path, column)
    if scheme.law is None:
        raise TypeError(f"{name} must be masked by a scheme with estimates for a Summary, got {scheme!r}")
    summary = Summary(scheme)  # type: ignore[arg-type]
    names = [name] if other is None else [name, other]
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, names)
        for part in _numbers(table, names):
            summary.update(*(part[each] for each in names))
    return summary


def open_table(path: Path) -> Table:
    """The reader of a file, by its suffix."""
    if format_of(path) == "CSV":
        return CsvFile(path)
    try:
        from condmask.files.arrow import ArrowFile
    except ImportError as error:
        raise ImportError(f"{path.name} needs pyarrow: pip install 'condmask[cli]'") from error
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return ArrowFile(path)


def _masked_column(path: str | os.PathLike[str], column: str | None) -> tuple[str, Scheme]:
    schemes = read_schemes(path)
    masked = ", ".join(map(repr, schemes))
    if column is None and len(schemes) > 1:
        raise ValueError(f"column must be one of the masked columns {masked}, got None")
    name = next(iter(schemes)) if column is None else column
    if name not in schemes:
        raise ValueError(f"column must be one of the masked columns {masked}, got {name!r}")
    return name, schemes[name]


def _numbers(table: Table, names: list[str]) -> Iterator[dict[str, np.ndarray]]:
    """Numbers part by part, float32 as such: on a decimal grid they are other numbers than float64."""
    for chunk in table.chunks(names):
        yield {
            name: values.astype(np.float32) if kind == "float32" else values
            for name, (values, kind) in chunk.items()
        }


def _opened(
    source: Path, target: Path, names: list[str], strata: Sequence[str], overwrite: bool
) -> tuple[Table, dict[str, Scheme]]:
    """The source, which has the columns and hides them not yet, and the schemes of those masked before."""
    if format_of(source) != format_of(target):
        raise ValueError(f"target must have the format of the source, got {source.name} and {target.name}")
    table = open_table(source)
    columns_exist(table, [*names, *strata])
    before = published_schemes(table)
    if target.exists() and source.samefile(target):
        raise FileError(f"target must be another file than the source, got {target}")
    if target.is_dir():
        raise FileError(f"{target} is a directory")
    for path in table.outputs(target):
        if path.exists() and not overwrite:
            raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")
    for name in names:
        if name in before:
            raise ValueError(f"{name} is masked already in {source}: mask the original instead")
    return table, before


def _beginning(
    table: Table, columns: dict[str, np.ndarray], kinds: dict[str, str], groups: tuple[str, ...]
) -> Data | None:
    """The first rows with the numbers that are left in clear; None where none are."""
    clear = {}
    for name in table.names[:MOST_CLEAR]:
        if name not in columns and name not in groups and table.names.count(name) == 1:
            try:
                clear[name] = next(table.chunks([name]))[name][0][:BEGINNING].copy()
            except (TypeError, ValueError, StopIteration):  # text, dates, numbers too large
                continue
    if not clear:
        return None
    rows = min(values.size for values in clear.values())
    some = {name: np.array(values[:rows]) for name, values in columns.items()}
    return Data(some, kinds, {name: values[:rows] for name, values in clear.items()}, None)


def _publish(
    table: Table,
    target: Path,
    rows: "_Rows",
    schemes: dict[str, Scheme],
    state: tuple[int, int, int],
    overwrite: bool,
) -> None:
    """Write the target and what is published with it."""
    entries = {name: scheme.to_dict() for name, scheme in schemes.items()}
    with publishing(table.outputs(target), overwrite) as outputs:
        table.rewrite(outputs, rows, {"version": VERSION, "columns": entries})
        if rows.done != rows.total or _state(table.path) != state:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")


class _Rows:
    """Masked rows as they are released, handed out in any number of rows at a time."""

    def __init__(
        self,
        parts: Iterator[list[np.ndarray]],
        schemes: dict[str, Scheme],
        kinds: dict[str, str],
        total: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._parts, self._schemes, self._kinds, self._progress = parts, schemes, kinds, progress
        self._rest: list[np.ndarray] = []
        self.done, self.total = 0, total

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Kind and decimals of each column as it is released."""
        written = {}
        for name, scheme in self._schemes.items():
            whole = scheme.grid is not None and scheme.grid.whole
            kind = "float64" if self._kinds[name] == "int" and not whole else self._kinds[name]
            written[name] = kind, 0 if whole else scheme.decimals
        return written

    def take(self, count: int) -> dict[str, np.ndarray]:
        """The next rows of every column."""
        self.done += count
        if self._progress is not None:
            self._progress(self.done, self.total)
        held = [self._rest] if self._rest else []
        while sum(part[0].size for part in held) < count:
            part = next(self._parts, None)
            if part is None:
                raise FileError("the source grew while it was masked; nothing was published")
            held.append(part)
        columns = [np.concatenate(column) for column in zip(*held, strict=True)]
        self._rest = [column[count:] for column in columns]
        taken = {}
        for (name, scheme), column in zip(self._schemes.items(), columns, strict=True):
            with np.errstate(over="ignore"):
                taken[name] = scheme.publish(column[:count], self._kinds[name])
            if np.isinf(taken[name]).any():
                raise ValueError(f"{name} must stay finite when it is masked: its noise is too large")
        return taken


def _spool_columns(
    table: Table, names: list[str], create: Callable[[str], IO[bytes]]
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The columns to be masked, in memory-mapped files, and what they hold."""
    outputs = {name: create(f"column{k}") for k, name in enumerate(names)}
    kinds: dict[str, str] = {}
    row = 0
    for chunk in table.chunks(names):
        for name, output in outputs.items():
            values, kinds[name] = chunk[name]
            _checks.no_infinities(values, name, row)
            output.write(values.tobytes())
        row += values.size
    _checks.at_least_two(row, names[0])
    for output in outputs.values():
        output.flush()
    mapped = {name: np.memmap(output, dtype=np.float64, mode="r+") for name, output in outputs.items()}
    return {name: np.asarray(column) for name, column in mapped.items()}, kinds


def _spool_strata(table: Table, name: str, create: Callable[[str], IO[bytes]]) -> Labels:
    """The strata as codes in a memory-mapped file, numbered in the order of their labels."""
    output = create(f"labels{table.names.index(name)}")
    known: dict[Any, int] = {}
    for part in _coded(table, name, known):
        output.write(part.tobytes())
    output.flush()
    rank, distinct = codes(list(known))
    code = np.asarray(np.memmap(output, dtype=np.int64, mode="r+"))
    for start, stop in blocks(code.size):
        code[start:stop] = rank[code[start:stop]]
    return Labels(code, distinct)


def _coded(table: Table, name: str, known: dict[Any, int]) -> Iterator[np.ndarray]:
    """A column of labels as numbers, part by part; ``known`` collects which number is which label."""
    for code, values in table.labels(name):
        # NaN differs from itself: as a label it would be a new one each time
        labels = [None if value != value else value for value in values]
        yield np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)[code]


def _state(path: Path) -> tuple[int, int, int]:
    """What changes when somebody writes to a file."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
