"""Formulas by which columns in clear give a masked column away, exactly and in many rows.

A column that equals what can be computed from others is not protected by any noise. Looked for are
copies, multiples and differences from a constant; sums, differences, products and quotients of two
columns, in a tenth of the rows. Columns count as they are and, for running totals and last year's
values, in rows before and after, among all rows and within each unit. What follows from more
columns is learned (`features`).
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample
from condmask.disclosure.units import codes_of
from condmask.grid import decimals_of

SHARE = 0.1  # of the rows, beyond chance
TRIED = 64
HITS = 3  # rows for pairs, and of these to go on with
BASES = 100  # columns of which pairs are looked at
LAGS = (*range(1, 13), 24, 52)  # records before and after: months, hours, weeks
ORDERED = 12
REPEATED = 0.75  # columns by which records are ordered; of these, that units are at most
EXACT = 1e-15  # of a number: what is computed in another order
MEASURED = 0.02  # of a number, that half a step is at most where it was rounded
FEW = 30  # rows
VARIED = 20  # values: few ones agree with those of other columns by chance
COMMON = 0.05  # of the rows: a value that agrees by chance
SUMS = {"+": np.add, "-": np.subtract}
PRODUCTS = {"*": np.multiply, "/": np.divide}
Pair = tuple[np.ndarray, np.ndarray]  # values, and how far off rounding may take them


class Formula(NamedTuple):
    """What columns in clear say of a masked one: as they are, or by sums or products of some.

    Attributes
    ----------
    text : str
    names : tuple of str
        The columns in clear that it needs.
    values, slack : ndarray of shape (m,)
        What it predicts, and how far off rounding may take it.
    share : float
        Of the rows in which it holds, beyond chance.
    """

    text: str
    names: tuple[str, ...]
    values: np.ndarray
    slack: np.ndarray
    share: float = 0.0


def computable(sample: Sample) -> dict[str, Formula]:
    """The simplest formula that columns in clear give of each masked column that has one."""
    numbers = list(sample.clear.numbers.items())[:BASES]
    found = {}
    bases = [Formula(name, (name,), w, rounding(w, half_step(w))) for name, w in numbers]
    learned, proof = np.array_split(np.random.default_rng(0).permutation(sample.half.size), 2)
    for name, values in sample.table.values.items() if bases else ():
        x = _without_common(values)
        own = half_step(values)
        candidates = _candidates(x, sample, bases, learned)
        tried = (each._replace(share=_share(x, own, each, proof)) for each in candidates)
        with np.errstate(all="ignore"):  # one at a time
            holds = [each for each in tried if each.share > SHARE]
        if holds:
            found[name] = min(holds, key=lambda each: (len(each.names), -each.share))
    return found


def _share(x: np.ndarray, own: float, formula: Formula, rows: np.ndarray) -> float:
    """In which share of the rows a formula holds, beyond what other residuals near 0 let expect by
    chance; 0 if what it predicts of other rows agrees nearly as often, as where few values meet a
    constant."""
    there = rows[~np.isnan(x[rows])]
    predicted = formula.values[there]
    slack = np.maximum(own, formula.slack[there]) * (1.0 + 1e-6)
    slack += 1e-9 + EXACT * np.abs(predicted)
    apart, others = (
        np.abs(x[there] - each) / slack for each in (predicted, np.roll(predicted, 1))
    )
    if apart.size < FEW:
        return 0.0
    holds = float(np.mean(apart <= 1.0))
    near, far = (0.5 * float(np.mean((apart > low) & (apart <= low + 2.0))) for low in (1.0, 3.0))
    chance = near * near / max(far, 1.0 / apart.size)
    return float(holds - max(near, min(holds, chance))) * bool(
        holds - np.mean(others <= 1.0) > SHARE
    )


def _candidates(
    x: np.ndarray, sample: Sample, bases: list[Formula], rows: np.ndarray
) -> Iterator[Formula]:
    """All formulas that hold in a few of some rows."""
    for base in bases:
        if _is_varied(base.values) or not _is_varied(x):
            yield from _of_one(x, base, rows)
    yield from _in_other_rows(x, sample, rows)
    yield from _of_two(x, bases, rows)


def _in_other_rows(x: np.ndarray, sample: Sample, rows: np.ndarray) -> Iterator[Formula]:
    """What columns in clear say of a record some places before or after, and by how much they rise
    from there, in the order of any of them, in all records or in those that another names alike:
    who shuffles a file hides no running total, last year's value or spouse."""
    there = rows[~np.isnan(x[rows])][:TRIED]
    if not _is_varied(x[there]):
        return
    clear = sample.clear
    numbers = dict(list(clear.numbers.items())[:ORDERED])
    columns = np.array([*numbers.values()]).reshape(-1, x.size)
    half = np.array([half_step(w) for w in columns])
    reach = np.maximum(half_step(x), half) + 1e-9
    units = (
        {"": np.zeros(x.size)} | {name: codes_of(w) for name, w in numbers.items()} | clear.units
    )
    units |= dict(list(clear.labels.items())[:ORDERED])
    units = {
        name: code for name, code in units.items() if code.max(initial=0) < REPEATED * code.size
    }
    for (unit, code), (by, key) in product(units.items(), [("", clear.rows), *numbers.items()]):
        order = np.lexsort((key, code))
        at = np.argsort(order)
        for lag, (where, way) in product(LAGS, (("before", -1), ("after", 1))):
            beside = _stands(order, code, at[there] + way * lag, there)
            shown = np.where(beside < 0, np.nan, columns[:, beside])
            where = f"{lag} {where}" if lag > 1 else where
            said = f"the record {where}" + f" by {by}" * bool(by) + f" in {unit}" * bool(unit)
            predicted = np.stack((shown, columns[:, there] - shown))
            hits = (np.abs(x[there] - predicted) <= reach[:, None]).sum(axis=2)
            for rise, k in np.argwhere(hits >= HITS):
                beside = _stands(order, code, at + way * lag, slice(None))
                other = np.where(beside < 0, np.nan, columns[k][beside])
                name = [*numbers][k]
                text = f"the rise of {name} from {said}" if rise else f"{name} of {said}"
                values = columns[k] - other if rise else other
                yield Formula(text, (name,), values, rounding(values, half[k]))


def _stands(order: np.ndarray, code: np.ndarray, place: np.ndarray, rows: Any) -> np.ndarray:
    """The record at each place of an order, below 0 where it is of another unit than these rows
    are."""
    found = order[place.clip(0, order.size - 1)]
    within = (place >= 0) & (place < order.size) & (code[found] == code[rows]) & (code[found] >= 0)
    return np.where(within, found, -1)


def _of_one(x: np.ndarray, base: Formula, rows: np.ndarray) -> Iterator[Formula]:
    """A multiple, a constant more, or what is left of a constant."""
    own = x[rows]
    other = base.values[rows]
    multiple, more, whole = map(_most_common, (own / other, own - other, own + other))
    if multiple:
        text = f"{multiple:.6g} {base.text}" if multiple != 1.0 else base.text
        yield base._replace(
            text=text, values=multiple * base.values, slack=abs(multiple) * base.slack
        )
    if more:
        text = f"{base.text} {'+' if more > 0.0 else '-'} {abs(more):.6g}"
        yield base._replace(text=text, values=base.values + more)
    if whole:
        yield base._replace(text=f"{whole:.6g} - {base.text}", values=whole - base.values)


def _of_two(x: np.ndarray, bases: list[Formula], rows: np.ndarray) -> Iterator[Formula]:
    """Sums and differences, or products and quotients, that hold in a few of some rows."""
    there = rows[~np.isnan(x[rows])][:TRIED]
    own = half_step(x)
    a = np.array([base.values[there] for base in bases])
    slack = np.array([base.slack[there] for base in bases]) + 1e-9
    varied = np.array([_is_varied(row) for row in a], dtype=bool) & _is_varied(x[there])
    for sign, (k, one) in product(SUMS | PRODUCTS, enumerate(bases)):
        predicted, reach = _together(sign, (a[k], slack[k]), (a, slack))
        hits = (np.abs(x[there] - predicted) <= np.maximum(own, reach)).sum(axis=1)
        likely = (hits >= HITS) & (varied | varied[k] | (sign in SUMS))
        for other in (bases[j] for j in np.flatnonzero(likely) if j != k):
            both = _together(sign, (one.values, one.slack), (other.values, other.slack))
            yield Formula(f"{one.text} {sign} {other.text}", one.names + other.names, *both)


def _together(sign: str, one: Pair, other: Pair) -> Pair:
    """What two columns say together, and how far off rounding may take it, by the same of each."""
    (values, slack) = one
    (of_other, slack_of_other) = other
    predicted = (SUMS | PRODUCTS)[sign](values, of_other)
    if sign in SUMS:
        return predicted, np.fmax(slack, slack_of_other)
    return predicted, np.abs(predicted) * np.fmax(
        slack / np.abs(values), slack_of_other / np.abs(of_other)
    )


def _is_varied(x: np.ndarray) -> bool:
    return bool(np.unique(x[~np.isnan(x)]).size >= VARIED)


def _most_common(values: np.ndarray) -> float | None:
    """The number that most of some are, to 9 digits; None if hardly any are."""
    finite = values[np.isfinite(values)]
    if finite.size < FEW:
        return None
    digits = np.array([float(f"{value:.9g}") for value in finite[:1000].tolist()])
    distinct, counts = np.unique(digits, return_counts=True)
    return float(distinct[counts.argmax()]) if counts.max() > 0.5 * SHARE * digits.size else None


def _without_common(x: np.ndarray) -> np.ndarray:
    """A column without its most common value, if many records have it: zeros agree with zeros."""
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    if not counts.size or counts.max() <= COMMON * x.size or values.size < 3:
        return x
    return np.where(np.isclose(x, values[counts.argmax()], rtol=1e-6, atol=0.0), np.nan, x)


def half_step(x: np.ndarray) -> float:
    """Half of the power of ten of which the values of a column are multiples; 0 if there is
    none."""
    places = decimals_of(x[~np.isnan(x)])
    return 0.0 if places is None else 0.5 * 10.0**-places


def rounding(x: np.ndarray, slack: float) -> np.ndarray:
    """Half a step where it is small beside the number: counts are not rounded."""
    return np.where(slack > MEASURED * np.abs(x), 0.0, slack)
