"""Writing a data frame, with the masked columns in it, to a file of any format."""

from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import BLOCK
from condmask._grid import decimals_of
from condmask.arrow_tables import arrow_table
from condmask.files.atomic import Fingerprint, Output
from condmask.files.batches import write_batches
from condmask.files.formats import Rows
from condmask.files.frame_columns import column_of_frame
from condmask.files.spool import written_as
from condmask.missing_codes import released_codes, without_codes
from condmask.scheme import Scheme


class FrameTable:
    """The columns of a data frame."""

    path = Path("frame")  # as messages call it

    def __init__(self, frame: Any) -> None:
        self._table = arrow_table(frame)

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """A frame is in no file."""
        return {}

    @property
    def description(self) -> dict[str, Any]:
        """A frame is written in the usual way."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write the frame with the masked rows in their columns."""
        write_batches(self.path, self._table.schema, self.batches(), target, rows, metadata)

    def batches(self) -> list[Any]:
        """The frame as record batches, in each of which a column has the same dictionary."""
        return list(self._table.unify_dictionaries().to_batches(BLOCK))

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self._table.schema.names)


class MaskedRows:
    """The rows of columns that were masked in the frame; the cell of a missing value stays."""

    workers: int = 1

    def __init__(self, frame: Any, schemes: dict[str, Scheme]) -> None:
        self._schemes, self.done = schemes, 0
        self._columns = {name: column_of_frame(frame, name, least=0) for name in schemes}
        self._values = {
            name: without_codes(column.array, released_codes(schemes[name]), column.kind)
            for name, column in self._columns.items()
        }

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Kind and decimals of each column."""
        return {
            name: written_as(self._schemes[name], column.kind, decimals_of(self._values[name]))
            for name, column in self._columns.items()
        }

    @property
    def nulls(self) -> set[str]:
        """The columns whose missing codes are nulls."""
        return {name for name, scheme in self._schemes.items() if scheme.missing_as == "null"}

    def take(self, count: int) -> dict[str, np.ndarray]:
        """The next rows of every column."""
        rows = slice(self.done, self.done + count)
        self.done += count
        return {
            name: values[rows].astype(np.float32 if self._columns[name].kind == "float32" else np.float64)
            for name, values in self._values.items()
        }
