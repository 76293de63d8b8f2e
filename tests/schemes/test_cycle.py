"""Permutation donors against the draw contract, followed row by row in plain Python."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from condmask import draws
from condmask._blocks import BLOCK, blocks
from condmask._randomness import Key
from condmask.donor_pools import make_pools

SECRET = bytes(range(16))
N = 65_536 + 4_000


def contract(p, strata, there):
    """Donors of the swapped rows, in file order; -1 where there is none."""
    x = np.where(there, 0.0, np.nan)
    chosen = reference.donor_rows(SECRET, p, [x], strata, "permutation")
    return [-1 if donor is None else donor for _, donor in sorted(chosen.items())]


def found(p, strata, there):
    pools = None
    if strata is not None or not there.all():
        code = np.zeros(N, dtype=np.int64) if strata is None else strata
        pools = make_pools(code, None if there.all() else there)
    donors, before = draws.permutation_donors(Key(SECRET), p, N, pools)
    first, _ = draws.coins(Key(SECRET), p, 0, 65_536)
    assert before.tolist() == [0, first.size]
    return donors.tolist()


@pytest.mark.parametrize("p", [0.0004, 0.6])  # the first leaves some 28 rows, many alone in their pool
@pytest.mark.parametrize("strata", [None, 20, 3_000])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_donors_follow_the_draw_contract(p, strata, missing):
    rng = np.random.default_rng(1)
    labels = None if strata is None else rng.permutation(np.arange(N) % strata)
    there = rng.random(N) >= missing

    assert found(p, labels, there) == contract(p, labels, there)


def test_words_too_much_alike_take_the_slow_way_to_the_same_cycle(monkeypatch):
    def alike(_, count):
        return np.arange(count, dtype=np.uint64)[::-1] // np.uint64(3)

    sides = [draws.coins(Key(SECRET), 0.5, block, size) for block, size in enumerate([65_536, N - 65_536])]
    monkeypatch.setattr(draws, "coins", lambda key, p, block, size: sides[block])
    monkeypatch.setattr(draws, "words", alike)

    donors, _ = draws.permutation_donors(Key(SECRET), 0.5, N, None)

    swapped = np.concatenate([sides[0][0], sides[1][0] + 65_536])
    order = np.lexsort((swapped, np.concatenate([alike(None, part.size) for part, _ in sides])))
    expected = np.empty_like(donors)
    expected[order] = swapped[np.roll(order, -1)]
    assert np.array_equal(donors, expected)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("strata", [None, 20])
def test_words_ordered_in_parts_give_the_same_cycle(monkeypatch, strata, kind):
    labels = None if strata is None else np.arange(N) % strata
    whole = found(0.99, labels, np.ones(N, dtype=bool))
    assert len(whole) > BLOCK  # the parts are gathered from two blocks of words

    monkeypatch.setattr(draws, "LONG", 1_000)
    monkeypatch.setattr(draws, "index_type", lambda n: kind)

    assert found(0.99, labels, np.ones(N, dtype=bool)) == whole


@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 200), most=st.sampled_from([1, 4, 16]),
    spread=st.sampled_from([1, 3, 2**60]), size=st.integers(1, 50), beyond=st.integers(-2, 2),
)  # fmt: skip
def test_a_long_list_is_ordered_by_its_top_bits_wherever_its_words_stand(seed, n, most, spread, size, beyond):
    rng = np.random.default_rng(seed)
    tops = (15 - rng.integers(0, most, n)).tolist()
    drawn = [top << 60 | low for top, low in zip(tops, rng.integers(0, spread, n).tolist(), strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "LONG", n + beyond)
        patch.setattr(draws, "blocks", lambda n: blocks(n, size))

        parts = [part.tolist() for part in draws.in_order(np.array(drawn, dtype=np.uint64))]

    # equal words in the order of their rows, as in Python's own sort
    assert [row for part in parts for row in part] == sorted(range(n), key=drawn.__getitem__)
    by_top = [[row for row in range(n) if tops[row] == top] for top in range(16)]
    assert list(map(sorted, parts)) == ([list(range(n))] if beyond >= 0 else by_top)
