"""What stands behind an estimate: one sample of masked values, as records or as counts on a grid.

Both give the powers of the masked values and, by whichever engine serves, T with its crossings. What was
worked out is kept, under a lock, since several threads may ask one estimate.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

import numpy as np

from condmask._blocks import Workers
from condmask._grid import default_step, grid_of
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.engines import choice, crossings, grid, pairwise
from condmask.engines import lattice as curves
from condmask.engines.counting import ValueCounts
from condmask.engines.sorting import ascending
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.samples.bandwidth import check_bandwidth, check_rule, quartile_places, rule
from condmask.samples.moments import Powers, counted_powers, original_moments, original_variance, powers
from condmask.samples.noise_class import NoiseClass

CROSSINGS = ("first", "rearranged")
KEPT = 3  # T_1, a T_b and a density


class MaskedSample(Protocol):
    """What an Estimate asks of what stands behind it."""

    n: int
    law: Law

    def moments(self, order: int) -> Powers:
        """Moments of the original."""

    def variance(self) -> tuple[float, float]:
        """The variance of the original, divisor n - 1, and the scale in whose square it is given."""

    def width(self, bandwidth: Any) -> float | None:
        """A bandwidth in the units of the data from a number or the name of a rule; None for T_1."""

    def engine(self, points: int, width: float | None, tol: float) -> str:
        """What ``method="auto"`` stands for."""

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        """T, or its density, at the points x."""

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        """Crossings of T at the probabilities q."""

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        """The monotone rearrangement of T, within [0, 1], at the points x."""

    def bounds(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """Between which values T_1 lies at the points x."""

    def quantile_bounds(self, q: np.ndarray, tol: float, crossing: str) -> tuple[np.ndarray, np.ndarray]:
        """Between which values the crossings of T_1 lie."""

    def line(self, width: float | None, tol: float) -> grid.Steps | grid.Polynomials | None:
        """T as a whole, in steps of the grid, where a transform gives it."""

    def from_steps(self, steps: np.ndarray, width: float | None) -> np.ndarray:
        """Points of that in the units of the data."""

    def noise_class(self) -> NoiseClass:
        """The records, counted on a grid."""


class BoundedCache:
    """The last few things worked out, by what was asked."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._found: dict[Any, Any] = {}

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._found:
                return self._found[key]
        made = make()
        with self._lock:
            while len(self._found) >= self._most:
                del self._found[next(iter(self._found))]
            self._found[key] = made
        return made


def masking_of(law: Law, width: float | None) -> Masking:
    """What K depends on at this bandwidth."""
    if width is not None:
        check_bandwidth(width, law)
    beta = 0.0 if width is None else width / law.sigma
    return Masking(law.noise, law.p, beta, law.step / law.sigma)


class Sample:
    """Records without a grid, sorted and summed once.

    Parameters
    ----------
    z : ndarray of shape (n,)
    law : Law
    workers : int or map-like callable
    """

    def __init__(self, z: np.ndarray, law: Law, workers: Workers) -> None:
        self.z, self.law, self.n = z, law, int(z.size)
        self._workers = workers
        self._kept = BoundedCache(KEPT + 1)

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""
        return powers(self.z, order, self.law.sigma)

    def moments(self, order: int) -> Powers:
        return original_moments(self.powers(order), self.law)

    def variance(self) -> tuple[float, float]:
        masked = self.powers(2)
        return original_variance(masked, self.n, self.law), masked.scale

    def width(self, bandwidth: Any) -> float | None:
        bandwidth = check_rule(bandwidth)
        if not isinstance(bandwidth, str):
            return None if bandwidth is None else float(bandwidth)
        z = self._sorted()
        scale = float(max(-z[0], z[-1])) or 1.0  # so that squares neither overflow nor vanish
        low, along = quartile_places(self.n)
        quartiles = z[low] / scale + along * (z[np.minimum(low + 1, self.n - 1)] / scale - z[low] / scale)
        return (
            rule(bandwidth, float((z / scale).std(ddof=1)), float(quartiles[1] - quartiles[0]), self.n)
            * scale
        )

    def engine(self, points: int, width: float | None, tol: float) -> str:
        return choice.choose(masking_of(self.law, width), self.n, points, tol, "auto")

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        masking = masking_of(self.law, width)
        chosen = choice.choose(masking, self.n, x.size, tol, method)
        if chosen != "lattice":
            return pairwise.evaluate(
                self.z, x, self.law.sigma, masking,
                tol=tol, method=chosen, density=density, workers=self._workers,
            )  # fmt: skip
        curve = self._smooth_curve if width is not None else self._curve
        found = curves.values(curve(masking, tol, density), x, self._workers)
        return found / self.law.sigma if density else found

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        return crossings.quantiles(*self._searchable(width, tol, q), tol, crossing, self._workers)

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        return crossings.monotone_values(*self._searchable(width, tol, x), tol, self._workers)

    def bounds(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        found = self.values(x, self.width(None), tol, "auto")
        return found, found

    def quantile_bounds(self, q: np.ndarray, tol: float, crossing: str) -> tuple[np.ndarray, np.ndarray]:
        found = self.quantiles(q, self.width(None), tol, crossing)
        return found, found

    def line(self, width: float | None, tol: float) -> grid.Steps | grid.Polynomials | None:
        return None

    def from_steps(self, steps: np.ndarray, width: float | None) -> np.ndarray:
        return steps

    def noise_class(self) -> NoiseClass:
        """As if the records had been rounded to the default grid, and with them the points."""
        fine = grid_of(default_step(self.law.sigma))

        def points(x: np.ndarray, width: float | None) -> np.ndarray:
            with np.errstate(over="ignore"):
                return fine.units(x) if width is None else x / fine.step

        def make() -> ValueCounts:
            units = fine.units(self._sorted())
            first = np.flatnonzero(np.diff(units, prepend=np.nan) != 0.0)
            return ValueCounts(units[first], np.diff(first, append=units.size))

        counts = self._kept.get("counts", make)
        return NoiseClass(counts, self.law._replace(grid=fine), points, fine.values)

    def _searchable(
        self, width: float | None, tol: float, what: np.ndarray
    ) -> tuple[Curve, np.ndarray, float, float]:
        """The curve of T, what is looked for, a record's reach and the width of a known crossing."""
        masking = masking_of(self.law, width)
        choice.check_tol(masking, tol)
        unit = self.law.sigma
        reach = (weight.reach(masking, 0.25 * tol) + 1.0) * unit
        finest = unit if width is None else min(unit, width)
        return self._curve(masking, tol, False), what, reach, 1e-13 * finest

    def _curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        def make() -> Curve:
            z = self._sorted()
            return curves.curve(z, self.law.sigma, masking, tol, density=density, workers=self._workers)

        found: Curve = self._kept.get((masking, tol, density), make)
        return found

    def _smooth_curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        """The same of T_b from unsorted records, where the data are not spread too widely for that."""

        def make() -> Curve | None:
            return curves.smooth_curve(
                self.z, self.law.sigma, masking, tol, density=density, workers=self._workers
            )

        found: Curve | None = self._kept.get((masking, tol, density, "unsorted"), make)
        return self._curve(masking, tol, density) if found is None else found

    def _sorted(self) -> np.ndarray:
        found: np.ndarray = self._kept.get("sorted", lambda: ascending(self.z, self._workers))
        return found


class Counted:
    """Counts by grid point: all that a gridded sample's estimates depend on, but for covariances.

    Parameters
    ----------
    counts : ValueCounts
        By point of the grid, or by so many points together.
    law : Law
        Its grid is that of the data.
    times : int
        How many neighbouring grid points share a count, where memory was short.
    workers : int or map-like callable
    """

    def __init__(self, counts: ValueCounts, law: Law, workers: Workers = 1, *, times: int = 1) -> None:
        assert law.grid is not None
        self.counts, self.n, self.law = counts, counts.n, law
        self._workers, self._times = workers, times
        self._grid = law.grid
        # neighbours together are what a release on so coarse a grid would be
        self._own = law if times == 1 else law._replace(grid=self._grid.times(times))
        self._kept = BoundedCache(KEPT)
        self._served: dict[Masking, bool] = {}

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""
        return counted_powers(self._values(), self.counts.counts, order, self.law.sigma)

    def moments(self, order: int) -> Powers:
        return original_moments(self.powers(order), self.law)

    def variance(self) -> tuple[float, float]:
        masked = self.powers(2)
        return original_variance(masked, self.n, self.law), masked.scale

    def width(self, bandwidth: Any) -> float | None:
        bandwidth = check_rule(bandwidth)
        if not isinstance(bandwidth, str):
            return None if bandwidth is None else float(bandwidth)
        _, scale, means = self.powers(2)
        spread = np.sqrt(max(means[2] - means[1] ** 2, 0.0) * self.n / max(self.n - 1, 1)) * scale
        low, along = quartile_places(self.n)
        below, values = self.counts.below[1:], self._values()
        near, next_ = (
            values[np.searchsorted(below, place, side="right")]
            for place in (low, np.minimum(low + 1, self.n - 1))
        )
        quartiles = near + along * (next_ - near)
        return rule(bandwidth, float(spread), float(quartiles[1] - quartiles[0]), self.n)

    def engine(self, points: int, width: float | None, tol: float) -> str:
        masking = masking_of(self._own, width)
        return choice.choose_counted(masking, self._serves(masking), tol, "auto")

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        masking = masking_of(self._own, width)
        chosen = choice.choose_counted(masking, self._serves(masking), tol, method)
        at, half = self._points(x, width), 0.5 if width is None else 0.0
        sigma = self.law.sigma / self._own.step
        if chosen == "grid":
            found = self._line(masking, tol, density).at(at)
        elif chosen == "lattice":
            found = curves.values(self._curve(masking, tol, density), at + half, self._workers)
            found = found / sigma if density else found
        else:
            found = pairwise.evaluate(
                self.counts.records(), at + half, sigma, masking,
                tol=tol, method=chosen, density=density, workers=self._workers,
            )  # fmt: skip
        return np.asarray(found / self._own.step if density else found)

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        masking = masking_of(self._own, width)
        choice.check_tol(masking, tol)
        if self._serves(masking):
            line = self._line(masking, tol, False)
            found = line.first(q - tol) if crossing == "first" else line.rearranged(q - tol)
        else:
            found = crossings.quantiles(*self._searchable(masking, tol, q), tol, crossing, self._workers)
        return self.from_steps(found, width)

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        masking = masking_of(self._own, width)
        choice.check_tol(masking, tol)
        at = self._points(x, width)
        if not self._serves(masking):
            return crossings.monotone_values(*self._searchable(masking, tol, at), tol, self._workers)
        return np.asarray(
            self._line(masking, tol, False).rearranged_at(at, max(tol, crossings.FINEST_REARRANGED))
        )

    def bounds(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        if self._times == 1:
            found = self.values(x, None, tol, "auto")
            return found, found
        low, high = self._bounding(tol)
        at = self._points(x, None)
        return low.at(at), high.at(at)

    def quantile_bounds(self, q: np.ndarray, tol: float, crossing: str) -> tuple[np.ndarray, np.ndarray]:
        if self._times == 1:
            found = self.quantiles(q, None, tol, crossing)
            return found, found
        low, high = self._bounding(tol)
        firsts, lasts = (
            line.first(q - tol) if crossing == "first" else line.rearranged(q - tol) for line in (high, low)
        )
        return self._grid.values(firsts * self._times), self._grid.values(lasts * self._times)

    def line(self, width: float | None, tol: float) -> grid.Steps | grid.Polynomials | None:
        masking = masking_of(self._own, width)
        choice.check_tol(masking, tol)
        found: grid.Steps | grid.Polynomials | None = None
        if self._serves(masking):
            found = self._line(masking, tol, False)
        return found

    def from_steps(self, steps: np.ndarray, width: float | None) -> np.ndarray:
        return self._amounts_of(steps) + 0.0

    def noise_class(self) -> NoiseClass:
        return NoiseClass(self.counts, self._own, self._points, self._amounts_of)

    def _bounding(self, tol: float) -> tuple[grid.Steps, grid.Steps]:
        """T_1 at its least and its largest, wherever in their cells the records lie."""
        masking = masking_of(self._own, None)
        choice.check_tol(masking, tol)
        if not self._serves(masking):
            raise ValueError("most_points must be larger for bounds of data spread so widely")
        return grid.bounds(self._line(masking, tol, False), self.counts, masking, self._times)

    def _serves(self, masking: Masking) -> bool:
        """Whether a transform serves; known from then on, for every request asks."""
        found = self._served.get(masking)
        if found is None:
            found = self._served[masking] = grid.serves(self.counts, masking)
        return found

    def _line(self, masking: Masking, tol: float, density: bool) -> Any:
        if masking.beta == 0.0:
            choice.check_tol(masking, tol)
            return self._kept.get("T_1", lambda: grid.steps(self.counts, masking))
        unit = masking.delta if density else 1.0
        return self._kept.get(
            (masking, tol, density),
            lambda: grid.polynomials(self.counts, masking, tol * unit, density=density),
        )

    def _curve(self, masking: Masking, tol: float, density: bool) -> Curve:
        sigma = self.law.sigma / self._own.step

        def make() -> Curve:
            return curves.curve(
                self.counts.values, sigma, masking, tol,
                density=density, workers=self._workers, below=self.counts.below,
            )  # fmt: skip

        found: Curve = self._kept.get((masking, tol, density, "lattice"), make)
        return found

    def _searchable(
        self, masking: Masking, tol: float, what: np.ndarray
    ) -> tuple[Curve, np.ndarray, float, float]:
        sigma = self.law.sigma / self._own.step
        reach = (weight.reach(masking, 0.25 * tol) + 1.0) * sigma
        finest = sigma if masking.beta == 0.0 else min(1.0, masking.beta) * sigma
        return self._curve(masking, tol, False), what, reach, 1e-13 * finest

    def _values(self) -> np.ndarray:
        """The counted values in the units of the data."""
        return self._amounts_of(self.counts.values)

    def _amounts_of(self, steps: np.ndarray) -> np.ndarray:
        """Steps in the units of the data; of several grid points that share a count the middle."""
        return self._grid.values(steps * self._times + 0.5 * (self._times - 1))

    def _points(self, x: np.ndarray, width: float | None) -> np.ndarray:
        """Points x in steps: the grid point at or below for T_1, anywhere for T_b."""
        if width is None:
            return np.floor(self._grid.below(x) / self._times)
        with np.errstate(over="ignore"):
            steps = x * self._grid.denominator / self._grid.numerator
        return (steps - 0.5 * (self._times - 1)) / self._times
