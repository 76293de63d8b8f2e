"""What the fused replicate kernel needs of a law: expansions whose bandwidth is put in later."""

from functools import lru_cache

import numpy as np

from condmask.deconvolution import expansion, weight
from condmask.deconvolution.expansion import Shape
from condmask.kernels.lattice import ORDER
from condmask.kernels.replicate import Plan, Stencil, stencil
from condmask.law import FINE_GRID, Law


def serves(law: Law) -> bool:
    """Whether a plan is made for this law: swaps and normal noise, without a grid or on a fine one."""
    return law.p > 0.0 and law.noise == "normal" and law.step <= FINE_GRID * law.sigma


@lru_cache(maxsize=32)
def plan(law: Law, tol: float) -> Plan:
    """The parts for a law that is served, to a tolerance on T; lengths in steps where there is a grid.

    T_1 on a fine grid is exact half a step to the right of each point; T_b has the transform of the noise
    as it was rounded, a sinc beside that of the noise.
    """
    p, delta, unit = law.p, law.step / law.sigma, law.step or 1.0
    share = tol * min(p, 0.5)
    shape = Shape(weight.Masking("normal", p, delta=delta))
    smooth = expansion.cells(shape, share)
    waves, damping = expansion.waves(shape, smooth.width, smooth.reach, 2 * ORDER - 1)
    waves *= np.sinc(0.5 * delta / np.pi * np.sqrt(-2.0 * damping))
    return Plan(
        p, law.sigma / unit, 0.5 * law.step / unit,
        Stencil(smooth.width, smooth.reach, stencil(smooth.derivatives, 1.0 - 1.0 / p)), waves, damping,
        normal(share)[0], expansion.steepness(shape, share)[1], tol,
    )  # fmt: skip


@lru_cache(maxsize=32)
def normal(tol: float) -> tuple[Stencil, np.ndarray]:
    """The normal law, and the matrix of minus its second derivative."""
    plain = expansion.cells(Shape(None), tol)
    doubled = expansion.derivatives(Shape(None, boost=1.0), plain.width, plain.reach, 2 * ORDER - 1)
    return (
        Stencil(plain.width, plain.reach, stencil(plain.derivatives, 1.0)),
        stencil(doubled - plain.derivatives, 0.0),
    )
