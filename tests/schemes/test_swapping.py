"""Data swapping and rank swapping: what must stay and what must change."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm

RNG = np.random.default_rng(31)
X = RNG.laplace(10, 1000, 3_000)
W = -0.5 * X + RNG.normal(0, 800, X.size)


SWAPPED = {
    "swapping": cm.DataSwapping().mask(X, rng=1),
    "rank swapping": cm.RankSwapping(5.0).mask(X, rng=1),
    "shuffling": cm.DataShuffling().mask(X, given=W, rng=1),
}


@pytest.mark.parametrize("masked", SWAPPED.values(), ids=SWAPPED)
def test_swapped_columns_keep_their_margin(masked):
    assert np.array_equal(np.sort(masked), np.sort(X))
    assert np.count_nonzero(masked == X) < 0.02 * X.size


def test_noise_leaves_gaps_where_they_are_and_what_moves_values_refuses_them():
    values = {"a": pd.Series([1, None, *range(20)], dtype="Int64"), "b": pd.Series([*range(21), np.nan])}
    frame = pd.DataFrame(values)
    for scheme in (cm.AdditiveNoise(3.0), cm.MultiplicativeNoise(0.3)):
        released = cm.mask_table(frame, dict.fromkeys(frame, scheme), nan_policy="omit").data
        assert released.isna().equals(frame.isna())
        assert scheme.mask(frame["a"]).isna().equals(frame["a"].isna())
    with pytest.raises(ValueError, match=r"^x must be complete, got 1 missing value"):
        cm.DataSwapping().mask(frame["a"])


WINDOWS = [(29, 100, 29), (0.57, 10_000, 57), (57, 100, 57), (1e-5, 50, 1), (100, 60, 60)]


@pytest.mark.parametrize(("percent", "n", "window"), WINDOWS)
def test_the_window_is_the_share_of_the_records_rounded_down(percent, n, window):
    x, reached = np.arange(float(n)), 0
    for seed in range(200):
        reached = max(reached, int(np.abs(cm.RankSwapping(percent).mask(x, rng=seed) - x).max()))

    # rank 0 takes the farthest partner with chance 1/window >= 1/60: missed by 200 files with (59/60)^200 =
    # .035 at most were it the only record; these seeds are fixed
    assert reached == min(window, n - 1)
