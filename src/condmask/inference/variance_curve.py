"""The variance of T as a function of the point, n times: from all records, and by pool of donors."""

import numpy as np

from condmask.deconvolution.table import smallest_tol
from condmask.inference import cdf_variance
from condmask.inference.cdf_variance import CdfSums, PoolSums, Sums
from condmask.inference.theorem import AsymptoticVariance, PoolMeans, asymptotic_variance
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample


class VarianceCurve:
    """n times the variances of T, of T_b for a bandwidth, at any points.

    Parameters
    ----------
    sample : MaskedSample
    pools : list of MaskedSample
        The same records by pool of donors; none where all are one, or it makes no difference.
    bandwidth : float or None
    shared_donors : bool
        Whether donors are drawn anew for each record.
    """

    def __init__(
        self,
        sample: MaskedSample,
        pools: list[MaskedSample],
        bandwidth: float | None,
        *,
        shared_donors: bool,
    ) -> None:
        self.sample, self.pools, self.bandwidth = sample, pools, bandwidth
        self.shared_donors = shared_donors
        self._records = sample.noise_class()
        law = self._records.law
        if law is not None:
            own = masking(law, bandwidth)
            self._sums = CdfSums(self._records.counts, own)
            if pools:
                self._pool_sums = PoolSums([pool.noise_class().counts for pool in pools], own)

    def at(self, x: np.ndarray) -> AsymptoticVariance:
        """n times the variances at points x."""
        pools = self.pool_means(x) if self.pools else None
        p = self.sample.law.p
        return asymptotic_variance(self.means(x), pools, shared_donors=self.shared_donors, p=p)

    def means(self, x: np.ndarray) -> Sums:
        """The means of the ingredients of T over all records."""
        points = self._records.points(x, self.bandwidth)
        if self._records.law is not None:
            sums = self._sums.at(points)
        elif self._records.smoothed and self.bandwidth is not None:
            sums = cdf_variance.smoothed(self._records.counts, points, self.bandwidth)
        else:
            sums = cdf_variance.without_noise(self._records.counts, self.sample.law.p, points)
        return sums.over(self.sample.n)

    def pool_means(self, x: np.ndarray) -> PoolMeans:
        """The means of psi and of the residual in each pool of donors."""
        records = np.array([pool.n for pool in self.pools])
        if self._records.law is None:  # of records as they are
            each = [
                VarianceCurve(pool, [], self.bandwidth, shared_donors=self.shared_donors).means(x)
                for pool in self.pools
            ]
            psi, residual = (np.array([getattr(own, name) for own in each]) for name in ("psi", "residual"))
        else:
            psi, residual = self._pool_sums.at(self._records.points(x, self.bandwidth))
            psi, residual = psi / records[:, None], residual / records[:, None]
        return PoolMeans(records / self.sample.n, psi, residual)


def finest_tol(sample: MaskedSample) -> float:
    """The default tolerance of T, or the least that there is at so small a p."""
    return max(1e-10, smallest_tol(sample.law.p))


def largest_weight(sample: MaskedSample, bandwidth: float | None) -> float:
    """The largest weight of a masked value."""
    law = sample.noise_class().law
    if law is None:
        return 1.0
    own = masking(law, bandwidth)
    cells, noise = cdf_variance.lattice(own)
    return max(1.0, float(cdf_variance.kernels(noise, cells * own.delta).values[0].max()))
