"""How unequally the original is distributed: Gini coefficient and Lorenz curve, with intervals."""

from typing import Any

import numpy as np

from condmask import _checks
from condmask.estimates.base import CERTAIN, Shared
from condmask.estimates.batch import by_replicate
from condmask.estimates.distribution import shaped
from condmask.inference import bounded, inequality
from condmask.inference.inequality import Functional
from condmask.inference.intervals import Interval, check_target, interval


class Inequality(Shared):
    """Gini coefficient and Lorenz curve."""

    @by_replicate()
    def gini(self) -> Any:
        r"""Gini coefficient of the original, a positive amount.

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
        integral removes the bias of the first. As an estimate for the original file it has the divisor
        n (n - 1).
        """
        self._refuse_additive()
        return self._gini().value

    @by_replicate()
    def gini_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        """Confidence interval for the Gini coefficient, by the normal approximation.

        Parameters
        ----------
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where `z` is 2-D. If no amount is negative, interval and
            estimate lie within [0, 1]; where `gini` lies outside, the estimate is the nearest end.

        Notes
        -----
        Near 0 and 1 the interval is built as in `correlation_interval`, so that it keeps its level there. If
        the estimated share of negative amounts is more than three standard errors above 0, some amounts are
        taken to be negative; then the coefficient may exceed 1, and nothing is cut.
        """
        self._refuse_additive()
        target = check_target(target)
        intervals = self._bounded(
            "Gini", [self._gini()], 1.0, confidence_level, target, "the Gini coefficient"
        )
        return intervals._replace(**{name: getattr(intervals, name).item() for name in Interval._fields[:4]})

    @by_replicate()
    def lorenz(self, q: Any) -> Any:
        r"""Lorenz curve of the original: the share of the total that belongs to the lowest records.

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
        With x the quantile q of the rearranged T, :math:`\{q x - \int_{-\infty}^x T\} / \bar Z`; the integral
        is that of T itself, without bias.
        """
        shares = _checks.probabilities(q, "q")
        self._refuse_additive()
        ordinates = inequality.lorenz(self._sample, shares.ravel())
        return shaped(np.array([ordinate.value for ordinate in ordinates]), shares)

    @by_replicate()
    def lorenz_interval(
        self, q: Any, *, confidence_level: float = 0.95, target: str = "population"
    ) -> Interval:
        """Confidence intervals for ordinates of the Lorenz curve, by the normal approximation.

        Parameters
        ----------
        q
            As for `lorenz`.
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D. If no amount is negative,
            intervals and estimates lie within [0, q] (`gini_interval`).
        """
        shares = _checks.probabilities(q, "q")
        self._refuse_additive()
        target, q = check_target(target), shares.ravel()
        intervals = self._bounded(
            ("Lorenz", *q.tolist()), inequality.lorenz(self._sample, q), q, confidence_level, target,
            "the Lorenz curve",
        )  # fmt: skip
        return intervals._replace(
            **{name: shaped(getattr(intervals, name), shares) for name in Interval._fields[:4]}
        )

    # --- private ---

    def _gini(self) -> Functional:
        return inequality.gini(self._sample, self._variance_curve)

    def _bounded(
        self, key: Any, functionals: list[Functional], highest: Any, confidence_level: Any, target: str,
        quantity: str,
    ) -> Interval:  # fmt: skip
        """Intervals between 0 and `highest`, where no amount is negative."""
        level = _checks.confidence_level(confidence_level)
        variance = self._asymptotic_variance(key, *(functional.influence for functional in functionals))
        value = np.array([each.value for each in functionals])
        error = variance.standard_error(self._sample.n, target)
        negative, apart = self._below_zero()
        if negative > CERTAIN * apart:
            ends = bounded.placed(value, error, -np.inf, np.inf, level)
            return interval(value, error, level, target, quantity, ends=ends)
        nearest = np.clip(value, 0.0, highest)
        intervals = interval(
            nearest, error, level, target, quantity, ends=bounded.placed(value, error, 0.0, highest, level)
        )
        outside = np.count_nonzero(nearest != value)
        if not outside:
            return intervals
        lost = (
            f"{outside} of the estimates lie outside the possible range, and the nearest end of it is given"
        )
        return intervals._replace(about=f"{intervals.about}; {lost}")
