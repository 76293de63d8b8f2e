"""T_1 or T_b of many samples at once: jumps at the masked values, and a smooth part known at nodes.

One Fourier transform serves all rows of a block, as `Layer` serves one sample. T_1 under Laplace noise or on
coarse grids has no smooth part; it and rows that are spread too widely are left to single samples.
"""

from math import pi
from typing import NamedTuple

import numpy as np

from condmask.distribution.layer import fast_length
from condmask.distribution.symbol import SATURATION, Masking, bend, reach, smooth_symbol, symbol
from condmask.kernels.nodes import POINTS, read, spread_rows
from condmask.kernels.replication import quantiles_of_rows
from condmask.law import FINE_GRID, Law

PER_SIGMA, PER_BANDWIDTH = 16, 4  # nodes, by which T_b errs by less than 1e-7
MOST_NODES = 1 << 14  # of a row
TOL, REACHED = 1e-10, 1e-10  # of T: where it has settled, and what it may lack of a probability


class Curves(NamedTuple):
    """n T of rows, in units of the grid where there is one.

    Attributes
    ----------
    law : Law
    rows : ndarray of shape (rows, n)
        The values, ascending.
    nodes : ndarray of shape (rows, size)
        The rest of it, at `width` from one another.
    origin : ndarray of shape (rows,)
        Where the first node is.
    width, jump, n : float
    bend : float
        The most of the second derivative of a record's smooth part, per node.
    """

    law: Law
    rows: np.ndarray
    nodes: np.ndarray
    origin: np.ndarray
    width: float
    jump: float
    n: int
    bend: float

    def quantiles(self, q: np.ndarray, *, rearranged: bool) -> np.ndarray:
        """The quantiles of each row, in the units of the data."""
        order = np.argsort(q)
        found, whole = np.empty((len(self.nodes), q.size)), self.law.step > 0.0 and self.jump > 0.0
        quantiles_of_rows(
            self.rows, self.nodes, self.origin, self.width, self.jump, self.bend, whole,
            (q[order] - REACHED) * self.n, rearranged, found,
        )  # fmt: skip
        found[:, order] = found.copy()
        return self.law.from_units(found) if whole else found * (self.law.step or 1.0)

    def at(self, x: np.ndarray) -> np.ndarray:
        """The function at points in the units of the data, row by row."""
        points = x / (self.law.step or 1.0)
        if self.law.grid is not None and self.jump > 0.0:
            points = self.law.grid.below(x)
        out = np.zeros((len(self.nodes), x.size))
        for k, nodes in enumerate(self.nodes if x.size else ()):
            place = (points - self.origin[k]) / self.width
            read(np.clip(place, POINTS, nodes.size - POINTS), nodes, out[k])
            out[k] += self.jump * np.searchsorted(self.rows[k], points, side="right")
        return out / self.n


def serves(law: Law, *, smoothed: bool) -> bool:
    """Whether T_1, or T_b, of samples under this law has a smooth part."""
    return smoothed or (law.p > 0.0 and law.noise == "normal" and law.step <= FINE_GRID * law.sigma)


def curves(ordered: np.ndarray, law: Law, widths: np.ndarray | None = None) -> tuple[Curves, np.ndarray]:
    """T_1, or T_b with a bandwidth for each row, and which of the ascending rows are narrow enough for it."""
    unit = law.step or 1.0
    masking = Masking(law.noise, law.p, 0.0, law.step / law.sigma)
    beta = np.zeros(1) if widths is None else widths / law.sigma
    spacing = 1.0 / PER_SIGMA if widths is None else min(1.0 / PER_SIGMA, beta.min() / PER_BANDWIDTH)
    width = spacing * law.sigma / unit
    leads = np.ceil((reach(masking, TOL) + SATURATION * beta) / spacing) + 2 * POINTS
    ends = law.to_units(ordered[:, [0, -1]])
    span = np.diff(ends, axis=1)[:, 0] / width
    served = span + 2.0 * leads < MOST_NODES
    lead = np.broadcast_to(leads, span.shape)[served].max(initial=0.0)  # of all rows
    rows, first = law.to_units(ordered[served]), ends[served, 0] - lead * width
    nodes = np.zeros((len(rows), fast_length(int(span[served].max(initial=0.0) + 2.0 * lead) + 2)))
    spread_rows(rows, first, 1.0 / width, nodes)
    n, size = ordered.shape[1], nodes.shape[1]
    w = 2.0 * pi / (size * spacing) * np.arange(1, size // 2 + 1)
    if widths is None:
        of_wave, bent = smooth_symbol(masking, w), bend(masking) * spacing**2
        total, jump, origin = 1.0 - 1.0 / law.p, 1.0 / law.p, first - 0.5 * law.step / unit
    else:
        most = 1.0 + (1.0 / law.p if law.p > 0.0 else beta.min() ** -2)
        of_wave = np.exp(-0.5 * np.square(np.outer(beta[served], w)))
        of_wave /= law.p + (1.0 - law.p) * symbol(masking, w)
        total, jump, origin, bent = 1.0, 0.0, first, most / pi / PER_BANDWIDTH**2
    waves = np.fft.rfft(nodes)
    waves[:, 0] = 0.0
    waves[:, 1:] *= of_wave / (1j * spacing * w)
    smooth = np.fft.irfft(waves, size)
    smooth += n * total / size * np.arange(size) - smooth[:, :1]
    return Curves(law, rows, smooth, origin, width, jump, n, bent), served
