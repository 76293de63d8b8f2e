"""Rare values under reverse mapping: how often records get them back, or values near them, and
what helps.

A record with few others within a sigma is likely to get its own value back where it is kept. What
becomes of such records is simulated among their neighbours, with the same draws in every run. The
smallest and largest values may be released as their means.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask.disclosure.column.joint_law import JointLaw
from condmask.disclosure.scale import two_digits
from condmask.disclosure.unmasked import Table
from condmask.law import Law
from condmask.masking.ends import AUTO
from condmask.reverse_mapping.mapping import places
from condmask.strata import values_by_pool

MAX_OWN_VALUE_CHANCE = 0.3  # the chance that a record keeps a rare value
END_COUNTS = (3, 5)
WIDER_FACTORS = (
    1.5,
    2.0,
    3.0,
    5.0,
)  # remedies: values at either end that become means; times sigma
MAX_RARE_SHARE = 0.01  # the share of a value that is no longer rare
NEIGHBOUR_SIGMAS = 1.5  # sigmas to either side of a record, in which its neighbours are
MIN_KEPT_NEIGHBOURS = 12.0  # kept ones: so many bring the chance of the own value below a tenth
MAX_RARE_RECORDS = 512
MAX_LONELY_RECORDS = 300  # records, the loneliest; neighbours of one on either side
MAX_SIGMAS_APART = 8.0  # sigmas: records farther away hardly ever come between
MAPS = 300
MAX_DRAWS_AT_ONCE = 131_072  # simulated, and draws at once
EQUAL = float(np.finfo(np.float64).tiny)  # nearer than this lie equal values alone


def too_often(table: Table, name: str, scheme: Any) -> np.ndarray:
    """The chances above `OWN` that records with a rare value show it."""
    if not scheme.reverse_mapping or scheme.p >= 1.0 - MAX_OWN_VALUE_CHANCE:
        return np.empty(0)
    chances = [
        own_value_chances(x, scheme) for _, x in values_by_pool(table.values[name], table.pool)
    ]
    return np.concatenate([some[some > MAX_OWN_VALUE_CHANCE] for some in chances] or [np.empty(0)])


def with_ends(table: Table, name: str, scheme: Any) -> Any:
    """A scheme with the fewest values at its ends released as means, none, 3 or 5, under which no
    rare value comes back too often; with none where that does not help."""
    tried = [replace(scheme, aggregate_ends=count) for count in (0, *END_COUNTS)]
    return next((each for each in tried if not too_often(table, name, each).size), tried[0])


def open_ends(schemes: dict[str, Any]) -> list[str]:
    """The columns whose schemes leave the number of ends to the data."""
    return [
        name for name, scheme in schemes.items() if getattr(scheme, "aggregate_ends", 0) == AUTO
    ]


def against_rare(table: Table, name: str, scheme: Any) -> dict[str, float]:
    """Return the first of other parameters that helps, those first that cost analysts least;
    empty if none does."""
    ends = max(scheme.aggregate_ends, END_COUNTS[0])
    tries: list[dict[str, float]] = [
        {"aggregate_ends": k} for k in END_COUNTS if k > scheme.aggregate_ends
    ]
    tries += [
        {"sigma": two_digits(k * scheme.sigma), "aggregate_ends": ends} for k in WIDER_FACTORS
    ]
    for options in [*tries, {"p": 1.0 - MAX_OWN_VALUE_CHANCE}]:
        if not too_often(table, name, replace(scheme, **options)).size:
            return {key: value for key, value in options.items() if value != getattr(scheme, key)}
    return {}


def own_value_chances(x: np.ndarray, scheme: Any, near: float = EQUAL) -> np.ndarray:
    """The chances of records of one pool with a rare value that they show it, or another one
    nearer than d.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Originals of one donor pool, none missing.
    scheme : ReverseMappingScheme
        With reverse mapping.
    near : float
        d, in the units of the data; by default for the same value alone.

    Returns
    -------
    ndarray
        One chance for each record with a rare value; empty if there are none.
    """
    ordered = np.sort(x)
    at = places(ordered, scheme.sigma, scheme.scale)
    rare = _rare(ordered, at, scheme)
    first = np.maximum(rare - MAX_LONELY_RECORDS, np.searchsorted(at, at[rare] - MAX_SIGMAS_APART))
    last = np.minimum(
        rare + MAX_LONELY_RECORDS + 1,
        np.searchsorted(at, at[rare] + MAX_SIGMAS_APART, side="right"),
    )
    some = np.unique(np.concatenate([rare, *map(np.arange, first, last)]))  # who may come between
    values = ordered[some]
    (times, hits) = np.zeros((2, some.size))
    draws = np.random.default_rng(0)
    law = Law(scheme.p, scheme.noise, 1.0)  # the same in every run
    near_by = places(values, scheme.sigma, scheme.scale)
    for start, stop in blocks(MAPS, 1 + MAX_DRAWS_AT_ONCE // max(1, values.size)):
        kept = draws.random((stop - start, values.size)) >= scheme.p
        keys = near_by + law.draw(draws, kept.shape)
        keys[~kept] = np.nan  # to the end
        among = np.arange(values.size) < kept.sum(axis=1)[:, None]
        record = np.argsort(keys, axis=1)[among]
        value = np.nonzero(kept)[1]
        close = np.abs(values[record] - values[value]) < near
        times += np.bincount(record, minlength=values.size)
        hits += np.bincount(record[close], minlength=values.size)
    own = np.searchsorted(some, rare)
    kept = (1.0 - scheme.p) * hits[own] / np.maximum(times[own], 1.0)
    return np.asarray(kept + _by_swapping(ordered, ordered[rare], scheme.p, near))


def most_exposed(x: np.ndarray, scheme: Any, law: JointLaw, d: float) -> float:
    """The greatest chance of a record of one pool that what it shows is nearer than d to its
    original."""
    return float(own_value_chances(x, scheme, d).max(initial=law.shown(d).max()))


def _by_swapping(ordered: np.ndarray, own: np.ndarray, p: float, near: float) -> np.ndarray:
    """The chances that records are swapped and show a value nearer than d, their own or
    another's."""
    n = ordered.size
    first = np.searchsorted(
        ordered, np.minimum(own - near, np.nextafter(own, -np.inf)), side="right"
    )
    last = np.searchsorted(ordered, np.maximum(own + near, np.nextafter(own, np.inf)))
    itself = (1.0 - (1.0 - p) ** n) / n
    return np.asarray(itself + (p - itself) * (last - first - 1) / max(n - 1, 1))


def _rare(ordered: np.ndarray, at: np.ndarray, scheme: Any) -> np.ndarray:
    """Records with few neighbours and a rare value, the loneliest, in ascending order."""
    few = MIN_KEPT_NEIGHBOURS / (1.0 - scheme.p)
    n = at.size
    half = min(int(few) // 2 + 1, n // 2)
    # how far so many neighbours reach: most records have theirs within a sigma
    around = np.full(n, np.inf)
    around[half : n - half] = at[2 * half :] - at[: n - 2 * half]
    maybe = np.flatnonzero(around > NEIGHBOUR_SIGMAS)
    first = np.searchsorted(at, at[maybe] - NEIGHBOUR_SIGMAS)
    beside = np.searchsorted(at, at[maybe] + NEIGHBOUR_SIGMAS, side="right") - first
    lonely = maybe[beside < few]
    beside = beside[beside < few]
    same = np.searchsorted(ordered, ordered[lonely], side="right") - np.searchsorted(
        ordered, ordered[lonely]
    )
    ends = scheme.aggregate_ends
    rare = (same < max(2.0, MAX_RARE_SHARE * n)) & (lonely >= ends) & (lonely < n - ends)
    order = np.argsort(beside[rare], kind="stable")[:MAX_RARE_RECORDS]
    return np.sort(lonely[rare][order])
