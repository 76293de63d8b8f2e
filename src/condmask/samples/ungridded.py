"""Masked values without a grid, sorted once. Results are cached for all threads."""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condmask._blocks import Workers, blocks, joined
from condmask.deconvolution.weight import Masking
from condmask.engines import choice, pairwise
from condmask.engines import lattice as curves
from condmask.engines.cdf import CDF, CurveCDF
from condmask.engines.choice import Sizes
from condmask.engines.counting import ValueCounts, by_value
from condmask.engines.crossings import FINEST_REARRANGED
from condmask.engines.sorting import ascending
from condmask.grid import default_step, grid_of
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, original_moments, powers
from condmask.samples.bandwidth import check_rule, checked_masking, quartile_places, rule, search_lengths
from condmask.samples.cache import BoundedCache
from condmask.samples.noise_class import NoiseClass

KEPT = 3  # T_1, a T_b and a density


class UngriddedSample:
    """Records without a grid, sorted and summed once.

    Parameters
    ----------
    z : ndarray of shape (n,)
    law : Law
    workers : int or map-like callable
    """

    def __init__(self, z: np.ndarray, law: Law, workers: Workers) -> None:
        self.z, self.law, self.n = z, law, int(z.size)
        self._workers, self._sizes = workers, Sizes(self.n, self.n, inf)
        self._kept, self._powers = BoundedCache(KEPT), BoundedCache(KEPT)

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""
        kept: Powers = self._powers.get(order, lambda: powers(self.z, order, self.law.sigma))
        return kept

    def moments(self, order: int) -> Powers:
        return original_moments(self.powers(order), self.law)

    def bandwidth(self, given: Any) -> float | None:
        given = check_rule(given)
        if not isinstance(given, str):
            return None if given is None else float(given)
        z = self._sorted
        scale = float(max(-z[0], z[-1])) or 1.0  # so that squares neither overflow nor vanish
        low, along = quartile_places(self.n)
        quartiles = z[low] / scale + along * (z[np.minimum(low + 1, self.n - 1)] / scale - z[low] / scale)
        _, unit, means = self.powers(2)
        spread = np.sqrt(max(means[2] - means[1] ** 2, 0.0) * self.n / max(self.n - 1, 1)) * (unit / scale)
        return rule(given, float(spread), float(quartiles[1] - quartiles[0]), self.n) * scale

    def engine(self, points: int, bandwidth: float | None, tol: float) -> str:
        return choice.choose(checked_masking(self.law, bandwidth), self._sizes, points, tol, "auto")

    def values(
        self, x: np.ndarray, bandwidth: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        masking = checked_masking(self.law, bandwidth)
        chosen = choice.choose(masking, self._sizes, x.size, tol, method)
        if chosen != "lattice":
            return pairwise.evaluate(
                self.z, x, self.law.sigma, masking,
                tol=tol, method=chosen, density=density, workers=self._workers,
            )  # fmt: skip
        curve = self._smooth_curve if bandwidth is not None else self._curve
        t = curves.values(curve(masking, tol, density), x, self._workers)
        return t / self.law.sigma if density else t

    def quantiles(self, q: np.ndarray, bandwidth: float | None, tol: float, crossing: str) -> np.ndarray:
        return self.cdf(bandwidth, tol).quantile(q - tol, crossing)

    def monotone(self, x: np.ndarray, bandwidth: float | None, tol: float) -> np.ndarray:
        return self.cdf(bandwidth, tol).rearranged(x, max(tol, FINEST_REARRANGED))

    def cdf(self, bandwidth: float | None, tol: float) -> CDF:
        masking = checked_masking(self.law, bandwidth)
        choice.check_tol(masking, tol)
        reach, resolution = search_lengths(masking, self.law.sigma, tol)
        return CurveCDF(self._curve(masking, tol, False), reach, resolution, tol, self._workers)

    def from_steps(self, steps: np.ndarray) -> np.ndarray:
        return steps

    def noise_class(self) -> NoiseClass:
        """The records as if they had been rounded to the default grid, and with them the points."""
        fine = grid_of(default_step(self.law.sigma))

        def points(x: np.ndarray, bandwidth: float | None) -> np.ndarray:
            with np.errstate(over="ignore"):
                return fine.units(x) if bandwidth is None else x / fine.step

        return NoiseClass(self._counts, self.law._replace(grid=fine), points, fine.values)

    def _curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        def make() -> Curve:
            z = self._sorted
            return curves.curve(z, self.law.sigma, masking, tol, density=density, workers=self._workers)

        curve: Curve = self._kept.get((masking, tol, density), make)
        return curve

    def _smooth_curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        """The curve of T_b from unsorted records, where the data are not spread too widely for that."""

        def make() -> Curve | None:
            return curves.smooth_curve(
                self.z, self.law.sigma, masking, tol, density=density, workers=self._workers
            )

        curve: Curve | None = self._kept.get((masking, tol, density, "unsorted"), make)
        return self._curve(masking, tol, density) if curve is None else curve

    @cached_property
    def _sorted(self) -> np.ndarray:
        return ascending(self.z, self._workers)

    @cached_property
    def _counts(self) -> ValueCounts:
        """The records as if rounded to the default grid."""
        fine, z = grid_of(default_step(self.law.sigma)), self._sorted
        return by_value(joined(fine.units(z[start:stop]) for start, stop in blocks(z.size)))
