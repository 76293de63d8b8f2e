"""Intervals for the distribution function and its quantiles, and tests at one point."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.errors import ArgumentError, warn
from condmask.estimates.base import Shared
from condmask.estimates.batch import by_replicate
from condmask.estimates.distribution import shaped
from condmask.inference import cdf_score, quantile_score
from condmask.inference.intervals import (
    TARGETS,
    EstimateWarning,
    Interval,
    check_target,
    interval,
    multiplier,
)

TOGETHER = 1 << 19  # points
UNINFORMATIVE = 0.5  # standard error of a probability, above which next to nothing is known of it


class PointTest(NamedTuple):
    """A test of a hypothesis about one point of a distribution function.

    Attributes
    ----------
    statistic : float or ndarray
        The distance of T from the hypothesis, in standard errors under the hypothesis.
    pvalue : float or ndarray
        Two-sided, by the normal approximation.
    estimate : float or ndarray
        T there.
    target : {"population", "file"}
        As of an `Interval`.
    about : str
        The hypothesis in words.
    """

    statistic: Any
    pvalue: Any
    estimate: Any
    target: str
    about: str


class DistributionIntervals(Shared):
    """Intervals and tests for the distribution function and its quantiles."""

    @by_replicate()
    def cdf_interval(
        self,
        t: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        bandwidth: Any = None,
        tol: float = 1e-10,
    ) -> Interval:
        r"""Confidence intervals for the distribution function, one for each point.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.
        bandwidth, tol
            As for `cdf`. The interval of T_b is for the *smoothed* distribution, which `about` says.

        Returns
        -------
        Interval
            In the shape of `t`, with a leading axis of replicates where `z` is 2-D; within [0, 1].

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
        points, tol = _checks.reals(t, "t"), _checks.tolerance(tol)
        level, z = multiplier(confidence_level)
        target, x = check_target(target), points.ravel()
        bandwidth, n = self._sample.bandwidth(bandwidth), self._sample.n
        value, curve = self._sample.values(x, bandwidth, tol, "auto"), self._variance_curve(bandwidth)
        error, low, high = np.empty((3, x.size))
        for start, stop in blocks(x.size, TOGETHER):
            rows = slice(start, stop)
            variance = curve.at(x[rows])
            error[rows] = variance.standard_error(n, target)
            low[rows], high[rows] = cdf_score.ends(value[rows], variance, z**2 / n, target)
        if np.max(error, initial=0.0) > UNINFORMATIVE:
            warn(
                f"the distribution function has standard errors of up to {np.max(error):.2g} here, which "
                f"tell next to nothing: too few records for p={self._law.p:g}",
                EstimateWarning,
            )
        low, high, error, value = (shaped(each, points) for each in (low, high, error, value))
        found = interval(value, error, level, target, "P(X <= t)", ends=(low, high))
        return found._replace(about=found.about + _smoothing(bandwidth))

    @by_replicate()
    def quantile_interval(
        self,
        q: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        bandwidth: Any = None,
        tol: float = 1e-10,
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
        bandwidth, tol
            As for `quantile`. The interval of T_b is for the quantile of the *smoothed* distribution, which
            `about` says.

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
        probabilities, tol = _checks.probabilities(q, "q"), _checks.tolerance(tol)
        level, z = multiplier(confidence_level)
        target, bandwidth = check_target(target), self._sample.bandwidth(bandwidth)
        value, low, high = self._quantile_ends(probabilities.ravel(), bandwidth, tol, z, target)
        low, high, error, value = (
            shaped(each, probabilities) for each in (low, high, (high - low) / (2.0 * z), value)
        )
        found = interval(value, error, level, target, "the quantile", ends=(low, high))
        about = found.about + _smoothing(bandwidth)
        if np.isinf(low).any() or np.isinf(high).any():
            about += f"; infinite where q or 1 - q is at most z^2/n = {z**2 / self._sample.n:.3g}"
        return found._replace(about=about)

    @by_replicate()
    def median_interval(
        self, *, confidence_level: float = 0.95, target: str = "population", tol: float = 1e-10
    ) -> Interval:
        """Confidence interval for the median: ``quantile_interval(0.5)``.

        Parameters
        ----------
        confidence_level, target, tol
            As for `quantile_interval`.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D.
        """
        return self.quantile_interval(0.5, confidence_level=confidence_level, target=target, tol=tol)

    @by_replicate()
    def interquartile_range_interval(
        self, *, confidence_level: float = 0.95, target: str = "population", tol: float = 1e-10
    ) -> Interval:
        r"""Confidence interval for the interquartile range, from those for the quartiles.

        Parameters
        ----------
        confidence_level, target, tol
            As for `quantile_interval`.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D.

        Notes
        -----
        With l and u the distances of the quartiles to the ends of their own intervals, and r the correlation
        of T at both, it reaches :math:`\sqrt{l_3^2 + u_1^2 - 2 r\, l_3 u_1}` below the estimate and
        :math:`\sqrt{u_3^2 + l_1^2 - 2 r\, u_3 l_1}` above it (Zou and Donner 2008) [1]_.

        References
        ----------
        .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: A general
               approach", Stat. Med. 27 (2008) 1693-1702, https://doi.org/10.1002/sim.3095.
        """
        self._refuse_additive()
        level, z = multiplier(confidence_level)
        target, tol = check_target(target), _checks.tolerance(tol)
        value, low, high = self._quantile_ends(np.array([0.25, 0.75]), None, tol, z, target)
        correlation = self._correlation(value, target)
        down, up = value - low, high - value
        spread = float(value[1] - value[0])
        least = max(spread - quantile_score.difference_length(down[1], up[0], correlation), 0.0)
        most = spread + quantile_score.difference_length(up[1], down[0], correlation)
        return interval(
            spread, (most - least) / (2.0 * z), level, target, "the interquartile range", ends=(least, most)
        )

    @by_replicate()
    def test_cdf(self, t: Any, value: Any, *, target: str = "population", tol: float = 1e-10) -> PointTest:
        """Test whether the distribution function has a value at a point: what `cdf_interval` inverts.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        value : float or array_like, 0 < value < 1
            The hypothesis; one for all points, or one for each.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.
        tol
            As for `cdf`.

        Returns
        -------
        PointTest
            In the shape of `t`, with a leading axis of replicates where `z` is 2-D.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> estimate = scheme.estimate(scheme.mask(x, rng=2))
        >>> estimate.test_cdf([10.0, 10.0], [0.5, 0.6]).pvalue > 0.01
        array([ True, False])
        """
        self._refuse_additive()
        points, tol = _checks.reals(t, "t"), _checks.tolerance(tol)
        target = check_target(target)
        hypothesis = _alike(_checks.probabilities(value, "value"), points, "value", "t")
        x = points.ravel()
        t_there = self._sample.values(x, None, tol, "auto")
        statistic, pvalue = self._scored(x, t_there, hypothesis, target)
        statistic, pvalue, t_there = (shaped(each, points) for each in (statistic, pvalue, t_there))
        return PointTest(statistic, pvalue, t_there, target, f"P(X <= t) has this value {TARGETS[target]}")

    @by_replicate()
    def test_quantile(
        self, q: Any, value: Any, *, target: str = "population", tol: float = 1e-10
    ) -> PointTest:
        """Test whether a point is a quantile: whether P(X < value) <= q <= P(X <= value).

        Parameters
        ----------
        q : float or array_like of any shape
            Probabilities, 0 < q < 1.
        value : float or array_like
            The hypothesis, one or one for each probability, in the units of the data.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.
        tol
            As for `quantile`.

        Returns
        -------
        PointTest
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D.

        Notes
        -----
        The score test of T at `value` where that is too low, and of T just before where it is too high; the
        statistic is 0 where neither is.
        """
        self._refuse_additive()
        probabilities, tol = _checks.probabilities(q, "q"), _checks.tolerance(tol)
        target, x = check_target(target), _alike(_checks.reals(value, "value"), probabilities, "value", "q")
        hypothesis, just_before = probabilities.ravel(), self._before(x)
        up_to, before = (self._sample.values(at, None, tol, "auto") for at in (x, just_before))
        low, high = up_to < hypothesis, before > hypothesis
        statistic, pvalue = self._scored(
            np.where(low, x, just_before), np.where(low, up_to, before), hypothesis, target
        )
        off = low | high
        columns = np.where(off, statistic, 0.0), np.where(off, pvalue, 1.0), up_to
        statistic, pvalue, up_to = (shaped(each, probabilities) for each in columns)
        return PointTest(statistic, pvalue, up_to, target, f"the value is this quantile {TARGETS[target]}")

    # --- private ---

    def _scored(
        self, x: np.ndarray, t: np.ndarray, hypothesis: np.ndarray, target: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Statistics and p-values of values of T at points x under hypothetical ones."""
        variance = self._variance_curve(None).at(x)
        return cdf_score.test(t, hypothesis, variance, self._sample.n, target)

    def _quantile_ends(
        self, q: np.ndarray, bandwidth: float | None, tol: float, z: float, target: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Quantiles and the ends of their intervals, z normal standard errors wide."""
        crossing = self._crossing(None)
        value = self._sample.quantiles(q, bandwidth, tol, crossing)
        search = quantile_score.Search(
            self._sample, self._variance_curve(bandwidth), bandwidth, tol, z**2 / self._sample.n, target
        )
        rearranged = bandwidth is None and crossing == "rearranged"
        low, high = search.ends(q, value, rearranged=rearranged, permutation=not self._shared_donors)
        return value, np.minimum(low, value), np.maximum(high, value)

    def _correlation(self, x: np.ndarray, target: str) -> float:
        """The correlation of T at two points."""

        def between(values: np.ndarray) -> np.ndarray:
            return np.asarray((values > x[0]) & (values <= x[1]), dtype=np.float64)

        n = self._sample.n
        apart = self._variance_curve(None).at(x).standard_error(n, target)
        of_difference = self._asymptotic_variance(("between", *x.tolist()), between)
        difference = of_difference.standard_error(n, target).item()
        product = float(apart[0] * apart[1])
        if product == 0.0:
            return 0.0
        return float(np.clip((apart @ apart - difference**2) / (2.0 * product), -1.0, 1.0))

    def _before(self, x: np.ndarray) -> np.ndarray:
        """Points just before x: those of the grid, the next number where there is none."""
        law = self._law
        return np.asarray(x - law.step if law.grid is not None else np.nextafter(x, -np.inf))


def _alike(values: np.ndarray, other: np.ndarray, name: str, of: str) -> np.ndarray:
    """Values, one for each of others."""
    if values.shape not in ((), other.shape):
        raise ArgumentError(
            f"{name} must be a number or of the shape of {of}, {other.shape}, got {values.shape}"
        )
    return np.broadcast_to(values, other.shape).ravel()


def _smoothing(bandwidth: float | None) -> str:
    """What T_b is about, in words that follow the target."""
    if bandwidth is None:
        return ""
    return f", smoothed by a normal law of standard deviation {bandwidth:.4g}"
