r"""Units: records of one firm, household or person, and what the others of a unit say of a record's coin.

A kept record lies near the kept ones among the others of its unit, a swapped one anywhere. Let c be where the
unit lies, with density G, f the law of a swapped record, k that of a kept one, and phi that of a kept record
about c. Given the released values z_1, ..., z_m of the others, a kept record has the density

.. math:: \frac{\int G(c)\, L(c)\, \phi(z - c)\, dc}{\int G(c)\, L(c)\, dc},
   \qquad L(c) = \prod_j \Bigl(1 + \frac{(1-p)\, \phi(z_j - c)}{p\, f(z_j)}\Bigr) .

Where c is near no z_j, L is 1, and that part of the integrals is k(z) and 1. What is left is summed over the
z_j. phi is normal; its s.d. is one of several, all as likely, quantiles of those of the units.
"""

from collections.abc import Iterator

import numpy as np

CELLS = 1 << 19  # pairs of records of one unit that are looked at together
SPREADS = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of the units' standard deviations
REACH = 1.2  # standard deviations for which a released value stands as a place of the unit
MOST = 64  # records of a unit that are looked at together: beyond, more say little more


def of_units(codes: np.ndarray) -> Iterator[np.ndarray]:
    """The records of each unit, a row for every unit, -1 where it has no more; codes below 0 are none.

    Units come in lots of about one size. Those of a single record are left out.
    """
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    size = np.diff(first, append=order.size)
    octave = np.ceil(np.log2(np.maximum(size, 1))).astype(np.int64)
    for power in np.unique(octave[size > 1]):
        of_size = np.flatnonzero((octave == power) & (size > 1))
        most = int(size[of_size].max())
        lot = max(1, CELLS // most**2)
        for start in range(0, of_size.size, lot):
            some = of_size[start : start + lot]
            place = np.arange(most)
            inside = place < size[some][:, None]
            yield np.where(inside, order[np.minimum(first[some][:, None] + place, order.size - 1)], -1)


def log_ratios(
    p: float, released: np.ndarray, alone: np.ndarray, both: np.ndarray, kept: np.ndarray, codes: np.ndarray
) -> np.ndarray:
    """The logarithm of k(z) over the density of a kept record given the others of its unit; NaN without any.

    Parameters
    ----------
    p : float
        The share of swapped records.
    released : ndarray of shape (n,)
        What the others show, NaN where missing.
    alone : ndarray of shape (n,)
        log f - log k of these, each by itself.
    both : ndarray of shape (ways, n)
        What the records show whose coins are looked for: if they were swapped, and if they were kept.
    kept : ndarray of shape (n,)
        What all records would show if they were kept.
    codes : ndarray of int, shape (n,)
        Units, below 0 for none.
    """
    ratios = np.full(both.shape, np.nan)
    spreads = _spreads(kept, codes)
    if not spreads.size:  # all values of a unit are one
        return ratios
    sample, width = np.sort(kept[~np.isnan(kept)]), float(np.median(spreads))
    density = _density(sample, released, width)
    of_both = _density(sample, both, width)
    weight = (1.0 - p) / p * np.exp(-alone) / density
    for members in of_units(_pieces(codes)):
        rows = members >= 0
        shown = np.where(rows, released[members], np.nan)
        size = members.shape[1]
        present = ~np.isnan(shown)
        here, by = (np.where(present, x[members], 0.0) for x in (density, weight))
        order = np.argsort(shown, axis=1)  # missing ones last
        ascending = np.take_along_axis(shown, order, axis=1)
        gaps = np.nan_to_num(np.diff(ascending, axis=1, append=np.inf, prepend=-np.inf), nan=np.inf)
        apart = np.where(present, shown, 0.0)
        asked = np.where(rows, both[:, members], np.nan)
        base = of_both[:, members]
        total, mass = np.zeros(asked.shape), np.zeros(members.shape)
        parts = []
        for spread in spreads:
            step = np.minimum(gaps, REACH * spread)
            node = np.empty(members.shape)
            np.put_along_axis(node, order, 0.5 * (step[:, 1:] + step[:, :-1]), axis=1)
            node *= here / spreads.size  # G(c) dc
            # (unit, place c, record j)
            terms = np.log1p(_normal(apart[:, None, :] - apart[:, :, None], spread) * by[:, None, :])
            left = terms.sum(axis=2)[:, :, None] - terms
            left[:, np.arange(size), np.arange(size)] = 0.0  # a record is no place for itself
            parts.append((spread, node, left))
        most = np.maximum(np.max([left.max(axis=1) for _, _, left in parts], axis=0), 0.0)
        total += np.exp(-most) * base
        mass += np.exp(-most)
        for spread, node, left in parts:
            more = node[:, :, None] * (np.exp(left - most[:, None, :]) - np.exp(-most)[:, None, :])
            mass += more.sum(axis=1)
            for way in range(len(asked)):
                total[way] += np.sum(
                    more * _normal(asked[way][:, None, :] - apart[:, :, None], spread), axis=1
                )
        alone_there = (present.sum(axis=1)[:, None] - present) == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(base) + np.log(mass) - np.log(total)
        ratio[:, alone_there] = np.nan
        ratios[:, members[rows]] = ratio[:, rows]
    return ratios


def _pieces(codes: np.ndarray) -> np.ndarray:
    """Units of at most `MOST` records: larger ones are cut into parts of about one size."""
    inside, number, size = np.unique(codes, return_inverse=True, return_counts=True)
    if size[inside >= 0].max(initial=0) <= MOST:
        return codes
    order = np.argsort(number, kind="stable")
    place = np.empty(codes.size, dtype=np.int64)
    place[order] = np.arange(codes.size) - np.repeat(np.cumsum(size) - size, size)
    parts = -(-size // MOST)
    first = np.cumsum(parts) - parts
    return np.where(codes >= 0, first[number] + place * parts[number] // size[number], -1)


def _spreads(kept: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Some quantiles of the standard deviations within units, as far as these differ beyond chance."""
    present = ~np.isnan(kept) & (codes >= 0)
    if not present.any():
        return np.empty(0)
    _, place, number = np.unique(codes[present], return_inverse=True, return_counts=True)
    mean = np.bincount(place, kept[present]) / number
    squares = np.bincount(place, (kept[present] - mean[place]) ** 2)
    several = number > 1
    if not several.any():
        return np.empty(0)
    freedom = number[several] - 1.0
    variances = squares[several] / freedom
    mean, by_chance = variances.mean(), float(np.mean(2.0 / freedom)) * variances.mean() ** 2
    differ = np.sqrt(max(0.0, 1.0 - by_chance / max(float(variances.var()), 1e-300)))
    spreads = np.sqrt(np.unique(np.quantile(mean + differ * (variances - mean), SPREADS)))
    return np.asarray(spreads[spreads > 0.0])


def _density(sample: np.ndarray, points: np.ndarray, width: float) -> np.ndarray:
    """The density of a sorted sample about points."""
    inside = np.searchsorted(sample, points + width, side="right") - np.searchsorted(sample, points - width)
    return np.asarray((inside + 0.5) / (2.0 * width * (sample.size + 1)))


def _normal(x: np.ndarray, spread: float) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * (x / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi)))
