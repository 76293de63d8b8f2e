"""What features of records show of their coins: counted in one part of the rows, chosen by another, measured
on the rest.

Every row is looked at twice, as if it were swapped and as if it were kept. A feature's values are put into
classes, and the likelihood ratio of a class is that of its counts in the rows that are learned from. Which
features help is chosen by their figures in some of the other rows, and counted in those left: the greatest of
many figures would be too great where it was chosen.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from condmask.disclosure import swap_posterior
from condmask.disclosure.folds import fold_of

TEMPERS = (1.0, 0.85, 0.7, 0.5, 0.35, 0.25, 0.1, 0.0)
WEIGHTS = (1.0, 0.5)  # of what a feature adds
MOST = 24  # features that are added
STEPS, LONGEST = 8, 2.0  # of Newton's method
GAIN = 3.0  # of log likelihood, that a feature has to add
CLASSES, RECORDS_PER_CLASS = 24, 16
ACROSS = 8  # classes of the one column given another
BEFOREHAND = 0.5  # records in each class
DIGITS = 9  # of a share


class CoinClasses(NamedTuple):
    """Rows with their coins, to learn from, and two parts without: each attacked by what the other chose."""

    p: float
    learned: np.ndarray  # the rows of this part
    parts: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, p: float, n: int) -> Self:
        """Half of n rows to learn from, and two quarters."""
        fold = fold_of(n, 4)
        return cls(p, fold < 2, (fold == 2, fold == 3))

    @property
    def most(self) -> int:
        """The classes for which there are records enough."""
        return int(np.count_nonzero(self.learned)) // RECORDS_PER_CLASS

    # --- classes ---

    def classes(self, feature: np.ndarray, most: int = CLASSES) -> np.ndarray:
        """Classes of about equal size of a feature, from 1 on; 0 where missing. Common values are apart."""
        present = ~np.isnan(feature)
        learned = feature[:, self.learned][present[:, self.learned]]
        most = min(most, learned.size // (2 * RECORDS_PER_CLASS))
        if most < 2:
            return np.asarray(present, dtype=np.int64)
        edges = np.quantile(learned, np.arange(1, most) / most, method="inverted_cdf")
        common = edges[1:][edges[1:] == edges[:-1]]
        edges = np.unique(np.concatenate((edges, np.nextafter(common, np.inf))))
        return np.asarray(np.where(present, np.searchsorted(edges, feature, side="right") + 1, 0))

    def crossed(self, feature: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Classes of a feature in those of another."""
        return self.within(feature, self.classes(given, int(np.clip(0.5 * np.sqrt(self.most), 1, ACROSS))))

    def within(self, feature: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Classes of a feature in given ones; 0 where either is 0."""
        across = int(given.max())
        classes = self.classes(feature, int(np.clip(self.most // max(across, 1), 1, CLASSES)))
        return np.asarray(np.where((classes > 0) & (given > 0), classes * (across + 1) + given, 0))

    def ratio(self, place: np.ndarray) -> np.ndarray:
        """The log likelihood ratio of classes, in swapped and kept records; class 0 tells nothing."""
        size = int(place.max()) + 1
        counts = np.stack([np.bincount(part[self.learned], minlength=size) for part in place])
        shares = (counts + BEFOREHAND) / (counts.sum(axis=1) + BEFOREHAND * size)[:, None]
        ratios = np.log(shares[0] / shares[1])
        ratios[0] = 0.0
        return np.asarray(ratios[place])

    def added(self, feature: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What a feature, classes or a log likelihood ratio, adds to what is known.

        Of each class the number by which its chances agree with its coins in the rows that are learned from.
        """
        if feature.dtype.kind == "f":
            return feature
        size, odds = int(feature.max()) + 1, np.log(self.p / (1.0 - self.p))
        more = np.zeros(size)
        place = [way[self.learned] for way in feature]
        known = [way[self.learned] + odds for way in total]
        for _ in range(STEPS):
            chance = logistic(odds + more)  # of the records that were there beforehand
            slope = BEFOREHAND * (self.p - chance)
            bend = BEFOREHAND * chance * (1.0 - chance)
            for weight, coin, where, before in zip(
                (self.p, 1.0 - self.p), (1.0, 0.0), place, known, strict=True
            ):
                chance = logistic(before + more[where])
                slope += weight * np.bincount(where, coin - chance, size)
                bend += weight * np.bincount(where, chance * (1.0 - chance), size)
            more += np.clip(slope / np.maximum(bend, 1e-300), -LONGEST, LONGEST)
        more[0] = 0.0
        return np.asarray(more[feature])

    # --- figures ---

    def figures(self, ratio: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
        """The shares of coins guessed, and of records certain, in some rows."""
        chance = chances(self.p, ratio[:, rows]).ravel()
        n = max(1, chance.size // 2)
        swapped, kept = np.repeat((self.p / n, 0.0), n), np.repeat((0.0, (1.0 - self.p) / n), n)
        return swap_posterior.guessed(swapped, kept, chance), swap_posterior.certain(
            swapped, kept, chance, self.p
        )

    def alone(self, feature: np.ndarray) -> float:
        """The share of coins that a feature gives away by itself, in all rows but those learned from."""
        return self.figures(self._ratio_of(feature), ~self.learned)[0]

    def _ratio_of(self, feature: np.ndarray) -> np.ndarray:
        return self.ratio(feature) if feature.dtype.kind == "i" else feature

    def fit(self, ratio: np.ndarray, rows: np.ndarray) -> float:
        """The mean logarithm of the chance that is given to the coins of some rows."""
        chance = np.clip(chances(self.p, ratio[:, rows]), 1e-12, 1.0 - 1e-12)
        return float(self.p * np.log(chance[0]).mean() + (1.0 - self.p) * np.log1p(-chance[1]).mean())

    def tempered(self, ratio: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The power of the likelihood ratio that suits some rows."""
        return max((temper * ratio for temper in TEMPERS), key=lambda tempered: self.fit(tempered, rows))

    def strongest(self, total: np.ndarray, features: list[np.ndarray]) -> tuple[float, float]:
        """The shares of coins guessed, and of records certain, by all features together or the best alone.

        Features are classes or log likelihood ratios; `total` is such a ratio, to which they add.
        """
        ratios = [self._ratio_of(feature) for feature in features]
        figures = [
            self._strongest(total, features, ratios, chosen, measured)
            for chosen, measured in (self.parts, self.parts[::-1])
        ]
        guessed, certain = np.mean(figures, axis=0).round(DIGITS)  # a blind guess is one
        return float(guessed), float(certain)

    def _strongest(
        self, total: np.ndarray, features: list[np.ndarray], ratios: list[np.ndarray], chosen: np.ndarray,
        measured: np.ndarray,
    ) -> tuple[float, float]:  # fmt: skip
        order = np.argsort([-self.fit(ratio, chosen) for ratio in ratios], kind="stable")
        together = self._sums(total, [features[k] for k in order[:MOST]], chosen)
        attackers = [self.tempered(ratio, chosen) for ratio in (*together, *ratios)]
        by_part = np.array([self.figures(attacker, chosen) for attacker in attackers])
        guessed, certain = (attackers[k] for k in by_part.argmax(axis=0))
        return self.figures(guessed, measured)[0], self.figures(certain, measured)[1]

    def _sums(
        self, total: np.ndarray, features: list[np.ndarray], chosen: np.ndarray
    ) -> Iterator[np.ndarray]:
        """What is known at first, and with all features that add to the fit, one after the other."""
        total = self.tempered(total, chosen)
        yield total
        now, least = self.fit(total, chosen), GAIN / max(1, int(np.count_nonzero(chosen)))
        for feature in features:
            more = self.added(feature, total)
            tried = [total + weight * more for weight in WEIGHTS]
            fits = [self.fit(ratio, chosen) for ratio in tried]
            if fits[best := int(np.argmax(fits))] > now + least:
                total, now = tried[best], fits[best]
        yield total


def chances(p: float, ratio: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, given the logarithm of a likelihood ratio."""
    return logistic(np.log(p / (1.0 - p)) + ratio)


def logistic(odds: np.ndarray) -> np.ndarray:
    """The chance with the logarithm of its odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -600.0, 600.0))))
