"""Samples of records by what they hold: those whose sums of words begin with enough bits 0 (Gibbons, 2001).

A record has a sum for each of several sets of columns. Of a set, sums are kept that begin with `level` bits
0, and how many records have them, in an open hash table that is at most half full: the level rises with what
comes. So the sample depends on the records alone, not on their order or blocks.
"""

import numpy as np

from condmask._jit import kernel

LANES = 512  # records that are summed at a time, so that their words stay near
GROUP = 32  # sums of which mostly none is kept
ALL = np.uint64((1 << 64) - 1)
ONE = np.uint64(1)
MOST = 3  # records of a sum that are counted; it stands for more


@kernel
def add_records(words, masked, common, columns, ends, levels, wholes, sizes, tokens, counts):
    """Add records to the samples of sets of columns.

    words[c, i] is that of column c in record i, and set s has columns[ends[s] : ends[s + 1]]. A record counts
    where one of the set's masked columns holds none of the words common[c]. wholes[s] is the sum over all
    records; sizes[s] sums stand in tokens[s] where counts[s] is not 0.
    """
    sums = np.empty(LANES, dtype=np.uint64)
    for start in range(0, words.shape[1], LANES):
        size = min(LANES, words.shape[1] - start)
        for s in range(levels.size):
            members = columns[ends[s] : ends[s + 1]]
            wholes[s] += sum_words(words, members, start, sums[:size])
            for first in range(0, size, GROUP):
                top = ALL >> levels[s]
                few = 0  # counted without branches, which is fast, and mostly 0
                for k in range(first, min(first + GROUP, size)):
                    few += sums[k] <= top
                if few:
                    for k in range(first, min(first + GROUP, size)):
                        if sums[k] <= top and tells(words, members, masked, common, start + k):
                            sizes[s] += add_count(sums[k], 1, tokens[s], counts[s])
                            while 2 * sizes[s] > tokens.shape[1]:
                                levels[s] += ONE
                                top = ALL >> levels[s]
                                sizes[s] = drop(top, tokens[s], counts[s])


@kernel
def sum_words(words, members, start, sums):
    """sums[k]: that of record start + k over some columns; the sum of these is returned."""
    column = words[members[0], start : start + sums.size]
    for k in range(sums.size):
        sums[k] = column[k]
    for j in range(1, members.size):
        column = words[members[j], start : start + sums.size]
        for k in range(sums.size):
            sums[k] += column[k]
    whole = np.uint64(0)
    for k in range(sums.size):
        whole += sums[k]
    return whole


@kernel
def tells(words, members, masked, common, i):
    """Whether one of these columns is masked and holds a word in record i that is not common."""
    for c in members:
        if masked[c]:
            telling = True
            for word in common[c]:
                telling &= words[c, i] != word
            if telling:
                return True
    return False


@kernel
def add_count(token, number, tokens, counts):
    """Count a sum so many times more, and return whether it is new."""
    last = np.uint64(tokens.size - 1)
    slot = token & last
    while counts[slot] and tokens[slot] != token:
        slot = (slot + ONE) & last
    new = counts[slot] == 0
    tokens[slot] = token
    counts[slot] = min(MOST, counts[slot] + number)
    return new


@kernel
def drop(top, tokens, counts):
    """Keep sums up to this one, and return how many these are."""
    old, numbers = tokens.copy(), counts.copy()
    counts[:] = 0
    size = 0
    for k in range(old.size):
        if numbers[k] and old[k] <= top:
            size += add_count(old[k], numbers[k], tokens, counts)
    return size
