"""The originals of a partition: the columns that are masked, and the stratum of each record.

Every task reads them anew, and knows by a digest that they are those that were audited.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np

from condmask import frames
from condmask._grid import nearest
from condmask.dask.narrow import Narrow
from condmask.errors import ArgumentTypeError, StateError
from condmask.files.frame_columns import column_of_frame
from condmask.missing_codes import is_code, restore_codes, without_codes
from condmask.schemes.rounding import STILL, Moved

NO_KIND = ""
Label = tuple[Any, ...]  # of a stratum, and where its records have values


def check_frame(frame: Any) -> None:
    """Refuse anything but a Dask frame."""
    if not isinstance(frame, dd.DataFrame):
        raise ArgumentTypeError(
            f"frame must be a Dask DataFrame, got {type(frame).__name__}; dask.dataframe.from_pandas makes "
            "one"
        )
    frames.check_names(list(frame.columns))


class Task(NamedTuple):
    """What is asked of every partition.

    Attributes
    ----------
    schemes : dict of str to scheme
        By column to be masked.
    strata : tuple of str
        The columns within which donors are drawn.
    round : bool
        Whether data are rounded to the grids of their schemes.
    """

    schemes: dict[str, Any]
    strata: tuple[str, ...]
    round: bool


class Originals(NamedTuple):
    """The columns of a partition that are masked, and the stratum of each of its records.

    Attributes
    ----------
    columns : dict of str to Column
        As they stand in the partition.
    values : dict of str to ndarray of shape (m,)
        NaN where one is missing, or a code stands for none.
    moved : dict of str to Moved
        What rounding moved.
    code : ndarray of shape (m,)
        By record the number of its stratum, within the partition.
    strata : list of tuple
        The strata by number: labels, and at the end where the masked columns have values.
    """

    columns: dict[str, frames.Column]
    values: dict[str, np.ndarray]
    moved: dict[str, Moved]
    code: np.ndarray
    strata: list[Label]

    def digest(self) -> bytes:
        """A digest by which a second reading of the partition is checked."""
        digest = hashlib.blake2b(repr(self.strata).encode("utf-8", "surrogatepass"), digest_size=16)
        for array in (*self.values.values(), self.code):
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()


def originals(part: Any, task: Task) -> Originals:
    """The columns of a partition that are masked, each value checked."""
    columns, values, moved = {}, {}, {}
    for name, scheme in task.schemes.items():
        column = _column(part, name)
        x = without_codes(column.array, scheme.codes, column.kind)
        if task.round:
            on_grid = nearest(x, scheme.grid, column.kind)
            moved[name], x = STILL.and_of(x, on_grid), on_grid
        columns[name], values[name] = column, x
    return Originals(columns, values, moved, *_strata(part, task.strata, list(values.values())))


def _column(part: Any, name: str) -> frames.Column:
    """A column of a partition; objects without any value give no kind."""
    values = frames.table_column(part, name)
    if values.dtype == object and values.isna().all():
        return frames.Column(np.full(len(values), np.nan), name, NO_KIND, lambda z, nulls=None: values)
    return column_of_frame(part, name, least=0)


def _strata(part: Any, names: Sequence[str], values: Sequence[np.ndarray]) -> tuple[np.ndarray, list[Label]]:
    """The stratum of each record, crossed with the pattern of missing values of the masked columns."""
    code, strata = np.zeros(values[0].size, dtype=np.int64), [()]
    labels = [frames.codes(frames.labels(frames.table_column(part, name), name), name) for name in names]
    for own, distinct in (*labels, *((~np.isnan(x), [False, True]) for x in values)):
        pair = code * max(len(distinct), 1) + own
        pairs, code = np.unique(pair, return_inverse=True)
        before, label = np.divmod(pairs, max(len(distinct), 1))
        strata = [(*strata[b], _plain(distinct[k])) for b, k in zip(before, label, strict=True)]
    return code, [(*label[: len(names)], label[len(names) :]) for label in strata]


def _plain(label: Any) -> Any:
    """A label that equals itself."""
    return label if label == label else None


def units_of(own: Originals, task: Task) -> dict[str, np.ndarray]:
    """The columns in whole steps of their grids, as they are masked."""
    return {
        name: scheme.canonical(own.values[name], name, own.columns[name].kind)
        for name, scheme in task.schemes.items()
    }


def released(own: Originals, masked: Mapping[str, np.ndarray], task: Task) -> dict[str, Any]:
    """Masked values in the containers of the originals, with codes and nulls in their places."""
    columns = {}
    for name, column in own.columns.items():
        scheme = task.schemes[name]
        nulls = is_code(column.array, scheme.codes, column.kind) if scheme.missing_as == "null" else None
        z = restore_codes(scheme, masked[name], column.array, column.kind, name)
        columns[name] = column.back(z, nulls)
    return columns


def dtype_of_masked(part: Any, masked: np.ndarray, task: Task, name: str) -> Any:
    """How a column would be released if this partition were all of it; None if it has no rows."""
    own = originals(part, task)
    column = released(own, own.values | {name: masked}, task)[name]
    return column.dtype if own.columns[name].kind and masked.size else None


def same(part: Any, task: Task, digest: bytes, number: int) -> Originals:
    """The originals of a partition, which must be those that were audited."""
    own = originals(part, task)
    if own.digest() != digest:
        raise StateError(
            f"partition {number} changed after it was audited; nothing was released: persist the frame, or "
            "read it from files that do not change"
        )
    return own


def pool_of(own: Originals, pools: dict[Label, int]) -> np.ndarray:
    """The donor pool of each record of a partition."""
    numbers: np.ndarray = np.array([pools[label] for label in own.strata], dtype=np.int64)
    return np.asarray(numbers[own.code])


def narrow(part: Any, task: Task, pools: dict[Label, int] | None, digest: bytes, number: int) -> Narrow:
    """A partition as it is masked: in whole steps, with the donor pool of each record."""
    own = same(part, task, digest, number)
    return Narrow(list(units_of(own, task).values()), None if pools is None else pool_of(own, pools))
