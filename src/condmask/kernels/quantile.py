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
from condmask.kernels.curve import evaluate
from condmask.kernels.lattice import count_below, count_up_to, records

# Halving the number of records and then a gap between them takes some 20 + 60 levels.
DEPTH = 1 << 11
# Between records halved at a middle one rather than in the middle of the line, where T has no jumps.
FEW = 32


@kernel
def crossings(curve, targets, slack, left, right, reach, resolution, rearranged, stack, counts, out):
    """out[i]: the first x in [left, right) with n T(x) >= targets[i], or that of the rearranged T.

    The targets ascend, so that what lies left of one crossing is not searched for the next. `right` if there
    is none. `reach`: how far a record's smooth part changes; `resolution`: the width at which an interval
    without a jump is not halved any more, beside rounding. Excursions of n T across a target by less than
    `slack` between the points that are looked at are not pursued.
    """
    values, below = curve.values, curve.below
    n, deepest = values.size, stack.shape[0]
    known = left
    # the rearranged T reaches a target after all of {n T < target}: what lies left of the first crossing,
    # and what lies right of it
    task, tasks = 0, targets.size * (1 + rearranged)
    while task < tasks:
        i = task // (1 + rearranged)
        target, measure = targets[i], rearranged and task % 2 == 1
        task += 1
        # of the intervals still to do: their right ends, the rising part before these, the smooth part at
        # them; how many values lie before them, at most at them, and within reach of them
        start = known if measure else left
        before, done = count_below(values, right, 0, n), count_up_to(values, start, 0, n)
        stack[0, 0], stack[1, 0] = right, start
        counts[0, 0], counts[0, 1], counts[0, 2] = before, count_up_to(values, right, before, n), n
        counts[1, 0], counts[1, 1] = done, done
        fresh, until = 0, 2  # rows to be evaluated
        depth, length, low, base = 1, 0.0, 0.0, 0.0
        first = count_below(values, start - reach, 0, done)
        found = right
        while depth > 0:
            if fresh < until:
                evaluate(curve, stack, counts, curve.half, fresh, until)
                if fresh == 0:
                    low, base = stack[1, 1], stack[1, 2]
                fresh = until
            if not measure and low + base >= target:
                found = start
                break
            end, high, end_base = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 2]
            before, last, width = counts[depth - 1, 0], counts[depth - 1, 2], end - start
            most, above, narrow = -np.inf, False, False
            if end > known:
                least, most, arc = end_base, base, 0.0  # of the smooth part, as long as it may not rise
                if curve.rise > 0.0:
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
                narrow = width <= finest or depth == deepest
            if high + most < target or above or narrow:
                if not above and (low + base < target or not narrow):
                    length += width
                start, base, done = end, end_base, counts[depth - 1, 1]
                first = count_below(values, start - reach, first, done)
                low = curve.jump * records(below, done) if curve.jump != 0.0 else high
                depth -= 1
                continue
            if before - done > (0 if curve.jump != 0.0 else FEW):
                k = done + (before - done) // 2
                middle = values[k]
                inside = k if k == done or values[k - 1] < middle else count_below(values, middle, done, k)
                up_to = k + 1
                if up_to < before and values[up_to] == middle:
                    up_to = count_up_to(values, middle, up_to, before)
            else:
                middle = start + 0.5 * width
                if curve.half > 0.0 and np.floor(middle) > start:
                    middle = np.floor(middle)
                inside = count_below(values, middle, done, before)
                up_to = count_up_to(values, middle, inside, before)
            last = count_up_to(values, middle + reach, up_to, last)
            stack[depth, 0] = middle
            counts[depth, 0], counts[depth, 1], counts[depth, 2] = inside, up_to, last
            fresh, until = depth, depth + 1
            depth += 1
        if measure:
            out[i] += length
        else:
            out[i] = known = found
