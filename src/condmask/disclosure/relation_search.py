"""Relations that some records suggest: of sums, differences and multiples, and in logarithms of products."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from condmask.disclosure import relation_candidates
from condmask.disclosure.identity import Identity, Steps, Table
from condmask.disclosure.relation_candidates import Candidate
from condmask.disclosure.relation_refit import Rows, refit

FITTED = 512  # records of a fit
FEWEST = 16
COMMON = 0.05  # of the records have one value: only the others are examined
POSITIVE = 0.5  # of the values: then a column has a logarithm
INDICATOR = 2  # different values: a factor is then a value of another column


def suggested(table: Table, grids: Steps, masked: set[str]) -> Iterator[Identity]:
    """Relations that hold in some of these records, sums first; with the rounding that columns have."""
    for logarithms in (False, True):
        names = [name for name, x in table.items() if not logarithms or np.mean(x > 0.0) >= POSITIVE]
        if len(names) < 2 or not masked & set(names):
            continue
        x = np.stack([table[name] for name in names], axis=1)
        halves = np.broadcast_to(0.5 * np.array([grids[name] for name in names]), x.shape)
        if logarithms:
            x = np.where(x > 0.0, x, np.nan)
            halves, x = halves / x, np.log(x)
        rows = [np.flatnonzero(uncommon(column))[:FITTED] for column in x.T]
        middle = np.nanmedian(x, axis=0)
        some_masked = np.array([name in masked for name in names])
        enough = np.array([some.size >= FEWEST for some in rows])
        yield from (
            _identity(candidate, names, table, grids if logarithms else {}, product=logarithms)
            for candidate in _of_few(x, rows, halves, some_masked, enough)
        )
        columns = _Columns(x, halves, middle, rows)
        for candidate in _of_fits(x, rows, some_masked, enough):
            for width in (0.0, 1.0):  # exactly, or up to rounding
                short = columns.refitted(candidate, width, logarithms=logarithms)
                if short is not None:
                    yield _identity(short, names, table, grids if width else {}, product=logarithms)


class _Columns(NamedTuple):
    """Columns, half the steps to which they are rounded, their medians, and the informative rows of each."""

    x: np.ndarray
    halves: np.ndarray
    middle: np.ndarray
    rows: list[np.ndarray]

    def refitted(self, candidate: Candidate, width: float, *, logarithms: bool) -> Candidate | None:
        """The shortest form of a relation, with so much of the rounding."""
        first = refit(candidate, self._rows(candidate, width), logarithms=logarithms)
        if first is None:
            return None
        others = (refit(form, self._rows(form, width), logarithms=logarithms) for form in _turned(first))
        forms = [first, *(form for form in others if form is not None)]
        return min((_solved(form) for form in forms), key=lambda form: _length(form.factors))

    def _rows(self, candidate: Candidate, width: float) -> Rows:
        some, target, features = self.rows[candidate.target], candidate.target, candidate.features
        x, halves = (table[np.ix_(some, features)] for table in (self.x, self.halves))
        missing = np.isnan(x)
        return Rows(
            self.x[some, target], np.where(missing, self.middle[features], x),
            width * self.halves[some, target], np.where(missing, 0.0, width * halves),
        )  # fmt: skip


def uncommon(x: np.ndarray) -> np.ndarray:
    """Records with a value, except the most common one if it is common enough to be met by chance."""
    present = ~np.isnan(x)
    values, counts = np.unique(x[present], return_counts=True)
    if not values.size or counts.max() <= COMMON * counts.sum():
        return np.asarray(present)
    return np.asarray(present & (x != values[np.argmax(counts)]))


def _of_few(
    x: np.ndarray, rows: list[np.ndarray], halves: np.ndarray, masked: np.ndarray, enough: np.ndarray
) -> Iterator[Candidate]:
    yield from relation_candidates.of_two(x, rows, masked & enough)
    yield from relation_candidates.of_three(x, rows, np.nanmedian(halves, axis=0), masked, enough)


def _of_fits(
    x: np.ndarray, rows: list[np.ndarray], masked: np.ndarray, enough: np.ndarray
) -> Iterator[Candidate]:
    everything, clear = np.arange(masked.size), np.flatnonzero(~masked)
    targets = [(int(target), everything[everything != target]) for target in np.flatnonzero(masked & enough)]
    if masked.sum() > 1 and clear.size:
        targets += [(target, clear) for target, _ in targets]
    return relation_candidates.of_fits(x, rows, targets)


def _forms(candidate: Candidate) -> list[Candidate]:
    """The relation, solved for every column."""
    places = np.array([candidate.target, *candidate.features])
    weights = np.array([1.0, *-candidate.factors])
    return [
        Candidate(
            int(place),
            np.delete(places, k),
            np.delete(weights, k) / -weights[k],
            candidate.constant / weights[k],
        )
        for k, place in enumerate(places)
    ]


def _solved(candidate: Candidate) -> Candidate:
    """The relation, solved for the column that leaves the fewest signs and digits on the other side."""
    return min(_forms(candidate), key=lambda form: _length(form.factors))


def _turned(candidate: Candidate) -> list[Candidate]:
    """Other forms of a relation that may be shorter: of two columns the other one, else the shortest."""
    forms = _forms(candidate)[1:] if candidate.features.size == 1 else [_solved(candidate)]
    return [form for form in forms if form.target != candidate.target]


def _length(factors: np.ndarray) -> tuple[int, int]:
    return int(np.count_nonzero(factors < 0.0)), sum(len(f"{abs(factor):.6g}") for factor in factors)


def _identity(
    candidate: Candidate, names: list[str], table: Table, grids: Steps, *, product: bool
) -> Identity:
    left, order = names[candidate.target], np.argsort(candidate.features)
    right = tuple((names[candidate.features[k]], float(candidate.factors[k])) for k in order)
    hidden = [name for name, factor in right if abs(factor) != 1.0 and _values(table[name]) <= INDICATOR]
    rounding = [(name, grids[name]) for name in (left, *(name for name, _ in right)) if grids.get(name)]
    return Identity(left, right, float(candidate.constant), product, tuple(rounding), tuple(hidden))


def _values(x: np.ndarray) -> int:
    return int(np.unique(x[~np.isnan(x)]).size)
