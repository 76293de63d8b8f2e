"""Sums of powers about a centre near the data, never about 0; sums about one centre add up across
blocks.

The masked moments of Theorem 2.1.
"""

import numpy as np

from condmask._jit import kernel

LANES = 512


@kernel
def add_whole_powers(z, counts, center, per_scale, bits, sums):
    """sums[k]: the sum of u^(k + 1), u = (z - center) per_scale of at most 1, in whole numbers.

    A power is rounded to a multiple of 2^-bits, and what is left of it to one of 2^-2bits: sums[k,
    0] += the sum of the first in this unit, sums[k, 1] += that of the second. So it depends on
    nothing but what is summed. Of counts each value is summed so many times; records have none,
    and come at most 2^(61 - bits) at a time.
    """
    one = 2.0**bits
    coarse = 1.5 * 2.0 ** (52 - bits)
    fine = 1.5 * 2.0 ** (52 - 2 * bits)  # adding these rounds
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
            else:  # so few in each lane that floating point sums them exactly
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
