"""What every group of methods of an Estimate stands on."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from condmask.estimates.origin import Origin
from condmask.inference.cdf_variance import Sums
from condmask.inference.intervals import UndefinedError
from condmask.inference.theorem import AsymptoticVariance, asymptotic_variance, finest_tol, sums_at
from condmask.law import Law
from condmask.samples.by_pool import strata
from condmask.samples.records import Records
from condmask.samples.sample import BoundedCache, MaskedSample

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
    def _split(self) -> BoundedCache:
        return BoundedCache(1)

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

    def _spread(self, k: int, of: Callable[[MaskedSample], Sums]) -> AsymptoticVariance:
        """n times the variances of an estimate from replicate k (`inference.theorem`)."""
        shared = self.scheme.donors == "sample"
        return asymptotic_variance(of, self._sources[k], self._strata_of(k), shared_donors=shared)

    def _below_zero(self, k: int) -> tuple[float, float]:
        """The share of negative values in the original file of replicate k, and its standard error."""
        source = self._sources[k]
        # T is constant from one point of the grid to the next
        x = np.array([-0.5 * source.law.step or np.nextafter(0.0, -1.0)])
        around = self._spread(k, sums_at(x, None))
        share = source.values(x, None, finest_tol(source), "auto").item()
        return share, float(np.sqrt(around.file.item() / source.n))

    def _strata_of(self, k: int) -> list[MaskedSample]:
        """The records of replicate k by pool of donors; none where all are one, or it makes no difference."""
        if self.scheme.donors != "sample":
            return []
        found: list[MaskedSample] = self._split.get(k, lambda: strata(self._records, k, self._law))
        return found

    def _result(self, values: list[Any]) -> Any:
        return np.array(values, dtype=np.float64) if self._batch else float(values[0])

    def _shaped(self, values: list[np.ndarray], shape: tuple[int, ...]) -> Any:
        if self._batch:
            return np.array(values).reshape(len(values), *shape)
        return values[0].reshape(shape) if shape else float(values[0][0])
