"""Record linkage by distance: an attacker who has the originals looks for each masked record among them.

The attacker has a file of originals with names, and takes each record of the release for the nearest of them,
or for one of the k nearest. Columns count in units of their standard deviation. If several originals are
equally near, the attacker picks one at random, and its chance is counted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import blocks, evenly_spaced
from condmask.disclosure.risk_result import wilson
from condmask.errors import ArgumentError

TRIED = 1 << 13  # masked records that are linked
MOST_NEAR, TOGETHER = 10_000, 1 << 20  # originals near a masked record, and near several at a time
LEAF = 64  # originals in a leaf of the tree, which has few nodes then, and is built as fast
SLACK = 1e-9  # of a distance, within which two are the same


@dataclass(frozen=True)
class Linkage:
    """How many masked records are linked to their originals.

    Attributes
    ----------
    n : int
        Number of records without missing values.
    tried : int
        Number of masked records looked for.
    columns : tuple of str
        The columns compared.
    k : tuple of int
        Numbers of nearest originals.
    linked : tuple of float
        The share of records whose original is among the k nearest.
    blind : tuple of float
        The share of records that a blind guess links, k / n.
    """

    n: int
    tried: int
    columns: tuple[str, ...]
    k: tuple[int, ...]
    linked: tuple[float, ...]
    blind: tuple[float, ...]

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Wilson's 95% intervals of the shares, since the records tried are a sample of all."""
        return wilson(np.array(self.linked), self.tried)

    def to_dict(self) -> dict[str, Any]:
        """The linkage in terms of JSON."""
        low, high = self.interval()
        return {
            "n": self.n, "tried": self.tried, "columns": list(self.columns), "k": list(self.k),
            "linked": list(self.linked), "blind": list(self.blind),
            "low": low.tolist(), "high": high.tolist(),
        }  # fmt: skip

    def __str__(self) -> str:
        low, high = self.interval()
        lines = [
            f"Share of {self.tried:,} released records whose original is among the k nearest of {self.n:,} "
            f"by {', '.join(self.columns)}",
            f"{'k':>12}{'found':>12}{'95% interval':>20}{'by chance':>12}",
        ]
        for k, share, a, b, blind in zip(self.k, self.linked, low, high, self.blind, strict=True):
            lines.append(f"{k:>12}{share:>12.4f}{f'{a:.4f} - {b:.4f}':>20}{blind:>12.4f}")
        return "\n".join(lines)


def record_linkage(x: Any, z: Any, *, others: Any = None, k: Any = (1, 5, 10)) -> Linkage:
    """How many records of a release can be matched with their originals, by distance.

    Parameters
    ----------
    x, z : array_like of shape (n,) or (n, columns), data frame or dict of columns
        Originals and released values: the same columns in the same order.
    others : array_like, data frame or dict of columns, optional
        Numeric columns that were released as they are.
    k : int or sequence of int
        Numbers of nearest originals: a record counts as linked if its own is among them.

    Returns
    -------
    Linkage
        Shares of records linked, beside those of blind guesses; ``print`` shows them.

    Raises
    ------
    ValueError
        If columns differ in number or length, or fewer than two records have all values.

    See Also
    --------
    release_risk : how well values can be guessed, not who is who.

    Notes
    -----
    Up to 8,192 evenly spaced masked records are looked for among all originals, with SciPy's k-d tree. If
    `others` identify records, all records are linked whatever is done to `x`; the question is then how well
    `x` can be guessed, which `release_risk` answers.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
    >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
    >>> found = cm.record_linkage(x, scheme.mask(x, rng=2), k=[1, 100])
    >>> bool(found.linked[0] < 0.01), found.blind
    (True, (0.0002, 0.02))
    """
    from scipy.spatial import cKDTree  # takes .1 s to import

    numbers = _numbers(k)
    first, second = frames.design(x, "x"), frames.design(z, "z")
    if len(first) != len(second):
        raise ArgumentError(f"z must have the {len(first)} columns of x, got {len(second)}")
    clear = {} if others is None else frames.design(others, "others")
    names = (*first, *clear)
    before, after = [*first.values(), *clear.values()], [*second.values(), *clear.values()]
    for columns in (before, after):
        for name, values in zip(names, columns, strict=True):
            _checks.same_length(values, name, columns[0].size, names[0])
    _checks.same_length(after[0], "z", before[0].size, "x")
    present = np.logical_and.reduce([~np.isnan(values) for values in (*before, *second.values())])
    _checks.at_least_two(int(np.count_nonzero(present)), "x")
    original, spread = _standardized(before, present)
    n = len(original)
    rows = evenly_spaced(n, TRIED)
    at = np.flatnonzero(present)[rows]
    released = np.column_stack([values[at] for values in after]) / spread
    most = min(max(numbers), n)
    tree = cKDTree(original, leafsize=LEAF)
    distance = np.sqrt(np.sum((released - original[rows]) ** 2, axis=1))
    slack = SLACK * (distance + 1.0)
    nearer, equal = np.empty((2, rows.size), dtype=np.int64)
    for start, stop in blocks(rows.size, max(1, TOGETHER // most)):
        near = tree.query(released[start:stop], k=most)[0].reshape(stop - start, most)
        own, reach = distance[start:stop, None], slack[start:stop, None]
        nearer[start:stop] = np.sum(near < own - reach, axis=1)
        equal[start:stop] = np.sum(np.abs(near - own) <= reach, axis=1)
    full = equal + nearer == most  # there may be more as near as the last ones
    unsure = np.flatnonzero(full & (equal > 0))
    if unsure.size:
        inside = tree.query_ball_point(released[unsure], distance[unsure] + slack[unsure], return_length=True)
        equal[unsure] = inside - nearer[unsure]
    linked = []
    for number in numbers:
        among = np.where(equal > 0, np.clip((min(number, n) - nearer) / np.maximum(equal, 1), 0.0, 1.0), 0.0)
        linked.append(float(among.mean()))
    return Linkage(
        n, int(rows.size), names, tuple(numbers), tuple(linked),
        tuple(min(number, n) / n for number in numbers),
    )  # fmt: skip


def _numbers(k: Any) -> list[int]:
    with _checks.converting(k, "k", "a whole number or several"):
        numbers = [k] if isinstance(k, int | np.integer) else list(k)
    if not numbers:
        raise ArgumentError("k must hold at least one number, got none")
    return [_checks.whole(number, "k", least=1, most=MOST_NEAR) for number in numbers]


def _standardized(columns: list[np.ndarray], present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns in units of their s.d., of the records without missing values, and these units."""
    n = int(np.count_nonzero(present))
    table, spread = np.empty((n, len(columns))), np.empty(len(columns))
    for k, column in enumerate(columns):
        values = column if n == column.size else column[present]
        spread[k] = values.std() or 1.0
        np.divide(values, spread[k], out=table[:, k])
    return table, spread
