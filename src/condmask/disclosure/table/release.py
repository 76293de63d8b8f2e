"""Mask a sample of records, so that their swap statuses are known, on the scale of the noise."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from condmask._randomness import seeded_key
from condmask.disclosure.scale import line_of, spread_of
from condmask.masking.draws import toss
from condmask.strata import make_pools

USE = b"attack"  # of the keys: no release has one of them


class Release(NamedTuple):
    """A masking of a sample, as attackers see it.

    Attributes
    ----------
    kept : ndarray of bool of shape (m,)
        The swap statuses.
    values : dict of str to ndarray of shape (m,)
        Released values by column, in units of the data.
    keys : dict of str to ndarray of shape (m,)
        On the scale of the noise, about as far from the original of a kept record as its noise:
        the released value itself, or, under reverse mapping, what stands at its place among
        originals with noise.
    p : float
    noise : dict of str to float
        The standard deviation of the noise of each column, on that scale.
    """

    kept: np.ndarray
    values: dict[str, np.ndarray]
    keys: dict[str, np.ndarray]
    p: float
    noise: dict[str, float]


def draw(
    values: Mapping[str, np.ndarray],
    pool: np.ndarray | None,
    schemes: Mapping[str, Any],
    number: int = 0,
) -> Release:
    """Return the masking of that number, always the same for the same records in the same order.

    Parameters
    ----------
    values : mapping of str to ndarray of shape (m,)
        Originals by column, NaN where one is missing.
    pool : ndarray of shape (m,) or None
        The donor pool of each record, below 0 for none; None if all form one.
    schemes : mapping of str to scheme
    number : int
    """
    first = next(iter(schemes.values()))
    key = seeded_key(number, USE)
    present = np.logical_or.reduce([~np.isnan(x) for x in values.values()])
    m = present.size
    present &= np.ones(m, dtype=bool) if pool is None else pool >= 0
    pools = make_pools(np.zeros(m, np.int64) if pool is None else np.maximum(pool, 0), present)
    units = [
        of.law.to_units(values[name]) if of.law else values[name].copy()
        for name, of in schemes.items()
    ]
    masked = first.masked_columns([*schemes.values()], units, key, pools, 1)
    kept = np.ones(m, dtype=bool)
    kept[toss(key, first.p, m, 1).swapped] = False
    released = dict(zip(schemes, masked, strict=True))
    stream = np.random.default_rng(number)
    keys = {}
    noise = {}
    for name, scheme in schemes.items():
        x = values[name]
        to_line = line_of(x, scheme).to
        noise[name] = scheme.sigma / spread_of(x, scheme)
        shown = to_line(released[name])
        if scheme.reverse_mapping:
            drawn = noise[name] * stream.standard_normal(m)
            shown = _at_its_place(shown, to_line(x), drawn)
        keys[name] = shown
    return Release(kept, released, keys, first.p, noise)


def _at_its_place(shown: np.ndarray, u: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return for released values the originals with noise that have the same rank."""
    known = ~np.isnan(u)
    originals = np.sort(u[known])
    with_noise = np.sort((u + noise)[known])
    values, first, counts = np.unique(originals, return_index=True, return_counts=True)
    means = np.add.reduceat(with_noise, first) / counts
    return np.where(np.isnan(shown), np.nan, np.interp(shown, values, means))
