"""Insiders: they know all originals of a donor pool but a few, and strike these out of the release."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import evenly_spaced
from condmask._digits import line
from condmask.disclosure import simulated_maps
from condmask.disclosure.pools import pools_of
from condmask.disclosure.reverse_mapped import ReverseMapped
from condmask.disclosure.risk import checked_distances
from condmask.errors import ArgumentTypeError
from condmask.kernels.reverse_mapping import balance
from condmask.kernels.windows import best_of_points
from condmask.scheme import Scheme

UNKNOWN = (1, 2, 5, 20)  # records of the pool; and a tenth and half of it
SIMULATED = 1_000  # records that stand for a larger pool
HITS, LEAST, MOST = 2_000, 4, 200  # records read in all, and releases drawn for it
ROUNDS = 30  # until rows and columns of chances sum to one
SEED = 2019  # of the releases drawn
LEAST_CHANCE = 1e-9  # of what was seen
FAR, FARTHEST = 40.0, 1e6  # logarithms of ratios of chances


@dataclass(frozen=True, eq=False, repr=False)
class InsiderRisk:
    """What an insider learns who knows all originals of a donor pool but a few.

    Made by `insider_risk`; ``print`` shows it as a table.

    Attributes
    ----------
    n : int
        Number of records of the smallest pool.
    d : tuple of float
        Distances, in the units of the data.
    unknown : tuple of int
        How many originals the insider does not know.
    exact : ndarray of shape (unknown,)
        The share of these that the insider guesses exactly.
    within : ndarray of shape (unknown, distances)
        The share that the insider guesses closer than d.
    additive_exact, additive_within : ndarray
        The same if kept records showed their values with noise instead.
    """

    n: int
    d: tuple[float, ...]
    unknown: tuple[int, ...]
    exact: np.ndarray
    within: np.ndarray
    additive_exact: np.ndarray
    additive_within: np.ndarray

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every number of unknown originals: shares of them, by reverse mapping and additive."""
        return [
            {
                "unknown": k, "exact": float(self.exact[i]), "within": self.within[i].tolist(),
                "additive_exact": float(self.additive_exact[i]),
                "additive_within": self.additive_within[i].tolist(),
            }
            for i, k in enumerate(self.unknown)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The risk in terms of JSON."""
        return {"n": self.n, "d": list(self.d), "insiders": self.rows()}

    def to_frame(self) -> Any:
        """The rows as a pandas data frame, a column for each distance."""
        rows = []
        for row in self.rows():
            flat = {name: value for name, value in row.items() if not isinstance(value, list)}
            for name in ("within", "additive_within"):
                flat |= {f"{name}_{d:g}": value for d, value in zip(self.d, row[name], strict=True)}
            rows.append(flat)
        return frames.of_rows(rows)

    def __repr__(self) -> str:
        return f"InsiderRisk(n={self.n}, d={self.d}, unknown={self.unknown})"

    def __str__(self) -> str:
        lines = [
            f"Share of the unknown values that an insider finds out who knows all others of a pool of "
            f"{self.n:,}; in brackets, with additive noise",
            line(f"{'unknown':>10}", ("exactly", *(f"closer than {d:g}" for d in self.d)), head=10, width=20),
        ]
        for i, k in enumerate(self.unknown):
            reversed_, additive = (
                (self.exact[i], *self.within[i]),
                (self.additive_exact[i], *self.additive_within[i]),
            )
            cells = (f"{a:.2f} ({b:.2f})" for a, b in zip(reversed_, additive, strict=True))
            lines.append(line(f"{k:>10,}", cells, head=10, width=20))
        return "\n".join(lines)


def insider_risk(x: Any, scheme: Any, *, d: Any, strata: Any = None) -> InsiderRisk:
    """What an insider learns who knows all originals of a donor pool but a few.

    A release by reverse mapping contains every original once. So anyone who knows all originals of a pool but
    k can strike them out and has the other k values, without knowing whose they are.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    scheme : ConditionalMasking
        With ``reverse_mapping=True``.
    d : float or array_like of shape (distances,)
        How near a guess must come to count, in the units of the data; at most 100 distances.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata.

    Returns
    -------
    InsiderRisk
        For k = 1, 2, 5, 20, a tenth and half of the smallest pool: the share of the k values that the insider
        guesses exactly, and closer than d; and the same for additive noise with the same p, noise and sigma,
        where kept records show their values with noise and swapped ones take their values from one another.

    Raises
    ------
    ValueError
        If the scheme cannot take the data, or a distance is negative.
    TypeError
        If the scheme is one without reverse mapping.

    See Also
    --------
    risk : attackers who know no original.

    Notes
    -----
    The figures are simulated, with the same draws in every run: 2,000 unknown records, or 200 releases.
    Standard errors are at most .03. The insider weighs each pair of an unknown record and one of the k values
    by the chance that the one is shown for the other, p / n + (1 - p) M, and scales these weights until rows
    and columns sum to one, since each value belongs to somebody. The insider also follows chains: from a
    record to the owner of the value it shows, on to the owner of the value shown there, and so on. The
    records of a chain were all kept or all swapped, since the values of either group stay within it; where
    the insider knows originals, the distances their values moved show which. The better of both methods
    counts. Where several records share a value, the insider continues with any of them.

    With additive noise, the insider knows which originals are in the release. So records that show a known
    original were swapped, and their own values are among the unknown ones in the release. The other records
    are attacked as the best attacker of `risk` does.

    Pools of more than 1,000 records are represented by 1,000 evenly spaced ones, and k by a tenth and half of
    these; the share guessed exactly is then smaller in the whole pool. `aggregate_ends` is ignored: anyone
    who knows all but one of the values behind a mean knows that one, too.

    Cost: O(1) except for sorting, .5 s.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).normal(0, 1, 200)
    >>> scheme = cm.ConditionalMasking(0.6, 0.3, reverse_mapping=True)
    >>> found = cm.insider_risk(x, scheme, d=0.1)
    >>> found.unknown, float(found.exact[0])
    ((1, 2, 5, 20, 100), 1.0)
    >>> bool(found.exact[1] > 0.7), bool(found.exact[3] < 0.3)
    (True, True)
    """
    if not isinstance(scheme, Scheme) or not scheme.reverse_mapping:
        raise ArgumentTypeError(
            f"scheme must be ConditionalMasking with reverse_mapping=True, got {_checks.shown(scheme)}"
        )
    distances = checked_distances(d)
    smallest = min(
        (pool for _, pool in pools_of(x, scheme, strata, "insider_risk").pools), key=lambda pool: pool.n
    )
    n, ordered = smallest.n, np.sort(smallest.units)[evenly_spaced(smallest.n, SIMULATED)]
    pool = ReverseMapped(ordered, ordered, smallest.kind, scheme)
    unknown = sorted({k for k in (*UNKNOWN, n // 10, n // 2) if 1 <= k < n})
    stream = np.random.default_rng(SEED)
    shares = []
    for k in unknown:
        few = k if k in UNKNOWN else max(1, k * pool.n // n)
        shares.append(_shares(pool, few, distances, stream))
    reversed_, additive = np.array(shares).transpose(1, 0, 2)
    within = reversed_[:, 1:], additive[:, 1:]
    return InsiderRisk(
        n, tuple(distances.tolist()), tuple(unknown), reversed_[:, 0], within[0], additive[:, 0], within[1]
    )


def _shares(pool: ReverseMapped, k: int, d: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """The shares of k unknown originals guessed exactly and closer than each distance, both ways."""
    releases = int(np.clip(HITS // k, LEAST, MOST))
    total = np.zeros((3, 1 + d.size))
    for _ in range(releases):
        hidden = np.sort(stream.permutation(pool.n)[:k])
        total += np.vstack([_reverse(pool, hidden, d, stream), _additive(pool, hidden, d, stream)])
    total /= releases * k
    return np.array([total[:2].max(axis=0), total[2]])


def _reverse(
    pool: ReverseMapped, hidden: np.ndarray, d: np.ndarray, stream: np.random.Generator
) -> np.ndarray:
    """How many hidden originals are guessed exactly and closer than each distance, in one release.

    Two rows: without and with what the records show whose originals are known.
    """
    source = simulated_maps.release(pool.units, pool.scheme, stream)
    rank, n, p = pool.rank, pool.n, pool.law.p
    shown = np.diff(pool.counted[1])[rank[source]] / n
    low, high = pool.cuts[rank[source]], pool.cuts[rank[source] + 1]
    kept = (1.0 - p) * pool.keys.chances(pool.keys.at[rank], low, high) / shown
    k = hidden.size
    of_hidden = pool.keys.chances(
        np.tile(pool.keys.at[rank[hidden]], k), np.repeat(low[hidden], k), np.repeat(high[hidden], k)
    )
    of_hidden = (1.0 - p) * of_hidden.reshape(k, k) / shown[hidden, None]
    owner = np.empty(n, dtype=np.int64)  # of the value that a record shows; any one if several have it
    owner[np.lexsort((stream.random(n), rank[source]))] = np.arange(n)
    end, log_odds = followed(owner, hidden, np.log(np.maximum(kept, LEAST_CHANCE) / p))
    kept_chance = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -FAR, FAR)))  # kept, as far as others tell
    of_value = np.empty(k)
    of_value[np.searchsorted(hidden, end)] = kept_chance
    both = np.outer(kept_chance, of_value), np.outer(1.0 - kept_chance, 1.0 - of_value)
    closed = hidden == end[:, None]
    both = (
        np.where(closed, kept_chance[:, None], both[0]),
        np.where(closed, 1.0 - kept_chance[:, None], both[1]),
    )
    ways = (of_hidden + p, both[0] * of_hidden + both[1] * p)
    return np.array([_named(pool, hidden, way, d) for way in ways])


def followed(owner: np.ndarray, hidden: np.ndarray, log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Follow each hidden record to the owner of the value it shows, and so on, up to the next hidden record.

    Returns these last records, and the sums of the log odds of the records in between: along a cycle all
    records were kept or all were swapped, since the values of either group stay within it.
    """
    onward, total = owner.copy(), log_odds.copy()
    onward[hidden], total[hidden] = hidden, 0.0
    for _ in range(int(owner.size).bit_length()):  # twice as far each time
        total = np.clip(total + total[onward], -FARTHEST, FARTHEST)
        onward = onward[onward]
    return onward[owner[hidden]], total[owner[hidden]]


def _named(pool: ReverseMapped, hidden: np.ndarray, chance: np.ndarray, d: np.ndarray) -> np.ndarray:
    """How many are guessed exactly and closer than each distance, by weights of records (rows) and values."""
    values = pool.units[hidden]
    balance(chance, ROUNDS)
    first = np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)
    guess = values[first][np.argmax(np.add.reduceat(chance, first, axis=1), axis=1)]
    return np.append(
        np.sum(guess == values), _near(pool, np.tile(values, (hidden.size, 1)), chance, d, values)
    )


def _additive(
    pool: ReverseMapped, hidden: np.ndarray, d: np.ndarray, stream: np.random.Generator
) -> np.ndarray:
    """How many hidden originals are guessed where kept records show noise and donors form one cycle."""
    n, p, k = pool.n, pool.law.p, hidden.size
    is_swapped, source, is_known = stream.random(n) < p, np.arange(n), np.ones(n, dtype=bool)
    swapped = stream.permutation(np.flatnonzero(is_swapped))
    source[swapped], is_known[hidden] = np.roll(swapped, 1), False
    line = pool.keys.at[pool.rank]
    z = np.where(is_swapped, line[source], line + pool.law._replace(sigma=1.0).draw(stream, n))[hidden]
    within, exact = np.zeros(d.size), 0.0
    # hidden originals, shown by known records
    shown = np.sort(source[is_swapped & is_known & ~is_known[source]])
    sure = is_swapped[hidden] & is_known[source[hidden]]  # they show known originals
    end, _ = followed(source, hidden, np.zeros(n))
    for row, last in zip(hidden[sure], end[sure], strict=True):
        some = shown[shown != last] if shown.size > 1 else shown  # a cycle does not close at once
        exact += np.sum(some == row) / max(1, some.size)
        points = pool.units[some if some.size else is_known][None]
        within += _near(pool, points, np.ones(points.shape), d, pool.units[[row]])
    if not sure.all():
        others = np.flatnonzero(is_known)
        apart = z[~sure, None] - line[others]
        kept = np.exp(-0.5 * apart**2 if pool.law.noise == "normal" else -np.sqrt(2.0) * np.abs(apart))
        share = p * (k - 1) / (n - 1)  # swapped with another hidden one
        kept *= (1.0 - p) / np.maximum(kept.sum(axis=1, keepdims=True), LEAST_CHANCE)
        points = np.tile(pool.units[others], (apart.shape[0], 1))
        within += _near(pool, points, kept + share / others.size, d, pool.units[hidden[~sure]])
    return np.append(exact, within)


def _near(
    pool: ReverseMapped, points: np.ndarray, weights: np.ndarray, d: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """How many of some originals lie in the windows with the greatest weight; points ascend in each row."""
    wide, first = pool.wide(d), np.empty((points.shape[0], d.size))
    best_of_points(points, weights, wide, first)
    return np.asarray(np.sum((first <= values[:, None]) & (values[:, None] < first + wide), axis=0))
