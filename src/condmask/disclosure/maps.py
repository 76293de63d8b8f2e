"""Reverse mapping as studies draw it: the map of the kept records, and whole releases of a pool.

Never for a release: those follow the draw contract (`schemes.reverse_mapping`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

MAPS = 300


def kept_maps(values: np.ndarray, scheme: Any, draws: np.random.Generator) -> Iterator[tuple[np.ndarray, ...]]:
    """Kept records of ascending values in the order of their keys, and the records whose values they get."""
    for _ in range(MAPS):
        kept = np.flatnonzero(draws.random(values.size) >= scheme.p)
        yield kept[by_key(values[kept], scheme, draws)], kept


def released(x: np.ndarray, scheme: Any, draws: np.random.Generator) -> np.ndarray:
    """A release of one pool."""
    z, coin = x.copy(), draws.random(x.size) < scheme.p
    kept = np.flatnonzero(~coin)
    z[kept[by_key(x[kept], scheme, draws)]] = np.sort(x[kept])
    z[coin] = draws.permutation(x[coin])
    return z


def by_key(x: np.ndarray, scheme: Any, draws: np.random.Generator) -> np.ndarray:
    """The order of values with noise."""
    noise = draws.standard_normal(x.size) if scheme.noise == "normal" else draws.laplace(0.0, np.sqrt(0.5), x.size)
    with np.errstate(over="ignore"):
        keys = x + scheme.sigma * noise if scheme.scale == "linear" else x * np.exp(scheme.sigma * noise)
    return np.argsort(keys, kind="stable")
