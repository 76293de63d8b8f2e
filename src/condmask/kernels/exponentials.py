"""T_1 under Laplace noise, exactly: its kernel is a step and an exponential, which sum by recursion.

K(u) = (1 + 2A) 1{u >= 0} - 2A F(u/a) with F the standard Laplace distribution function, so the sum over
sorted records needs only, at every value, the exponentials of the distances to the records before and
after it: two passes, no approximation.
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.lattice import records


@kernel
def exponential_sums(z, below, decay, sums):
    """sums[0, j] = sum over records at z_i, i <= j, of exp(-(z_j - z_i) / decay), sums[1, j] over i >= j.

    z sorted, with `below` records before each, or one record each where that is empty.
    """
    for side in range(2):
        total = 0.0
        for i in range(z.size):
            j = i if side == 0 else z.size - 1 - i
            if i > 0:
                total *= np.exp(-abs(z[j] - z[j - 1 + 2 * side]) / decay)
            total += records(below, j + 1) - records(below, j)
            sums[side, j] = total


@kernel
def laplace_sum(z, below, x, index, decay, sums):
    """The sum of F((x - z_j) / decay) over all records; `index` of the values z are at most x."""
    total = float(below[index] if below.size > 0 else index)
    if index > 0:
        total -= 0.5 * np.exp((z[index - 1] - x) / decay) * sums[0, index - 1]
    if index < z.size:
        total += 0.5 * np.exp((x - z[index]) / decay) * sums[1, index]
    return total


@kernel
def weighted_sums(values, weights, decay, left, right):
    """left[j] = sum over i <= j of weights[i] exp(-(values[j] - values[i]) / decay), right[j] over i >= j."""
    total = 0.0
    for j in range(values.size):
        if j > 0:
            total *= np.exp((values[j - 1] - values[j]) / decay)
        total += weights[j]
        left[j] = total
    total = 0.0
    for j in range(values.size - 1, -1, -1):
        if j < values.size - 1:
            total *= np.exp((values[j] - values[j + 1]) / decay)
        total += weights[j]
        right[j] = total
