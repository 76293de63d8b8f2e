"""Populations to draw from: a copula with given margins, a real column resampled, or a user's function."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError

NODES = 1000  # of an axis of the double integral of a correlation


class NormalCopula:
    """Two variables with given margins, joined by a normal copula; or one.

    Parameters
    ----------
    margins : sequence of one or two frozen SciPy distributions
        The first is the sensitive variable.
    correlation : float
        Parameter of the copula, -1 < correlation < 1: the correlation of the underlying normal variables.
    """

    def __init__(self, margins: Any, correlation: float = 0.0) -> None:
        with _checks.converting(margins, "margins", "one or two frozen SciPy distributions"):
            self.margins = tuple(margins)
        if len(self.margins) not in (1, 2):
            raise ArgumentError(f"margins must be one or two distributions, got {len(self.margins)}")
        for margin in self.margins:
            if not hasattr(margin, "dist") or not hasattr(margin, "ppf"):
                raise ArgumentTypeError(
                    f"margins must be frozen SciPy distributions, got {_checks.shown(margin)}"
                )
        self.copula = _checks.real(correlation, "correlation", "a number between -1 and 1")
        _checks.require(-1.0 < self.copula < 1.0, "correlation must lie between -1 and 1", correlation)

    def __repr__(self) -> str:
        named = [f"{m.dist.name}{m.args or ''}" for m in self.margins]
        return f"NormalCopula({', '.join(named)}, correlation={self.copula!r})"

    def __call__(self, rng: np.random.Generator, replications: int, n: int) -> tuple[np.ndarray, ...]:
        """Draw `replications` samples of n."""
        normal = rng.standard_normal((len(self.margins), replications, n))
        if len(normal) == 2:
            normal[1] *= np.sqrt(1.0 - self.copula**2)
            normal[1] += self.copula * normal[0]
        return tuple(_of_normal(margin, values) for margin, values in zip(self.margins, normal, strict=True))

    def mean(self) -> float:
        """Mean of the sensitive variable."""
        return float(self.margins[0].mean())

    def std(self) -> float:
        """Standard deviation of the sensitive variable."""
        return float(self.margins[0].std())

    def moment(self, order: int) -> float:
        """Raw moment of the sensitive variable."""
        return float(self.margins[0].moment(_checks.order(order, "order")))

    def quantile(self, q: np.ndarray) -> np.ndarray:
        """Quantiles of the sensitive variable."""
        return np.asarray(self.margins[0].ppf(_checks.reals(q, "q")))

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Distribution function of the sensitive variable."""
        return np.asarray(self.margins[0].cdf(_checks.reals(t, "t")))

    def correlation(self) -> float:
        """Pearson's correlation of the margins, which differs from the copula's parameter.

        By the midpoint rule in two independent normal variables, to about 1e-5 for margins with kinks.
        """
        return self._correlation

    def split(self) -> float:
        """The value above which the upper half of the other variable lies: its median."""
        middle = float(self.margins[1].median())
        return middle if self.margins[1].sf(middle) > 0.0 else float(np.nextafter(middle, -np.inf))

    @cached_property
    def _correlation(self) -> float:
        h = 18.0 / NODES
        v = (np.arange(NODES) + 0.5) * h - 9.0
        density = np.exp(-0.5 * v * v) * (h / np.sqrt(2.0 * np.pi))
        x = _of_normal(self.margins[0], v)
        first, spread = self.margins[1].mean(), self.margins[1].std()
        product = 0.0
        for start in range(0, v.size, 100):
            part = slice(start, start + 100)
            other = self.copula * v[part, None] + np.sqrt(1.0 - self.copula**2) * v
            inner = (_of_normal(self.margins[1], other) - first) @ density
            product += float(((x[part] - self.mean()) * density[part]) @ inner)
        return product / (self.std() * float(spread))


class Resampled:
    """A real column, drawn with replacement; with a second column, in pairs.

    Parameters
    ----------
    x : array_like of shape (records,)
    other : array_like of shape (records,), optional
    """

    def __init__(self, x: Any, other: Any = None) -> None:
        self.x = _checks.column(x, "x")
        self.other = None if other is None else _checks.column(other, "other")
        for name, column in (("x", self.x), ("other", self.other)):
            if column is not None:
                _checks.complete(column, name)
                _checks.same_length(column, name, self.x.size, "x")
        self.ascending = np.sort(self.x)  # sums from the smallest up, as studies add

    def __repr__(self) -> str:
        return f"Resampled({self.x.size} records{', in pairs' if self.other is not None else ''})"

    def __call__(self, rng: np.random.Generator, replications: int, n: int) -> tuple[np.ndarray, ...]:
        """Draw `replications` samples of n."""
        rows = rng.integers(0, self.x.size, (replications, n))
        return (self.x[rows],) if self.other is None else (self.x[rows], self.other[rows])

    def mean(self) -> float:
        """Mean of the column."""
        return float(self.ascending.mean())

    def std(self) -> float:
        """Standard deviation of the column, divisor n."""
        return float(self.ascending.std())

    def moment(self, order: int) -> float:
        """Raw moment of the column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.mean(self.ascending ** _checks.order(order, "order")))

    def quantile(self, q: np.ndarray) -> np.ndarray:
        """Quantiles of the column: the least values whose distribution function reaches q."""
        rule = "q must lie between 0 and 1"
        shares = _checks.every(_checks.reals(q, "q"), lambda q: (q >= 0.0) & (q <= 1.0), rule)
        found = np.quantile(self.x, shares.ravel(), method="inverted_cdf") if shares.size else shares
        return np.reshape(found, shares.shape)

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Distribution function of the column."""
        return np.searchsorted(self.ascending, _checks.reals(t, "t"), side="right") / self.x.size

    def correlation(self) -> float:
        """Correlation of the pair."""
        return float(np.corrcoef(self.x, self._second())[0, 1])

    def difference(self) -> float:
        """Mean of the records above the median of the other column, less that of the rest."""
        above = self._second() > self.split()
        return float(self.x[above].mean() - self.x[~above].mean())

    def split(self) -> float:
        """The value above which the upper half of the other column lies."""
        return split(self._second())

    def _second(self) -> np.ndarray:
        if self.other is None:
            raise ArgumentError("other must have been given for relations of the pair")
        return self.other


class Fixed(Resampled):
    """A real column, the same in every replicate: the only error is that of masking.

    Parameters
    ----------
    x : array_like of shape (records,)
    other : array_like of shape (records,), optional
    """

    def __repr__(self) -> str:
        return f"Fixed({self.x.size} records{', in pairs' if self.other is not None else ''})"

    def __call__(self, rng: np.random.Generator, replications: int, n: int) -> tuple[np.ndarray, ...]:
        """The column, `replications` times; n must be its number of records."""
        if n != self.x.size:
            raise ArgumentError(f"n must be the {self.x.size} records of a fixed file, got {n}")
        columns = (self.x,) if self.other is None else (self.x, self.other)
        return tuple(np.broadcast_to(column, (replications, n)) for column in columns)

    def std(self) -> float:
        """Standard deviation of the column, divisor n - 1, as it is estimated."""
        return float(self.ascending.std(ddof=1))


def paper_population() -> NormalCopula:
    """The paper's: Laplace(10, 1000) and Laplace(50, 250), normal copula with parameter -0.7."""
    from scipy.stats import laplace

    return NormalCopula((laplace(10.0, 1000.0), laplace(50.0, 250.0)), -0.7)


def _of_normal(margin: Any, normal: np.ndarray) -> np.ndarray:
    """Standard normal values turned into those of a margin of the same ranks."""
    if margin.dist.name == "laplace" and not margin.kwds and len(margin.args) == 2:
        center, scale = margin.args  # some five times as fast as the quantile function
        return np.asarray(center - np.sign(normal) * scale * np.log(2.0 * ndtr(-np.abs(normal))))
    if margin.dist.name == "norm" and not margin.kwds and len(margin.args) == 2:
        return np.asarray(margin.args[0] + margin.args[1] * normal)
    tail = ndtr(-np.abs(normal))  # from the nearer end, where it does not round to 1
    values = np.empty(np.shape(normal))
    above = normal > 0.0
    values[above] = margin.isf(tail[above])
    values[~above] = margin.ppf(tail[~above])
    return values


def split(w: np.ndarray) -> float:
    """The value above which the upper half of w lies: the median, or just below it if nothing is above it."""
    middle = float(np.median(w))
    return middle if w.max() > middle else float(np.nextafter(middle, -np.inf))
