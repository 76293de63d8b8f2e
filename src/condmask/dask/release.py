"""A release whose data are a Dask frame: checked, looked up in the ledger, and written by the workers."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
from distributed import Client

from condmask import _checks
from condmask.dask.columns import DaskTable
from condmask.dask.estimate import DaskColumns
from condmask.dask.keys import HeldKey
from condmask.dask.sketch import sketch_of_partitions
from condmask.dask.write import publish_frame
from condmask.disclosure.release_check import refuse_few
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.counts import MOST_POINTS
from condmask.files.formats import reading
from condmask.files.metadata import Published
from condmask.files.publish import targets_of
from condmask.releases.ledger import Where, ledger_of
from condmask.releases.registration import Registration
from condmask.releases.release import Release, refuse_changes


class DaskRelease(Release):
    """A release of a Dask frame, or of files read as one.

    Parameters
    ----------
    published : Published
        What is published with the data.
    data : dask.dataframe.DataFrame
        The masked table.
    starts : ndarray of shape (partitions + 1,), optional
        The first row of each partition, and the number of rows; not of files.
    original : dask.dataframe.DataFrame, optional
        The table before it was masked, to look up in the ledger; without it, the ledger is not used.
    path : Path, optional
        The files of `data`.
    held : HeldKey, optional
        The key, kept in case partitions of `data` that a worker lost have to be masked again.
    client : distributed.Client, optional
        The client whose workers have `data`; None if this process is the only one.
    audited : bool
        Whether the table was audited before it was released.

    Attributes
    ----------
    data : dask.dataframe.DataFrame
    path, schemes, records, origins
        As of `Release`.
    """

    def __init__(
        self,
        published: Published,
        *,
        data: Any,
        starts: np.ndarray | None = None,
        original: Any = None,
        path: Path | None = None,
        held: HeldKey | None = None,
        client: Client | None = None,
        audited: bool = True,
    ) -> None:
        columns = DaskColumns(DaskTable(data), MOST_POINTS)
        super().__init__(published, path=path, columns=columns, audited=audited)
        self.data = data
        self._made = data.copy()  # of the same name, which assignments to `data` do not change
        self._starts, self._original, self._held, self._client = starts, original, held, client

    def __getstate__(self) -> dict[str, Any]:
        stays: dict[str, Any] = {"_original": None, "_held": None, "_client": None, "_estimates": {}}
        return {**super().__getstate__(), **stays}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        ledger: Where = True,
        again: bool = False,
    ) -> None:
        """Write the release as a folder of Parquet files, one for each partition, by the workers.

        Parameters
        ----------
        path : path
            The folder, on a file system that the client and all workers share.
        overwrite : bool
            Whether an existing release may be replaced.
        ledger, again
            As for `mask_file`; one release may be written several times.

        Raises
        ------
        FileError
            If a part cannot be written, a machine does not see the folder, or the folder exists. Then
            nothing is published.
        ReleaseError
            If it shares more than a tenth of its records with an earlier release, or has fewer than 100
            records with noise.
        ValueError
            If the release is in files already; or if `data` are not the frame that was masked, or got new
            columns, which were not audited.

        Notes
        -----
        Columns may be dropped from `data`. Dask computes the unmasked columns when they are written, from the
        source of the frame. Changes of `data` itself and of the number of rows are noticed, but not a source
        whose values changed since it was masked.

        The ledger needs a pass over the original before anything is written. Index and types are those of the
        frame; an index that only numbers the rows is left out. `cm.read_release` reads the folder.
        """
        if self.path is not None or self._starts is None:
            raise ArgumentError(
                "write must be called on the release of a table; this one is in files already"
            )
        self._refuse_changed()
        if self._audited and any(scheme.law is not None for scheme in self.schemes.values()):
            refuse_few(self.records)
        target, again = _checks.path(path, "path"), _checks.truth(again, "again")
        ((folder, state),) = targets_of(None, target, overwrite=overwrite).items()
        book = ledger_of(ledger)
        entering = None
        with nullcontext() if self._client is None else self._client.as_current(), reading(target):
            if book is not None and self._original is not None:
                original = self._original[list(self.data.columns)]
                looked = sketch_of_partitions(original, self.schemes, self._starts)
                entry = Registration(book, target, self.schemes, *looked, again=again)
                entry.look_up()
                entering = entry.entering
            publish_frame(self.data, folder, state, self._starts, self._published, entering)
        if entering is not None:
            self._original = None  # writing it to another folder is not another release

    def _refuse_changed(self) -> None:
        """Refuse data that are not the frame that was masked and audited, some of its columns left out.

        Dask names a frame by what computes it.
        """
        if not isinstance(self.data, dd.DataFrame):
            raise ArgumentTypeError(
                f"data must be the Dask frame that was masked, got {type(self.data).__name__}: for that, use "
                "condmask.mask_table"
            )
        now, before = list(self.data.columns), list(self._made.columns)
        lost = [name for name in self.schemes if name not in now]
        added = [name for name in now if name not in before]
        changed: list[str] = []
        if not lost and not added and _name(self.data) != _name(self._made[now]):
            changed = [name for name in now if _name(self.data[[name]]) != _name(self._made[[name]])]
        refuse_changes(lost, added, changed)


def _name(frame: Any) -> str:
    """What Dask calls a frame, however its columns were chosen."""
    name: str = frame.simplify()._name
    return name
