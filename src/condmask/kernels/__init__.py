"""Kernels compiled by numba: arrays in, arrays out, no checks. Callable from users' numba code.

They release the GIL, and those that take half-open blocks (``start, stop``) or rows can be divided
between threads; benchmarks/kernels.py shows how, and their cost.

series
    Sum the alternating series of Theorems 2.2 and 2.3 over points and records, to a tolerance.
nodes
    Spread counts to equidistant nodes, and read sums between them.
crossings
    Find where a function with steps reaches probabilities, and its values at points.
counting
    Count records by grid point.
masking
    Swap status, donors and placement: eq. (1).
replication
    Run the loops of Monte Carlo studies: quantiles of many samples, pairs of near records.

Examples
--------
The estimate of P(X <= 0) from three masked values, term by term:

>>> import numpy as np
>>> from condmask.kernels import series
>>> c, rate, reach = series.truncated(0.6, 0.0, 0.0, 1e-10)
>>> x, z, total = np.zeros(1), np.array([-1.0, 0.2, 3.0]), np.zeros(1)
>>> series.add_weights(x, z, 1.0, c, rate, reach, 0, 1, 0, 3, total)
>>> round(total.item() / 3, 6)
0.269306
"""

from condmask.kernels import counting, crossings, masking, nodes, replication, series

__all__ = ["counting", "crossings", "masking", "nodes", "replication", "series"]
