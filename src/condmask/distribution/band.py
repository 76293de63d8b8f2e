r"""Covariances of T at many points, and the supremum of a Gaussian process that has them.

T is the mean of psi = K((x - Z)/sigma); let h = 1{X <= x} and r = h - p psi. The covariances are
made of mean products at two points: of psi over the masked values, and of r over the originals,
whose distribution T estimates. Records are counted in cells of sigma/32, the noise is taken as
rounded to these, and points are moved to edges of cells; a kink of the kernel then costs less than
a percent of a standard error. Where noise is wide, cells are narrower, so that few points share a
cell, between which T varies.

See docs/inference.rst, "Bands".
"""

from collections.abc import Callable

import numpy as np

from condmask._blocks import blocks
from condmask.distribution.cdf_variance import kernels, lattice
from condmask.distribution.counting import Counted
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.inference.theorem import given_file

Share = Callable[[np.ndarray], np.ndarray]  # gives the share of the records up to each step
BAND_CELLS_PER_SIGMA = 32
MAX_REFINEMENT = 16  # times as many cells, where noise is wide
CELLS_PER_PRODUCT = 1 << 9
STEPS_TO_SUPREMUM = 0.5826  # -zeta(1/2) / sqrt(2 pi)
RIDGE = 1e-12  # of the trace, added since rounding would make bands differ between machines
MAX_NORMAL_DRAWS = 1 << 15  # so that they stay in the cache of the processor


def covariance(
    counted: Counted, masking: Masking, x: np.ndarray, *, shared_donors: bool, target: str
) -> np.ndarray:
    """Return n times the covariances of T_1 at ascending points, of shape (points, points).

    Parameters
    ----------
    counted : Counted
        The masked values, in whole steps unless p is 1.
    masking : Masking
    x : ndarray of shape (points,)
        In whole steps.
    shared_donors : bool
        Whether donors are drawn anew for each record.
    target : {"population", "file"}
        Whether T estimates the distribution function of the population or of the original file.
    """

    def share(steps: np.ndarray) -> np.ndarray:
        return counted.below[np.searchsorted(counted.values, steps, side="right")] / counted.n

    if masking.p == 1.0:
        t, v, d = share(x), *np.zeros((2, x.size, x.size))
    else:
        # a cell is no wider than two distances of neighbouring points, in sigma
        apart = 2.0 * masking.delta * np.median(np.diff(x, append=np.inf))
        finer = np.clip(np.ceil(1.0 / (BAND_CELLS_PER_SIGMA * apart)), 1.0, MAX_REFINEMENT)
        steps, noise = lattice(masking, BAND_CELLS_PER_SIGMA * int(finer))
        psi = kernels(noise).values[0]
        at = np.rint((x + 1.0) / steps - 1.0)
        far = psi.size // 2
        t, products = mean_products(psi, at, *masses(share, at, steps, far))
        v = products - np.outer(t, t)
        d = np.zeros_like(products)
        if shared_donors:
            rest = (np.arange(psi.size) >= far) - masking.p * psi
            means, products = mean_products(
                rest, at, *masses(T_1(counted, masking).at, at, steps, far)
            )
            d = products - np.outer(means, means)
    order = np.arange(x.size)
    h = t[np.minimum.outer(order, order)] - np.outer(t, t)
    file = given_file(v, d, h, 0.0, shared_donors=shared_donors, p=masking.p)
    return file + h if target == "population" else file


def masses(share: Share, at: np.ndarray, steps: float, far: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the occupied cells and the share of the records in each.

    Cells out of reach of all points count as one with the next cell within reach.
    """
    ends = np.unique(at[:, None] + np.arange(-far - 1.0, far + 1.0))
    mass = np.diff(share((ends + 1.0) * steps - 1.0), prepend=0.0, append=1.0)
    cell = np.append(ends, ends[-1] + 1.0)
    return cell[mass != 0.0], mass[mass != 0.0]


def mean_products(
    table: np.ndarray, at: np.ndarray, cell: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of a kernel at points and of its products at pairs of points.

    Parameters
    ----------
    table : ndarray of shape (2 far + 1,)
        The kernel at a point k cells to the right of a record, k from -far to far.
    at : ndarray of shape (points,)
        The cells of the points.
    cell, mass : ndarray of shape (cells,)
        Cells, and the share of the records in each.
    """
    means = np.zeros(at.size)
    products = np.zeros((at.size, at.size))
    far = table.size // 2
    for start, stop in blocks(cell.size, CELLS_PER_PRODUCT):
        after = at[:, None] - cell[start:stop]
        held = mass[start:stop]
        values = table[np.clip(after, -far, far).astype(np.int64) + far]
        means += values @ held
        products += (values * held) @ values.T
    return means, products


def suprema(covariance: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a Gaussian process and return its largest absolute value in each draw, of shape
    (draws,), computed in single precision."""
    try:
        root = np.linalg.cholesky(
            covariance + RIDGE * np.trace(covariance) * np.eye(len(covariance))
        )
    except np.linalg.LinAlgError:  # estimated from few records, it may not be positive definite
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    root = root.astype(np.float32)
    at_once = max(1, MAX_NORMAL_DRAWS // len(root))
    drawn = (
        rng.standard_normal((len(root), stop - start), dtype=np.float32)
        for start, stop in blocks(draws, at_once)
    )
    return np.concatenate([np.abs(root @ each).max(axis=0) for each in drawn], dtype=np.float64)


def supremum_increase(covariance: np.ndarray, points: int) -> float:
    """Return the approximate increase of the supremum of a Gaussian process on the whole line over
    the maximum at the simulated points.

    A Brownian path rises by .5826 standard deviations of a step between points (Siegmund 1985,
    p. 220). Of the variance of a step only the part that it does not share with the next step
    counts. Steps of 0, at values that many records share, add nothing.
    """
    steps = np.diff(np.diff(covariance, axis=0), axis=1)
    rough = np.zeros(points)
    rough[: max(len(steps) - 1, 0)] = np.diag(steps)[:-1] - np.diag(steps, 1)
    return STEPS_TO_SUPREMUM * float(np.sqrt(max(np.median(rough), 0.0)))
