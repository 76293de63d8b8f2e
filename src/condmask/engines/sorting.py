"""A sorted copy of a sample, by several threads."""

import numpy as np

from condmask._blocks import Workers, ordered_map
from condmask.kernels import ordering

PARALLEL = 1 << 19  # records from which threads pay


SAMPLED, RANGES = 1 << 10, 8  # records that tell where to cut; each range costs a pass to be counted


def ascending(z: np.ndarray, workers: Workers = 1) -> np.ndarray:
    """A sorted copy; of several threads each gathers and sorts the values of a range."""
    if not isinstance(workers, int) or workers == 1 or z.size < PARALLEL:
        return np.sort(z)
    sample, ranges = np.sort(z[:: z.size // SAMPLED]), min(workers, RANGES)
    edges = [-np.inf, *sample[np.arange(1, ranges) * sample.size // ranges].tolist(), np.inf]
    ends = [0, *(ordering.count_below(z, edge) for edge in edges[1:-1]), z.size]
    out = np.empty_like(z)

    def sort(k: int) -> None:
        part = out[ends[k] : ends[k + 1]]
        ordering.gather(z, edges[k], edges[k + 1], part)
        part.sort()

    list(ordered_map(sort, range(ranges), ranges))
    return out
