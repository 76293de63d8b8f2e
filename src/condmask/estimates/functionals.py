"""Means of any function of the original, its median and its interquartile range, with intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from condmask import _checks
from condmask.estimates.distribution import Distribution, error_of
from condmask.inference.function_variance import checked, known, sums_of
from condmask.inference.intervals import TARGETS, Interval, check_target, multiplier
from condmask.inference.theorem import AsymptoticVariance, sums_at


class Functionals(Distribution):
    """Means of any function of the original, and what lies in the middle of it."""

    def expectation(self, g: Callable[[Any], Any], *, floor: float | None = None) -> Any:
        r"""Mean of a function of the original, without bias.

        Parameters
        ----------
        g : callable
            Takes an array of values in the units of the data and gives one number for each. It is also asked
            for values beyond the data, as far as T has mass there.
        floor : float, optional
            Replaces smaller values by itself: the mean of ``g(max(X, floor))``.

        Returns
        -------
        float or ndarray of shape (replicates,)

        Raises
        ------
        ValueError
            If g is not finite at a value that has mass, which the message names, or grows so fast beyond the
            data that its mean is not known; and where more than 2^27 points of the grid have mass.

        Notes
        -----
        The sum of g with the mass that T gives to the points of the grid; as T, it is without bias given the
        original file. g is asked at every point within reach of the data, a block of them at a time where
        they are many, and at each once; twice there under Laplace noise. With ``g = lambda x: x**k`` it is
        `moment`.

        Under noise T has mass below the data, so ``np.log`` needs a floor unless they stay away from 0 by
        more than K reaches, some 10 sigma. After reverse mapping g is asked at the values of the data alone.

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
        of = sums_of(checked(g, floor))
        self._refuse_additive()
        return self._result([known(of(source).psi).item() for source in self._sources])

    def expectation_interval(
        self,
        g: Callable[[Any], Any],
        *,
        floor: float | None = None,
        confidence_level: float = 0.95,
        target: str = "population",
    ) -> Interval:
        """Confidence interval for the mean of a function of the original, by the normal approximation.

        Parameters
        ----------
        g, floor
            As for `expectation`.
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.

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
        >>> found = estimate.expectation_interval(np.log, floor=1_000.0, target="file")
        >>> bool(found.low < np.log(incomes).mean() < found.high)
        True
        """
        function = checked(g, floor)

        def one(k: int) -> tuple[AsymptoticVariance, float]:
            around = self._spread(k, sums_of(function))
            known(around.file)
            return around, known(around.means.psi).item()

        return self._wald(one, confidence_level, target, "the mean of g(X)")

    def median(self, *, tol: float = 1e-10) -> Any:
        """Median of the original: ``quantile(0.5)``.

        Returns
        -------
        float or ndarray of shape (replicates,)
        """
        return self._result([float(found[0]) for found in self._quantiles([0.5], tol)])

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

    def interquartile_range(self, *, tol: float = 1e-10) -> Any:
        """Distance of the quartiles of the original.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.
        """
        return self._result([float(found[1] - found[0]) for found in self._quantiles([0.25, 0.75], tol)])

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
               approach", Stat. Med. 27 (2008) 1693-1702.
        """
        both = self.quantile_interval([0.25, 0.75], confidence_level=confidence_level, target=target, tol=tol)
        level, z = multiplier(confidence_level)
        low, high, value = (np.reshape(each, (-1, 2)) for each in (both.low, both.high, both.estimate))
        r = np.array([self._correlation(k, value[k], target) for k in range(len(value))])
        down, up = value - low, high - value
        least, most = _together(down[:, 1], up[:, 0], r), _together(up[:, 1], down[:, 0], r)
        spread = value[:, 1] - value[:, 0]
        ends = np.maximum(spread - least, 0.0), spread + most
        about = (
            f"the interquartile range {TARGETS[both.target]}{both.about.partition(TARGETS[both.target])[2]}"
        )
        columns = (*ends, (ends[1] - ends[0]) / (2.0 * z), spread)
        least, most, error, spread = (self._result(list(each)) for each in columns)
        return Interval(least, most, error, spread, level, both.target, about)

    # --- private ---

    def _quantiles(self, q: list[float], tol: float) -> list[np.ndarray]:
        tol, crossing = _checks.positive(tol, "tol"), self._crossing(None)
        found = []
        for source in self._sources:
            found.append(source.quantiles(np.array(q), source.width(None), tol, crossing))
        return found

    def _wald(
        self,
        one: Callable[[int], tuple[AsymptoticVariance, float]],
        confidence_level: Any,
        target: Any,
        about: str,
    ) -> Interval:
        """The normal approximation, from the spread of an estimate in each replicate and its value."""
        self._refuse_additive()
        level, z = multiplier(confidence_level)
        target, found = check_target(target), [one(k) for k in range(len(self._sources))]
        value = self._result([each for _, each in found])
        error = self._result([error_of(around, self._sources[0].n, target).item() for around, _ in found])
        return Interval(
            value - z * error, value + z * error, error, value, level, target, f"{about} {TARGETS[target]}"
        )

    def _correlation(self, k: int, x: np.ndarray, target: str) -> float:
        """The correlation of T at two points."""

        def between(values: np.ndarray) -> np.ndarray:
            return np.asarray((values > x[0]) & (values <= x[1]), dtype=np.float64)

        n = self._sources[k].n
        apart = error_of(self._spread(k, sums_at(x, None)), n, target)
        difference = error_of(self._spread(k, sums_of(between)), n, target).item()
        product = float(apart[0] * apart[1])
        if product == 0.0:
            return 0.0
        return float(np.clip((apart @ apart - difference**2) / (2.0 * product), -1.0, 1.0))


def _together(one: np.ndarray, other: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The length of a difference of two errors of this correlation."""
    with np.errstate(invalid="ignore"):
        found = np.sqrt(np.maximum(one**2 + other**2 - 2.0 * r * one * other, 0.0))
    return np.asarray(np.where(np.isinf(one) | np.isinf(other), np.inf, found))
