"""Gini coefficient and Lorenz curve as integrals of T, and how they change with each record."""

from typing import NamedTuple

import numpy as np

from condmask.deconvolution.weight import Masking
from condmask.engines.grid import LONGEST, pieces, pieces_length, reach_of
from condmask.errors import ArgumentError
from condmask.inference.far_expectations import Function
from condmask.inference.variance_curve import VarianceCurve, finest_tol
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.noise_class import NoiseClass

MOST_POINTS = 1 << 23  # at which T is looked at
FINEST = 64  # points for each sigma, at which T is integrated where its grid is too long for that
FEW = 1 << 12  # points at which variances are


class Functional(NamedTuple):
    """An estimate, and how it changes with each record of the original."""

    value: float
    influence: Function


def gini(sample: MaskedSample, curve: VarianceCurve) -> Functional:
    """The Gini coefficient; `curve` gives the variances of T."""
    x, t = _whole(sample)
    length, mean = np.diff(x), _positive_mean(sample)
    few = np.unique(np.linspace(0.0, x.size - 1.0, FEW).astype(np.int64))
    variance = curve.at(x[few]).about("population") / (sample.n - 1)
    bias = np.interp(np.arange(x.size - 1), few, variance)
    value = float(length @ (t * (1.0 - t) + bias)) / mean
    running = np.append(0.0, np.cumsum(length - 2.0 * (length * t)))

    def influence(at: np.ndarray) -> np.ndarray:
        before, beyond = np.minimum(at - x[0], 0.0), np.maximum(at - x[-1], 0.0)
        return np.asarray(-(np.interp(at, x, running) + before - beyond + value * at) / mean)

    return Functional(value, influence)


def lorenz(sample: MaskedSample, q: np.ndarray) -> list[Functional]:
    """The ordinates of the Lorenz curve at shares q."""
    x, t = _whole(sample)
    length, mean = np.diff(x), _positive_mean(sample)
    ordinates = []
    for share, at in zip(q, sample.quantiles(q, None, finest_tol(sample), "rearranged"), strict=True):
        below = np.clip(at - x[:-1], 0.0, length)  # how much of each stretch lies before the quantile
        value = (x[0] * share + float(below @ (share - t))) / mean

        def influence(values: np.ndarray, at: float = at, value: float = value) -> np.ndarray:
            return np.asarray((np.minimum(values - at, 0.0) - value * values) / mean)

        ordinates.append(Functional(value, influence))
    return ordinates


def _whole(sample: MaskedSample) -> tuple[np.ndarray, np.ndarray]:
    """Points from where T is 0 to where it is 1, and T from each to the next."""
    records = sample.noise_class()
    if records.law is None:
        x, exact = records.values(records.counts.values), True
    else:
        x, exact = _around(records, masking(records.law, None))
    t = sample.values(x, None, finest_tol(sample), "auto")
    return x, t[:-1] if exact else 0.5 * (t[:-1] + t[1:])


def _around(records: NoiseClass, own: Masking) -> tuple[np.ndarray, bool]:
    """The points between which T varies, and whether these are all points of the grid."""
    stretches, exact, step, most, reach = [], True, 1.0, MOST_POINTS, reach_of(own)
    if pieces_length(records.counts, reach) > LONGEST:
        exact, step = False, max(1.0, np.floor(1.0 / (FINEST * own.delta)))
    for piece in pieces(records.counts, 2.0 * reach):
        first, last = piece.values[0] - reach, piece.values[-1] + reach
        most -= int((last - first) // step) + 2
        if most < 0:
            assert records.law is not None
            raise ArgumentError(
                "the data must lie closer together for the Gini coefficient and the Lorenz curve, got values "
                f"with gaps around which T varies over more than {MOST_POINTS // FINEST:,} times "
                f"sigma={records.law.sigma:g}; use quantile or moment instead"
            )
        stretches.append(records.values(first + step * np.arange((last - first) // step + 2.0)))
    return np.concatenate(stretches), exact


def _positive_mean(sample: MaskedSample) -> float:
    center, scale, means = sample.moments(1)
    mean = float(center + scale * means[1])
    if not mean > 0.0:
        raise ArgumentError(f"the mean must be estimated positive for shares of the total, got {mean:g}")
    return mean
