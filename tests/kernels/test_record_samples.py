"""Samples of records. Oracle: all sums by NumPy, counted at once, and the first level that keeps few."""

import numpy as np
import pytest

from condmask.kernels import record_samples

# without compilation, NumPy warns where words wrap
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")

ROOM = 128  # of which half is used
ABSENT = 7
SETS = [[0, 1, 2], [0], [2, 0], [1, 2]]
MASKED = np.array([True, False, True])
COMMON = np.array([[ABSENT, 11], [ABSENT, ABSENT], [ABSENT, 13]], dtype=np.uint64)


def sampled(words, block):
    """Level, whole sum, and counts by token for each set of columns, block by block."""
    levels, wholes = np.zeros((2, len(SETS)), dtype=np.uint64)
    sizes = np.zeros(len(SETS), dtype=np.int64)
    tokens, counts = np.empty((len(SETS), ROOM), np.uint64), np.zeros((len(SETS), ROOM), np.uint8)
    columns, ends = np.concatenate(SETS), np.cumsum([0, *map(len, SETS)])
    for start in range(0, words.shape[1], block):
        some = np.ascontiguousarray(words[:, start : start + block])
        record_samples.add_records(
            some, MASKED, COMMON, columns, ends, levels, wholes, sizes, tokens, counts
        )  # fmt: skip
    assert sizes.tolist() == [np.count_nonzero(row) for row in counts]
    return [
        (int(level), int(whole), dict(zip(kept[at > 0].tolist(), at[at > 0].tolist(), strict=True)))
        for level, whole, kept, at in zip(levels, wholes, tokens, counts, strict=True)
    ]


def by_numpy(words, columns):
    sums = words[columns].sum(axis=0)
    telling = [np.isin(words[c], COMMON[c], invert=True) for c in columns if MASKED[c]]
    tokens, counts = np.unique(sums[np.any(telling, axis=0)], return_counts=True)
    level = 0
    while np.sum(tokens < 2 ** (64 - level)) > ROOM // 2:
        level += 1
    kept = tokens < 2 ** (64 - level)
    counts = np.minimum(counts[kept], record_samples.MOST)
    return level, int(sums.sum()), dict(zip(tokens[kept].tolist(), counts.tolist(), strict=True))


def words_of(kind, n=5_000):
    rng = np.random.default_rng(3)
    words = rng.integers(0, 1 << 64, (3, n), dtype=np.uint64)
    if kind == "heaped":
        words[0] = rng.choice(words[0, :40], n)
        words[1:] = words[1:, :1]
        words[0, :500], words[2, 200:] = ABSENT, 13
    if kind == "in pairs":  # counted before most of them are dropped
        words = np.repeat(words[:, : n // 2], 2, axis=1)
    if kind == "all missing":
        words[0] = words[2] = ABSENT
    if kind == "side by side":  # in the table, and across its end
        words[:] = rng.integers(ROOM - 30, ROOM, n).astype(np.uint64)
        words[1] = 0
    return words


@pytest.mark.parametrize("block", [5_000, 777, 31])
@pytest.mark.parametrize("kind", ["all differ", "in pairs", "heaped", "all missing", "side by side"])
def test_samples_are_those_of_all_sums_at_once(kind, block):
    words = words_of(kind)

    assert sampled(words, block) == [by_numpy(words, columns) for columns in SETS]


def test_no_records_give_nothing():
    assert sampled(np.empty((3, 0), dtype=np.uint64), 1) == [(0, 0, {})] * len(SETS)
