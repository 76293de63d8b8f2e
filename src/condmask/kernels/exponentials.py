"""T_1 under Laplace noise, exactly: its kernel is a step and an exponential, which sum by recursion.

K(u) = (1 + 2A) 1{u >= 0} - 2A F(u/a) with F the standard Laplace distribution function, so the sum over
sorted records needs only, at every record, the exponentials of the distances to those before and after
it: two passes, no approximation.
"""

import numpy as np

from condmask._jit import kernel


@kernel
def exponential_sums(z, decay, left, right):
    """left[j] = sum over i <= j of exp(-(z_j - z_i) / decay), right[j] the same over i >= j; z sorted."""
    if z.size == 0:
        return
    left[0] = 1.0
    for j in range(1, z.size):
        left[j] = left[j - 1] * np.exp((z[j - 1] - z[j]) / decay) + 1.0
    right[z.size - 1] = 1.0
    for j in range(z.size - 2, -1, -1):
        right[j] = right[j + 1] * np.exp((z[j] - z[j + 1]) / decay) + 1.0


@kernel
def laplace_sum(z, x, count, decay, left, right):
    """sum_j F((x - z_j) / decay), where `count` of the sorted z are at most x."""
    total = float(count)
    if count > 0:
        total -= 0.5 * np.exp((z[count - 1] - x) / decay) * left[count - 1]
    if count < z.size:
        total += 0.5 * np.exp((x - z[count]) / decay) * right[count]
    return total
