"""Tables of K and of its smooth part, summed by the kernel. Oracle: the weights they tabulate."""

import numpy as np
import pytest
from scipy.stats import norm

from condmask.deconvolution import table, weight
from condmask.deconvolution.weight import Masking
from condmask.kernels.interpolant import add_weights

TOL = 1e-9
ONE = np.zeros(1)
# off a grid, on a fine one and on a coarse one; with a bandwidth and without
MASKINGS = [
    Masking("normal", 0.3),
    Masking("normal", 0.6, 0.4),
    Masking("normal", 0.6, 0.0, 0.2),
    Masking("normal", 0.4, 0.0, 0.8),
    Masking("laplace", 0.3),
    Masking("laplace", 0.6, 0.3),
    Masking("laplace", 0.4, 0.0, 0.1),
    Masking("laplace", 0.2, 0.0, 3.0),
]


def values(found, u):
    """The weight of a record at 0 at some points."""
    total = np.zeros(u.size)
    add_weights(u, ONE, 1.0, found, 0, 1, total)
    return total


def points(delta):
    """On both sides, and beyond the reach; half a step off whole steps."""
    u = np.concatenate([np.linspace(-6.0, 6.0, 400), [-1e3, -60.0, 60.0, 1e3]])
    return u if delta == 0.0 else (np.floor(u / delta) + 0.5) * delta


@pytest.mark.parametrize("masking", MASKINGS)
def test_tables_hold_the_weights_and_their_limits(masking):
    u = points(masking.delta if masking.beta == 0.0 else 0.0)
    side, smooth_limit = np.sign(u), 0.5 - 0.5 / masking.p

    whole, smooth = (values(make(masking, TOL), u) for make in (table.table, table.smooth_table))

    assert whole == pytest.approx(0.5 + side * weight.half_weight(masking, np.abs(u)), abs=TOL)
    expected = smooth_limit + side * weight.smooth_weight(masking, np.abs(u))
    assert smooth == pytest.approx(expected, abs=TOL)
    assert [whole[-4], whole[-1]] == pytest.approx([0.0, 1.0], abs=TOL)
    assert [smooth[-4], smooth[-1]] == pytest.approx([0.0, 2.0 * smooth_limit], abs=TOL)


@pytest.mark.parametrize("boost", [0.0, 3.0])
def test_the_normal_table_is_that_of_its_law(boost):
    u = points(0.0)

    below, density = (values(table.normal_table(TOL, of, boost), u) for of in (False, True))

    assert below == pytest.approx(norm.cdf(u) + boost * u * norm.pdf(u), abs=TOL)
    assert density == pytest.approx(norm.pdf(u), abs=TOL)
