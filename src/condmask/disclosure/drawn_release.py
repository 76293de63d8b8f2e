"""Releases that the package draws of a file for itself, whose coins it knows.

Each half of the file is masked by itself, so that no record of one half shows a value of the other: who
learned from one half knows nothing of the other.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask._randomness import seeded_key
from condmask.audit_input import AuditInput
from condmask.draws import coins
from condmask.strata import make_pools

USE = b"attack"  # of the keys: no release has one of them


class DrawnRelease(NamedTuple):
    """Released values by masked column, and which records were swapped."""

    values: dict[str, np.ndarray]
    swapped: np.ndarray


def is_masked(data: AuditInput) -> np.ndarray:
    """Which records have a value that is masked."""
    has = np.logical_or.reduce([~np.isnan(x) for x in data.values.values()])
    return np.asarray(has if data.strata is None else has & (data.strata >= 0))


def draw(data: AuditInput, schemes: dict[str, Any], half: np.ndarray, number: int) -> DrawnRelease:
    """The release of that number, always the same; `half` is 0 or 1 for each record."""
    key, first = seeded_key(number, USE), next(iter(schemes.values()))
    present = is_masked(data)
    code = np.zeros(data.n, np.int64) if data.strata is None else np.maximum(data.strata, 0).astype(np.int64)
    size = np.bincount(2 * code[present] + half[present], minlength=2 * (int(code.max()) + 1))
    least = size.reshape(-1, 2).min(axis=1)
    pools = make_pools(2 * code + np.where(least[code] > 1, half, 0), present)
    units = {
        name: x.copy() if schemes[name].law is None else schemes[name].law.to_units(x)
        for name, x in data.values.items()
    }
    masked = type(first).masked_columns(schemes, units, key, pools, 1)
    swapped = np.zeros(data.n, dtype=bool)
    for block, (start, stop) in enumerate(blocks(data.n)):
        swapped[start + coins(key, first.p, block, stop - start)[0]] = True
    return DrawnRelease(dict(zip(schemes, masked, strict=True)), swapped)
