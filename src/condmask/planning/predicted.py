"""How far estimates will lie from their targets, by the variance formulas of the estimators.

Estimates are uncertain by what the released values show of it (`moments.pair_variance`, `variance.of_cdf`).
Here these formulas get the moments, and the distribution, that released values of the originals are expected
to have, so nothing is simulated. Relations are functions of a covariance and two variances; the difference
between two halves is the slope on their indicator.

By reverse mapping, statistics of the column are those of the file, and pseudo-values vary by V(x), as of
independent draws; that is up to 15% too large in a standard error where noise is wider than the column
(docs/inference.rst).

Quantiles are off by what T is off by, moved through the quantiles of the file: values that many records share
are the quantiles of many probabilities.
"""

from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.distribution.bandwidth import masking
from condmask.distribution.counting import by_value
from condmask.distribution.sample import EXACT
from condmask.law import Law
from condmask.linear.records import Records
from condmask.moments.moment_interval import Sampled, moment_variance
from condmask.moments.pair_variance import pair_of
from condmask.moments.theorem_2_1 import Powers, noise_matrix
from condmask.moments.theorem_2_5 import DEGREE, PairMoments, pair_moments
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.strata import values_by_pool
from condmask.studies.populations import split
from condmask.variance.interval import UndefinedError
from condmask.variance.of_cdf import CdfSums
from condmask.variance.theorem import Variance

DECILES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILES)
RELATED = ("correlation", "slope", "difference")
CDF = "T at the deciles"
NOTHING = Law(0.0, "normal", 0.0)  # masks nothing
NODES = 201  # equally likely errors of T
RECORDS = 8_192  # from which V is found


def predicted(x: np.ndarray, other: np.ndarray, code: np.ndarray | None, scheme: Any) -> dict[str, Variance]:
    """n times the variances of all statistics of ascending values as they are masked, by donor pool."""
    v, halves = np.zeros(x.size), (other > split(other)).astype(np.float64)
    for rows, values in values_by_pool(x, code) if scheme.reverse_mapping else ():
        v[rows] = spread_of_pseudo_values(values, scheme)
    with np.errstate(all="ignore"):  # of constant columns
        found = of_moments(x, other, code, scheme, v)
        found["difference"] = of_moments(x, halves, code, scheme, v)["slope"]
    t = found[CDF] = of_cdf(x, scheme)
    file, both = (x.size * of_quantiles(x, t.standard_error(x.size, of)) for of in ("file", "population"))
    return found | dict(zip(QUANTILES, map(Variance, file, both - file), strict=True))


def of_moments(
    x: np.ndarray, other: np.ndarray, code: np.ndarray | None, scheme: Any, v: np.ndarray
) -> dict[str, Variance]:
    """n times the variances of mean and standard deviation, and of correlation with and slope on a column."""
    originals = pair_moments(x, other, code)
    law, shared = scheme.law or NOTHING, scheme.shared_donors
    released, (unit, unit_of_w) = released_moments(originals, law), originals.unit
    column = Sampled(x.size, scheme.law or EXACT, shared, Powers(0.0, unit, released.means[:, 0]))
    mean = unit**2 * np.array(moment_variance(column, 1, central=False))
    functions = weights_of(originals.means, unit, unit_of_w)
    weights = np.array(list(functions.values()))
    file, both = x.size * pair_of(released, law, None, shared_donors=shared).variances(weights)
    sample = both - file
    if scheme.reverse_mapping:
        related = (weights[:, 0] / (unit * unit_of_w)) ** 2 * np.mean(v * _about_pools(other, code) ** 2)
        file = np.where(weights[:, 0] == 0.0, 0.0, related)  # what is of the column alone is kept
    return {"mean": Variance(*mean)} | dict(zip(functions, map(Variance, file, sample), strict=True))


def weights_of(means: np.ndarray, unit: float, unit_of_w: float) -> dict[str, tuple[float, float, float]]:
    """The derivatives of statistics, in units of the data, by moments about means."""
    first, second = means[2, 0], means[0, 2]
    size, slope = np.sqrt(first * second), means[1, 1] / second
    r = means[1, 1] / size
    ratio = unit / unit_of_w
    return {
        "std": (0.0, 0.5 * unit / np.sqrt(first), 0.0),
        "correlation": (1.0 / size, -0.5 * r / first, -0.5 * r / second),
        "slope": (ratio / second, 0.0, -ratio * slope / second),
    }


def released_moments(originals: PairMoments, law: Law) -> PairMoments:
    """The moments that released values are expected to have with a plain column."""
    means, noise = originals.by_pool, noise_matrix(law.noise_moments(DEGREE, originals.unit[0]))
    swapped = means[..., :, :1] * means[..., :1, :]
    sums = originals.sums[:, :1, :1] * (law.p * swapped + (1.0 - law.p) * (noise @ means))
    return originals._replace(sums=sums, alone=sums[:, :3, 0])


def _about_pools(w: np.ndarray, code: np.ndarray | None) -> np.ndarray:
    """Deviations from the mean of the donor pool, as sums over it are fixed."""
    pool = np.zeros(w.size, dtype=np.int64) if code is None else code
    return np.asarray(w - (np.bincount(pool, w) / np.bincount(pool))[pool])


def spread_of_pseudo_values(x: np.ndarray, scheme: Any) -> np.ndarray:
    """V by reverse mapping, of ascending x; infinite where the estimators refuse since it is too large.

    Of long files from evenly spaced records: V is a matter of the value.
    """
    p, some = scheme.p, x[evenly_spaced(x.size, RECORDS)]
    try:
        file = ReverseMapped(Records(some), scheme)
        h, mapping = file.unit * (file.undone[0] - file.middle), file.pools[0][0]
    except UndefinedError:
        return np.full(x.size, np.inf)
    first, second = (p * (mapping.share @ power) + (1.0 - p) * mapping.apply(power) for power in (h, h * h))
    return np.asarray(np.interp(x, some, (second - first**2)[file.cell]))


def of_cdf(x: np.ndarray, scheme: Any) -> Variance:
    """n times the variances of T at the deciles; over donor pools they are as over all records."""
    points, law = least_at(x, DECILES), scheme.law
    at = np.searchsorted(x, points, side="right") / x.size
    file = np.zeros(points.size)
    if not scheme.reverse_mapping:
        counted = by_value(law.to_units(x))._replace(unit=law.sigma)  # of values without steps
        sums = CdfSums(counted, masking(law, None), shared_donors=scheme.shared_donors, expected=True)
        file = sums.variance(law.to_units(points)).file
    return Variance(file, at * (1.0 - at))


def of_quantiles(x: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The variances of the deciles of ascending values, where T has normal errors at them."""
    from scipy.special import ndtri  # takes .1 s to import

    nodes = ndtri((np.arange(NODES) + 0.5) / NODES)
    found = least_at(x, DECILES[:, None] + error[:, None] * (nodes / nodes.std()))
    return np.asarray((found - found[:, NODES // 2 : NODES // 2 + 1]).var(axis=1))


def least_at(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The least of ascending values at which the distribution function is at least q."""
    return x[np.clip(np.ceil(q * x.size - 1e-9), 1, x.size).astype(np.int64) - 1]
