"""Between which points quantiles lie, by the test of T that `cdf_interval` inverts.

A point x is excluded where the monotone rearrangement T* differs from q by more than a radius, z
standard errors of T if x is the quantile. The interval reaches from the last point that is
excluded for T* < q to the first that is excluded for T* > q, so that at an atom, where T* jumps
across q, the atom itself stays.

T is looked at only where it can come that near: bounds from counts of records leave stretches of
the line, and its values there shorter ones. Where quantiles are those of the rearrangement, which
varies less than T, the test has its variance. Over short distances the error of T is a Brownian
motion: its increment over a stretch with a share m of the masked values, over which the
distribution function rises by g, has variance rho/n with rho = m/p^2 + k g; k is 1 for the
population and 0 for the file, less 1 where donors are a permutation. Along a straight line of that
slope T* is T averaged over a stretch of rho/(n g^2) such lengths, so its variance depends on that
of T, S/n, and on

    tau = (rho / g)^2 / (n S)

alone. If the error forgets itself at the rate rho/S, as it does on the scale of sigma, simulation
gives Var T* / Var T = .957 .877 .737 .586 at tau = .1 .3 1 3, and (1 + 2 tau / 3)^(-1/2) is .968
.913 .775 .577 (docs/inference.rst, "How far T* varies").
"""

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from condmask.distribution import quantiles
from condmask.distribution.cdf_variance import CdfSums
from condmask.distribution.t_1 import T_1
from condmask.kernels.interval_ends import interval_ends
from condmask.kernels.rearrange import rearranged

# a stretch of no more, gaps apart, is looked at step by step; else at so many points
STEPS = 1 << 13
# steps between nodes: so is any with steps of sigma/64 and more, where variances are exact
COARSE = 4.0
# else, of each sixteenth of sigma; one where straight lines miss T by few of these of its errors:
PARTS = 2
SLIGHT = 0.03
APART = 8  # cells: stretches no farther apart are one
ALIKE = 1e-9  # of sigma: places of T* no farther apart are one
FARTHER = 4.0  # neighbouring numbers, nor any that so many part, where those are wider
GAIN = 2.0 / 3.0
# T* averages over some 1/(n p^2) of the probability, which must leave room for the curve to bend
ROOM = 10.0


def quantile_interval(
    t: T_1, sums: CdfSums, q: np.ndarray, value: np.ndarray, c: np.ndarray, targets: Sequence[str]
) -> np.ndarray:
    """The ends of intervals for quantiles, at each level for each target.

    Parameters
    ----------
    t : T_1
    sums : CdfSums
        Of which the variances of T are made.
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
        They hold the estimates, and are infinite where a level leaves no bound.
    """
    whole = np.array([[target == "population"] for target in targets])
    c = c[:, None, None]
    known = np.where(c < 1.0, c, 0.0)
    ends = np.empty((2, c.size, whole.size, q.size))
    share = known / (1.0 - known)
    if t.masking.p == 1.0:
        ends[:] = np.where(whole, _of_known(t, q, np.sqrt(share * q * (1.0 - q))), value)
    else:
        for own, first, last in stretches(t, sums, q, known.max()):
            asked = q[own], value[own], share, whole, whole * q[own] * (1.0 - q[own])
            alike = [(part + np.zeros(ends[0, ..., own].shape)).ravel() for part in asked]
            ends[..., own] = _ends(t, sums, first, last, *alike).reshape(ends[..., own].shape)
    if t.masking.delta > 0.0:
        ends = np.rint(ends)
    low = np.minimum(ends[0], value)
    high = np.maximum(ends[1], value)
    low[(c >= 1.0) | (whole & (q <= c))] = -np.inf
    high[(c >= 1.0) | (whole & (1.0 - q <= c))] = np.inf
    return np.array([low, high])


def _of_known(t: T_1, q: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """The ends where T is the distribution function of the file: two of its values."""
    up_to = t.counted.below[1:] / t.n
    values = t.counted.values
    low = np.searchsorted(up_to, q - radius)
    high = np.searchsorted(up_to, q + radius, "right")
    return np.asarray(values[np.minimum([low, high], values.size - 1)])


def _ends(
    t: T_1, sums: CdfSums, first: int, last: int, q: np.ndarray, *asked: np.ndarray
) -> np.ndarray:
    """The ends for probabilities between two nodes.

    Of each is `asked` its estimate, the share of its level, whether its target is the population,
    and what is then added to the variance of T.
    """
    places, values = _t_star(t, first, last)
    variance = sums.variance(_read(places, t)).file
    ends = np.empty((2, q.size))
    value, share, _, binomial = asked
    interval_ends(places, values, variance, q, share, binomial, *ends)
    if quantiles.crossing_of(t.masking.p, t.n) == "rearranged":
        around = np.array([np.minimum(ends[0], value), np.maximum(ends[1], value)])
        kept = _kept_variance(t, sums, around, *asked)
        interval_ends(places, values, variance, q, share * kept, binomial, *ends)
    return ends


def stretches(t: T_1, sums: CdfSums, q: np.ndarray, c: float) -> Iterator[tuple[slice, int, int]]:
    """Which of the probabilities a stretch of T is for, and between which nodes it lies."""
    edges, least, most = quantiles.stretches(t)
    varies = (most - least) / (2.0 * t.most - 1.0) * t.most * (t.most - 1.0) + 0.25 * (
        1 + sums.shared_donors
    )
    radius = np.sqrt(c / (1.0 - c) * varies)
    for own, first, last in _windows(least - radius, most + radius, q):
        begin = int(edges[first])
        end = int(edges[last + 1])
        x, nodes, _ = quantiles.points(t, begin, end, 0)
        rise = (
            t.jump * np.diff(t.counted.below[np.searchsorted(t.counted.values, x, "right")]) / t.n
        )
        low = np.minimum(nodes[:-1], nodes[1:] - rise)
        high = np.maximum(nodes[:-1] + rise, nodes[1:])
        widest = radius[first : last + 1].max()
        for part, start, stop in _windows(low - widest, high + widest, q[own]):
            which = slice(own.start + part.start, own.start + part.stop)
            yield which, begin + start, begin + stop + 1


def _windows(low: np.ndarray, high: np.ndarray, q: np.ndarray) -> Iterator[tuple[slice, int, int]]:
    """From which cell to which a function between these bounds may have values q; near ones are
    together."""
    if q.size == 0:
        return
    first = np.minimum(np.searchsorted(np.maximum.accumulate(high), q), high.size - 1)
    last = np.searchsorted(np.minimum.accumulate(low[::-1])[::-1], q, "right") - 1
    last = np.maximum(np.maximum.accumulate(last), first)
    cuts = np.flatnonzero(first[1:] > last[:-1] + APART) + 1
    for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), q.size], strict=True):
        yield slice(start, stop), int(first[start]), int(last[stop - 1])


def _t_star(t: T_1, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """T* of a stretch between nodes: at all steps if it is short or they are coarse, else at many
    points."""
    parts = 1 if 0.25 * t.bend * t.masking.p * np.sqrt(t.n) < SLIGHT else PARTS
    if t.whole and (t.line.node <= COARSE or (last - first) * t.line.node <= STEPS):
        parts = ceil(t.line.node)
        last = min(last + 1, t.line.size - 1)
    elif not t.whole:
        parts = max(STEPS // (last - first), parts)
    found: tuple[np.ndarray, np.ndarray] = rearranged(*quantiles.points(t, first, last, parts))
    return found


def _read(places: np.ndarray, t: T_1) -> np.ndarray:
    """Where the variance at places of T* is read: at the foot of a jump just before it."""
    near = np.maximum(ALIKE * t.counted.unit, FARTHER * np.spacing(np.abs(places)))
    foot = np.diff(places, append=np.inf) < near
    if t.masking.delta > 0.0:
        return np.asarray(np.floor(places + near) - foot)
    return np.asarray(np.where(foot, places - near, places + near))


def _kept_variance(t: T_1, sums: CdfSums, ends: np.ndarray, *asked: np.ndarray) -> np.ndarray:
    """Var T* / Var T about quantiles with these ends, of which is asked as of `_ends`."""
    value, share, whole, binomial = asked
    variance = sums.variance(ends.ravel()).file.reshape(2, -1) + binomial
    values = t.counted.values
    held = t.counted.below / t.n
    middle, up_to = (held[np.searchsorted(values, x, "right")] for x in (value, ends[1]))
    below = held[np.searchsorted(values, ends[0])]
    rise = np.sqrt(share * variance)
    records = np.array([middle - below, up_to - middle])
    return kept_variance(
        t.n, t.masking.p, records, rise, variance, whole - (not sums.shared_donors)
    )


def kept_variance(
    n: int,
    p: float,
    records: np.ndarray,
    rise: np.ndarray,
    variance: np.ndarray,
    k: np.ndarray | int,
) -> np.ndarray:
    """Var T* / Var T where the distribution function rises by `rise` over these shares of the
    masked values, to either side, n Var T is `variance`, and k is that of docs/inference.rst, "How
    far T* varies".

    The steeper side counts: where the curve bends, T* is no average along a straight line, and an
    average over the flat side would be biased at the foot of the steep one.
    """
    known = rise > 0.0
    steepness = records / p**2 / np.where(known, rise, 1.0) + k
    tau = np.where(
        known, np.maximum(steepness, 0.0) ** 2 / (n * np.where(known, variance, 1.0)), np.inf
    )
    return np.asarray(1.0 / np.sqrt(1.0 + GAIN * np.minimum(tau.min(axis=0), n * p**2 / ROOM)))
