"""Moments from one sample of masked values, their variances and their intervals."""

import numpy as np

from condmask.errors import warn
from condmask.inference.heavy_tails import kurtosis, warn_of_heavy_tails
from condmask.inference.influence import of_moment
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import EstimateWarning, Interval, interval
from condmask.inference.polynomial_variance import Moments, Variances, polynomial_variance
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.moments import mean_powers, shift, theorem_2_1

NEGATIVE = (
    "the variance of the original is estimated negative, so its standard deviation is NaN: the noise is too "
    "large for this many records"
)


def mean(sample: MaskedSample) -> float:
    """The mean of the original: that of the masked values."""
    return moment(sample, 1, central=False)[0]


def std(sample: MaskedSample) -> float:
    """The standard deviation of the original; NaN with a warning where the variance is negative."""
    variance, scale = sample.variance()
    if variance < 0.0:
        warn(NEGATIVE, EstimateWarning)
        return np.nan
    return float(scale * np.sqrt(variance))


def moment(sample: MaskedSample, order: int, *, central: bool) -> tuple[float, np.float64]:
    """A moment of the original, and the unit that it was worked out in."""
    center, scale, means = sample.moments(order)
    with np.errstate(over="ignore"):
        unit = np.float64(scale) ** order
        if order == 1 and not central:
            return float(center + means[1] * scale), unit
        return float(shift(means, -means[1] if central else center / scale)[order] * unit), unit


def moment_interval(
    sample: MaskedSample,
    order: int,
    options: IntervalOptions,
    quantity: str,
    *,
    central: bool,
    shared_donors: bool,
) -> Interval:
    """The interval of a moment.

    Parameters
    ----------
    sample : MaskedSample
    order : int
    options : IntervalOptions
    quantity : str
        What it is called.
    central : bool
        About the mean instead of about 0.
    shared_donors : bool
        Whether several records may share a donor.
    """
    if order > 1:
        _warn_of_heavy_tails(sample, options, "moments of order 2 and more")
    estimate, unit = moment(sample, order, central=central)
    variances = moment_variance(sample, order, central=central, shared_donors=shared_donors)
    error = _standard_error(variances, sample.n, options)
    with np.errstate(over="ignore"):
        return interval(estimate, error * unit, options.level, options.target, quantity)


def variance_interval(
    sample: MaskedSample, options: IntervalOptions, *, root: bool, shared_donors: bool
) -> Interval:
    """The interval of the variance, symmetric on its logarithm, or that of its roots."""
    _warn_of_heavy_tails(sample, options, "variances")
    value, scale = sample.variance()
    variances = moment_variance(sample, 2, central=True, shared_donors=shared_donors)
    error = _standard_error(variances, sample.n, options)
    quantity = "the standard deviation" if root else "the variance"
    of_variance = interval(value, error, options.level, options.target, quantity, logarithmic=True)
    low, high = of_variance.low, of_variance.high
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = np.float64(scale) if root else np.float64(scale) ** 2
        if root:
            low, high, error = np.sqrt(low), np.sqrt(high), error / (2.0 * np.sqrt(np.float64(value)))
        low, high, error = (float(figure * unit) for figure in (low, high, error))
        estimate = float((np.sqrt(np.float64(value)) if root else value) * unit)
    return of_variance._replace(low=low, high=high, standard_error=error, estimate=estimate)


def moment_variance(sample: MaskedSample, order: int, *, central: bool, shared_donors: bool) -> Variances:
    """n times the variances of a moment, in the scale of the sample's moments to its power."""
    center, scale, means = sample.moments(order)
    part, p = sample.noise_class(), sample.law.p
    law = part.law
    noise = np.eye(1, 2 * order + 1)[0] if law is None else law.noise_moments(2 * order, scale)
    values = part.values(part.counts.values)
    masked = mean_powers(values, part.counts.counts, center, scale, 2 * order)[None]
    moments = Moments(masked[..., None], theorem_2_1(masked.T, p, noise).T[..., None])
    functions = of_moment(means, order, None if central else center / scale, noise[: order + 1], p)
    return polynomial_variance(moments, functions, p, shared_donors=shared_donors, share=np.ones(1))


def _standard_error(variances: Variances, n: int, options: IntervalOptions) -> float:
    file, sample = variances
    return float(np.sqrt((file if options.target == "file" else file + sample) / n))


def _warn_of_heavy_tails(sample: MaskedSample, options: IntervalOptions, quantities: str) -> None:
    """Warn if the tails of the original are heavy, unless the estimate is exact."""
    if not (sample.law.p == 1.0 and options.target == "file"):
        warn_of_heavy_tails([kurtosis(sample.moments(4), sample.law)], sample.n, quantities)
