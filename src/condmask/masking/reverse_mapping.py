"""Reverse mapping: the kept records get their own values back, in the order of their values with
noise.

Within each donor pool, with S the swapped records and K the kept ones::

    key = x + Y   or, on the log scale,   x exp(Y)
    z[S] = shuffle(x[S]),     z[K[argsort(key[K])]] = sort(x[K])

so a release is the column in another order, and that order is independent of the swap status
(docs/reverse_mapping.rst). Swap status (coins), words and noise are drawn as for every release
(`draws`). The shuffle is the order of the words of the swapped rows. Ties of keys are broken by
words of the kept rows, which stand in the same lane behind those of the swapped ones; the order of
the rows would reveal who was kept.

Cost: O(n), by counting sorts; O(n log n) where keys or values lie in a tiny part of their range.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from condmask._blocks import ordered_map
from condmask._randomness import DONOR, NOISE, Key, words
from condmask.grid import decimals_of
from condmask.kernels import cycle as cycles
from condmask.law import EXACT, Law
from condmask.masking import description
from condmask.masking.draws import Tossed, in_order, split, toss, words_of_swapped
from condmask.masking.ends import aggregate
from condmask.masking.parameters import NOT_ROUNDED, checked
from condmask.masking.scheme import Columns
from condmask.masking.swap_scheme import SwapScheme
from condmask.strata import Pools, by_stratum


@dataclass(frozen=True, repr=False)
class ReverseMappingScheme(SwapScheme):
    """Parameters of reverse mapping, and how it masks.

    `condmask.ReverseMapping` documents the parameters.
    """

    reverse_mapping: ClassVar[bool] = True
    releases_whole_numbers: ClassVar[bool] = True  # values of the data
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
        for name, value in checked(self).items():
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
        return mask_columns(schemes, columns, key, pools, workers)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own, without strata, for studies."""
        return mask_rows(x, self, stream)

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """Return a copy of the data, in which zero has no sign."""
        return np.asarray(x + 0.0)

    def decimals_in_text(self, z: np.ndarray) -> int | None:
        """Return the decimals that the values have; None for as many as each needs."""
        return decimals_of(z)

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        return description.reverse_mapping(self)

    def key_entries(self) -> dict[str, Any]:
        """Return the parameters that enter the key of a release, under their earliest names.

        A range changes no value. The name of the scheme, "donors" and "patterns" are those of
        earlier versions: without them every key would be another one.
        """
        entries = self.to_dict()
        entries.pop("range", None)
        earlier = {"scheme": "ConditionalMasking", "reverse_mapping": True}
        return {**entries, **earlier, "donors": "permutation", "patterns": []}


def mask_columns(
    schemes: Sequence[Any], columns: list[np.ndarray], key: Key, pools: Pools | None, workers: int
) -> list[np.ndarray]:
    """Columns of originals put into the order in which they are released, with aggregated ends.

    One swap status per record and one order of the swapped records for all columns; each column is
    mapped back by itself. Nothing depends on the number of workers.
    """
    pool = None if pools is None else pools.pool
    tossed = toss(key, schemes[0].p, columns[0].size, workers)
    swapped = by_pool(tossed.swapped, pool)
    donors = by_pool(tossed.swapped[in_order(words_of_swapped(key, tossed))], pool)
    for number, (x, scheme) in enumerate(zip(columns, schemes, strict=True)):
        keys = _keys(x, scheme, key, tossed, number, workers)
        give_back(x, tossed.kept, keys, partial(_words_of_kept, key, tossed), pool)
        x[swapped] = x[donors]
        if scheme.aggregate_ends:
            aggregate(x, pool, scheme.aggregate_ends)
    return columns


def give_back(
    x: np.ndarray,
    kept: np.ndarray,
    keys: np.ndarray,
    ties: Callable[[], np.ndarray],
    pool: np.ndarray | None,
) -> None:
    """Give the kept rows their own values back, in the order of their keys.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Originals, which the release replaces.
    kept, keys : ndarray
        The kept rows and their keys; NaN where a value is missing.
    ties : callable
        One word for each kept row, which part equal keys.
    pool : ndarray of shape (n,), optional
        The pool of each row; None where all are one.
    """
    there = ~np.isnan(keys)
    rows = kept[there]
    keys = keys[there]
    order = ascending(keys)
    equal = keys[order[1:]] == keys[order[:-1]]
    if equal.any():
        group = np.cumsum(np.append(True, ~equal))
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        word = ties()[there][order[tied]]
        order[tied] = order[tied][np.lexsort((word, group[tied]))]
    x[by_pool(rows[order], pool)] = x[by_pool(rows[ascending(x[rows])], pool)]


def by_pool(rows: np.ndarray, pool: np.ndarray | None) -> np.ndarray:
    """Rows by their pools, in a pool in the order given; rows in none are left out."""
    return rows if pool is None else np.asarray(rows[by_stratum(pool[rows])[0]])


def ascending(values: np.ndarray) -> np.ndarray:
    """The places of numbers from the smallest to the largest."""
    order = np.empty(values.size, dtype=np.uint64)
    if cycles.order_floats(values.copy(), order, np.empty_like(order)):
        return order.astype(np.int64)
    return np.argsort(values)


def _keys(
    x: np.ndarray, scheme: Any, key: Key, tossed: Tossed, column: int, workers: int
) -> np.ndarray:
    """The keys of the kept rows; NaN where a value is missing."""
    law = Law(scheme.p, scheme.noise, scheme.sigma)
    before = tossed.kept_before

    def of_block(block: int) -> np.ndarray:
        rows = tossed.kept[before[block] : before[block + 1]]
        noise = law.draw(key.stream(block, NOISE, column), rows.size)
        return _with_noise(x[rows], noise, scheme.scale)

    return np.concatenate(list(ordered_map(of_block, range(before.size - 1), workers)))


def _words_of_kept(key: Key, tossed: Tossed) -> np.ndarray:
    """One word for each kept row, from behind those of the swapped rows of its block."""
    counts = zip(
        np.diff(tossed.swapped_before).tolist(), np.diff(tossed.kept_before).tolist(), strict=True
    )
    drawn = [words(key.stream(block, DONOR), s + k)[s:] for block, (s, k) in enumerate(counts)]
    return np.concatenate(drawn)


def mask_rows(x: np.ndarray, scheme: Any, stream: np.random.Generator) -> np.ndarray:
    """Every row of x masked on its own from one stream, for studies: one file, in which each is a
    pool."""
    swapped, kept = split(words(stream, x.size), scheme.p)
    noise = Law(scheme.p, scheme.noise, scheme.sigma).draw(stream, kept.size)
    drawn = words(stream, swapped.size)
    ties = words(stream, kept.size)
    z = x.astype(np.float64).ravel()
    row = np.repeat(np.arange(len(x)), x.shape[1])
    give_back(z, kept, _with_noise(z[kept], noise, scheme.scale), lambda: ties, row)
    z[swapped] = z[by_pool(swapped[in_order(drawn)], row)]
    released: np.ndarray = z.reshape(x.shape)
    for own in released if scheme.aggregate_ends else ():
        aggregate(own, None, scheme.aggregate_ends)
    return released


def _with_noise(values: np.ndarray, noise: np.ndarray, scale: str) -> np.ndarray:
    """Values with noise, added or in the exponent."""
    if scale == "linear":
        return np.asarray(values + noise)
    with np.errstate(over="ignore"):
        return np.asarray(values * np.exp(noise * (values != 0.0)))
