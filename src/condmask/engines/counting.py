"""The distinct ones of numbers that come part by part."""

from collections.abc import Iterable

import numpy as np

MERGED = 1 << 18  # numbers that are held unmerged


def distinct(parts: Iterable[np.ndarray], kind: type) -> np.ndarray:
    """The distinct ones, ascending, of numbers of one kind that come part by part."""
    found: list[np.ndarray] = [np.empty(0, dtype=kind)]
    for part in parts:
        found = with_distinct(found, part)
    return np.unique(np.concatenate(found))


def with_distinct(found: list[np.ndarray], part: np.ndarray) -> list[np.ndarray]:
    """The distinct ones of earlier parts, and of each later one; with those of another part."""
    found.append(np.unique(part))
    if sum(some.size for some in found[1:]) > found[0].size + MERGED:
        return [np.unique(np.concatenate(found))]
    return found
