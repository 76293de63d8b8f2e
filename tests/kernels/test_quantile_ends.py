"""T* of straight pieces, and the ends of intervals. Oracles: the length of where T is less than a value, on a
fine mesh; the formula of the kept variance."""

import numpy as np
import pytest

from condmask.inference import rearranged_variance
from condmask.kernels import quantile_ends as kernels
from condmask.kernels.quantile_ends import Lattice, Question, Row

WIDTH, P = 16.0, 0.5
LINE = Lattice(WIDTH, True, P, np.zeros(5), np.zeros(5), True)


def row(rng, n=30, nodes=60, first=-3.0):
    """A row with a smooth part that falls, and records that T jumps at."""
    z = np.sort(np.floor(rng.uniform(5.0, 45.0, n) * WIDTH + first * WIDTH))
    place = np.arange(nodes) - 25.0
    smooth = -(1.0 / P - 1.0) / (1.0 + np.exp(-0.05 * place)) + 0.01 * np.sin(0.2 * place)
    return Row(z, first, smooth, np.zeros((5, nodes)), np.zeros(nodes))


def on_a_mesh(own, times=4_000):
    """T at even steps between the first and the last node."""
    nodes = own.smooth.size
    x = (own.first + (np.arange((nodes - 1) * times) + 0.5) / times) * WIDTH
    smooth = np.array([kernels._smooth(at, own, LINE) for at in x[:: times // 20]])
    return np.interp(x, x[:: times // 20], smooth) + np.searchsorted(own.z, x, "right") / (P * own.z.size)


@pytest.mark.parametrize("seed", [1, 2])
def test_t_star_takes_in_the_line_as_t_does(seed):
    own = row(np.random.default_rng(seed))
    x, t = kernels._rearranged(own, LINE)
    assert (np.diff(t) >= 0.0).all()
    assert (np.diff(x) >= -1e-9).all()
    assert x[0] == own.first * WIDTH
    assert x[-1] == pytest.approx((own.first + own.smooth.size - 1) * WIDTH, abs=1e-6)

    values = on_a_mesh(own)
    for level in np.linspace(t[0], t[-1], 40)[1:-1]:
        less = np.mean(values < level) * (x[-1] - x[0]) + x[0]
        k = np.searchsorted(t, level)
        along = (level - t[k - 1]) / (t[k] - t[k - 1])
        # straight pieces: 1/8 of the second derivative, .0007 by the node, over the slope, .0005 by the step
        assert x[k - 1] + along * (x[k] - x[k - 1]) == pytest.approx(less, abs=0.18)


def test_values_are_ordered_whatever_they_are():
    rng = np.random.default_rng(4)
    for values in (
        rng.normal(size=500),
        np.zeros(7),
        np.array([3.0]),
        rng.integers(0, 3, 90) * 1e9,
        np.arange(40.0),
    ):
        order = kernels._ascending(values.astype(float))
        assert sorted(order.tolist()) == list(range(values.size))
        assert (np.diff(values[order]) >= 0.0).all()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_the_kept_variance_is_that_of_the_formula(whole, shared):
    rng = np.random.default_rng(7)
    own = row(rng)._replace(sums=rng.uniform(5.0, 60.0, (5, 60)))
    lattice, q, c, n = LINE._replace(shared_donors=shared), 0.4, 0.05, own.z.size
    question = Question(
        np.array([q]), np.array([c]), np.array([whole]), True, 0.0, rearranged_variance.GAIN,
        rearranged_variance.ROOM,
    )  # fmt: skip
    low, value, high = own.z[5], own.z[11], own.z[24] + 3.0

    variance = np.array([[kernels._variance(end, 0, own, lattice)] for end in (low, high)]) + whole * q * (
        1 - q
    )
    share = lambda x, side: np.searchsorted(own.z, x, side) / n  # noqa: E731
    records = np.array([
        [share(value, "right") - share(low, "left")], [share(high, "right") - share(value, "right")]
    ])  # fmt: skip
    rise = np.sqrt(c / (1.0 - c) * variance)
    expected = rearranged_variance.kept_variance(rise, records, variance, n, P, whole - (not shared)).item()

    assert 0.3 < expected < 0.99
    found = kernels._kept(own, lattice, question, c, whole, q, value, (low, high))
    assert found == pytest.approx(expected, rel=1e-12)


def test_records_are_spread_to_nodes_as_a_cubic_reads_them():
    z, first = np.array([[100.0, 103.0, 250.0, 512.0]]), np.array([2.0])
    weights, counts = np.zeros((2, 1, 60))
    kernels.spread(z, first, WIDTH, weights)
    kernels.count(z, first, WIDTH, counts)

    nodes = (first[0] + np.arange(60.0)) * WIDTH
    for order in range(4):  # sums of cubics come out
        assert (weights[0] @ nodes**order) == pytest.approx((z**order).sum(), rel=1e-12)
    assert counts[0].sum() == 4
    assert counts[0, [4, 13, 30]].tolist() == [2.0, 1.0, 1.0]
