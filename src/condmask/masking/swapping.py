"""Mask by data swapping and rank swapping: released values are values of other records."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from condmask import _checks
from condmask.kernels.masking import swap_ranks
from condmask.masking.scheme import Columns, Scheme


@dataclass(frozen=True)
class DataSwapping(Scheme):
    """Put the values in random order: margins stay, all correlations are lost."""

    method: ClassVar[str] = "DataSwapping"

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own."""
        return stream.permuted(x, axis=1)


@dataclass(frozen=True, init=False)
class RankSwapping(Scheme):
    """Exchange values between records of near rank.

    From the smallest up, each record not yet exchanged gets a random partner among the next
    records in rank, within `percent` of n, that are not yet exchanged either [1]_.

    Parameters
    ----------
    percent : float
        Width of the window, 0 < percent <= 100.

    References
    ----------
    .. [1] R. A. Moore, "Controlled data-swapping techniques for masking public use microdata
           sets", Statistical Research Division report, U.S. Bureau of the Census (1996).
    """

    method: ClassVar[str] = "RankSwapping"

    percent: float

    def __init__(self, percent: float) -> None:
        value = _checks.positive(percent, "percent")
        _checks.require(value <= 100.0, "percent must be at most 100", percent)
        object.__setattr__(self, "percent", value)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own."""
        # the decimal number that was written: 0.57 * 10_000 falls short of a whole number
        window = max(1, int(Fraction(repr(self.percent)) * x.shape[1] / 100))
        order = np.argsort(x, kind="stable")
        chance = stream.random(x.shape)
        z = np.empty_like(x)
        for row in range(len(x)):
            swap_ranks(x[row], order[row], window, chance[row], z[row])
        return z
