"""One sample of masked values: T and its crossings by whichever engine serves, sorted and summed once."""

from typing import Any

import numpy as np

from condmask._blocks import Workers
from condmask._grid import from_units, to_grid, to_units
from condmask.engines import choice, crossings, pairwise
from condmask.engines import lattice as curves
from condmask.engines.sorting import ascending
from condmask.estimates.bandwidth import bandwidth as rule_of_thumb
from condmask.estimates.bandwidth import check_bandwidth
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.weights import weight
from condmask.weights.weight import Masking

CROSSINGS = ("first", "rearranged")
CURVES = 2  # kept: T_1, and a T_b


class Sample:
    """Masked values of one replicate, with what was worked out about them.

    Parameters
    ----------
    z : ndarray of shape (n,)
    law : Law
        p, the noise and the step of the grid.
    decimals : int or None
        Of that grid.
    workers : int or map-like callable
    """

    def __init__(self, z: np.ndarray, law: Law, decimals: int | None, workers: Workers) -> None:
        self.z = z
        self._law = law
        self._decimals = decimals
        self._workers = workers
        self._ordered: np.ndarray | None = None
        self._curves: dict[tuple[Masking, float, bool, bool], Curve] = {}

    def bandwidth(self, value: Any) -> float | None:
        """A bandwidth from a number, the name of a rule, or None."""
        if value is None:
            return None
        return rule_of_thumb(self._sorted() if isinstance(value, str) else self.z, value)

    def masking(self, width: float | None) -> Masking:
        """What K depends on at this bandwidth."""
        p, noise, sigma, step = self._law
        if width is not None:
            check_bandwidth(width, sigma)
        if width is not None and width < 1.5 * step:
            raise ValueError(
                f"bandwidth must be at least 1.5 steps of the grid, {1.5 * step:g}, got {width:g} with "
                f"decimals={self._decimals}"
            )
        return Masking(noise, p, 0.0 if width is None else width / sigma, step / sigma)

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        """T, or its density, at the points x."""
        masking = self.masking(width)
        if self._decimals is not None and width is None:
            x = to_grid(x, self._decimals)
        chosen = choice.choose(masking, self.z.size, x.size, tol, method)
        if chosen != "lattice":
            return pairwise.evaluate(
                self.z, x, self._law.sigma, masking,
                tol=tol, method=chosen, density=density, workers=self._workers,
            )  # fmt: skip
        if self._decimals is not None and width is None:
            x = np.floor(x / self._law.step) + 0.5
        found = curves.values(self._curve(masking, tol, density=density), x, self._workers)
        return found / self._law.sigma if density else found

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        """Crossings of T at the probabilities q."""
        curve, reach, resolution = self._searchable(width, tol)
        found = crossings.quantiles(curve, q, reach, resolution, tol, crossing, self._workers)
        return self._from_grid(found) if width is None else found

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        """The monotone rearrangement of T, within [0, 1], at the points x."""
        curve, reach, resolution = self._searchable(width, tol)
        if self._decimals is not None and width is None:
            x = np.floor(to_grid(x, self._decimals) / self._law.step)
        return crossings.monotone_values(curve, x, reach, resolution, tol, self._workers)

    def _searchable(self, width: float | None, tol: float) -> tuple[Curve, float, float]:
        """The curve of T, the reach of a record and the width at which a crossing is known to rounding."""
        masking = self.masking(width)
        choice.check_tol(masking, tol)
        unit = self._law.sigma
        if self._decimals is not None and width is None:
            unit /= self._law.step
        reach = (weight.reach(masking, 0.25 * tol) + 1.0) * unit
        finest = unit if width is None else min(unit, width)
        return self._curve(masking, tol, ordered=True), reach, 1e-13 * finest

    def _curve(self, masking: Masking, tol: float, *, density: bool = False, ordered: bool = False) -> Curve:
        sigma, z = self._law.sigma, self.z
        smoothed = masking.beta > 0.0
        if smoothed and not ordered and self._ordered is None:
            key = (masking, tol, density, False)
            if key in self._curves:
                return self._curves[key]
            found = curves.smooth_curve(z, sigma, masking, tol, density=density, workers=self._workers)
            if found is not None:
                return self._keep(key, found)
        key = (masking, tol, density, True)
        if key in self._curves:
            return self._curves[key]
        z = self._sorted()
        if self._decimals is not None and not smoothed:
            z, sigma = to_units(z, self._decimals), sigma / self._law.step
        return self._keep(key, curves.curve(z, sigma, masking, tol, density=density, workers=self._workers))

    def _keep(self, key: tuple[Masking, float, bool, bool], curve: Curve) -> Curve:
        while len(self._curves) >= CURVES:
            del self._curves[next(iter(self._curves))]
        self._curves[key] = curve
        return curve

    def _sorted(self) -> np.ndarray:
        if self._ordered is None:
            self._ordered = ascending(self.z, self._workers)
        return self._ordered

    def _from_grid(self, units: np.ndarray) -> np.ndarray:
        return units if self._decimals is None else from_units(units, self._decimals)
