r"""T at many points together: its covariances, and a Gaussian process that has them.

With psi = K((x - Z)/sigma), of which T is the mean, and r = h - p psi, h = 1{X <= x}, covariances
are made of the mean products of psi at two points over the masked values and of those of r over
the originals, whose distribution is T itself. Records are counted in cells of sigma/32, noise
taken as rounded to these, and points moved to edges of cells: a kink of the kernel costs less than
a percent of a standard error then. Where noise is wide, cells are so narrow that few points share
one: T moves between those that do.

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

Share = Callable[[np.ndarray], np.ndarray]  # of the records up to steps
CELLS_PER_SIGMA = 32
FINEST = 16  # and how many times as many there are at most, where noise is wide
AT_ONCE = 1 << 9  # cells
BETWEEN = 0.5826  # -zeta(1/2) / sqrt(2 pi)
RIDGE = 1e-12  # against rounding, by which bands would differ between machines
DRAWN = 1 << 15  # normal deviates at once, so that they stay in the cache


def covariance(
    counted: Counted, masking: Masking, x: np.ndarray, *, shared_donors: bool, target: str
) -> np.ndarray:
    """n times the covariances of T_1 at ascending points, about the population or the original
    file.

    Parameters
    ----------
    counted : Counted
        Of the masked values, in whole steps, or p is 1.
    masking : Masking
    x : ndarray of shape (points,)
        In whole steps.
    shared_donors : bool
        Whether donors are drawn anew for each record.
    target : {"population", "file"}
    """

    def share(steps: np.ndarray) -> np.ndarray:
        return counted.below[np.searchsorted(counted.values, steps, side="right")] / counted.n

    if masking.p == 1.0:
        t, v, d = share(x), *np.zeros((2, x.size, x.size))
    else:
        # a cell is no wider than two distances of neighbouring points, in sigma
        apart = 2.0 * masking.delta * np.median(np.diff(x, append=np.inf))
        finer = np.clip(np.ceil(1.0 / (CELLS_PER_SIGMA * apart)), 1.0, FINEST)
        steps, noise = lattice(masking, CELLS_PER_SIGMA * int(finer))
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
    h = t[np.minimum.outer(order, order)] - np.outer(t, t)  # of two points the lower
    file = given_file(v, d, h, 0.0, shared_donors=shared_donors, p=masking.p)
    return file + h if target == "population" else file


def masses(share: Share, at: np.ndarray, steps: float, far: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells within reach of a point and, for all on one side of them, the next; and what share of
    the records each holds."""
    ends = np.unique(at[:, None] + np.arange(-far - 1.0, far + 1.0))
    mass = np.diff(share((ends + 1.0) * steps - 1.0), prepend=0.0, append=1.0)
    cell = np.append(ends, ends[-1] + 1.0)
    return cell[mass != 0.0], mass[mass != 0.0]


def mean_products(
    table: np.ndarray, at: np.ndarray, cell: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The means of a kernel at points, and of its products at pairs of them, over masses in cells.

    The table has it by how many cells a point lies after a record, from -far to far.
    """
    means = np.zeros(at.size)
    products = np.zeros((at.size, at.size))
    far = table.size // 2
    for start, stop in blocks(cell.size, AT_ONCE):
        after = at[:, None] - cell[start:stop]
        held = mass[start:stop]
        values = table[np.clip(after, -far, far).astype(np.int64) + far]
        means += values @ held
        products += (values * held) @ values.T
    return means, products


def largest(covariance: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The largest sizes of so many draws of a Gaussian process, in single precision."""
    try:
        root = np.linalg.cholesky(
            covariance + RIDGE * np.trace(covariance) * np.eye(len(covariance))
        )
    except np.linalg.LinAlgError:  # of few records the estimate is not positive definite
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    root, at_once = root.astype(np.float32), max(1, DRAWN // len(root))
    drawn = (
        rng.standard_normal((len(root), stop - start), dtype=np.float32)
        for start, stop in blocks(draws, at_once)
    )
    return np.concatenate([np.abs(root @ each).max(axis=0) for each in drawn], dtype=np.float64)


def between(covariance: np.ndarray, points: int) -> float:
    """By how much the largest size of a Gaussian process on the whole line is that at so many
    points, about.

    As of a Brownian path: .5826 standard deviations of a step (Siegmund 1985, p. 220), but for
    what steps share with the next ones. Of steps that coincide, at values that many records share,
    there is none.
    """
    steps = np.diff(np.diff(covariance, axis=0), axis=1)
    rough = np.zeros(points)
    rough[: max(len(steps) - 1, 0)] = np.diag(steps)[:-1] - np.diag(steps, 1)
    return BETWEEN * float(np.sqrt(max(np.median(rough), 0.0)))
