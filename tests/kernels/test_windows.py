"""The fullest interval of a width against trying all of them."""

import numpy as np
import pytest

from condmask.kernels import windows


@pytest.mark.parametrize("width", [0.01, 0.7, 5.0])
def test_no_interval_holds_more(width):
    cells = np.array([0, 30, 31, 60])
    drawn = np.random.default_rng(1).normal(size=60).round(1)
    values = np.concatenate([np.sort(own) for own in np.split(drawn, cells[1:-1])])
    first = np.empty(3)

    windows.fullest(cells, values, width, first)

    for begin, own in zip(first, np.split(values, cells[1:-1]), strict=True):
        held = [np.count_nonzero((own >= a) & (own < a + width)) for a in (begin, *own)]
        assert held[0] == max(held)
