"""Quantiles: where the estimated distribution function first reaches a probability, and what part of the
line to the right of that point still lies below it.

T is not monotone, so the search is by exclusion. On an interval [l, r) of width w n T is at most its
rising part just before r plus the largest value of its smooth part, for which there are two bounds, with
m records within reach: that at l plus ``m rise w``, and the larger of both ends plus ``m bend w^2 / 8``.
Intervals whose bound stays below the target hold no crossing; the others are halved, from left to right,
at their middle record or, between records, in the middle, until the crossing is known to rounding. Data in
whole steps of a grid are searched in whole steps.

T is known to a tolerance, and may stay at a probability for long (isolated records: at k/n). So the target
must lie below the probability by the tolerance; what reaches it counts as a crossing.
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.curve import add_rising, add_smooth, records
from condmask.kernels.lattice import count_below, count_up_to

# Halving the number of records and then a gap between them takes some 20 + 60 levels.
DEPTH = 1 << 11
# Between records halved at a middle one rather than in the middle of the line, where T has no jumps.
FEW = 32


@kernel
def search(curve, target, slack, left, right, reach, resolution, measure):
    """First x in [left, right) with n T(x) >= target, or, with `measure`, the length of {n T < target}.

    `right` if there is none. `reach`: how far a record's smooth part changes; `resolution`: the width
    at which an interval without a jump is not halved any more, beside rounding. Excursions of n T across
    the target by less than `slack` between the points that are looked at are not pursued.
    """
    values, below = curve.values, curve.below
    x, index, sums = np.empty(1), np.empty(1, dtype=np.int64), np.empty(1)

    def rising(at, before):
        x[0], index[0], sums[0] = at + curve.half, before, 0.0
        add_rising(curve, x, index, sums)
        return sums[0]

    def smooth(at, up_to):
        x[0], index[0], sums[0] = at + curve.half, up_to, 0.0
        add_smooth(curve, x, index, sums)
        return sums[0]

    # of the intervals still to do, by their right ends: values before it, rising part before it, smooth part
    ends, inside = np.empty((DEPTH, 3)), np.empty(DEPTH, dtype=np.int64)
    inside[0] = count_below(values, right, 0, values.size)
    ends[0] = (right, rising(right, inside[0]), smooth(right, inside[0]))
    depth, length = 1, 0.0

    start = left
    done = count_up_to(values, start, 0, values.size)
    low, base = rising(start, done), smooth(start, done)
    while depth > 0:
        if not measure and low + base >= target:
            return start
        end, high, end_base = ends[depth - 1]
        width, before = end - start, inside[depth - 1]
        least, most, arc = end_base, base, 0.0  # of the smooth part, as long as it may not rise
        if curve.rise > 0.0:
            first = count_below(values, start - reach, 0, done)
            last = count_up_to(values, end + reach, before, values.size)
            near = records(below, last) - records(below, first)
            wide = width / curve.scale
            gain, arc = near * curve.rise * wide, 0.125 * near * curve.bend * wide * wide
            least = max(end_base - gain, min(base, end_base) - arc)
            most = min(base + gain, max(base, end_base) + arc)
        if high - low + arc <= slack:
            least, most = max(least, min(base, end_base)), min(most, max(base, end_base))
        above = low + least >= target
        between = curve.jump == 0.0 or before == done  # no jumps inside
        finest = max(resolution if between else 0.0, 4e-15 * max(abs(start), abs(end)))
        narrow = width <= finest or depth == DEPTH
        if high + most < target or above or narrow:
            if not above and (low + base < target or not narrow):
                length += width
            start, base = end, end_base
            done = count_up_to(values, end, before, values.size)
            low = rising(end, done) if curve.jump != 0.0 else high
            depth -= 1
            continue
        middle = start + 0.5 * width
        if before - done > (0 if curve.jump != 0.0 else FEW):
            middle = values[done + (before - done) // 2]
        elif curve.half > 0.0:
            middle = np.floor(middle)
        if not start < middle < end:
            middle = start + 0.5 * width
        inside[depth] = count_below(values, middle, done, before)
        up_to = count_up_to(values, middle, inside[depth], before)
        ends[depth] = (middle, rising(middle, inside[depth]), smooth(middle, up_to))
        depth += 1
    return length if measure else right
