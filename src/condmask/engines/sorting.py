"""A sorted copy of a sample, by several threads; and some of its values without sorting the others."""

import numpy as np

from condmask._blocks import Workers, ordered_map
from condmask.kernels import range_partition

PARALLEL = 1 << 19  # records from which threads pay
PARTS = 16  # bits: into so many parts a sample is cut
SAMPLED, RANGES = 1 << 10, 8  # records that tell where to cut; each range costs a pass to be counted


def ascending(z: np.ndarray, workers: Workers = 1) -> np.ndarray:
    """A sorted copy; of several threads each gathers and sorts the values of a range."""
    if not isinstance(workers, int) or workers == 1 or z.size < PARALLEL:
        out = np.empty(z.size, z.dtype)
        out[:] = z
        out.sort()
        return out
    sample, ranges = np.sort(z[:: z.size // SAMPLED]), min(workers, RANGES)
    edges = [-np.inf, *sample[np.arange(1, ranges) * sample.size // ranges].tolist(), np.inf]
    ends = [0, *(range_partition.count_below(z, edge) for edge in edges[1:-1]), z.size]
    out = np.empty(z.size, z.dtype)

    def sort(k: int) -> None:
        part = out[ends[k] : ends[k + 1]]
        range_partition.gather(z, edges[k], edges[k + 1], part)
        part.sort()

    list(ordered_map(sort, range(ranges), ranges))
    return out


def selected(z: np.ndarray, ranks: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """The values of these ranks, 0 the least, of a sample between these ends.

    Its range is cut into parts, by the bits of the numbers, and only those are sorted that hold one of the
    ranks, at most 255. A value of each that a few records show is only counted: of heaped data most are that.
    """
    least, most = _words(np.array([ends[0] or -0.0, ends[1] + 0.0]))
    down, counts = np.uint64(max(0, int(most - least).bit_length() - PARTS)), np.zeros(1 << PARTS, np.int64)
    range_partition.count_parts(z, least, down, counts)
    below = np.cumsum(counts)
    part, place = np.unique(np.searchsorted(below, ranks, side="right"), return_inverse=True)
    held, shown, few = np.cumsum(counts[part]), np.full(counts.size, np.nan), z[:: max(1, z.size // SAMPLED)]
    shown[(_words(few) - least) >> down] = few
    known, chosen = shown[part], np.zeros(counts.size, dtype=np.uint8)
    chosen[part] = np.arange(1, part.size + 1)
    near = np.empty(int(np.max(held, initial=0)) + 1)
    near = near[: range_partition.take_parts(z, least, down, chosen, np.append(np.nan, known), near)]
    if near.size and not range_partition.sort_floats(near):
        near.sort()
    of = (_words(near) - least) >> down
    first, last = (np.searchsorted(of, part.astype(np.uint64), side) for side in ("left", "right"))
    at = np.clip(np.searchsorted(near, known), first, last)
    times = np.insert(np.ones(near.size, dtype=np.int64), at, counts[part] - (last - first))
    smaller = (below[part] - held)[place]  # values in parts that were left out
    index = np.searchsorted(np.cumsum(times), ranks - smaller, side="right")
    return np.asarray(np.insert(near, at, known)[index] + 0.0)


def _words(values: np.ndarray) -> np.ndarray:
    """The bits of numbers as the kernels order them."""
    bits = values.view(np.uint64)
    return np.asarray(np.where(bits & range_partition.SIGN, ~bits, bits | range_partition.SIGN))
