"""What every group of methods of an Estimate stands on."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks
from condmask.estimates.origin import Origin
from condmask.inference import rearranged_variance
from condmask.inference.cdf_variance import Sums
from condmask.inference.intervals import UndefinedError
from condmask.inference.theorem import AsymptoticVariance, PoolMeans, asymptotic_variance
from condmask.inference.variance_curve import VarianceCurve, finest_tol
from condmask.law import Law
from condmask.samples.by_pool import by_pool
from condmask.samples.cache import BoundedCache
from condmask.samples.masked_sample import CROSSINGS, MaskedSample
from condmask.samples.records import Records

CURVES = 2  # of T_1 and a T_b
CERTAIN = 3.0  # standard errors, beyond which a share is taken to be above 0


class Shared:
    """The samples of an Estimate, one for each replicate, and how results are given back."""

    scheme: Any
    origin: Origin
    _law: Law
    _sources: list[MaskedSample]
    _batch: bool
    _records: Records | None

    @cached_property
    def _replicates(self) -> tuple[Any, ...]:
        """The estimates of the samples of a batch, one by one; of a single sample itself."""
        if not self._batch:
            return (self,)
        made: Any = type(self)
        each = self._records
        return tuple(
            made(
                self.scheme,
                [source],
                records=None if each is None else Records(each.rows[k : k + 1], each.pool, each.wanting),
                origin=self.origin,
            )
            for k, source in enumerate(self._sources)
        )

    @property
    def _sample(self) -> MaskedSample:
        """The sample of an estimate that is no batch."""
        return self._sources[0]

    @cached_property
    def _curves(self) -> BoundedCache:
        return BoundedCache(CURVES)

    @cached_property
    def _undoing(self) -> BoundedCache:
        return BoundedCache(2)

    @property
    def _swapped(self) -> float:
        """The share of swapped records; that of the law is 1 where values are released in another order."""
        return float(self.scheme.p) if self.scheme.reverse_mapping else self._law.p

    def _refuse_additive(self) -> None:
        if self._law.p == 0.0:
            raise UndefinedError(
                "intervals must be asked of conditionally masked values, got values with added noise, whose "
                "distribution is estimated smoothed alone"
            )

    @property
    def _shared_donors(self) -> bool:
        """Whether donors are drawn anew for each record, so that records may share one."""
        return bool(self.scheme.donors == "sample")

    @cached_property
    def _donor_pools(self) -> list[MaskedSample]:
        """The records by pool of donors; none where all are one, or it makes no difference."""
        return by_pool(self._records, self._law) if self._shared_donors else []

    def _asymptotic_variance(self, ingredients: Callable[[MaskedSample], Sums]) -> AsymptoticVariance:
        """n times the variances of an estimate of whose ingredients the means over a sample are given."""
        sample, pools = self._sample, None
        if self._donor_pools:
            means = [ingredients(pool) for pool in self._donor_pools]
            psi, residual = (np.array([getattr(own, name) for own in means]) for name in ("psi", "residual"))
            pools = PoolMeans(np.array([pool.n / sample.n for pool in self._donor_pools]), psi, residual)
        return asymptotic_variance(
            ingredients(sample), pools, shared_donors=self._shared_donors, p=sample.law.p
        )

    def _variance_curve(self, bandwidth: float | None) -> VarianceCurve:
        """The variances of T at all points, of T_b for a bandwidth: one for all levels and targets."""

        def make() -> VarianceCurve:
            return VarianceCurve(
                self._sample, self._donor_pools, bandwidth, shared_donors=self._shared_donors
            )

        curve: VarianceCurve = self._curves.get(bandwidth, make)
        return curve

    def _below_zero(self) -> tuple[float, float]:
        """The share of negative values in the original file, and its standard error."""
        # T is constant from one point of the grid to the next
        x = np.array([-0.5 * self._law.step or np.nextafter(0.0, -1.0)])
        error = self._variance_curve(None).at(x).standard_error(self._sample.n, "file")
        share = self._sample.values(x, None, finest_tol(self._sample), "auto")
        return share.item(), error.item()

    def _crossing(self, crossing: str | None) -> str:
        """Which crossing of T is its quantile, by default the one with the smaller error."""
        if crossing is None:
            return rearranged_variance.crossing_of(self._law.p, self._sample.n)
        return _checks.choice(crossing, "crossing", CROSSINGS)

    # --- replicate by replicate ---

    def _spread(self, k: int, ingredients: Callable[[MaskedSample], Sums]) -> AsymptoticVariance:
        variance: AsymptoticVariance = self._replicates[k]._asymptotic_variance(ingredients)
        return variance

    def _result(self, values: list[Any]) -> Any:
        return np.array(values, dtype=np.float64) if self._batch else float(values[0])

    def _shaped(self, values: list[np.ndarray], shape: tuple[int, ...]) -> Any:
        if self._batch:
            return np.array(values).reshape(len(values), *shape)
        return values[0].reshape(shape) if shape else float(values[0][0])
