"""Estimates means of functions of the original, Gini coefficient and Lorenz curve, with intervals.

Functionals of T_1 (Theorem 2.2 of Ghatak & Roy).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask._blocks import evenly_spaced
from condmask.distribution import inequality
from condmask.distribution.expectation import Function, mean_of_function
from condmask.distribution.inequality import Functional
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.distribution import Distribution, shaped
from condmask.inference import bounded
from condmask.inference.interval import (
    Interval,
    Target,
    check_interval_options,
    interval,
)
from condmask.inference.theorem import Variance

# a function of a user, which maps an array to one number for each entry
UserFunction = Callable[[np.ndarray], ArrayLike]
NEGATIVE_SHARE_LEVEL = 0.9973  # three standard errors, to conclude that some amounts are negative
MAX_VARIANCE_POINTS = 1 << 12  # at which the variance of T is computed; it is interpolated


class Functionals(Distribution):
    """Estimates means of functions of the original, and how unequally it is distributed."""

    def expectation(self, g: UserFunction) -> float:
        r"""Estimate the mean of a function of the original, without bias.

        Parameters
        ----------
        g : callable
            Maps an array of values in the units of the data to one number for each. It is also
            called with values beyond the data, as far as T has mass there.

        Returns
        -------
        float or ndarray of shape (replicates,)

        Raises
        ------
        ValueError
            If g is not finite at a value that has mass (the message names it), or grows so fast
            beyond the data that its mean is not known; and if the data reach over more than 2^27
            points.

        Notes
        -----
        The sum of g weighted by the mass that T gives to the points of the grid; like T, it is
        unbiased given the original file. Where the grid has more than 4,096 points for each sigma,
        g is taken at so many of them, where it jumps at more, and at the masked values; that moves
        the mean by less than .002 of its standard error. g is called with arrays of points within
        reach of the data. With ``g = lambda x: x**k`` it is `moment`.

        Under noise T has mass below the data, so logarithms need a floor,
        ``np.log(np.maximum(x, floor))``, unless they stay away from 0 by more than K reaches, some
        10 sigma. After reverse mapping g is called only with the values of the data.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 8_000.0)
        >>> estimate = scheme.estimate(scheme.mask(incomes, rng=2))
        >>> gap = estimate.expectation(lambda x: np.maximum(15_000 - x, 0) / 15_000)
        >>> bool(abs(gap - np.mean(np.maximum(15_000 - incomes, 0) / 15_000)) < 0.01)
        True
        """
        return _raise_if_nan(self._mean_of(checked_function(g))[0])

    def expectation_interval(
        self,
        g: UserFunction,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Interval:
        """Compute a confidence interval for the mean of a function of the original, by the normal
        approximation.

        Parameters
        ----------
        g
            As for `expectation`.
        confidence_level, target
            As for `cdf_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where `z` is 2-D.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 8_000.0)
        >>> estimate = scheme.estimate(scheme.mask(incomes, rng=2))
        >>> def log(x):
        ...     return np.log(np.maximum(x, 1_000))
        >>> found = estimate.expectation_interval(log, target="file")
        >>> bool(found.low < np.log(incomes).mean() < found.high)
        True
        """
        level, target = check_interval_options(confidence_level, target)
        value, variance = self._mean_of(checked_function(g))
        error = _raise_if_nan(float(variance.standard_error(self.sample.n, target)))
        return interval(_raise_if_nan(value), error, level, target, "the mean of g(X)")

    def gini(self) -> float:
        r"""Estimate the Gini coefficient of the original, a positive amount.

        Returns
        -------
        float or ndarray of shape (replicates,)

        Raises
        ------
        ValueError
            If the mean is estimated negative or zero.

        Notes
        -----
        :math:`\{\int T (1 - T)\, dx + \int \operatorname{Var} T\, dx\} / \bar Z`; the second
        integral removes the bias of the first. As an estimate for the original file it has the
        divisor n (n - 1).
        """
        return float(self._gini().value)

    def gini_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the Gini coefficient, by the normal approximation.

        Parameters
        ----------
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where `z` is 2-D. If no amount is negative, interval
            and estimate lie within [0, 1]; where `gini` lies outside, the estimate is the nearest
            end.

        Warns
        -----
        EstimateWarning
            As for `mean_interval`.

        Notes
        -----
        Near 0 and 1 the interval is built as in `correlation_interval`, so that it keeps its level
        there. If the estimated share of negative amounts is more than three standard errors above
        0, some amounts are taken to be negative; then the coefficient may exceed 1, and nothing is
        cut.
        """
        level, target = check_interval_options(confidence_level, target)
        self._warn_of_skewness(target, self.sample.n, "Gini coefficients")
        return self._bounded([self._gini()], np.ones(()), level, target, "the Gini coefficient")

    def lorenz(self, q: ArrayLike) -> Any:
        r"""Estimate the Lorenz curve of the original: the share of the total that belongs to the
        lowest records.

        Parameters
        ----------
        q : float or array_like of any shape
            Shares of the records, 0 < q < 1.

        Returns
        -------
        float or ndarray of the shape of `q`
            With a leading axis of replicates where `z` is 2-D.

        Raises
        ------
        ValueError
            If the mean is estimated negative or zero.

        Notes
        -----
        With x the quantile q of the rearranged T, :math:`\{q x - \int_{-\infty}^x T\} / \bar Z`;
        the integral is that of T itself, without bias.
        """
        shares = _checks.probabilities(q, "q")
        return shaped(np.array([ordinate.value for ordinate in self._lorenz(shares)]), shares)

    def lorenz_interval(
        self, q: ArrayLike, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute confidence intervals for ordinates of the Lorenz curve, by the normal
        approximation.

        Parameters
        ----------
        q
            As for `lorenz`.
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D. If no amount
            is negative, intervals and estimates lie within [0, q] (`gini_interval`).

        Warns
        -----
        EstimateWarning
            As for `mean_interval`.
        """
        shares = _checks.probabilities(q, "q")
        level, target = check_interval_options(confidence_level, target)
        self._warn_of_skewness(target, self.sample.n, "Lorenz curves")
        return self._bounded(self._lorenz(shares), shares, level, target, "the Lorenz curve")

    # --- private ---

    def _mean_of(self, function: Function) -> tuple[float, Variance]:
        """Return the mean of a function of the original, and n times its variances."""
        counted, masked_by, law = self.gridded
        return mean_of_function(
            function, counted, masked_by, law.from_units, shared_donors=self.scheme.shared_donors
        )

    def _gini(self) -> Functional:
        t, sums = self.cdf_sums
        points = inequality.points_of(t, self.sample.law.from_units)
        x = points[0]
        some = evenly_spaced(x.size, MAX_VARIANCE_POINTS)
        variance = sums.variance(self.sample.to_units(x[some], t)).about("population")
        variance_of_all = np.interp(np.arange(x.size), some, variance / (self.sample.n - 1))
        return inequality.gini(points, self._positive_mean(), variance_of_all)

    def _lorenz(self, shares: np.ndarray) -> list[Functional]:
        points = inequality.points_of(self.cdf_sums[0], self.sample.law.from_units)
        mean = self._positive_mean()
        q = shares.ravel()
        at = self.sample.quantiles(q, crossing="rearranged")
        return [
            inequality.lorenz(points, mean, *each)
            for each in zip(q.tolist(), at.tolist(), strict=True)
        ]

    def _positive_mean(self) -> float:
        center, scale, means = self.sample.powers(1)
        mean = float(center + scale * means[1])
        if not mean > 0.0:
            raise ArgumentError(
                f"the mean must be estimated positive for shares of the total, got {mean:g}"
            )
        return mean

    def _bounded(
        self,
        found: list[Functional],
        highest: np.ndarray,
        level: float,
        target: Target,
        quantity: str,
    ) -> Interval:
        """Return intervals in the shape of `highest`, between 0 and it unless amounts are
        negative."""
        variances = [self._mean_of(each.influence)[1] for each in found]
        errors = [each.standard_error(self.sample.n, target) for each in variances]
        value, error = np.reshape([[each.value for each in found], errors], (2, *highest.shape))
        # T is constant from one point of the grid to the next
        below = -0.5 * self.law.step or np.nextafter(0.0, -1.0)
        share = self.cdf_interval(below, confidence_level=NEGATIVE_SHARE_LEVEL, target="file")
        negative = bool(np.all(share.low > 0.0))
        lower, upper = (-np.inf, np.inf) if negative else (0.0, highest)
        nearest = np.clip(value, lower, upper)
        ends = bounded.interval_between(value, error, lower, upper, level)
        return interval(nearest, error, level, target, quantity, ends=ends)


def checked_function(g: UserFunction) -> Function:
    """Return a user's function with checked results; those at points without mass are ignored
    later."""
    _checks.require(
        callable(g), "g must be a function of an array of values", g, ArgumentTypeError
    )

    def function(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            y = np.asarray(g(x))
        if y.shape != x.shape or y.dtype.kind not in "biuf":
            raise ArgumentTypeError(
                f"g must give numbers, one for each value, got {y.dtype} of shape {y.shape} for "
                f"shape {x.shape}"
            )
        return y.astype(np.float64)

    return function


def _raise_if_nan(figure: float) -> float:
    """Return a figure of `mean_of_function`; raise if it is NaN, as where g grows too fast."""
    if np.isnan(figure):
        raise ArgumentError(
            "g must grow more slowly beyond the data: it (for intervals its square) is too large "
            "where the estimated distribution has almost no mass, so its mean is not known; use "
            "moment for powers"
        )
    return figure
