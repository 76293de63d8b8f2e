"""A release on its way to where it stays: data, what is published with them, the note for analysts."""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from condmask.files.atomic import FileError, Fingerprint, fingerprint, publishing
from condmask.files.formats import Rows, Writable
from condmask.files.metadata import Published, beside_data, sidecar
from condmask.files.note import written_note


def writable(targets: dict[Path, Fingerprint], source: Path | None, *, overwrite: bool) -> None:
    """Refuse targets that may not be written."""
    target = next(iter(targets))
    if source is not None and source.exists() and target.exists() and source.samefile(target):
        raise FileError(f"target must be another file than the source, got {target}")
    if target.is_dir():
        raise FileError(f"{target} is a directory")
    for path, before in targets.items():
        if before is not None and not overwrite:
            raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")


def publish(
    table: Writable,
    targets: dict[Path, Fingerprint],
    rows: Rows,
    published: Published,
    original: Fingerprint,
    entering: AbstractContextManager[None] | None = None,
) -> None:
    """Write a table with its masked rows; nothing where the source is not as it was when it was read.

    ``targets`` are the files of the release with their fingerprints when the job began. They take their names
    within ``entering``, which may refuse them still.
    """
    metadata = published.to_dict()
    beside = sidecar(next(iter(targets)))
    with ExitStack() as entered, publishing(targets, hashed=beside is not None) as outputs:
        target, *others = outputs
        table.rewrite(target, rows, metadata)
        if rows.done != published.records or fingerprint(table.path) != original:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")
        for output in others:
            if output.final == beside:
                output.write(beside_data(metadata | table.description, target.sha256))
            else:
                output.write(written_note(target.final.name, published).encode())
        if entering is not None:
            entered.enter_context(entering)
