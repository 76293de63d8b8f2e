"""T_1 and T_b by definition: the series of K at every pair of a point and a record.

Records are summed within fixed blocks, and these in order: no bit depends on the number of
workers.

Theorems 2.2 and 2.3 as they are stated (docs/theory.rst, "The series").
"""

import numpy as np

from condmask._blocks import blocks, ordered_map
from condmask.distribution.counting import Counted
from condmask.distribution.symbol import Masking
from condmask.errors import ArgumentError
from condmask.kernels import series

LEAST = 0.45  # p
TOL = 1e-10  # of T


def by_terms(counted: Counted, masking: Masking, x: np.ndarray, workers: int = 1) -> np.ndarray:
    """T at points in the units of the values."""
    p = masking.p
    beta = masking.beta
    delta = masking.delta
    unit = counted.unit
    reach = np.nan
    if masking.noise == "normal" and LEAST <= p < 1.0:
        c, rate, reach = series.truncated(p, beta, delta, TOL)
    if np.isnan(reach):
        raise ArgumentError(
            f"method must be 'auto' for {masking.noise} noise, p={p} and a step of {delta:g} sigma, got "
            f"'series', which needs normal noise, {LEAST} <= p < 1 and a fine step"
        )
    at = x + 0.5 if delta > 0.0 and beta == 0.0 else x
    z = counted.records()

    def added(rows: tuple[int, int]) -> np.ndarray:
        """What some records add."""
        part = np.zeros(x.size)
        series.add_weights(at, z, unit, c, rate, reach, 0, x.size, *rows, part)
        return part

    return np.asarray(sum(ordered_map(added, blocks(counted.n), workers)) / counted.n)
