"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

The covariance of pseudo-values with an unmasked column estimates that of the original without bias: within
strata, between them, and on any part of the records. Columns masked together keep their covariance
(docs/theory.rst, "Covariance").
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condmask.engines.counting import ValueCounts
from condmask.errors import ArgumentError
from condmask.inference import heavy_tails
from condmask.inference.heavy_tails import PlainTails
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import UndefinedError
from condmask.inference.linear_variance import SampledSums, Variation
from condmask.inference.pair_variance import PairMoments
from condmask.inference.parts import complete_rows, frame_of
from condmask.inference.pseudo_values import Part, PseudoValues, covariance_factor
from condmask.law import Law
from condmask.samples.moments import Powers
from condmask.strata import listed

Product = tuple[float, tuple[float, float], float]  # covariance, both variances; the product of their units


class PairSums:
    """Sums over the records that have a value and one of another column, in safe units.

    Parameters
    ----------
    pseudo : PseudoValues
        Those of the first column.
    w : ndarray of shape (n,) or RemoteColumn
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
        self._origin, self.unit, _ = frame_of(w, complete_rows(w))
        self.parts = pseudo.parts(w)
        sums, self.n, self._ends = self.parts.fold(
            self._add_first, (np.zeros(3), 0, (np.inf, -np.inf)), _both_first
        )
        if self.n < 2:
            raise UndefinedError(f"other must have at least 2 values where z has them, got {self.n}")
        self.means = sums / self.n

    def other(self, part: Part) -> np.ndarray:
        """The values of the other column in a part."""
        return np.asarray((part.of(self.w) - self._origin) / self.unit)

    @cached_property
    def squares(self) -> np.ndarray:
        """The variances of released columns, and the covariance of originals of the first and the other."""
        (sums,) = self.parts.fold(self._add_squares, (np.zeros(3),))
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
        (moments,) = self.parts.fold(self._add_moments, (PairMoments(self.pseudo.pool_count),))
        assert isinstance(moments, PairMoments)
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
        (tails,) = self.parts.fold(self._add_tails, (PlainTails(low, high, mean),))
        return [of_first, *tails.kurtoses]

    def variation(self) -> tuple[Variation, SampledSums]:
        """How the covariance varies, whose weights are those of the other column, and its contributions."""
        total, contribution = self.parts.fold(self._add_weights, (self.pseudo.sums(1), 0.0))
        start = Variation(self.pseudo, total), SampledSums(np.array([contribution / self.n]))
        variation, sampled = self.parts.fold(self._add_variation, start)
        return variation, sampled

    # --- steps ---

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "pseudo": None,
            "parts": None,
        }  # steps are handed parts, which know their file

    def _add_first(self, gathered: Any, part: Part) -> Any:
        """Sums of both columns and of the first one's pseudo-values, the records, and the other's ends."""
        sums, n, (low, high) = gathered
        b = self.other(part)
        first = part.masked if self.law is not None else part.values
        sums += part.masked.sum(), b.sum(), first.sum()
        return sums, n + part.size, (min(low, float(b.min())), max(high, float(b.max())))

    def _add_squares(self, sums: tuple[np.ndarray], part: Part) -> tuple[np.ndarray]:
        a, b, first = self.means
        one, two = part.masked - a, self.other(part) - b
        own = one if self.law is not None else part.values - first
        sums[0][:] += one @ one, two @ two, own @ two
        return sums

    def _add_moments(self, moments: tuple[PairMoments], part: Part) -> tuple[PairMoments]:
        a, b, _ = self.means
        moments[0].add(part.masked - a, self.other(part) - b, part.pool)
        return moments

    def _add_tails(self, tails: tuple[PlainTails], part: Part) -> tuple[PlainTails]:
        tails[0].add(self.other(part)[None])
        return tails

    def _add_weights(self, sums: tuple[np.ndarray, float], part: Part) -> tuple[np.ndarray, float]:
        """The weights of the covariance by pool, and all contributions."""
        weights = (self.other(part) - self.means[1]) / (self.n - 1)
        part.add_by_pool(sums[0], weights[None])
        return sums[0], sums[1] + float(weights @ (part.values - self.means[2]))

    def _add_variation(
        self, gathered: tuple[Variation, SampledSums], part: Part
    ) -> tuple[Variation, SampledSums]:
        weights = (self.other(part) - self.means[1]) / (self.n - 1)
        gathered[0].add(weights[None], part)
        gathered[1].add((weights * (part.values - self.means[2]))[None], part)
        return gathered


def _both_first(one: Any, other: Any) -> Any:
    (sums, n, (low, high)), (more, m, (lower, higher)) = one, other
    return sums + more, n + m, (min(low, lower), max(high, higher))


def covariance_error(pairs: PairSums, options: IntervalOptions) -> float:
    """The standard error of the covariance with an unmasked column, in safe units."""
    variation, sampled = pairs.variation()
    estimate = pairs.squares[2:]
    return float(variation.interval("covariance", estimate, sampled.sampled, options).standard_error[0])


def products_of_counts(
    pairs: np.ndarray, counts: ValueCounts, law: Law, strata: Any, patterns: Sequence[str]
) -> Product:
    """Covariance and variances of the originals from the pairs and the counts that Counts keep."""
    count, _, _, root, other_root, product = pairs.tolist()
    if count < 2:
        raise ArgumentError(f"other must have been given to update with at least 2 records, got {int(count)}")
    if strata is not None or patterns:
        raise ArgumentError(
            "strata must be known for a covariance: donors were drawn within "
            f"{listed(strata or tuple(patterns))}, and Counts keep no strata; estimate from the values"
        )
    degrees, unit = count - 1.0, root or 1.0
    value = product * (root / unit) / degrees / covariance_factor(law.p, counts.n)
    variance = (root / unit) ** 2 / degrees - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
    return value, (variance, float(other_root > 0.0) / degrees), unit * (other_root or 1.0)
