"""Cells against the kernel at every pair, and lengths of transforms against SciPy's."""

import numpy as np
import pytest
from scipy.fft import next_fast_len

from condmask.deconvolution import bounds, expansion, weight
from condmask.deconvolution.expansion import Shape, fast_length
from condmask.deconvolution.weight import Masking
from condmask.kernels import lattice

SMOOTHED = Masking("normal", 0.6, 0.3)
SHAPES = [Shape(Masking("normal", 0.6)), Shape(SMOOTHED), Shape(SMOOTHED, density=True), Shape(None)]


def test_a_fast_length_is_the_next_product_of_2_3_and_5():
    lengths = [*range(1, 5000), 65_537, 69_621, 262_145, 1_000_003]

    assert [fast_length(n) for n in lengths] == [next_fast_len(n, real=True) for n in lengths]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("few", [True, False], ids=["term by term", "transformed"])
def test_cells_receive_the_kernel_at_every_record(shape, few, monkeypatch):
    monkeypatch.setattr(expansion, "FEW_PAIRS", 10**9 if few else 0)
    tol, rng = 1e-10, np.random.default_rng(7)
    cells = expansion.cells(shape, tol)
    z = np.sort(rng.normal(0.0, 4.0, 60))
    moments = np.zeros((int((z[-1] - z[0]) / cells.width) + 1, lattice.ORDER))
    lattice.power_sums(z, 0, z.size, z[0], 1.0 / cells.width, 0, moments)
    limit = 0.0 if shape.density else 1.0 if shape.masking is None else 1.0 - 1.0 / 0.6

    local = expansion.local_polynomials(moments, cells, shape.density, limit)

    x = rng.uniform(z[0] - 2.0, z[-1] + 2.0, 40)
    position = (x - z[0]) / cells.width + cells.reach
    row = position.astype(int)
    found = np.sum(local[row] * (position - row - 0.5)[:, None] ** np.arange(lattice.ORDER), axis=1)
    u = x[:, None] - z
    if shape.density:
        exact = weight.smooth_weight(SMOOTHED, np.abs(u).ravel(), True)
    elif shape.masking is None:
        exact = 0.5 + np.sign(u) * weight.normal_half_weight(np.abs(u))
    else:
        exact = 0.5 * limit + np.sign(u).ravel() * weight.smooth_weight(shape.masking, np.abs(u).ravel())
    assert found == pytest.approx(exact.reshape(u.shape).sum(axis=1), abs=60 * tol)


@pytest.mark.parametrize("tol", [1e-4, 1e-10, 1e-13])
@pytest.mark.parametrize("shape", [*SHAPES, Shape(Masking("laplace", 0.3, 0.05)), Shape(None, boost=1e6)])
def test_the_widest_cells_use_up_half_of_the_tolerance(shape, tol):
    width, cutoff = expansion.widest(shape, tol), expansion._cutoff(shape)

    w, size = bounds.spectral(lambda w: expansion._transform(shape, w), cutoff)
    r = (0.5 * w * width) ** lattice.ORDER / 3628800.0
    assert np.sum(size * (2.0 * r + r * r)) == pytest.approx(0.5 * tol, rel=1e-9)


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("beta", [0.0, 1e-3, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_what_is_kept_for_all_bandwidths_gives_each_its_own_reach(noise, beta, density):
    if beta == 0.0 and (noise == "laplace" or density):
        return  # a closed form; no density
    masking = Masking(noise, 0.4, beta, min(0.01, beta / 1.5) if beta > 0.0 else 0.01)
    weight.smooth_tail(masking._replace(beta=1.7), density)  # of another one
    spread = 4.0 / weight.cutoff(masking)
    c, found = weight.smooth_tail(masking, density, spread)

    def transform(w):
        return weight.smooth_symbol(masking, w) / (1.0 if density else w)

    heights, own = bounds.tail(transform, weight.contour(masking), weight.cutoff(masking), spread)
    assert c == pytest.approx(heights)
    assert found == pytest.approx(own, rel=2e-3)
