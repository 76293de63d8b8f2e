"""What all groups of methods of an Estimate share."""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks
from condmask.distribution.counting import Counted, merged
from condmask.distribution.quantiles import crossing_of
from condmask.distribution.sample import CROSSINGS, Sample
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.errors import ArgumentError
from condmask.estimates.origin import Origin
from condmask.grid import Grid, default_step, grid_of
from condmask.inference.pseudo_values import PseudoValues
from condmask.law import Law
from condmask.linear import pseudo_values
from condmask.linear.chunks import Chunks
from condmask.linear.mapped import Mapped
from condmask.linear.records import Records
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.variance.expectation import Function, Mean, mean_of
from condmask.variance.interval import UndefinedError
from condmask.variance.of_cdf import CdfSums

CERTAIN = 3.0  # standard errors, beyond which a share is taken to be above 0


class Shared:
    """The sample of an Estimate, and what was computed from it."""

    scheme: Any
    origin: Origin
    _name: str  # of the column, "" where it is not known
    _law: Law
    _sample: Sample
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
    def _in_chunks(self) -> pseudo_values.PseudoValues:
        records = self._records_for("pseudo-values", "records")
        return pseudo_values.PseudoValues(Chunks(records), self._law, cycle=not self.scheme.shared_donors)

    def _linear(self) -> Any:
        """The pseudo-values of a sample, chunk by chunk; after reverse mapping with a warning as above."""
        return Mapped(self._pseudo_values()) if self.scheme.reverse_mapping else self._in_chunks

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
    def _gridded(self) -> tuple[Counted, Masking, Grid | None]:
        """The records by step of a grid, the default one where there is none, and how they were masked."""
        counted, law = self._sample.counted, self._law
        if law.p == 1.0:
            return counted, Masking("normal", 1.0), None
        grid = law.grid
        if grid is None:
            grid = grid_of(default_step(law.sigma))
            counted = merged([Counted(grid.units(counted.values), counted.counts)])
        step = grid.step / law.sigma
        return Counted(counted.values, counted.counts, 1.0 / step), Masking(law.noise, law.p, 0.0, step), grid

    def _mean_of(self, function: Function) -> Mean:
        """The mean of a function of the original, and n times its variances."""
        return mean_of(function, *self._points, shared_donors=self._shared_donors)

    @property
    def _points(self) -> tuple[Counted, Masking, Function]:
        """The records by step of a grid, how they were masked, and steps in the units of the data."""
        counted, masking, grid = self._gridded
        return counted, masking, (lambda x: x) if grid is None else grid.values

    @cached_property
    def _of_cdf(self) -> tuple[T_1, CdfSums]:
        """T_1, and the sums of which its variances are made."""
        t = self._sample.distribution(None)
        return t, CdfSums(t.counted, t.masking, shared_donors=self._shared_donors)

    def _units(self, x: np.ndarray) -> np.ndarray:
        """Points in the units of that T_1."""
        return self._sample.to_units(x, None)

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
