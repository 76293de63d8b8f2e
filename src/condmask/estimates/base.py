"""What all groups of methods of an Estimate share."""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.estimates.origin import Origin
from condmask.inference import rearranged_variance
from condmask.inference.far_expectations import Function
from condmask.inference.function_variance import means_of
from condmask.inference.intervals import UndefinedError
from condmask.inference.pseudo_values import PseudoValues
from condmask.inference.theorem import AsymptoticVariance, asymptotic_variance
from condmask.inference.variance_curve import VarianceCurve, finest_tol
from condmask.law import Law
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.samples.cache import BoundedCache
from condmask.samples.masked_sample import CROSSINGS, MaskedSample
from condmask.samples.records import Records

VARIANCES = 4  # of means of functions
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
    def _variances(self) -> BoundedCache:
        return BoundedCache(VARIANCES)

    def _asymptotic_variance(self, key: Any, *functions: Function) -> AsymptoticVariance:
        """n times the variances of the means of functions, cached by `key` for other levels and targets."""

        def make() -> AsymptoticVariance:
            means = means_of(functions, self._sample)
            return asymptotic_variance(means, shared_donors=self._shared_donors, p=self._law.p)

        variance: AsymptoticVariance = self._variances.get(key, make)
        return variance

    @cached_property
    def _variance_curve(self) -> VarianceCurve:
        """The variances of T at all points: one for all levels and targets."""
        return VarianceCurve(self._sample, shared_donors=self._shared_donors)

    def _below_zero(self) -> tuple[float, float]:
        """The share of negative values in the original file, and its standard error."""
        # T is constant from one point of the grid to the next
        x = np.array([-0.5 * self._law.step or np.nextafter(0.0, -1.0)])
        error = self._variance_curve.at(x).standard_error(self._sample.n, "file")
        share = self._sample.values(x, None, finest_tol(self._sample), "auto")
        return share.item(), error.item()

    def _crossing(self, crossing: str | None) -> str:
        """Which crossing of T is its quantile, by default the one with the smaller error."""
        if crossing is None:
            return rearranged_variance.crossing_of(self._law.p, self._sample.n)
        return _checks.choice(crossing, "crossing", CROSSINGS)
