"""Intervals for the distribution function and its quantiles."""

from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.errors import warn
from condmask.estimates.base import Shared
from condmask.estimates.batch import by_replicate
from condmask.estimates.distribution import shaped
from condmask.variance.cdf_interval import cdf_interval
from condmask.variance.interval import EstimateWarning, Interval, check_target, interval, multiplier
from condmask.variance.quantile_interval import quantile_interval

TOGETHER = 1 << 19  # points
UNINFORMATIVE = 0.5  # standard error of a probability, above which next to nothing is known of it


class DistributionIntervals(Shared):
    """Intervals for the distribution function and its quantiles."""

    @by_replicate()
    def cdf_interval(self, t: Any, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        r"""Confidence intervals for the distribution function, one for each point.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.

        Returns
        -------
        Interval
            In the shape of `t`, with a leading axis of replicates where `z` is 2-D; all within [0, 1]: where
            `cdf` leaves that, the estimate is the nearer end.

        Warns
        -----
        EstimateWarning
            If a standard error exceeds .5, so that the estimate says almost nothing.

        Notes
        -----
        Each interval covers its own point; use `cdf_band` to cover all points together. With c = z^2/n, z the
        normal quantile, and A/n the variance of T given the file, that for the population has all g with

        .. math:: (T - g)^2 (1 - c) \le c\,(A + g (1 - g)),

        a score interval, Wilson's if nothing were masked, that for the file
        :math:`T \mp \sqrt{A c/(1 - c)}`. Where donors were drawn within strata that are not given, the
        intervals are wider than necessary (docs/inference.rst, "Strata").

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).cdf_interval(0.0, target="file")
        >>> bool(found.low < np.mean(x <= 0.0) < found.high)
        True
        """
        self._refuse_additive()
        points, target = _checks.reals(t, "t"), check_target(target)
        level, z = multiplier(confidence_level)
        x, n, sums = self._units(points.ravel()), self._sample.n, self._of_cdf[1]
        value = self._sample.values(points.ravel(), None, self._sample.tol, "auto")
        error, low, high = np.empty((3, x.size))
        for start, stop in blocks(x.size, TOGETHER):
            rows = slice(start, stop)
            variance = sums.variance(x[rows])
            error[rows] = variance.standard_error(n, target)
            low[rows], high[rows] = cdf_interval(value[rows], variance, z**2 / n, target)
        if np.max(error, initial=0.0) > UNINFORMATIVE:
            warn(
                f"the distribution function has standard errors of up to {np.max(error):.2g} here, which "
                f"tell next to nothing: too few records for p={self._law.p:g}",
                EstimateWarning,
            )
        value = np.clip(value, 0.0, 1.0)
        low, high, error, value = (shaped(each, points) for each in (low, high, error, value))
        return interval(value, error, level, target, "P(X <= t)", ends=(low, high))

    @by_replicate()
    def quantile_interval(
        self, q: Any, *, confidence_level: float = 0.95, target: str = "population"
    ) -> Interval:
        r"""Confidence intervals for quantiles, one for each probability.

        Parameters
        ----------
        q : float or array_like of any shape
            Probabilities, 0 < q < 1.
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.

        Returns
        -------
        Interval
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D. `standard_error` is the
            length over 2 z.

        Notes
        -----
        The interval contains the points at which the monotone rearrangement of T does not differ
        significantly from q, by the test that `cdf_interval` inverts. Where quantiles are those of the
        rearrangement (`quantile`), the test has its variance, which is less than that of T the smaller p and
        n are. Where the data have atoms the interval begins and ends at one of them, and covers more often
        than it says. For the population an end is infinite, exactly where q or 1 - q is at most z^2/n: so
        small a sample need not reach there.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).quantile_interval([0.1, 0.5])
        >>> (found.low < [10 - 1000 * np.log(5), 10]) & (found.high > [10 - 1000 * np.log(5), 10])
        array([ True,  True])
        """
        self._refuse_additive()
        probabilities, target = _checks.probabilities(q, "q"), check_target(target)
        level, z = multiplier(confidence_level)
        ascending, back = np.unique(probabilities, return_inverse=True)
        of_t, sums = self._of_cdf
        value = self._sample.quantiles(ascending, None, self._sample.tol, self._crossing(None))
        c = np.array([z**2 / of_t.n])
        ends = quantile_interval(of_t, sums, ascending, self._units(value), c, [target])
        low, high = self._sample.from_units(ends[:, 0, 0]) + 0.0
        low, high = np.minimum(low, value), np.maximum(high, value)
        low, high, error, value = (
            shaped(each[back.ravel()], probabilities) for each in (low, high, (high - low) / (2.0 * z), value)
        )
        found = interval(value, error, level, target, "the quantile", ends=(low, high))
        if np.isinf(low).any() or np.isinf(high).any():
            why = f"; infinite where q or 1 - q is at most z^2/n = {z**2 / of_t.n:.3g}"
            found = found._replace(about=found.about + why)
        return found

    @by_replicate()
    def median_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        """Confidence interval for the median: ``quantile_interval(0.5)``.

        Parameters
        ----------
        confidence_level, target
            As for `quantile_interval`.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D.
        """
        return self.quantile_interval(0.5, confidence_level=confidence_level, target=target)
