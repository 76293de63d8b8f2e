"""Intervals for the mean, the variance, the standard deviation and moments."""

from typing import Any

import numpy as np

from condmask import _checks
from condmask.estimates.base import Shared
from condmask.inference import heavy_tails
from condmask.inference.function_variance import shifted_power, sums_of_polynomial
from condmask.inference.intervals import TARGETS, Interval, check_target, multiplier
from condmask.samples.moments import shift


class MomentIntervals(Shared):
    """How well moments are known; heavy tails need many more records than these intervals admit."""

    def mean_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        r"""Confidence interval for the mean.

        Parameters
        ----------
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The mean of the distribution that the file is a sample of, or that of the original file itself.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D.

        Notes
        -----
        n times the variance is the variance of Z less :math:`(1-p)^2 \operatorname{Var} X` for the file (for
        donors of a permutation less :math:`\operatorname{Var} X`), for the population
        :math:`\operatorname{Var} X` more.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).mean_interval(target="file")
        >>> bool(found.low < x.mean() < found.high)
        True
        """
        return self._moment_interval(1, False, confidence_level, target, "mean")

    def moment_interval(
        self,
        order: int,
        *,
        central: bool = False,
        confidence_level: float = 0.95,
        target: str = "population",
    ) -> Interval:
        """Confidence interval for a raw or central moment, by the normal approximation.

        Parameters
        ----------
        order : int
            From 1 to 85.
        central : bool
            About the mean instead of about 0.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In units of the data to the power `order`, with a leading axis of replicates where `z` is 2-D.

        Notes
        -----
        The standard error needs moments of twice the order. From order 3 on, and for heavy tails from order
        2, intervals cover less often than they say unless there are very many records; so do those from data
        that are not masked (docs/inference.rst, "Coverage").
        """
        order = _checks.order(order, "order", most=_checks.MOST_ORDER // 2)
        return self._moment_interval(
            order,
            central,
            confidence_level,
            target,
            f"{'central' if central else 'raw'} moment of order {order}",
        )

    def variance_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        """Confidence interval for the variance, symmetric on its logarithm.

        Parameters
        ----------
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In squared units of the data, with a leading axis of replicates where `z` is 2-D. Where the
            variance is estimated negative it is symmetric about the estimate, and cut off at 0.

        Warns
        -----
        EstimateWarning
            If the tails of the original are heavy, by its estimated kurtosis (docs/inference.rst, "Heavy
            tails").
        """
        return self._variance_interval(confidence_level, target, root=False)

    def std_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        """Confidence interval for the standard deviation: the roots of that for the variance.

        Parameters
        ----------
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D. Estimate and
            standard error are NaN where the variance is estimated negative.

        Warns
        -----
        EstimateWarning
            As for `variance_interval`.
        """
        return self._variance_interval(confidence_level, target, root=True)

    # --- private ---

    def _moment_interval(
        self, order: int, central: bool, confidence_level: Any, target: Any, about: str
    ) -> Interval:
        self._refuse_additive()
        level, z = multiplier(confidence_level)
        target = check_target(target)
        if order > 1:
            self._warn_of_tails("moments of order 2 and more", target)
        values, errors = [], []
        for k, source in enumerate(self._sources):
            center, scale, means = source.moments(order)
            value = shift(means, -means[1] if central else center / scale)[order]
            with np.errstate(over="ignore"):
                unit = np.float64(scale) ** order
                values.append(value * unit)
                errors.append(self._moment_error(k, order, central, target) * unit)
        value, error = self._result(values), self._result(errors)
        return Interval(
            value - z * error,
            value + z * error,
            error,
            value,
            level,
            target,
            f"the {about} {TARGETS[target]}",
        )

    def _variance_interval(self, confidence_level: Any, target: Any, *, root: bool) -> Interval:
        self._refuse_additive()
        level, z = multiplier(confidence_level)
        target = check_target(target)
        self._warn_of_tails("variances", target)
        found = []
        for k, source in enumerate(self._sources):
            value, scale = source.variance()
            error = self._moment_error(k, 2, True, target)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                if value > 0.0:
                    factor = np.exp(z * error / value)
                    low, high = value / factor, value * factor
                else:
                    low, high = 0.0, max(value + z * error, 0.0)
                unit = np.float64(scale) if root else np.float64(scale) ** 2
                if root:
                    low, high, value = np.sqrt(low), np.sqrt(high), np.sqrt(np.float64(value))
                    error = error / (2.0 * value)
                found.append((low * unit, high * unit, error * unit, value * unit))
        low, high, error, value = (self._result(list(each)) for each in zip(*found, strict=True))
        name = "standard deviation" if root else "variance"
        return Interval(low, high, error, value, level, target, f"the {name} {TARGETS[target]}")

    def _warn_of_tails(self, what: str, target: str) -> None:
        exact = self._law.p == 1.0 and target == "file"
        if not exact:
            found = (heavy_tails.kurtosis(source.moments(4), self._law) for source in self._sources)
            heavy_tails.warn(found, self._sources[0].n, what, stacklevel=4)

    def _moment_error(self, k: int, order: int, central: bool, target: str) -> float:
        """The standard error of a moment, in the scale of the source's moments to its power."""
        source = self._sources[k]
        center, scale, means = source.moments(max(order, 2))
        if central:
            about = shift(means, -means[1])
            influence = shifted_power(order, -means[1])
            influence[:2] -= order * about[order - 1] * np.array([-means[1], 1.0])
            influence[0] -= about[order]
        else:
            influence = shifted_power(order, center / scale)
            influence[0] -= shift(means, center / scale)[order]
        around = self._spread(k, sums_of_polynomial(influence, center, scale))
        variance = around.file if target == "file" else around.file + around.sample
        return float(np.sqrt(variance / source.n))
