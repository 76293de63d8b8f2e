"""Schemes, estimates and counts from the file of a release."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask._blocks import Workers
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.counts import Counts
from condmask.files.formats import columns_exist, reading
from condmask.files.metadata import Published, place_of_metadata, published
from condmask.files.part_files import unchanged
from condmask.files.read import numbers_of, open_table
from condmask.releases.release import Release, warn_of_a_part
from condmask.scheme import Scheme


def read_schemes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The schemes of the masked columns of a file.

    Parameters
    ----------
    path : path
        A file, or a folder of files, that `mask_file` wrote.

    Returns
    -------
    dict of str to scheme

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it has no scheme.
    """
    return published_with(path).schemes


def published_with(path: str | os.PathLike[str]) -> Published:
    """What was published with a file; refused if nothing was."""
    path = _checks.path(path, "path")
    with reading(path):
        released = published(open_table(path))
    if released is None:
        where = place_of_metadata(path)
        raise ArgumentError(
            f"{path} holds no scheme: it was not masked by condmask, or what was published {where} is lost"
        )
    return released


def read_release(path: str | os.PathLike[str], column: str | None = None, *, workers: Workers = 1) -> Any:
    """The estimate of a masked column, or of all of them, from the file alone.

    Parameters
    ----------
    path : path
        A file or a folder that `mask_file` or `Release.write` wrote.
    column : str, optional
        The masked column; None for all.
    workers : int or map-like callable
        Results do not depend on it.

    Returns
    -------
    Estimate or Release
        The estimate, or a mapping of columns to estimates, each read on first use. The schemes are those in
        the file; strata come from the columns that they name; other columns of the file can be used by name:
        ``read_release(path, "income").correlation("age")``.

    Raises
    ------
    FileError
        If the file cannot be read, or is not the one that was released.
    ValueError
        If it has no scheme, or none for this column, or lacks a column of the strata.
    """
    release = Release(published_with(path), path=Path(path), workers=workers)
    return release if column is None else release[masked_column(release.schemes, column)]


def read_counts(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    other: str | None = None,
) -> Counts:
    """Counts of a masked column in one pass, for files larger than memory.

    Parameters
    ----------
    path, column
        As for `read_release`.
    other : str, optional
        A column that was not masked, for their covariance.

    Returns
    -------
    Counts
        The scheme's ``estimate(counts)`` gives the estimates; `read_schemes` gives the scheme.
    """
    released = published_with(path)
    name = masked_column(released.schemes, column)
    scheme, rows = released.schemes[name], 0
    if not scheme.estimators:
        raise ArgumentTypeError(
            f"{name} must be masked by a scheme that has estimates, for Counts, got {scheme!r}"
        )
    counts = Counts(scheme, origin=released.origins[name])
    if other is not None and _checks.text(other, "other") == name:
        raise ArgumentError(f"other must be another column than the masked one, got {name!r}")
    names = [name] if other is None else [name, other]
    with reading(Path(path)), unchanged(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, names)
        for part in numbers_of(table, names):
            rows += part[name].size
            counts.update(*(part[name] for name in names))
    warn_of_a_part(name, scheme, rows, released.records)
    return counts


def masked_column(schemes: Mapping[str, Scheme], column: str | None) -> str:
    """The name of a masked column; None means the only one."""
    masked = ", ".join(map(repr, schemes))
    if column is None and len(schemes) > 1:
        raise ArgumentError(f"column must name one of the masked columns {masked}, got None")
    name = next(iter(schemes)) if column is None else _checks.text(column, "column")
    if name not in schemes:
        raise ArgumentError(f"column must be one of the masked columns {masked}, got {name!r}")
    return name
