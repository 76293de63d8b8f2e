"""What a record's value has to do with those of others: all values are guessed at once that fit
this best.

A value may follow from those before it and the rise of a moving average, from the total of a
household and the others in it, or from what the others of a firm have on average. It is then a sum
with factors, which least squares find in the other half. Where such ties hold in many records,
they leave few values possible.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from condmask._blocks import evenly_spaced
from condmask.disclosure.attacker_view import AttackerView
from condmask.disclosure.features import MAX_PAIRED_COLUMNS, MAX_TRIED_RECORDS, SMALLEST_SCALE
from condmask.disclosure.formulas import RECORDS_PER_TERM, about_most
from condmask.disclosure.units import codes_of
from condmask.disclosure.unmasked import ORDER

BEFORE = (1, 2, 4, 12)  # records before that a value may follow from
FACTORS = 3  # columns of which products are
MIN_REPEATS = 1.3
MAX_GROUP_RECORDS = 200.0
MIN_ORDERED_RECORDS = 4.0  # records of a group: for totals, and for those before
MAX_REST = 0.1
MAX_EXACT_REST = 1e-4  # of the variance: that a tie leaves, at most; where it leaves hardly any
NOISE_BINS = 10  # of values shown, by which noise may differ


class Tie(NamedTuple):
    """A sum from which the value of each record may follow.

    Attributes
    ----------
    unit : ndarray of shape (n,)
        The group of each record, below 0 for none.
    others : list of sparse array of shape (n, n)
        What is added up of the values of others: a row for each record.
    told : ndarray of shape (n, columns)
        What columns in clear say, NaN for records that do not follow.
    """

    unit: np.ndarray
    others: list[sparse.csr_array]
    told: np.ndarray


class Fitted(NamedTuple):
    """A tie with its factors.

    Attributes
    ----------
    unit : ndarray of shape (n,)
    worth : float
        What it tells of all records.
    left : float
        The share of the variance that it leaves.
    apart : sparse array of shape (n, n)
        The values of records that follow, less what others add to them.
    told : ndarray of shape (n,)
        How much that is.
    """

    unit: np.ndarray
    worth: float
    left: float
    apart: sparse.csr_array
    told: np.ndarray


def related(look: AttackerView) -> np.ndarray:
    """Three guesses of each value: without what records show, with what others do, and with its
    own."""
    ordered = np.sort(look.x)
    middle = np.nanmean(ordered)
    spread = np.nanstd(ordered) + SMALLEST_SCALE
    y, z = ((values - middle) / spread for values in (look.x, look.masked[:, look.column]))
    here = np.isfinite(y)
    found = np.zeros((3, y.size))
    fits = [here & (look.sample.half != side) for side in (0, 1)]
    ties = [[_fitted(tie, y, fit) for fit in fits] for tie in _ties(look)]
    for side, fit in enumerate(fits):
        held = [each for both in ties if (each := both[side])]
        if held:
            best = max(held, key=lambda each: each.worth)
            exact = [each for each in held if each.left <= max(best.left, MAX_EXACT_REST)]
            same = [each for each in exact if each.unit is best.unit]
            guesses = _guesses(same, y, fit, np.where(look.own & here, z, np.nan))
            asked = look.sample.half == side
            found[:, asked] = np.clip(guesses, y[fit].min(), y[fit].max())[:, asked]
    return np.asarray(middle + spread * found)


def _ties(look: AttackerView) -> Iterator[Tie]:
    """Sums that may hold in groups that columns in clear name, small ones first, and in the order
    of the file or of a column."""
    clear = look.sample.clear
    rows = look.sample.clear.rows
    here = np.isfinite(look.x)
    numbers = look.numbers[:MAX_PAIRED_COLUMNS]
    says = np.array([*numbers, *(a * b for a, b in combinations(numbers[:FACTORS], 2))])
    labels = [codes for name, codes in clear.labels.items() if name != ORDER]
    stretch = np.cumsum(np.diff(rows, prepend=rows[0]) > 1)  # of rows one after another
    named = [*clear.units.values(), *labels[:MAX_PAIRED_COLUMNS], *map(codes_of, numbers), stretch]
    groups = {unit.tobytes(): unit for unit in named}
    for unit in sorted(groups.values(), key=lambda unit: -unit.max()) if numbers else ():
        several = rows.size / max(unit.max() + 1, 1)
        if several > MIN_REPEATS:
            yield from _totals(unit, here, says)
        for key in (rows, *numbers) if several > MIN_ORDERED_RECORDS else ():
            order = np.lexsort((key, unit))
            if (np.diff(key[order]) > 0.0)[np.diff(unit[order]) == 0].all():
                yield from (
                    _before(unit, order, lag, says)
                    for lag in BEFORE
                    if several > 2.0 * (lag + 1.0)
                )


def _totals(unit: np.ndarray, here: np.ndarray, says: np.ndarray) -> Iterator[Tie]:
    """Sums of the totals of groups, and of those of the others in each."""
    every = np.arange(unit.size)
    own = here & (unit >= 0) & (np.bincount(unit + 1)[unit + 1] < MAX_GROUP_RECORDS)
    member = sparse.csr_array((own * 1.0, (every, np.maximum(unit, 0))))
    total = sparse.csr_array(member @ member.T)
    size = member @ member.sum(axis=0)
    told = np.vstack(
        (np.ones(unit.size), size, *(says * size**power for power in (0.0, 0.5, 1.0)))
    ).T
    told[~own] = np.nan
    yield Tie(unit, [total], np.where(size[:, None] > 1.0, told, np.nan))
    yield Tie(unit, [total - sparse.diags_array(own * 1.0).tocsr()], told)


def _before(unit: np.ndarray, order: np.ndarray, lag: int, says: np.ndarray) -> Tie:
    """Sums of the values of so many records before in a group."""
    others = []
    moved = [says]
    every = np.arange(unit.size)
    at = np.argsort(order)
    for back in range(1, lag + 1):
        before = order[np.maximum(at - back, 0)]
        same = (at >= back) & (unit[before] == unit) & (unit >= 0)
        others.append(sparse.csr_array((same * 1.0, (every, before)), (unit.size, unit.size)))
        moved.append(np.where(same, says[:, before], np.nan))
    rises = (here - before for here, before in pairwise(moved))
    return Tie(unit, others, np.vstack((np.ones(unit.size), says, *rises)).T)


def _fitted(tie: Tie, y: np.ndarray, fit: np.ndarray) -> Fitted | None:
    """A tie, as some records have it; None where it leaves much open, or tells only the mean of a
    group."""
    count = len(tie.others)
    value = np.nan_to_num(y)
    parts = np.column_stack((*(each @ value for each in tie.others), tie.told))
    follows = np.isfinite(parts).all(axis=1) & np.isfinite(y)
    rows = np.flatnonzero(follows & fit)
    rows = rows[evenly_spaced(rows.size, MAX_TRIED_RECORDS)]
    if rows.size < RECORDS_PER_TERM * parts.shape[1] or np.ptp(y[rows]) == 0.0:
        return None
    factors = about_most(parts[rows], y[rows])
    apart = np.abs(y[rows] - parts[rows] @ factors)
    told = parts[:, count:] @ factors[count:]
    # of the others of a group
    level = parts[rows, 0] / np.maximum(tie.others[0].sum(axis=1)[rows], 1.0)
    freedom = max(rows.size - factors.size, 1)
    left = float(np.sum(apart**2) / (freedom * np.var(y[rows] - level) + SMALLEST_SCALE))
    if left >= MAX_REST:
        return None
    added = sum(map(np.multiply, factors[:count], tie.others))
    of_others = sparse.diags_array(follows * 1.0) @ (sparse.eye_array(y.size) - added)
    worth = -np.log(max(left, MAX_EXACT_REST)) * np.count_nonzero(follows)
    return Fitted(tie.unit, worth, left, of_others, np.where(follows, told, 0.0))


def _guesses(ties: list[Fitted], y: np.ndarray, fit: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """The values that fit ties and what is shown best: nothing, by others, or by all."""
    own = np.isfinite(shown)
    even = np.arange(y.size) % 2 == 0
    square = sparse.eye_array(y.size)
    right = np.zeros(y.size)
    for each in ties:
        weighed = each.apart.T / (each.left + MAX_EXACT_REST**2)
        square = square + weighed @ each.apart
        right = right + weighed @ each.told
    likely, doubt = _likely(y, shown, fit)

    def solved(used: np.ndarray) -> np.ndarray:
        sure = sparse.diags_array(used * (1.0 / doubt - 1.0))
        return np.asarray(splu((square + sure).tocsc()).solve(right + used * likely / doubt))

    by_all, by_even, by_odd = (solved(own & some) for some in (own, even, ~even))
    # by every second one, if it is kept
    by_others = np.where(own, np.where(even, by_odd, by_even), by_all)
    return np.array([solved(own & ~own), by_others, by_all])


def _likely(y: np.ndarray, shown: np.ndarray, fit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What values are on average where some are shown, and the share of the variance that this
    leaves."""
    known = np.flatnonzero(fit & np.isfinite(shown))
    if known.size < NOISE_BINS:
        return np.zeros(y.size), np.ones(y.size)
    parts: list[np.ndarray] = np.array_split(known[np.argsort(shown[known])], NOISE_BINS)
    places, means = (np.array([each[part].mean() for part in parts]) for each in (shown, y))
    z = np.nan_to_num(shown)
    likely = np.interp(z, places, means) + z - z.clip(places[0], places[-1])
    left = [float(np.mean((y - likely)[part] ** 2)) for part in parts]
    return likely, np.interp(z, places, left).clip(MAX_EXACT_REST, 1.0)
