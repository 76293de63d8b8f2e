r"""Keys, values with noise, by whose order reverse mapping gives the kept records their own values back.

On a line in units of sigma. A released value c is given to the keys between two thresholds, so that given c
and that the record was kept its original lies at u with a chance proportional to

    mass(u) {F(high - u) - F(low - u)},      F: the distribution function of the noise

and, if it was swapped, anywhere. A window is looked for that holds most of both. Windows begin at the first
value of a bin; where they end within one, its mass counts in proportion.

Cost: O(bins within reach of the noise) for each node or released value.

See docs/reverse_mapping.rst, "What attackers learn".
"""

from math import erfc, exp, sqrt

import numpy as np

from condmask._jit import kernel

CONSTANT = -1  # the window that serves everybody
NODES = 16.0  # in a sigma, between which chances are interpolated for windows: to 2e-4


@kernel
def noise_below(u, normal):
    """P(noise <= u), of unit variance."""
    if normal:
        return 0.5 * erfc(-u / sqrt(2.0))
    return 1.0 - 0.5 * exp(-u * sqrt(2.0)) if u > 0.0 else 0.5 * exp(u * sqrt(2.0))


@kernel
def kept_between(at, low, high, normal, chance):
    """chance[i]: that the key of a value at at[i] lies between two thresholds."""
    for i in range(at.size):
        chance[i] = noise_below(high[i] - at[i], normal) - noise_below(low[i] - at[i], normal)


@kernel
def best_windows(
    low, high, p, at, mass, held, end, part, constant, constant_bins, constant_parts, reach, normal,
    choice, chance,
):  # fmt: skip
    """choice[c], chance[c]: the bin at which the best window for a released value begins, and what it holds.

    The window from bin j on holds the share held[j] of all records, and ends in bin end[j] behind the part
    part[j] of it; that which serves everybody holds `constant`, and begins and ends at two such places.
    """
    buffer, curve = np.empty(at.size + 1), np.empty(0)
    for c in range(low.size):
        first = np.searchsorted(at, low[c] - reach)
        last = np.searchsorted(at, high[c] + reach)
        buffer[0] = 0.0
        if first < last:
            origin = np.floor(at[first] * NODES)
            size = int(at[last - 1] * NODES - origin) + 2
            if size > curve.size:
                curve = np.empty(2 * size)
            for i in range(size):
                u = (origin + i) / NODES
                curve[i] = noise_below(high[c] - u, normal) - noise_below(low[c] - u, normal)
            for j in range(first, last):
                where = at[j] * NODES - origin
                i = int(where)
                kept = curve[i] + (where - i) * (curve[i + 1] - curve[i])
                buffer[j - first + 1] = buffer[j - first] + mass[j] * kept
        running = buffer[: last - first + 1]
        total = running[last - first]
        if total > 0.0:
            running /= total
        kept_share = kept_up_to(running, first, constant_bins[1], constant_parts[1])
        kept_share -= kept_up_to(running, first, constant_bins[0], constant_parts[0])
        best, chosen = p * constant + (1.0 - p) * kept_share, CONSTANT
        for j in range(np.searchsorted(end, first), last):
            kept_share = kept_up_to(running, first, end[j], part[j]) - kept_up_to(running, first, j, 0.0)
            value = p * held[j] + (1.0 - p) * kept_share
            if value > best:
                best, chosen = value, j
        choice[c], chance[c] = chosen, best


@kernel
def kept_up_to(running, first, bin, part):
    """The running sum, whose bins count from `first`, behind a part of a bin."""
    if bin < first:
        return 0.0
    k = bin - first
    if k >= running.size - 1:
        return running[running.size - 1]
    return running[k] + part * (running[k + 1] - running[k])


@kernel
def balance(chance, rounds):
    """Bring a square of chances to rows and columns that sum to one, nearly."""
    size = chance.shape[0]
    for _ in range(rounds):
        total = np.zeros(size)
        for i in range(size):
            for j in range(size):
                total[j] += chance[i, j]
        for i in range(size):
            row = 0.0
            for j in range(size):
                chance[i, j] /= total[j]
                row += chance[i, j]
            for j in range(size):
                chance[i, j] /= row
