"""Compare masked columns of a release: differences and ratios of their means."""

from collections.abc import Mapping, Sequence
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.estimates.estimate import Estimate
from condmask.estimates.joint_means import joint_means
from condmask.estimates.results import Intervals
from condmask.inference.interval import Interval, Target, check_interval_options


class JointColumns(Mapping[str, Estimate]):
    """Compares the means of columns that were masked together."""

    schemes: dict[str, Any]

    def means(
        self,
        columns: Sequence[str],
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Estimate the means of several masked columns, with their covariances.

        Parameters
        ----------
        columns : sequence of str
            At least two masked columns. Records that miss a value in one of them are left out.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            What the intervals should cover.

        Returns
        -------
        Intervals
            By column; ``.difference(a, b)``, ``.ratio(a, b)``, ``.contrast``, ``.test`` and
            ``.covariance`` use that the columns shared swapped records and donors.

        Raises
        ------
        ValueError
            If a column is not masked or occurs twice, the columns were not masked together, or
            the population is estimated after reverse mapping, where `difference` and `ratio` are
            available, and errors of other combinations are not known.
        """
        level, target = check_interval_options(confidence_level, target)
        of = self._masked_together(columns)
        if target == "population" and any(each.scheme.reverse_mapping for each in of.values()):
            raise ArgumentError(
                "means have known covariances under noise only, got columns released by reverse "
                "mapping: release.difference(a, b) and release.ratio(a, b) compare two of them"
            )
        return joint_means(of, level, target)

    def _masked_together(self, columns: Sequence[str]) -> dict[str, Estimate]:
        """Return the estimates of several masked columns; refuse others."""
        names = list(_checks.names(columns, "columns"))
        unknown = [name for name in names if name not in self.schemes]
        if unknown or len(names) < 2 or len({*names}) < len(names):
            masked = _checks.listed([*self.schemes])
            raise ArgumentError(
                f"columns must be two or more different ones of the masked columns {masked}, "
                f"got {names}"
            )
        return {name: self[name] for name in names}

    def difference(
        self,
        a: str,
        b: str,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Interval:
        """Estimate the mean of one masked column less that of another, such as a change between
        two years.

        Parameters
        ----------
        a, b : str
            Columns that were masked together; the mean of `b` is taken from that of `a`.
        confidence_level, target
            As for `means`.

        Returns
        -------
        Interval
            After reverse mapping about the population it covers more often than it says where the
            columns hardly differ: the error of their covariance is not known.

        Raises
        ------
        ValueError
            If a column is not masked or `a` is `b`, the columns were not masked together, or p is
            below .05 after reverse mapping.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> before = rng.lognormal(7, 0.5, 5_000)
        >>> frame = pd.DataFrame({"before": before, "after": before + rng.normal(50, 100, 5_000)})
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> release = cm.mask_table(frame, {"before": scheme, "after": scheme}, rng=2)
        >>> change = release.difference("after", "before")
        >>> bool(change.low < 50 < change.high < change.low + 30)
        True
        """
        level, target = check_interval_options(confidence_level, target)
        return joint_means(self._masked_together([a, b]), level, target).difference(a, b)

    def ratio(
        self,
        a: str,
        b: str,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Interval:
        """Estimate the ratio of the means of two masked columns, of `a` to `b`.

        Parameters
        ----------
        a, b : str
            Columns that were masked together, with positive means.
        confidence_level, target
            As for `means`.

        Returns
        -------
        Interval
            Symmetric on the logarithm of the ratio; after reverse mapping as for `difference`.

        Raises
        ------
        ValueError
            As for `difference`, and if a mean is not estimated above 0.
        """
        level, target = check_interval_options(confidence_level, target)
        return joint_means(self._masked_together([a, b]), level, target).ratio(a, b)
