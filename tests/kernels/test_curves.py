"""T* of straight and flat pieces and the loops of studies, against all pairs and looking everywhere."""

import numpy as np
import pytest

from condmask.kernels import nodes, replication
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


RNG = np.random.default_rng(3)


@pytest.mark.parametrize("ties", [False, True])
def test_pairs_strictly_nearer_than_a_distance_are_counted(ties):
    rows = np.sort(RNG.integers(0, 40, (3, 60)) * 0.25 if ties else RNG.normal(size=(3, 60)), axis=1)
    d = np.array([0.0, 0.25, 1.0, 100.0])
    within = np.empty((3, 4))

    replication.pairs_within(rows, d, within)

    apart = np.abs(rows[:, :, None] - rows[:, None, :])
    assert within.tolist() == [[(each < one).sum() - 60 * (one > 0) for one in d] for each in apart]


@pytest.mark.parametrize("whole", [True, False])
def test_quantiles_are_those_of_the_function_looked_at_everywhere(whole):
    # steps of 1 at the values, and a part that falls between them and returns to 0 at both ends
    values = np.sort(RNG.integers(20, 60, (2, 9)).astype(float), axis=1)
    width, origin = 2.5, np.array([-10.0, -8.0])
    place = origin[:, None] + width * np.arange(48)
    smooth = 2.0 * np.sin(0.15 * place) * np.exp(-(((place - 40.0) / 14.0) ** 2))
    rule = width, 1.0, np.abs(np.diff(smooth, 2)).max() / 9, whole  # 9 records bend it
    targets, x = np.array([0.5, 2.5, 4.0, 8.5]), np.arange(5.0, 90.0, 1.0 if whole else 1e-3)

    for rearrange in (False, True):
        found = np.empty((2, 4))
        replication.quantiles_of_rows(values, smooth, origin, *rule, targets, rearrange, found)

        for row in range(2):
            function = np.zeros(x.size)
            nodes.read((x - origin[row]) / width, smooth[row], function)
            function += np.searchsorted(values[row], x, side="right")
            if rearrange:
                expected = [x[np.searchsorted(np.sort(function), target)] for target in targets]
            else:
                expected = [x[np.argmax(function >= target)] for target in targets]
            assert found[row] == pytest.approx(expected, abs=1e-9 if whole else 5e-3)
