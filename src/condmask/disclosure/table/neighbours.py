"""Learn from other records: of the same group, or near in some order.

A group, a window of rows and a period are one thing here: for each record a set of others. What is
known of these, less what is predicted for them, is averaged without the record itself, and the
mean is shrunk as serves those who teach best. Several sets are used in turns, each on what the
others leave (backfitting).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

KAPPAS = np.array([0.1, 0.5, 2.0, 8.0, 30.0])  # records that the overall mean counts as
MIN_GAIN = 0.004  # of the variance, for which a further set is used
MIN_GAIN_RECORDS = 8.0  # the same, over the number of records that teach


class Neighbours(Protocol):
    """For each record a set of others."""

    @property
    def name(self) -> str:
        """Return how messages call it."""
        ...

    def others(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the other records of each record's set."""
        ...


class Group(NamedTuple):
    """The others with the same code.

    Attributes
    ----------
    name : str
    codes : ndarray of int of shape (n,)
        At least 0; a record whose code is missing has one of its own.
    structural : bool
        Whether columns name each other, so that it is a unit however alike its records are.
    """

    name: str
    codes: np.ndarray
    structural: bool = False

    def others(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the other records of the group."""
        return np.asarray(np.bincount(self.codes, values)[self.codes] - values)

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of records of each group, without empty ones."""
        counts = np.bincount(self.codes)
        return np.asarray(counts[counts > 0])


class Nearest(NamedTuple):
    """The others that are nearest in two columns, such as coordinates."""

    columns: tuple[str, str]
    at: np.ndarray

    @property
    def name(self) -> str:
        """Return both columns."""
        return " and ".join(self.columns)

    def others(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the nearest other records."""
        return np.asarray(values[self.at].sum(axis=1))


class Stretch(NamedTuple):
    """The others from ``low`` up to ``high`` in an order."""

    name: str
    order: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Return by record how many the stretch holds, with the record itself."""
        counts = np.empty(self.order.size)
        counts[self.order] = self.high - self.low
        return counts

    def others(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the other records of the stretch."""
        running = np.concatenate(([0.0], np.cumsum(values[self.order])))
        sums = np.empty(values.size)
        sums[self.order] = running[self.high] - running[self.low]
        return np.asarray(sums - values)


def group(name: str, codes: np.ndarray, *, structural: bool = False) -> Group:
    """Return the groups of equal codes; a record whose code is below 0 has no others."""
    alone = codes.max(initial=-1) + 1 + np.arange(codes.size)
    filled = np.where(codes < 0, alone, codes)
    return Group(name, np.unique(filled, return_inverse=True)[1], structural)


def stretch(name: str, codes: np.ndarray, by: np.ndarray, width: int) -> Stretch:
    """Return the others of a group that are at most ``width`` places away in the order ``by``."""
    return stretches(name, codes, by, [width])[0]


def stretches(
    name: str, codes: np.ndarray, by: np.ndarray, widths: Sequence[int]
) -> list[Stretch]:
    """Return the same for several widths."""
    order = np.lexsort((by, codes))
    first, size = runs(codes[order])
    start = np.repeat(first, size)
    end = np.repeat(first + size, size)
    place = np.arange(order.size)
    return [
        Stretch(name, order, np.maximum(start, place - width), np.minimum(end, place + width + 1))
        for width in widths
    ]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs of equal values start, and their lengths."""
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    first = np.concatenate(([0], changes))
    return first, np.diff(np.append(first, ordered.size))


class Shrunk(NamedTuple):
    """Shrunk means of what is known of others, and the reduction of the mean squared error."""

    mean: np.ndarray
    gain: float


def shrunk(
    near: Neighbours,
    value: np.ndarray,
    known: np.ndarray,
    target: np.ndarray,
    teach: np.ndarray,
    count: np.ndarray | None = None,
) -> Shrunk:
    """Return the means of ``value`` over others, shrunk as serves ``teach`` best.

    ``known`` is the weight of each record, 0 where its value is not known, and ``count`` the sum
    of the weights of the others, where the caller has it.
    """
    sums = near.others(known * value)
    if count is None:
        count = near.others(known * 1.0)
    wanted = target[teach]
    guesses = sums[teach] / (count[teach] + KAPPAS[:, None])
    errors = np.mean((wanted - guesses) ** 2, axis=1)
    best = int(np.argmin(errors))
    return Shrunk(sums / (count + KAPPAS[best]), float(np.mean(wanted * wanted) - errors[best]))


def backfitted(
    sets: Sequence[Neighbours],
    value: np.ndarray,
    known: np.ndarray,
    target: np.ndarray,
    teach: np.ndarray,
    steps: int,
) -> np.ndarray:
    """Return what sets of others tell, one after the other, each of what the others leave."""
    effect = np.zeros(value.size)
    if not teach.size:
        return effect
    counts = [near.others(known * 1.0) for near in sets]
    least = max(MIN_GAIN, MIN_GAIN_RECORDS / teach.size)
    rest = list(zip(sets, counts, strict=True))
    for _ in range(steps):
        left = target - effect
        tries = [shrunk(near, value - effect, known, left, teach, count) for near, count in rest]
        best = max(tries, key=lambda each: each.gain, default=None)
        if best is None or best.gain < least * np.mean(left[teach] ** 2):
            break
        effect = effect + best.mean
    return effect


def standard(x: np.ndarray) -> np.ndarray:
    """Return numbers with mean 0 and variance 1, the mean in place of gaps, and far ones no
    farther than the second or the last but one per cent."""
    ascending = np.sort(x)  # with gaps at its end
    present = x.size - int(np.count_nonzero(np.isnan(x)))
    if not present:
        return np.zeros(x.size)
    low = ascending[int(0.02 * (present - 1))]
    high = ascending[int(0.98 * (present - 1))]
    values = np.clip(x, low, high) if high > low else x
    if present < x.size:
        values = np.where(np.isnan(values), np.nanmean(values), values)
    values = values - values.mean()
    return np.asarray(values / (values.std() or 1.0))
