"""Sums powers about a centre near the data; sums about one centre add up across blocks.

The masked moments of Theorem 2.1 of Ghatak & Roy.
"""

import numpy as np

from condmask._jit import kernel

LANES = 512  # values that are summed side by side


@kernel
def add_whole_powers(z, counts, center, per_scale, bits, sums):
    """Add to sums[k] the sum of u^(k + 1), u = (z - center) per_scale, abs(u) <= 1, in whole
    numbers.

    A power is rounded to a multiple of 2^-bits, and the rest of it to a multiple of 2^-2bits;
    sums[k, 0] and sums[k, 1] count these units. So the result does not depend on the order of
    summation. With `counts`, each value is summed that many times; without (size 0), z has at most
    2^(61 - bits) records.
    """
    one = 2.0**bits
    coarse = 1.5 * 2.0 ** (52 - bits)
    fine = 1.5 * 2.0 ** (52 - 2 * bits)  # adding and subtracting these rounds
    order = sums.shape[0]
    u, power = np.empty((2, LANES))
    highs, lows = np.zeros((2, order, LANES))
    for start in range(0, z.size, LANES):
        size = min(LANES, z.size - start)
        for k in range(size):
            u[k] = (z[start + k] - center) * per_scale
            power[k] = u[k]
        for row in range(order):
            high = highs[row]
            low = lows[row]
            if counts.size:
                for k in range(size):
                    part = power[k] + coarse - coarse
                    rest = power[k] - part + fine - fine
                    sums[row, 0] += counts[start + k] * np.int64(part * one)
                    sums[row, 1] += counts[start + k] * np.int64(rest * one * one)
            else:  # few enough in each lane for exact sums in floating point
                for k in range(size):
                    part = power[k] + coarse - coarse
                    high[k] += part
                    low[k] += power[k] - part + fine - fine
            for k in range(size):
                power[k] *= u[k]
    for row in range(order):
        for k in range(LANES):
            sums[row, 0] += np.int64(highs[row, k] * one)
            sums[row, 1] += np.int64(lows[row, k] * one * one)
