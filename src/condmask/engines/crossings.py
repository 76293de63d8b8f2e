"""Where T crosses probabilities, and its monotone rearrangement: the searches over a curve."""

from functools import partial

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.engines.lattice import values
from condmask.kernels import quantile
from condmask.kernels.curve import POINT, Curve, evaluate

FINEST_REARRANGED = 1e-8


MANY = 64  # probabilities; fewer are done sooner than a thread starts


def quantiles(
    curve: Curve,
    q: np.ndarray,
    reach: float,
    resolution: float,
    tol: float,
    crossing: str,
    workers: Workers = 1,
) -> np.ndarray:
    """Crossings of T at q to within `tol`: the first, or that of the monotone rearrangement of T."""
    return crossing_points(curve, q - tol, reach, resolution, tol, crossing, workers)


def crossing_points(
    curve: Curve,
    q: np.ndarray,
    reach: float,
    resolution: float,
    tol: float,
    crossing: str,
    workers: Workers = 1,
) -> np.ndarray:
    """Where T reaches q, first, or where its monotone rearrangement does; below it is a miss by `tol`.

    `reach`: the distance within which a record's weight changes; `resolution`: the spacing at which a
    crossing between records is not pursued further.
    """
    ends = curve.values[0] - reach, curve.values[-1] + reach
    if curve.half > 0.0:
        ends, resolution = (float(np.floor(ends[0])), float(np.ceil(ends[1]))), 1.0
    order = np.argsort(q)
    task = partial(
        _crossings, curve, q[order] * curve.n, tol * curve.n, *ends, reach, resolution,
        crossing == "rearranged",
    )  # fmt: skip
    found = np.empty(q.size)
    parts = ordered_map(task, blocks(q.size, MANY), workers if q.size > MANY else 1)
    found[order] = np.concatenate([*parts, np.empty(0)])
    return found + 0.0  # zero has no sign


def monotone_values(
    curve: Curve, x: np.ndarray, reach: float, resolution: float, tol: float, workers: Workers = 1
) -> np.ndarray:
    """The monotone rearrangement of T at x, within [0, 1]: the inverse of the rearranged quantiles.

    To within `tol`, or 1e-8: in the tails, where T levels off, a search takes the longer the finer.
    """
    tol = max(tol, FINEST_REARRANGED)
    near = values(curve, x + curve.half, workers)
    task = partial(_rearranged_at, curve, reach, resolution, tol)
    pairs = zip(x.tolist(), near.tolist(), strict=True)
    return np.array(list(ordered_map(task, pairs, workers)))


def _rearranged_at(
    curve: Curve, reach: float, resolution: float, tol: float, point: tuple[float, float]
) -> float:
    x, near = point
    if not x > curve.values[0] - reach:
        return 0.0
    if not x < curve.values[-1] + reach:
        return 1.0

    def reached(q: float) -> bool:
        found = quantiles(curve, np.array([q]), reach, resolution, 0.25 * tol, "rearranged")
        return bool(found[0] <= x)

    # T and its rearrangement differ by little, so the bracket grows from T(x)
    low = high = min(max(near, 0.0), 1.0)
    step = max(1.0 / curve.n, 4.0 * tol)
    while low > 0.0 and not reached(low):
        low, high, step = max(low - step, 0.0), low, 2.0 * step
    while high < 1.0 and reached(high):
        low, high, step = high, min(high + step, 1.0), 2.0 * step
    while high - low > tol:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reached(middle) else (low, middle)
    return 0.5 * (low + high)


def _crossings(
    curve: Curve,
    targets: np.ndarray,
    slack: float,
    left: float,
    right: float,
    reach: float,
    resolution: float,
    rearranged: bool,
    part: tuple[int, int],
) -> np.ndarray:
    found = np.empty(part[1] - part[0])
    stack = np.empty(quantile.DEPTH, POINT)
    before, up_to = (np.searchsorted(curve.values, right, side) for side in ("left", "right"))
    stack[0] = right, 0.0, 0.0, before, up_to, curve.values.size
    evaluate(curve, stack, curve.half, 0, 1)
    quantile.crossings(
        curve, targets[slice(*part)], slack, left, right, reach, resolution, rearranged, stack, found
    )
    return found
