"""The masked values in their places, and the pools within which donors were drawn."""

from typing import NamedTuple

import numpy as np


class Records(NamedTuple):
    """What covariances need besides: the masked values in their places, and the donor pools.

    `rows` has shape (replicates, n), NaN where missing; `pool` the pool of each record, None where all are
    one; `wanting` says what must be given before the pools are known.
    """

    rows: np.ndarray
    pool: np.ndarray | None
    wanting: str | None

    def pools(self) -> np.ndarray | None:
        """The pool of each record; refused where it is not known."""
        if self.wanting is not None:
            raise ValueError(self.wanting)
        return self.pool
