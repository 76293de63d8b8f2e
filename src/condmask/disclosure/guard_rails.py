"""Guard rails of reverse mapping: where its promise does not hold, or does not help.

Coins and release are independent whatever the column (docs/reverse_mapping.rst), so no digit, heap or edge
is looked at. What is left: pools so small that who knows most of one reads off the rest; rare values that
come back to their own records; the order of the rows; columns in clear that are in the order of a masked
one; and columns that hang together so closely that their pairs show who was kept.

Rare values are looked for in cells of a sigma: records among few neighbours are candidates, and the chance
that these get their own value back is simulated, with the same draws in every run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask._grid import decimals_of
from condmask.disclosure import causes, relations
from condmask.disclosure.audit_input import AuditInput
from condmask.disclosure.simulated_maps import MAPS, kept_maps
from condmask.kernels import counting_sort
from condmask.strata import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
FEWEST, FEWEST_KEPT, FEWEST_SWAPPED, SMALL = 50, 20, 10, 200  # records of a pool
OWN, RARE = 0.3, 0.01  # the chance that a record keeps its value; the share of a value that is no longer rare
ENDS, WIDER = (3, 5), (1.5, 2.0, 3.0, 5.0)  # remedies: values at either end, and times sigma
NEIGHBOURS = 12.0  # kept ones in three cells: so many bring the chance below a third of `OWN`
MOST, AROUND = 1 << 8, 300  # cells, the loneliest; records on both sides of one
REACH = 8  # cells: records farther away hardly ever come between
CHANGED = 0.001  # of a standard deviation: what is worth a word
NONE = np.empty(0, dtype=np.int64)
FARTHEST = 800.0  # from 0: the logarithms of numbers
WIDEST = 1 << 22  # cells, beyond which they are sorted instead


def review(data: AuditInput, schemes: dict[str, Any]) -> tuple[str | None, list[str]]:
    """Why columns must not be released, None where they may, and what to warn of."""
    p = next(iter(schemes.values())).p
    refusal, told = pools(data, p)
    for name, scheme in schemes.items():
        if scheme.aggregate_ends and refusal is None:
            changed = _changed(data, name, scheme)
            told += [] if changed is None else [changed]
        refusal = refusal or _order(data.values[name], name) or _rare(data, name, scheme)
    return refusal or _together(data), told


def hold(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether the guard rails hold for columns, without a search for what would help."""
    if pools(data, next(iter(schemes.values())).p)[0] is not None:
        return False
    for name, scheme in schemes.items():
        if _order(data.values[name], name) or any(found.size for found in _too_often(data, name, scheme)):
            return False
    return _together(data) is None


def review_clear(data: AuditInput) -> tuple[str | None, list[str]]:
    """The same of columns that are left in clear."""
    told: list[str] = []
    for each in relations.copies(data.values, data.clear):
        text = f"{each.clear!r} is left in clear and {each.how} as {each.masked!r}"
        text = text if each.how.startswith("is the same") else text.replace(f" as {each.masked!r}", "")
        x, y = data.values[each.masked], data.clear[each.clear]
        if each.how.startswith("is the same") or _monotone(x, y):
            # masked together they would show their coins (`_together`)
            return f"{text}: the order of {each.masked!r} can be read from it; drop {each.clear!r}", told
        told.append(f"{text}: it gives much of {each.masked!r} away; drop {each.clear!r}")
    return _identity(data.values, data.clear), told


def pools(data: AuditInput, p: float) -> tuple[str | None, list[str]]:
    """The same of donor pools."""
    there = np.logical_or.reduce([~np.isnan(x) for x in data.values.values()])
    if data.strata is None:
        least = int(there.sum())
    else:
        counts = np.bincount(data.strata[there & (data.strata >= 0)])
        least = int(counts[counts > 0].min(initial=data.n))
    own = "" if data.strata is None else "; merge strata, or leave them out"
    if least < FEWEST:
        text = f"a donor pool has {least} records, fewer than {FEWEST}: who knows most of them knows the rest"
        return text + (own or "; publish no values of so few records"), []
    for expected, most, what, other in (
        (least * (1.0 - p), FEWEST_KEPT, "kept", "smaller"),
        (least * p, FEWEST_SWAPPED, "swapped", "larger"),
    ):
        if expected < most:
            return (
                f"a donor pool of {least} records has {expected:.1f} that are {what}, on average, fewer than "
                f"{most}; pass a {other} p{own.replace(';', ',')}"
            ), []
    if least < SMALL:
        return None, [
            f"a donor pool has {least} records: who knows most of them learns much of the rest; with {SMALL} "
            "and more that takes a large part of the file"
        ]
    return None, []


def _order(values: np.ndarray, name: str) -> str | None:
    for cause in causes.of_order(values):
        return f"{name}: {cause.text}; {cause.remedy}"
    return None


def _monotone(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether one of two columns never falls, or never rises, where the other rises."""
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    up, down = np.diff(x[np.lexsort((x, y))]), np.diff(x[np.lexsort((-x, y))])
    return bool((up >= 0.0).all() or (down <= 0.0).all())


def _identity(values: dict[str, np.ndarray], clear: dict[str, np.ndarray]) -> str | None:
    """An identity that the kept records break, with a column in clear where there are some.

    One that holds nearly as often for other records says nothing: counts are often 1.
    """
    table = {**values, **clear}
    steps, order = dict.fromkeys(table, 0.0), None
    for found in relations.identities(table, steps, set(values)):
        masked = [name for name in found.names if name in values]
        if clear and len(masked) == len(found.names):
            continue
        if len(masked) > 1:
            return f"{found} in swapped records, not in kept ones: that shows the coins; drop one of them"
        order = np.random.default_rng(0).permutation(table[masked[0]].size) if order is None else order
        true, chance = (
            float(found.holds({**table, masked[0]: x}, steps).mean())
            for x in (table[masked[0]], table[masked[0]][order])
        )
        if chance < 0.5 * true:
            return (
                f"{found} in {true:.0%} of the records, and all but {masked[0]!r} is left in clear: it can "
                f"be computed; drop {' or '.join(repr(name) for name in found.names if name in clear)}"
            )
    return None


def _together(data: AuditInput) -> str | None:
    """Identities and close correlations, which the pairs of kept records break."""
    if len(data.values) == 1:
        return None
    found = _identity(data.values, {})
    if found is not None:
        return found
    names = list(data.values)
    for k, name in enumerate(names):
        others = {other: data.values[other] for other in names[k + 1 :]}
        for each in relations.copies({name: data.values[name]}, others):
            return (
                f"{name!r} and {each.clear!r} hang together too closely ({each.share:.3f}) in swapped "
                "records, not in kept ones: that shows the coins; drop one of them"
            )
    return None


# --- the ends ---


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the smallest and largest values of each pool by their means, to the digits of the column."""
    places = decimals_of(x)
    for rows in _by_pool(x, code):
        own = x[rows]
        least, most = _ends(own, count)
        for end in (own <= least, own >= most):
            if end.any():
                middle = float(own[end].min()) + float(np.mean(own[end] - own[end].min()))
                own[end] = middle if places is None else round(middle, places)
        x[rows] = own


def _ends(x: np.ndarray, count: int) -> tuple[float, float]:
    """Up to which value the smallest go, and from which on the largest; none where they are the same ones."""
    if x.size < 2 * count:
        return -np.inf, np.inf
    low, high = np.sort(x[:count]), np.sort(x[:count])
    for start, stop in blocks(x.size):
        part = x[max(start, count) : stop]
        low = np.sort(np.concatenate([low, part[part < low[-1]]]))[:count]
        high = np.sort(np.concatenate([high, part[part > high[0]]]))[-count:]
    least, most = float(low[-1]), float(high[0])
    return (least, most) if least < most else (-np.inf, np.inf)


def _changed(data: AuditInput, name: str, scheme: Any) -> str | None:
    """What means at the ends do to the standard deviation."""
    x = data.values[name].copy()
    before = _deviation(x)
    aggregate(x, data.strata, scheme.aggregate_ends)
    after = _deviation(x)
    if abs(after - before) <= CHANGED * before:
        return None
    return (
        f"aggregate_ends={scheme.aggregate_ends} takes the s.d. of {name} from {before:.4g} to {after:.4g} "
        f"({100.0 * (after / before - 1.0):+.1f}%), which analysts cannot undo"
    )


def _deviation(x: np.ndarray) -> float:
    """The standard deviation of the values that are there, without a copy of a long column."""
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    n = sum(np.count_nonzero(~np.isnan(part)) for part in parts)
    mean = sum(float(np.nansum(part)) for part in parts) / n
    return float(np.sqrt(sum(float(np.nansum((part - mean) ** 2)) for part in parts) / n))


# --- rare values ---


def _rare(data: AuditInput, name: str, scheme: Any) -> str | None:
    """Records of a rare value that keep it too often, and the first remedy, of those tried, that mends it."""
    worst = np.concatenate([np.empty(0), *_too_often(data, name, scheme)])
    if worst.size == 0:
        return None
    remedy = "drop these records"
    for other in _remedies(data.values[name], scheme):
        if not hold(data.only(name), {name: replace(scheme, **other)}):
            continue
        shown = [_shown(key, value) for key, value in other.items() if value != getattr(scheme, key)]
        remedy = f"pass {', '.join(shown)}"
        remedy += " for all columns" if "p" in other and len(data.values) > 1 else ""
        break
    few = ("", "s") if worst.size == 1 else ("s", "")
    # simulated, the chance of a record that stands alone may exceed that to be kept
    most = min(float(worst.max()), 1.0 - scheme.p + scheme.p / data.n)
    return (
        f"{worst.size} record{few[0]} of {name} with a rare value get{few[1]} that value back "
        f"with a chance above {OWN:g} (at most {most:.2f}); {remedy}"
    )


def _shown(name: str, value: Any) -> str:
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value:g}"


def _remedies(x: np.ndarray, scheme: Any) -> Iterator[dict[str, Any]]:
    """Other parameters against rare values that come back, those first that take least from analysts."""
    yield from ({"aggregate_ends": count} for count in ENDS if count > scheme.aggregate_ends)
    size = float(np.abs(x[~np.isnan(x) & (x != 0.0)]).mean())
    other, unit = ("log", 1.0 / size) if scheme.scale == "linear" else ("linear", size)
    ends = {"aggregate_ends": max(scheme.aggregate_ends, ENDS[0])}
    for scale, sigma, factors in (
        (scheme.scale, scheme.sigma, WIDER),
        (other, unit * scheme.sigma, (1.0, *WIDER)),
    ):
        yield from ({"scale": scale, "sigma": float(f"{times * sigma:.2g}"), **ends} for times in factors)
    yield {"p": 1.0 - OWN}  # then a record is kept too seldom


def _too_often(data: AuditInput, name: str, scheme: Any) -> Iterator[np.ndarray]:
    """By pool, the chances above `OWN` of records of a rare value to get it back."""
    if scheme.p >= 1.0 - OWN:
        return
    x = data.values[name]
    for rows in _by_pool(x, data.strata):
        found = own_value(x[rows], scheme)
        yield found[found > OWN]


def _by_pool(x: np.ndarray, code: np.ndarray | None) -> list[Any]:
    """The rows of each pool that have a value, all of them without a copy."""
    missing = np.isnan(x)
    if code is None and not missing.any():
        return [slice(None)]
    return list(rows_of(np.where(missing, np.int32(-1), np.int32(0) if code is None else code)).values())


def own_value(x: np.ndarray, scheme: Any) -> np.ndarray:
    """The chance of each record of one pool with few neighbours and a rare value to get that value back."""
    values, candidates, some = lone(x, scheme)
    found = np.full(values.size, np.nan)
    found[some] = _simulated(values[some], scheme) + scheme.p / x.size
    return np.asarray(found[candidates])


def lone(x: np.ndarray, scheme: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of one pool around records with few neighbours and a rare value, ascending.

    And the places of such records among them, and of all that may come between.
    """
    cell = _cells(x, scheme)
    counts = np.zeros(cell.cells, dtype=np.int64)
    for start, stop in blocks(x.size):
        counting_sort.count(cell.of(x[start:stop]), counts)
    padded = np.concatenate(([0], counts, [0]))
    beside = padded[:-2] + counts + padded[2:]
    alone = np.flatnonzero((counts > 0) & (beside < NEIGHBOURS / (1.0 - scheme.p)))
    if alone.size == 0:
        return np.empty(0), NONE, NONE
    alone = np.sort(alone[np.argsort(beside[alone], kind="stable")[:MOST]])
    near = _around(alone, counts)
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    values = np.sort(np.concatenate([part[near[cell.of(part)]] for part in parts]))
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    own = cell.of(values)
    rare = np.isin(own, alone) & (times[place] < max(2.0, RARE * x.size))
    if scheme.aggregate_ends:
        least, most = _ends(x, scheme.aggregate_ends)
        rare &= (values > least) & (values < most)
    candidates = np.flatnonzero(rare)
    if candidates.size == 0:
        return np.empty(0), NONE, NONE
    first = np.maximum(candidates - AROUND, np.searchsorted(own, own[candidates] - REACH))
    last = np.minimum(candidates + AROUND + 1, np.searchsorted(own, own[candidates] + REACH, side="right"))
    among = np.zeros(values.size + 1, dtype=np.int64)
    np.add.at(among, first, 1)
    np.add.at(among, last, -1)
    return values, candidates, np.flatnonzero(np.cumsum(among[:-1]) > 0)


def _around(lonely: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which cells hold so many records on both sides of lonely ones as may come between."""
    before = np.concatenate(([0], np.cumsum(counts)))
    first = np.searchsorted(before, before[lonely] - AROUND, side="right") - 1
    last = np.searchsorted(before, before[lonely + 1] + AROUND, side="left")
    near = np.zeros(counts.size + 1, dtype=np.int64)
    np.add.at(near, np.maximum(first, np.maximum(lonely - REACH, 0)), 1)
    np.add.at(near, np.minimum(last, np.minimum(lonely + REACH + 1, counts.size)), -1)
    return np.asarray(np.cumsum(near[:-1]) > 0)


class _Cells(NamedTuple):
    """Values by whole sigmas, on the log scale those of the logarithm: there signs are apart, zero alone.

    Counted from the smallest; where there are too many, the occupied ones alone, with a gap between others.
    """

    scale: str
    sigma: float
    low: float
    cells: int
    occupied: np.ndarray | None = None
    number: np.ndarray | None = None

    def units(self, x: np.ndarray) -> np.ndarray:
        if self.scale == "linear":
            return np.asarray(x / self.sigma)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(np.abs(x)) / self.sigma
            return np.where(x == 0.0, 0.0, np.sign(x) * (size + FARTHEST / self.sigma + 2.0))

    def of(self, x: np.ndarray) -> np.ndarray:
        if self.occupied is None or self.number is None:
            return np.asarray(self.units(x) - self.low).astype(np.int64)
        return np.asarray(self.number[np.searchsorted(self.occupied, np.floor(self.units(x)))])


def _cells(x: np.ndarray, scheme: Any) -> _Cells:
    found = _Cells(scheme.scale, scheme.sigma, 0.0, 0)
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    ends = [(float(units.min()), float(units.max())) for units in map(found.units, parts)]
    low, high = min(each[0] for each in ends), max(each[1] for each in ends)
    if high - low < WIDEST:
        return found._replace(low=low, cells=int(high - low) + 1)
    occupied = np.unique(np.concatenate([np.unique(np.floor(found.units(part))) for part in parts]))
    number = np.cumsum(np.concatenate(([0.0], np.minimum(np.diff(occupied), 2.0)))).astype(np.int64)
    return found._replace(cells=int(number[-1]) + 1, occupied=occupied, number=number)


def _simulated(values: np.ndarray, scheme: Any) -> np.ndarray:
    """The share of maps of ascending values in which each is kept and gets its own value."""
    same = np.zeros(values.size)
    for record, value in kept_maps(values, scheme):
        same += np.bincount(record[values[record] == values[value]], minlength=values.size)
    return same / MAPS
