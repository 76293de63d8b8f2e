"""Mask a column under a scheme that swaps records, and estimate from a masked column."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask._randomness import Randomness, check_rng, release_key
from condmask.disclosure.audit import DEFAULT_LIMITS
from condmask.disclosure.policy import accepted_codes
from condmask.estimates.counts import Counts
from condmask.estimates.from_values import Estimates, estimate_counts, estimate_records
from condmask.frames import DataFrame
from condmask.marks import marked, refuse_marked
from condmask.masking.ends import AUTO
from condmask.masking.swap_scheme import SwapScheme
from condmask.publish.prepare import prepare, released
from condmask.publish.rounding import check_round, shift_of
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.strata import StrataValues, labels_of


class SwapMasking(SwapScheme):
    """A scheme that swaps records, with the audit of what it releases and its estimators."""

    def mask(
        self,
        x: ArrayLike,
        *,
        rng: Randomness = None,
        strata: StrataValues = None,
        nan_policy: str = "raise",
        round: bool = False,
        workers: int = 1,
        accept: str | Sequence[str] = (),
        accept_visible_coins: bool = False,
    ) -> Any:
        """Mask a column.

        Parameters
        ----------
        x : array_like or series of shape (n,)
            Original values: an array, a list, or a column of pandas, polars or pyarrow.
        rng : None, int, Generator, SeedSequence, BitGenerator or Key, optional
            None takes a new key from the operating system: the only choice for a release. A whole
            number, for examples and studies, gives the same result each time; who knows it can
            unmask the data.
        strata : array_like of shape (n,), data frame, dict or sequence of columns, optional
            The column that the scheme names in `strata`; a table, or a sequence of columns, if it
            names several.
        nan_policy : {"raise", "omit"}
            "omit" leaves missing values missing, and out of the donor pool, as are declared codes.
        round : bool
            Round the data to multiples of the scheme's step first, ties up as they are written
            (1.005 to 1.01); a warning says what that moves. Not under reverse mapping, where
            nothing is rounded.
        workers : int
            Results do not depend on it.
        accept : str or sequence of str, optional
            Codes of findings that the release is not refused for, as a refusal names them. "all"
            releases without an audit and without guard rails, whatever that reveals.
        accept_visible_coins : bool
            Deprecated: ``accept="all"``.

        Returns
        -------
        same container as `x`
            Under reverse mapping, values of `x` in its own type. With noise, float64; float32
            where `x` is float32, since wider values would show that they were not swapped; int64
            where `x` holds integers and the points of the grid are whole numbers; decimals and
            dates as such (docs/files.rst, "Types of columns").

        Raises
        ------
        ValueError
            If values are missing or infinite, off the grid of `decimals` or `step`, too far from 0
            for it, or outside the range; if a stratum is too small, or noise would leave the range
            or reach a code; if the index of `strata` has the labels of `x` in another order.
        ReleaseError
            If the release would show too much of the originals (`audit`).
        TypeError
            If the data are not numbers.

        Warns
        -----
        ReleaseWarning
            If there are few records, rows are nearly in the order of their values, or noise takes
            values below 0 and no original is negative.

        Notes
        -----
        Two calls without `rng` mask twice with fresh randomness: never publish both.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0, decimals=0).mask([310, 421, 385, 290], rng=1).dtype
        dtype('int64')
        """
        refuse_marked(x, "x")
        refuse_other_order({"strata": strata}, labels_of_rows(x, "x"))
        column = frames.column(x, "x")
        rule = "aggregate_ends must be a number, which mask_table finds"
        _checks.require(self.aggregate_ends != AUTO, rule, self.aggregate_ends)
        random = check_rng(rng)
        policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
        labels = labels_of(strata, self.strata, column.array.size, "x", "mask")
        threads = _checks.integer(workers, "workers", least=1)
        accepted = accepted_codes(accept, visible_coins=accept_visible_coins)
        schemes = {"x": self}
        prepared = prepare(
            schemes,
            {"x": column},
            labels=labels,
            nan_policy=policy,
            to_grid=check_round(round, schemes),
            limits=None if accepted is None else DEFAULT_LIMITS._replace(accepted=accepted),
        )
        if self.grid is not None:
            for moved in prepared.moved.values():
                shift_of([moved], "x", self.grid.step)
        columns = list(prepared.units.values())
        key = release_key(random, {column.name: self}, columns, prepared.pools)
        masked = released(schemes, prepared, key, threads)["x"]
        return marked(masked, [column.name or "x"], column.array.size)

    def estimate(
        self,
        z: ArrayLike | Counts,
        *,
        strata: StrataValues = None,
        patterns: DataFrame | None = None,
        nan_policy: str = "omit",
        workers: int = 1,
    ) -> Estimates:
        """Estimate the original values from the masked ones: the analyst's view.

        Parameters
        ----------
        z : array_like or series of shape (n,), array_like of shape (replicates, n), or Counts
            Masked values. If 2-D, every result has a leading axis of replicates.
        strata : array_like of shape (n,), data frame, dict or sequence of columns, optional
            As for `mask`. Needed for relations with other columns, groups, weights and `part`;
            other estimates are the same without them.
        patterns : data frame or dict of columns, optional
            All columns that were masked together, if some of them have missing values (NaN or
            null): a donor has the same gaps as the record. Needed where strata are; a `Release`
            finds both itself.
        nan_policy : {"omit", "raise"}
            "omit" leaves missing values out; declared codes are left out under both.
        workers : int
            Results do not depend on it.

        Returns
        -------
        Estimate
            Moments, distribution function, quantiles, density and correlations of the original.

        Raises
        ------
        ValueError
            If values lie off the grid of the scheme, Counts are of another scheme, or the index of
            `strata` or `patterns` has the labels of `z` in another order.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0, decimals=0).estimate([310, 420, 385, 290]).mean()
        351.25
        """
        if isinstance(z, Counts):
            return estimate_counts(self, z, workers=workers)
        return estimate_records(
            self, z, strata=strata, patterns=patterns, nan_policy=nan_policy, workers=workers
        )
