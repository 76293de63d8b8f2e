"""What columns say of each other: identities, and columns in clear that give a masked one away.

An identity that holds in the data (a = b, a = c b, a = b + c, a is the total of the others), in most records
at least, holds in swapped records, which carry all values of one donor, and seldom in kept ones.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from condmask.audit_input import AuditInput
from condmask.disclosure.correlations import pearson, ranks

SEARCHED, LOOKED_AT = 256, 1 << 14  # rows: where identities are searched, where columns are compared
HOLDS = 0.5  # of the records in which it says anything
MOST_COLUMNS = 24  # among which sums of two are tried
SLACK = 1e-9  # relative, besides half a step of every column
NEAR = 0.95
FEWEST = 16  # rows that tell anything
SHOWS = 0.2  # of a variance: what adds so much to it moves few records beyond the others


Steps = dict[str, float]  # to which columns are rounded


class Identity(NamedTuple):
    """left = sum of factor * column."""

    left: str
    right: tuple[tuple[str, float], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.left, *(name for name, _ in self.right))

    def holds(self, table: dict[str, np.ndarray], steps: Steps) -> np.ndarray:
        """In which records it holds, for all that the steps to which values are rounded can tell."""
        size, slack = np.zeros(table[self.left].shape), 0.0
        for name, factor in ((self.left, 1.0), *self.right):
            size += np.abs(factor * table[name])
            slack += 0.5 * abs(factor) * steps[name]
        return np.asarray(np.abs(self.residual(table)) <= slack * (1.0 + SLACK) + SLACK * size)

    def residual(self, table: dict[str, np.ndarray]) -> np.ndarray:
        """The left side of the identity less the right one."""
        return np.asarray(table[self.left] - sum(factor * table[name] for name, factor in self.right))

    def __str__(self) -> str:
        terms = [repr(name) if factor == 1.0 else f"{factor:.6g} {name!r}" for name, factor in self.right]
        return f"{self.left!r} = {' + '.join(terms)}"


def steps_of(data: AuditInput, schemes: dict[str, Any]) -> Steps:
    """What masking rounds each column to."""
    return dict.fromkeys(data.clear, 0.0) | {name: scheme.step for name, scheme in schemes.items()}


def identities(table: dict[str, np.ndarray], steps: Steps, masked: set[str]) -> list[Identity]:
    """The identities that hold in most of some rows and concern a masked column."""
    some = {name: x[:: max(1, x.size // SEARCHED)] for name, x in table.items()}
    holding: list[Identity] = []
    tried = [*_ratios(some), *_totals(list(some))]
    if len(some) <= MOST_COLUMNS:
        tried += _sums(list(some))
    for identity in tried:
        names = identity.names
        if not masked & set(names) or any(set(names) == set(other.names) for other in holding):
            continue
        two = sum((some[name] != 0.0).astype(int) for name in names) >= 2  # else it says nothing
        rows = two & ~np.isnan(sum(some[name] for name in names))
        if rows.sum() >= FEWEST and identity.holds(some, steps)[rows].mean() >= HOLDS:
            holding.append(identity)
    return holding


def _ratios(table: dict[str, np.ndarray]) -> list[Identity]:
    ratios = []
    for a, b in combinations(table, 2):
        rows = (table[b] != 0.0) & (table[a] != 0.0) & ~np.isnan(table[a] + table[b])
        # a factor of an indicator is a value of the other, and would stand in a message
        if rows.sum() >= FEWEST and all(np.ptp(table[name][rows]) > 0.0 for name in (a, b)):
            with np.errstate(invalid="ignore", over="ignore"):
                factor = float(np.nanmedian(table[a][rows] / table[b][rows]))
            if np.isfinite(factor) and factor != 0.0:
                short = len(f"{factor:.6g}") <= len(f"{1.0 / factor:.6g}")
                ratios.append(Identity(a, ((b, factor),)) if short else Identity(b, ((a, 1.0 / factor),)))
    return ratios


def _totals(names: list[str]) -> list[Identity]:
    if len(names) < 4:  # of three, a sum of two
        return []
    return [Identity(a, tuple((b, 1.0) for b in names if b != a)) for a in names]


def _sums(names: list[str]) -> list[Identity]:
    return [
        Identity(a, ((b, 1.0), (c, 1.0)))
        for a in names
        for b, c in combinations([b for b in names if b != a], 2)
    ]


def hang_together(table: dict[str, np.ndarray], noise: dict[str, float]) -> bool:
    """Whether noise of such a size shows in what is left of one column given another."""
    for a, b in combinations(table, 2):
        present = ~np.isnan(table[a] + table[b])
        x, y = table[a][present], table[b][present]
        if x.size < FEWEST or x.min() == x.max():
            continue
        x, y = x - x.mean(), y - y.mean()
        slope = float(np.sum(x * y) / np.sum(x * x))
        added = noise[b] ** 2 + (slope * noise[a]) ** 2
        if added > SHOWS * float(np.mean((y - slope * x) ** 2)):
            return True
    return False


class Copy(NamedTuple):
    """A column in clear that gives a masked one away: how, and how closely."""

    masked: str
    clear: str
    how: str
    share: float


def copies(masked: dict[str, np.ndarray], clear: dict[str, np.ndarray]) -> list[Copy]:
    """Columns in clear that are copies of masked ones, monotone in them, or closely correlated."""
    pairs = []
    for name, x in masked.items():
        for other, y in clear.items():
            step = max(1, x.size // LOOKED_AT)
            present = ~(np.isnan(x[::step]) | np.isnan(y[::step]))
            a, b = x[::step][present], y[::step][present]
            if a.size < FEWEST:
                continue
            equal = float(np.mean((a == b) & (a != 0.0)))
            straight, rank = abs(pearson(a, b)), abs(pearson(ranks(a), ranks(b)))
            if equal >= HOLDS:
                pairs.append(Copy(name, other, f"is the same in {equal:.0%} of the records", equal))
            elif max(straight, rank) > NEAR:
                kind = "rank correlation" if rank > straight else "correlation"
                pairs.append(
                    Copy(name, other, f"follows it ({kind} {max(straight, rank):.3f})", max(straight, rank))
                )
    return pairs
