"""The kernels: arrays in, arrays out, no checks. Usable inside one's own numba code.

They release the GIL, and those that take half-open blocks (``start, stop``) can be shared out between
threads; benchmarks/kernels.py shows how, and what they cost.

masking
    Coins, donors and placement: eq. (1).
cycle
    Donors along one random cycle a pool.
series
    The alternating series of Theorems 2.2 and 2.3, summed over points and records to a tolerance.
interpolant
    K as a certified table, and sums over it.
lattice
    Sums of a smooth kernel over all records in one pass, by cells.
exponentials
    T_1 under Laplace noise, by recursion.
curve
    The estimated distribution function as a curve that is cheap at any x.
quantile
    Where that curve crosses a probability.
bisection
    Where piecewise polynomials of many samples cross many probabilities.
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
The estimate of P(X <= 0) from three masked values, with the table of K:

>>> import numpy as np
>>> from condmask.kernels import interpolant
>>> from condmask.deconvolution import weight
>>> from condmask.deconvolution.table import table
>>> found = table(weight.Masking("normal", 0.6), 1e-10)
>>> z = np.array([-1.0, 0.2, 3.0])
>>> total = interpolant.sum_weights(z, 0.0, 1.0, found, 0, 3)
>>> round(total / 3, 6)
0.269306
"""

from condmask.kernels import (
    bisection,
    counting,
    curve,
    cycle,
    exponentials,
    interpolant,
    lattice,
    masking,
    moments,
    normal,
    quantile,
    replication,
    series,
    windows,
)

__all__ = [
    "bisection",
    "counting",
    "curve",
    "cycle",
    "exponentials",
    "interpolant",
    "lattice",
    "masking",
    "moments",
    "normal",
    "quantile",
    "replication",
    "series",
    "windows",
]
