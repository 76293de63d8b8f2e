"""A sorted copy of a sample, by several threads; and some of its values without sorting the others."""

import numpy as np

from condmask._blocks import Workers, ordered_map
from condmask.kernels import ordering

PARALLEL = 1 << 19  # records from which threads pay
PARTS = 16  # bits: into so many parts a sample is cut
SIGN, ALL = 1 << 63, (1 << 64) - 1
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


def selected(z: np.ndarray, ranks: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """The values of these ranks, 0 the least, of a sample between these ends.

    Its range is cut into parts, by the bits of the numbers, and only parts that hold one of the ranks are
    sorted.
    """
    least, most = (_word(end) for end in (ends[0] or -0.0, ends[1] + 0.0))
    down, counts = max(0, (most - least).bit_length() - PARTS), np.zeros(1 << PARTS, dtype=np.int64)
    cut = np.uint64(least), np.uint64(down)
    ordering.count_parts(z, *cut, counts)
    below = np.cumsum(counts)
    part, place = np.unique(np.searchsorted(below, ranks, side="right"), return_inverse=True)
    chosen = np.zeros(counts.size, dtype=np.uint8)
    chosen[part] = 1
    taken = np.cumsum(counts[part])
    near = np.empty(int(taken[-1]) + 1)
    ordering.take_parts(z, *cut, chosen, near)
    left_out = below[part] - taken  # with smaller values
    return np.asarray(np.sort(near[:-1])[ranks - left_out[place]] + 0.0)


def _word(value: float) -> int:
    """The bits of a number as the kernels order them."""
    bits = int(np.float64(value).view(np.uint64))
    return ALL - bits if bits & SIGN else bits | SIGN
