"""Influence functions. Oracles: laws of released records in full, and derivatives by small steps of a law."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval

from condmask.moments.influence import of_moment


def moment(values, weights, order, *, about):
    middle = values @ weights if about is None else -about
    return (values - middle) ** order @ weights


@pytest.mark.parametrize("about", [None, 0.0, 0.8])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_influence_of_a_record_is_how_much_a_moment_rises_with_its_weight(order, about):
    x, even = np.array([-1.0, 0.2, 0.5, 1.7]), np.full(4, 0.25)
    means = np.array([np.mean(x**k) for k in range(order + 1)])
    step, slopes = 1e-6, []
    for own in np.eye(4):
        high, low = (moment(x, even + side * step * (own - even), order, about=about) for side in (1.0, -1.0))
        slopes.append((high - low) / (2.0 * step))

    found = of_moment(means, order, about, np.eye(1, order + 1)[0], 0.5).h[0, :, 0]

    # central differences: step^2 times third derivatives below 10^3
    assert polyval(x, found) == pytest.approx(np.array(slopes), abs=1e-8)
