"""The draws of a partition. Oracle: whole blocks, as one machine draws them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask._randomness import DONOR, NOISE, Key, words
from condmask.dask import draws
from condmask.dask.draws import PartDraws, Span
from condmask.draws import coins
from condmask.law import Law

KEY, P, N, SIZE = Key(bytes(range(16))), 0.6, 300, 64
LAW = Law(P, "normal", 3.0)


@pytest.fixture(scope="module", autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "BLOCK", SIZE)
        yield


def whole():
    """Of every row: its word, whether it is swapped, its noise where it is not."""
    word, swapped, noise = np.zeros(N, np.uint64), np.zeros(N, bool), np.full(N, np.nan)
    for block in range(-(-N // SIZE)):
        start = block * SIZE
        heads, tails = coins(KEY, P, block, min(SIZE, N - start))
        drawn = words(KEY.stream(block, DONOR), heads.size + tails.size)
        word[start + heads], word[start + tails] = drawn[: heads.size], drawn[heads.size :]
        swapped[start + heads] = True
        noise[start + tails] = LAW.draw(KEY.stream(block, NOISE, 2), tails.size)
    return word, swapped, noise


@given(ends=st.tuples(st.integers(0, N), st.integers(0, N)).map(sorted))
def test_a_partition_draws_what_its_rows_have_on_one_machine(ends):
    start, stop = ends
    word, swapped, noise = (some[start:stop] for some in whole())

    part = PartDraws(KEY, P, Span(start, stop, N))

    assert part.swapped.tolist() == np.flatnonzero(swapped).tolist()
    assert part.kept.tolist() == np.flatnonzero(~swapped).tolist()
    assert part.words_of_swapped().tolist() == word[swapped].tolist()
    assert part.words_of_kept().tolist() == word[~swapped].tolist()
    assert part.noise(LAW, 2).tolist() == noise[~swapped].tolist()
