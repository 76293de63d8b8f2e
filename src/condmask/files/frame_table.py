"""A data frame as a table, on its way into a file of any format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import BLOCK
from condmask.files.arrow_types import labels_of, numbers
from condmask.files.atomic import Output
from condmask.files.batches import write_batches
from condmask.files.formats import Rows


class FrameTable:
    """The columns of a data frame."""

    path = Path("frame")  # as messages call it

    def __init__(self, frame: Any) -> None:
        self._table = frames.arrow_table(frame)
        self.names: list[str] = self._table.column_names

    @property
    def rows(self) -> int:
        return int(self._table.num_rows)

    def metadata(self) -> None:
        """A frame tells nothing of an earlier masking."""

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers and their kind, batch by batch."""
        row = 0
        for batch in self._table.select(names).to_batches(BLOCK):
            yield {name: numbers(batch.column(name), name, row) for name in names}
            row += batch.num_rows

    def labels(self, name: str) -> Iterator[tuple[np.ndarray, list[Any]]]:
        """A column of any plain type, in codes and the distinct values they stand for."""
        for batch in self._table.select([name]).to_batches(BLOCK):
            yield labels_of(batch.column(name), name)

    @property
    def description(self) -> dict[str, Any]:
        """A frame is written as files mostly are."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write the frame with the masked rows in their columns."""
        write_batches(self._table.schema, self._table.to_batches(BLOCK), target, rows, metadata)
