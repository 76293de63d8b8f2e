"""Sums the kernel of T_1 under Laplace noise exactly: a step and an exponential, by recursion.

K(u) = (1 + 2A) 1{u >= 0} - 2A F(u/a) with F the standard Laplace distribution function, so the sum
over sorted records needs only, at every value, the exponentials of the distances to the records
before and after it: two passes, no approximation.

Theorem 2.2 of Ghatak & Roy for Laplace noise (docs/theory.rst, "The model and its inverse").
"""

import numpy as np

from condmask._jit import kernel


@kernel
def weighted_sums(values, weights, decay, left, right):
    """Set left[j] to the sum of weights[i] exp(-abs(values[j] - values[i]) / decay) over i <= j,
    and right[j] to that over i >= j."""
    total = 0.0
    for j in range(values.size):
        total *= np.exp((values[max(j - 1, 0)] - values[j]) / decay)
        total += weights[j]
        left[j] = total
    total = 0.0
    for j in range(values.size - 1, -1, -1):
        total *= np.exp((values[j] - values[min(j + 1, values.size - 1)]) / decay)
        total += weights[j]
        right[j] = total
