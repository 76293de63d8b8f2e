"""Means of any function of the original, with intervals."""

from collections.abc import Callable, Hashable
from typing import Any

from condmask import _checks
from condmask.estimates.base import Shared
from condmask.estimates.batch import by_replicate
from condmask.inference.function_variance import checked, known, means_of
from condmask.inference.intervals import Interval, check_target, interval, multiplier


class Functionals(Shared):
    """Means of any function of the original."""

    @by_replicate()
    def expectation(self, g: Callable[[Any], Any], *, floor: float | None = None) -> Any:
        r"""Mean of a function of the original, without bias.

        Parameters
        ----------
        g : callable
            Maps an array of values in the units of the data to one number for each. It is also called with
            values beyond the data, as far as T has mass there.
        floor : float, optional
            Replaces all smaller values: the mean of ``g(max(X, floor))``.

        Returns
        -------
        float or ndarray of shape (replicates,)

        Raises
        ------
        ValueError
            If g is not finite at a value that has mass (the message names it), or grows so fast beyond the
            data that its mean is not known; and if more than 2^27 points of the grid have mass.

        Notes
        -----
        The sum of g weighted by the mass that T gives to the points of the grid; like T, it is unbiased given
        the original file. g is called once for every point within reach of the data, in blocks if there are
        many; twice under Laplace noise. With ``g = lambda x: x**k`` it is
        `moment`.

        Under noise T has mass below the data, so ``np.log`` needs a floor unless they stay away from 0 by
        more than K reaches, some 10 sigma. After reverse mapping g is called only with the values of the
        data.

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
        floor = None if floor is None else _checks.real(floor, "floor", "None or a number")
        function = checked(g, floor)
        self._refuse_additive()
        return known(means_of([function], self._sample).psi).item()

    @by_replicate()
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
        floor = None if floor is None else _checks.real(floor, "floor", "None or a number")
        function = checked(g, floor)
        self._refuse_additive()
        level, _ = multiplier(confidence_level)
        target = check_target(target)
        key = (g, floor) if isinstance(g, Hashable) else object()
        variance = self._asymptotic_variance(key, function)
        known(variance.file)
        error = variance.standard_error(self._sample.n, target).item()
        return interval(known(variance.means.psi).item(), error, level, target, "the mean of g(X)")
