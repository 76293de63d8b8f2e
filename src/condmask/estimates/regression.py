"""A regression: its coefficients, tests that they are 0, and predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import frames
from condmask._digits import number
from condmask.errors import ArgumentError
from condmask.estimates.contrasts import pvalue_text
from condmask.estimates.results import Intervals
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Interval, aligned, interval

INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Intervals):
    """Coefficients of a regression by name, with what follows from their covariances.

    Attributes are those of `Intervals`; `covariance` is that of the coefficients.
    """

    @property
    def coefficients(self) -> dict[str, float]:
        """The estimated coefficients by name."""
        return dict(zip(self.names, self.estimate.tolist(), strict=True))

    @property
    def pvalues(self) -> dict[str, float]:
        """By name the two-sided p-value of the hypothesis that the coefficient is 0."""
        return dict(zip(self.names, self._pvalues().tolist(), strict=True))

    def columns(self) -> dict[str, list[Any]]:
        """Return the further columns of a frame: the p-values, of one sample."""
        return {"pvalue": self._pvalues().tolist()} if self.estimate.ndim == 1 else {}

    def predict(self, W: ColumnsLike) -> Interval:
        """Estimate the mean of the original at values of the other columns.

        Parameters
        ----------
        W : array_like of shape (m,) or (m, q), data frame or dict of columns
            Numbers, by the names of the coefficients, or in their order.

        Returns
        -------
        Interval
            Of shape (m,), for the mean of the original among records with these values, as far as
            it is linear in them; not for single records.

        Raises
        ------
        ValueError
            If a column is missing, or the covariances are not known.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> age = rng.uniform(20, 65, 20_000)
        >>> income = 1000 + 30 * age + rng.normal(0, 400, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> found = scheme.estimate(scheme.mask(income, rng=2)).regress({"age": age})
        >>> at_40 = found.predict({"age": [40.0]})
        >>> bool(at_40.low[0] < 2_200 < at_40.high[0])
        True
        """
        matrix = self._matrix(W)
        covariance = self._covariances(range(len(self.names)))
        variance = np.einsum("ij,jk,ik->i", matrix, covariance, matrix)
        error = np.sqrt(np.maximum(variance, 0.0))
        degrees = np.inf if self.degrees is None else float(self.degrees[0])
        return interval(
            matrix @ self.estimate,
            error,
            self.confidence_level,
            self.target,
            "mean of the original by the regression",
            degrees=degrees,
        )

    def summary(self) -> str:
        """Return the coefficients, standard errors, tests and intervals as a table in a text.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> age = rng.uniform(20, 65, 20_000)
        >>> income = 1000 + 30 * age + rng.normal(0, 400, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> found = scheme.estimate(scheme.mask(income, rng=2)).regress({"age": age})
        >>> print(found.summary().splitlines()[1].split())
        ['coefficient', 's.e.', 't', 'p', '95%', 'from', 'to']
        """
        level = f"{100.0 * self.confidence_level:g}%"
        table = [["", "coefficient", "s.e.", "t", "p", f"{level} from", "to"]]
        pvalues = self._pvalues()
        for k, name in enumerate(self.names):
            error = float(self.standard_error[k])
            figures = (self.estimate[k], error, self.low[k], self.high[k])
            value, own, low, high = (number(float(figure), error) for figure in figures)
            t = f"{self.estimate[k] / error:.2f}" if error > 0.0 else "-"
            table.append(
                [
                    str(name),
                    value,
                    own,
                    t,
                    pvalue_text(float(pvalues[k])).removeprefix("= "),
                    low,
                    high,
                ]
            )
        width = max(len(row[0]) for row in table)
        rows = [[row[0].ljust(width), *row[1:]] for row in table]
        degrees = "" if self.degrees is None else f", {self.degrees[0]:.0f} degrees of freedom"
        return "\n".join([self.about, *aligned(rows), f"{self.records[0]:.0f} records{degrees}"])

    def _pvalues(self) -> np.ndarray:
        from scipy.special import stdtr  # takes .1 s to import

        degrees = np.inf if self.degrees is None else self.degrees
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.abs(self.estimate / self.standard_error)
        return np.asarray(2.0 * stdtr(degrees, -t))

    def _matrix(self, W: ColumnsLike) -> np.ndarray:
        """Return the rows of the regressors, of shape (m, coefficients)."""
        names = [name for name in self.names if name != INTERCEPT]
        columns = _columns(W, names)
        if any(name not in columns for name in names):
            raise ArgumentError(f"W must have the columns {names}, got {list(columns)}")
        rows = [frames.column(columns[name], name, least=1).array for name in names]
        if INTERCEPT in self.names:
            rows = [np.ones(rows[0].size), *rows]
        return np.column_stack(rows)


def _columns(W: ColumnsLike, names: list[str]) -> dict[str, ArrayLike]:
    """Return the columns of a table by name, or those of an array in the order of the names."""
    if isinstance(W, dict):
        return {str(name): column for name, column in W.items()}
    if frames.is_frame(W):
        return {name: frames.table_column(W, name) for name in frames.column_names(W)}
    rows = np.asarray(W, dtype=np.float64)
    if rows.ndim != 2:
        rows = rows.reshape(-1, 1)
    if rows.shape[1] != len(names):
        raise ArgumentError(f"W must have the columns {names}, got {rows.shape[1]} columns")
    return dict(zip(names, rows.T, strict=True))
