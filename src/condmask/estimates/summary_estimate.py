"""What an analyst gets from a Summary: the same estimates, with brackets where a cell hides the answer."""

from collections.abc import Callable
from math import comb, factorial
from typing import Any

import numpy as np

from condmask import _checks
from condmask._grid import to_grid
from condmask.engines import lattice as curves
from condmask.engines.choice import check_tol
from condmask.estimates.bandwidth import RULES, check_bandwidth, rule
from condmask.estimates.covariance import retained
from condmask.estimates.moments import shift, unmask
from condmask.estimates.summary import Summary, halved
from condmask.kernels import cells
from condmask.kernels.lattice import ORDER
from condmask.law import Law
from condmask.weights import expansion, weight
from condmask.weights.weight import Masking

_SIGNS = np.where(np.arange(ORDER) % 2, -1.0, 1.0) / np.cumprod([1.0, *range(1, ORDER)])


class SummaryEstimate:
    """Estimates about the original variable from a `Summary` of its masked values.

    Made by `ConditionalMasking.estimate`. Methods as those of `Estimate`; what a cell hides is bracketed by
    `cdf_bounds` and `quantile_bounds`.
    """

    def __init__(self, summary: Summary) -> None:
        if summary.n < 1:
            raise ValueError("z must hold at least 1 masked value, got an empty Summary")
        scheme = summary.scheme
        step = 0.0 if scheme.decimals is None else 10.0**-scheme.decimals
        self.scheme = scheme
        self.n = summary.n
        self._law = Law(scheme.p, scheme.noise, scheme.sigma, step)
        self._width = summary.resolution
        self._index, self._moments = summary._index, summary._moments
        self._centers = summary._centers(self._index)
        self._offset = summary._offset
        self._below = np.append(0.0, np.cumsum(self._moments[:, 0]))
        self._pairs = summary._pairs

    def __repr__(self) -> str:
        return (
            f"SummaryEstimate(n={self.n}, cells={self._index.size}, resolution={self._width:g}, "
            f"scheme={self.scheme!r})"
        )

    # --- moments (Theorem 2.1) ---

    def mean(self) -> float:
        """Mean of the original."""
        center, scale, about = self._original_moments(1)
        return float(center + about[1] * scale)

    def variance(self) -> float:
        """Variance of the original, divisor n - 1; it may be negative."""
        _, scale, about = self._masked_moments(2)
        masked = (about[2] - about[1] ** 2) * self.n / (self.n - 1)
        return float((masked - (1.0 - self._law.p) * self._law.noise_moments(2, scale)[2]) * scale**2)

    def std(self) -> float:
        """Standard deviation of the original; NaN where the variance is estimated negative."""
        variance = self.variance()
        return float(np.sqrt(variance)) if variance >= 0.0 else float("nan")

    def moment(self, order: int, *, central: bool = False) -> float:
        """Raw or central moment of the original, of order at most 9, the powers that cells keep."""
        if _checks.whole(order, "order", least=1) >= ORDER:
            raise ValueError(f"order must be at most {ORDER - 1} for a Summary, got {order}")
        center, scale, about = self._original_moments(order)
        distance = -about[1] if central else center / scale
        return float(shift(about, distance)[order] * scale**order)

    # --- distribution (Theorems 2.2 and 2.3) ---

    def cdf(self, t: Any, *, bandwidth: Any = None, tol: float = 1e-10) -> Any:
        """Distribution function of the original at t, the records of a cell spread over it evenly.

        Raises
        ------
        ValueError
            If the cells are too wide for the bandwidth; the sentence says which resolution is needed.
        """
        points = _checks.reals(t, "t")
        x, tol = points.ravel(), _checks.positive(tol, "tol")
        if bandwidth is not None:
            return _shaped(self._smoothed(x, self._bandwidth(bandwidth), tol, density=False), points)
        return _shaped(self._bracket(x, tol)[2], points)

    def cdf_bounds(self, t: Any, *, tol: float = 1e-10) -> tuple[Any, Any]:
        """Between which values T_1 lies at t, wherever in their cell the records of t's cell are."""
        points = _checks.reals(t, "t")
        low, high, _ = self._bracket(points.ravel(), _checks.positive(tol, "tol"))
        return _shaped(low, points), _shaped(high, points)

    def pdf(self, t: Any, *, bandwidth: Any = "scott", tol: float = 1e-10) -> Any:
        """Density of the original, smoothed: the derivative of T_b."""
        points = _checks.reals(t, "t")
        if bandwidth is None:
            raise ValueError("bandwidth must be a positive number or a rule for a density, got None")
        found = self._smoothed(points.ravel(), self._bandwidth(bandwidth), tol, density=True)
        return _shaped(found / self._law.sigma, points)

    def quantile(self, q: Any, *, bandwidth: Any = None, tol: float = 1e-10) -> Any:
        """Quantiles of the original: for T_1 within the first cell by whose end T has reached q.

        For T_b the crossing in that cell, to rounding.
        """
        probabilities = _checks.probabilities(q, "q")
        wanted = probabilities.ravel()
        width = None if bandwidth is None else self._bandwidth(bandwidth)
        low, high = self._crossing_cells(wanted, width, tol)
        if width is None:
            if self._law.step > 0.0 and self._width == self._law.step:
                return _shaped(low + 0.5 * self._law.step, probabilities)  # the one value in the cell
            left, right = self._bracket(low, tol)[2], self._bracket(high, tol)[2]
            share = np.clip((wanted - left) / np.where(right > left, right - left, 1.0), 0.0, 1.0)
            return _shaped(low + share * (high - low), probabilities)
        for _ in range(80):
            middle = 0.5 * (low + high)
            reached = self._smoothed(middle, width, tol, density=False) >= wanted
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return _shaped(high, probabilities)

    def quantile_bounds(self, q: Any, *, tol: float = 1e-10) -> tuple[Any, Any]:
        """The ends of the first cell by whose end T_1 has reached q."""
        probabilities = _checks.probabilities(q, "q")
        low, high = self._crossing_cells(probabilities.ravel(), None, tol)
        return _shaped(low, probabilities), _shaped(high, probabilities)

    def bandwidth(self, name: str = "scott") -> float:
        """The bandwidth that a rule gives; the IQR is read from the cells, to within one of them."""
        return self._bandwidth(_checks.choice(name, "rule", tuple(RULES)))

    # --- two variables (Theorem 2.5) ---

    def covariance(self) -> float:
        """Covariance of the original with the column that the updates brought along."""
        n, _, _, _, product, _ = self._pairs
        if n < 2:
            raise ValueError(f"other must have been given to update with at least 2 records, got {int(n)}")
        if self.scheme.strata is not None:
            raise ValueError(
                f"strata must be known for a covariance: donors were drawn within {self.scheme.strata!r}, "
                "and a Summary keeps no strata; estimate from the values"
            )
        return float(product / (n - 1) / retained(self._law.p, int(n)))

    def correlation(self) -> float:
        """Correlation with that column; NaN where a variance is estimated negative."""
        covariance = self.covariance()
        n, _, _, own, _, other = self._pairs
        variance = own / (n - 1) - (1.0 - self._law.p) * self._law.noise_moments(2, 1.0)[2]
        if variance <= 0.0 or other <= 0.0:
            return float("nan")
        return float(covariance / np.sqrt(variance * other / (n - 1)))

    # --- private ---

    def _masked_moments(self, order: int) -> tuple[float, float, np.ndarray]:
        """Mean powers of (z - center) / scale, from the power sums of the cells."""
        count = self._moments[:, 0] / self.n
        center = float(self._centers @ count)
        scale = max(float(np.abs(self._centers - center).max()) + self._width, self._law.sigma)
        away, width = (self._centers - center) / scale, self._width / scale
        means = np.array([
            sum(
                comb(k, m) * width**m * float((away ** (k - m)) @ self._moments[:, m]) for m in range(k + 1)
            ) / self.n
            for k in range(order + 1)
        ])  # fmt: skip
        return center, scale, means

    def _original_moments(self, order: int) -> tuple[float, float, np.ndarray]:
        center, scale, means = self._masked_moments(order)
        return center, scale, unmask(means, self._law.noise_moments(order, scale), self._law.p)

    def _bandwidth(self, value: Any) -> float:
        if not isinstance(value, str):
            return _checks.positive(value, "bandwidth")
        _checks.choice(value, "bandwidth", tuple(RULES))
        _, scale, means = self._masked_moments(2)
        spread = float(np.sqrt((means[2] - means[1] ** 2) * self.n / max(self.n - 1, 1)) * scale)
        lower, upper = np.interp([0.25 * self.n, 0.75 * self.n], self._below, self._edges())
        return rule(value, spread, float(upper - lower), self.n)

    def _edges(self) -> np.ndarray:
        """The left end of the first cell, and the right ends of all."""
        return np.append(self._centers[0] - 0.5 * self._width, self._centers + 0.5 * self._width)

    def _masking(self, width: float) -> Masking:
        p, noise, sigma, step = self._law
        check_bandwidth(width, sigma)
        return Masking(noise, p, width / sigma, step / sigma)

    def _smoothed(self, x: np.ndarray, width: float, tol: float, *, density: bool) -> np.ndarray:
        """T_b, or sigma times its derivative."""
        masking = self._masking(width)
        check_tol(masking, tol)
        out = np.zeros(x.size)
        for kernel in curves.kernels_of(masking, tol, density):
            self._add(kernel, x, out)
        return out / self.n

    def _add(self, kernel: curves.Kernel, x: np.ndarray, out: np.ndarray) -> None:
        """Add one kernel's sum over the widest cells that keep the tolerance."""
        shape, tol, unit = kernel.shape, kernel.tol, kernel.unit * self._law.sigma
        widest = expansion.widest(shape, tol) * unit
        if self._width > widest:
            raise ValueError(
                f"resolution must be at most {widest:g} for this bandwidth and tolerance, got cells of "
                f"{self._width:g}; summarise again, or with a larger bandwidth"
            )
        halvings = int(np.log2(widest / self._width))
        index, power_sums = self._halved(halvings)
        own = self._width * 2.0**halvings
        found = expansion.cells(shape, tol, own / unit)
        below = np.append(0.0, np.cumsum(power_sums[:, 0]))
        centers = (index + 0.5) * own - self._offset
        cells.add_cells(
            x, centers, below, power_sums * _SIGNS, 1.0 / own, found.reach, found.derivatives,
            shape.density, kernel.limit, kernel.weight, out,
        )  # fmt: skip

    def _halved(self, times: int) -> tuple[np.ndarray, np.ndarray]:
        index, power_sums = self._index, self._moments
        for _ in range(times):
            index, power_sums = halved(index, power_sums)
        return index, power_sums

    def _bracket(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds of T_1 over where the records of x's cell are, and T_1 where they lie evenly."""
        p, noise, sigma, step = self._law
        masking = Masking(noise, p, 0.0, step / sigma)
        check_tol(masking, tol)
        if self.scheme.decimals is not None:
            x = to_grid(x, self.scheme.decimals)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite and enormous points
            position = np.ceil((x + self._offset) / self._width) - 1.0
            share = (x + self._offset) / self._width - position
        place = np.searchsorted(self._index, position)
        cell = np.minimum(place, self._index.size - 1)
        there = (place < self._index.size) & (self._index[cell] == position)
        inside = np.where(there, self._moments[cell, 0], 0.0)
        before = self._below[place]
        if weight.is_discrete(masking):
            if self._width > step:
                raise ValueError(f"resolution must be the grid's step, {step:g}, got {self._width:g}")
            units = np.rint(self._centers / step)
            curve = curves.tied(units, self._below.astype(np.int64), sigma / step, masking, tol)
            found = curves.values(curve, np.floor(x / step) + 0.5)
            return found, found, found
        if weight.has_closed_form(masking):
            amplitude = weight.laplace_tail(masking)[0]
            sums = self._exponentials(masking, tol)
            left, right, without = (
                sums(x, place + i, place + j) for i, j in ((0, 0), (there, there), (0, there))
            )
            low, high = without + before - amplitude * inside, without + before + (1.0 + amplitude) * inside
            right += before + inside
            left += before
        else:
            smooth = np.zeros(x.size)
            self._add(curves.kernels_of(masking, tol, False)[0], x, smooth)
            low = left = smooth + before / p
            high = right = smooth + (before + inside) / p
        end = share == 1.0  # all of the cell lies at or left of its right end
        value = left + np.where(there, share, 0.0) * (right - left)
        return np.where(end, value, low) / self.n, np.where(end, value, high) / self.n, value / self.n

    def _exponentials(self, masking: Masking, tol: float) -> Callable[..., np.ndarray]:
        """T_1 under Laplace noise, less its steps: all cells before one and from another on."""
        amplitude, decay = weight.laplace_tail(masking)
        decay *= self._law.sigma
        if self._width > self._law.step and (
            amplitude * (0.5 * self._width / decay) ** ORDER / factorial(ORDER) > tol
        ):
            raise ValueError(f"resolution must be below {decay:g} for this tol, got cells of {self._width:g}")
        powers = (self._width / decay) ** np.arange(ORDER)
        toward_right = self._moments @ (powers * np.abs(_SIGNS))
        toward_left = self._moments @ (powers * _SIGNS)
        lefts, rights = np.empty(self._index.size), np.empty(self._index.size)
        cells.exponential_cell_sums(self._centers, decay, toward_right, toward_left, lefts, rights)

        def sums(x: np.ndarray, stop: np.ndarray, start: np.ndarray) -> np.ndarray:
            before, behind = np.maximum(stop - 1, 0), np.minimum(start, self._index.size - 1)
            with np.errstate(over="ignore", invalid="ignore"):
                left = np.exp((self._centers[before] - x) / decay) * lefts[before]
                right = np.exp((x - self._centers[behind]) / decay) * rights[behind]
            found = np.where(stop > 0, left, 0.0) - np.where(start < self._index.size, right, 0.0)
            return np.asarray(amplitude * found)

        return sums

    def _crossing_cells(
        self, q: np.ndarray, width: float | None, tol: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The first cells, of all between the first record's reach and the last's, by whose end T >= q."""
        edges, values = self._curve_at_edges(width, tol)
        running = np.maximum.accumulate(values)
        k = np.minimum(np.searchsorted(running, q), edges.size - 1)
        return edges[np.maximum(k - 1, 0)], edges[k]

    def _curve_at_edges(self, width: float | None, tol: float) -> tuple[np.ndarray, np.ndarray]:
        margin = 30.0 * self._law.sigma + (0.0 if width is None else 9.0 * width)
        ends = self._edges()
        stride = self._width * max(1.0, np.ceil(margin / self._width / 4096.0))
        near = np.arange(1.0, margin / stride + 1.0) * stride
        inner = np.concatenate((self._centers - 0.5 * self._width, ends[1:]))
        edges = np.unique(np.concatenate((ends[0] - near, inner, ends[-1] + near)))
        if width is None:
            return edges, self._bracket(edges, tol)[2]
        return edges, self._smoothed(edges, width, tol, density=False)


def _shaped(values: np.ndarray, points: np.ndarray) -> Any:
    return values.reshape(points.shape) if points.shape else float(values[0])
