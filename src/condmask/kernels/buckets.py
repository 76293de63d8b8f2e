"""Which bucket of a sort by (pool, word, tie) takes which record: splitters part the buckets.

Cost: O(log K) a record for K buckets.
"""

from condmask._jit import kernel


@kernel
def assign(pool, word, tie, at_pool, at_word, at_tie, to):
    """to[k]: how many of the splitters are at or below record k.

    `pool` and `tie` are empty where all records agree in them.
    """
    for k in range(word.size):
        low, high = 0, at_word.size
        while low < high:
            middle = (low + high) // 2
            if _below(pool, word, tie, k, at_pool, at_word, at_tie, middle):
                high = middle
            else:
                low = middle + 1
        to[k] = low


@kernel(inline="always")
def _below(pool, word, tie, k, at_pool, at_word, at_tie, splitter):
    if pool.size and pool[k] != at_pool[splitter]:
        return pool[k] < at_pool[splitter]
    if word[k] != at_word[splitter]:
        return word[k] < at_word[splitter]
    return tie.size > 0 and tie[k] < at_tie[splitter]
