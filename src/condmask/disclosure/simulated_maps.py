"""Reverse mapping as studies draw it: the map of the kept records, and whole releases of a pool.

Never for a release: those follow the draw contract (`schemes.reverse_mapping`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask.law import Law

MAPS = 300  # simulated
AT_ONCE = 1 << 17  # draws
MOST_NOISE = 700.0  # in the exponent: an infinite factor would make 0 something else


def kept_maps(values: np.ndarray, scheme: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The kept records of many maps of ascending values, and the records whose values they get."""
    draws = np.random.default_rng(0)  # the same in every run
    for start, stop in blocks(MAPS, 1 + AT_ONCE // max(1, values.size)):
        kept = draws.random((stop - start, values.size)) >= scheme.p
        keys = with_noise(np.broadcast_to(values, kept.shape), scheme, draws)
        keys[~kept] = np.nan  # to the end
        among = np.arange(values.size) < kept.sum(axis=1)[:, None]
        yield np.argsort(keys, axis=1)[among], np.nonzero(kept)[1]


def release(values: np.ndarray, scheme: Any, draws: np.random.Generator) -> np.ndarray:
    """Whose value each record of a pool shows; values ascend."""
    source, coin = np.arange(values.size), draws.random(values.size) < scheme.p
    kept, swapped = np.flatnonzero(~coin), np.flatnonzero(coin)
    source[kept[np.argsort(with_noise(values[kept], scheme, draws))]] = kept
    source[swapped] = draws.permutation(swapped)
    return source


def with_noise(values: np.ndarray, scheme: Any, draws: np.random.Generator) -> np.ndarray:
    """Keys: values with noise, added or in the exponent."""
    noise = Law(scheme.p, scheme.noise, scheme.sigma).draw(draws, values.shape)
    if scheme.scale == "linear":
        return np.asarray(values + noise)
    with np.errstate(over="ignore"):
        return np.asarray(values * np.exp(np.minimum(noise, MOST_NOISE)))
