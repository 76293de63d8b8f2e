"""Guard rails: find dangers that need no attack to be seen.

Donor pools so small that anyone who knows most of one can work out the rest; rows in the order of
a masked column; rare values that come back to their own records; and what a publisher would want
to know of: means in place of the ends, zeros that stay zeros, columns that name persons. All that
is found is said at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from condmask._digits import number
from condmask.changes import Change
from condmask.correlations import pearson, ranks
from condmask.disclosure.column.rare_values import MAX_OWN_VALUE_CHANCE, against_rare, too_often
from condmask.disclosure.policy import Finding
from condmask.disclosure.unmasked import Table
from condmask.masking.ends import aggregate
from condmask.strata import SMALLEST

MIN_POOL_RECORDS = 50
MIN_KEPT_RECORDS = 20
MIN_SWAPPED_RECORDS = 10
SMALL_POOL_RECORDS = 200  # records of a pool, by reverse mapping
MIN_GROUP_SHARE = 1e-9  # of records kept or swapped
RECORD_TOLERANCE = 1e-6  # of a record
EVEN_P = 0.5  # the p at which as many are kept as swapped
MIN_FILE_RECORDS = 100  # records in all, by additive noise
MAX_ORDER_CORRELATION = 0.95
WARN_ORDER_CORRELATION = 0.75  # rank correlations
# rows with the next one: a correlation of .8 passes for .95 with a chance below 1e-15
MAX_COMPARED_ROWS = 128
SHUFFLED = Change(shuffle=True)
SHUFFLE = SHUFFLED.in_words()
MAX_ZERO_SHARE = 0.02  # of the values
MIN_MENTIONED_CHANGE = 0.001  # of a standard deviation: the least change worth mentioning


def guard_rail_findings(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """Return all findings of the guard rails in columns to be masked and columns in clear."""
    return [*findings_without_simulation(table, schemes), *findings_on_values(table, schemes)]


def findings_without_simulation(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """List what is seen without simulation: small donor pools, rows in order, columns of names."""
    found = (
        []
        if table.scope == "sample"
        else list(_pool_findings(table, next(iter(schemes.values()))))
    )
    for name in schemes:
        found += _order_findings(table.values[name], name)
    for name in table.clear.identifiers if table.clear else ():
        text = f"{name} has a different value in every record examined and is released unmasked"
        change = Change(drop=(name,))
        remedy = f"{change.in_words()} if it identifies persons"
        found.append(Finding("C20", "", text, remedy, change=change))
    return found


def findings_on_values(table: Table, schemes: dict[str, Any]) -> list[Finding]:
    """List what reverse mapping does to rare values, ends and zeros; a sample does not show it."""
    found: list[Finding] = []
    for name, scheme in schemes.items():
        if scheme.reverse_mapping and table.scope != "sample":
            found += _rare_value_findings(table, name, schemes)
            found += _end_findings(table, name, scheme)
            found += _zero_findings(table.values[name], name, scheme)
    return found


def min_pool_records(scheme: Any) -> int:
    """Return how many records a donor pool of an audited release must have."""
    if not scheme.reverse_mapping:
        return SMALLEST
    kept = MIN_KEPT_RECORDS / max(1.0 - scheme.p, MIN_GROUP_SHARE)
    swapped = MIN_SWAPPED_RECORDS / max(scheme.p, MIN_GROUP_SHARE)
    return int(
        max(
            MIN_POOL_RECORDS,
            math.ceil(kept - RECORD_TOLERANCE),
            math.ceil(swapped - RECORD_TOLERANCE),
        )
    )


def _pool_findings(table: Table, scheme: Any) -> Iterator[Finding]:
    """Find donor pools, and files, with too few records.

    A release by reverse mapping holds each original of a pool once.
    """
    code = table.code
    if not scheme.reverse_mapping:
        if (n := int(np.count_nonzero(code >= 0))) < MIN_FILE_RECORDS:
            text = f"{n} records are too few to judge what a release of them shows"
            yield Finding("C19", "", text)
        return
    sizes = np.bincount(code[code >= 0])
    sizes = sizes[sizes > 0]
    needed = min_pool_records(scheme)
    small = sizes[sizes < needed]
    if small.size:
        at = f" at p={scheme.p:g}" if needed > MIN_POOL_RECORDS else ""
        text = (
            f"{_pools_in_words(small)}, fewer than {needed}{at}: anyone who knows most "
            "of these records can work out the rest"
        )
        change = Change(no_strata=True) if scheme.strata else None
        remedy = _remedy_for_small_pools(int(small.min()), scheme)
        yield Finding("C6", "", text, remedy, change=change)
    elif sizes.size and sizes.min() < SMALL_POOL_RECORDS:
        text = (
            f"{_pools_in_words(sizes[sizes < SMALL_POOL_RECORDS])}: anyone who knows most of "
            "these records learns much about the rest"
        )
        yield Finding("C16", "", text, f"at least {SMALL_POOL_RECORDS} records are safer")


def _pools_in_words(sizes: np.ndarray) -> str:
    """Say how many records small donor pools have."""
    if sizes.size == 1:
        return f"a donor pool has {sizes[0]} records"
    return (
        f"{sizes.size} donor pools have {sizes.sum():,} records in all, the smallest {sizes.min()}"
    )


def _remedy_for_small_pools(least: int, scheme: Any) -> str:
    """Name the remedies where the smallest donor pool has ``least`` records."""
    remedies = []
    if least >= MIN_POOL_RECORDS:  # enough under another p
        remedies.append(f"pass a {'smaller' if scheme.p > EVEN_P else 'larger'} p")
    if scheme.strata:
        remedies.append("merge strata, or leave them out")
    return ", ".join(remedies) or "publish no values of so few records"


def _order_findings(x: np.ndarray, name: str) -> Iterator[Finding]:
    """Find rows in the order of their values, or near rows with similar values."""
    first = irregular_rows(x.size - 1, MAX_COMPARED_ROWS)
    first = first[~(np.isnan(x[first]) | np.isnan(x[first + 1]))]
    rank = ranks(x[first])
    after = ranks(x[first + 1])
    if rank.size < 3:
        return
    row = abs(pearson(rank, np.arange(rank.size)))
    beside = pearson(rank, after)
    most = max(row, beside)
    if most >= WARN_ORDER_CORRELATION:
        order = (
            "rows are in the order of their values"
            if row >= beside
            else "neighbouring rows are alike"
        )
        text = f"{order} (rank correlation {most:.2f}): the position of a row gives its value away"
        code = "C8" if most >= MAX_ORDER_CORRELATION else "C18"
        yield Finding(code, name, text, SHUFFLE, change=SHUFFLED)


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


def _rare_value_findings(table: Table, name: str, schemes: dict[str, Any]) -> Iterator[Finding]:
    """Find records that keep a rare value too often, with the first remedy that helps."""
    scheme = schemes[name]
    chances = too_often(table, name, scheme)
    if chances.size:
        records = "record" if chances.size == 1 else "records"
        text = (
            f"{chances.size} {records} with a rare value would keep it with probability above "
            f"{MAX_OWN_VALUE_CHANCE:g} (up to {chances.max():.2f})"
        )
        options = against_rare(table, name, scheme)
        remedy = ", ".join(f"{key}={value:g}" for key, value in options.items())
        whole = " for all columns" if "p" in options and len(schemes) > 1 else ""
        remedy = f"pass {remedy}{whole}" if options else "drop these records"
        yield Finding("C7", name, text, remedy, change=_with_options(name, schemes, options))


def _with_options(
    name: str, schemes: dict[str, Any], options: Mapping[str, float]
) -> Change | None:
    """Return the change to schemes of which one has other parameters; p is the same in all."""
    if not options:
        return None
    changed = {**schemes, name: replace(schemes[name], **options)}
    if "p" in options:
        changed = {each: replace(of, p=options["p"]) for each, of in changed.items()}
    return Change(schemes=changed)


def _end_findings(table: Table, name: str, scheme: Any) -> Iterator[Finding]:
    """Find a standard deviation that means at the ends change."""
    x = table.values[name].astype(np.float64)
    ends = scheme.aggregate_ends
    before = float(np.nanstd(x))
    if ends:
        aggregate(x, table.pool, ends)
    after = float(np.nanstd(x))
    if abs(after - before) > MIN_MENTIONED_CHANGE * before:
        shown, changed = (number(value, before / 100.0) for value in (before, after))
        text = f"aggregate_ends={ends} changes the standard deviation from {shown} to {changed}"
        lost = f"({100.0 * (after / before - 1.0):+.1f}%), which analysts cannot undo"
        yield Finding("C22", name, f"{text} {lost}")


def _zero_findings(x: np.ndarray, name: str, scheme: Any) -> Iterator[Finding]:
    """Find zeros, which noise on the log scale does not move: kept records show theirs."""
    share = float(np.mean(x[~np.isnan(x)] == 0.0)) if scheme.scale == "log" else 0.0
    if share > MAX_ZERO_SHARE:
        text = (
            f'{share:.0%} of the values are zero and stay so under scale="log", as all '
            "kept records show"
        )
        yield Finding("C17", name, text, 'pass scale="linear" where it matters')
