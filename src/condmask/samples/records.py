"""The masked values in their places, and the pools within which donors were drawn."""

from typing import NamedTuple

import numpy as np


class Records(NamedTuple):
    """The masked values in their places, and the donor pools, for all that concerns other columns.

    `z` has shape (n,), NaN where missing; `pool` the pool of each record, None where all are
    one; `refusal` says what must be given before the pools are known.
    """

    z: np.ndarray
    pool: np.ndarray | None
    refusal: str | None

    def pools(self) -> np.ndarray | None:
        """The pool of each record; refused where they are unknown."""
        if self.refusal is not None:
            raise ValueError(self.refusal)
        return self.pool
