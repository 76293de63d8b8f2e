"""Rank swapping against a plain loop over the records that are free."""

import numpy as np
import pytest

from condmask.kernels.masking import swap_ranks


def plainly(x, order, window, chance):
    z, free = x.copy(), set(range(x.size))
    for i in range(x.size):
        if i not in free:
            continue
        partners = [j for j in range(i + 1, min(i + window, x.size - 1) + 1) if j in free]
        if partners:
            j = partners[int(chance[i] * len(partners))]
            z[order[i]], z[order[j]] = x[order[j]], x[order[i]]
            free -= {i, j}
    return z


@pytest.mark.parametrize("n", [2, 3, 7, 64, 65, 200])
@pytest.mark.parametrize("window", [1, 2, 10, 500])
def test_partners_are_those_of_a_plain_loop(n, window):
    stream = np.random.default_rng([n, window])
    for x in (stream.normal(size=n), np.rint(stream.normal(size=n))):
        order, chance, z = np.argsort(x, kind="stable"), stream.random(n), np.empty(n)
        swap_ranks(x, order, window, chance, z)
        assert z.tolist() == plainly(x, order, window, chance).tolist()
