"""What is linear in the original: means of groups, weighted means, totals, regressions on other columns."""

import warnings
from math import ceil
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.estimates.base import CERTAIN, Shared
from condmask.estimates.by_name import ByName
from condmask.estimates.results import Intervals
from condmask.inference import heavy_tails
from condmask.inference.covariance import pseudo_values
from condmask.inference.groups import group_means
from condmask.inference.interval_options import IntervalOptions, interval_options
from condmask.inference.intervals import EstimateWarning, Interval
from condmask.inference.least_squares import basis, fit
from condmask.inference.pseudo_values import Undone, undo
from condmask.inference.reverse_mapped import LARGE, Reversed, Spread
from condmask.inference.weighted_sums import total, weighted_mean

FEW = 5.0  # unmasked records, less than which a group is flagged
KNOWN = 0.1  # standard error of the share of negative values, above which nothing is said of it


class LinearEstimates(ByName, Shared):
    """Everything linear in the original, with weights from columns that were not masked.

    Parts of the records are asked for here, from the estimate of *all* of them: donors come from the whole
    file (stratum), so the values of a part are not a masked sample of that part.
    """

    def pseudo_values(self) -> Any:
        r"""Values that are, given the file, on average each record's original.

        Returns
        -------
        ndarray of shape (n,) or (replicates, n)
            In the places of the records and the units of the data; NaN where a value is missing.

        Raises
        ------
        ValueError
            If strata or patterns are needed and missing, or a pool has too few records.

        Notes
        -----
        :math:`\tilde Z_i = (Z_i - p' \bar Z) / f` with the mean of the stratum, p' = p n/(n-1) and
        f = 1 - p - p/(n-1). Given the file its mean is X_i exactly, so sums of it with weights from other
        columns are without bias. After reverse mapping it is :math:`\bar Z + h(Z_i)`, with h found from the
        released values (docs/inference_linear.rst), and sums are without bias to .05 standard errors. It
        varies more than the original: its variance is no estimate of that, and its distribution means
        nothing.

        Slopes of an ordinary regression of the pseudo-values, in a file that is one stratum, have right
        standard errors for the population in any package that offers robust ones (HC3). Intercepts, means
        of groups and anything in several strata have not, since records share donors: `regress` and
        `group_means` know that, and the original file as a target.

        Examples
        --------
        >>> import condmask as cm
        >>> scheme = cm.ConditionalMasking(0.5, 10.0, decimals=0)
        >>> scheme.estimate([310, 421, 385, 290, 330]).pseudo_values().round(1)
        array([248. , 544. , 448. , 194.7, 301.3])
        """
        rows = self._masked()
        found = np.full(rows.shape, np.nan)
        for k in range(len(rows)):
            file = self._undone(k)
            found[k, file.rows] = file.origin + file.unit * file.values
        return found if self._batch else found[0]

    def group_means(
        self,
        labels: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Intervals:
        """Means of the original in groups of records, without bias.

        Parameters
        ----------
        labels : array_like of shape (n,), or str
            The group of each record, from a column that was not masked, or the column's name where a file
            was read; records without a label are left out.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            What the intervals are to cover: the means in the population that the file is a sample of, or
            those in the original file.
        clusters : array_like of shape (n,) or str, optional
            The cluster of each record, where clusters and not records were sampled.
        population_size : float, optional
            The number of records in the population, where it is known and finite.

        Returns
        -------
        Intervals
            By label, in sorted order; printed, a table.

        Raises
        ------
        ValueError
            If strata or patterns are needed and missing, or a pool has too few records.

        Warns
        -----
        EstimateWarning
            If groups have so few records that they tell less than 5 unmasked ones, n_g (1-p)^2 < 5, or
            means of amounts that are not negative come out negative.

        Notes
        -----
        The mean of the pseudo-values of the group. About the file it varies by the masking of all records,
        which may have lent their values to the group; about the population by the spread of the group, too.
        Intervals are by Student's t, about the population with one degree of freedom less than the group has
        records (clusters), about the file, whose variance is known from the masking of all n records, with
        n - 1; of groups of one to three records these cover more often than they say, as single masked values
        are not normal. The distribution function or quantiles of a group cannot be had, unless it consists of
        whole strata.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ConditionalMasking(0.6, 500.0)
        >>> masked = scheme.mask(income, rng=2)
        >>> found = scheme.estimate(masked).group_means(np.where(male, "male", "female"))
        >>> bool(abs(found["male"].estimate / income[male].mean() - 1) < 0.03)
        True
        >>> bool(abs(masked[male].mean() / income[male].mean() - 1) < 0.03)
        False
        """
        rows = self._masked()
        asked = self._asked(confidence_level, target, clusters, population_size)
        code, names = frames.groups(self._by_name(labels, "labels", labels=True), "labels", rows.shape[1])
        code = np.where(asked.known(code.size), code, -1)
        found = []
        for k in range(len(rows)):
            file = self._undone(k)
            own = group_means(code[file.rows], len(names), file, asked)
            ends = asked.ends(own.estimate, own.file, own.excess, own.degrees, file.n)
            found.append([*file.placed(own.estimate, *ends), own.records])
        self._warn_of_few([each[0] for each in found], found[-1][-1])
        used = int(found[-1][-1].sum())
        return self._named(names, found, asked, f"mean of the original {asked.where}, by group", used)

    def weighted_mean(
        self,
        weights: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Interval:
        """Mean of the original with weights from columns that were not masked, without bias.

        Parameters
        ----------
        weights : array_like of shape (n,), or str
            Not negative, not all 0; records without one are left out.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `group_means`, or if a weight is negative.

        Notes
        -----
        sum w Zt / sum w, Zt the pseudo-values. Student's t has (sum w)^2 / sum w^2 - 1 degrees of
        freedom, or one less than there are clusters; for the file it has n - 1, the masking of all n records
        being what its error is known from. There is no weighted quantile or distribution function: a mean
        takes the values that swapped records brought along out by one factor, a distribution function would
        have to undo the noise among records of one weight alone, which magnifies errors without bound.
        """
        asked, w = self._asked(confidence_level, target, clusters, population_size), self._weights(weights)
        if (w < 0.0).any():
            raise ValueError(f"weights must not be negative, got {w[w < 0.0][0]:g}")
        return self._summed(w, asked, f"weighted mean of the original {asked.where}", mean=True)

    def total(
        self,
        weights: Any = None,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Interval:
        """Total of the original with weights from columns that were not masked, without bias.

        Parameters
        ----------
        weights : array_like of shape (n,) or str, optional
            By how many each record counts, as the weights of a survey do; 1 by default. Records without
            one are left out.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `group_means`.

        Notes
        -----
        sum w Zt, Zt the pseudo-values. About the population the products w X vary from record to record,
        or their sums from cluster to cluster.
        """
        asked = self._asked(confidence_level, target, clusters, population_size)
        w = np.ones(self._masked().shape[1]) if weights is None else self._weights(weights)
        return self._summed(w, asked, f"total of the original {asked.where}", mean=False)

    def regress(
        self,
        W: Any,
        *,
        intercept: bool = True,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Intervals:
        """Linear regression of the original on columns that were not masked, by least squares.

        Parameters
        ----------
        W : array_like of shape (n,) or (n, q), data frame, series, dict of columns, or list of str
            Numbers, or yes and no, or names of such columns where a file was read; records that miss one are
            left out. Categories are given as indicator columns, one for each but one.
        intercept : bool
            Whether the regression has a constant term.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Intervals
            By name of the column, "intercept" first; columns of an array are called w1, w2, ...

        Raises
        ------
        ValueError
            As for `group_means`, or if a column is determined by the others.
        TypeError
            If a column does not hold numbers.

        Warns
        -----
        EstimateWarning
            If the tails of the original or of a column are heavy, by its kurtosis.

        Notes
        -----
        Least squares of the pseudo-values: given the file, on average exactly those of the originals. About
        the population the standard errors are robust (HC3; with clusters those of their sums), with what
        records have in common because they share donors. Student's t has n less the number of
        coefficients as degrees of freedom, or one less than there are clusters.

        A masked column as a *regressor* is another matter: the slope is `covariance` over `variance`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> age = rng.uniform(20, 65, 20_000)
        >>> income = 1000 + 30 * age + rng.normal(0, 400, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> found = scheme.estimate(scheme.mask(income, rng=2)).regress({"age": age})
        >>> bool(found["age"].low < 30 < found["age"].high)
        True
        """
        asked = self._asked(confidence_level, target, clusters, population_size)
        rows = self._masked()
        n, design = rows.shape[1], frames.design(self._design(W), "W")
        use = asked.known(n) & ~np.isnan(rows[0])  # a batch has no gaps
        for name, column in design.items():
            _checks.same_length(column, name, n, "z")
            use &= ~np.isnan(column)
        if intercept and "intercept" in design:
            raise ValueError("W must have no column called 'intercept' where intercept=True")
        columns = [column if use.all() else column[use] for column in design.values()]
        space = basis(list(design), columns, intercept=intercept)
        names = [*(["intercept"] if intercept else []), *design]
        constant = np.array([float(intercept), *np.zeros(len(names) - 1)])
        records, found = np.full(len(names), int(use.sum())), []
        for k in range(len(rows)):
            file = self._undone(k)
            own = fit(space, file, _among(use, file), asked, intercept=intercept)
            ends = asked.ends(own.estimate, own.file, own.excess, own.degrees, file.n)
            found.append([*file.placed(own.estimate, *ends, total=constant, units=space.units), records])
        self._warn_of_tails_in(columns)
        about = f"regression of the original, coefficients {asked.where}"
        return self._named(names, found, asked, about, int(use.sum()))

    def spreads(self) -> dict[Any, Spread]:
        """How much more released values vary once they are undone, after reverse mapping, by donor pool.

        Returns
        -------
        dict of Spread
            By number of the stratum, in the order of its labels; 0 where all records are one pool. Each has
            the law M of what a kept record gets, the function h that undoes it, and N.

        Raises
        ------
        ValueError
            As for `pseudo_values`; for a scheme without reverse mapping, for a batch.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).normal(100.0, 15.0, 2_000)
        >>> scheme = cm.ConditionalMasking(0.6, 5.0, reverse_mapping=True, aggregate_ends=3)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).spreads()[0]
        >>> round(found.N, 2)
        1.05
        >>> bool(np.allclose(found.shares @ found.matrix(), found.shares))
        True
        """
        if not self.scheme.reverse_mapping:
            raise ValueError(f"scheme must be one with reverse_mapping for spreads, got {self.scheme!r}")
        if self._batch:
            raise ValueError("z must be 1-D for spreads, got a batch; estimate its rows one by one")
        return self._reversed(0).spreads()

    # --- private ---

    def _warn_of_few(self, means: list[np.ndarray], records: np.ndarray) -> None:
        """Say which groups are too small, and why means may be negative where no value is."""
        share, said = (1.0 - self._swapped) ** 2, []
        few = int(np.count_nonzero((records > 0) & (records * share < FEW)))
        if few:
            said.append(
                f"{few} of {records.size} groups have fewer than {ceil(FEW / share)} records, and tell less "
                f"than {FEW:.0f} unmasked ones would"
            )
        below = sum(
            int(np.count_nonzero(own < 0.0)) for k, own in enumerate(means) if self._no_negatives(own, k)
        )
        if below:
            some = "mean of a group comes" if below == 1 else "means of groups come"
            said.append(f"{below} {some} out negative, though hardly a value is: too few records")
        if said:
            warnings.warn("group_means: " + "; ".join(said), EstimateWarning, stacklevel=3)

    def _no_negatives(self, means: np.ndarray, k: int) -> bool:
        """Whether a replicate, of which a mean is negative, is known to have next to no negative values."""
        if self._law.p == 0.0 or not np.any(means < 0.0):
            return False
        share, error = self._replicates[k]._below_zero()
        return bool(share <= CERTAIN * error <= CERTAIN * KNOWN)

    def _warn_of_tails_in(self, columns: list[np.ndarray]) -> None:
        """Of the original and of regressors."""
        own = [heavy_tails.kurtosis(source.moments(4), self._law) for source in self._sources]
        found = [*own, *(heavy_tails.of_plain(column) for column in columns)]
        heavy_tails.warn(found, self._sources[0].n, "coefficients", stacklevel=3)

    def _asked(
        self, confidence_level: Any, target: Any, clusters: Any, population_size: Any
    ) -> IntervalOptions:
        clusters = self._by_name(clusters, "clusters", labels=True)
        return interval_options(confidence_level, target, clusters, population_size, self._masked().shape[1])

    def _design(self, W: Any) -> Any:
        """The columns that were given, or named."""
        names = [W] if isinstance(W, str) else W
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return W
        return {name: self._by_name(name, "W") for name in names}

    def _masked(self) -> np.ndarray:
        """The records, of shape (replicates, n)."""
        if self._records is None:
            raise ValueError("z must be masked values for pseudo-values, got Counts, which keep no records")
        return self._records.rows

    def _weights(self, weights: Any) -> np.ndarray:
        found = frames.column(self._by_name(weights, "weights"), "weights").array
        _checks.same_length(found, "weights", self._masked().shape[1], "z")
        return found

    def _summed(self, weights: np.ndarray, asked: IntervalOptions, about: str, *, mean: bool) -> Interval:
        use, found = asked.known(weights.size) & ~np.isnan(weights), []
        for k in range(len(self._masked())):
            file = self._undone(k)
            rows = _among(use, file)
            w = weights[file.rows][rows]
            if mean:
                if not w.sum() > 0.0:
                    raise ValueError("weights must not all be 0")
                w = w / w.sum()
            own = (weighted_mean if mean else total)(w, file, rows, asked)
            at = np.array(own.estimate)
            ends = asked.ends(at, np.array(own.file), np.array(own.excess), own.degrees, file.n)
            found.append([float(each) for each in file.placed(at, *ends, total=float(mean))])
        used = int(np.sum(use & ~np.isnan(self._masked()[0])))
        estimate, error, low, high = np.array(found).T if self._batch else found[0]
        about += self._left_out(used)
        return Interval(low, high, error, estimate, asked.level, asked.target, about)

    def _named(
        self, names: list[Any], found: list[list[np.ndarray]], asked: IntervalOptions, about: str, used: int
    ) -> Intervals:
        """Intervals from estimates, standard errors, ends and numbers of records, replicate by replicate."""
        estimate, error, low, high, records = (
            np.array(each) if self._batch else each[0] for each in zip(*found, strict=True)
        )
        about += self._left_out(used)
        return Intervals(names, estimate, error, low, high, records, asked.level, asked.target, about)

    def _left_out(self, used: int) -> str:
        n = self._masked().shape[1]
        return "" if used == n else f" ({n - used} of {n} records left out, which miss one)"

    def _pools(self) -> np.ndarray | None:
        assert self._records is not None
        return self._records.pools()

    def _undone(self, k: int) -> Undone:
        """The records of replicate k."""
        if not self.scheme.reverse_mapping:
            return undo(self._masked()[k], self._law, self._pools(), cycle=not self.scheme.shared_donors)
        file: Undone
        file, ratio = self._undoing.get(("records", k), lambda: self._reversed(k).undone())
        if ratio > LARGE:
            warnings.warn(
                f"undone record by record, released values vary {ratio:.2f} times as much as without noise: "
                "statistics with other columns are less certain for it",
                EstimateWarning,
                stacklevel=4,
            )
        return file

    def _undo(self, k: int, values: np.ndarray) -> np.ndarray:
        """The pseudo-values of the masked values of replicate k, which are in safe units."""
        if not self.scheme.reverse_mapping:
            return pseudo_values(values, self._law, self._pools())
        file, found = self._undone(k), np.full(values.size, np.nan)
        found[file.rows] = file.values
        return found

    def _reversed(self, k: int) -> Reversed:
        """The donor pools of replicate k of a release by reverse mapping; kept, since it takes longest."""
        z, pool = self._masked()[k], self._pools()
        found: Reversed = self._undoing.get(("pools", k), lambda: Reversed(z, self.scheme, pool))
        return found


def _among(use: np.ndarray, file: Undone) -> Any:
    """Which of the records with a value are used."""
    found = use[file.rows]
    return slice(None) if found.all() else found
