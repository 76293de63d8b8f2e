"""Define populations to draw samples from: a copula with given margins, or a resampled column."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from condmask import _checks
from condmask.errors import ArgumentTypeError
from condmask.row_labels import labels_of_rows, refuse_other_order

CORRELATION_NODES = 1000  # along each axis of the double integral of a correlation

# draws samples: population(rng, replications, n) returns one array or several
Population = Callable[[np.random.Generator, int, int], np.ndarray | tuple[np.ndarray, ...]]


class Margin(Protocol):
    """A frozen distribution of SciPy, as far as it is used here."""

    dist: Any
    args: tuple[float, ...]
    kwds: dict[str, float]

    def mean(self) -> float: ...

    def std(self) -> float: ...

    def cdf(self, x: np.ndarray) -> np.ndarray: ...

    def ppf(self, q: np.ndarray) -> np.ndarray: ...

    def isf(self, q: np.ndarray) -> np.ndarray: ...


class NormalCopula:
    """Two variables with given margins, joined by a normal copula; or one.

    Parameters
    ----------
    margins : sequence of one or two frozen SciPy distributions
        The first is the sensitive variable.
    correlation : float
        Parameter of the copula, -1 < correlation < 1: the correlation of the underlying normal
        variables.
    """

    def __init__(self, margins: Sequence[Margin], correlation: float = 0.0) -> None:
        rule = "one or two frozen SciPy distributions"
        with _checks.converting(margins, "margins", rule):
            self.margins: tuple[Margin, ...] = tuple(margins)
        known = len(self.margins) in (1, 2) and all(
            hasattr(margin, "dist") for margin in self.margins
        )
        _checks.require(known, f"margins must be {rule}", margins, ArgumentTypeError)
        self.copula: float = _checks.real(correlation, "correlation", "a number between -1 and 1")
        _checks.require(
            -1.0 < self.copula < 1.0, "correlation must lie between -1 and 1", correlation
        )

    def __call__(
        self, rng: np.random.Generator, replications: int, n: int
    ) -> tuple[np.ndarray, ...]:
        """Draw `replications` samples of n."""
        normal = rng.standard_normal((len(self.margins), replications, n))
        if len(normal) == 2:
            normal[1] *= np.sqrt(1.0 - self.copula**2)
            normal[1] += self.copula * normal[0]
        return tuple(
            _from_normal(margin, values)
            for margin, values in zip(self.margins, normal, strict=True)
        )

    def mean(self) -> float:
        """Return the mean of the sensitive variable."""
        return float(self.margins[0].mean())

    def std(self) -> float:
        """Return the standard deviation of the sensitive variable."""
        return float(self.margins[0].std())

    def quantile(self, q: np.ndarray) -> np.ndarray:
        """Return quantiles of the sensitive variable."""
        return np.asarray(self.margins[0].ppf(q))

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Return the distribution function of the sensitive variable."""
        return np.asarray(self.margins[0].cdf(t))

    def correlation(self) -> float:
        """Return Pearson's correlation of the margins, which differs from the copula's parameter.

        By the trapezoidal rule in two independent normal variables, to about 1e-5 for margins with
        kinks.
        """
        (v, h) = np.linspace(-9.0, 9.0, CORRELATION_NODES, retstep=True)
        (of_x, of_w) = self.margins
        density = np.exp(-0.5 * v * v) * (h / np.sqrt(2.0 * np.pi))
        x = _from_normal(of_x, v) - of_x.mean()
        w = (
            _from_normal(of_w, self.copula * v[:, None] + np.sqrt(1.0 - self.copula**2) * v)
            - of_w.mean()
        )
        return float((x * density) @ w @ density / (of_x.std() * of_w.std()))


class Resampled:
    """A real column drawn with replacement, or in pairs with a second column.

    The statistics of the column are the truth.

    Parameters
    ----------
    x : array_like of shape (records,)
    other : array_like of shape (records,), optional
    """

    def __init__(self, x: ArrayLike, other: ArrayLike | None = None) -> None:
        refuse_other_order({"other": other}, labels_of_rows(x, "x"))
        named = {"x": x} if other is None else {"x": x, "other": other}
        self.columns: tuple[np.ndarray, ...] = tuple(
            _checks.column(values, name) for name, values in named.items()
        )
        for name, column in zip(named, self.columns, strict=True):
            _checks.complete(column, name)
            _checks.same_length(column, name, self.columns[0].size, "x")

    def __call__(
        self, rng: np.random.Generator, replications: int, n: int
    ) -> tuple[np.ndarray, ...]:
        """Draw `replications` samples of n."""
        rows = rng.integers(0, self.columns[0].size, (replications, n))
        return tuple(column[rows] for column in self.columns)


class Fixed(Resampled):
    """A real column, the same in every replicate: the only error is that of masking.

    Parameters
    ----------
    x : array_like of shape (records,)
    other : array_like of shape (records,), optional
    """

    def __call__(
        self, rng: np.random.Generator, replications: int, n: int
    ) -> tuple[np.ndarray, ...]:
        """Return the column `replications` times; n must be its number of records."""
        return tuple(
            np.broadcast_to(column, (replications, column.size)) for column in self.columns
        )


def paper_population() -> NormalCopula:
    """Return the population of the paper: Laplace(10, 1000) and Laplace(50, 250), joined by a
    normal copula with parameter -0.7.
    """
    from scipy.stats import laplace

    return NormalCopula((laplace(10.0, 1000.0), laplace(50.0, 250.0)), -0.7)


def checked_population(population: Population) -> Population:
    """Return the population, or refuse one that draws no samples and name one that does.

    The message has the type alone, since an array may be a sensitive column.
    """
    is_distribution = hasattr(population, "ppf")  # SciPy's are callable until they are frozen
    if callable(population) and not is_distribution:
        return population
    given = type(population).__name__
    raise ArgumentTypeError(
        f"population must be callable as (rng, replications, n), got {given}: pass "
        "cm.Resampled(x) for an array or column x, cm.NormalCopula([margin]) for a frozen SciPy "
        "distribution margin, such as scipy.stats.norm(0, 1)"
    )


def _from_normal(margin: Margin, normal: np.ndarray) -> np.ndarray:
    """Transform standard normal values into values of a margin with the same ranks."""
    if margin.dist.name == "laplace" and not margin.kwds and len(margin.args) == 2:
        center, scale = margin.args  # about five times as fast as the quantile function
        return np.asarray(center - np.sign(normal) * scale * np.log(2.0 * ndtr(-np.abs(normal))))
    # from the nearer end, where a probability does not round to 1
    ends = [lambda above: margin.isf(ndtr(-above)), lambda below: margin.ppf(ndtr(below))]
    return np.piecewise(normal, [normal > 0.0], ends)


def upper_half_bound(w: np.ndarray) -> float:
    """Return the value above which the upper half of w lies.

    That is the median, or a value just below it if nothing lies above the median.
    """
    middle = float(np.median(w))
    return middle if w.max() > middle else float(np.nextafter(middle, -np.inf))
