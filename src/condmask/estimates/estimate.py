"""What an analyst gets from masked values: moments, distribution, quantiles, correlations of the original."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from condmask import _checks
from condmask._warn import warn
from condmask.deconvolution.table import smallest_tol
from condmask.engines.choice import METHODS
from condmask.engines.counting import ValueCounts
from condmask.estimates.bands import Bands
from condmask.estimates.batch import by_replicate
from condmask.estimates.inequality import Inequality
from condmask.estimates.moment_intervals import MomentIntervals
from condmask.estimates.origin import NOWHERE, Origin
from condmask.estimates.overview import Overview
from condmask.estimates.pair_intervals import PairIntervals
from condmask.estimates.subsets import Selection
from condmask.inference.covariance import summarised
from condmask.inference.intervals import EstimateWarning
from condmask.law import Law
from condmask.samples.bandwidth import RULES
from condmask.samples.moments import shift
from condmask.samples.records import Records
from condmask.samples.sample import MaskedSample


class Estimate(Overview, Inequality, MomentIntervals, PairIntervals, Bands, Selection):
    r"""Estimates about the original variable from its masked values and the published scheme.

    Made by the `estimate` method of a scheme, from records, rows of a batch or `Counts`. Nothing here
    knows an original value.

    Parameters
    ----------
    scheme : scheme
        What was published with the data.
    sources : list
        One sample for each replicate.
    batch : bool
        Whether results carry a leading axis of replicates.
    records : Records, optional
        The records, for covariances.
    pairs : (ndarray of shape (6,), ValueCounts), optional
        What Counts keep of a second column, and its counts.
    origin : Origin
        What the release tells of the column beside its scheme.

    Notes
    -----
    The estimator of the distribution function is a sum with one fixed kernel,

    .. math:: T(x) = \frac{1}{n} \sum_j K\left(\frac{x - Z_j}{\sigma}\right),

    where K undoes the masking. It is unbiased given the original data as rounded to the grid, for every
    0 < p < 1 [1]_. It may leave [0, 1] and need not be monotone.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data",
           J. Stat. Theory Pract. (2019), arXiv:1807.05035.
    """

    def __init__(
        self,
        scheme: Any,
        sources: list[MaskedSample],
        *,
        batch: bool = False,
        records: Records | None = None,
        pairs: tuple[np.ndarray, ValueCounts] | None = None,
        origin: Origin = NOWHERE,
    ) -> None:
        self.scheme, self.origin = scheme, origin
        self._law: Law = sources[0].law
        self._sources, self._batch, self._records, self._pairs = sources, batch, records, pairs

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return self._sources[0].n

    def __repr__(self) -> str:
        shape = f"n={self.n}" if not self._batch else f"replicates={len(self._sources)}, n={self.n}"
        chosen = ""
        if self._law.p > 0.0:
            tol = max(1e-10, smallest_tol(self._law.p))
            one, many = self.engine(1, tol=tol), self.engine(1000, tol=tol)
            chosen = f"; method 'auto' is {one!r}"
            chosen += "" if one == many else f" for few points, {many!r} for many"
        return f"Estimate({shape}, scheme={self.scheme!r}{chosen})"

    def engine(self, points: int, *, bandwidth: Any = None, tol: float = 1e-10) -> str:
        """What ``method="auto"`` stands for at this number of points.

        Parameters
        ----------
        points : int
            Number of points x.
        bandwidth, tol
            As in `cdf`.

        Returns
        -------
        {"grid", "series", "interpolant", "lattice", "exact"}
        """
        points = _checks.whole(points, "points", least=1)
        source = self._sources[0]
        return source.engine(points, source.width(bandwidth), _checks.positive(tol, "tol"))

    # --- moments (Theorem 2.1) ---

    @by_replicate()
    def mean(self) -> Any:
        """Mean of the original: that of the masked values, without bias.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.
        """
        center, scale, about_center = self._sample.moments(1)
        return float(center + about_center[1] * scale)

    @by_replicate()
    def variance(self) -> Any:
        r"""Variance of the original, :math:`S_Z^2 - (1 - p)\operatorname{Var} Y`, divisor n - 1.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In squared units of the data. It may be negative, and is returned as it is.

        Notes
        -----
        Donors are shared, so the expectation is :math:`(1 - \kappa)\operatorname{Var} X` with
        :math:`\kappa = p^2 (n-2)/(n-1)^2 + 2 p (1-p)/(n-1)`, of order 1/n.
        """
        variance, scale = self._sample.variance()
        with np.errstate(over="ignore"):
            return float(variance * np.float64(scale) ** 2)

    @by_replicate()
    def std(self) -> Any:
        """Standard deviation of the original; NaN with a warning where the variance is estimated negative.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.

        Warns
        -----
        EstimateWarning
            If an estimated variance is negative.
        """
        variance, scale = self._sample.variance()
        if variance >= 0.0:
            return float(scale * np.sqrt(variance))
        warn(
            "the variance of the original is estimated negative, so its standard deviation is NaN: the "
            "noise is too large for this many records",
            EstimateWarning,
        )
        return np.nan

    @by_replicate()
    def moment(self, order: int, *, central: bool = False) -> Any:
        """Raw or central moment of the original.

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
        center, scale, about_center = self._sample.moments(order)
        distance = -about_center[1] if central else center / scale
        with np.errstate(over="ignore"):
            return float(shift(about_center, distance)[order] * np.float64(scale) ** order)

    # --- distribution (Theorems 2.2 and 2.3) ---

    def cdf(
        self,
        t: Any,
        *,
        bandwidth: Any = None,
        tol: float = 1e-10,
        method: str = "auto",
        monotone: bool = False,
    ) -> Any:
        """Distribution function of the original.

        Parameters
        ----------
        t : float or array_like of any shape
            Where, in the units of the data.
        bandwidth : float or {"scott", "silverman", "undersmooth"}, optional
            Standard deviation of the smoothing, in the units of the data. None gives the unsmoothed,
            unbiased T_1; a number or rule gives T_b, which estimates the smoothed distribution. Additive
            noise has no T_1: there None stands for "scott".
        tol : float
            Largest absolute error the computation may add; it says nothing about sampling error. At least
            2e-14 / p, the rounding error of values of size 1/p.
        method : {"auto", "grid", "series", "interpolant", "lattice"}
            How the sum is evaluated; the answer is the same within `tol`. See `engine`.
        monotone : bool
            Rearrange T into a distribution function: never decreasing, within [0, 1], to within `tol` or
            1e-8. Its quantiles are those of ``crossing="rearranged"``.

        Returns
        -------
        float or ndarray of the shape of `t`
            With a leading axis of replicates where `z` is 2-D. May leave [0, 1] unless `monotone`.

        Raises
        ------
        ValueError
            If `t` is NaN, `bandwidth` or `tol` is not positive, or the method cannot meet `tol`.

        Notes
        -----
        Theorem 2.2 (T_1) and 2.3 (T_b), with the kernel of the noise as it was rounded; T_1 is constant
        from each grid point to the next. "grid" costs one count of the records and one Fourier transform
        over the range of the data, "lattice" one sort or, of counts, none; then any point costs little.
        "series" and "interpolant" cost O(n) a point.

        Examples
        --------
        >>> import condmask as cm
        >>> masked = [-1.2, -0.4, 0.1, 0.3, 0.9, 2.2]
        >>> cm.ConditionalMasking(0.6, 1.0, step=0.1).estimate(masked).cdf([0.0, 1.0]).round(4)
        array([0.2609, 0.911 ])
        """
        if not monotone:
            return self._evaluate(t, bandwidth, tol, method, density=False)
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        if method not in ("auto", "grid", "lattice"):
            raise ValueError(
                f"method must be 'auto', 'grid' or 'lattice' where monotone=True, got {method!r}"
            )
        found = [s.monotone(points.ravel(), s.width(bandwidth), tol) for s in self._sources]
        return self._shaped(found, points.shape)

    def cdf_bounds(self, t: Any, *, tol: float = 1e-10) -> tuple[Any, Any]:
        """Between which values T_1 of the records lies, where Counts have counted neighbours together.

        As `cdf`, twice: the lower and the upper bound, equal where nothing was lost.
        """
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        found = [source.bounds(points.ravel(), tol) for source in self._sources]
        low, high = zip(*found, strict=True)
        return self._shaped(list(low), points.shape), self._shaped(list(high), points.shape)

    def pdf(self, t: Any, *, bandwidth: Any = "scott", tol: float = 1e-10, method: str = "auto") -> Any:
        """Density of the original, smoothed: the derivative of T_b.

        Parameters
        ----------
        t, bandwidth, method
            As in `cdf`; a bandwidth is needed.
        tol : float
            Largest absolute error of the computation, in units of 1/sigma (of 1/bandwidth for the series).

        Returns
        -------
        float or ndarray of the shape of `t`
            Per unit of the data. May be negative.
        """
        if bandwidth is None:
            raise ValueError("bandwidth must be a positive number or a rule for a density, got None")
        return self._evaluate(t, bandwidth, tol, method, density=True)

    def quantile(
        self, q: Any, *, bandwidth: Any = None, tol: float = 1e-10, crossing: str | None = None
    ) -> Any:
        """Quantiles of the original: where `cdf` crosses the probabilities.

        Parameters
        ----------
        q : float or array_like of any shape
            Probabilities, 0 < q < 1.
        bandwidth, tol
            As in `cdf`.
        crossing : {"first", "rearranged"}, optional
            T is not monotone and may cross a probability several times. "first" is the least x with
            T(x) >= q, the generalised inverse; "rearranged" the quantile of the monotone rearrangement of
            T. Where p and n are small the first crossing is biased, in the tails by as much as a standard
            error, so "rearranged" is the default below p = .5, for fewer than 2000 records below a p that
            rises as log n falls, .71 at 200 and .77 at 100; else "first".

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
        A probability counts as reached where T >= q - tol. Intervals on which a bound of T stays below that
        are excluded and others halved, so no crossing is missed but for excursions by less than rounding;
        on a grid T_1 is known at all points. Cost: as `cdf`, then O(log n) a crossing.

        There are no weights: swapped records show values of others, and to take these out the noise would
        have to be undone among records of one weight alone, which magnifies errors without bound.

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
        probabilities, tol = _checks.probabilities(q, "q"), _checks.positive(tol, "tol")
        crossing = self._crossing(crossing)
        wanted = probabilities.ravel()
        found = [s.quantiles(wanted, s.width(bandwidth), tol, crossing) for s in self._sources]
        return self._shaped(found, probabilities.shape)

    def quantile_bounds(self, q: Any, *, tol: float = 1e-10, crossing: str | None = None) -> tuple[Any, Any]:
        """Between which values the quantiles of the records lie, as `cdf_bounds`."""
        probabilities, tol = _checks.probabilities(q, "q"), _checks.positive(tol, "tol")
        crossing, wanted = self._crossing(crossing), probabilities.ravel()
        found = [source.quantile_bounds(wanted, tol, crossing) for source in self._sources]
        low, high = zip(*found, strict=True)
        return self._shaped(list(low), probabilities.shape), self._shaped(list(high), probabilities.shape)

    def bandwidth(self, rule: str = "scott") -> Any:
        """The bandwidth that a rule gives for these masked values.

        Parameters
        ----------
        rule : {"scott", "silverman", "undersmooth"}
            1.06 or 0.9 times min(s.d., IQR/1.34) n^(-1/5); "undersmooth" is 1.06 with n^(-1/3).

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.
        """
        return self._result(
            [source.width(_checks.choice(rule, "rule", tuple(RULES))) for source in self._sources]
        )

    # --- two variables (Theorem 2.5) ---

    def covariance(self, other: Any = None) -> Any:
        """Covariance of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str, the name of one in its file
            A column that was not masked, or the estimate of one that was masked together with this. Of a
            Counts left out: the column that its updates brought along.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In units of the one times units of the other. Divisor n - 1, n the records with both values.

        Raises
        ------
        ValueError
            If the columns were not masked together, strata or patterns are needed and missing, or there
            are too few records.

        Notes
        -----
        Theorem 2.5, with the covariance of its proof. Its factor 1 - p is (1-p) - p/(n-1) exactly, since a
        donor is never the record itself; n is the size of the donor pool. Within strata the factor
        applies within each, and the covariance between strata stays as it is (docs/theory.rst, "Strata").
        """
        return self._result([value * unit for value, _, unit in self._products(other)])

    def correlation(self, other: Any = None) -> Any:
        """Correlation of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str, the name of one in its file
            As for `covariance`.

        Returns
        -------
        float or ndarray of shape (replicates,)
            May leave [-1, 1], with a warning; NaN where a variance is estimated negative.

        Raises
        ------
        ValueError
            As for `covariance`.

        Warns
        -----
        EstimateWarning
            If the estimate lies outside [-1, 1], or a variance is estimated negative.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x, w = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 50_000).T
        >>> scheme = cm.ConditionalMasking(0.6, 1.0)
        >>> round(scheme.estimate(scheme.mask(x, rng=2)).correlation(w), 1)
        0.5
        """
        found = []
        for value, variances, _ in self._products(other):
            if min(variances) <= 0.0:
                reason, result = "a variance is estimated negative or zero", float("nan")
            else:
                result = value / float(np.sqrt(variances[0]) * np.sqrt(variances[1]))
                reason = f"the estimate {result:.4g} lies outside [-1, 1]"
            if not abs(result) <= 1.0:
                warnings.warn(
                    f"correlation: {reason}; too few records for this scheme", EstimateWarning, stacklevel=2
                )
            found.append(result)
        return self._result(found)

    # --- private ---

    def _evaluate(self, t: Any, bandwidth: Any, tol: float, method: str, *, density: bool) -> Any:
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        _checks.choice(method, "method", METHODS)
        found = [
            s.values(points.ravel(), s.width(bandwidth), tol, method, density=density) for s in self._sources
        ]
        return self._shaped(found, points.shape)

    def _products(self, other: Any) -> Iterator[tuple[float, tuple[float, float], float]]:
        """For each replicate the covariance and both variances of the originals, in safe units, and the
        product of the units."""
        if self._pairs is not None and not self.scheme.reverse_mapping:
            if other is not None:
                raise ValueError(
                    "other must be left out: Counts have the column that its updates brought along"
                )
            pairs, counts = self._pairs
            yield summarised(pairs, counts, self._law, self.scheme.strata, self.origin.patterns)
            return
        other = self._by_name(other, "other", masked=True)
        for k, (z, w) in enumerate(self._both(other)):
            yield self._product(k, z, w, other)
