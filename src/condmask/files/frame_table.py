"""A data frame as a table, on its way into a file of any format."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import BLOCK
from condmask.files.arrow_types import first_numbers, numeric, parts_of
from condmask.files.atomic import Output
from condmask.files.batches import write_batches
from condmask.files.formats import Part, Rows


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

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers and labels, batch by batch."""
        return parts_of(self._table.select([*names, *labels]).to_batches(BLOCK), names, labels)

    def sample(self, names: Sequence[str], rows: int) -> dict[str, np.ndarray]:
        """The numbers of the first rows, by column; columns of anything else are left out."""
        names = numeric(self._table.schema, names)
        return first_numbers(self._table.select(names).to_batches(BLOCK), names, rows)

    @property
    def description(self) -> dict[str, Any]:
        """A frame is written as files mostly are."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write the frame with the masked rows in their columns."""
        write_batches(self._table.schema, self._table.to_batches(BLOCK), target, rows, metadata)
