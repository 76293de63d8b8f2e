r"""Attackers on columns released by reverse mapping, whose values are those of the original in another order.

With the law M of the map of the kept records (engines/reverse_keys.py), the joint law of an original a and
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

import numpy as np

from condmask.disclosure import baselines, simulated_maps
from condmask.disclosure.rare_values import RareChances
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.reverse_mapped_original import ReverseMapped
from condmask.disclosure.risk_result import BEST, MEAN, RELEASED
from condmask.disclosure.verbatim import Verbatim
from condmask.kernels import reverse_mapping

LEAST, MOST = 256, 4096  # released values on which the best attacker is tried
EVALUATIONS = 1e7  # of windows, for each distance
FINE, NARROW = 16.0, 8.0  # bins in a sigma, and in a window


def expected(
    file: ReverseMapped, d: np.ndarray, constant: tuple[np.ndarray, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The risk by attackers who need no other columns, and that of the most exposed record."""
    rare = file.rare(d)
    chances = released_near(file, d, rare)
    risk = {
        RELEASED: np.diff(file.counted[1]) @ chances / file.n,
        MEAN: baselines.around(file, float(file.released.mean()), d),
        BEST: by_posterior(file, d, constant, rare),
    }
    return risk, chances.max(axis=0)


def most_exposed(file: ReverseMapped, d: np.ndarray) -> np.ndarray:
    """The greatest chance of a record that what is released for it is nearer than d to its original."""
    return np.asarray(released_near(file, d, file.rare(d)).max(axis=0))


def released_near(file: ReverseMapped, d: np.ndarray, rare: RareChances) -> np.ndarray:
    """P(|Z - X| < d) for each distinct original: sums along the rows of J."""
    places, (values, ranks) = file.counted[0], file.shown
    p, n = file.law.p, file.n
    back = -np.expm1(n * np.log1p(-p)) / n  # swapped, and gets its own value
    chances = np.empty((places.size, d.size))
    for k, near in enumerate(file.near(d)):
        first = np.searchsorted(values, places - near, side="right")
        last = np.maximum(np.searchsorted(values, places + near), first)
        kept = (1.0 - p) * file.keys.chances(file.keys.at, file.cuts[first], file.cuts[last])
        kept[rare.at] = rare.rows[:, k]
        same = np.abs(file.released_for - places) < near
        chances[:, k] = kept + (p - back) * (ranks[last] - ranks[first] - same) / (n - 1) + back * same
    return chances


def by_posterior(
    file: ReverseMapped,
    d: np.ndarray,
    constant: tuple[np.ndarray, np.ndarray],
    rare: RareChances,
    tried: int = MOST,
) -> np.ndarray:
    """The risk by the best attacker: the greatest mass of an interval under each column of J."""
    ranks, risk = file.shown[1], np.zeros(d.size)
    of_rare = file.places_of(file.released_for[rare.at])
    shares = np.diff(file.counted[1])[rare.at] / file.n
    for k in np.flatnonzero(d > 0.0):
        windows = Windows(file, float(d[k]), constant[0][k], constant[1][k])
        most = int(np.clip(EVALUATIONS / windows.tried, LEAST, tried))
        places, weights = np.arange(ranks.size - 1), np.diff(ranks)
        if places.size > most:
            middle = (np.arange(most) + 0.5) * (file.n / most)
            places, weights = np.unique(np.searchsorted(ranks, middle, side="right") - 1, return_counts=True)
        risk[k] = weights @ windows.best(places)[1] / weights.sum()
        more = windows.around(rare, rare.columns[:, k]) - windows.best(of_rare)[1]
        risk[k] += shares @ np.maximum(more, 0.0)
    return risk


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
        self.near, self.wide = (
            float(reach[0]) for reach in (file.near(np.array([d])), file.wide(np.array([d])))
        )
        with np.errstate(over="ignore"):
            cells = np.floor(keys.at * FINE), np.floor((places - places[0]) / self.wide * NARROW)
        start = np.flatnonzero(np.logical_or(*(np.diff(cell, prepend=np.nan) != 0.0 for cell in cells)))
        self.begin, self.ranks = places[start], np.append(below[start], file.n)
        self.mass = np.diff(self.ranks) / file.n
        self.at = np.add.reduceat(keys.weights * keys.at, start) / self.mass
        self.end, self.part, held = self._ends(self.begin + self.wide)
        self.held = held - self.ranks[:-1] / file.n
        some = np.linspace(0, self.at.size - 1, 64).astype(np.int64)
        low, high = (np.searchsorted(self.at, self.at[some] + side * keys.reach) for side in (-1.0, 1.0))
        self.tried = float(np.mean(2 * high - low - np.searchsorted(self.end, low)))

    def best(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the best windows for released values begin, and their posterior mass."""
        file, keys = self.file, self.file.keys
        bins, parts, _ = self._ends(np.array([self.constant, self.constant + self.wide]))
        choice, chance = np.empty(places.size, dtype=np.int64), np.empty(places.size)
        reverse_mapping.best_windows(
            file.cuts[places], file.cuts[places + 1], file.law.p, self.at, self.mass, self.held, self.end,
            self.part, self.share, bins, parts, keys.reach, keys.normal, choice, chance,
        )  # fmt: skip
        return np.where(choice == reverse_mapping.CONSTANT, self.constant, self.begin[choice]), chance

    def around(self, rare: RareChances, kept: np.ndarray) -> np.ndarray:
        """The posterior mass around rare values, for who takes what is released for the original."""
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


def verbatim(file: ReverseMapped) -> Verbatim:
    """What of the originals stands in a release as it is: all of them but for means. Ties tell nothing."""
    values, ranks = file.shown
    counts = np.diff(ranks)
    recurring = float(counts[counts > 1].sum() / file.n)
    return Verbatim(float(np.isin(file.units, values).mean()), recurring, file.law.p, file.law.p)


# --- a release ---


def drawn(file: ReverseMapped, stream: np.random.Generator) -> np.ndarray:
    """A release, as it is drawn for trials."""
    order, z = np.argsort(file.units, kind="stable"), np.empty(file.n)
    z[order] = np.sort(file.released)[simulated_maps.release(file.units[order], file.scheme, stream)]
    return z


def record_posteriors(
    file: ReverseMapped,
    z: np.ndarray,
    rows: np.ndarray,
    d: np.ndarray,
    constant: tuple[np.ndarray, np.ndarray],
) -> RecordPosteriors:
    """What the best attacker makes of the records at `rows`, for which z is released."""
    shown, which = np.unique(file.places_of(z), return_inverse=True)
    first, chance = np.tile(constant[1], (shown.size, 1)), np.zeros((shown.size, d.size))
    rare = file.rare(d)
    number = np.full(file.shown[0].size, -1)  # which of the rare ones each released value is
    number[file.places_of(file.released_for[rare.at])] = np.arange(rare.at.size)
    to = np.flatnonzero(number[shown] >= 0)
    number = number[shown[to]]
    for k in np.flatnonzero(d > 0.0):
        windows = Windows(file, float(d[k]), constant[0][k], constant[1][k])
        first[:, k], chance[:, k] = windows.best(shown)
        around = windows.around(rare, rare.columns[:, k])[number]
        better = around > chance[to, k]
        first[to[better], k] = file.counted[0][rare.at[number[better]]] - 0.5 * windows.wide
        chance[to[better], k] = around[better]
    first, chance = first[which], chance[which]
    original = file.units[rows, None]
    hit = (first <= original) & (original < first + file.wide(d))
    density = file.keys.density(file.between(shown))[which]
    return RecordPosteriors(first, chance, hit, np.full(rows.size, file.law.p), density)
