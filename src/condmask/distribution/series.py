"""Evaluates T_1 and T_b by definition: the series of K at every pair of a point and a record.

Records are summed within fixed blocks, and the blocks in order, so no bit depends on the number of
workers.

Theorems 2.2 and 2.3 of Ghatak & Roy as they are stated (docs/theory.rst, "The series").
"""

import numpy as np

from condmask._blocks import blocks, ordered_map
from condmask.distribution.counting import Counted
from condmask.distribution.symbol import Masking
from condmask.errors import ArgumentError
from condmask.kernels import series

MIN_P = 0.45
TOLERANCE = 1e-10  # error of T


def cdf_by_series(
    counted: Counted, masking: Masking, x: np.ndarray, workers: int = 1
) -> np.ndarray:
    """Return T at points in the units of the values, of shape (points,).

    Raises ArgumentError where the series does not serve: Laplace noise, p < MIN_P, coarse grids.
    """
    p = masking.p
    beta = masking.beta
    delta = masking.delta
    unit = counted.unit
    reach = np.nan
    if masking.noise == "normal" and MIN_P <= p < 1.0:
        c, rate, reach = series.truncated(p, beta, delta, TOLERANCE)
    if np.isnan(reach):
        raise ArgumentError(
            f"method must be 'auto' for {masking.noise} noise, p={p} and a step of {delta:g} "
            f"sigma, got 'series', which needs normal noise, {MIN_P} <= p < 1 and a fine step"
        )
    at = x + 0.5 if delta > 0.0 and beta == 0.0 else x
    z = counted.records()

    def sum_over(rows: tuple[int, int]) -> np.ndarray:
        """Return the sum of K over a block of records, at each point."""
        part = np.zeros(x.size)
        series.add_weights(at, z, unit, c, rate, reach, 0, x.size, *rows, part)
        return part

    return np.asarray(sum(ordered_map(sum_over, blocks(counted.n), workers)) / counted.n)
