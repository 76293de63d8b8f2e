"""Read releases from the files that they were written to."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import overload

from condmask import _checks
from condmask.designs.design import Design
from condmask.disclosure.choose import Choice
from condmask.errors import ArgumentError
from condmask.estimates.counts import Counts
from condmask.estimates.designed import DesignEstimate
from condmask.estimates.estimate import Estimate
from condmask.files import stat
from condmask.files.about import published, sidecar
from condmask.files.parts import MANIFEST, LaterSource, Source
from condmask.masking.scheme import Scheme
from condmask.publish.designed import DesignedRelease
from condmask.publish.release import Release


def released_in(
    path: str | os.PathLike[str],
    *,
    workers: int = 1,
    chosen: Mapping[str, Choice] | None = None,
    notes: Sequence[str] = (),
) -> Release:
    """Return the release in files; refused if nothing was published with them."""
    place = _checks.path(path, "path")
    metadata = published(place)
    if metadata is None:
        raise ArgumentError(
            f"{path} holds no scheme {_place_of_metadata(place)}: it was not masked by condmask, "
            "is one file of a released folder, or the metadata published with it is lost"
        )
    later = stat.form_of(place) is not None
    source = LaterSource(place) if later else Source(place, metadata.csv)
    return Release(metadata, source, workers=workers, chosen=chosen, notes=notes)


def _place_of_metadata(place: Path) -> str:
    """Return in words where the metadata of a release would be."""
    if place.is_dir():
        return f"in {MANIFEST} in it"
    return f"in its schema, or in {sidecar(place).name}"


@overload
def read_release(
    path: str | os.PathLike[str], column: None = None, *, workers: int = 1, design: None = None
) -> Release: ...


@overload
def read_release(
    path: str | os.PathLike[str], column: str, *, workers: int = 1, design: None = None
) -> Estimate: ...


@overload
def read_release(
    path: str | os.PathLike[str], column: None = None, *, workers: int = 1, design: Design
) -> DesignedRelease: ...


@overload
def read_release(
    path: str | os.PathLike[str], column: str, *, workers: int = 1, design: Design
) -> DesignEstimate: ...


def read_release(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    workers: int = 1,
    design: Design | None = None,
) -> Release | Estimate | DesignedRelease | DesignEstimate:
    """Return the estimate of a masked column, or of all of them, from the file alone.

    Parameters
    ----------
    path : path
        A file or a folder that `mask_file` or `Release.write` wrote.
    column : str, optional
        The masked column; None for all.
    workers : int
        Results do not depend on it.
    design : Design, optional
        How the records were sampled, with columns of the file by name. The estimates then are
        those of `Estimate.with_design`.

    Returns
    -------
    Estimate or Release, or the same with a design
        The estimate, or a mapping of columns to estimates, each read on first use. The schemes are
        those in the file; strata come from the columns that they name; other columns of the file
        can be used by name: ``read_release(path, "income").correlation("age")``.

    Raises
    ------
    FileError
        If the file cannot be read, or is not the one that was released.
    ValueError
        If it has no scheme, or none for this column, or lacks a column of the strata.
    """
    release = released_in(path, workers=_checks.integer(workers, "workers", least=1))
    if column is None:
        return release if design is None else DesignedRelease(release, design)
    estimate = release[masked_column(release.schemes, column)]
    return estimate if design is None else estimate.with_design(design)


def read_counts(path: str | os.PathLike[str], column: str | None = None) -> Counts:
    """Count a masked column in one pass; on a grid, of files larger than memory.

    Parameters
    ----------
    path, column
        As for `read_release`.

    Returns
    -------
    Counts
        The scheme's ``estimate(counts)`` gives the estimates; ``read_release(path).schemes`` has
        the scheme.
    """
    release = released_in(path)
    name = masked_column(release.schemes, column)
    counts = Counts(release.schemes[name])
    counts.counted = release[name].sample.counted
    return counts


def masked_column(schemes: Mapping[str, Scheme], column: str | None) -> str:
    """Return the checked name of a masked column; None stands for the only one."""
    name = next(iter(schemes)) if column is None and len(schemes) == 1 else column
    rule = f"column must be one of the masked columns {', '.join(map(repr, schemes))}"
    _checks.require(isinstance(name, str) and name in schemes, rule, name)
    return str(name)
