"""Guard rails: what an attacker needs no release, or hardly any, to make use of.

Donor pools so small that anyone who knows most of one can work out the rest; rows in the order of
a masked column; rare values that come back to their own records; and what a publisher would want
to know of: means in place of the ends, zeros that stay zeros, columns that name persons. All that
is found is said at once.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from condmask._digits import number
from condmask.correlations import pearson, ranks
from condmask.disclosure.rare_values import OWN, against_rare, too_often
from condmask.disclosure.table import Table
from condmask.masking.ends import aggregate
from condmask.strata import SMALLEST

FEWEST = 50
FEWEST_KEPT = 20
FEWEST_SWAPPED = 10
SMALL = 200  # records of a pool, by reverse mapping
LEAST_SHARE = 1e-9  # of records kept or swapped
ROUNDING = 1e-6  # of a record
MIDDLE = 0.5  # the p at which as many are kept as swapped
FEW = 100  # records in all, by additive noise
IN_ORDER = 0.95
NEARLY = 0.75  # rank correlations
# rows with the next one: a correlation of .8 passes for .95 with a chance below 1e-15
COMPARED = 128
# which is all there is for parts and folders
SHUFFLE = "pass shuffle=True, or shuffle the rows first"
ZEROS = 0.02  # of the values
CHANGED = 0.001  # of a standard deviation: the least change worth mentioning


class Finding(NamedTuple):
    """Something found before a release: what it is, what helps, and whether the release is refused
    for it.

    Attributes
    ----------
    column : str
        The column concerned; none if it is about all of them.
    text : str
    remedy : str
        What to do, in the words of Python; empty where nothing needs to be done.
    refuses : bool
    """

    column: str
    text: str
    remedy: str
    refuses: bool

    def __str__(self) -> str:
        column = f"{self.column}: " if self.column else ""
        return f"{column}{self.text}{f'; {self.remedy}' if self.remedy else ''}"


def rails(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """All that the guard rails find in columns to be masked, and in those left in clear."""
    return [*at_once(table, schemes), *of_values(table, schemes)]


def at_once(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """List what is seen without simulation: small donor pools, rows in order, columns of names."""
    found = [] if table.scope == "sample" else list(_of_pools(table, next(iter(schemes.values()))))
    for name in schemes:
        found += _of_order(table.values[name], name)
    for name in table.clear.identifiers if table.clear else ():
        text = f"{name} has a different value in every record examined and is released unmasked"
        found.append(Finding("", text, f"drop {name} if it identifies persons", False))
    return found


def of_values(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """List what reverse mapping does to rare values, ends and zeros; a sample does not show it."""
    found: list[Finding] = []
    for name, scheme in schemes.items():
        if scheme.reverse_mapping and table.scope != "sample":
            found += _of_rare(table, name, scheme)
            found += _of_ends(table, name, scheme)
            found += _of_zeros(table.values[name], name, scheme)
    return found


def fewest(scheme: Any) -> int:
    """Return how many records a donor pool of an audited release must have."""
    if not scheme.reverse_mapping:
        return SMALLEST
    kept = FEWEST_KEPT / max(1.0 - scheme.p, LEAST_SHARE)
    swapped = FEWEST_SWAPPED / max(scheme.p, LEAST_SHARE)
    return int(max(FEWEST, math.ceil(kept - ROUNDING), math.ceil(swapped - ROUNDING)))


def _of_pools(table: Table, scheme: Any) -> Iterator[Finding]:
    """Pools by their sizes: a release by reverse mapping holds each original of a pool once."""
    code = table.code
    if not scheme.reverse_mapping:
        if (n := int(np.count_nonzero(code >= 0))) < FEW:
            yield Finding(
                "", f"{n} records are too few to judge what a release of them shows", "", False
            )
        return
    sizes = np.bincount(code[code >= 0])
    sizes = sizes[sizes > 0]
    needed = fewest(scheme)
    small = sizes[sizes < needed]
    if small.size:
        at = f" at p={scheme.p:g}" if needed > FEWEST else ""
        text = (
            f"{_pools(small)}, fewer than {needed}{at}: anyone who knows most of them can work out "
            "the rest"
        )
        yield Finding("", text, _against_small_pools(int(small.min()), scheme), True)
    elif sizes.size and sizes.min() < SMALL:
        text = f"{_pools(sizes[sizes < SMALL])}: anyone who knows most of them learns much about the rest"
        yield Finding("", text, f"{SMALL} records or more are safer", False)


def _pools(sizes: np.ndarray) -> str:
    """Say how many records small donor pools have."""
    if sizes.size == 1:
        return f"a donor pool has {sizes[0]} records"
    return (
        f"{sizes.size} donor pools have {sizes.sum():,} records in all, the smallest {sizes.min()}"
    )


def _against_small_pools(least: int, scheme: Any) -> str:
    """Name the remedies where the smallest donor pool has ``least`` records."""
    remedies = []
    if least >= FEWEST:  # enough under another p
        remedies.append(f"pass a {'smaller' if scheme.p > MIDDLE else 'larger'} p")
    if scheme.strata:
        remedies.append("merge strata, or leave them out")
    return ", ".join(remedies) or "publish no values of so few records"


def _of_order(x: np.ndarray, name: str) -> Iterator[Finding]:
    """Rows in the order of their values, or in blocks of similar ones: the place of a row tells
    its value."""
    first = irregular_rows(x.size - 1, COMPARED)
    first = first[~(np.isnan(x[first]) | np.isnan(x[first + 1]))]
    rank = ranks(x[first])
    after = ranks(x[first + 1])
    if rank.size < 3:
        return
    row = abs(pearson(rank, np.arange(rank.size)))
    beside = pearson(rank, after)
    most = max(row, beside)
    if most >= NEARLY:
        order = (
            "rows are in the order of their values"
            if row >= beside
            else "neighbouring rows are alike"
        )
        text = f"{order} (rank correlation {most:.2f}): the position of a row gives its value away"
        yield Finding(name, text, SHUFFLE, most >= IN_ORDER)


def irregular_rows(n: int, count: int) -> np.ndarray:
    """Return up to `count` of n row numbers in ascending order, one from each of equally long
    stretches.

    The place within a stretch follows multiples of the golden ratio. Evenly spaced rows would meet
    couples, quarters or weeks always at the same place in them. All rows are returned where there
    are no more.
    """
    if n <= count:
        return np.arange(max(n, 0))
    starts = np.arange(count + 1) * n // count
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    place = np.arange(count) * golden % 1.0
    return np.asarray(starts[:-1] + np.floor(place * np.diff(starts)).astype(np.int64))


def _of_rare(table: Table, name: str, scheme: Any) -> Iterator[Finding]:
    """Records that too often keep a rare value, and the first of some remedies that helps."""
    chances = too_often(table, name, scheme)
    if chances.size:
        one, many = ("", "s") if chances.size == 1 else ("s", "")
        who = f"{chances.size} record{one} with a rare value get{many} that value back"
        text = f"{who} with a chance above {OWN:g} (up to {chances.max():.2f})"
        yield Finding(name, text, against_rare(table, name, scheme), True)


def _of_ends(table: Table, name: str, scheme: Any) -> Iterator[Finding]:
    """How means at the ends change the standard deviation."""
    x = table.values[name].astype(np.float64)
    ends = scheme.aggregate_ends
    before = float(np.nanstd(x))
    if ends:
        aggregate(x, table.pool, ends)
    after = float(np.nanstd(x))
    if abs(after - before) > CHANGED * before:
        shown, changed = (number(value, before / 100.0) for value in (before, after))
        text = f"aggregate_ends={ends} changes the standard deviation from {shown} to {changed}"
        lost = f"({100.0 * (after / before - 1.0):+.1f}%), which analysts cannot undo"
        yield Finding(name, f"{text} {lost}", "", False)


def _of_zeros(x: np.ndarray, name: str, scheme: Any) -> Iterator[Finding]:
    """Zeros, which the log scale does not move: kept records show theirs."""
    share = float(np.mean(x[~np.isnan(x)] == 0.0)) if scheme.scale == "log" else 0.0
    if share > ZEROS:
        text = f'{share:.0%} of the values are zero and stay so under scale="log", as all kept records show'
        yield Finding(name, text, 'pass scale="linear" where it matters', False)
