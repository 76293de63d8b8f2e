"""Texts of CSV fields as numbers of the distinct ones."""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.masking import LOW

_ONE = np.uint64(1)


@kernel
def number_labels(text, starts, stops, table, code, first):
    """code[i]: the number of the i-th text among distinct ones, first[c]: where it is first; how many.

    ``table`` holds -1 and has a power of two of entries, twice as many as there are texts at least.
    """
    count = 0
    last = np.uint64(table.size - 1)
    for i in range(starts.size):
        length = stops[i] - starts[i]
        slot = np.uint64(2166136261)  # the hash of Fowler, Noll and Vo, of 32 bits
        for position in range(starts[i], stops[i]):
            slot = ((slot ^ np.uint64(text[position])) * np.uint64(16777619)) & LOW
        slot = (slot ^ (slot >> np.uint64(15))) & last
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = count
                first[count] = i
                code[i] = count
                count += 1
                break
            j = first[number]
            same = stops[j] - starts[j] == length
            k = 0
            while same and k < length:
                same = text[starts[j] + k] == text[starts[i] + k]
                k += 1
            if same:
                code[i] = number
                break
            slot = (slot + _ONE) & last
    return count
