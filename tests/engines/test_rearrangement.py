"""What T has rearranged between two values. Oracle: all of its values in order."""

import numpy as np
import pytest

from condmask.engines.rearrangement import BROAD, Rearrangement

VALUES = np.round(np.linspace(0.0, 1.0, 300) + np.random.default_rng(4).normal(0.0, 0.02, 300), 2)


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize(("low", "high"), [(0.3, 0.3), (0.29, 0.33), (0.5, 0.5 + 2 * BROAD), (-9.0, 9.0)])
def test_values_in_a_range_and_its_ends_come_in_order(pieces, low, high):
    sizes, lefts, gaps = ([300], [2.0], []) if pieces == 1 else ([120, 180], [2.0, 100.0], [VALUES[119]])
    widths = np.full(pieces, 0.5)
    found, edges = Rearrangement(
        VALUES, np.array(sizes), widths, np.array(lefts), np.array(gaps), smooth=False
    ).between(low, high)

    # between two pieces T has one value for long
    values, lengths = VALUES, np.full(300, 0.5)
    if pieces == 2:
        values, lengths = np.insert(values, 120, gaps[0]), np.insert(lengths, 120, 98.0 - 60.0)
    order = np.argsort(values, kind="stable")
    inside = (values[order] >= low) & (values[order] <= high)
    ends = 2.0 + np.append(0.0, np.cumsum(lengths[order]))
    first = np.count_nonzero(values < low)
    assert found.tolist() == values[order][inside].tolist()
    assert edges == pytest.approx(ends[first : first + inside.sum() + 1])
