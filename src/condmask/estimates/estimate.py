"""What an analyst gets from masked values: moments, distribution, quantiles, correlations of the original."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask.engines import choice
from condmask.estimates.covariance import check_joint, covariance, joint_covariance
from condmask.estimates.moments import original_moments, original_variance, shift
from condmask.estimates.sample import CROSSINGS, Sample
from condmask.frames import codes
from condmask.law import Law
from condmask.weights.table import smallest_tol

NAN_POLICIES = ("raise", "omit")


class EstimateWarning(UserWarning):
    """An estimate lies where no original value could; it is returned as it is."""


class Estimate:
    r"""Estimates about the original variable from its masked values and the published scheme.

    Made by `ConditionalMasking.estimate`. Nothing here knows an original value.

    Parameters
    ----------
    scheme : ConditionalMasking
        What was published with the data.
    z : array_like or series of shape (n,), or array_like of shape (replicates, n)
        Masked values. With two dimensions every result carries a leading axis of replicates.
    strata : array_like of shape (n,), optional
        Strata within which the donors were drawn; only covariances need them.
    nan_policy : {"raise", "omit"}
        What to do with missing values of a one-dimensional `z`.
    workers : int or map-like callable
        Results do not depend on it.

    Notes
    -----
    The estimator of the distribution function is a sum with one fixed kernel,

    .. math:: T(x) = \frac{1}{n} \sum_j K\left(\frac{x - Z_j}{\sigma}\right),

    where K undoes the masking. It is unbiased given the original data, for every 0 < p < 1 [1]_. It may
    leave [0, 1] and need not be monotone.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data",
           J. Stat. Theory Pract. (2019), arXiv:1807.05035.
    """

    def __init__(
        self,
        scheme: Any,
        z: Any,
        *,
        strata: Any = None,
        nan_policy: str = "omit",
        workers: Workers = 1,
    ) -> None:
        array = frames.column(z, "z", dimensions=(1, 2)).array
        self._there = _checks.present(array, "z", _checks.choice(nan_policy, "nan_policy", NAN_POLICIES))
        if self._there is not None and array.ndim == 2:
            raise ValueError("z must have no missing values where it is 2-D; estimate its rows one by one")
        self._strata = None
        if strata is not None:
            labels = frames.labels(strata)
            _checks.same_length(labels, "strata", array.shape[-1], "z")
            self._strata = codes(labels if self._there is None else labels[self._there])[0]
        self.scheme = scheme
        self._batch = array.ndim == 2
        self._rows = np.atleast_2d(array if self._there is None else array[self._there])
        self._workers = _checks.workers(workers)
        self._samples = [Sample(row, self._law, scheme.decimals, self._workers) for row in self._rows]

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return int(self._rows.shape[1])

    def __repr__(self) -> str:
        tol = max(1e-10, smallest_tol(self.scheme.p))
        one, many = self.engine(1, tol=tol), self.engine(1000, tol=tol)
        chosen = f"'auto' is {one!r}" + ("" if one == many else f" for few points, {many!r} for many")
        shape = f"n={self.n}" if not self._batch else f"replicates={self._rows.shape[0]}, n={self.n}"
        return f"Estimate({shape}, scheme={self.scheme!r}; method {chosen})"

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
        {"series", "interpolant", "lattice"}
        """
        sample = self._samples[0]
        masking = sample.masking(sample.bandwidth(bandwidth))
        points = _checks.whole(points, "points", least=1)
        return choice.choose(masking, self.n, points, _checks.positive(tol, "tol"), "auto")

    # --- moments (Theorem 2.1) ---

    def mean(self) -> Any:
        """Mean of the original: that of the masked values, without bias.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In the units of the data.
        """
        found = [original_moments(row, 1, self._law) for row in self._rows]
        return self._result([center + means[1] * scale for center, scale, means in found])

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
        found = [original_variance(row, self._law) for row in self._rows]
        with np.errstate(over="ignore"):
            return self._result([value * np.float64(scale) ** 2 for value, scale in found])

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
        found = [original_variance(row, self._law) for row in self._rows]
        if any(value < 0.0 for value, _ in found):
            warnings.warn(
                "the variance of the original is estimated negative, so its standard deviation is NaN: the "
                "noise is too large for this many records",
                EstimateWarning,
                stacklevel=2,
            )
        return self._result([scale * np.sqrt(v) if v >= 0.0 else np.nan for v, scale in found])

    def moment(self, order: int, *, central: bool = False) -> Any:
        """Raw or central moment of the original.

        Parameters
        ----------
        order : int
            At least 1.
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
        order = _checks.whole(order, "order", least=1)
        results = []
        for row in self._rows:
            center, scale, about = original_moments(row, order, self._law)
            distance = -about[1] if central else center / scale
            with np.errstate(over="ignore"):
                results.append(shift(about, distance)[order] * np.float64(scale) ** order)
        return self._result(results)

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
            unbiased T_1; a number or rule gives T_b, which estimates the smoothed distribution.
        tol : float
            Largest absolute error the computation may add; it says nothing about sampling error. At least
            2e-14 / p, the rounding error of values of size 1/p.
        method : {"auto", "series", "interpolant", "lattice"}
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
        Theorem 2.2 (T_1) and 2.3 (T_b). Rounded data (`decimals`) are evaluated half a step to the right,
        with the kernel of the rounded noise. Cost: O(n) a point by "series" and "interpolant"; by
        "lattice" one pass over the records and then O(1) a point, or O(log n) where records lie thinly.
        The rearrangement takes some thirty searches a point.

        Examples
        --------
        >>> import condmask as cm
        >>> masked = [-1.2, -0.4, 0.1, 0.3, 0.9, 2.2]
        >>> cm.ConditionalMasking(0.6, 1.0).estimate(masked).cdf([0.0, 1.0]).round(4)
        array([0.2708, 0.9188])
        """
        if not monotone:
            return self._evaluate(t, bandwidth, tol, method, density=False)
        points, tol = _checks.reals(t, "t"), _checks.positive(tol, "tol")
        if method not in ("auto", "lattice"):
            raise ValueError(f"method must be 'auto' or 'lattice' where monotone=True, got {method!r}")
        found = [s.monotone(points.ravel(), s.bandwidth(bandwidth), tol) for s in self._samples]
        return self._shaped(np.array(found), points.shape)

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
            T. Below p = 1/2 the first crossing is biased, in the tails by as much as a standard
            error, so "first" is the default for p >= 1/2 and "rearranged" below.

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
        The search excludes intervals on which a bound of T stays below q and halves the others, so no
        crossing is missed but for excursions of T above q by less than rounding. Cost: one sort, then
        O(log n) evaluations a crossing.

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
        tol = _checks.positive(tol, "tol")
        if crossing is None:
            crossing = "first" if self.scheme.p >= 0.5 else "rearranged"
        _checks.choice(crossing, "crossing", CROSSINGS)
        wanted = probabilities.ravel()
        found = [s.quantiles(wanted, s.bandwidth(bandwidth), tol, crossing) for s in self._samples]
        return self._shaped(np.array(found), probabilities.shape)

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
        return self._result([sample.bandwidth(rule) for sample in self._samples])

    # --- two variables (Theorem 2.5) ---

    def covariance(self, other: Any) -> Any:
        """Covariance of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), or Estimate
            A column that was not masked, or the estimate of one that was masked together with this.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In units of the one times units of the other. Divisor n - 1.

        Raises
        ------
        ValueError
            If the columns were not masked together, strata are needed and missing, or there are too
            few records.

        Notes
        -----
        Theorem 2.5, with the covariance of its proof. Its factor 1 - p is (1-p) - p/(n-1) exactly, since a
        donor is never the record itself. Within strata the factor applies to the covariance within
        each stratum, and the covariance between strata stays as it is (docs/theory.rst, "Strata").
        """
        if self._batch:
            return np.array([row.covariance(w) for row, w in self._row_by_row(other)])
        value, scale, other_scale = self._covariance(other)
        return value * scale * other_scale

    def correlation(self, other: Any) -> Any:
        """Correlation of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), or Estimate
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
        if self._batch:
            return np.array([row.correlation(w) for row, w in self._row_by_row(other)])
        z, w, _ = self._pair(other)
        value, unit, other_unit = self._covariance(other)
        variance, scale = original_variance(z, self._law)
        other_variance, other_scale = original_variance(
            w, other._law if isinstance(other, Estimate) else None
        )
        if variance <= 0.0 or other_variance <= 0.0:
            reason = "a variance is estimated negative or zero"
            result = np.nan
        else:
            result = value * (unit / scale) * (other_unit / other_scale) / np.sqrt(variance * other_variance)
            reason = f"the estimate {result:.4g} lies outside [-1, 1]"
        if not abs(result) <= 1.0:
            warnings.warn(
                f"correlation: {reason}; too few records for this scheme", EstimateWarning, stacklevel=2
            )
        return float(result)

    # --- private ---

    def _evaluate(self, t: Any, bandwidth: Any, tol: float, method: str, *, density: bool) -> Any:
        points = _checks.reals(t, "t")
        tol = _checks.positive(tol, "tol")
        _checks.choice(method, "method", choice.METHODS)
        found = [
            s.values(points.ravel(), s.bandwidth(bandwidth), tol, method, density=density)
            for s in self._samples
        ]
        return self._shaped(np.array(found), points.shape)

    @property
    def _law(self) -> Law:
        scheme = self.scheme
        step = 0.0 if scheme.decimals is None else 10.0**-scheme.decimals
        return Law(scheme.p, scheme.noise, scheme.sigma, step)

    def _covariance(self, other: Any) -> tuple[float, float, float]:
        z, w, strata = self._pair(other)
        joint = isinstance(other, Estimate)
        return joint_covariance(z, w) if joint else covariance(z, w, self.scheme.p, strata)

    def _pair(self, other: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """This column, the other, and the strata, on the records where both are present."""
        if isinstance(other, Estimate):
            check_joint(self.scheme, other.scheme)
            w = other._column()
        else:
            if self.scheme.strata is not None and self._strata is None:
                raise ValueError(
                    f"strata must be given: donors were drawn within {self.scheme.strata!r}, so pass that "
                    "column to estimate()"
                )
            w = frames.column(other, "other").array
        z = self._column()
        _checks.same_length(w, "other", z.size, "z")
        both = ~(np.isnan(z) | np.isnan(w))
        if both.sum() < 2:
            raise ValueError(f"other must have at least 2 values where z has them, got {int(both.sum())}")
        strata = (
            None if self._strata is None else self._strata[both if self._there is None else both[self._there]]
        )
        return z[both], w[both], strata

    def _replicates(self) -> list["Estimate"]:
        return [Estimate(self.scheme, z, strata=self._strata, workers=self._workers) for z in self._rows]

    def _row_by_row(self, other: Any) -> Iterator[tuple["Estimate", Any]]:
        """Each replicate, and its part of the other column."""
        if isinstance(other, Estimate):
            theirs: list[Any] = other._replicates()
        else:
            theirs = list(other) if np.ndim(other) == 2 else [other] * len(self._rows)
        if len(theirs) != len(self._rows):
            raise ValueError(f"other must have {len(self._rows)} replicates, as z has, got {len(theirs)}")
        return zip(self._replicates(), theirs, strict=True)

    def _column(self) -> np.ndarray:
        """The masked values in their places, NaN where missing."""
        if self._there is None:
            return np.asarray(self._rows[0])
        column = np.full(self._there.size, np.nan)
        column[self._there] = self._rows[0]
        return column

    def _result(self, values: list[Any]) -> Any:
        return np.array(values, dtype=np.float64) if self._batch else float(values[0])

    def _shaped(self, values: np.ndarray, shape: tuple[int, ...]) -> Any:
        if self._batch:
            return values.reshape(len(values), *shape)
        return values[0].reshape(shape) if shape else float(values[0, 0])
