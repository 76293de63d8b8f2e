"""A release in files as a Dask frame."""

import os
from pathlib import Path
from typing import Any

import dask.dataframe as dd
from dask.utils import natural_sort_key

from condmask import _checks
from condmask.dask.release import DaskRelease
from condmask.errors import ArgumentError
from condmask.files.formats import format_of, reading
from condmask.files.part_files import is_folder, part_files
from condmask.releases.read import published_with


def read_release(path: str | os.PathLike[str]) -> DaskRelease:
    """Read the files of a release as a Dask frame, for `condmask.dask.estimate`.

    Parameters
    ----------
    path : path
        A folder of Parquet files, or one file, that condmask wrote; all workers must see it under this name.

    Returns
    -------
    DaskRelease
        Its `data` have the records in the order of the release; the index of the frame that was released is a
        column.

    Raises
    ------
    FileError
        If a file cannot be read, or the files are not those that were released.
    ValueError
        If they have no scheme, or are not Parquet.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> import condmask.dask
    >>> income = np.random.default_rng(3).lognormal(7, 0.5, 5_000)
    >>> scheme = cm.ConditionalMasking(0.6, 500.0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> release = cm.mask_table(pd.DataFrame({"income": income}), {"income": scheme})
    >>> release.write(folder.name + "/released.parquet")
    >>> len(condmask.dask.read_release(folder.name + "/released.parquet").data)
    5000
    >>> folder.cleanup()
    """
    path = Path(os.path.abspath(_checks.path(path, "path")))
    published = published_with(path)
    with reading(path):
        files = part_files(path).paths if is_folder(path) else [path]
    if format_of(files[0]) != "Parquet":
        raise ArgumentError(f"path must be a release in Parquet, got {files[0]}")
    frames = [dd.read_parquet([str(file) for file in run], index=False) for run in _runs(files)]
    data = frames[0] if len(frames) == 1 else dd.concat(frames)
    return DaskRelease(published, data=data, path=path)


def _runs(files: list[Path]) -> list[list[Path]]:
    """Files in runs whose order Dask keeps: it sorts part 9 before part 10."""
    runs: list[list[Path]] = []
    for file in files:
        if runs and _key(runs[-1][-1]) < _key(file):
            runs[-1].append(file)
        else:
            runs.append([file])
    return runs


def _key(file: Path) -> Any:
    return natural_sort_key(str(file))
