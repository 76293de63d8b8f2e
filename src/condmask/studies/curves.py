"""T_1 or T_b of many samples at once: jumps at the masked values, and a smooth part known at
nodes.

One Fourier transform serves all rows of a block, as `Layer` serves one sample. T_1 under Laplace
noise or on coarse grids has no smooth part; it, and blocks with a row that is spread too widely,
are left to single samples.
"""

from math import pi

import numpy as np

from condmask.distribution.convolution import fast_length
from condmask.distribution.layer import Kernel, kept_multipliers, multipliers
from condmask.distribution.symbol import SATURATION, Masking, bend, reach, smoothed_symbol
from condmask.distribution.t_1 import smooth_of
from condmask.kernels.nodes import POINTS, read, spread_rows
from condmask.kernels.replication import quantiles_of_rows
from condmask.law import FINE_GRID, Law

PER_SIGMA = 16
PER_BANDWIDTH = 4  # nodes, by which T_b errs by less than 1e-7
MOST_NODES = 16_384  # of a row
TOL = 1e-10
REACHED = 1e-10  # of T: where it has settled, and what it may lack of a probability


def serves(law: Law, *, smoothed: bool) -> bool:
    """Whether T_1, or T_b, of samples under this law has a smooth part."""
    return smoothed or (
        law.p > 0.0 and law.noise == "normal" and law.step <= FINE_GRID * law.sigma
    )


def of_rows(
    z: np.ndarray,
    law: Law,
    widths: np.ndarray | None,
    q: np.ndarray,
    x: np.ndarray,
    *,
    rearranged: bool,
) -> np.ndarray:
    """The quantiles and the values of T_1, or T_b with a bandwidth for each row, one row after the
    other.

    They are in the units of the data, of shape (rows, probabilities + points); NaN where the
    values of any row, which ascend, are spread too widely.
    """
    unit = law.step or 1.0
    n = z.shape[1]
    masking = Masking(law.noise, law.p, 0.0, law.step / law.sigma)
    beta = np.zeros(len(z)) if widths is None else widths / law.sigma
    spacing = (
        1.0 / PER_SIGMA if widths is None else min(1.0 / PER_SIGMA, beta.min() / PER_BANDWIDTH)
    )
    width = spacing * law.sigma / unit
    lead = np.ceil((reach(masking, TOL) + SATURATION * beta.max()) / spacing) + 2 * POINTS
    rows = law.to_units(z)
    found = np.full((len(z), q.size + x.size), np.nan)
    size = int((rows[:, -1] - rows[:, 0]).max() / width + 2.0 * lead) + 2
    if size > MOST_NODES:
        return found
    nodes = np.zeros((len(rows), fast_length(size)))
    origin = rows[:, 0] - lead * width
    spread_rows(rows, origin, 1.0 / width, nodes)
    if widths is None:
        jump = 1.0 / law.p
        bent = bend(masking) * spacing**2
        origin = origin - 0.5 * law.step / unit
        kernel = Kernel(spacing, smooth_of(masking), 1.0 - jump)
        smooth = kernel.sums_at(nodes, kept_multipliers(nodes.shape[1], kernel))
    else:
        jump = 0.0
        most = 1.0 + (1.0 / law.p if law.p > 0.0 else beta.min() ** -2)
        bent = most / pi / PER_BANDWIDTH**2
        own = beta[:, None]
        kernel = Kernel(spacing, lambda w: smoothed_symbol(masking, w, own), 1.0)
        smooth = kernel.sums_at(nodes, multipliers(nodes.shape[1], kernel))
    order = np.argsort(q)
    quantiles = np.empty((len(rows), q.size))
    whole = law.step > 0.0 and jump > 0.0
    targets = (q[order] - REACHED) * n
    quantiles_of_rows(
        rows, smooth, origin, width, jump, bent, whole, targets, rearranged, quantiles
    )
    found[:, order] = law.from_units(quantiles) if whole else quantiles * unit
    points = law.grid.below(x) if law.grid is not None and whole else x / unit
    found[:, q.size :] = _at(points, rows, smooth, origin, width, jump)
    return found


def _at(
    points: np.ndarray,
    rows: np.ndarray,
    smooth: np.ndarray,
    origin: np.ndarray,
    width: float,
    jump: float,
) -> np.ndarray:
    """The function at points in the units of the values, row by row."""
    out = np.zeros((len(rows), points.size))
    for k, nodes in enumerate(smooth):
        place = (points - origin[k]) / width
        read(np.clip(place, POINTS, nodes.size - POINTS), nodes, out[k])
        out[k] += jump * np.searchsorted(rows[k], points, side="right")
    return np.asarray(out / rows.shape[1])
