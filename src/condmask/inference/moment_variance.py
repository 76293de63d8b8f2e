"""How moments vary that are estimated from one sample of masked values."""

import numpy as np

from condmask.inference import influence
from condmask.inference.polynomial_variance import Moments, Variances, polynomial_variance
from condmask.samples.moments import mean_powers, theorem_2_1
from condmask.samples.sample import MaskedSample


def moment_variance(
    sample: MaskedSample, strata: list[MaskedSample], order: int, *, central: bool, shared_donors: bool
) -> Variances:
    """n times the variances of a moment, in the scale of the sample's moments to its power.

    Parameters
    ----------
    sample : MaskedSample
    strata : list of MaskedSample
        Its records by donor pool; none where all are one.
    order : int
    central : bool
    shared_donors : bool
    """
    center, scale, means = sample.moments(order)
    pools, p = strata or [sample], sample.law.p
    parts = [pool.noise_class() for pool in pools]
    law = parts[0].law
    noise = np.eye(1, 2 * order + 1)[0] if law is None else law.noise_moments(2 * order, scale)
    masked = np.array([
        mean_powers((part.values(part.counts.values) - center) / scale, part.counts.counts, 2 * order)
        for part in parts
    ])  # fmt: skip
    moments = Moments(masked[..., None], theorem_2_1(masked.T, p, noise).T[..., None])
    functions = influence.of_moment(means, order, None if central else center / scale, noise[: order + 1], p)
    share = np.array([pool.n / sample.n for pool in pools])
    return polynomial_variance(moments, functions, p, shared_donors=shared_donors, share=share)
