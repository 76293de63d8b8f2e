"""Sums over the records of each pool. Oracle: the sum written down, kernel by kernel."""

import numpy as np
import pytest

from condmask.kernels.pools import add_pool_sums

TABLE, LIMITS = np.array([[0.1, -0.2, 0.4, 0.9, 1.1], [0.0, 0.3, 0.5, 0.2, 0.6]]), np.array([1.0, 0.4])
REACH = 2


def kernel(row, apart):
    """Row of the table at a whole distance."""
    if apart < -REACH:
        return 0.0
    return LIMITS[row] if apart > REACH else TABLE[row, int(apart) + REACH]


@pytest.mark.parametrize("jumps", [(0.0, 0.0), (2.0, 0.0), (2.0, 0.7)])
def test_each_record_counts_by_its_distance_and_jumps_at_its_place(jumps):
    rng = np.random.default_rng(1)
    values = rng.uniform(-6.0, 6.0, 40)
    cells, counts, starts = np.floor(values), rng.integers(1, 5, 40), np.array([0, 1, 7, 40])
    x = np.append(rng.uniform(-12.0, 12.0, 60), values[::4])
    left, along = np.floor(x), x - np.floor(x)

    found = np.ones((2, 3, x.size))
    add_pool_sums(values, cells, counts, starts, x, left, along, TABLE, LIMITS, np.array(jumps), found)

    expected = np.ones_like(found)
    for row in range(2):
        for s in range(3):
            for j in range(starts[s], starts[s + 1]):
                for i, point in enumerate(x):
                    near = [kernel(row, left[i] + k - cells[j]) for k in (0, 1)]
                    step = [float(left[i] + k >= cells[j]) for k in (0, 1)]
                    smooth, between = ((1.0 - along[i]) * a + along[i] * b for a, b in (near, step))
                    jumped = float(values[j] <= point) - between
                    expected[row, s, i] += counts[j] * (smooth + jumps[row] * jumped)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
