r"""How far estimates of moments will lie from their targets, predicted from the originals.

Linearised, the estimates of mean, standard deviation and correlation are means of a polynomial of degree two,
so their variances follow from the moments E X^i W^j, i, j up to 4, and those of the noise
(`moments.polynomial_variance`). Nothing is simulated.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.law import Law
from condmask.moments.influence import Weights, of_moment, of_pair
from condmask.moments.polynomial_variance import Influence, expected_moments, polynomial_variance
from condmask.moments.theorem_2_1 import noise_matrix

DEGREE = 4


class Variances(NamedTuple):
    """n times the variances of an estimate, about the original file and about the population, and n times the
    variance of the same statistic without masking."""

    file: float
    population: float
    unmasked: float


class Moments(NamedTuple):
    """The means of x^i w^j over the originals, x about its mean in units of its s.d., w standardised.

    Attributes
    ----------
    means : ndarray
        Over all originals.
    unit : float
        The standard deviation of x.
    pair : bool
        Whether there is a second column.
    pools, share : ndarray of shape (pools, ...) and (pools,)
        The means over each donor pool, and the share of the records in each.
    """

    means: np.ndarray
    unit: float
    pair: bool
    pools: np.ndarray
    share: np.ndarray


def moments(x: np.ndarray, other: np.ndarray | None, pools: Sequence[Any] = (slice(None),)) -> Moments:
    """Moments from values as they are masked, in the units of the data, and the rows of each donor pool."""
    given = [x] if other is None else [x, other]
    units = [(float(column.mean()), float(column.std()) or 1.0) for column in given]
    means, share = np.zeros((len(pools), DEGREE + 1, DEGREE + 1)), np.zeros(len(pools))
    for k, rows in enumerate(pools):
        parts = [column[rows] for column in given]
        n = parts[0].size
        for start, stop in blocks(n):
            powers = [
                _powers((part[start:stop] - middle) / unit)
                for part, (middle, unit) in zip(parts, units, strict=True)
            ]
            of_other = powers[1] if other is not None else np.ones((1, stop - start))
            means[k, :, : len(of_other)] += powers[0] @ of_other.T / n
        share[k] = n / x.size
    return Moments(np.tensordot(share, means, 1), units[0][1], other is not None, means, share)


def _powers(a: np.ndarray) -> np.ndarray:
    """a^0 .. a^4."""
    return np.array([np.ones(a.size), a, a * a, a * a * a, (a * a) ** 2])


def errors(originals: Moments, law: Law, n: int, *, shared_donors: bool) -> dict[str, Variances]:
    """n times the variances of the mean, the standard deviation and, with a column in clear, the correlation.

    The first two are in squared units of the data; the last is left out if there are several donor pools.
    """
    means, p = originals.means, law.p
    variance = means[2, 0] - means[1, 0] ** 2
    if variance <= 0.0:
        names = ["mean", "std", *(["correlation"] if originals.pair else [])]
        return dict.fromkeys(names, Variances(np.nan, np.nan, np.nan))
    noise = law.noise_moments(DEGREE, originals.unit)
    released = expected_moments(originals.pools, noise, p)
    statistics = {
        "mean": (originals.unit**2, of_moment(means[:, 0], 1, 0.0, noise[:2], p)),
        "std": (originals.unit**2 / (4.0 * variance), of_moment(means[:, 0], 2, None, noise[:3], p)),
    }
    if originals.pair and len(originals.pools) == 1:
        statistics["correlation"] = 1.0, _of_correlation(means, variance, noise, p, n)
    variances = {}
    for name, (unit, functions) in statistics.items():
        file, sample = polynomial_variance(
            released, functions, p, shared_donors=shared_donors, share=originals.share
        )
        file, sample = unit * file.item(), unit * sample.item()
        variances[name] = Variances(file, file + sample, sample)
    return variances


def unmasked(originals: Moments) -> dict[str, float]:
    """n times the variances of the same statistics without masking; 0 if nothing varies."""
    variances = errors(originals, Law(0.0, "normal", 0.0), 2, shared_donors=False)
    return {name: float(np.nan_to_num(variance.unmasked)) for name, variance in variances.items()}


def _of_correlation(means: np.ndarray, variance: float, noise: np.ndarray, p: float, n: int) -> Influence:
    """The influence functions of the correlation with a standardised column in clear."""
    size = float(np.sqrt(variance))
    m, mu = means[1, 0], means[0, 1]
    r = (means[1, 1] - m * mu) / size
    weights = Weights(1.0 / size, -0.5 * r / variance, -0.5 * r)
    factor = 1.0 - p - p / (n - 1.0)
    functions = of_pair([weights], (m, mu), p, plain=(means[1:2, 0], means[0, 1:2]), factor=factor)
    kept = noise_matrix(noise)[:3, :3].T @ functions.phi
    return functions._replace(given_file=p * functions.margin + (1.0 - p) * kept)
