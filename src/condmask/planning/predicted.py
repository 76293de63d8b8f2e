r"""How far estimates will lie from their targets, predicted from the originals. Nothing is simulated.

Linearised, an estimate is the mean over records of polynomials of degree two in the masked value,

    h_i(z) = b_i (z - m) + c (z - m)^2,    b_i = l + (l_i - l)/f,

whose means given the original make up the statistic: l_i = 1 for the mean, c = 1/(2 s) for the standard
deviation, weights l_i from a column in clear for relations, with f the share of a covariance that masking
leaves. Given the file, Z_i is another record's value or the own one with noise, so the variance of the mean
follows from sums over the records. A permutation releases the values of the swapped records once each, which
takes from h_i what is the same for all records. By reverse mapping pseudo-values vary by V(x), as of
independent draws; that is up to 15% too large in a standard error where noise is wider than the column
(docs/inference.rst). About the population the variance of the same statistic of records that are not
masked comes on top.

Quantiles are off by what T is off by (`variance.band.expected`), moved through the quantiles of the file:
values that many records share are the quantiles of many probabilities.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.distribution.symbol import Masking
from condmask.law import Law
from condmask.linear.pseudo_values import covariance_factor
from condmask.reverse_mapping.pseudo_values import cells_of
from condmask.reverse_mapping.undo import LARGEST, undone, variation
from condmask.variance.band import expected
from condmask.variance.interval import UndefinedError
from condmask.variance.theorem import Variance, variance_given_file

DECILES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILES)
RELATED = ("correlation", "slope", "difference")
CDF = "T at the deciles"
UNRELATED = "unrelated"  # the slope on a column that has nothing to do with this one
NODES = 201  # equally likely errors of T
RECORDS = 1 << 13  # from which V is found


class Statistic(NamedTuple):
    """The weights l_i of values and c of their squares, and the variance of its influence function."""

    weights: np.ndarray
    bend: float
    sample: float


def predicted(
    x: np.ndarray, other: np.ndarray | None, pools: Sequence[Any], scheme: Any
) -> dict[str, Variance]:
    """n times the variances of all statistics of ascending values as they are masked, within donor pools."""
    found: dict[str, Variance] = {}
    v = [spread_of_pseudo_values(x[rows], scheme) if scheme.reverse_mapping else None for rows in pools]
    for name, statistic in statistics(x, other).items():
        file = 0.0
        for rows, of_pool in zip(pools, v, strict=True):
            part = statistic._replace(weights=statistic.weights[rows])
            own = mapped(part, of_pool) if of_pool is not None else added(part, x[rows], x.mean(), scheme)
            file += own * part.weights.size / x.size
        found[name] = Variance(np.asarray(file), np.asarray(statistic.sample))
    t = found[CDF] = of_cdf(x, pools, scheme)
    about = [x.size * of_quantiles(x, t.standard_error(x.size, of)) for of in ("file", "population")]
    both = np.column_stack([about[0], about[1] - about[0]])
    return found | {name: Variance(*row) for name, row in zip(QUANTILES, both, strict=True)}


def statistics(x: np.ndarray, other: np.ndarray | None) -> dict[str, Statistic]:
    """Mean, standard deviation, and what relates a column to another one or, without one, to any."""
    u, s = x - x.mean(), x.std()

    def made(weights: np.ndarray, bend: float, influence: np.ndarray) -> Statistic:
        return Statistic(weights, bend, float(np.mean(influence**2)))

    with np.errstate(invalid="ignore", divide="ignore"):
        alone = {
            "mean": made(np.ones(x.size), 0.0, u),
            "std": made(np.zeros(x.size), 0.5 / s, (u**2 - s**2) / (2.0 * s)),
        }
        if other is None:
            signs = np.resize([1.0, -1.0], x.size)  # beside ascending values
            return alone | {UNRELATED: made(signs, 0.0, signs * u)}
        wide, above = other.std(), other > split(other)
        w = (other - other.mean()) / wide
        r = np.mean(w * u) / s
        halves = np.where(above, 1.0 / above.mean(), -1.0 / (1.0 - above.mean()))
        means = np.bincount(above, x, 2) / np.bincount(above, minlength=2)
        return alone | {
            "correlation": made(w / s, -0.5 * r / s**2, w * u / s - 0.5 * r * ((u / s) ** 2 + w**2)),
            "slope": made(w / wide, 0.0, w * (u - r * s * w) / wide),
            "difference": made(halves, 0.0, halves * (x - means[above.astype(int)])),
        }


def added(statistic: Statistic, x: np.ndarray, middle: float, scheme: Any) -> float:
    """n times the variance of the mean of h given the file, for one pool whose records get noise."""
    law, weights, bend = scheme.law, statistic.weights, statistic.bend
    p, (_, _, noise, _, fourth) = law.p, law.noise_moments(4, 1.0)
    u, level = x - x.mean(), weights.mean()
    slope = level + (weights - level) / covariance_factor(p, x.size) + 2.0 * bend * (x.mean() - middle)
    own, curve = (slope, bend) if scheme.shared_donors else (slope - slope.mean(), 0.0)
    square = u**2 - np.mean(u**2)
    donors = np.mean(own**2) * np.mean(u**2) + curve * (
        2.0 * own.mean() * np.mean(u * square) + curve * np.mean(square**2)
    )
    swapped = np.mean((own * u + curve * square + bend * noise) ** 2)
    kept = noise * np.mean((slope + 2.0 * bend * u) ** 2) + bend**2 * (fourth - noise**2)
    return float(p * donors + p * (1.0 - p) * swapped + (1.0 - p) * kept)


def mapped(statistic: Statistic, v: np.ndarray) -> float:
    """n times the variance of a sum of pseudo-values of one pool, whose own sum is fixed."""
    weights = (statistic.weights - statistic.weights.mean()) ** 2
    return float(weights @ v) / v.size if weights.any() else 0.0


def spread_of_pseudo_values(x: np.ndarray, scheme: Any) -> np.ndarray:
    """V by reverse mapping, of ascending x; infinite where the estimators refuse since it is too large.

    Of long files from evenly spaced records: V is a matter of the value.
    """
    p, some = scheme.p, x[evenly_spaced(x.size, RECORDS)]
    cell, values, mapping = cells_of(some, scheme)
    try:
        h = undone(mapping, p, some.size, values - some.mean())
    except UndefinedError:
        return np.full(x.size, np.inf)
    if variation(mapping.share, values, h, p) > LARGEST:
        return np.full(x.size, np.inf)
    first, second = (p * (mapping.share @ power) + (1.0 - p) * mapping.apply(power) for power in (h, h * h))
    return np.asarray(np.interp(x, some, (second - first**2)[cell]))


def of_cdf(x: np.ndarray, pools: Sequence[Any], scheme: Any) -> Variance:
    """n times the variances of T at the deciles."""
    points, law = deciles(x), scheme.law
    at = np.searchsorted(x, points, side="right") / x.size
    about = np.zeros(points.size)
    if not scheme.reverse_mapping:
        for rows in pools:
            share = x[rows].size / x.size
            about += share * _of_pool(law.to_units(x[rows]), law, law.to_units(points), scheme.shared_donors)
    return Variance(about, at * (1.0 - at))


def _of_pool(units: np.ndarray, law: Law, points: np.ndarray, shared_donors: bool) -> np.ndarray:
    """n times the variances of T about the file, of one pool in ascending units."""
    masking = Masking(law.noise, law.p, 0.0, law.step / law.sigma)
    psi, squares, rest, rest_squares = expected(
        lambda steps: np.searchsorted(units, steps, side="right") / units.size, masking, points
    )
    v, d, h = squares - psi**2, rest_squares - rest**2, np.maximum(psi * (1.0 - psi), 0.0)
    return variance_given_file(v, d, h, 0.0, shared_donors=shared_donors, p=law.p)


def of_quantiles(x: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The variances of the deciles of ascending values, where T has normal errors at them."""
    from scipy.special import ndtri  # takes .1 s to import

    nodes = ndtri((np.arange(NODES) + 0.5) / NODES)
    found = deciles(x, error[:, None] * (nodes / nodes.std()))
    return np.asarray((found - found[:, NODES // 2 : NODES // 2 + 1]).var(axis=1))


def deciles(x: np.ndarray, off: np.ndarray | None = None) -> np.ndarray:
    """The least of ascending values at which the distribution function is at least a tenth, and so on; or off
    by these."""
    q = DECILES if off is None else DECILES[:, None] + off
    return x[np.clip(np.ceil(q * x.size - 1e-9), 1, x.size).astype(np.int64) - 1]


def differences(x: np.ndarray, w: np.ndarray, at: float) -> np.ndarray:
    """By row, the mean of x where w is above a value, less that of the rest; NaN where either is empty."""
    above = (w > at).astype(np.float64)
    with np.errstate(invalid="ignore"):
        high, low = (np.einsum("ij,ij->i", x, rows) / rows.sum(axis=1) for rows in (above, 1.0 - above))
    return np.asarray(high - low)


def split(w: np.ndarray) -> float:
    """The value above which the upper half of w lies: the median, or just below it if nothing is above it."""
    middle = float(np.median(w))
    return middle if w.max() > middle else float(np.nextafter(middle, -np.inf))
