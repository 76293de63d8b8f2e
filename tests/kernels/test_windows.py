"""The best windows against trying all of them, by plain sums."""

import numpy as np
import pytest

from condmask.kernels import windows

CELLS, REACH = 40, 6


@pytest.fixture
def line():
    rng = np.random.default_rng(2)
    masses, everyone = rng.random(CELLS), rng.random(CELLS)
    masses[10:13] = 0.0
    noise = np.exp(-0.5 * (np.arange(-REACH, REACH + 1) / 2.0) ** 2)
    return masses, everyone / everyone.sum(), noise


def share(weights, first, last):
    """The sum of weights of cells, which are spread evenly, between two positions."""
    return sum(
        weight * max(0.0, min(last, k + 1.0) - max(first, float(k))) for k, weight in enumerate(weights)
    )


def setting(line, wide):
    _, everyone, _ = line
    edges = np.arange(float(CELLS))
    after = np.array([[share(everyone, e, e + w) for e in edges] for w in wide])
    before = np.array([[share(everyone, e - w, e) for e in edges] for w in wide])
    ends = np.minimum(edges + np.array(wide)[:, None], CELLS)
    begins = np.maximum(edges - np.array(wide)[:, None], 0)
    constant = np.array([[share(everyone, 20.5, 20.5 + w), 20.5, 20.5 + w] for w in wide])
    return after, before, ends, begins, constant


def test_best_windows_are_the_best_of_all(line):
    masses, everyone, noise = line
    wide = [0.5, 3.0, 7.3]
    cells, chances = np.array([0, 11, 25, 39]), np.array([0.0, 0.4, 0.9, 1.0])
    lows, highs = np.maximum(cells - REACH, 0), np.minimum(cells + REACH + 1, CELLS)
    after, before, ends, begins, constant = setting(line, wide)
    others = np.tile(np.array([2, 30]), (4, 3, 1))
    choice, mass, held = np.empty((4, 3), dtype=np.int64), np.empty((4, 3)), np.empty((4, 3))

    windows.best_windows(
        cells,
        chances,
        lows,
        highs,
        masses,
        noise,
        after,
        before,
        ends,
        begins,
        constant,
        others,
        choice,
        mass,
    )
    windows.held(cells, lows, highs, masses, noise, ends, begins, constant, choice, held)

    for i, cell in enumerate(cells):
        near = np.zeros(CELLS)
        for j in range(lows[i], highs[i]):
            near[j] = masses[j] * noise[REACH + j - cell]
        near /= near.sum()
        for k, w in enumerate(wide):
            starts = [20.5, 2.0, 30.0, *range(lows[i], highs[i]), *(e - w for e in range(lows[i], highs[i]))]
            tried = [
                chances[i] * share(everyone, a, a + w) + (1 - chances[i]) * share(near, a, a + w)
                for a in starts
            ]
            assert mass[i, k] == pytest.approx(max(tried), rel=1e-12)
            e = choice[i, k] // 2
            start = 20.5 if choice[i, k] == windows.CONSTANT else e if choice[i, k] % 2 == 0 else e - w
            assert held[i, k] == pytest.approx(share(near, start, start + w), rel=1e-12, abs=1e-15)


def test_nothing_is_held_where_there_is_no_mass(line):
    _, _, noise = line
    _, _, ends, begins, constant = setting(line, [2.0])
    cells, choice, held = np.array([20]), np.array([[40]]), np.empty((1, 1))

    windows.held(cells, cells - 6, cells + 7, np.zeros(CELLS), noise, ends, begins, constant, choice, held)

    assert held[0, 0] == 0.0


@pytest.mark.parametrize("wide", [0.01, 0.7, 5.0])
def test_the_best_window_of_points_holds_most_weight(wide):
    rng = np.random.default_rng(3)
    points, weights = np.sort(rng.normal(size=(20, 30)), axis=1), rng.random((20, 30))
    first = np.empty((20, 1))

    windows.best_of_points(points, weights, np.array([wide]), first)

    for row in range(20):
        most = max(weights[row][(points[row] >= a) & (points[row] < a + wide)].sum() for a in points[row])
        inside = (points[row] >= first[row, 0] - 1e-12) & (points[row] < first[row, 0] + wide + 1e-12)
        assert weights[row][inside].sum() >= most - 1e-12
