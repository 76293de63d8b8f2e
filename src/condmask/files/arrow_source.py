"""Files as pyarrow reads them: piece by piece, each of them as long as it was asked for.

Arrow takes what is missing at the end of a piece for whatever is in memory there.
"""

import os
from typing import Any

import numpy as np
import pyarrow as pa

from condmask._blocks import joined
from condmask.files.source_file import SourceFile

PIECE = 1 << 22  # bytes


class ArrowSource(SourceFile):
    """A file of which pieces are read."""

    def read(self, size: int | None = -1) -> Any:
        """So many bytes."""
        left = os.fstat(self.fileno()).st_size - self.tell()
        return self.exactly(left if size is None or size < 0 else size)


class BatchSource(ArrowSource):
    """A file of record batches, each of which is read as a whole."""

    def read_buffer(self, size: int) -> Any:
        """So many bytes."""
        pieces = (self.exactly(min(PIECE, size - done)) for done in range(0, size, PIECE))
        content = joined(np.frombuffer(piece, np.uint8) for piece in pieces)
        content.flags.writeable = False
        return pa.py_buffer(content)
