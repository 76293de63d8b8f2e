"""Estimates mean, variance, standard deviation and moments of the original, with intervals.

Theorem 2.1 of Ghatak & Roy.
"""

import numpy as np

from condmask import _checks
from condmask.errors import warn
from condmask.estimates.base import Shared
from condmask.inference.interval import (
    EstimateWarning,
    Interval,
    Target,
    check_interval_options,
)
from condmask.moments import moment_interval as moments
from condmask.moments.heavy_tails import kurtosis, warn_of_heavy_tails
from condmask.moments.moment_interval import NEGATIVE, Sampled
from condmask.moments.variance_interval import variance_interval


class Moments(Shared):
    """Estimates moments and their intervals.

    With heavy tails, intervals keep their level only for many more records than without.
    """

    def mean(self) -> float:
        """Estimate the mean of the original: that of the masked values, without bias.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data. An array for a batch of samples.
        """
        return self.moment(1)

    def variance(self) -> float:
        r"""Estimate the variance of the original, :math:`S_Z^2 - (1 - p)\operatorname{Var} Y`,
        divisor n - 1.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In squared units of the data. It may be negative; it is not cut off at 0.

        Notes
        -----
        Without bias where donors are a permutation, as by default, but for files with one swapped
        record. With ``donors="sample"`` records share donors, and the expectation is
        :math:`(1 - \kappa)\operatorname{Var} X` with
        :math:`\kappa = p^2 (n-2)/(n-1)^2 + 2 p (1-p)/(n-1)`, of order 1/n.
        """
        return float(moments.variance(self._sampled(2)))

    def std(self) -> float:
        """Estimate the standard deviation of the original; NaN with a warning if the variance is
        estimated negative.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.

        Warns
        -----
        EstimateWarning
            If an estimated variance is negative.
        """
        std = float(moments.variance(self._sampled(2), root=True))
        if np.isnan(std):
            warn(NEGATIVE, EstimateWarning)
        return std

    def moment(self, order: int, *, central: bool = False) -> float:
        """Estimate a raw or central moment of the original.

        Parameters
        ----------
        order : int
            From 1 to 170.
        central : bool
            About the estimated mean, with divisor n, instead of about 0.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In units of the data to the power `order`.

        Notes
        -----
        Recursion of Theorem 2.1; raw moments are exactly unbiased.
        """
        order = _checks.order(order, "order")
        central = _checks.boolean(central, "central")
        return float(moments.moment(self._sampled(order), order, central=central))

    def mean_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        r"""Compute a confidence interval for the mean.

        Parameters
        ----------
        confidence_level : float
            The share of such intervals that cover their target.
        target : {"population", "file"}
            The mean of the distribution that the file is a sample of, or that of the original file
            itself.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D.

        Warns
        -----
        EstimateWarning
            About the population, if the tails of the original are heavy, by its estimated skewness
            (docs/inference.rst, "Heavy tails").

        Notes
        -----
        n times the variance is the variance of Z less :math:`(1-p)^2 \operatorname{Var} X` for the
        file (for donors of a permutation less :math:`\operatorname{Var} X`), for the population
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
        sampled, level, target = self._interval_arguments(1, confidence_level, target)
        self._warn_of_skewness(target, sampled.n, "means")
        return moments.moment_interval(sampled, level, target, 1, "the mean", central=False)

    def moment_interval(
        self,
        order: int,
        *,
        central: bool = False,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Interval:
        """Compute a confidence interval for a raw or central moment, by the normal approximation.

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
            In units of the data to the power `order`, with a leading axis of replicates where `z`
            is 2-D.

        Notes
        -----
        The standard error needs moments of twice the order. From order 3 on, and for heavy tails
        from order 2, intervals cover less often than they say unless there are very many records;
        so do intervals from data that are not masked (docs/coverage.rst).
        """
        order = _checks.order(order, "order", most=_checks.MAX_ORDER // 2)
        central = _checks.boolean(central, "central")
        name = f"the {'central' if central else 'raw'} moment of order {order}"
        sampled, level, target = self._interval_arguments(
            order, confidence_level, target, "moments of order 2 and more"
        )
        return moments.moment_interval(sampled, level, target, order, name, central=central)

    def variance_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the variance, which is never negative.

        Parameters
        ----------
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In squared units of the data, with a leading axis of replicates where `z` is 2-D. It
            has a length also where the variance is estimated negative.

        Warns
        -----
        EstimateWarning
            If the tails of the original are heavy, by its estimated kurtosis (docs/inference.rst,
            "Heavy tails").

        Notes
        -----
        Where noise is narrow it is symmetric on the logarithm of the variance. Where it is wide it
        is an interval of Feldman and Cousins for a parameter from 0 on, as that of correlations is
        for one between -1 and 1 (docs/inference.rst, "The variance").

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).normal(0.0, 1.0, 200)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).variance_interval()
        >>> bool(0.0 <= found.low < 1.0 < found.high)
        True
        """
        return variance_interval(
            *self._interval_arguments(2, confidence_level, target), root=False
        )

    def std_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the standard deviation: roots of the variance's
        interval.

        Parameters
        ----------
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In the units of the data, with a leading axis of replicates where `z` is 2-D. Estimate
            and standard error are NaN where the variance is estimated negative.

        Warns
        -----
        EstimateWarning
            As for `variance_interval`.
        """
        return variance_interval(*self._interval_arguments(2, confidence_level, target), root=True)

    # --- private ---

    def _sampled(self, order: int) -> Sampled:
        """Return the mean powers of the masked values up to this order, with their law."""
        masked = self.sample.powers(order)
        return Sampled(self.sample.n, self.law, self.scheme.shared_donors, masked)

    def _interval_arguments(
        self,
        order: int,
        confidence_level: float,
        target: Target,
        quantities: str = "variances",
    ) -> tuple[Sampled, float, Target]:
        """Return the checked arguments of an interval; warns of heavy tails of the original."""
        self._refuse_additive()
        level, target = check_interval_options(confidence_level, target)
        sampled = self._sampled(2 * order)
        exact = self.law.p == 1.0 and target == "file"
        if order > 1 and not exact:
            heaviness = kurtosis(sampled.masked, self.law)
            warn_of_heavy_tails(heaviness, sampled.n, quantities, [self._shown_name])
        return sampled, level, target
