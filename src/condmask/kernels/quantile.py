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

from math import floor

import numpy as np

from condmask._jit import kernel
from condmask.kernels.curve import evaluate
from condmask.kernels.lattice import count_below, count_up_to

# Halving the number of records and then a gap between them takes some 20 + 60 levels.
DEPTH = 1 << 11
# Between records halved at a middle one rather than in the middle of the line, where T has no jumps.
FEW = 32


@kernel
def crossings(curve, targets, slack, left, right, reach, resolution, rearranged, stack, out):
    """out[i]: the first x in [left, right) with n T(x) >= targets[i], or that of the rearranged T.

    The targets ascend, so that what lies left of one crossing is not searched for the next. `right` if there
    is none. `reach`: how far a record's smooth part changes; `resolution`: the width at which an interval
    without a jump is not halved any more, beside rounding. Excursions of n T across a target by less than
    `slack` between the points that are looked at are not pursued.

    Rows of the stack are the intervals still to do, as their right ends: the rising part before these, the
    smooth part at them; how many values lie before them, at most at them, and within reach of them. The
    first row, that of `right`, is given.
    """
    values, below, jump, rise = curve.values, curve.below, curve.jump, curve.rise
    counted = below.size > 0
    n, deepest = values.size, stack.size
    known = left
    # the rearranged T reaches a target after all of {n T < target}: what lies left of the first crossing,
    # and what lies right of it
    task, tasks = 0, targets.size * (1 + rearranged)
    while task < tasks:
        i = task // (1 + rearranged)
        target, measure = targets[i], rearranged and task % 2 == 1
        task += 1
        start = known if measure else left
        done = count_up_to(values, start, 0, n)
        row = stack[1]
        row["x"], row["before"], row["up_to"] = start, done, done
        first = count_below(values, start - reach, 0, done)
        depth, length, low, base, found = 1, 0.0, 0.0, 0.0, right
        fresh = np.int64(1)  # the row to be evaluated; a literal would have `evaluate` compiled once more
        while depth > 0:
            if fresh > 0:
                evaluate(curve, stack, curve.half, fresh, fresh + 1)
                if fresh == depth:  # the left end, where no interval ends
                    low, base = stack[fresh]["rising"], stack[fresh]["smooth"]
                fresh = 0
            if not measure and low + base >= target:
                found = start
                break
            row = stack[depth - 1]
            end, high, end_base, before, last = (
                row["x"],
                row["rising"],
                row["smooth"],
                row["before"],
                row["within"],
            )
            width = end - start
            most, above, narrow = -np.inf, False, False
            if end > known:
                least, most, arc = end_base, base, 0.0  # of the smooth part, as long as it may not rise
                lower, upper = min(base, end_base), max(base, end_base)
                if rise > 0.0:
                    near = below[last] - below[first] if counted else last - first
                    wide = width / curve.scale
                    gain, arc = near * rise * wide, 0.125 * near * curve.bend * wide * wide
                    least, most = max(end_base - gain, lower - arc), min(base + gain, upper + arc)
                if high - low + arc <= slack:
                    least, most = max(least, lower), min(most, upper)
                above = low + least >= target
                narrow = width <= 4e-15 * max(abs(start), abs(end)) or depth == deepest
                if jump == 0.0 or before == done:  # no jumps inside
                    narrow = narrow or width <= resolution
            if high + most < target or above or narrow:
                if not above and (low + base < target or not narrow):
                    length += width
                start, base, done = end, end_base, row["up_to"]
                first = count_below(values, start - reach, first, done)
                low = jump * (below[done] if counted else done) if jump != 0.0 else high
                depth -= 1
                continue
            if before - done > (0 if jump != 0.0 else FEW):
                k = done + (before - done) // 2
                middle = values[k]
                inside = k if k == done or values[k - 1] < middle else count_below(values, middle, done, k)
                up_to = k + 1
                if up_to < before and values[up_to] == middle:
                    up_to = count_up_to(values, middle, up_to, before)
            else:
                middle = start + 0.5 * width
                if curve.half > 0.0 and floor(middle) > start:
                    middle = float(floor(middle))
                inside = count_below(values, middle, done, before)
                up_to = count_up_to(values, middle, inside, before)
            last = count_up_to(values, middle + reach, up_to, last)
            row = stack[depth]
            row["x"], row["before"], row["up_to"], row["within"] = middle, inside, up_to, last
            fresh = depth
            depth += 1
        if measure:
            out[i] += length
        else:
            out[i] = known = found
