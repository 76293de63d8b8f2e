"""Relations among columns: which hold, in how many records, and in how many of these by chance.

One that holds in the data (a = b, a = b + c, a is the total of some others, a = b / c^2), in a part of the
records at least, holds in swapped records, which carry all values of one donor, and seldom in kept ones. A
masked column whose relatives are all in clear can be computed from them.

Half of the records suggest relations (relation_search.py); the other half counts where they hold. Chance is
what is left of the count with the masked column shuffled, and what a smooth dependence explains: records
are put in groups by the value that the relation computes, and the values of the next group, and of the one
after it, are held against that of each group. Where the chance P(k) to agree over k groups falls ever
faster, as between normal columns however coarse, P(0) <= P(1)^2 / P(2), and P(0) <= P(2)^3 / P(3)^2.
Records in which the masked column has its most common value are left out if these are many, so that zeros
make no relations, and a relation of records that have few different values must hold nearly always.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.audit_input import AuditInput
from condmask.correlations import pearson, ranks
from condmask.disclosure.identity import Identity as Identity
from condmask.disclosure.identity import Steps as Steps
from condmask.disclosure.identity import Table, resolution
from condmask.disclosure.long_columns import has_finite, random_rows
from condmask.disclosure.relation_search import suggested, uncommon

SEARCHED, COUNTED, LOOKED_AT = 1 << 12, 1 << 14, 1 << 14  # rows: to search, to count, to compare columns
BRIEFLY = 512  # rows that tell what is surely none
MOSTLY = 0.5  # of the records: fewer do not tell what holds up to rounding
NEARLY_ALL, BETTER = 0.9, 0.02  # of the records: no other form is looked at; shares by which one is better
BEYOND = 0.1  # of the records, more than by chance: from here on a relation is one
COARSE = 0.125  # of a column's mean deviation: beyond, rounding is grouping
CAUGHT = 0.95  # of the records that obey with more rounding: less is enough
NEAR = 0.95
FEWEST = 16  # rows that tell anything
FINE = 1e-5  # of a column's mean deviation: up to here slack is that of floating point
ERRORS = 2.0  # standard errors, which are given to chance
FEW, SURELY = 10.0, 0.97  # values, by their Simpson number; with fewer a relation holds in so many records


class Evidence(NamedTuple):
    """The shares of the records that obey, and that do so by chance; without those of a common value."""

    share: float
    chance: float

    @property
    def beyond(self) -> float:
        return self.share - self.chance


def steps_of(schemes: dict[str, Any]) -> Steps:
    """What masking rounds each masked column to."""
    return {name: scheme.step for name, scheme in schemes.items()}


def identities_of(data: AuditInput) -> list[Identity]:
    """The relations of a table, in the rows in which its columns in clear are examined."""
    some = data.aligned()
    return identities({**some.values, **some.clear}, set(data.values))


def identities(table: Table, masked: set[str]) -> list[Identity]:
    """The relations that concern a masked column and hold beyond chance, those of fewest columns first."""
    names = [name for name, x in table.items() if has_finite(x)]
    if len(names) < 2 or not masked & set(names):
        return []
    some, others = random_rows(table[names[0]].size, SEARCHED, COUNTED)
    searched, counted = ({name: table[name][rows] for name in names} for rows in (some, others))
    searched = {name: x for name, x in searched.items() if has_finite(x)}
    grids = {name: resolution(x) for name, x in searched.items()}
    holding: dict[frozenset[str], tuple[Identity, Evidence]] = {}
    for identity in suggested(searched, grids, masked):
        key = frozenset(identity.names)
        if not masked & key or (key in holding and holding[key][1].share > NEARLY_ALL):
            continue
        target = next(name for name in identity.names if name in masked)
        few = {name: counted[name][:BRIEFLY] for name in key}
        if evidence(identity, few, target).beyond < 0.5 * BEYOND:
            continue
        identity = _as_rounded(identity, counted, target)
        proof = evidence(identity, counted, target)
        if (
            identity.rounding and proof.share < MOSTLY
        ):  # nearly equal is common among columns that go together
            identity = identity._replace(rounding=())
            proof = evidence(identity, counted, target)
        if proof.beyond > max(BEYOND, holding[key][1].beyond + BETTER if key in holding else 0.0):
            holding[key] = identity, proof
    kept: list[Identity] = []
    for key, (identity, proof) in sorted(holding.items(), key=lambda item: len(item[0])):
        # with more columns than another, and in no more records, it says nothing new
        if not any(
            set(other.names) < key and holding[frozenset(other.names)][1].share >= proof.share
            for other in kept
        ):
            kept.append(identity)
    return kept


def _as_rounded(identity: Identity, table: Table, target: str) -> Identity:
    """The relation with no more rounding than it needs, and none that would be grouping."""
    widest = identity.rounding
    if not widest:
        return identity
    x, _, _ = identity.computed(table, target)
    deviation = float(np.nanmean(np.abs(x[np.isfinite(x)] - np.nanmedian(x[np.isfinite(x)])))) * (
        0.5 if identity.product else 1.0
    )
    factor = dict(((identity.left, 1.0), *identity.right))[target]
    most = COARSE * deviation * abs(factor)
    counts = {
        rounding: np.count_nonzero(tried.holds(table, {}))
        for rounding in ((), *((one,) for one in widest), widest)
        if np.nanmedian((tried := identity._replace(rounding=rounding)).slack(table, {})) <= most
    }
    enough = CAUGHT * max(counts.values(), default=0)
    first = next((rounding for rounding, count in counts.items() if count >= enough), ())
    return identity._replace(rounding=first)


def evidence(identity: Identity, table: Table, target: str) -> Evidence:
    """In how many records a relation holds, and in how many it would by chance."""
    records = np.flatnonzero(uncommon(table[target]))
    if records.size < FEWEST:
        return Evidence(0.0, 1.0)
    table = {name: table[name][records] for name in identity.names}
    rows = np.flatnonzero(identity.says_something(table))
    parts = [part[rows] for part in identity.computed(table, target)]
    finite = np.all(np.isfinite(parts), axis=0)  # a product of high powers may overflow
    value, computed, slack = (part[finite] for part in parts)
    rows = rows[finite]
    if rows.size < FEWEST:
        return Evidence(0.0, 1.0)
    obeying = np.abs(value - computed) <= slack

    def holding(others: np.ndarray) -> float:
        return float(np.count_nonzero(np.abs(value[others] - computed) <= slack)) / records.size

    share = np.count_nonzero(obeying) / records.size
    chance = holding(np.random.default_rng(1).permutation(rows.size))
    group, nearest = _groups(computed, slack, value)
    if _few(np.bincount(group[obeying])):
        return Evidence(share, chance if obeying.mean() >= SURELY else 1.0)
    place = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    first = np.cumsum(counts) - counts
    rank = np.empty(rows.size, dtype=np.int64)
    rank[place] = np.arange(rows.size) - first[group[place]]
    least, bounds = 0.5 / records.size, []
    for side in (1, -1):
        near, after = (
            holding(place[first[other] + rank % counts[other]]) + least
            for other in (np.clip(group + side * far, 0, counts.size - 1) for far in (nearest, nearest + 1))
        )
        bounds.append(near * (near / after) ** nearest)
    chance = max(chance, min(share, *bounds))
    return Evidence(share, chance + ERRORS * float(np.sqrt(chance / records.size)))


def _groups(computed: np.ndarray, slack: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, int]:
    """Groups of records by the computed value, in order, and how far on no record of one suits another.

    With rounding they are as wide as that, and records of groups beside each other may share a value.
    """
    width = 2.0 * float(np.quantile(slack, 0.9))
    if width > FINE * float(np.mean(np.abs(value - np.median(value)))):
        return np.unique(np.floor(computed / width), return_inverse=True)[1], 2
    order = np.argsort(computed, kind="stable")
    group = np.empty(computed.size, dtype=np.int64)
    with np.errstate(invalid="ignore"):  # infinite ones are no neighbours
        apart = np.diff(computed[order], prepend=computed[order[0]]) > 2.0 * slack[order]
    group[order] = np.cumsum(apart)
    return group, 1


def _few(counts: np.ndarray) -> bool:
    """Whether records have few values, for all that counts."""
    return bool(counts.sum() ** 2 < FEW * np.sum(counts.astype(float) ** 2)) if counts.size else True


class Copy(NamedTuple):
    """A column in clear that gives a masked one away: how, and how closely."""

    masked: str
    clear: str
    how: str
    share: float
    ordered: bool = False  # records stand in one order by both, but for what chance explains


def copies(masked: dict[str, np.ndarray], clear: dict[str, np.ndarray]) -> list[Copy]:
    """Columns in clear that follow masked ones closely. Those that are the same are identities."""
    pairs = []
    for name, x in masked.items():
        for other, y in clear.items():
            step = max(1, x.size // LOOKED_AT)
            present = ~(np.isnan(x[::step]) | np.isnan(y[::step]))
            a, b = x[::step][present], y[::step][present]
            if a.size < FEWEST:
                continue
            straight, rank = abs(pearson(a, b)), abs(pearson(ranks(a), ranks(b)))
            if max(straight, rank) > NEAR:
                kind = "rank correlation" if rank > straight else "correlation"
                share = max(straight, rank)
                how = f"follows {name!r} ({kind} {share:.3f})"
                pairs.append(Copy(name, other, how, share, _ordered(a, b)))
    return pairs


def _ordered(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether neighbours by y are mostly in the order of x, as for a monotone function.

    If the columns are merely related, neighbours are in either order, whatever the correlation. Records with
    equal x show nothing, and records with equal y, as for groups of x, are in either order.
    """
    some = np.linspace(0, x.size - 1, min(x.size, BRIEFLY)).astype(np.int64)
    x, y = x[some], y[some]
    place = np.argsort(y, kind="stable")
    rises, apart = np.diff(x[place]), np.diff(y[place]) > 0.0
    differ = rises != 0.0
    up, down = (np.count_nonzero(apart & (sign * rises > 0.0)) for sign in (1.0, -1.0))
    return bool(np.count_nonzero(differ) >= FEWEST and abs(up - down) > MOSTLY * np.count_nonzero(differ))
