"""The kernels: arrays in, arrays out, no checks. Usable inside one's own numba code.

They release the GIL, and those that take half-open blocks (``start, stop``) or rows can be shared
out between threads; benchmarks/kernels.py shows how, and what they cost.

series
    The alternating series of Theorems 2.2 and 2.3, summed over points and records to a tolerance.
nodes
    Counts spread to equal nodes, and sums read between them.
crossings
    Where a function with steps reaches many probabilities, and its values at points.
counting
    Records counted by grid point.
masking
    Coins, donors and placement: eq. (1).
replication
    The loops of Monte Carlo studies: quantiles of many samples, pairs near each other.

Examples
--------
The estimate of P(X <= 0) from three masked values, term by term:

>>> import numpy as np
>>> from condmask.kernels import series
>>> c, rate, reach = series.truncated(0.6, 0.0, 0.0, 1e-10)
>>> total = np.zeros(1)
>>> series.add_weights(np.zeros(1), np.array([-1.0, 0.2, 3.0]), 1.0, c, rate, reach, 0, 1, 0, 3, total)
>>> round(total.item() / 3, 6)
0.269306
"""

from condmask.kernels import counting, crossings, masking, nodes, replication, series

__all__ = ["counting", "crossings", "masking", "nodes", "replication", "series"]
