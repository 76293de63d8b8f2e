"""Simulate insiders under reverse mapping, who know all but a few of the originals in a pool.

A release by reverse mapping holds every original once. So whoever knows all originals of a pool
but k has the other k values, without knowing whose they are. He weighs each pair of an unknown
record and one of the k values by the chance that the one is shown for the other, p / n + (1 - p)
M, scaled until rows and columns sum to one, since each value belongs to somebody. He also follows
chains: from a record to the owner of the value it shows, on to the owner of the value shown there,
and so on. The records of a chain were all kept or all swapped, since the values of either group
stay within it; where originals are known, the distances that their values moved tell which. The
better of both methods counts.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask._digits import line
from condmask.disclosure.column.joint_law import JointLaw, fullest
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentTypeError
from condmask.strata import values_by_pool

UNKNOWN_COUNTS = (1, 2, 5, 20)  # records of the pool; and a tenth and half of it
MAX_SIMULATED_RECORDS = 1_000  # records that stand for a larger pool
TARGET_RECORDS = 2_000
MIN_RELEASES = 4
MAX_RELEASES = 200  # records read in all, and releases drawn for it
SCALING_ROUNDS = 30  # until rows and columns of chances sum to one
INSIDER_SEED = 2019  # of the releases drawn
LEAST_CHANCE = 1e-9  # of what was seen
MAX_LOG_ODDS = 40.0
MAX_SUMMED_LOG_ODDS = 1e6  # logarithms of ratios of chances


class InsiderRisk(NamedTuple):
    """What is learned by an insider who knows all but a few of the originals in a donor pool.

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
    """

    n: int
    d: tuple[float, ...]
    unknown: tuple[int, ...]
    exact: np.ndarray
    within: np.ndarray

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for every number of unknown originals, with the shares of them guessed
        exactly and closer than each d."""
        names = ("unknown", "exact", *(f"within_{d:g}" for d in self.d))
        rows = zip(self.unknown, self.exact.tolist(), *self.within.T.tolist(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def __str__(self) -> str:
        cells = {"unknown": ["exactly", *(f"closer than {d:g}" for d in self.d)]}
        for k, *shares in (row.values() for row in self.rows()):
            cells[f"{k:,}"] = [f"{share:.2f}" for share in shares]
        rows = [line(f"{name:>10}", row, head=10, width=20) for name, row in cells.items()]
        what = (
            "Share of the unknown values that an insider finds out who knows all others "
            f"of {self.n:,}"
        )
        return "\n".join([what, *rows])


def insider_risk(table: Table, name: str, scheme: Any, d: tuple[float, ...]) -> InsiderRisk:
    """Return what an insider learns about the smallest pool of a column, by simulation.

    The draws are the same every time.

    Pools of more than 1,000 records are represented by 1,000 evenly spaced ones, and k by a tenth
    and half of these. Standard errors are at most .03. `aggregate_ends` is ignored: whoever knows
    all but one of the values behind a mean knows that one, too.
    """
    if not scheme.reverse_mapping:
        raise ArgumentTypeError(
            f"{scheme!r} has no reverse mapping, and figures of insiders are about that"
        )
    pools = [values for _, values in values_by_pool(table.values[name], table.pool)]
    whole = np.sort(min(pools, key=len))
    n = whole.size
    x = whole[evenly_spaced(whole.size, MAX_SIMULATED_RECORDS)]
    unknown = sorted({k for k in (*UNKNOWN_COUNTS, n // 10, n // 2) if 1 <= k < n})
    law = JointLaw.of(x, scheme, x.size)
    stream = np.random.default_rng(INSIDER_SEED)
    scheme = replace(scheme, aggregate_ends=0)
    shares = []
    for k in unknown:
        few = k if k in UNKNOWN_COUNTS else max(1, k * x.size // n)
        releases = int(np.clip(TARGET_RECORDS // few, MIN_RELEASES, MAX_RELEASES))
        found = sum(
            _hits_in_one_release(law, x, scheme, few, np.array(d), stream) for _ in range(releases)
        )
        shares.append(np.max(found, axis=0) / (releases * few))
    exact, *within = np.transpose(shares)
    return InsiderRisk(n, tuple(d), tuple(unknown), exact, np.transpose(within))


def _hits_in_one_release(
    law: JointLaw, x: np.ndarray, scheme: Any, k: int, d: np.ndarray, stream: np.random.Generator
) -> np.ndarray:
    """Return how many of k hidden originals are guessed in one release, exactly and by distance.

    The two rows are without and with the values that records with known originals show.
    """
    hidden = np.sort(stream.permutation(x.size)[:k])
    rank, shown = np.searchsorted(law.values, (x, scheme.mask_rows(x[None], stream, ())[0]))
    # how much likelier than by chance a kept record shows a value
    ratio = law.kept / (law.shares[:, None] * law.shares)
    of_hidden = ratio[np.ix_(rank[hidden], shown[hidden])].T
    # of the value that a record shows; any one if several have it
    owner = np.empty(x.size, dtype=np.int64)
    owner[np.lexsort((stream.random(x.size), shown))] = np.arange(x.size)
    log_odds = np.log(np.maximum(ratio[rank, shown], LEAST_CHANCE) / scheme.p)
    end, total = _next_hidden(owner, hidden, log_odds)
    kept = 1.0 / (
        1.0 + np.exp(-np.clip(total, -MAX_LOG_ODDS, MAX_LOG_ODDS))
    )  # as far as others tell
    of_value = np.empty(k)
    of_value[np.searchsorted(hidden, end)] = kept
    closed = hidden == end[:, None]
    both_kept = np.where(closed, kept[:, None], np.outer(kept, of_value))
    neither = np.where(closed, 1.0 - kept[:, None], np.outer(1.0 - kept, 1.0 - of_value))
    ways = (of_hidden + scheme.p, both_kept * of_hidden + neither * scheme.p)
    return np.array([_hits_by_weights(x[hidden], way, d) for way in ways])


def _next_hidden(
    owner: np.ndarray, hidden: np.ndarray, log_odds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Follow each hidden record from owner to owner up to the next hidden record.

    Returns these last records, and the sums of the log odds of the records in between.
    """
    onward = owner.copy()
    total = log_odds.copy()
    onward[hidden] = hidden
    total[hidden] = 0.0
    for _ in range(int(owner.size).bit_length()):  # twice as far each time
        total = np.clip(total + total[onward], -MAX_SUMMED_LOG_ODDS, MAX_SUMMED_LOG_ODDS)
        onward = onward[onward]
    return onward[owner[hidden]], total[owner[hidden]]


def _hits_by_weights(values: np.ndarray, chance: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return how many values are guessed exactly and closer than each distance.

    `chance` holds the weights of values (columns) for records (rows).
    """
    for _ in range(SCALING_ROUNDS):
        chance /= chance.sum(axis=0)
        chance /= chance.sum(axis=1)[:, None]
    distinct, first = np.unique(values, return_index=True)
    by_value = np.add.reduceat(chance, first, axis=1).round(9)  # rounding breaks no tie
    exact = distinct[np.argmax(by_value, axis=1)]
    near = [np.abs(values - fullest(values, chance.T, each)[1]) < each for each in d]
    return np.array([np.sum(found) for found in (exact == values, *near)], dtype=np.float64)
