"""Mask by reverse mapping: kept records get their own values back, in the order of their values
with noise.

Within each donor pool, with S the swapped records and K the kept ones::

    key = x + Y   or, on the log scale,   x exp(Y)
    z[S] = shuffle(x[S]),     z[K[argsort(key[K])]] = sort(x[K])

so a release is the column in another order, and that order is independent of the swap status
(docs/reverse_mapping.rst). Each record is given the number of the record whose value it gets, so
that values of any type are released as they are; only their order needs numbers.

Swap status (coins), words and noise are drawn as for every release (`draws`). The shuffle is the
order of the words of the swapped rows. Ties of keys are broken by words of the kept rows, which
stand in the same lane behind those of the swapped ones; the order of the rows would reveal who was
kept.

Cost: O(n), by counting sorts; O(n log n) where keys or values lie in a tiny part of their range.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from condmask._blocks import ordered_map
from condmask._randomness import DONOR, NOISE, Key, words
from condmask.grid import decimals_of
from condmask.kernels import cycle as cycles
from condmask.law import EXACT, Law
from condmask.masking.description import of_same_group, range_and_codes
from condmask.masking.draws import Tossed, in_order, split_by_words, toss, words_of_swapped
from condmask.masking.ends import aggregate, ends
from condmask.masking.parameters import NOT_ROUNDED, checked_parameters
from condmask.masking.scheme import Columns
from condmask.masking.swap_scheme import SwapScheme
from condmask.strata import Pools, by_stratum, names_of


class Rearranged(NamedTuple):
    """A column in the order in which it is released.

    Attributes
    ----------
    values : ndarray of shape (n,)
        As numbers, NaN where a value is missing.
    moves : sequence of (rows, donors)
        Two arrays of row numbers each: a row is released with the value of its donor. Other rows
        keep their own.
    ends : sequence of ndarray
        Groups of rows of which each is released with the mean of its values.
    """

    values: np.ndarray
    moves: Sequence[tuple[np.ndarray, np.ndarray]]
    ends: Sequence[np.ndarray] = ()

    def donors(self) -> np.ndarray:
        """Return the donor of each row, of shape (n,); a row without a value is its own."""
        donor = np.arange(self.values.size)
        for rows, givers in self.moves:
            donor[rows] = givers
        gaps = np.flatnonzero(np.isnan(self.values))
        donor[gaps] = gaps
        return donor


@dataclass(frozen=True, repr=False)
class ReverseMappingScheme(SwapScheme):
    """Parameters of reverse mapping, and how it masks.

    `condmask.ReverseMapping` documents the parameters.
    """

    title: ClassVar[str] = "reverse mapping"
    reverse_mapping: ClassVar[bool] = True
    releases_whole_numbers: ClassVar[bool] = True  # values of the data
    gathers: ClassVar[bool] = True
    law_of_estimates: ClassVar[Law] = EXACT  # the distribution is that of the data
    why_no_grid: ClassVar[str] = NOT_ROUNDED
    estimators: ClassVar[dict[str, Any]] = {"T_1": None}
    p: float
    sigma: float
    _: KW_ONLY
    noise: str = "normal"
    scale: str = "linear"
    # Any: a field holds one type, named in `Scheme`, and is made of several that may be given
    aggregate_ends: Any = 0
    range: Any = None
    strata: Any = None
    small_strata: str = "refuse"
    missing: Any = ()
    missing_as: str = "code"

    def __post_init__(self) -> None:
        for name, value in checked_parameters(self).items():
            object.__setattr__(self, name, value)

    @classmethod
    def masked_columns(
        cls,
        schemes: Sequence[Self],
        columns: list[np.ndarray],
        key: Key,
        pools: Pools | None,
        workers: int,
    ) -> list[np.ndarray]:
        """Mask columns that share one swap status; the arrays of the originals are overwritten."""
        return reverse_map_columns(schemes, columns, key, pools, workers)

    @classmethod
    def rearranged_columns(
        cls,
        schemes: Sequence[Self],
        columns: Sequence[np.ndarray],
        ranks: Sequence[np.ndarray | None],
        key: Key,
        pools: Pools | None,
        workers: int,
    ) -> Iterator[Rearranged]:
        """Yield columns that share one swap status, with the donor of each row."""
        return rearranged_columns(schemes, columns, ranks, key, pools, workers)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own, without strata, for studies."""
        return reverse_map_rows(x, self, stream)

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """Return a copy of the data, in which zero has no sign."""
        return np.asarray(x + 0.0)

    def decimals_in_text(self, z: np.ndarray) -> int | None:
        """Return the decimals that the values have; None for as many as each needs."""
        return decimals_of(z)

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        unit = " of the logarithm" if self.scale == "log" else ""
        groups = " and ".join(names_of(self.strata))
        within = of_same_group(self.strata)
        ends = ""
        if self.aggregate_ends:
            k = self.aggregate_ends
            of_each = f" of each {groups}" if groups else ""
            ends = (
                f", except that means stand for the {k} smallest and the {k} largest "
                f"values{of_each}"
            )
        return (
            f"the values are those of the original, each once, in another order{ends}. With "
            f"probability {self.p:g} a record shows the value of a random record{within}; the "
            f"others{within} were put in the order of their values with {self.noise} noise of "
            f"standard deviation {self.sigma:g}{unit}, and got their own values back in that "
            f"order; which of the two is not disclosed.{range_and_codes(self)}"
        )

    def key_entries(self) -> dict[str, Any]:
        """Return the parameters that enter the key of a release, under their earliest names.

        A range changes no value. The name of the scheme, "donors" and "patterns" are those of
        earlier versions: without them every key would be another one.
        """
        entries = self.to_dict()
        entries.pop("range", None)
        earlier = {"scheme": "ConditionalMasking", "reverse_mapping": True}
        return {**entries, **earlier, "donors": "permutation", "patterns": []}


def reverse_map_columns(
    schemes: Sequence[ReverseMappingScheme],
    columns: list[np.ndarray],
    key: Key,
    pools: Pools | None,
    workers: int,
) -> list[np.ndarray]:
    """Put columns of originals into the order of the release, and aggregate their ends."""
    ranks = [None] * len(columns)
    released = rearranged_columns(schemes, columns, ranks, key, pools, workers)
    return [column.values for column in released]


def rearranged_columns(
    schemes: Sequence[Any],
    columns: Sequence[np.ndarray],
    ranks: Sequence[np.ndarray | None],
    key: Key,
    pools: Pools | None,
    workers: int,
) -> Iterator[Rearranged]:
    """Yield columns in the order in which they are released, with aggregated ends.

    One swap status per record and one order of the swapped records for all columns; each column is
    mapped back by itself. Nothing depends on the number of workers.

    Parameters
    ----------
    schemes : sequence of ReverseMappingScheme
        One for each column.
    columns : sequence of ndarray of shape (n,)
        Originals as numbers, NaN where a value is missing; they are overwritten.
    ranks : sequence of ndarray of shape (n,), or None
        By column, the ranks of values that float64 does not tell apart; else None.
    key : Key
    pools : Pools or None
        Donor pools; None where all records are one.
    workers : int
    """
    pool = None if pools is None else pools.pool
    tossed = toss(key, schemes[0].p, columns[0].size, workers)
    swapped = by_pool(tossed.swapped, pool)
    donors = by_pool(tossed.swapped[in_order(words_of_swapped(key, tossed))], pool)
    for number, (x, rank, scheme) in enumerate(zip(columns, ranks, schemes, strict=True)):
        keys = _noisy_keys(x, scheme, key, tossed, number, workers)
        words_of_kept = partial(_words_of_kept, key, tossed)
        given_back = give_back(x, tossed.kept, keys, words_of_kept, pool, rank)
        x[swapped] = x[donors]
        released = Rearranged(x, (given_back, (swapped, donors)))
        if not scheme.aggregate_ends:
            yield released
        elif rank is None:
            yield released._replace(ends=aggregate(x, pool, scheme.aggregate_ends))
        else:
            order = np.where(np.isnan(x), np.nan, rank[released.donors()])
            groups = list(ends(order, pool, scheme.aggregate_ends))
            for rows in groups:
                x[rows] = x[rows].mean()
            yield released._replace(ends=groups)


def give_back(
    x: np.ndarray,
    kept: np.ndarray,
    keys: np.ndarray,
    ties: Callable[[], np.ndarray],
    pool: np.ndarray | None,
    rank: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Give the kept rows their own values back, in the order of their keys.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Originals, which the release replaces.
    kept, keys : ndarray
        The kept rows and their keys; NaN where a value is missing.
    ties : callable
        Draws one word for each kept row, by which equal keys are ordered.
    pool : ndarray of shape (n,), optional
        The pool of each row; None where all are one.
    rank : ndarray of shape (n,), optional
        The ranks of the values, where numbers of float64 do not tell them apart.

    Returns
    -------
    tuple of ndarray, ndarray
        Rows, and for each the row whose value it has now.
    """
    present = ~np.isnan(keys)
    rows = kept[present]
    keys = keys[present]
    order = ascending(keys)
    equal = keys[order[1:]] == keys[order[:-1]]
    if equal.any():
        group = np.cumsum(np.append(True, ~equal))
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        word = ties()[present][order[tied]]
        order[tied] = order[tied][np.lexsort((word, group[tied]))]
    values = x[rows] if rank is None else rank[rows].astype(np.float64)
    receivers = by_pool(rows[order], pool)
    givers = by_pool(rows[ascending(values)], pool)
    x[receivers] = x[givers]
    return receivers, givers


def by_pool(rows: np.ndarray, pool: np.ndarray | None) -> np.ndarray:
    """Sort rows by pool, keeping the given order within a pool; rows in no pool are left out."""
    return rows if pool is None else np.asarray(rows[by_stratum(pool[rows])[0]])


def ascending(values: np.ndarray) -> np.ndarray:
    """Return the positions of numbers in ascending order of the numbers."""
    order = np.empty(values.size, dtype=np.uint64)
    if cycles.order_floats(values.copy(), order, np.empty_like(order)):
        return order.astype(np.int64)
    return np.argsort(values)


def _noisy_keys(
    x: np.ndarray,
    scheme: ReverseMappingScheme,
    key: Key,
    tossed: Tossed,
    column: int,
    workers: int,
) -> np.ndarray:
    """Return the keys x + Y, or x exp(Y), of the kept rows; NaN where a value is missing."""
    law = Law(scheme.p, scheme.noise, scheme.sigma)
    before = tossed.kept_before

    def of_block(block: int) -> np.ndarray:
        rows = tossed.kept[before[block] : before[block + 1]]
        noise = law.draw(key.stream(block, NOISE, column), rows.size)
        return _with_noise(x[rows], noise, scheme.scale)

    return np.concatenate(list(ordered_map(of_block, range(before.size - 1), workers)))


def _words_of_kept(key: Key, tossed: Tossed) -> np.ndarray:
    """Draw one word for each kept row, after the words of the swapped rows of its block."""
    counts = zip(
        np.diff(tossed.swapped_before).tolist(), np.diff(tossed.kept_before).tolist(), strict=True
    )
    drawn = [words(key.stream(block, DONOR), s + k)[s:] for block, (s, k) in enumerate(counts)]
    return np.concatenate(drawn)


def reverse_map_rows(
    x: np.ndarray, scheme: ReverseMappingScheme, stream: np.random.Generator
) -> np.ndarray:
    """Mask every row of x on its own from one stream, for studies.

    The rows are masked as one file in which each row is a donor pool.
    """
    swapped, kept = split_by_words(words(stream, x.size), scheme.p)
    noise = Law(scheme.p, scheme.noise, scheme.sigma).draw(stream, kept.size)
    drawn = words(stream, swapped.size)
    ties = words(stream, kept.size)
    z = x.astype(np.float64).ravel()
    row = np.repeat(np.arange(len(x)), x.shape[1])
    give_back(z, kept, _with_noise(z[kept], noise, scheme.scale), lambda: ties, row)
    z[swapped] = z[by_pool(swapped[in_order(drawn)], row)]
    released: np.ndarray = z.reshape(x.shape)
    for released_row in released if scheme.aggregate_ends else ():
        aggregate(released_row, None, scheme.aggregate_ends)
    return released


def _with_noise(values: np.ndarray, noise: np.ndarray, scale: str) -> np.ndarray:
    """Return values plus noise, or times exp(noise) on the log scale."""
    if scale == "linear":
        return np.asarray(values + noise)
    with np.errstate(over="ignore"):
        return np.asarray(values * np.exp(noise * (values != 0.0)))
