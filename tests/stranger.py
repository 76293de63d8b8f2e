"""A scheme in one file, as CONTRIBUTING.md says: microaggregation, the means of groups of like
values."""

from dataclasses import dataclass

import numpy as np

from condmask import _checks
from condmask.masking.scheme import Scheme


@dataclass(frozen=True, init=False)
class Microaggregation(Scheme):
    """Replace values by the mean of the `size` values, or more, that are next to each other in
    rank."""

    method = "Microaggregation"

    size: int

    def __init__(self, size: int) -> None:
        object.__setattr__(self, "size", _checks.integer(size, "size", least=2))

    def mask_rows(self, x, stream, others):
        """Every row of x, masked on its own."""
        group = np.arange(x.shape[1]) // self.size
        # the rest joins the last group
        group = np.minimum(group, max(0, x.shape[1] // self.size - 1))
        z = np.empty_like(x)
        for row in range(len(x)):
            order = np.argsort(x[row], kind="stable")
            z[row, order] = (np.bincount(group, x[row, order]) / np.bincount(group))[group]
        return z
