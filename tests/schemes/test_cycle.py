"""Permutation donors against the draw contract, followed row by row in plain Python."""

import numpy as np
import pytest
import reference

from condmask import draws
from condmask._randomness import Key
from condmask.strata import make_pools

SECRET = bytes(range(16))
N = 65_536 + 4_000


@pytest.mark.parametrize(
    ("p", "strata", "missing"),
    [
        (0.6, 1, 0.0),
        (0.6, 20, 0.3),
        (0.0004, 1, 0.3),
        (0.0004, 3_000, 0.0),
    ],  # 28 rows, many alone in their pool
)
def test_donors_follow_the_draw_contract(p, strata, missing):
    rng = np.random.default_rng(1)
    labels, there = rng.permutation(np.arange(N) % strata), rng.random(N) >= missing
    pools = None if strata == 1 and not missing else make_pools(labels, there)

    tossed = draws.toss(Key(SECRET), p, N, 1)
    donors = draws.donors_by_cycle(draws.words_of_swapped(Key(SECRET), tossed), tossed.swapped, N, pools)

    x = np.where(there, 0.0, np.nan)
    chosen = reference.donor_rows(SECRET, p, [x], None if strata == 1 else labels, "permutation")
    assert donors.tolist() == [-1 if donor is None else donor for _, donor in sorted(chosen.items())]
    first, _ = draws.coins(Key(SECRET), p, 0, 65_536)
    assert tossed.swapped_before.tolist() == [0, first.size, donors.size]


def test_words_too_much_alike_take_the_slow_way_to_the_same_cycle():
    def alike(count):
        return np.arange(count, dtype=np.uint64)[::-1] // np.uint64(3)

    sides = [draws.coins(Key(SECRET), 0.5, block, size) for block, size in enumerate([65_536, N - 65_536])]

    swapped = np.concatenate([sides[0][0], sides[1][0] + 65_536])
    words = np.concatenate([alike(part.size) for part, _ in sides])

    donors = draws.donors_by_cycle(words, swapped, N, None)

    order = np.lexsort((swapped, words))
    expected = np.empty_like(donors)
    expected[order] = swapped[np.roll(order, -1)]
    assert np.array_equal(donors, expected)
