"""T* of straight and flat pieces, against the lengths on which a fine mesh of T lies below levels."""

import numpy as np
import pytest

from condmask.kernels.rearrange import rearranged

MESH = 20_000  # points of a piece


def reaching(places, values, level):
    """Where T* first reaches levels, an array of them; its ends where it does not."""
    k = np.clip(np.searchsorted(values, level), 1, values.size - 1)
    before, rise = values[k - 1], values[k] - values[k - 1]
    along = np.clip((level - before) / np.where(rise > 0.0, rise, np.inf), 0.0, 1.0)
    return np.where(level > values[-1], places[-1], places[k - 1] + along * (places[k] - places[k - 1]))


@pytest.mark.parametrize("flat", [0, 4])
def test_t_star_is_below_levels_on_as_long_a_stretch_as_t(flat):
    rng = np.random.default_rng(1)
    x, right, left = np.sort(rng.uniform(0.0, 10.0, 40)), *rng.normal(size=(2, 40))
    right[5 : 5 + flat] = left[6 : 6 + flat] = 0.3
    places, values = rearranged(x, right, left)
    assert np.all(np.diff(places) >= 0.0)
    assert np.all(np.diff(values) >= 0.0)
    np.testing.assert_allclose(places[[0, -1]], x[[0, -1]])

    along = (np.arange(MESH) + 0.5) / MESH
    t = right[:-1, None] + (left[1:] - right[:-1])[:, None] * along
    level = np.append(np.linspace(-2.0, 2.0, 37), [0.3, 0.3 + 1e-7, -99.0, 99.0])
    shorter = [(t < each).mean(axis=1) @ np.diff(x) for each in level]
    np.testing.assert_allclose(reaching(places, values, level), x[0] + shorter, atol=1e-3)
