"""Estimates the distribution function, density and quantiles of the original, with intervals.

Theorems 2.2 and 2.3 of Ghatak & Roy.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.distribution.cdf_interval import cdf_interval
from condmask.distribution.quantile_interval import quantile_interval
from condmask.errors import ArgumentError
from condmask.estimates.base import Shared
from condmask.estimates.sample import CROSSINGS, METHODS, Bandwidth
from condmask.inference.interval import (
    UNBOUNDED,
    Interval,
    Target,
    check_interval_options,
    interval,
    multiplier,
)


class Distribution(Shared):
    """Estimates the distribution of the original (Theorems 2.2 and 2.3)."""

    def cdf(
        self,
        t: ArrayLike,
        *,
        bandwidth: Bandwidth = None,
        method: str = "auto",
        monotone: bool = False,
    ) -> Any:
        """Estimate the distribution function of the original.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        bandwidth : float or {"scott", "silverman", "undersmooth"}, optional
            Standard deviation of the smoothing, in the units of the data. None gives the
            unsmoothed, unbiased T_1; a number or rule gives T_b, which estimates the smoothed
            distribution. The rules are 1.06 ("scott") or 0.9 ("silverman") times min(s.d.,
            IQR/1.34) n^(-1/5) of the masked values; "undersmooth" is 1.06 with n^(-1/3). Additive
            noise has no T_1: there None stands for "scott".
        method : {"auto", "series"}
            How the sum is evaluated; the answer is the same within 1e-10. "series" is the
            definition, term by term: normal noise, p >= .45 and steps up to some sigma/30 only.
        monotone : bool
            Rearrange T into a distribution function: never decreasing, within [0, 1], to within
            1e-8, or 1e-10 / p, and half a step of a grid. Its quantiles are those of
            ``crossing="rearranged"``.

        Returns
        -------
        float or ndarray of the shape of `t`
            With a leading axis of replicates where `z` is 2-D. May leave [0, 1] unless `monotone`.

        Raises
        ------
        ValueError
            If `t` is NaN, `bandwidth` is not positive, or the method does not serve this scheme.

        Notes
        -----
        Theorem 2.2 (T_1) and 2.3 (T_b), with the kernel of the noise as it was rounded; T_1 is
        constant from each grid point to the next. It costs one count of the records and one
        Fourier transform over the range of the data; then any point costs little. "series" costs
        O(n) a point.

        Examples
        --------
        >>> import condmask as cm
        >>> masked = [-1.2, -0.4, 0.1, 0.3, 0.9, 2.2]
        >>> cm.ConditionalMasking(0.6, 1.0, step=0.1).estimate(masked).cdf([0.0, 1.0]).round(4)
        array([0.2609, 0.911 ])
        """
        points = _checks.reals(t, "t")
        _checks.choice(method, "method", METHODS)
        if not _checks.boolean(monotone, "monotone"):
            return shaped(self.sample.values(points.ravel(), bandwidth, method), points)
        if method != "auto":
            raise ArgumentError(f"method must be 'auto' where monotone=True, got {method!r}")
        return shaped(self.sample.monotone(points.ravel(), bandwidth), points)

    def pdf(self, t: ArrayLike, *, bandwidth: float | str = "scott") -> Any:
        """Estimate the density of the original, smoothed: the derivative of T_b.

        Parameters
        ----------
        t, bandwidth
            As in `cdf`; a bandwidth is needed.

        Returns
        -------
        float or ndarray of the shape of `t`
            Per unit of the data, to 1e-12 / p of 1/bandwidth. May be negative.
        """
        if bandwidth is None:
            raise ArgumentError(
                "bandwidth must be a positive number or a rule for a density, got None"
            )
        points = _checks.reals(t, "t")
        return shaped(self.sample.density(points.ravel(), bandwidth), points)

    def quantile(
        self, q: ArrayLike, *, bandwidth: Bandwidth = None, crossing: str | None = None
    ) -> Any:
        """Estimate quantiles of the original: where `cdf` crosses the probabilities.

        Parameters
        ----------
        q : float or array_like of any shape
            Probabilities, 0 < q < 1.
        bandwidth
            As in `cdf`.
        crossing : {"first", "rearranged"}, optional
            T is not monotone and may cross a probability several times. "first" is the least x
            with T(x) >= q, the generalised inverse; "rearranged" the quantile of the monotone
            rearrangement of T. Where p and n are small the first crossing is biased, in the tails
            by as much as a standard error, so "rearranged" is the default below p = .5, for fewer
            than 2000 records below a p that rises as log n falls, .71 at 200 and .77 at 100; else
            "first".

        Returns
        -------
        float or ndarray of the shape of `q`
            In the units of the data; a leading axis of replicates where `z` is 2-D.

        Raises
        ------
        ValueError
            If a probability lies outside (0, 1).

        Notes
        -----
        A probability counts as reached where T >= q - 1e-10. Intervals on which a bound of T stays
        below that are excluded and others cut, so no crossing is missed but for excursions by less
        than rounding. Cost: as `cdf`, then one look at each distinct value.

        With weights: `weighted_quantile`. Of groups: `group_quantiles`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> estimate = scheme.estimate(scheme.mask(x, rng=2))
        >>> bool(abs(estimate.quantile(0.5) - np.median(x)) < 50)
        True
        """
        probabilities = _checks.probabilities(q, "q")
        if crossing is not None:
            _checks.choice(crossing, "crossing", CROSSINGS)
        return shaped(
            self.sample.quantiles(probabilities.ravel(), bandwidth, crossing), probabilities
        )

    def median(self) -> float:
        """Estimate the median of the original: ``quantile(0.5)``.

        Returns
        -------
        float or ndarray of shape (replicates,)
        """
        return float(self.quantile(0.5))

    def interquartile_range(self) -> float:
        """Estimate the distance between the quartiles of the original.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.
        """
        lower, upper = self.quantile([0.25, 0.75])
        return float(upper - lower)

    def cdf_interval(
        self, t: ArrayLike, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        r"""Compute confidence intervals for the distribution function, one for each point.

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
            In the shape of `t`, with a leading axis of replicates where `z` is 2-D; all within [0,
            1]: where `cdf` leaves that, the estimate is the nearer end.

        Notes
        -----
        Each interval covers its own point; use `cdf_band` to cover all points together. With c =
        z^2/n, z the normal quantile, and A/n the variance of T given the file, that for the
        population has all g with

        .. math:: (T - g)^2 (1 - c) \le c\,(A + g (1 - g)),

        a score interval, Wilson's if nothing were masked, that for the file
        :math:`T \mp \sqrt{A c/(1 - c)}`, and up to 0 or 1 where the population may have none below
        t, or all. Where donors were drawn within strata that are not given, the
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
        points = _checks.reals(t, "t")
        level, target = check_interval_options(confidence_level, target)
        of_t, sums = self.cdf_sums
        x = self.sample.to_units(points.ravel(), of_t)
        value = of_t.at(x)
        variance = sums.variance(x)
        error = variance.standard_error(of_t.n, target)
        ends = cdf_interval(value, variance, multiplier(level) ** 2 / of_t.n, target, self.law.p)
        value, error, low, high = (
            shaped(each, points) for each in (np.clip(value, 0.0, 1.0), error, *ends)
        )
        return interval(value, error, level, target, "P(X <= t)", ends=(low, high))

    def quantile_interval(
        self, q: ArrayLike, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        r"""Compute confidence intervals for quantiles, one for each probability.

        Parameters
        ----------
        q : float or array_like of any shape
            Probabilities, 0 < q < 1.
        confidence_level, target
            As for `cdf_interval`.

        Returns
        -------
        Interval
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D.
            `standard_error` is the length over 2 z.

        Notes
        -----
        The interval contains the points at which the monotone rearrangement of T does not differ
        significantly from q, by the test that `cdf_interval` inverts. Where quantiles are those of
        the rearrangement (`quantile`), the test has its variance, which is less than that of T the
        smaller p and n are. Where the data have atoms the interval begins and ends at one of them,
        and covers more often than it says. For the population an end is infinite, exactly where q
        or 1 - q is at most z^2/n: so small a sample need not reach there. For the file it covers
        less often than it says where q or 1 - q is below some 3/n (docs/coverage.rst).

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
        probabilities = _checks.probabilities(q, "q")
        level, target = check_interval_options(confidence_level, target)
        ascending, back = np.unique(probabilities, return_inverse=True)
        of_t, sums = self.cdf_sums
        z = multiplier(level)
        value = self.sample.quantiles(ascending)
        c = np.array([z**2 / of_t.n])
        ends = quantile_interval(
            of_t, sums, ascending, self.sample.to_units(value, of_t), c, [target]
        )
        low, high = self.sample.law.from_units(ends[:, 0, 0]) + 0.0
        low, high, error, value = (
            shaped(each[back.ravel()], probabilities)
            for each in (low, high, (high - low) / (2.0 * z), value)
        )
        both = (low, high)
        return interval(value, error, level, target, "the quantile", ends=both, reason=UNBOUNDED)

    def median_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the median: ``quantile_interval(0.5)``.

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


def shaped(values: np.ndarray, like: np.ndarray) -> Any:
    """Return values in the shape of the argument `like`; a single one as a number."""
    return values.reshape(like.shape) if like.shape else float(values[0])
