"""What the fused replicate kernel needs of a scheme: expansions whose bandwidth is put in later."""

from functools import lru_cache

import numpy as np

from condmask.kernels.lattice import ORDER
from condmask.kernels.replicate import Plan, Stencil, stencil
from condmask.weights import expansion, weight
from condmask.weights.expansion import Shape


@lru_cache(maxsize=32)
def plan(p, sigma, tol):
    """The parts for normal noise (or, p = 1, for none), to a tolerance on T."""
    share = tol * min(p, 0.5)
    normal = expansion.cells(Shape(None), share)
    doubled = expansion.derivatives(Shape(None, boost=1.0), normal.width, normal.reach, 2 * ORDER - 1)
    if p < 1.0:
        shape = Shape(weight.Masking("normal", p))
        smooth = expansion.cells(shape, share)
        waves, damping = expansion.waves(shape, smooth.width, smooth.reach, 2 * ORDER - 1)
        bend = expansion.steepness(shape, share)[1]
    else:
        smooth, bend = normal, 0.0
        waves, damping = np.zeros((2 * ORDER - 1, normal.reach + 1, 1)), np.zeros(1)
    return Plan(
        p, sigma, Stencil(smooth.width, smooth.reach, stencil(smooth.derivatives, 1.0 - 1.0 / p)),
        waves, damping, Stencil(normal.width, normal.reach, stencil(normal.derivatives, 1.0)),
        stencil(doubled - normal.derivatives, 0.0), bend, tol,
    )  # fmt: skip
