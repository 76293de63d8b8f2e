"""Intervals for the distribution function and its quantiles, and tests at one point."""

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np

from condmask import _checks
from condmask.estimates.base import Shared
from condmask.inference import rearranged_variance, score_inversion
from condmask.inference.intervals import TARGETS, EstimateWarning, Interval, check_target, multiplier
from condmask.inference.theorem import AsymptoticVariance, largest_weight, sums_at
from condmask.samples.sample import CROSSINGS, MaskedSample

SAME = 0.999  # of a variance, which changes no interval visibly
NOTHING = 0.5  # standard error of a probability, above which next to nothing is known of it


class PointTest(NamedTuple):
    """A test of a hypothesis about one point of a distribution function.

    Attributes
    ----------
    statistic : float or ndarray
        How far T lies from the hypothesis, in standard errors under it.
    pvalue : float or ndarray
        The chance of one as far to either side, by the normal approximation.
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


class Distribution(Shared):
    """What masked values tell about the distribution function and its quantiles, and how well."""

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
            If a standard error exceeds .5, so that next to nothing is known.

        Notes
        -----
        Each interval covers its own point; see `cdf_band` for all of them together. With c = z^2/n, z the
        normal quantile, and A/n the variance of T given the file, that for the population has all g with

        .. math:: (T - g)^2 (1 - c) \le c\,(A + g (1 - g)),

        a score interval, Wilson's if nothing were masked, that for the file
        :math:`T \mp \sqrt{A c/(1 - c)}`. Where donors were drawn within strata that are not given, the
        intervals are wider than they need be (docs/inference.rst, "Strata").

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
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        level, z = multiplier(confidence_level)
        target, x = check_target(target), points.ravel()
        found, widths = [], []
        for k, source in enumerate(self._sources):
            width = source.width(bandwidth)
            around = self._spread(k, sums_at(x, width))
            value = source.values(x, width, tol, "auto")
            found.append(
                (*_around(value, around, z**2 / source.n, target), error_of(around, source.n, target), value)
            )
            widths.append(width)
        low, high, error, value = (
            self._shaped(list(each), points.shape) for each in zip(*found, strict=True)
        )
        if np.max(error, initial=0.0) > NOTHING:
            warnings.warn(
                f"the distribution function has standard errors of up to {np.max(error):.2g} here, which "
                f"tell next to nothing: too few records for p={self._law.p:g}",
                EstimateWarning,
                stacklevel=2,
            )
        about = f"P(X <= t) {TARGETS[target]}{_smoothing(widths)}"
        return Interval(low, high, error, value, level, target, about)

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
        The interval has the points at which the monotone rearrangement of T does not differ significantly
        from q, by the test whose inversion is `cdf_interval`. Where quantiles are those of the rearrangement
        (`quantile`), the test has its variance, which is less than that of T the smaller p and n are. Where
        the data have atoms the interval begins and ends at one of them, and covers more often than it says.
        For the population an end is infinite, exactly where q or 1 - q is at most z^2/n: so small a sample
        need not reach there.

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
        probabilities, tol = _checks.probabilities(q, "q"), _checks.positive(tol, "tol")
        level, z = multiplier(confidence_level)
        target, wanted = check_target(target), probabilities.ravel()
        found, widths, limit = [], [], z**2 / self._sources[0].n
        for k, source in enumerate(self._sources):
            width = source.width(bandwidth)
            value = source.quantiles(wanted, width, tol, self._crossing(None))
            low, high = self._inverted(k, wanted, value, width, tol, limit, target)
            low, high = np.minimum(low, value), np.maximum(high, value)
            found.append((low, high, (high - low) / (2.0 * z), value))
            widths.append(width)
        low, high, error, value = (
            self._shaped(list(each), probabilities.shape) for each in zip(*found, strict=True)
        )
        about = f"the quantile {TARGETS[target]}{_smoothing(widths)}"
        if np.isinf(low).any() or np.isinf(high).any():
            about += f"; infinite where q or 1 - q is at most z^2/n = {limit:.3g}"
        return Interval(low, high, error, value, level, target, about)

    def test_cdf(self, t: Any, value: Any, *, target: str = "population", tol: float = 1e-10) -> PointTest:
        """Test whether the distribution function has a value at a point: what `cdf_interval` inverts.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        value : float or array_like, 0 < value < 1
            The hypothesis; one, or one for each point.
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
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        target, wanted = (
            check_target(target),
            _alike(_checks.probabilities(value, "value"), points, "value", "t"),
        )
        found = []
        for k, source in enumerate(self._sources):
            x = points.ravel()
            estimate = source.values(x, None, tol, "auto")
            found.append((*self._scored(k, x, estimate, wanted, target), estimate))
        return self._tested(found, points.shape, target, "P(X <= t) has this value")

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
        probabilities, tol = _checks.probabilities(q, "q"), _checks.positive(tol, "tol")
        target, x = check_target(target), _alike(_checks.reals(value, "value"), probabilities, "value", "q")
        wanted, found = probabilities.ravel(), []
        for k, source in enumerate(self._sources):
            just_before = _before(source, x)
            up_to, before = (source.values(at, None, tol, "auto") for at in (x, just_before))
            low, high = up_to < wanted, before > wanted
            statistic, pvalue = self._scored(
                k, np.where(low, x, just_before), np.where(low, up_to, before), wanted, target
            )
            off = low | high
            found.append((np.where(off, statistic, 0.0), np.where(off, pvalue, 1.0), up_to))
        return self._tested(found, probabilities.shape, target, "the value is this quantile")

    # --- private ---

    def _scored(
        self, k: int, x: np.ndarray, t: np.ndarray, value: np.ndarray, target: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Statistics and p-values of values of T at points x under hypothetical ones."""
        from scipy.special import ndtr  # takes .1 s to import

        around = self._spread(k, sums_at(x, None))
        variance = around.file + (value * (1.0 - value) if target == "population" else 0.0) + (t - value) ** 2
        known = variance > 0.0
        statistic = np.where(
            known, (t - value) * np.sqrt(self._sources[k].n / np.where(known, variance, 1.0)), 0.0
        )
        return statistic, 2.0 * ndtr(-np.abs(statistic))

    def _tested(
        self,
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
        shape: tuple[int, ...],
        target: str,
        about: str,
    ) -> PointTest:
        statistic, pvalue, t = (self._shaped(list(each), shape) for each in zip(*found, strict=True))
        return PointTest(statistic, pvalue, t, target, f"{about} {TARGETS[target]}")

    def _crossing(self, crossing: str | None) -> str:
        if crossing is None:
            return rearranged_variance.crossing_of(self._law.p, self._sources[0].n)
        return _checks.choice(crossing, "crossing", CROSSINGS)

    def _inverted(
        self, k: int, q: np.ndarray, value: np.ndarray, width: float | None, tol: float, c: float, target: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """The points that the test does not exclude; `value` are the quantiles themselves."""
        source = self._sources[k]
        if c >= 1.0:
            return np.full(q.size, -np.inf), np.full(q.size, np.inf)

        def variance(x: np.ndarray, own: np.ndarray) -> np.ndarray:
            around = self._spread(k, sums_at(x, width))
            found = around.file
            if target == "population":
                found = np.maximum(found + _smoothed_away(around) + q[own] * (1.0 - q[own]), 0.0)
            return found

        widest = float(np.sqrt(c / (1.0 - c) * (largest_weight(source, width) ** 2 + 0.5)))
        line = source.line(width, tol)

        def ends(kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Where the variance is that of T times `kept`."""

            def radius(x: np.ndarray, own: np.ndarray) -> np.ndarray:
                return np.asarray(np.sqrt(c / (1.0 - c) * kept[own] * variance(x, own)))

            if line is None:
                return score_inversion.searched(
                    lambda values: source.quantiles(values, width, tol, "rearranged"), q, radius, widest
                )
            low, high = score_inversion.within(
                line, q, lambda steps, own: radius(source.from_steps(steps, width), own), widest
            )
            return source.from_steps(low, width), source.from_steps(high, width)

        low, high = ends(np.ones(q.size))
        if width is None and self._crossing(None) == "rearranged":
            kept = self._kept_variance(k, value, (low, high), variance, c, target)
            if kept.min(initial=1.0) < SAME:
                low, high = ends(kept)
        if target == "population":
            low, high = np.where(q <= c, -np.inf, low), np.where(1.0 - q <= c, np.inf, high)
        return low, high

    def _kept_variance(
        self,
        k: int,
        value: np.ndarray,
        ends: tuple[np.ndarray, np.ndarray],
        variance: score_inversion.Radius,
        c: float,
        target: str,
    ) -> np.ndarray:
        """Which share of the variance of T its rearrangement has, about quantiles with these ends."""
        source, own = self._sources[k], np.arange(value.size)
        low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
        at_ends = variance(np.append(low, high), np.tile(own, 2)).reshape(2, -1)
        rise = np.sqrt(c / (1.0 - c) * at_ends)
        middle = _share(source, value, "right")
        records = np.array([middle - _share(source, low, "left"), _share(source, high, "right") - middle])
        originals = (target == "population") - (self.scheme.donors == "permutation")
        return rearranged_variance.kept_variance(rise, records, at_ends, source.n, source.law.p, originals)


def _around(
    value: np.ndarray, around: AsymptoticVariance, c: float, target: str
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval about values of T; c = z^2/n."""
    if c >= 1.0:
        return np.zeros(value.size), np.ones(value.size)
    if target == "file":
        radius = np.sqrt(around.file * c / (1.0 - c))
        return np.clip(value - radius, 0.0, 1.0), np.clip(value + radius, 0.0, 1.0)
    middle = 2.0 * value * (1.0 - c) + c
    variance = around.file + _smoothed_away(around)
    root = np.sqrt(np.maximum(middle**2 - 4.0 * (value**2 * (1.0 - c) - c * variance), 0.0))
    return np.clip(0.5 * (middle - root), 0.0, 1.0), np.clip(0.5 * (middle + root), 0.0, 1.0)


def _smoothed_away(around: AsymptoticVariance) -> np.ndarray:
    """By how much Var h falls short of g (1 - g), turned: 0 for T_1, for T_b E Phi^2 - E Phi."""
    return np.asarray(np.minimum(around.means.h_squared - around.means.psi, 0.0))


def _share(source: MaskedSample, x: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """The share of the masked values below points x ("left"), or up to them ("right")."""
    counts, _, points, *_ = source.noise_class()
    return np.asarray(counts.below[np.searchsorted(counts.values, points(x, None), side)] / source.n)


def _alike(values: np.ndarray, other: np.ndarray, name: str, of: str) -> np.ndarray:
    """Values, one for each of others."""
    if values.shape not in ((), other.shape):
        raise ValueError(
            f"{name} must be a number or of the shape of {of}, {other.shape}, got {values.shape}"
        )
    return np.broadcast_to(values, other.shape).ravel()


def _before(source: MaskedSample, x: np.ndarray) -> np.ndarray:
    """Points just before x: those of the grid, the next number where there is none."""
    law = source.law
    return np.asarray(x - law.step if law.grid is not None else np.nextafter(x, -np.inf))


def error_of(around: AsymptoticVariance, n: int, target: str) -> np.ndarray:
    found = around.file if target == "file" else around.file + around.sample
    return np.asarray(np.sqrt(found / n))


def _smoothing(widths: list[float | None]) -> str:
    """What T_b is about, for `about`."""
    known = [f"{width:.4g}" for width in sorted(width for width in widths if width is not None)]
    if not known:
        return ""
    own = known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
    return f", smoothed by a normal law of standard deviation {own}"
