"""A release: masked columns, how they were masked, and the estimates of their originals."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from condmask import _checks, frame_rows, frames
from condmask._blocks import Workers
from condmask._optional import optional
from condmask._randomness import group_name
from condmask._warn import warn
from condmask.disclosure.release_check import refuse_few
from condmask.errors import ArgumentError
from condmask.estimates.estimate import Estimate
from condmask.estimates.origin import Origin
from condmask.files.formats import reading
from condmask.files.frame_columns import column_of_frame
from condmask.files.metadata import Published, target_fingerprints
from condmask.files.publish import publish, writable
from condmask.inference.intervals import EstimateWarning
from condmask.missing_codes import released_codes, without_codes
from condmask.releases.file_columns import FileColumns
from condmask.releases.ledger import Where, ledger_of
from condmask.releases.record_words import Originals, sketch_of_frame
from condmask.releases.registration import Registration
from condmask.strata import listed, names_of


class Columns(Protocol):
    """Where the columns of a release are read from."""

    def numbers(self, name: str) -> Any:
        """A column of numbers, in a container that `ConditionalMasking.estimate` takes."""

    def labels(self, name: str) -> Any:
        """A column as labels of groups of records."""

    def estimate(self, name: str, published: Published, workers: Workers) -> tuple[Estimate, int]:
        """The estimate of a masked column, and the number of its records."""


class FrameColumns:
    """The columns of a data frame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def numbers(self, name: str) -> Any:
        """The column as it is, decimals as floats."""
        values = frames.table_column(self._frame, name)
        return column_of_frame(self._frame, name).array if frames.is_decimal(values) else values

    def labels(self, name: str) -> Any:
        """The column as it is."""
        return frames.table_column(self._frame, name)

    def estimate(self, name: str, published: Published, workers: Workers) -> tuple[Estimate, int]:
        """The estimate of a masked column, and the number of its records."""
        _, schemes, origins = published
        z, pools = self.numbers(name), {}
        if schemes[name].strata is not None:
            pools["strata"] = {group: self.labels(group) for group in names_of(schemes[name].strata)}
        if origins[name].patterns:
            together = {other: frames.column(self.numbers(other), other) for other in origins[name].patterns}
            pools["patterns"] = {
                other: without_codes(column.array, released_codes(schemes[other]), column.kind)
                for other, column in together.items()
            }
        return schemes[name].estimate(z, workers=workers, **pools), len(z)


class Release(Mapping[str, Estimate]):
    """A release: a mapping of masked columns to the estimates of their originals.

    Made by `mask_table`, `mask_file` and `read_release`.

    Parameters
    ----------
    published : Published
        What is published with the data.
    data : data frame or dict of columns, optional
        The masked table.
    path : Path, optional
        The masked file, if there is no table.
    columns : Columns, optional
        The columns of the file, unless `FileColumns` reads them.
    originals : Originals, optional
        What the ledger needs of a table before it is written; it is not sent to other processes.
    workers : int or map-like callable
        For estimates; results do not depend on it.
    audited : bool
        Whether the table was audited before it was released.

    Attributes
    ----------
    data : data frame, dict of columns or None
        The table with masked columns in place of the originals; None for a file.
    path : Path or None
        The file that was masked or read.
    schemes : dict of str to scheme
        How each column was masked.
    records : int
        Number of records.
    origins : dict of str to Origin
        What else estimates need to know about each column: which ones were masked together, within which
        patterns of missing values, and how far rounding moved values.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = pd.DataFrame(x, columns=["income", "bonus"])
    >>> scheme = cm.ConditionalMasking(0.6, 0.5)
    >>> release = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> list(release), release.records
    (['income', 'bonus'], 20000)
    >>> bool(abs(release["income"].correlation("bonus") - 0.8) < 0.03)
    True
    """

    def __init__(
        self,
        published: Published,
        *,
        data: Any = None,
        path: Path | None = None,
        columns: Columns | None = None,
        originals: Originals | None = None,
        workers: Workers = 1,
        audited: bool = True,
    ) -> None:
        self._originals = originals
        self.data, self.path, self._published = data, path, published
        self.records, self.schemes, self.origins = published
        self._workers, self._audited = workers, audited
        self._digests = None if data is None else frame_rows.digests(data)
        if columns is None and path is not None:
            columns = FileColumns(path, published.records)
        self._columns = columns if data is None else FrameColumns(data)
        self._estimates: dict[str, Estimate] = {}

    @property
    def group(self) -> dict[str, str | None]:
        """By column, the identifier that columns masked together share."""
        return {name: origin.group for name, origin in self.origins.items()}

    @property
    def patterns(self) -> dict[str, tuple[str, ...]]:
        """By column, the columns whose common pattern of missing values bounds the draw of donors."""
        return {name: origin.patterns for name, origin in self.origins.items()}

    def __getitem__(self, column: str) -> Estimate:
        if not isinstance(column, str) or column not in self.schemes:
            raise KeyError(column)
        if column not in self._estimates:
            self._estimates[column] = self._estimate(column)
        return self._estimates[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.schemes)

    def __len__(self) -> int:
        return len(self.schemes)

    def __repr__(self) -> str:
        where = "" if self.path is None else f", path={str(self.path)!r}"
        return f"Release(records={self.records}, schemes={self.schemes!r}{where})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_originals": None}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        ledger: Where = True,
        again: bool = False,
    ) -> None:
        """Write the release of a table: the data, how they were masked, and a note for analysts.

        Parameters
        ----------
        path : path
            The file to write; its suffix gives the format, as for `mask_file`.
        overwrite : bool
            Whether an existing file may be replaced.
        ledger, again
            As for `mask_file`; one release may be written several times.

        Raises
        ------
        FileError
            If the file cannot be written, or exists.
        ReleaseError
            If it shares more than a tenth of its records with an earlier release.
        ValueError
            If the release is a masked file, which is written already; or if `data` were changed since the
            table was masked, or got new columns, which were not audited.
        ReleaseError
            If it has fewer than 100 records with noise: too few to tell what they show.

        Notes
        -----
        Columns may be dropped from `data`. To find changes, columns of numbers are compared whole, and text
        and other objects in 16,384 rows from all over the table. A change of text in other rows is not
        noticed, nor is an exchange of numbers there.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, pandas as pd
        >>> import condmask as cm
        >>> income = np.random.default_rng(1).lognormal(7, 0.5, 5_000)
        >>> scheme = cm.ConditionalMasking(0.6, 500.0)
        >>> release = cm.mask_table(pd.DataFrame({"income": income}), {"income": scheme})
        >>> folder = tempfile.TemporaryDirectory()
        >>> release.write(folder.name + "/released.parquet")
        >>> list(cm.read_release(folder.name + "/released.parquet"))
        ['income']
        >>> folder.cleanup()
        """
        if self.data is None:
            raise ArgumentError(
                "write must be called on the release of a table; a masked file is written already"
            )
        with optional("write", "cli"):
            from condmask.files.frame_table import FrameTable, MaskedRows
        self._refuse_changed()
        if self._audited and any(scheme.law is not None for scheme in self.schemes.values()):
            refuse_few(self.records)
        target = _checks.path(path, "path")
        targets = target_fingerprints(target)
        writable(targets, None, overwrite=overwrite)
        table, rows = FrameTable(self.data), MaskedRows(self.data, self.schemes)
        book = ledger_of(ledger)
        entering = None
        if book is not None and self._originals is not None:
            records = sketch_of_frame(table.batches(), table.names, self._originals)
            some = self._originals.some
            entry = Registration(
                book, target, self.schemes, records, some, again=_checks.truth(again, "again")
            )
            entry.look_up()
            entering = entry.entering
        with reading(target):
            publish(table, targets, rows, self._published, {}, entering)
        if entering is not None:
            self._originals = None  # writing it to another file is not another release

    def _refuse_changed(self) -> None:
        """Refuse data that were changed after they were masked and audited."""
        before = self._digests or {}
        now = frame_rows.digests(self.data)
        lost = [name for name in self.schemes if name not in now]
        added = [name for name in now if name not in before]
        changed = [name for name in now if name in before and now[name] != before[name]]
        refuse_changes(lost, added, changed)

    def _estimate(self, column: str) -> Estimate:
        if self._columns is None:
            raise ArgumentError(f"{column!r} has no estimate: nothing was written (dry_run=True)")
        estimate, records = self._columns.estimate(column, self._published, self._workers)
        warn_of_a_part(column, self.schemes[column], records, self.records)
        return estimate.of_release(self.origins[column], self._column, column)

    def _released(self, name: str) -> Any:
        """A masked column as it was released."""
        assert self._columns is not None
        return self._columns.numbers(name)

    def _column(self, name: str, labels: bool) -> Any:
        """Another column, or the estimate of a masked one."""
        if name in self.schemes:
            return self[name]
        assert self._columns is not None
        return self._columns.labels(name) if labels else self._columns.numbers(name)


def refuse_changes(lost: list[str], added: list[str], changed: list[str]) -> None:
    """Refuse data of which these columns ("" for the index) were lost, added or changed."""
    for names, what in ((lost, "lost"), (added, "gained"), (changed, "changed")):
        if names:
            shown = _checks.listed([name or "the index" for name in names])
            raise ArgumentError(
                f"data must be as they were when masked and audited, but have {what} {shown} since: change "
                "the original, mask it again, and publish only that release"
            )


def warn_of_a_part(column: str, scheme: Any, n: int, records: int) -> None:
    """Warn if records were selected: swapped ones have values of records that are gone."""
    if n == records:
        return
    whole = "" if scheme.strata is None else f" (except whole strata of {listed(scheme.strata)})"
    warn(
        f"{column} has {n} records, and the release {records}: swapped records have values from all of it, "
        f"so estimates from a part of it are wrong{whole}. Estimate from all records; group_means, "
        "weighted_mean and regress give means of subgroups, but quantiles of subgroups are not available",
        EstimateWarning,
    )


def origins_of(
    schemes: Mapping[str, Any],
    patterns: tuple[str, ...],
    shifts: Mapping[str, tuple[float, float]],
) -> dict[str, Origin]:
    """The origins of columns that were masked in one call."""
    shared = next(iter(schemes.values())).shared_coins
    group = group_name() if shared and len(schemes) > 1 else None
    return {name: Origin(group, patterns if shared else (), shifts.get(name, ())) for name in schemes}
