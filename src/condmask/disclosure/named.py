"""Values that an attacker who knows every coin names: those shown that fit a record as hardly any
other does.

Each idea gives for all records of a sample the value that it names, NaN where it names none, and
columns of numbers that tell how sure it is. All that swapped records show is somebody's own, and
under reverse mapping so is all that kept records show.
"""

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure.attacker_view import AttackerView
from condmask.disclosure.computable import half_step, rounding
from condmask.disclosure.features import MAX_PAIRED_COLUMNS, SMALLEST_SCALE, clear_beside

MAX_CANDIDATES = 16  # records, or constants, of which one may be it
EXACT_ERROR = 1e-4
MAX_FOLLOWING_ERROR = 0.95  # of a spread: errors of formulas, and of columns that follow
MIN_KNOWN_SHARE = 0.5
MIN_RELATION_SHARE = (
    0.02  # of the records: in which a relation holds, and with one of its constants
)
NEAR_SPREADS = 0.1  # of a spread
MIN_NAMED_WEIGHT = (
    0.3  # the weight of a value among those that are possible, below which it is not named
)
MAX_TRIED_CONSTANTS = 256
SLACK_RANGE = 32.0  # records for constants; times the error, within which values shown are counted
LAST_DIGITS = (10_000.0, 1_000.0, 100.0)
Pair = tuple[np.ndarray, np.ndarray]


def linked(look: AttackerView) -> Pair:
    """What the record shows that fits each best.

    A swapped record shows all masked values of one person, who stands in no other row, and whose
    columns in clear tell who it is where they follow from several masked ones.
    """
    from scipy.spatial import cKDTree  # takes .1 s to import

    numbers = look.numbers
    value = np.full(look.own.size, np.nan)
    if look.released.shape[1] < 2 or not numbers:
        return value, value[:, None]
    told = _with_logarithms(np.column_stack((*numbers, *clear_beside(look))))
    there = np.isfinite(told).all(axis=1)
    known = _with_logarithms(look.original)
    shown = _with_logarithms(look.original, look.masked)
    others = np.flatnonzero(np.isfinite(shown).all(axis=1) & ~(look.own & ~look.own.all()))
    for side in (0, 1):
        fit = there & (look.sample.half != side) & np.isfinite(known).all(axis=1)
        asked = np.flatnonzero(there & (look.sample.half == side))
        places = _follow(known[fit], told[fit], shown[others], told[asked])
        if places is not None and asked.size and others.size >= MAX_CANDIDATES:
            nearest = cKDTree(places[1]).query(places[0])[1]
            value[asked] = look.masked[others[nearest], look.column]
    value[look.own & ~look.own.all()] = np.nan
    return value, look.line(value)[:, None]


def matched(look: AttackerView) -> Pair:
    """The value that is shown and that columns in clear leave possible, and how sure it is.

    A tax at one of six rates leaves six amounts, and the last four digits of an amount one in
    10,000. Of these few are shown, and a kept record shows one near its own.
    """
    named = np.full((2, look.own.size), np.nan)
    half = look.sample.half
    present = ~(np.isnan(look.original) | np.isnan(look.masked)).any(axis=1)
    apart = look.line(look.x) - look.released[:, look.column]
    for side, own in product((0, 1), np.unique(look.own)):
        known = np.flatnonzero((half != side) & present)
        asked = np.flatnonzero((half == side) & (look.own == own))
        kept = known[look.own[known]]
        if kept.size < MAX_CANDIDATES or not look.numbers:
            continue
        near = own and not look.own.all()  # what records show is near their own
        noise = float(np.std(apart[kept])) + SMALLEST_SCALE if near else np.inf
        shown = np.sort(look.masked[(look.own == own) & present, look.column])
        shown = shown[:0] if near and look.noisy else shown  # which are somebody's own
        with np.errstate(all="ignore"):
            found = (
                *_by_constants(look, known, asked, shown),
                *_by_digits(look, known, asked, shown),
            )
            for value, sure in (_surest(look, asked, *possible, noise) for possible in found):
                better = sure > np.fmax(named[1, asked], MIN_NAMED_WEIGHT)
                named[:, asked[better]] = value[better], sure[better]
    return named[0], np.column_stack((look.line(named[0]), named[1]))


NAMED = (linked, matched)


def _surest(
    look: AttackerView, asked: np.ndarray, possible: np.ndarray, weight: np.ndarray, noise: float
) -> Pair:
    """Of possible values, some for each record, that near which most of the weight is, and how
    much."""
    place = look.line(possible)
    z = look.released[asked, look.column]
    weight = weight * np.exp(-0.5 * ((place - z[:, None]) / noise) ** 2)
    weight = np.where(np.isnan(possible), 0.0, weight)
    near = np.abs(place[:, :, None] - place[:, None, :]) < NEAR_SPREADS
    mass = np.where(weight > 0.0, (near * weight[:, None, :]).sum(axis=2), 0.0)
    best = mass.argmax(axis=1)[:, None]
    value, most = (np.take_along_axis(each, best, axis=1)[:, 0] for each in (possible, mass))
    return value, most / (weight.sum(axis=1) + SMALLEST_SCALE)


def _by_constants(
    look: AttackerView, known: np.ndarray, asked: np.ndarray, shown: np.ndarray
) -> Iterator[Pair]:
    """Values whose difference from a column in clear, in units of another, is one of few, and
    their weights: a tax over an allowance at one of some rates, or a mean of two and how far they
    are from it."""
    x = look.x
    half = half_step(look.x)
    columns = np.zeros(x.size), np.ones(x.size), x, *look.numbers
    none, one, (_, of_x), *numbers = [(w, rounding(w, half_step(w))) for w in columns]
    alone = [*product([none], numbers), *product(numbers, [one])]
    for (a, of_a), (b, of_b) in [*alone, *permutations(numbers[:MAX_PAIRED_COLUMNS], 2)]:
        factor = (x - a) / b
        slack = (of_x + of_a + of_b * np.abs(factor)) / np.abs(b)
        constants, shares = _few(factor[known], slack[known])
        if shares.sum() > MIN_KNOWN_SHARE:
            possible = a[asked, None] + b[asked, None] * constants
            reach = half + of_a[asked, None] + of_b[asked, None] * np.abs(constants)
            possible, evidence = (
                _among(shown, possible, reach) if shown.size else (possible, np.ones(1))
            )
            yield possible, evidence * shares


def _few(apart: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """The few values that numbers take to within their errors, and their shares."""
    some = np.flatnonzero(np.isfinite(apart))
    some = some[evenly_spaced(some.size, MAX_TRIED_CONSTANTS)]
    apart, slack = (
        apart[some],
        slack[some] * (1.0 + EXACT_ERROR) + EXACT_ERROR**2 * np.abs(apart[some]) + SMALLEST_SCALE,
    )
    hits = np.abs(apart[:, None] - apart) <= slack
    found = list[tuple[float, float]]()
    while (
        some.size
        and len(found) < MAX_CANDIDATES
        and (count := hits.sum(axis=1)).max() >= MIN_RELATION_SHARE * some.size
    ):
        same = hits[count.argmax()].copy()
        exact = (slack[same].min() / slack[same]) ** 2
        found.append((np.average(apart[same], weights=exact), same.mean()))
        hits[:, same] = False
    return np.array(found).reshape(-1, 2).T


def _among(shown: np.ndarray, possible: np.ndarray, slack: np.ndarray) -> Pair:
    """The values shown that are possible ones to within slack, NaN where there is none, and how
    many more there are than all around."""
    ordered = np.append(shown, np.inf)
    reach = slack * (1.0 + EXACT_ERROR) + EXACT_ERROR**2 * np.abs(possible)
    left, first, last, right = (
        np.searchsorted(ordered, possible + far * reach)
        for far in (-SLACK_RANGE, -1.0, 1.0, SLACK_RANGE)
    )
    value = np.where(last > first, ordered[((first + last) // 2).clip(0, shown.size)], np.nan)
    return value, (last - first) / np.maximum((right - left) / SLACK_RANGE, 1.0)


def _by_digits(
    look: AttackerView, known: np.ndarray, asked: np.ndarray, shown: np.ndarray
) -> Iterator[Pair]:
    """Values whose last digits stand in a column in clear: a reference."""
    step = 2.0 * half_step(look.x)
    for w, digits in product(look.numbers, LAST_DIGITS if step and shown.size else ()):
        of_x, of_shown = (np.rint(np.abs(each) / step) % digits for each in (look.x, shown))
        last = np.abs(w) % digits
        if np.mean((of_x == last)[known]) > MIN_KNOWN_SHARE:
            order = np.argsort(of_shown, kind="stable")
            first, end = (
                np.searchsorted(of_shown[order], last[asked], side) for side in ("left", "right")
            )
            at = first[:, None] + np.arange(MAX_CANDIDATES)
            value = shown[order[at.clip(0, order.size - 1)]]
            yield np.where(at < end[:, None], value, np.nan), np.ones(MAX_CANDIDATES)


def _with_logarithms(known: np.ndarray, shown: np.ndarray | None = None) -> np.ndarray:
    """Columns and, of those that are positive as far as is known, the logarithms."""
    shown = known if shown is None else shown
    positive = ~(known <= 0.0).any(axis=0)
    with np.errstate(all="ignore"):
        return np.column_stack((shown, np.log(shown[:, positive])))


def _follow(
    known: np.ndarray, told: np.ndarray, shown: np.ndarray, asked: np.ndarray
) -> Pair | None:
    """Columns in clear of those asked about, and as they follow from what others show, in errors
    of this."""
    if len(known) < MAX_CANDIDATES + known.shape[1]:
        return None
    scale = np.abs(known).mean(axis=0) + SMALLEST_SCALE
    spread = told.std(axis=0)
    design, of_shown = (
        np.column_stack((np.ones(len(each)), each / scale)) for each in (known, shown)
    )
    factors = np.linalg.lstsq(design, told)[0]
    left = told - design @ factors
    error = left.std(axis=0) + EXACT_ERROR * spread
    some = (error < MAX_FOLLOWING_ERROR * spread) & (
        spread > EXACT_ERROR**2 * np.abs(told).max(axis=0, initial=0.0)
    )
    if not some.any():
        return None
    among = np.cov(left[:, some] / error[some], rowvar=False) + EXACT_ERROR * np.eye(
        int(some.sum())
    )
    white = np.linalg.cholesky(np.linalg.inv(among)) / error[some, None]
    return asked[:, some] @ white, (of_shown @ factors)[:, some] @ white
