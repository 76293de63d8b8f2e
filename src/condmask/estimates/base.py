"""What all groups of methods of an Estimate share."""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks
from condmask.distribution.counting import Counted
from condmask.distribution.quantiles import crossing_of
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.errors import ArgumentError
from condmask.estimates.origin import Origin
from condmask.inference.intervals import UndefinedError
from condmask.inference.pseudo_values import PseudoValues
from condmask.law import Law
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.samples.exact import EXACT
from condmask.samples.masked_sample import CROSSINGS, MaskedSample
from condmask.samples.records import Records
from condmask.variance.expectation import Function, Mean, mean_of
from condmask.variance.of_cdf import CdfSums, t_1_and_sums

CERTAIN = 3.0  # standard errors, beyond which a share is taken to be above 0


class Shared:
    """The sample of an Estimate, and what was computed from it."""

    scheme: Any
    origin: Origin
    _name: str  # of the column, "" where it is not known
    _law: Law
    _sample: MaskedSample
    _records: Records | None
    _replicates: tuple[Any, ...] = ()  # of a batch, an estimate for each row; its own sample is the first's

    def _records_for(self, purpose: str, missing: str) -> Records:
        """The records; an error if there are only Counts."""
        if self._records is None:
            raise ArgumentError(f"z must be masked values for {purpose}, got Counts, which keep no {missing}")
        return self._records

    def _pseudo_values(self) -> PseudoValues:
        """The pseudo-values of a sample; after reverse mapping with a warning where they vary much."""
        if self.scheme.reverse_mapping:
            mapped = self._reverse_mapped
            mapped.warn_of_variation()
            return mapped
        return self._undone

    @cached_property
    def _undone(self) -> PseudoValues:
        """The pseudo-values after additive masking: figures by pool."""
        records = self._records_for("pseudo-values", "records")
        cycle = not self.scheme.shared_donors
        return PseudoValues(records.z, self._law, records.pools(), cycle=cycle)

    @cached_property
    def _reverse_mapped(self) -> ReverseMapped:
        """The pseudo-values after reverse mapping; kept, since they take longest."""
        records = self._records_for("pseudo-values", "records")
        return ReverseMapped(records.z, self.scheme, records.pools())

    @property
    def _swapped(self) -> float:
        """The share of swapped records; that of the law is 1 where values are released in another order."""
        return float(self.scheme.p) if self.scheme.reverse_mapping else self._law.p

    def _refuse_additive(self) -> None:
        if self._law.p == 0.0:
            raise UndefinedError(
                "intervals are available only for conditionally masked values, got values with added noise, "
                "whose distribution can only be estimated smoothed"
            )

    def _refuse_batch(self, purpose: str) -> None:
        if self._replicates:
            raise ArgumentError(f"z must be 1-D for {purpose}, got a batch; estimate its rows one by one")

    @property
    def _shared_donors(self) -> bool:
        """Whether donors are drawn anew for each record, so that records may share one."""
        return bool(self.scheme.donors == "sample")

    @cached_property
    def _counted(self) -> tuple[Counted, Masking, Function]:
        """The records by step of a grid, how they were masked, and steps in the units of the data."""
        records = self._sample.noise_class()
        values, counts = records.counts
        if records.law is None:
            return Counted(values, counts), Masking("normal", 1.0), records.values
        noise, p, step = records.law.noise, records.law.p, records.law.step / records.law.sigma
        return Counted(values, counts, 1.0 / step), Masking(noise, p, 0.0, step), records.values

    def _mean_of(self, function: Function) -> Mean:
        """The mean of a function of the original, and n times its variances."""
        return mean_of(function, *self._counted, shared_donors=self._shared_donors)

    @cached_property
    def _of_cdf(self) -> tuple[T_1, CdfSums]:
        """T_1, and the sums of which its variances are made."""
        (values, counts), law, *_ = self._sample.noise_class()
        if law is not None and self._law.grid is None:  # T_1 needs no grid
            z: np.ndarray = self._sample.z  # type: ignore[attr-defined]
            (values, counts), law = np.unique(z, return_counts=True), self._law
        return t_1_and_sums(values, counts, law or EXACT, shared_donors=self._shared_donors)

    def _units(self, x: np.ndarray) -> np.ndarray:
        """Points in the units of that T_1."""
        return x if self._law.grid is None else self._sample.noise_class().points(x, None)

    def _below_zero(self) -> tuple[float, float]:
        """The share of negative values in the original file, and its standard error."""
        # T is constant from one point of the grid to the next
        x = np.array([-0.5 * self._law.step or np.nextafter(0.0, -1.0)])
        (t, sums), points = self._of_cdf, self._units(x)
        return t.at(points).item(), sums.variance(points).standard_error(t.n, "file").item()

    def _crossing(self, crossing: str | None) -> str:
        """Which crossing of T is its quantile, by default the one with the smaller error."""
        if crossing is None:
            return crossing_of(self._law.p, self._sample.n)
        return _checks.choice(crossing, "crossing", CROSSINGS)
