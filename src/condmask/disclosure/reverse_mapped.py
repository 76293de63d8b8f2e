r"""Attackers on columns released by reverse mapping, whose values are those of the original in another order.

With the law M of the map of the kept records (reverse_mapping/mapping.py), the joint law of an original a and
what is released for it is

    J(a, b) = w_a {p w_b + (1 - p) M(a, b)}.

A row of J says what becomes of a record, a column what an attacker makes of a released value: no value shows
a coin, so given any of them the record was swapped with probability p, and its original is anywhere; or it
was kept, and its original lies where keys between the thresholds of b come from. A swapped record of n has
another one's value with the chance p' = p - (1 - (1-p)^n) / n, each as likely, and else its own.

M is the law among many records. Where a record has few neighbours, only kept ones compete with it, and it
gets its own value more often: of the rare values that the guard rails look at the chance is simulated
(rare_values.py). Means at the ends are part of the law: originals stay what they are, and fewer values are
released.
"""

from functools import cached_property, partial
from typing import Any

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask.disclosure import baselines, simulated_maps
from condmask.disclosure.baselines import FullestWindows
from condmask.disclosure.original import Original, distinct
from condmask.disclosure.rare_values import RareChances, near_values
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.risk_result import BEST, MEAN, RELEASED
from condmask.disclosure.swap_attack import Effort
from condmask.disclosure.verbatim import Verbatim
from condmask.errors import ArgumentError
from condmask.kernels import reverse_mapping
from condmask.law import Law
from condmask.reverse_mapping.mapping import Mapping, places

ROUNDED = 2.0**-50  # of the largest value: distances are told from each other up to this
LEAST, MOST = 256, 4096  # released values on which the best attacker is tried
EVALUATIONS = 1e7  # of windows, for each distance
FINE, NARROW = 16.0, 8.0  # bins in a sigma, and in a window
REACH = {"normal": 6.5, "laplace": 15.0}  # sigmas; beyond lies less than 1e-9 of the noise


class ReverseMapped(Original):
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
        self._rare: dict[bytes, RareChances] = {}

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        return distinct(self.units)

    @cached_property
    def rank(self) -> np.ndarray:
        """Which of the distinct originals each record has."""
        return np.searchsorted(self.counted[0], self.units)

    @cached_property
    def shown(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values that are released, ascending, and how many records before each and in all."""
        return self.counted if self.released is self.units else distinct(self.released)

    @cached_property
    def released_for(self) -> np.ndarray:
        """What is released of each distinct original: itself, or a mean at the ends."""
        (values, ranks), below = self.shown, self.counted[1]
        found = np.empty(below.size - 1)
        for start, stop in blocks(found.size):
            found[start:stop] = values[np.searchsorted(ranks, below[start:stop], side="right") - 1]
        return found

    @cached_property
    def keys(self) -> Mapping:
        """The distinct originals on the line on which noise is added, and the law M of their map."""
        values, below = self.counted
        at = places(values, self.law.sigma, self.scheme.scale)
        return Mapping(at, np.diff(below) / self.n, self.law.noise)

    @cached_property
    def cuts(self) -> np.ndarray:
        """The thresholds around the released values: the first is that below the smallest."""
        return np.concatenate(([-np.inf], self.keys.thresholds(self.shown[1][1:-1] / self.n), [np.inf]))

    def rare(self, d: np.ndarray) -> RareChances:
        """What becomes of rare values, simulated once for these distances."""
        key = d.tobytes()
        if key not in self._rare:
            self._rare[key] = near_values(self.units, self.counted[0], self.scheme, self.near(d))
        return self._rare[key]

    def near(self, d: np.ndarray) -> np.ndarray:
        return self._less(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        return self._less(2.0 * d)

    def _less(self, d: np.ndarray) -> np.ndarray:
        """Differences of values are rounded, and so nearer than d is nearer by more than that."""
        slack = ROUNDED * max(-float(self.units.min()), float(self.units.max()))
        return np.where(d > 2.0 * slack, d - slack, d)

    def some(self, rows: np.ndarray) -> "ReverseMapped":
        return ReverseMapped(self.units[rows], self.released[rows], self.kind, self.scheme)

    def places_of(self, z: np.ndarray) -> np.ndarray:
        """Which of the released values each of z is."""
        values = self.shown[0]
        places = np.minimum(np.searchsorted(values, z), values.size - 1)
        wrong = np.flatnonzero(values[places] != z)
        if wrong.size:
            raise ArgumentError(
                "z must hold the values of x in another order, as a release by reverse mapping does, got "
                f"{wrong.size} that x does not have"
            )
        return places

    @property
    def noise_width(self) -> float:
        return 1.0

    def positions(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.keys.at[self.rank[rows]])

    def released_positions(self, z: np.ndarray) -> np.ndarray:
        """The middle between the thresholds of the keys that get these released values, within the data."""
        places = self.places_of(z)
        ends = np.clip(self.cuts, self.keys.at[0], self.keys.at[-1])
        return np.asarray(0.5 * (ends[places] + ends[places + 1]))

    def units_at(self, positions: np.ndarray) -> np.ndarray:
        return np.asarray(np.interp(positions, self.keys.at, self.counted[0]))

    # --- what attackers make of it ---

    def expected(self, d: np.ndarray, constant: FullestWindows) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The risk by attackers who need no other columns, and that of the most exposed record."""
        rare = self.rare(d)
        released, most_exposed = self.over_records(d, rare)
        risk = {
            RELEASED: released,
            MEAN: baselines.around(self, float(self.released.mean()), d),
            BEST: self.by_posterior(d, constant, rare),
        }
        return risk, most_exposed

    def brief(
        self, d: np.ndarray, constant: FullestWindows, effort: Effort
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The risk by the masked value, of the most exposed record, and by the best attacker, briefly.

        The law of the map is that of many records, and so evenly spaced ones have it, too; rare values have
        not.
        """
        some = self if self.n <= effort.rows else self.some(evenly_spaced(self.n, effort.rows))
        rare, none = self.rare(d), np.empty((0, d.size))
        nobody = RareChances(np.empty(0, dtype=np.int64), none, none)
        released, most_of_some = some.over_records(d, nobody)
        places, below = self.counted
        at, near = places[rare.at][:, None], self.near(d)
        first = np.searchsorted(places, at - near, side="right")
        last = np.maximum(np.searchsorted(places, at + near), first)
        shares = (below[last] - below[first]) / self.n
        most_exposed = np.max([most_of_some, *(rare.rows + self.law.p * shares)], axis=0)
        return released, most_exposed, some.by_posterior(d, constant, nobody, LEAST)

    def most_exposed(self, d: np.ndarray) -> np.ndarray:
        """The greatest chance of a record that what is released for it is nearer than d to its original."""
        return self.over_records(d, self.rare(d))[1]

    def over_records(self, d: np.ndarray, rare: RareChances) -> tuple[np.ndarray, np.ndarray]:
        """P(|Z - X| < d), the mean over records and the greatest."""
        return baselines.over_records(self, partial(self.released_near, d, rare))

    def released_near(self, d: np.ndarray, rare: RareChances, start: int, stop: int) -> np.ndarray:
        """P(|Z - X| < d) for some of the distinct originals: sums along the rows of J."""
        (values, ranks), p, n = self.shown, self.law.p, self.n
        some, keys = self.counted[0][start:stop], self.keys.at[start:stop]
        back = -np.expm1(n * np.log1p(-p)) / n  # swapped, and gets its own value
        inside = (rare.at >= start) & (rare.at < stop)
        chances = np.empty((some.size, d.size))
        for k, near in enumerate(self.near(d)):
            first = np.searchsorted(values, some - near, side="right")
            last = np.maximum(np.searchsorted(values, some + near), first)
            kept = (1.0 - p) * self.keys.chances(keys, self.cuts[first], self.cuts[last])
            kept[rare.at[inside] - start] = rare.rows[inside, k]
            same = np.abs(self.released_for[start:stop] - some) < near
            others = (ranks[last] - ranks[first] - same) / (n - 1)
            chances[:, k] = kept + (p - back) * others + back * same
        return chances

    def by_posterior(
        self, d: np.ndarray, constant: FullestWindows, rare: RareChances, tried: int = MOST
    ) -> np.ndarray:
        """The risk by the best attacker: the greatest mass of an interval under each column of J."""
        ranks, risk = self.shown[1], np.zeros(d.size)
        of_rare = self.places_of(self.released_for[rare.at])
        shares = np.diff(self.counted[1])[rare.at] / self.n
        for k in np.flatnonzero(d > 0.0):
            windows = Windows(self, float(d[k]), constant.share[k], constant.first[k])
            most = int(np.clip(EVALUATIONS / windows.tried, LEAST, tried))
            places, weights = np.arange(ranks.size - 1), np.diff(ranks)
            if places.size > most:
                middle = (np.arange(most) + 0.5) * (self.n / most)
                places, weights = np.unique(
                    np.searchsorted(ranks, middle, side="right") - 1, return_counts=True
                )
            risk[k] = weights @ windows.best(places)[1] / weights.sum()
            more = windows.around(rare, rare.columns[:, k]) - windows.best(of_rare)[1]
            risk[k] += shares @ np.maximum(more, 0.0)
        return risk

    def verbatim(self, z: np.ndarray | None = None) -> Verbatim:
        """What of the originals stands in any release as it is: all but means. Ties tell nothing."""
        values, ranks = self.shown
        counts = np.diff(ranks)
        recurring = float(counts[counts > 1].sum() / self.n)
        return Verbatim(self.occurring(values), recurring, self.law.p, self.law.p)

    def drawn(self, rows: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        """Released values of some records, as they are drawn for trials."""
        order, z = np.argsort(self.units, kind="stable"), np.empty(self.n)
        z[order] = np.sort(self.released)[simulated_maps.release(self.units[order], self.scheme, stream)]
        return np.asarray(z[rows])

    def posteriors(
        self, z: np.ndarray, rows: np.ndarray, d: np.ndarray, constant: FullestWindows
    ) -> RecordPosteriors:
        """What the best attacker makes of the records at `rows`, for which z is released."""
        shown, which = np.unique(self.places_of(z), return_inverse=True)
        first, chance = np.tile(constant.first, (shown.size, 1)), np.zeros((shown.size, d.size))
        rare = self.rare(d)
        number = np.full(self.shown[0].size, -1)  # which of the rare ones each released value is
        number[self.places_of(self.released_for[rare.at])] = np.arange(rare.at.size)
        to = np.flatnonzero(number[shown] >= 0)
        number = number[shown[to]]
        for k in np.flatnonzero(d > 0.0):
            windows = Windows(self, float(d[k]), constant.share[k], constant.first[k])
            first[:, k], chance[:, k] = windows.best(shown)
            around = windows.around(rare, rare.columns[:, k])[number]
            better = around > chance[to, k]
            first[to[better], k] = self.counted[0][rare.at[number[better]]] - 0.5 * windows.wide
            chance[to[better], k] = around[better]
        first, chance = first[which], chance[which]
        original = self.units[rows, None]
        hit = (first <= original) & (original < first + self.wide(d))
        density = self.keys.density(self.released_positions(self.shown[0][shown]))[which]
        return RecordPosteriors(first, chance, hit, np.full(rows.size, self.law.p), density)


class Windows:
    """Intervals of one width on the originals, which stand in bins much narrower than it and than a sigma.

    Parameters
    ----------
    file : ReverseMapped
    d : float
        Half the width, positive.
    share, first : float
        What the fullest interval holds, and where it begins.
    """

    def __init__(self, file: ReverseMapped, d: float, share: float, first: float) -> None:
        (places, below), keys = file.counted, file.keys
        self.file, self.share, self.constant = file, share, first
        self.near, self.wide = (reach(np.array([d])).item() for reach in (file.near, file.wide))
        with np.errstate(over="ignore"):
            of_wide = np.floor((places - places[0]) / self.wide * NARROW)
        new = (np.diff(np.floor(keys.at * FINE)) != 0.0) | (np.diff(of_wide) != 0.0)
        start = np.flatnonzero(np.append(True, new))
        self.begin, self.ranks = places[start], np.append(below[start], file.n)
        self.mass = np.diff(self.ranks) / file.n
        self.at = np.add.reduceat(keys.share * keys.at, start) / self.mass
        self.end, self.part, held = self._ends(self.begin + self.wide)
        self.held = held - self.ranks[:-1] / file.n
        some = self.at[np.linspace(0, self.at.size - 1, 64).astype(np.int64)]
        low, high = (np.searchsorted(self.at, some + side * REACH[keys.noise]) for side in (-1.0, 1.0))
        self.tried = float(np.mean(2 * high - low - np.searchsorted(self.end, low)))

    def best(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the best windows for released values begin, and their posterior mass."""
        file, noise = self.file, self.file.keys.noise
        bins, parts, _ = self._ends(np.array([self.constant, self.constant + self.wide]))
        choice, chance = np.empty(places.size, dtype=np.int64), np.empty(places.size)
        for start, stop in blocks(places.size):
            some = places[start:stop]
            reverse_mapping.best_windows(
                file.cuts[some], file.cuts[some + 1], file.law.p, self.at, self.mass, self.held, self.end,
                self.part, self.share, bins, parts, REACH[noise], noise == "normal", choice[start:stop],
                chance[start:stop],
            )  # fmt: skip
        return np.where(choice == reverse_mapping.CONSTANT, self.constant, self.begin[choice]), chance

    def around(self, rare: RareChances, kept: np.ndarray) -> np.ndarray:
        """The posterior mass around rare values, if what is released is taken for the original."""
        places, below = self.file.counted
        first = np.searchsorted(places, places[rare.at] - self.near, side="right")
        last = np.searchsorted(places, places[rare.at] + self.near)
        return np.asarray(kept + self.file.law.p * (below[last] - below[first]) / self.file.n)

    def _ends(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bins in which numbers lie, the part of their records before these, and the share of all."""
        places, below = self.file.counted
        rank = below[np.searchsorted(places, x)]
        end = np.searchsorted(self.ranks, rank, side="right") - 1
        last = np.minimum(end, self.mass.size - 1)
        return end, (rank - self.ranks[end]) / (self.mass[last] * self.file.n), rank / self.file.n
