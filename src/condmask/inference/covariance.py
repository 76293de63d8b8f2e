"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

The covariance of pseudo-values with an unmasked column estimates that of the original without bias: within
strata, between them, and on any part of the records. Columns masked together keep their covariance
(docs/theory.rst, "Covariance").
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask.inference import heavy_tails
from condmask.inference.heavy_tails import PlainTails
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import UndefinedError
from condmask.inference.linear_variance import SampledSums, Variation
from condmask.inference.pair_variance import PairMoments
from condmask.inference.parts import CompleteRows, frame_of
from condmask.inference.pseudo_values import Part, PseudoValues
from condmask.law import Law
from condmask.samples.moments import Powers

Product = tuple[float, tuple[float, float], float]  # covariance, both variances; the product of their units


class PairSums:
    """Sums over the records that have a value and one of another column, in safe units.

    Parameters
    ----------
    pseudo : PseudoValues
        Those of the first column.
    w : ndarray of shape (n,)
        The other column; NaN where a value is missing.
    law : Law, optional
        Of a column masked together with the first; None for an unmasked column.

    Attributes
    ----------
    n : int
        The number of the records.
    unit : float
        That of the other column.
    parts : Parts
        The records.
    """

    def __init__(self, pseudo: PseudoValues, w: Any, law: Law | None) -> None:
        self.pseudo, self.w, self.law = pseudo, w, law
        self._origin, self.unit, _ = frame_of(w, CompleteRows(w))
        self.parts = pseudo.parts(w)
        sums, self.n, (low, high) = np.zeros(3), 0, (np.inf, -np.inf)
        for part in self.parts:
            b = self.other(part)
            first = part.masked if law is not None else part.values
            sums += part.masked.sum(), b.sum(), first.sum()
            self.n += part.size
            low, high = min(low, float(b.min())), max(high, float(b.max()))
        self._ends = low, high
        if self.n < 2:
            raise UndefinedError(f"other must have at least 2 values where z has them, got {self.n}")
        self.means = sums / self.n

    def other(self, part: Part) -> np.ndarray:
        """The values of the other column in a part."""
        return np.asarray((part.of(self.w) - self._origin) / self.unit)

    @cached_property
    def squares(self) -> np.ndarray:
        """The variances of released columns, and the covariance of originals of the first and the other."""
        sums, (a, b, first) = np.zeros(3), self.means
        for part in self.parts:
            one, two = part.masked - a, self.other(part) - b
            own = one if self.law is not None else part.values - first
            sums += one @ one, two @ two, own @ two
        return np.asarray(sums / (self.n - 1))

    @property
    def product(self) -> Product:
        """The covariance and the variances of the originals, and the product of their units."""
        one, two, covariance = self.squares.tolist()
        law, noise = self.law, 0.0
        if law is not None:
            noise = (1.0 - law.p) * float(law.noise_moments(2, self.unit)[2])
        return covariance, (one - self.pseudo.noise_variance, two - noise), self.pseudo.unit * self.unit

    @cached_property
    def moments(self) -> PairMoments:
        """The moments of the released columns about their means, by donor pool."""
        moments, (a, b, _) = PairMoments(self.pseudo.pool_count), self.means
        for part in self.parts:
            moments.add(part.masked - a, self.other(part) - b, part.pool)
        return moments

    @property
    def kurtoses(self) -> list[float]:
        """The kurtosis of the originals of both columns; NaN where it is not known."""
        share = self.moments.size / self.n
        means = np.tensordot(share, self.moments.released, 1)
        of_first = heavy_tails.of_masked(Powers(0.0, self.pseudo.unit, means[:, 0]), self.pseudo.law)
        if self.law is not None:
            return [of_first, heavy_tails.of_masked(Powers(0.0, self.unit, means[0]), self.law)]
        low, high, mean = (np.array([x]) for x in (*self._ends, self.means[1]))
        tails = PlainTails(low, high, mean)
        for part in self.parts:
            tails.add(self.other(part)[None])
        return [of_first, *tails.kurtoses]

    def variation(self) -> tuple[Variation, SampledSums]:
        """How the covariance varies, whose weights are those of the other column, and its contributions."""
        total, sum_of_contributions = self.pseudo.sums(1), 0.0
        for part in self.parts:
            weights, contributions = self._contributions(part)
            part.add_by_pool(total, weights[None])
            sum_of_contributions += float(contributions.sum())
        variation = Variation(self.pseudo, total)
        sampled = SampledSums(np.array([sum_of_contributions / self.n]))
        for part in self.parts:
            weights, contributions = self._contributions(part)
            variation.add(weights[None], part)
            sampled.add(contributions[None], part)
        return variation, sampled

    def _contributions(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the covariance, and what each record contributes to it."""
        weights = (self.other(part) - self.means[1]) / (self.n - 1)
        return weights, weights * (part.values - self.means[2])


def covariance_error(pairs: PairSums, options: IntervalOptions) -> float:
    """The standard error of the covariance with an unmasked column, in safe units."""
    variation, sampled = pairs.variation()
    estimate = pairs.squares[2:]
    return float(variation.interval("covariance", estimate, sampled.sampled, options).standard_error[0])
