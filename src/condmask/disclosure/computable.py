"""Formulas by which columns in clear give a masked column away, exactly and in many rows.

A column that equals what can be computed from others is not protected by any noise. Looked for are copies,
multiples and differences from a constant; sums, differences, products and quotients of two columns, in a
tenth of the rows; and sums or products of any number of columns with any factors, in half of the rows, by
least absolute deviations. Columns count as they are and, for running totals and last month's values, in the
row before and after, among all rows and within each unit.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample
from condmask.grid import decimals_of

SHARE, OF_MANY = 0.1, 0.5  # of the rows, beyond chance: by two columns, by more
LEARNED, TRIED, HITS = 384, 64, 3  # rows for least absolute deviations, for pairs, and of these to go on with
BASES = 100  # columns of which pairs are looked at
MEASURED = 0.02  # of a number, that half a step is at most where it was rounded
NEGLIGIBLE = (0.01, 1e-6)  # factors, in units of the columns' spread: what rounding makes of none
FEW = 30  # rows
VARIED = 20  # values in rows tried: small whole numbers are products and quotients of others by chance
COMMON = 0.05  # of the rows: a value that agrees by chance


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


class Base(NamedTuple):
    """A column that formulas are made of, and half a step of it."""

    text: str
    name: str
    values: np.ndarray
    slack: float


class Candidate(NamedTuple):
    """What a formula predicts, and how far off rounding may take it."""

    text: str
    names: tuple[str, ...]
    predicted: np.ndarray
    slack: np.ndarray


def computable(sample: Sample) -> list[Formula]:
    """The simplest formula of each masked column that columns in clear give."""
    bases = list(_bases(sample))
    if not bases:
        return []
    rows = np.random.default_rng(0).permutation(sample.half.size)
    learned, proof = rows[: rows.size // 2], rows[rows.size // 2 :]
    found = []
    for name, values in sample.table.values.items():
        x = _without_common(values)
        half_step = _half_step(values)
        formulas = [
            Formula(name, f"{name} = {candidate.text}", share, candidate.names)
            for candidate in _candidates(x, bases, learned)
            if (share := _share(x, half_step, candidate, proof)) > _least(candidate)
        ]
        if formulas:
            found.append(min(formulas, key=lambda formula: (len(formula.names), -formula.share)))
    return found


def _least(candidate: Candidate) -> float:
    return SHARE if len(candidate.names) <= 2 else OF_MANY


def _share(x: np.ndarray, half_step: float, candidate: Candidate, rows: np.ndarray) -> float:
    """In which share of the rows a formula holds, beyond what other residuals near 0 let expect by chance."""
    there = rows[~np.isnan(x[rows])]
    slack = np.maximum(half_step, candidate.slack[there]) * (1.0 + 1e-6) + 1e-9
    apart = np.abs(x[there] - candidate.predicted[there]) / slack
    if apart.size < FEW:
        return 0.0
    holds = float(np.mean(apart <= 1.0))
    near, far = (0.5 * float(np.mean((apart > low) & (apart <= low + 2.0))) for low in (1.0, 3.0))
    chance = near * near / max(far, 1.0 / apart.size)
    return float(holds - max(near, min(holds, chance)))


def _bases(sample: Sample) -> Iterator[Base]:
    """The columns in clear, as they are, in the rows beside, and by how much they rise from row to row."""
    rows = sample.clear.rows
    for name, values in list(sample.clear.numbers.items())[:BASES]:
        slack = _half_step(values)
        yield Base(name, name, values, slack)
        for by, where in ((1, "before"), (-1, "after")):
            beside = np.roll(values, by)
            beside[rows - np.roll(rows, by) != by] = np.nan
            yield Base(f"{name} of the row {where}", name, beside, slack)
            yield Base(f"the rise of {name} from the row {where}", name, values - beside, slack)


def _candidates(x: np.ndarray, bases: list[Base], rows: np.ndarray) -> Iterator[Candidate]:
    for base in bases:
        yield from _of_one(x, base, rows)
    yield from _of_two(x, bases[:BASES], rows)
    plain = [base for base in bases if base.text == base.name]
    if len(plain) > 1:
        yield from _of_many(x, plain, rows)


def _of_one(x: np.ndarray, base: Base, rows: np.ndarray) -> Iterator[Candidate]:
    """A multiple, a constant more, or what is left of a constant."""
    values, slack = base.values, np.full(x.size, base.slack)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = _most_common(x[rows] / values[rows])
    if factor is not None and factor != 0.0:
        times = base.text if factor == 1.0 else f"{factor:g} {base.text}"
        yield Candidate(times, (base.name,), factor * values, abs(factor) * slack)
    more = _most_common(x[rows] - values[rows])
    if more:
        yield Candidate(f"{base.text} {_signed(more)}", (base.name,), values + more, slack)
    whole = _most_common(x[rows] + values[rows])
    if whole is not None:
        yield Candidate(f"{whole:.6g} - {base.text}", (base.name,), whole - values, slack)


def _of_two(x: np.ndarray, bases: list[Base], rows: np.ndarray) -> Iterator[Candidate]:
    """Sums, differences, products and quotients that hold in a few of some rows."""
    there = rows[~np.isnan(x[rows])][:TRIED]
    a = np.array([base.values[there] for base in bases])
    slack = np.array([base.slack for base in bases])[:, None] + 1e-9
    own, varied = _half_step(x), [np.unique(row).size >= VARIED for row in a]
    for sign, text in enumerate("+-*/" if np.unique(x[there]).size >= VARIED else "+-"):
        for k, base in enumerate(bases):
            with np.errstate(divide="ignore", invalid="ignore"):
                predicted = _operated(sign, base.values[there], a)
                error = np.maximum(own, _slack(sign, base.values[there], a, base.slack, slack))
                hits = (np.abs(x[there] - predicted) <= error).sum(axis=1)
            for j in np.flatnonzero(hits >= HITS):
                other = bases[j]
                if (sign in (0, 2) and j < k) or other.name == base.name:
                    continue
                plain = base.text == base.name and other.text == other.name
                if sign >= 2 and not (plain and (varied[k] or varied[j])):
                    continue
                with np.errstate(divide="ignore", invalid="ignore"):
                    yield Candidate(
                        f"{base.text} {text} {other.text}",
                        (base.name, other.name),
                        _operated(sign, base.values, other.values),
                        _slack(sign, base.values, other.values, base.slack, other.slack),
                    )


def _operated(sign: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((np.add, np.subtract, np.multiply, np.divide)[sign](a, b))


def _slack(sign: int, a: np.ndarray, b: np.ndarray, half: float, other: float | np.ndarray) -> np.ndarray:
    """How far half steps of two columns take what is computed from them."""
    if sign < 2:
        return np.zeros_like(b) + np.maximum(half, other)
    relative = [half / np.abs(a), other / np.abs(b)]
    of_measured = [np.where(part > MEASURED, 0.0, part) for part in relative]  # counts are not rounded
    return np.asarray(np.abs(_operated(sign, a, b)) * np.maximum(*of_measured))


def _of_many(x: np.ndarray, bases: list[Base], rows: np.ndarray) -> Iterator[Candidate]:
    """Sums with factors, and products of powers, by least absolute deviations."""
    table = np.column_stack([base.values for base in bases])
    half, names = np.array([base.slack for base in bases]), np.array([base.name for base in bases])
    for factors, constant, used in _fitted(x, table, rows):
        sums = " ".join(
            f"{_signed(factor)} {name}" for factor, name in zip(factors, names[used], strict=True)
        )
        predicted = table[:, used] @ factors + constant
        slack = np.full(x.size, np.max(np.abs(factors) * half[used]))
        yield Candidate(f"{sums} {_signed(constant)}", tuple(names[used]), predicted, slack)
    positive = np.nanmin(table, axis=0, initial=np.inf) > 0.0
    if not positive.any() or np.nanmin(x, initial=np.inf) <= 0.0:
        return
    table, half, names = table[:, positive], half[positive], names[positive]
    for powers, constant, used in _fitted(np.log(x), np.log(table), rows):
        predicted = np.exp(np.log(table[:, used]) @ powers + constant)
        slack = predicted * np.max(np.abs(powers) * half[used] / table[:, used], axis=1)
        text = " * ".join(f"{name}^{power:.3g}" for power, name in zip(powers, names[used], strict=True))
        yield Candidate(f"{np.exp(constant):.4g} * {text}", tuple(names[used]), predicted, slack)


def _fitted(
    x: np.ndarray, table: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """Factors and a constant with the least absolute deviations, and which columns they use."""
    from scipy.optimize import linprog  # takes .2 s to import

    there = rows[~(np.isnan(x[rows]) | np.isnan(table[rows]).any(axis=1))][:LEARNED]
    if there.size < FEW + table.shape[1]:
        return
    scale, spread = np.std(table[there], axis=0), np.std(x[there])
    varies = np.flatnonzero(scale > 0.0)
    if not varies.size or spread == 0.0:
        return
    design = np.column_stack((table[there][:, varies] / scale[varies], np.ones(there.size)))
    y, (n, width) = x[there] / spread, design.shape
    cost = np.concatenate((np.zeros(width), np.ones(n)))
    upper = np.block([[design, -np.eye(n)], [-design, -np.eye(n)]])
    solved = linprog(cost, upper, np.concatenate((y, -y)), bounds=[(None, None)] * width + [(0, None)] * n)
    if solved.x is None:
        return
    standard = solved.x[: width - 1]
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
    return np.where(x == values[counts.argmax()], np.nan, x)


def _half_step(x: np.ndarray) -> float:
    """Half of the power of ten of which the values of a column are multiples; 0 if there is none."""
    places = decimals_of(x[~np.isnan(x)])
    return 0.0 if places is None else 0.5 * 10.0**-places


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):.6g}"
