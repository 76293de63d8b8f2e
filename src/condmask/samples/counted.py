"""Masked values counted on their grid. Results are cached for all threads."""

from typing import Any

import numpy as np

from condmask._blocks import Workers
from condmask.deconvolution.weight import Masking
from condmask.engines import choice, grid, pairwise
from condmask.engines import lattice as curves
from condmask.engines.cdf import CDF, CurveCDF
from condmask.engines.choice import Sizes
from condmask.engines.counting import ValueCounts
from condmask.engines.crossings import FINEST_REARRANGED
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, original_moments, powers
from condmask.samples.bandwidth import check_rule, checked_masking, quartile_places, rule, search_lengths
from condmask.samples.cache import BoundedCache
from condmask.samples.noise_class import NoiseClass

KEPT = 3  # T_1, a T_b and a density
SIZED = 16  # bandwidths


class CountedSample:
    """ValueCounts by grid point: all that estimates on a grid depend on, except covariances.

    Parameters
    ----------
    counts : ValueCounts
        By point of the grid.
    law : Law
        Its grid is that of the data.
    workers : int or map-like callable
    """

    def __init__(self, counts: ValueCounts, law: Law, workers: Workers = 1) -> None:
        assert law.grid is not None
        self.counts, self.n, self.law = counts, counts.n, law
        self._workers = workers
        self._grid = law.grid
        self._kept = BoundedCache(KEPT)
        self._sized = BoundedCache(SIZED)

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""
        return powers(self._values(), order, self.law.sigma, self.counts.counts)

    def moments(self, order: int) -> Powers:
        return original_moments(self.powers(order), self.law)

    def bandwidth(self, given: Any) -> float | None:
        given = check_rule(given)
        if not isinstance(given, str):
            return None if given is None else float(given)
        _, scale, means = self.powers(2)
        spread = np.sqrt(max(means[2] - means[1] ** 2, 0.0) * self.n / max(self.n - 1, 1)) * scale
        low, along = quartile_places(self.n)
        below, values = self.counts.below[1:], self._values()
        near, next_ = (
            values[np.searchsorted(below, place, side="right")]
            for place in (low, np.minimum(low + 1, self.n - 1))
        )
        quartiles = near + along * (next_ - near)
        return rule(given, float(spread), float(quartiles[1] - quartiles[0]), self.n)

    def engine(self, points: int, bandwidth: float | None, tol: float) -> str:
        masking = checked_masking(self.law, bandwidth)
        return choice.choose(masking, self._sizes(masking), points, tol, "auto")

    def values(
        self, x: np.ndarray, bandwidth: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        masking = checked_masking(self.law, bandwidth)
        chosen = choice.choose(masking, self._sizes(masking), x.size, tol, method)
        at, half = self._points(x, bandwidth), 0.5 if bandwidth is None else 0.0
        sigma = self.law.sigma / self.law.step
        if chosen == "grid":
            t = self._whole(masking, tol, density).at(at)
        elif chosen == "lattice":
            t = curves.values(self._curve(masking, tol, density), at + half, self._workers)
            t = t / sigma if density else t
        else:
            t = pairwise.evaluate(
                self.counts.records(), at + half, sigma, masking,
                tol=tol, method=chosen, density=density, workers=self._workers,
            )  # fmt: skip
        return np.asarray(t / self.law.step if density else t)

    def quantiles(self, q: np.ndarray, bandwidth: float | None, tol: float, crossing: str) -> np.ndarray:
        masking = checked_masking(self.law, bandwidth)
        chosen = choice.choose_for_crossings(masking, self._sizes(masking), q.size, crossing, tol)
        cdf = self._whole(masking, tol, False) if chosen == "grid" else self._searched(masking, tol)
        return self.from_steps(cdf.quantile(q - tol, crossing))

    def monotone(self, x: np.ndarray, bandwidth: float | None, tol: float) -> np.ndarray:
        return self.cdf(bandwidth, tol).rearranged(self._points(x, bandwidth), max(tol, FINEST_REARRANGED))

    def cdf(self, bandwidth: float | None, tol: float) -> CDF:
        masking = checked_masking(self.law, bandwidth)
        choice.check_tol(masking, tol)
        if self._sizes(masking).transformable:
            whole: CDF = self._whole(masking, tol, False)
            return whole
        return self._searched(masking, tol)

    def from_steps(self, steps: np.ndarray) -> np.ndarray:
        return self._amounts_of(steps) + 0.0

    def noise_class(self) -> NoiseClass:
        return NoiseClass(self.counts, self.law, self._points, self._amounts_of)

    def _sizes(self, masking: Masking) -> Sizes:
        """The sizes that decide on an engine; cached, since every request needs them."""
        sizes: Sizes = self._sized.get(masking, lambda: choice.sizes_of(self.counts, masking))
        return sizes

    def _whole(self, masking: Masking, tol: float, density: bool) -> Any:
        if masking.beta == 0.0:
            choice.check_tol(masking, tol)
            return self._kept.get("T_1", lambda: grid.steps(self.counts, masking))
        unit = masking.delta if density else 1.0
        return self._kept.get(
            (masking, tol, density),
            lambda: grid.polynomials(self.counts, masking, tol * unit, density=density),
        )

    def _searched(self, masking: Masking, tol: float) -> CDF:
        """T as a curve, in which crossings are searched."""
        reach, resolution = search_lengths(masking, self.law.sigma / self.law.step, tol)
        return CurveCDF(self._curve(masking, tol, False), reach, resolution, tol, self._workers)

    def _curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        sigma = self.law.sigma / self.law.step

        def make() -> Curve:
            return curves.curve(
                self.counts.values, sigma, masking, tol,
                density=density, workers=self._workers, below=self.counts.below,
            )  # fmt: skip

        curve: Curve = self._kept.get((masking, tol, density, "lattice"), make)
        return curve

    def _values(self) -> np.ndarray:
        """The counted values in the units of the data."""
        return self._amounts_of(self.counts.values)

    def _amounts_of(self, steps: np.ndarray) -> np.ndarray:
        """Steps in the units of the data."""
        return self._grid.values(steps)

    def _points(self, x: np.ndarray, bandwidth: float | None) -> np.ndarray:
        """Points x in steps: the grid point at or below for T_1, anywhere for T_b."""
        if bandwidth is None:
            return self._grid.below(x)
        with np.errstate(over="ignore"):
            return x * self._grid.denominator / self._grid.numerator
