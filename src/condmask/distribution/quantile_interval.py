"""Intervals for quantiles: they hold the points that the test of `cdf_interval` does not exclude.

A point x is excluded where the monotone rearrangement T* differs from q by more than a radius, z
standard errors of T if x is the quantile. The interval reaches from the last point that is
excluded for T* < q to the first that is excluded for T* > q, so that at an atom, where T* jumps
across q, the atom itself stays.

T is evaluated only where it can come that near to q: bounds from counts of records leave some
blocks of the line, and its values at the nodes of these leave shorter stretches. Where quantiles
are those of the rearrangement, which varies less than T, the test has its variance. Over short
distances the error of T is a Brownian motion: its increment over a stretch with a share m of the
masked values, over which the distribution function rises by g, has variance rho/n with rho = m/p^2
+ k g; k is 1 for the population and 0 for the file, less 1 where donors are a permutation. Along a
straight line of that slope T* is T averaged over a stretch of rho/(n g^2) such lengths, so its
variance depends on that of T, S/n, and on

    tau = (rho / g)^2 / (n S)

alone. If the error forgets itself at the rate rho/S, as it does on the scale of sigma, simulation
gives Var T* / Var T = .957 .877 .737 .586 at tau = .1 .3 1 3, and (1 + 2 tau / 3)^(-1/2) is .968
.913 .775 .577 (docs/inference.rst, "How far T* varies").
"""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from condmask.distribution import quantiles
from condmask.distribution.cdf_variance import CdfSums
from condmask.distribution.t_1 import T_1
from condmask.kernels.interval_ends import interval_ends
from condmask.kernels.rearrange import rearranged

# T is evaluated at every step of a grid on stretches of at most so many steps, and on any stretch
# where at most so many steps lie between nodes: steps are sigma/64 and more, variances exact
MAX_STEPS = 1 << 13
MAX_STEPS_PER_NODE = 4.0
# else at so many points between nodes, sigma/16 apart, or at nodes alone if the straight line from
# one to the next misses T by less than this share of its standard error
POINTS_PER_NODE = 2
MAX_SAG_IN_ERRORS = 0.03
MAX_GAP_CELLS = 8  # stretches no farther apart are searched as one
# places of T* no farther apart than either are one: in sigma, and in distances of neighbouring
# floating-point numbers
SAME_PLACE = 1e-9
SAME_PLACE_ULPS = 4.0
GAIN = 2.0 / 3.0  # in (1 + GAIN tau)^(-1/2), from simulation
# T* averages over some 1/(n p^2) of the probability; the curve must not bend within so many of
# these, which bounds tau
MIN_AVERAGES = 10.0


class Tests(NamedTuple):
    """Tests of points as quantiles, one for each level, target and probability.

    Attributes
    ----------
    q : ndarray of shape (tests,)
        The probability.
    estimate : ndarray of shape (tests,)
        The estimated quantile, in the units of T.
    share : ndarray of shape (tests,)
        c / (1 - c) at the level: the squared radius over n Var T.
    about_population : ndarray of shape (tests,)
        1 where the target is the population, 0 where it is the file.
    binomial : ndarray of shape (tests,)
        q (1 - q) about the population, else 0, which is added to n Var T.
    """

    q: np.ndarray
    estimate: np.ndarray
    share: np.ndarray
    about_population: np.ndarray
    binomial: np.ndarray


def quantile_interval(
    t: T_1, sums: CdfSums, q: np.ndarray, value: np.ndarray, c: np.ndarray, targets: Sequence[str]
) -> np.ndarray:
    """Return the ends of intervals for quantiles, at each level and for each target.

    Parameters
    ----------
    t : T_1
    sums : CdfSums
        For the variances of T.
    q : ndarray of shape (probabilities,)
        Ascending.
    value : ndarray of shape (probabilities,)
        The estimates, in the units of `t`.
    c : ndarray of shape (levels,)
        z^2/n.
    targets : sequence of {"population", "file"}

    Returns
    -------
    ndarray of shape (2, levels, targets, probabilities)
        Low and high ends, in the units of `t`, about the estimates; infinite where a level leaves
        no bound.
    """
    whole = np.array([[target == "population"] for target in targets])
    c = c[:, None, None]
    known = np.where(c < 1.0, c, 0.0)
    ends = np.empty((2, c.size, whole.size, q.size))
    share = known / (1.0 - known)
    if t.masking.p == 1.0:
        ends[:] = np.where(whole, _of_known(t, q, np.sqrt(share * q * (1.0 - q))), value)
    else:
        for part, first, last in stretches(t, sums, q, known.max()):
            tests = _tests(q[part], value[part], share, whole)
            ends_of_part = _ends(t, sums, first, last, tests)
            ends[..., part] = ends_of_part.reshape(ends[..., part].shape)
    if t.masking.delta > 0.0:
        ends = np.rint(ends)
    low = np.minimum(ends[0], value)
    high = np.maximum(ends[1], value)
    low[(c >= 1.0) | (whole & (q <= c))] = -np.inf
    high[(c >= 1.0) | (whole & (1.0 - q <= c))] = np.inf
    return np.array([low, high])


def _tests(q: np.ndarray, value: np.ndarray, share: np.ndarray, whole: np.ndarray) -> Tests:
    """Return a test for each level, target and probability, in this order."""
    columns = q, value, share, whole, whole * q * (1.0 - q)
    shape = np.broadcast_shapes(*(column.shape for column in columns))
    return Tests(*((column + np.zeros(shape)).ravel() for column in columns))


def _of_known(t: T_1, q: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Return the ends where T is the distribution function of the file: values of the file."""
    up_to = t.counted.below[1:] / t.n
    values = t.counted.values
    low = np.searchsorted(up_to, q - radius)
    high = np.searchsorted(up_to, q + radius, "right")
    return np.asarray(values[np.minimum([low, high], values.size - 1)])


def _ends(t: T_1, sums: CdfSums, first: int, last: int, tests: Tests) -> np.ndarray:
    """Return the ends of each test, of shape (2, tests), from T between two nodes."""
    places, values = _t_star(t, first, last)
    variance = sums.variance(_read(places, t)).file
    q, estimate, share, _, binomial = tests
    ends = np.empty((2, q.size))
    interval_ends(places, values, variance, q, share, binomial, *ends)
    if quantiles.crossing_of(t.masking.p, t.n) == "rearranged":
        around = np.array([np.minimum(ends[0], estimate), np.maximum(ends[1], estimate)])
        kept = _kept_variance(t, sums, around, tests)
        interval_ends(places, values, variance, q, share * kept, binomial, *ends)
    return ends


def stretches(t: T_1, sums: CdfSums, q: np.ndarray, c: float) -> Iterator[tuple[slice, int, int]]:
    """Yield stretches of T that hold the ends for ascending probabilities at the level of c.

    Yields the range of the probabilities, and the first and the last node of their stretch.
    """
    edges, least, most = quantiles.blocks_of_line(t)
    share = (most - least) / (2.0 * t.max_weight - 1.0)
    varies = share * t.max_weight * (t.max_weight - 1.0) + 0.25 * (1 + sums.shared_donors)
    radius = np.sqrt(c / (1.0 - c) * varies)
    for coarse, first, last in _ranges_of_cells(least - radius, most + radius, q):
        begin = int(edges[first])
        end = int(edges[last + 1])
        x, nodes, _ = quantiles.points(t, begin, end, 0)
        rise = (
            t.jump * np.diff(t.counted.below[np.searchsorted(t.counted.values, x, "right")]) / t.n
        )
        low = np.minimum(nodes[:-1], nodes[1:] - rise)
        high = np.maximum(nodes[:-1] + rise, nodes[1:])
        widest = radius[first : last + 1].max()
        for part, start, stop in _ranges_of_cells(low - widest, high + widest, q[coarse]):
            which = slice(coarse.start + part.start, coarse.start + part.stop)
            yield which, begin + start, begin + stop + 1


def _ranges_of_cells(
    low: np.ndarray, high: np.ndarray, q: np.ndarray
) -> Iterator[tuple[slice, int, int]]:
    """Yield ranges of ascending values q, with the first and last cell in which a function between
    these bounds may have them; ranges with cells that are near each other are joined."""
    if q.size == 0:
        return
    first = np.minimum(np.searchsorted(np.maximum.accumulate(high), q), high.size - 1)
    last = np.searchsorted(np.minimum.accumulate(low[::-1])[::-1], q, "right") - 1
    last = np.maximum(np.maximum.accumulate(last), first)
    cuts = np.flatnonzero(first[1:] > last[:-1] + MAX_GAP_CELLS) + 1
    for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), q.size], strict=True):
        yield slice(start, stop), int(first[start]), int(last[stop - 1])


def _t_star(t: T_1, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places and values of T* between two nodes: at all steps of a grid if the stretch is
    short or steps are coarse, else at some points between nodes."""
    sag = 0.25 * t.bend * t.masking.p * np.sqrt(t.n)
    parts = 1 if sag < MAX_SAG_IN_ERRORS else POINTS_PER_NODE
    short = (last - first) * t.line.node <= MAX_STEPS
    if t.whole and (t.line.node <= MAX_STEPS_PER_NODE or short):
        parts = ceil(t.line.node)
        last = min(last + 1, t.line.size - 1)
    elif not t.whole:
        parts = max(MAX_STEPS // (last - first), parts)
    found: tuple[np.ndarray, np.ndarray] = rearranged(*quantiles.points(t, first, last, parts))
    return found


def _read(places: np.ndarray, t: T_1) -> np.ndarray:
    """Return the points at which the variance is taken for places of T*: at the foot of a jump a
    point just before it."""
    near = np.maximum(SAME_PLACE * t.counted.unit, SAME_PLACE_ULPS * np.spacing(np.abs(places)))
    foot = np.diff(places, append=np.inf) < near
    if t.masking.delta > 0.0:
        return np.asarray(np.floor(places + near) - foot)
    return np.asarray(np.where(foot, places - near, places + near))


def _kept_variance(t: T_1, sums: CdfSums, ends: np.ndarray, tests: Tests) -> np.ndarray:
    """Return Var T* / Var T about the quantile of each test, given first ends of shape (2,
    tests)."""
    variance = sums.variance(ends.ravel()).file.reshape(2, -1) + tests.binomial
    values = t.counted.values
    held = t.counted.below / t.n
    middle, up_to = (held[np.searchsorted(values, x, "right")] for x in (tests.estimate, ends[1]))
    below = held[np.searchsorted(values, ends[0])]
    rise = np.sqrt(tests.share * variance)
    records = np.array([middle - below, up_to - middle])
    k = tests.about_population - (not sums.shared_donors)
    return kept_variance(t.n, t.masking.p, records, rise, variance, k)


def kept_variance(
    n: int,
    p: float,
    records: np.ndarray,
    rise: np.ndarray,
    variance: np.ndarray,
    k: np.ndarray | int,
) -> np.ndarray:
    """Return Var T* / Var T by the formula of this module.

    The steeper side counts: where the curve bends, T* is no average along a straight line, and an
    average over the flat side would be biased at the foot of the steep one.

    Parameters
    ----------
    n : int
        The number of records.
    p : float
    records : ndarray of shape (2, ...)
        The share of the masked values on a stretch to the left and to the right of a quantile.
    rise : ndarray of shape (2, ...)
        The rise of the distribution function over these stretches.
    variance : ndarray of shape (2, ...)
        n Var T at their outer ends.
    k : ndarray or int
        As in docs/inference.rst, "How far T* varies".

    Returns
    -------
    ndarray of the shape of `records` without its first axis
    """
    known = rise > 0.0
    steepness = records / p**2 / np.where(known, rise, 1.0) + k
    tau = np.where(
        known, np.maximum(steepness, 0.0) ** 2 / (n * np.where(known, variance, 1.0)), np.inf
    )
    return np.asarray(
        1.0 / np.sqrt(1.0 + GAIN * np.minimum(tau.min(axis=0), n * p**2 / MIN_AVERAGES))
    )
