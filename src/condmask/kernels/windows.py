"""Where an attacker who has seen a masked value had best look for the original: windows of one width.

With the chance s the record was swapped, and its original lies anywhere; else the masked value is the
original plus noise. So a window holds the original with the chance

    s F(window) + (1 - s) k(window),      k ~ masses * noise around the masked value

The line is in cells. A window begins at the edge of a cell, or ends there, or is one that serves everybody;
`ends[e]` and `begins[e]` say how far into which cell its other end is. Edge e is the left one of cell e.

Cost: O(cells within reach of the noise) for each masked value and width.
"""

import numpy as np

from condmask._jit import kernel

CONSTANT = -1  # the window that serves everybody; 2 e begins at edge e, 2 e + 1 ends there


@kernel
def place(running, first, position):
    """The running sum at a position in cells, linear within a cell, constant beyond its ends."""
    where = position - first
    if where <= 0.0:
        return running[0]
    last = running.size - 1
    if where >= last:
        return running[last]
    cell = int(where)
    return running[cell] + (where - cell) * (running[cell + 1] - running[cell])


@kernel
def sum_around(cell, low, high, masses, noise, middle, running):
    """running[i]: the share of masses * noise(. - cell) in cells low .. low + i - 1, or 0."""
    running[0] = 0.0
    for j in range(low, high):
        running[j - low + 1] = running[j - low] + masses[j] * noise[middle + j - cell]
    total = running[high - low]
    if total > 0.0:
        for i in range(1, high - low + 1):
            running[i] /= total


@kernel
def best_windows(
    cells, chances, lows, highs, masses, noise, after, before, ends, begins, constant, others, choice, chance
):
    """choice[i, k], chance[i, k]: the best window of width k for the masked value i, and what it holds.

    after[k, e] and before[k, e] are F of the windows from edge e on, and up to it; constant[k] is F of the
    one that serves everybody, and where it begins and ends in cells; others[i, k] are edges at which windows
    are tried as well. Cells lows[i] .. highs[i] are within reach of the noise of masked value i.
    """
    longest = 0
    for i in range(cells.size):
        longest = max(longest, highs[i] - lows[i])
    buffer = np.empty(longest + 1)
    for i in range(cells.size):
        low, high, swapped = lows[i], highs[i], chances[i]
        kept = 1.0 - swapped
        running = buffer[: high - low + 1]
        sum_around(cells[i], low, high, masses, noise, middle_of(noise), running)
        for k in range(after.shape[0]):
            best = swapped * constant[k, 0] + kept * (
                place(running, low, constant[k, 2]) - place(running, low, constant[k, 1])
            )
            chosen = CONSTANT
            for e in range(low, high):
                here = running[e - low]
                value = swapped * after[k, e] + kept * (place(running, low, ends[k, e]) - here)
                if value > best:
                    best, chosen = value, 2 * e
                value = swapped * before[k, e] + kept * (here - place(running, low, begins[k, e]))
                if value > best:
                    best, chosen = value, 2 * e + 1
            for j in range(others.shape[2]):
                e = others[i, k, j]
                here = place(running, low, float(e))
                value = swapped * after[k, e] + kept * (place(running, low, ends[k, e]) - here)
                if value > best:
                    best, chosen = value, 2 * e
            choice[i, k] = chosen
            chance[i, k] = best


@kernel
def middle_of(noise):
    """The cell of no noise."""
    return noise.size // 2


@kernel
def held(cells, lows, highs, masses, noise, ends, begins, constant, choice, share):
    """share[i, k]: how much of masses * noise around the masked value i the chosen windows hold."""
    longest = 0
    for i in range(cells.size):
        longest = max(longest, highs[i] - lows[i])
    buffer = np.empty(longest + 1)
    for i in range(cells.size):
        low, high = lows[i], highs[i]
        running = buffer[: high - low + 1]
        sum_around(cells[i], low, high, masses, noise, middle_of(noise), running)
        for k in range(choice.shape[1]):
            if choice[i, k] == CONSTANT:
                first, last = constant[k, 1], constant[k, 2]
            else:
                e = choice[i, k] // 2
                if choice[i, k] % 2 == 0:
                    first, last = float(e), ends[k, e]
                else:
                    first, last = begins[k, e], float(e)
            share[i, k] = place(running, low, last) - place(running, low, first)


@kernel
def best_of_points(points, weights, wide, first):
    """first[i, k]: where the window of width wide[k] begins that holds the most weight of the sorted row i.

    It holds its points in the middle.
    """
    for i in range(points.shape[0]):
        for k in range(wide.size):
            right, total, best = 0, 0.0, -1.0
            for left in range(points.shape[1]):
                while right < points.shape[1] and points[i, right] - points[i, left] < wide[k]:
                    total += weights[i, right]
                    right += 1
                if total > best:
                    best = total
                    middle = 0.5 * (points[i, left] + points[i, right - 1])
                    first[i, k] = middle - 0.5 * wide[k]
                total -= weights[i, left]


@kernel
def fullest(ends, values, width, first):
    """first[c]: where the half-open interval of this width begins that holds most of cell c.

    The values of a cell are values[ends[c] : ends[c + 1]], in ascending order.
    """
    for c in range(first.size):
        stop, last, most = ends[c + 1], ends[c], 0
        for j in range(ends[c], stop):
            while last < stop and values[last] < values[j] + width:
                last += 1
            if last - j > most:
                most, first[c] = last - j, values[j]
