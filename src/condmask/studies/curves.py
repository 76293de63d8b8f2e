"""Compute T_1 or T_b of many samples at once: jumps at masked values, a smooth part at nodes.

One convolution serves all rows of a block, as in `Layer` for one sample. Samples are left to be
treated one by one if T_1 has no smooth part, under Laplace noise or on coarse grids, or if any row
of the block is spread too widely.
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

NODES_PER_SIGMA = 16
NODES_PER_BANDWIDTH = 4  # T_b then errs by less than 1e-7
MAX_NODES_OF_ROW = 16_384
SETTLED = 1e-10  # distance of K from 0 or 1 that counts as none
REACHED = 1e-10  # by which T may miss a probability that it reaches


def serves(law: Law, *, smoothed: bool) -> bool:
    """Return whether T_1, or T_b if smoothed, has a smooth part under this law."""
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
    """Estimate quantiles and values of T_1, or of T_b with a bandwidth for each row.

    Parameters
    ----------
    z : ndarray of shape (rows, n)
        Masked samples, each ascending.
    law : Law
    widths : ndarray of shape (rows,) or None
        Bandwidths of T_b; None for T_1.
    q : ndarray of shape (probabilities,)
    x : ndarray of shape (points,)
    rearranged : bool
        Whether quantiles are those of the monotone rearrangement.

    Returns
    -------
    ndarray of shape (rows, probabilities + points)
        Quantiles in the units of the data, then values of T; all NaN if any row is spread too
        widely.
    """
    unit = law.step or 1.0
    n = z.shape[1]
    masking = Masking(law.noise, law.p, 0.0, law.step / law.sigma)
    beta = np.zeros(len(z)) if widths is None else widths / law.sigma
    spacing = (
        1.0 / NODES_PER_SIGMA
        if widths is None
        else min(1.0 / NODES_PER_SIGMA, beta.min() / NODES_PER_BANDWIDTH)
    )
    width = spacing * law.sigma / unit
    lead = np.ceil((reach(masking, SETTLED) + SATURATION * beta.max()) / spacing) + 2 * POINTS
    rows = law.to_units(z)
    estimates = np.full((len(z), q.size + x.size), np.nan)
    size = int((rows[:, -1] - rows[:, 0]).max() / width + 2.0 * lead) + 2
    if size > MAX_NODES_OF_ROW:
        return estimates
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
        bent = most / pi / NODES_PER_BANDWIDTH**2
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
    estimates[:, order] = law.from_units(quantiles) if whole else quantiles * unit
    points = law.grid.below(x) if law.grid is not None and whole else x / unit
    estimates[:, q.size :] = _at(points, rows, smooth, origin, width, jump)
    return estimates


def _at(
    points: np.ndarray,
    rows: np.ndarray,
    smooth: np.ndarray,
    origin: np.ndarray,
    width: float,
    jump: float,
) -> np.ndarray:
    """Return T of each row at points in the units of the values, of shape (rows, points)."""
    out = np.zeros((len(rows), points.size))
    for k, nodes in enumerate(smooth):
        place = (points - origin[k]) / width
        read(np.clip(place, POINTS, nodes.size - POINTS), nodes, out[k])
        out[k] += jump * np.searchsorted(rows[k], points, side="right")
    return np.asarray(out / rows.shape[1])
