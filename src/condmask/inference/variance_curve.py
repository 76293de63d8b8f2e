"""The variance of T as a function of the point, n times."""

import numpy as np

from condmask.deconvolution.table import smallest_tol
from condmask.inference import cdf_variance
from condmask.inference.cdf_variance import CdfSums, Sums
from condmask.inference.theorem import AsymptoticVariance, asymptotic_variance
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample


class VarianceCurve:
    """n times the variances of T at any points.

    Parameters
    ----------
    sample : MaskedSample
    shared_donors : bool
        Whether donors are drawn anew for each record.
    """

    def __init__(self, sample: MaskedSample, *, shared_donors: bool) -> None:
        self.sample, self.shared_donors = sample, shared_donors
        self._records = sample.noise_class()
        if self._records.law is not None:
            self._sums = CdfSums(self._records.counts, masking(self._records.law, None))

    def at(self, x: np.ndarray) -> AsymptoticVariance:
        """n times the variances at points x."""
        p = self.sample.law.p
        return asymptotic_variance(self.means(x), shared_donors=self.shared_donors, p=p)

    def means(self, x: np.ndarray) -> Sums:
        """The means of the ingredients of T over all records."""
        points = self._records.points(x, None)
        if self._records.law is not None:
            sums = self._sums.at(points)
        else:
            sums = cdf_variance.without_noise(self._records.counts, self.sample.law.p, points)
        return sums.over(self.sample.n)


def finest_tol(sample: MaskedSample) -> float:
    """The default tolerance of T, or the least that there is at so small a p."""
    return max(1e-10, smallest_tol(sample.law.p))


def largest_weight(sample: MaskedSample) -> float:
    """The largest weight of a masked value."""
    law = sample.noise_class().law
    if law is None:
        return 1.0
    own = masking(law, None)
    cells, noise = cdf_variance.lattice(own)
    return max(1.0, float(cdf_variance.kernels(noise, cells * own.delta).values[0].max()))
