"""Publishing a release: the data, how they were masked, and the note for analysts."""

import os
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask.files.atomic import Entering, FileError, Fingerprint, fingerprint, publishing, replaceable
from condmask.files.folder import FolderTable
from condmask.files.formats import Rows, Writable, reading
from condmask.files.metadata import (
    FOLDER_METADATA,
    Published,
    beside_data,
    sidecar,
    target_fingerprints,
)
from condmask.files.note import written_note
from condmask.files.part_files import is_folder
from condmask.files.publish_folder import folder_state, publish_folder, writable_folder
from condmask.files.streams import OPENED


def targets_of(source: Path, target: Path, *, overwrite: bool) -> dict[Path, Any]:
    """The files, or the folder, that a release will be, as they are now; refused if not to be written."""
    _checks.utf8(target)
    if target not in OPENED and not target.absolute().parent.is_dir():
        raise FileError(f"cannot write to {target.parent}: no such file or directory")
    for folder in target.absolute().parents if target not in OPENED else ():
        if os.path.isfile(folder / FOLDER_METADATA):  # false where nobody may look
            raise FileError(
                f"target must be outside other releases, got {target}, which is within the one in {folder}"
            )
    _checks.truth(overwrite, "overwrite")
    if is_folder(source):
        state = folder_state(target)
        writable_folder(target, state, source, overwrite=overwrite)
        return {target: state}
    if fingerprint(source) is None:
        raise FileError(f"{source}: no such file or directory")
    targets: dict[Path, Any] = target_fingerprints(target)
    writable(targets, source, overwrite=overwrite)
    return targets


def writable(targets: dict[Path, Fingerprint], source: Path | None, *, overwrite: bool) -> None:
    """Refuse targets that may not be written."""
    target = next(iter(targets))
    _checks.truth(overwrite, "overwrite")
    if source is not None and source.exists() and target.exists() and source.samefile(target):
        raise FileError(f"target must be a different file from the source, got {target}")
    for path, before in targets.items():
        replaceable(path, before, overwrite=overwrite)


def publish(
    table: Writable,
    targets: dict[Path, Any],
    rows: Rows,
    published: Published,
    original: Any,
    entering: Entering | None = None,
) -> None:
    """Write a table with its masked rows; nothing if the source changed since it was read.

    ``targets`` are the files of the release, or its folder, with their fingerprints when the job began. They
    take their names within ``entering``, which may still refuse them.
    """
    if isinstance(table, FolderTable):
        ((folder, state),) = targets.items()
        publish_folder(table, folder, state, rows, published, original, entering)
        return
    metadata = published.to_dict()
    beside = sidecar(next(iter(targets)))
    with publishing(targets, hashed=beside is not None, entering=entering) as outputs:
        target, *others = outputs
        table.rewrite(target, rows, metadata)
        with reading(table.path):
            unchanged = rows.done == published.records and table.fingerprints() == original
        if not unchanged:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")
        for output in others:
            if output.final == beside:
                output.write(beside_data(metadata | table.description, target.sha256))
            else:
                output.write(written_note(target.final.name, published).encode())
