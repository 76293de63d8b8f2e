"""Characters around the numbers of a CSV file: quotes, and the blank that belongs to a delimiter.

Where only some numbers have them, such as those above 999, they tell of the originals what masking hides.
"""

import numpy as np

from condmask.files.csv_scan import Fields
from condmask.kernels.csv_scan import BLANK, QUOTE


def styles(fields: Fields, is_number: np.ndarray, *, blank: bool) -> int:
    """A bit for each of the four styles that numbers have: bare, quoted, after a blank, both."""
    quotes, blanks = _quotes_and_blanks(fields, blank=blank)
    return int(np.bitwise_or.reduce(1 << (quotes + 2 * blanks)[is_number], initial=0))


def uniform(styles: int) -> bool:
    """Whether all numbers have one style."""
    return styles & (styles - 1) == 0


def outer_bounds(fields: Fields, *, blank: bool) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of fields with the quotes and the blank around them."""
    quotes, blanks = _quotes_and_blanks(fields, blank=blank)
    return fields.starts - quotes - blanks, fields.stops + quotes


def _quotes_and_blanks(fields: Fields, *, blank: bool) -> tuple[np.ndarray, np.ndarray]:
    """1 for a field in quotes, and 1 for a blank before it, which the scan left out."""
    quotes = _before(fields, fields.starts) == QUOTE
    blanks = (_before(fields, fields.starts - quotes) == BLANK) & blank
    return quotes.astype(np.int64), blanks.astype(np.int64)


def _before(fields: Fields, starts: np.ndarray) -> np.ndarray:
    """The byte before each start; 0 before that of the text."""
    if not fields.text:
        return np.zeros(starts.size, dtype=np.uint8)
    return np.where(starts > 0, fields.buffer[starts - 1], 0)
