"""Moments of the original from those of the masked values: the recursion of Theorem 2.1.

With Z = X_J or X + Y, for any centre c::

    E (Z-c)^k = E (X-c)^k + (1-p) sum_{j>=1} C(k,j) E (X-c)^{k-j} E Y^j

The system is triangular, so the moments of X follow one by one, each without bias.
Powers are summed about a centre near the data, never about 0; sums about one centre add up across blocks.
"""

from condmask._jit import kernel


@kernel
def add_powers(z, center, scale, start, stop, sums):
    """sums[k] += sum of ((z[j] - center) / scale)^k over start <= j < stop."""
    for j in range(start, stop):
        deviation = (z[j] - center) / scale
        power = 1.0
        for k in range(sums.size):
            sums[k] += power
            power *= deviation
