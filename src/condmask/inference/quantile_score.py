"""Between which points quantiles lie, by the test that `cdf_score` has for T.

Where quantiles are those of the monotone rearrangement, the variance is that of the rearrangement, which is
less than that of T.
"""

from typing import Literal, NamedTuple

import numpy as np

from condmask.inference import rearranged_variance, score_inversion
from condmask.inference.variance_curve import VarianceCurve, largest_weight
from condmask.samples.masked_sample import MaskedSample

SAME = 0.999  # of a variance, which changes no interval visibly


class Search(NamedTuple):
    """What the ends of intervals for quantiles are searched with.

    Attributes
    ----------
    sample : MaskedSample
    curve : VarianceCurve
        Of T.
    tol : float
    c : float
        z^2/n.
    target : {"population", "file"}
    """

    sample: MaskedSample
    curve: VarianceCurve
    tol: float
    c: float
    target: str

    def ends(
        self, q: np.ndarray, value: np.ndarray, *, rearranged: bool, permutation: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The points that the test does not exclude; `value` are the quantiles themselves."""
        c = self.c
        if c >= 1.0:
            return np.full(q.size, -np.inf), np.full(q.size, np.inf)
        low, high = self._inverted(q, np.ones(q.size))
        if rearranged:
            kept = self._kept_variance(q, value, (low, high), permutation)
            if kept.min(initial=1.0) < SAME:
                low, high = self._inverted(q, kept)
        if self.target == "population":
            low, high = np.where(q <= c, -np.inf, low), np.where(1.0 - q <= c, np.inf, high)
        return low, high

    def _variance(self, x: np.ndarray, q: np.ndarray) -> np.ndarray:
        """n times the variance of T at points x, if these are its quantiles."""
        variance = self.curve.at(x)
        if self.target == "file":
            return variance.file
        return np.asarray(np.maximum(variance.file + q * (1.0 - q), 0.0))

    def _inverted(self, q: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends where the variance is that of T times `kept`."""
        ratio, sample = self.c / (1.0 - self.c), self.sample
        widest = float(np.sqrt(ratio * (largest_weight(sample) ** 2 + 0.5)))

        def radius(steps: np.ndarray, row: np.ndarray) -> np.ndarray:
            return np.asarray(np.sqrt(ratio * kept[row] * self._variance(sample.from_steps(steps), q[row])))

        cdf = sample.cdf(None, self.tol)
        low, high = score_inversion.invert_score_test(cdf, q, radius, widest, self.tol)
        return sample.from_steps(low), sample.from_steps(high)

    def _kept_variance(
        self, q: np.ndarray, value: np.ndarray, ends: tuple[np.ndarray, np.ndarray], permutation: bool
    ) -> np.ndarray:
        """Which share of the variance of T its rearrangement has, about quantiles with these ends."""
        sample = self.sample
        low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
        at_ends = self._variance(np.append(low, high), np.tile(q, 2)).reshape(2, -1)
        rise = np.sqrt(self.c / (1.0 - self.c) * at_ends)
        middle = _share(sample, value, "right")
        records = np.array([middle - _share(sample, low, "left"), _share(sample, high, "right") - middle])
        originals = (self.target == "population") - permutation
        return rearranged_variance.kept_variance(rise, records, at_ends, sample.n, sample.law.p, originals)


def _share(sample: MaskedSample, x: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """The share of the masked values below points x ("left"), or up to them ("right")."""
    counts, _, points, *_ = sample.noise_class()
    return np.asarray(counts.below[np.searchsorted(counts.values, points(x, None), side)] / sample.n)
