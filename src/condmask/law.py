"""Define the law that masked a column: p, the noise, and the grid of data and noise.

sigma is the standard deviation of the noise before it is rounded, whatever its law.
"""

from math import comb, exp, factorial, prod, sqrt
from typing import NamedTuple

import numpy as np

from condmask.grid import Grid
from condmask.kernels import normal

# The laws of noise, by name. A further one needs a branch in this file, in
# `distribution/symbol.py` (its characteristic function, and the tail of K) and in
# `reverse_mapping/mapping.py` (`sums`, `chances`), and its name in `cli/options.py`;
# `tests/test_law.py` compares them all.
NOISES = ("normal", "laplace")

# Grids at most this wide (in units of sigma) leave no trace of aliasing in rounded normal noise:
# exp(-pi^2 / (2 delta^2)) = 5e-20.
FINE_GRID = 1.0 / 3.0


class Law(NamedTuple):
    """The law of masked values.

    Attributes
    ----------
    p : float
        Swap probability; 0 for noise added to every value.
    noise : {"normal", "laplace"}
    sigma : float
        Standard deviation of the noise before rounding, in the units of the data.
    grid : Grid or None
        The grid of data and noise.
    """

    p: float
    noise: str
    sigma: float
    grid: Grid | None = None

    @property
    def step(self) -> float:
        """The step of the grid, 0 for none."""
        return 0.0 if self.grid is None else self.grid.step

    @property
    def variance(self) -> float:
        """Variance of the noise as it is added."""
        return float(self.noise_moments(2, 1.0)[2])

    @property
    def invertible(self) -> bool:
        """Whether the distribution function of the originals can be estimated.

        Without swaps only under Laplace noise, whose inverse is a second derivative; that of
        normal noise grows without bound.
        """
        return self.p > 0.0 or self.noise == "laplace"

    def noise_moments(self, order: int, scale: float) -> np.ndarray:
        """Return E Y^k for k = 0 .. order, of the noise as it is added, in units of ``scale``."""
        relative = rounded_noise_moments(self.noise, self.step and self.step / self.sigma, order)
        return np.asarray(relative * (self.sigma / scale) ** np.arange(order + 1))

    def noise_within(self, d: np.ndarray) -> np.ndarray:
        """Return P(|Y| < d) for the noise as it is added."""
        if self.grid is not None:
            d = (self.grid.above(d) - 0.5) * self.step
        with np.errstate(over="ignore"):  # infinitely many standard deviations
            u = np.ascontiguousarray(np.maximum(d, 0.0) / self.sigma)
        if self.noise == "normal":
            shares = np.empty(u.shape)
            normal.within(u.ravel(), shares.reshape(-1))
            return shares
        return np.asarray(-np.expm1(-u * np.sqrt(2.0)))

    def draw(self, stream: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
        """Draw noise, in whole steps if there is a grid."""
        unit = self.sigma if self.grid is None else self.sigma / self.step
        if self.noise == "normal":
            drawn = stream.standard_normal(shape)
            drawn *= unit
        else:
            drawn = stream.laplace(0.0, unit / np.sqrt(2.0), shape)
        return drawn if self.grid is None else np.rint(drawn)

    def to_units(self, values: np.ndarray) -> np.ndarray:
        """Return values in whole steps of the grid; without a grid, as they are."""
        return values if self.grid is None else self.grid.units(values)

    def from_units(self, units: np.ndarray) -> np.ndarray:
        """Return whole steps of the grid as values; the inverse of `to_units`."""
        return units if self.grid is None else self.grid.values(units)


def rounded_noise_moments(noise: str, delta: float, order: int) -> np.ndarray:
    """Return E Y^k for k = 0 .. order, in units of sigma, of noise rounded to a grid.

    The step of the grid is delta sigma.
    """
    moments = np.zeros(order + 1)
    moments[0] = 1.0
    for k in range(2, order + 1, 2):
        if delta > 0.0 and noise == "laplace":
            moments[k] = _rounded_laplace_moment(k, delta)
        elif delta <= FINE_GRID:
            # Y rounded has the moments of Y plus an independent uniform, to exp(-2 pi^2 / delta^2)
            moments[k] = sum(
                comb(k, j) * _noise_moment(noise, k - j) * (0.5 * delta) ** j / (j + 1)
                for j in range(0, k + 1, 2)
            )
        else:
            from scipy.special import ndtr

            steps = np.arange(1, 128)  # up to 40 sigma and more
            chance = ndtr((0.5 - steps) * delta) - ndtr((-0.5 - steps) * delta)
            moments[k] = 2.0 * np.sum(chance * (steps * delta) ** k)
    return moments


def _noise_moment(noise: str, k: int) -> float:
    """Return E Y^k for even k, in units of sigma: (k - 1)!!, or k! a^k with a = 1/sqrt(2)."""
    return float(prod(range(1, k, 2)) if noise == "normal" else factorial(k) / 2.0 ** (k // 2))


def _rounded_laplace_moment(k: int, delta: float) -> float:
    """Return 2 sinh(h/2) sum_j (j delta)^k e^{-jh}, summed by Eulerian numbers.

    h is the step over the scale of the Laplace law.
    """
    h = delta * sqrt(2.0)
    eulerian = [1]
    for size in range(2, k + 1):
        previous = [0, *eulerian, 0]
        eulerian = [(i + 1) * previous[i + 1] + (size - i) * previous[i] for i in range(size)]
    q = exp(-h)
    fall = -np.expm1(-h)
    total = sum(number * q ** (i + 1) for i, number in enumerate(eulerian))
    return float(2.0 * np.sinh(0.5 * h) / fall * total * (delta / fall) ** k)


# the law of values released in another order, in which no noise is left
EXACT = Law(1.0, "normal", 0.0)
