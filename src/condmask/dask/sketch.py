"""The sketch of a Dask frame for the ledger, from those of its partitions.

Sketches of parts merge to that of the whole, bit for bit, so that records are known again whether one machine
or many released them first. It takes a pass over the masked columns, for the values that are so common that
they say nothing of a record, and one over all columns.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from dask.base import compute
from dask.delayed import delayed

from condmask._blocks import BLOCK, evenly_spaced
from condmask.dask.schema import arrow_part, schema_of
from condmask.dask.tree import reduced
from condmask.errors import ArgumentError
from condmask.files.frame_columns import column_of_frame
from condmask.releases.record_words import Originals, common_words, sketch_of_frame, some_values
from condmask.releases.sketch import LOOKED_AT, Sketch, merged


class Held(NamedTuple):
    """Values of a column, and its kind."""

    array: np.ndarray
    kind: str


class Looked(NamedTuple):
    """What the ledger needs of a table: its sketch, and values of its first masked column."""

    sketch: Sketch
    some: np.ndarray


def sketch_of_partitions(original: Any, schemes: Mapping[str, Any], starts: np.ndarray) -> Looked:
    """The sketch of a Dask frame before it is masked by these schemes.

    Parameters
    ----------
    original : dask.dataframe.DataFrame
        The columns that are released, the masked ones as they were.
    schemes : dict of str to scheme
    starts : ndarray of shape (partitions + 1,)
        The first row of each partition, and the number of rows.
    """
    schema = schema_of(original)
    columns, kinds = _looked_at(original, schema, list(schemes), starts)
    common = common_words(columns, kinds)
    looked = partial(_sketch_of_part, schema=schema, common=common)
    sketch: Sketch = reduced(original.to_delayed(), looked, _both)
    if sketch.records != starts[-1]:
        raise ArgumentError(
            f"frame must have the {starts[-1]:,} rows that were masked, got {sketch.records:,} when it was "
            "read again"
        )
    return Looked(sketch, some_values(columns, kinds, schemes))


def _looked_at(
    original: Any, schema: Any, names: list[str], starts: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Columns in those rows from all over the table that tell its common values, and their kinds.

    Where a few of these stand for all, they are the ones that would be drawn from the whole table.
    """
    rows = evenly_spaced(int(starts[-1]), LOOKED_AT)
    narrow = pa.schema([schema.field(name) for name in names])
    take = delayed(partial(_rows_of_part, schema=narrow), pure=False)
    ends = np.searchsorted(rows, starts)
    parts = original[names].to_delayed()
    taken = compute(
        *(
            take(part, rows[ends[k] : ends[k + 1]] - starts[k])
            for k, part in enumerate(parts)
            if ends[k] < ends[k + 1]
        )
    )
    kinds = {name: column.kind for name, column in taken[0].items()}
    return {name: np.concatenate([part[name].array for part in taken]) for name in names}, kinds


def _rows_of_part(part: Any, rows: np.ndarray, schema: Any) -> dict[str, Held]:
    """Columns of a partition in some rows."""
    if rows[-1] >= len(part):
        raise ArgumentError("frame must have the rows that were masked, got a partition with fewer")
    table = arrow_part(part.iloc[rows], schema)
    columns = {name: column_of_frame(table, name, least=0) for name in schema.names}
    return {name: Held(column.array, column.kind) for name, column in columns.items()}


def _sketch_of_part(part: Any, schema: Any, common: Mapping[str, np.ndarray]) -> Sketch:
    """The sketch of a partition, given the common values of the table."""
    table = arrow_part(part, schema)
    originals = Originals({}, dict(common), np.empty(0))  # whose words are made as those of other columns are
    return sketch_of_frame(table.to_batches(BLOCK), table.schema.names, originals)


def _both(one: Sketch, other: Sketch) -> Sketch:
    return merged([one, other])
