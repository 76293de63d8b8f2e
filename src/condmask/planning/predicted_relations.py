r"""How far statistics with a column in clear will lie from their targets, from the originals alone.

Slopes, differences of groups and, where the standard deviation is exact, correlations are sums of
pseudo-values Xt with weights l from columns in clear that add up to 0. A pseudo-value has the original for
its mean, so with V(x) its variance where the original is x

    Var sum l_i Xt_i  =  sum l_i^2 V(X_i)       about the file,

and the variance of the same statistic of records that are not masked comes on top about the population. With
several donor pools, within which weights do not add up to 0, those about their mean take the place of l_i and
the error of the mean of each pool is added. V is
a polynomial where noise is added; by reverse mapping it follows from h and the law M of the map, as of
independent draws: a standard error up to 15% too large where noise is wider than the column
(docs/inference_linear.rst).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask.law import Law
from condmask.linear.pseudo_values import covariance_factor
from condmask.planning import predicted_moments
from condmask.planning.predicted_moments import Variances
from condmask.reverse_mapping.pseudo_values import cells_of
from condmask.reverse_mapping.undo import LARGEST, undone, variation
from condmask.variance.interval import UndefinedError

RECORDS = 1 << 13
NAMES = ("correlation", "slope", "difference")


class Pair(NamedTuple):
    """What is known of the originals and a column in clear, whatever masks them.

    Attributes
    ----------
    weights : ndarray of shape (3, n)
        n l_i for each of `NAMES`.
    unmasked : ndarray of shape (3,)
        n times the variances of these, of records that are not masked.
    """

    weights: np.ndarray
    unmasked: np.ndarray


def pair(x: np.ndarray, w: np.ndarray) -> Pair:
    """What relates two columns; NaN where either is constant."""
    middle, of_other, at, n = float(x.mean()), float(w.mean()), split(w), x.size
    weights, squares = np.empty((len(NAMES), n)), np.zeros(2)
    above = int(np.count_nonzero(w > at))
    sums = x.sum(where=w > at), x.sum(where=w <= at)
    with np.errstate(invalid="ignore", divide="ignore"):
        wide, spread = x.std(), w.std()
        means = sums[0] / np.float64(above), sums[1] / np.float64(n - above)
        r = float(np.mean((w - of_other) / spread * ((x - middle) / wide)))
        for start, stop in blocks(n):
            some, u = x[start:stop], (w[start:stop] - of_other) / spread
            higher = w[start:stop] > at
            halves = np.where(higher, n / np.float64(above), -n / np.float64(n - above))
            of_slope = u * ((some - middle) / wide - r * u) * (wide / spread)
            of_difference = halves * (some - np.where(higher, *means))
            weights[:, start:stop] = u / wide, u / spread, halves
            squares += of_slope @ of_slope, of_difference @ of_difference
    correlation = predicted_moments.unmasked(predicted_moments.moments(x, w))["correlation"]
    return Pair(weights, np.array([correlation, *(squares / n)]))


def errors(
    relations: Pair, v: np.ndarray, pools: Sequence[tuple[Any, float]] = ((slice(None), 0.0),)
) -> dict[str, Variances]:
    """n times the variances of all of `NAMES`, where pseudo-values have these variances by record.

    `pools` has the rows of each donor pool of N records, and N times the variance of the mean of its
    pseudo-values.
    """
    file = np.zeros(len(NAMES))
    for rows, of_mean in pools:
        whole = isinstance(rows, slice)  # of all records
        size = v.size if whole else rows.size
        parts = [slice(*part) if whole else rows[slice(*part)] for part in blocks(size)]
        sums = np.sum([relations.weights[:, part].sum(axis=1) for part in parts], axis=0)
        middle = (sums / size)[:, None]
        apart = [(relations.weights[:, part] - middle) ** 2 @ v[part] for part in parts]
        file += (np.sum(apart, axis=0) + size * middle[:, 0] ** 2 * of_mean) / v.size
    return {
        name: Variances(float(masked), float(masked + plain), float(plain))
        for name, masked, plain in zip(NAMES, file, relations.unmasked, strict=True)
    }


def added(x: np.ndarray, law: Law) -> np.ndarray:
    """V where noise is added, of either kind of donors."""
    p, v = law.p, x - x.mean()
    np.square(v, out=v)
    swapped = p * float(v.sum()) / (x.size - 1.0)
    v *= p  # step by step in place: (swapped + (1 - p) (variance + p square)) / factor^2
    v += law.variance
    v *= 1.0 - p
    v += swapped
    v /= covariance_factor(p, x.size) ** 2
    return np.asarray(v)


def of_mean(x: np.ndarray, law: Law, *, shared_donors: bool) -> float:
    """n times the variance of the mean of n masked values, given their originals, where noise is added."""
    swapped = 1.0 - (1.0 - law.p) ** 2 if shared_donors else 0.0
    return float((1.0 - law.p) * law.variance + swapped * x.var())


def rearranged(x: np.ndarray, scheme: Any) -> np.ndarray:
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
