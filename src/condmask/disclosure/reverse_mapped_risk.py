r"""Attackers on columns released by reverse mapping, whose values are those of the original in another order.

With the law M of the map of the kept records (`engines.rearranged`), the joint law of an original a and what
is released for it is

    J(a, b) = w_a {p w_b + (1 - p) M(a, b)}.

A row of J says what becomes of a record, a column what an attacker makes of a released value: no value shows
a coin, so given any of them the record was swapped with probability p, and its original is anywhere; or it
was kept, and its original lies where keys between the thresholds of b come from. A swapped record of n has
another one's value with the chance p' = p - (1 - (1-p)^n) / n, each as likely, and else its own.

M is the law among many records. Where a record has few neighbours, only kept ones compete with it, and it
gets its own value more often: of the rare values that the guard rails look at (`disclosure.rails`) the chance
is simulated. Means at the ends are part of the law: originals stay what they are, and fewer values are
released.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure import baselines, guard_rails, simulated_maps
from condmask.disclosure.original import Original
from condmask.disclosure.record_posteriors import Seen
from condmask.disclosure.risk_result import BEST, MEAN, RELEASED
from condmask.disclosure.verbatim import Printed
from condmask.engines.reverse_keys import Keys
from condmask.kernels import reverse_mapping
from condmask.law import Law

LEAST, MOST = 256, 4096  # released values on which the best attacker is tried
EVALUATIONS = 1e7  # of windows, for each distance
FINE, NARROW = 16.0, 8.0  # bins in a sigma, and in a window
ROUNDED = 2.0**-50  # of the largest value: distances are told from each other up to this


class Rearranged(Original):
    """The values of one donor pool, none missing, and what is released in their order.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Originals.
    released : ndarray of shape (n,)
        The same, or means where they are at the ends.
    kind : str
        What the container held.
    scheme : ConditionalMasking
        With reverse mapping.
    """

    def __init__(self, units: np.ndarray, released: np.ndarray, kind: str, scheme: Any) -> None:
        super().__init__(units, kind, Law(scheme.p, scheme.noise, scheme.sigma))
        self.scheme, self.released = scheme, released
        self._lone: dict[bytes, Lone] = {}

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        places, counts = np.unique(self.units, return_counts=True)
        return places, np.append(0, np.cumsum(counts))

    @cached_property
    def rank(self) -> np.ndarray:
        """Which of the distinct originals each record has."""
        return np.searchsorted(self.counted[0], self.units)

    @cached_property
    def shown(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values that are released, ascending, and how many records before each and in all."""
        places, counts = np.unique(self.released, return_counts=True)
        return places, np.append(0, np.cumsum(counts))

    @cached_property
    def own(self) -> np.ndarray:
        """What is released of each distinct original."""
        ordered = np.sort(self.released)
        return np.asarray(ordered[self.counted[1][:-1]])

    @cached_property
    def keys(self) -> Keys:
        places, below = self.counted
        return Keys(places, np.diff(below), self.law.noise, self.law.sigma, self.scheme.scale)

    @cached_property
    def cuts(self) -> np.ndarray:
        """The thresholds around the released values: the first is that below the smallest."""
        return self.keys.thresholds(self.shown[1])

    def lone(self, d: np.ndarray) -> "Lone":
        """What is simulated of the rare values, once for these distances."""
        key = d.tobytes()
        if key not in self._lone:
            self._lone[key] = _simulated(self, d)
        return self._lone[key]

    def near(self, d: np.ndarray) -> np.ndarray:
        return self._less(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        return self._less(2.0 * d)

    def _less(self, d: np.ndarray) -> np.ndarray:
        """Differences of values are rounded, and so nearer than d is nearer by more than that."""
        slack = ROUNDED * float(np.abs(self.units).max())
        return np.where(d > 2.0 * slack, d - slack, d)

    def some(self, rows: np.ndarray) -> "Rearranged":
        return Rearranged(self.units[rows], self.released[rows], self.kind, self.scheme)

    def places_of(self, z: np.ndarray) -> np.ndarray:
        """Which of the released values each of z is."""
        values = self.shown[0]
        found = np.minimum(np.searchsorted(values, z), values.size - 1)
        wrong = np.flatnonzero(values[found] != z)
        if wrong.size:
            raise ValueError(
                "z must hold the values of x in another order, as a release by reverse mapping does, got "
                f"{wrong.size} that x does not have"
            )
        return found

    def between(self, places: np.ndarray) -> np.ndarray:
        """Where keys lie that get these released values: the middle between thresholds, within the data."""
        ends = np.clip(self.cuts, self.keys.at[0], self.keys.at[-1])
        return np.asarray(0.5 * (ends[places] + ends[places + 1]))


def pools(
    units: np.ndarray, kind: str, scheme: Any, code: np.ndarray | None, members: list[Any]
) -> list[Rearranged]:
    """The donor pools of a column."""
    released = units.copy()
    if scheme.aggregate_ends:
        guard_rails.aggregate(released, code, scheme.aggregate_ends)
        released = scheme.publish(released, kind).astype(np.float64)
    return [Rearranged(units[rows], released[rows], kind, scheme) for rows in members]


def expected(
    file: Rearranged, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What attackers reach who need no other columns; and the greatest chance of a record that what is
    released for it is nearer than d to its original."""
    lone = file.lone(d)
    own = own_chances(file, d, lone)
    found = {
        RELEASED: np.diff(file.counted[1]) @ own / file.n,
        MEAN: baselines.around(file, float(file.released.mean()), d),
        BEST: by_posterior(file, d, steady, lone),
    }
    return found, own.max(axis=0)


def worst(file: Rearranged, d: np.ndarray) -> np.ndarray:
    """The greatest chance of a record that what is released for it is nearer than d to its original."""
    return np.asarray(own_chances(file, d, file.lone(d)).max(axis=0))


class Lone(NamedTuple):
    """Distinct originals with few neighbours, by simulation.

    Attributes
    ----------
    at : ndarray of shape (m,)
        Which they are.
    rows : ndarray of shape (m, distances)
        The chance that the record is kept and gets a value nearer than d.
    columns : ndarray of shape (m, distances)
        The chance that its value is released for a kept record nearer than d.
    """

    at: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


def _simulated(file: Rearranged, d: np.ndarray) -> Lone:
    """Of the rare values that the guard rails look at."""
    values, candidates, some = guard_rails.lone(file.units, file.scheme)
    values, own, near = values[some], np.searchsorted(some, candidates), file.near(d)
    sums, kept = np.zeros((2, values.size, d.size)), np.zeros(values.size)
    for record, value in simulated_maps.kept_maps(values, file.scheme):
        kept += np.bincount(value, minlength=values.size)
        away = np.abs(values[record] - values[value])
        for k, hit in enumerate(away < each for each in near):
            for total, who in zip(sums, (record, value), strict=True):
                total[:, k] += np.bincount(who[hit], minlength=values.size)
    sums *= (1.0 - file.law.p) / np.maximum(kept[:, None], 1.0)  # of those that were kept
    at, which, times = np.unique(
        np.searchsorted(file.counted[0], values[own]), return_inverse=True, return_counts=True
    )
    means = np.zeros((2, at.size, d.size))
    for mean, total in zip(means, sums, strict=True):  # over records with the same value
        np.add.at(mean, which, total[own])
    return Lone(at, *(means / times[:, None]))


def own_chances(file: Rearranged, d: np.ndarray, lone: Lone) -> np.ndarray:
    """P(|Z - X| < d) for each distinct original: sums along the rows of J."""
    places, (values, ranks) = file.counted[0], file.shown
    p, n = file.law.p, file.n
    own = -np.expm1(n * np.log1p(-p)) / n  # swapped, and gets its own value
    found = np.empty((places.size, d.size))
    for k, near in enumerate(file.near(d)):
        first = np.searchsorted(values, places - near, side="right")
        last = np.maximum(np.searchsorted(values, places + near), first)
        kept = (1.0 - p) * file.keys.chances(file.keys.at, file.cuts[first], file.cuts[last])
        kept[lone.at] = lone.rows[:, k]
        back = np.abs(file.own - places) < near
        found[:, k] = kept + (p - own) * (ranks[last] - ranks[first] - back) / (n - 1) + own * back
    return found


def by_posterior(
    file: Rearranged, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray], lone: Lone, tried: int = MOST
) -> np.ndarray:
    """The best attacker: the greatest mass of an interval under each column of J."""
    ranks, found = file.shown[1], np.zeros(d.size)
    rare = file.places_of(file.own[lone.at])
    shares = np.diff(file.counted[1])[lone.at] / file.n
    for k in np.flatnonzero(d > 0.0):
        windows = Windows(file, float(d[k]), steady[0][k], steady[1][k])
        most = int(np.clip(EVALUATIONS / windows.tried, LEAST, tried))
        places, weights = np.arange(ranks.size - 1), np.diff(ranks)
        if places.size > most:
            middle = (np.arange(most) + 0.5) * (file.n / most)
            places, weights = np.unique(np.searchsorted(ranks, middle, side="right") - 1, return_counts=True)
        found[k] = weights @ windows.best(places)[1] / weights.sum()
        more = windows.around(lone, lone.columns[:, k]) - windows.best(rare)[1]
        found[k] += shares @ np.maximum(more, 0.0)
    return found


class Windows:
    """Intervals of one width on the originals, which stand in bins much narrower than it and than a sigma.

    Parameters
    ----------
    file : Rearranged
    d : float
        Half the width, positive.
    share, first : float
        What the interval holds that serves everybody, and where it begins.
    """

    def __init__(self, file: Rearranged, d: float, share: float, first: float) -> None:
        (places, below), keys = file.counted, file.keys
        self.file, self.share, self.steady = file, share, first
        self.near, self.wide = (
            float(each[0]) for each in (file.near(np.array([d])), file.wide(np.array([d])))
        )
        with np.errstate(over="ignore"):
            cells = np.floor(keys.at * FINE), np.floor((places - places[0]) / self.wide * NARROW)
        start = np.flatnonzero(np.logical_or(*(np.diff(each, prepend=np.nan) != 0.0 for each in cells)))
        self.begin, self.ranks = places[start], np.append(below[start], file.n)
        self.mass = np.diff(self.ranks) / file.n
        self.at = np.add.reduceat(keys.weights * keys.at, start) / self.mass
        self.end, self.part, held = self._ends(self.begin + self.wide)
        self.held = held - self.ranks[:-1] / file.n
        some = np.linspace(0, self.at.size - 1, 64).astype(np.int64)
        low, high = (np.searchsorted(self.at, self.at[some] + side * keys.reach) for side in (-1.0, 1.0))
        self.tried = float(np.mean(2 * high - low - np.searchsorted(self.end, low)))

    def best(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the best ones for released values begin, and how sure they are."""
        file, keys = self.file, self.file.keys
        bins, parts, _ = self._ends(np.array([self.steady, self.steady + self.wide]))
        choice, chance = np.empty(places.size, dtype=np.int64), np.empty(places.size)
        reverse_mapping.best_windows(
            file.cuts[places], file.cuts[places + 1], file.law.p, self.at, self.mass, self.held, self.end,
            self.part, self.share, bins, parts, keys.reach, keys.normal, choice, chance,
        )  # fmt: skip
        return np.where(choice == reverse_mapping.STEADY, self.steady, self.begin[choice]), chance

    def around(self, lone: Lone, kept: np.ndarray) -> np.ndarray:
        """How sure he is who takes released rare values for the originals."""
        places, below = self.file.counted
        first = np.searchsorted(places, places[lone.at] - self.near, side="right")
        last = np.searchsorted(places, places[lone.at] + self.near)
        return np.asarray(kept + self.file.law.p * (below[last] - below[first]) / self.file.n)

    def _ends(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bins in which numbers lie, the part of their records before these, and the share of all."""
        places, below = self.file.counted
        rank = below[np.searchsorted(places, x)]
        end = np.searchsorted(self.ranks, rank, side="right") - 1
        last = np.minimum(end, self.mass.size - 1)
        return end, (rank - self.ranks[end]) / (self.mass[last] * self.file.n), rank / self.file.n


def printed(file: Rearranged) -> Printed:
    """What of the originals stands in a release as it is: all of them but for means. Ties tell nothing."""
    values, ranks = file.shown
    counts = np.diff(ranks)
    recurring = float(counts[counts > 1].sum() / file.n)
    return Printed(float(np.isin(file.units, values).mean()), recurring, file.law.p, file.law.p)


# --- a release ---


def drawn(file: Rearranged, stream: np.random.Generator) -> np.ndarray:
    """A release, as it is drawn for trials."""
    order, z = np.argsort(file.units, kind="stable"), np.empty(file.n)
    z[order] = np.sort(file.released)[simulated_maps.release(file.units[order], file.scheme, stream)]
    return z


def looked_at(
    file: Rearranged, z: np.ndarray, rows: np.ndarray, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> Seen:
    """As `seen.looked_at`: what the best attacker makes of the records at `rows`."""
    shown, which = np.unique(file.places_of(z), return_inverse=True)
    first, chance = np.tile(steady[1], (shown.size, 1)), np.zeros((shown.size, d.size))
    lone = file.lone(d)
    rare = np.full(file.shown[0].size, -1)  # which of the lone ones each released value is
    rare[file.places_of(file.own[lone.at])] = np.arange(lone.at.size)
    to = np.flatnonzero(rare[shown] >= 0)
    rare = rare[shown[to]]
    for k in np.flatnonzero(d > 0.0):
        windows = Windows(file, float(d[k]), steady[0][k], steady[1][k])
        first[:, k], chance[:, k] = windows.best(shown)
        own = windows.around(lone, lone.columns[:, k])[rare]
        better = own > chance[to, k]
        first[to[better], k] = file.counted[0][lone.at[rare[better]]] - 0.5 * windows.wide
        chance[to[better], k] = own[better]
    first, chance = first[which], chance[which]
    original = file.units[rows, None]
    hit = (first <= original) & (original < first + file.wide(d))
    density = file.keys.density(file.between(shown))[which]
    return Seen(first, chance, hit, np.full(rows.size, file.law.p), density)
