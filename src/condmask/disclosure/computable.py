"""Formulas by which columns in clear give a masked column away, exactly and in many rows.

A column that equals what can be computed from others is not protected by any noise. Looked for are copies,
multiples and differences from a constant; sums, differences, products and quotients of two columns, in a
tenth of the rows; and sums or products of any number of columns with any factors, in half of the rows, by
least absolute deviations. Columns count as they are and, for running totals and last month's values, in the
row before and after, among all rows and within each unit.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample
from condmask.errors import optional
from condmask.grid import decimals_of

SHARE, OF_MANY = 0.1, 0.5  # of the rows, beyond chance: by two columns, by more
LEARNED, TRIED, HITS = 384, 64, 3  # rows for least absolute deviations, for pairs, and of these to go on with
BASES = 100  # columns of which pairs are looked at
MEASURED = 0.02  # of a number, that half a step is at most where it was rounded
NEGLIGIBLE = (0.01, 1e-6)  # factors, in units of the columns' spread: what rounding makes of none
SPARSE = 1e-5  # penalty on factors: of columns that say the same, few are used
FEW = 30  # rows
SAID = 6  # columns of a formula that are written out
VARIED = 20  # values: few ones agree with those of other columns, and their products, by chance
COMMON = 0.05  # of the rows: a value that agrees by chance
SUMS: dict[str, Callable[..., Any]] = {"+": np.add, "-": np.subtract}
PRODUCTS: dict[str, Callable[..., Any]] = {"*": np.multiply, "/": np.divide}


class Formula(NamedTuple):
    """How a masked column can be computed.

    Attributes
    ----------
    column : str
    text : str
    share : float
        Of the rows in which it holds, beyond chance.
    names : tuple of str
        The columns in clear that it needs.
    """

    column: str
    text: str
    share: float
    names: tuple[str, ...]


class Term(NamedTuple):
    """A column in clear, or what a formula of some predicts, and how far off rounding may take it."""

    text: str
    names: tuple[str, ...]
    values: np.ndarray
    slack: np.ndarray


def computable(sample: Sample) -> list[Formula]:
    """The simplest formula of each masked column that columns in clear give."""
    bases, found = list(_bases(sample)), []
    rows = np.random.default_rng(0).permutation(sample.half.size)
    learned, proof = rows[: rows.size // 2], rows[rows.size // 2 :]
    for name, values in sample.table.values.items() if bases else ():
        x, own = _without_common(values), half_step(values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            formulas = [
                Formula(name, f"{name} = {term.text}", share, term.names)
                for term in _candidates(x, bases, learned)
                if (share := _share(x, own, term, proof)) > (SHARE if len(term.names) <= 2 else OF_MANY)
            ]
        found += sorted(formulas, key=lambda formula: (len(formula.names), -formula.share))[:1]
    return found


def _share(x: np.ndarray, own: float, formula: Term, rows: np.ndarray) -> float:
    """In which share of the rows a formula holds, beyond what other residuals near 0 let expect by chance."""
    there = rows[~np.isnan(x[rows])]
    slack = np.maximum(own, formula.slack[there]) * (1.0 + 1e-6) + 1e-9
    apart = np.abs(x[there] - formula.values[there]) / slack
    if apart.size < FEW:
        return 0.0
    holds = float(np.mean(apart <= 1.0))
    near, far = (0.5 * float(np.mean((apart > low) & (apart <= low + 2.0))) for low in (1.0, 3.0))
    chance = near * near / max(far, 1.0 / apart.size)
    return float(holds - max(near, min(holds, chance)))


def _bases(sample: Sample) -> Iterator[Term]:
    """The columns in clear, as they are, in the rows beside, and by how much they rise from row to row."""
    for name, values in list(sample.clear.numbers.items())[:BASES]:
        looks = {name: values}
        for by, where in ((1, "before"), (-1, "after")):
            looks[f"{name} of the row {where}"] = beside = sample.clear.beside(values, by)
            looks[f"the rise of {name} from the row {where}"] = values - beside
        half = half_step(values)
        yield from (Term(text, (name,), look, rounding(look, half)) for text, look in looks.items())


def _candidates(x: np.ndarray, bases: list[Term], rows: np.ndarray) -> Iterator[Term]:
    for base in bases:
        if _is_varied(base.values) or not _is_varied(x):
            yield from _of_one(x, base, rows)
    plain = [base for base in bases if base.text in base.names]
    yield from _of_two(x, bases[:BASES], SUMS, rows)
    yield from _of_two(x, plain[:BASES], PRODUCTS, rows)
    if len(plain) > 1:
        yield from _of_many(x, plain, rows, log=False)
    positive = [base for base in plain if np.nanmin(base.values, initial=np.inf) > 0.0]
    if positive and np.nanmin(x, initial=np.inf) > 0.0:
        yield from _of_many(x, positive, rows, log=True)


def _of_one(x: np.ndarray, base: Term, rows: np.ndarray) -> Iterator[Term]:
    """A multiple, a constant more, or what is left of a constant."""
    text, names, values, slack = base
    if factor := _most_common(x[rows] / values[rows]):
        times = text if factor == 1.0 else f"{factor:g} {text}"
        yield Term(times, names, factor * values, abs(factor) * slack)
    if more := _most_common(x[rows] - values[rows]):
        yield Term(f"{text} {_signed(more)}", names, values + more, slack)
    if whole := _most_common(x[rows] + values[rows]):
        yield Term(f"{whole:.6g} - {text}", names, whole - values, slack)


def _of_two(
    x: np.ndarray, bases: list[Term], operations: dict[str, Callable[..., Any]], rows: np.ndarray
) -> Iterator[Term]:
    """Sums, differences, products and quotients that hold in a few of some rows."""
    there, own = rows[~np.isnan(x[rows])][:TRIED], half_step(x)
    a = np.array([base.values[there] for base in bases])
    slack = np.array([base.slack[there] for base in bases]) + 1e-9
    varied = np.array([_is_varied(row) for row in (*a, x[there])])
    if operations is PRODUCTS and not varied[-1]:
        return
    for (text, operate), (k, base) in product(operations.items(), enumerate(bases)):
        predicted = operate(base.values[there], a)
        error = np.maximum(own, slack_of(operate, base.values[there], a, slack[k], slack))
        hits = (np.abs(x[there] - predicted) <= error).sum(axis=1)
        likely = (hits >= HITS) & (varied[:-1] | varied[k] | (operations is SUMS))
        for other in (bases[j] for j in np.flatnonzero(likely) if bases[j].names != base.names):
            both, pair = base.names + other.names, (base.values, other.values)
            reach = slack_of(operate, *pair, base.slack, other.slack)
            yield Term(f"{base.text} {text} {other.text}", both, operate(*pair), reach)


def _is_varied(x: np.ndarray) -> bool:
    return bool(np.unique(x[~np.isnan(x)]).size >= VARIED)


def slack_of(
    operate: Callable[..., Any], a: np.ndarray, b: np.ndarray, half: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """How far rounding of two columns takes what is computed from them."""
    if operate in SUMS.values():
        return np.asarray(np.maximum(half, other))
    return np.asarray(np.abs(operate(a, b)) * np.fmax(half / np.abs(a), other / np.abs(b)))


def _of_many(x: np.ndarray, bases: list[Term], rows: np.ndarray, *, log: bool) -> Iterator[Term]:
    """Sums with factors, or products of powers, by least absolute deviations."""
    table = np.column_stack([base.values for base in bases])
    rounding = np.column_stack([base.slack for base in bases])
    up, down = (np.log, np.exp) if log else (np.asarray, np.asarray)
    for factors, constant, used in _fitted(up(x), up(table), rows):
        named, more = tuple(bases[k].text for k in used), ["..."] if len(used) > SAID else []
        predicted, slack = down(up(table[:, used]) @ factors + constant), np.abs(factors) * rounding[:, used]
        if log:
            slack = predicted[:, None] * slack / table[:, used]
            powers = [f"{name}^{power:.3g}" for power, name in zip(factors, named, strict=True)]
            text = " * ".join([f"{np.exp(constant):.4g}", *powers[:SAID], *more])
        else:
            terms = [f"{_signed(factor)} {name}" for factor, name in zip(factors, named, strict=True)]
            text = " ".join([*terms[:SAID], *more, _signed(constant)])
        yield Term(text, named, predicted, slack.max(axis=1))


def _fitted(
    x: np.ndarray, table: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """Factors and a constant with the least absolute deviations, and which columns they use."""
    with optional("an audit of several columns", "files"):
        from sklearn.linear_model import QuantileRegressor  # takes a second to import
    there = rows[~(np.isnan(x[rows]) | np.isnan(table[rows]).any(axis=1))][:LEARNED]
    if there.size < FEW + table.shape[1]:
        return
    scale, spread = np.std(table[there], axis=0), np.std(x[there])
    varies = np.flatnonzero(np.ptp(table[there], axis=0))  # rounding gives a constant a deviation
    if not varies.size or np.ptp(x[there]) == 0.0:
        return
    design = (table[there] - np.median(table[there], axis=0))[:, varies] / scale[varies]
    standard = QuantileRegressor(alpha=SPARSE).fit(design, (x[there] - np.median(x[there])) / spread).coef_
    for least in NEGLIGIBLE:
        some = np.abs(standard) > least
        if some.any():
            used = varies[some]
            factors = _rounded(standard[some] * spread / scale[used])
            yield factors, float(np.median(x[there] - table[there][:, used] @ factors)), used


def _rounded(factors: np.ndarray) -> np.ndarray:
    """Factors to the few digits that people use, where they are as near to these as a fit can be."""
    short = np.array([float(f"{factor:.3g}") for factor in factors])
    return np.where(np.abs(factors - short) <= 1e-5 * np.abs(factors), short, factors)


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
    """Half of the power of ten of which the values of a column are multiples; 0 if there is none."""
    places = decimals_of(x[~np.isnan(x)])
    return 0.0 if places is None else 0.5 * 10.0**-places


def rounding(x: np.ndarray, slack: float) -> np.ndarray:
    """Half a step where it is small beside the number: counts are not rounded."""
    return np.where(slack > MEASURED * np.abs(x), 0.0, slack)


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):.6g}"
