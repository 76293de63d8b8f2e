"""Read one column of a file, whatever its format, as NumPy holds it."""

import numpy as np

from condmask import _checks, frames
from condmask.files.arrow import pa
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Place, Source


def read_column(path: Place, name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """Read one column of a file: float32 or float64 with NaN for missing if it is numeric, else as
    it is stored.

    Parameters
    ----------
    path : path
        Of a file, a folder of files, or a pattern of files.
    name : str
    csv : CsvFormat, optional
        How a CSV file is written, where that cannot be told from its first line.

    Returns
    -------
    ndarray of shape (n,)
    """
    source = Source(path, csv)
    column = _checks.text(name, "name")
    if column in source.names and pa.types.is_temporal(source.schema.field(column).type):
        labels = source.labels(column)
        return np.asarray(frames.objects(labels.distinct)[labels.code])
    return source.column(column)
