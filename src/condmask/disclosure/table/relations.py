"""Find relations by which columns in clear give a masked column away exactly.

A column that equals what can be computed from others is not protected by any noise. Counted are
the records in which a relation holds beyond chance. It counts in all of them where it holds in
half of the records, and else only where a small tree can tell, from the columns in clear, that it
holds: nobody knows which of three candidates is right where each holds in some records.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.derived import Derived
from condmask.disclosure.table.encode import Columns, column_of

MIN_SHARE = 0.05  # of the records, beyond chance
SHIFT_SHARE = 3  # the part of the table by which predictions are shifted to say what is chance
MIN_EFFECTIVE_VALUES = 20.0  # distinct values among those that agree, by their frequencies
MAX_RELATIONS = 8
TREE_LEAVES = 8
MIN_LEAF_RECORDS = 20
WHOLE_SHARE = 0.5
MIN_COMMON = 0.05  # of the records, that share a ratio or a difference
COMMON_ROWS = 1_000
DIGITS = 9
TOLERANCE = 1e-6  # relative
PART = re.compile(r" \(part [^)]*\)")  # of a column, which messages leave out


class Relation(NamedTuple):
    """An exact relation of a masked column with columns in clear.

    Attributes
    ----------
    text : str
        The right side of the equation.
    columns : tuple of str
        The columns in clear that are in it.
    share : float
        Of the records, those in which it holds.
    identifiable : float
        Of the records, those in which an attacker can tell that it holds.
    values : ndarray of shape (m,)
        What it predicts.
    """

    text: str
    columns: tuple[str, ...]
    share: float
    identifiable: float
    values: np.ndarray


def resolution(x: np.ndarray) -> float:
    """Return the largest power of ten of which all values are multiples; else a millionth of the
    median of those that are not zero."""
    present = x[~np.isnan(x)]
    for places in range(-3, 7):
        scaled = present * 10.0**places
        if np.allclose(scaled, np.rint(scaled), rtol=1e-12, atol=1e-6):
            return float(10.0**-places)
    size = np.abs(present)
    return 1e-6 * float(np.median(size[size > 0.0]))


def multiples(x: np.ndarray, numbers: Columns) -> Iterator[Derived]:
    """Yield columns themselves, and by the factor or the constant that most records share."""
    rows = np.arange(0, x.size, max(1, x.size // COMMON_ROWS))
    for name, w in numbers.items():
        yield Derived(name, w)
        with np.errstate(all="ignore"):
            factor = _most_common(x[rows] / w[rows])
            more = _most_common(x[rows] - w[rows])
            whole = _most_common(x[rows] + w[rows])
        if factor and factor != 1.0:
            yield Derived(f"{factor:.6g} {name}", factor * w)
        if more:
            yield Derived(f"{name} {'+' if more > 0.0 else '-'} {abs(more):.6g}", w + more)
        if whole:
            yield Derived(f"{whole:.6g} - {name}", whole - w)


def _most_common(values: np.ndarray) -> float | None:
    """Return the number that most of some are, to 9 digits; None if hardly any are."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    size = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(finite), 1e-300))) - DIGITS + 1)
    distinct, counts = np.unique(np.rint(finite / size) * size, return_counts=True)
    enough = counts.max() > MIN_COMMON * values.size
    return float(f"{distinct[counts.argmax()]:.9g}") if enough else None


def exact(
    x: np.ndarray, candidates: Iterable[Derived], names: Iterable[str], step: float
) -> list[Relation]:
    """Return the relations that hold in some records beyond chance, the most frequent first.

    ``names`` are the columns in clear, and ``step`` is the resolution of x.
    """
    if np.unique(x).size <= 2 * MIN_EFFECTIVE_VALUES:
        return []
    slack = 0.51 * step + TOLERANCE * step
    known = sorted({column_of(name) for name in names}, key=len, reverse=True)
    found: dict[str, Relation] = {}
    for each in candidates:
        predicted = each.values
        holds = np.abs(predicted - x) <= slack
        share = float(holds.mean())
        if share < MIN_SHARE:
            continue
        shifted = np.roll(predicted, 1 + x.size // SHIFT_SHARE)
        chance = float(np.mean(np.abs(shifted - x) <= slack))
        _, counts = np.unique(x[holds], return_counts=True)
        effective = float(counts.sum()) ** 2 / float((counts**2).sum())
        near = float(np.mean(np.abs(np.abs(predicted - x) - 2.0 * slack) <= slack)) / 2.0
        if share - max(chance, near) > MIN_SHARE and effective > MIN_EFFECTIVE_VALUES:
            columns = _columns_in(each.text, known)
            text = PART.sub("", each.text)
            found.setdefault(text, Relation(text, columns, share, share, predicted))
    return sorted(found.values(), key=_by_share)[:MAX_RELATIONS]


def _by_share(one: Relation) -> tuple[float, int, int]:
    """Return what sorts relations by their share, and then the simplest first."""
    return -round(one.share, 2), len(one.columns), len(one.text)


def _columns_in(text: str, known: list[str]) -> tuple[str, ...]:
    """Return the columns that a text names, the longest names first."""
    found = []
    for name in known:
        if name and name in text:
            found.append(name)
            text = text.replace(name, " ")
    return tuple(found)


def with_identifiable(
    relation: Relation, x: np.ndarray, step: float, dense: np.ndarray, half: np.ndarray
) -> Relation:
    """Return a relation with the share of records in which an attacker can tell that it holds,
    more often right than not."""
    from sklearn.tree import DecisionTreeClassifier  # takes a second to import

    if relation.share >= WHOLE_SHARE:
        return relation
    holds = np.abs(relation.values - x) <= 0.51 * step
    expected = np.zeros(x.size, dtype=bool)
    table = np.column_stack((dense, relation.values))
    for side in (0, 1):
        learn = half != side
        if 0 < holds[learn].sum() < learn.sum():
            tree = DecisionTreeClassifier(
                max_leaf_nodes=TREE_LEAVES, min_samples_leaf=MIN_LEAF_RECORDS, random_state=0
            )
            tree.fit(table[learn], holds[learn])
            expected[~learn] = tree.predict(table[~learn]) == 1
    return relation._replace(identifiable=float(np.mean(expected & holds)))
