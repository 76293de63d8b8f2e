"""What an analyst estimates from masked values: moments, distribution, quantiles, correlations."""

from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, warn
from condmask.estimates.bands import Bands
from condmask.estimates.distribution import Distribution
from condmask.estimates.functionals import Functionals
from condmask.estimates.linear import LinearEstimates
from condmask.estimates.moments import Moments
from condmask.estimates.pairs import Pairs
from condmask.estimates.results import Intervals
from condmask.estimates.subsets import Selection
from condmask.moments.moment_interval import NEGATIVE
from condmask.variance.interval import EstimateWarning, Interval, asked

DECILES = tuple(k / 10 for k in range(1, 10))


class Estimate(Distribution, Functionals, Bands, Moments, LinearEstimates, Pairs, Selection):
    r"""Estimates about the original variable from its masked values and the published scheme.

    Created by the `estimate` method of a scheme, from records or `Counts`. For a 2-D array its results have a
    leading axis of replicates. It never sees an original value.

    Parameters
    ----------
    scheme : scheme
        What was published with the data.
    sample : Sample
        The masked values.
    records : Records, optional
        The records, for covariances.
    origin : Origin
        What the release says about the column besides its scheme.
    name : str
        What pictures call the column, where that is known.

    Notes
    -----
    The estimator of the distribution function is a sum with one fixed kernel,

    .. math:: T(x) = \frac{1}{n} \sum_j K\left(\frac{x - Z_j}{\sigma}\right),

    where K undoes the masking. It is unbiased given the original data as rounded to the grid, for every
    0 < p < 1 [1]_. It may leave [0, 1] and need not be monotone.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data", J. Stat. Theory Pract. (2019),
           https://doi.org/10.1007/s42519-019-0042-y, https://arxiv.org/abs/1807.05035.
    """

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return self._sample.n

    @property
    def N(self) -> float:  # noqa: N802 - a symbol of the docs
        """By how much pseudo-values vary more than originals after reverse mapping, in the worst donor pool.

        (1 - p) times the standard deviation of h, which undoes the mapping, over that of the values; 1 is the
        least there can be. A covariance with a column in clear has a standard error of about
        sqrt(N^2 / (1-p)^2 - 1) times that of unmasked data.
        """
        if not self.scheme.reverse_mapping:
            raise ArgumentError(f"scheme must be one with reverse_mapping for N, got {self.scheme!r}")
        self._refuse_batch("N")
        return float(self._undone.variation)

    def __repr__(self) -> str:
        shape = f"n={self.n}" if not self._replicates else f"replicates={len(self._replicates)}, n={self.n}"
        return f"Estimate({shape}, scheme={self.scheme!r})"

    def summary(
        self,
        quantiles: Any = DECILES,
        *,
        points: Any = (),
        confidence_level: float = 0.95,
        target: str = "population",
    ) -> Intervals:
        """Mean, standard deviation, quantiles and distribution function with standard errors and intervals.

        Parameters
        ----------
        quantiles : array_like
            Probabilities.
        points : array_like
            Points at which to estimate the distribution function, in the units of the data.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Intervals
            By name: "mean", "s.d.", "quantile 0.5", "cdf at 1000"; printed, a table. Estimates lie within
            their intervals: where `cdf` leaves [0, 1], the nearer end is given.

        Raises
        ------
        ValueError
            If the estimate is of a batch.

        Notes
        -----
        After reverse mapping `about` gives N, the factor by which pseudo-values vary more.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(2).normal(100.0, 15.0, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).summary([0.5])
        >>> list(found)
        ['mean', 's.d.', 'quantile 0.5']
        >>> bool(found["mean"].low < 100.0 < found["mean"].high)
        True
        """
        self._refuse_batch("a summary")
        level, target = asked(confidence_level, target)
        options: dict[str, Any] = {"confidence_level": level, "target": target}
        q = _checks.probabilities(quantiles, "quantiles").ravel()
        t = _checks.reals(points, "points").ravel()
        intervals = [self.mean_interval(**options), self.std_interval(**options)]
        if np.isnan(intervals[1].estimate):
            warn(NEGATIVE, EstimateWarning)
        intervals += [self.quantile_interval(q, **options)] if q.size else []
        intervals += [self.cdf_interval(t, **options)] if t.size else []
        low, high, error, estimate = (
            np.concatenate([np.atleast_1d(each[k]) for each in intervals]) for k in range(4)
        )
        names = ["mean", "s.d.", *(f"quantile {each:g}" for each in q), *(f"cdf at {each:g}" for each in t)]
        found = Interval(low, high, error, estimate, level, target, self._certainty(target))
        return Intervals.of(names, found, self.n, ("statistic",))

    def _certainty(self, target: str) -> str:
        """What a summary is about, and how well its numbers are known."""
        where = "the population" if target == "population" else "the original file"
        if not self.scheme.reverse_mapping:
            return f"{where}, estimated"
        exact = "exact except at the ends, which are means" if self.scheme.aggregate_ends else "exact"
        known = f"{where}, {exact if target == 'file' else 'estimated'}"
        try:
            return f"{known}; for other columns N = {self.N:.2f}"
        except ValueError:  # pools that are not known, or small
            return known
