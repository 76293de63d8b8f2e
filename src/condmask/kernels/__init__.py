"""The kernels: arrays in, arrays out, no checks. Usable inside one's own numba code.

They release the GIL, and those that take half-open blocks (``start, stop``) can be shared out between
threads; benchmarks/kernels.py shows how, and what they cost.

masking
    Coins, donors and placement: eq. (1).
cycle
    Donors along one random cycle a pool.
series
    The alternating series of Theorems 2.2 and 2.3, summed over points and records to a tolerance.
nodes
    Counts spread to equal nodes, sums read between them, and polynomials from node to node.
exponentials
    T_1 under Laplace noise, by recursion.
crossings
    Where piecewise polynomials of many samples first reach many probabilities.
rearrange
    The monotone rearrangement of a function known at points.
counting
    Records counted by grid point.
normal
    The normal law: shares and quantiles.
moments
    Powers about a centre, and the recursion of Theorem 2.1.
replication
    The loops of Monte Carlo studies: quantiles of many samples, sums of errors, pairs near each other.
windows
    The intervals that hold an original with the greatest chance, for the disclosure risk.

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

from condmask.kernels import (
    counting,
    crossings,
    cycle,
    exponentials,
    masking,
    moments,
    nodes,
    normal,
    rearrange,
    replication,
    series,
    windows,
)

__all__ = [
    "counting",
    "crossings",
    "cycle",
    "exponentials",
    "masking",
    "moments",
    "nodes",
    "normal",
    "rearrange",
    "replication",
    "series",
    "windows",
]
