"""The engine of all sums of Theorems 2.2 and 2.3: counts on cells, convolved with a kernel.

Sums of one kernel over all records, at equal cells or nodes of a line, are a convolution of the
counts there with the kernel. It is made by one Fourier transform of the counts, multiplied
frequency by frequency, and one back. Long lines are cut into stretches with a transform each; what
depends on a stretch alone is made when first needed, and kept.

The caller pads with as many empty cells as the kernel reaches, since the transform takes the line
for a circle (docs/theory.rst, "Nodes").
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

# odd numbers whose prime factors are 3 and 5, up to the longest transforms
ODD_LENGTHS: tuple[int, ...] = tuple(
    3**threes * 5**fives for threes in range(9) for fives in range(7)
)

Sums = TypeVar("Sums")


def convolve(counts: np.ndarray, multipliers: np.ndarray, rise: float | None = None) -> np.ndarray:
    """Return sums of a kernel over counts on a circle of cells, along the last axis.

    Parameters
    ----------
    counts : ndarray of shape (..., size)
    multipliers : ndarray of shape (..., size // 2 + 1)
        The kernel's transform at the frequencies of `numpy.fft.rfft`, by which the transform of
        the counts is multiplied. Leading axes broadcast: several kernels, or several samples.
    rise : float, optional
        For a kernel that rises from 0 on the left to this on the right and so is not periodic:
        `multipliers` is then 0 at frequency 0, and the straight line that the circle lacks is
        added, from 0 at the first cell on.

    Returns
    -------
    ndarray of shape (..., size)
    """
    size = counts.shape[-1]
    waves = np.fft.rfft(counts)
    sums = np.fft.irfft(waves * multipliers, size)
    if rise is not None:
        number = waves[..., :1].real
        sums += number * rise / size * np.arange(size) - sums[..., :1]
    return sums


class KeptStretches(Generic[Sums]):
    """Keeps the sums of the last stretches of a line, by number.

    Parameters
    ----------
    limit : int
        How many are kept; one more, and all are forgotten before it is made.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: dict[int, Sums] = {}

    def get(self, number: int, make: Callable[[int], Sums]) -> Sums:
        """Return the sums of a stretch, made by ``make(number)`` unless they are kept."""
        # one look, since another thread may forget them between two
        sums = self._kept.get(number)
        if sums is None:
            if len(self._kept) >= self._limit:
                self._kept.clear()
            sums = make(number)
            self._kept[number] = sums
        return sums


@lru_cache(64)
def fast_length(least: int) -> int:
    """Return the next length of a fast Fourier transform: its prime factors are 2, 3 and 5.

    SciPy's takes .1 s to import, which every command would wait for.
    """
    return min(odd << (-(-least // odd) - 1).bit_length() for odd in ODD_LENGTHS)
