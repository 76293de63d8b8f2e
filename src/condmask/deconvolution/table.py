"""K as a certified table: piecewise polynomials of degree 7 on two zones of equal cells.

The half-weight G of weight.py is smooth at the scale of the noise, and at the scale of the bandwidth
within a few bandwidths of 0. So the table has fine cells on ``0 <= v < split`` and coarse ones up to
the reach, beyond which G is constant.

Interpolation in the 8 Chebyshev nodes of a cell of half-width r errs by at most
``max |G^(8)| r^8 / (2^7 8!)``; the derivative is bounded through the Fourier transform of G, and the
reach through a shifted contour. The sum of both stays below ``tol``.
"""

from collections.abc import Callable
from functools import lru_cache
from math import factorial, gamma, log1p, pi, sqrt
from typing import Any

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.errors import ArgumentError
from condmask.kernels.interpolant import DEGREE, Table

MOST_WORK, TRIALS = 2.0**26, 64  # waves summed for a table


def smallest_tol(p: float) -> float:
    """The rounding error of one weight: no tolerance below it can be met."""
    return 2e-14 / p


@lru_cache(maxsize=64)
def table(masking: Masking, tol: float, density: bool = False) -> Table:
    """The table of G, or of K', for one law and one tolerance."""
    if weight.is_discrete(masking):
        half = weight.discrete_half_weights(masking)
        far = np.flatnonzero(np.abs(half - 0.5) > tol * 1e-3)
        return _of_steps(np.append(half[: (far[-1] + 1 if far.size else 0)], 0.5), 0.5, masking.delta)
    sample = weight.density_weight if density else weight.half_weight
    share = 0.25 * tol
    end = weight.reach(masking, share)
    split, fine_bound, coarse_bound = _zones(masking, 1 if density else 0)
    _check_work(masking, share, density)
    return _tabulate(
        lambda v: sample(masking, v), min(split, end), end, fine_bound, coarse_bound, share,
        (0.0, 1.0) if density else (0.5, -1.0),
    )  # fmt: skip


@lru_cache(maxsize=64)
def smooth_table(masking: Masking, tol: float, density: bool = False) -> Table:
    """A table of what remains of K, or of K', without its step: ``1{u >= 0} / p``, smoothed for T_b."""
    p = masking.p
    if weight.is_discrete(masking):
        half = table(masking, tol).coefficients[:, 0] - 0.5 / p
        return _of_steps(half, 0.5 - 0.5 / p, masking.delta)
    share = 0.25 * tol
    end = weight.reach(masking, share)
    split, fine_bound, coarse_bound = _zones(masking, 1 if density else 0)
    split = min(split, end) if weight.has_closed_form(masking) else 0.0
    _check_work(masking, share, density)
    limit = 0.0 if density else 0.5 - 0.5 / p
    return _tabulate(
        lambda v: weight.smooth_weight(masking, v, density), split, end, fine_bound, coarse_bound, share,
        (limit, 1.0 if density else -1.0),
    )  # fmt: skip


@lru_cache(maxsize=64)
def normal_table(tol: float, density: bool = False, boost: float = 0.0) -> Table:
    """A table of the normal distribution function less one half, or of its density, in its own units.

    `boost` (of the distribution function) takes that multiple of its second derivative from it.
    """
    # |He_n(x)| exp(-x^2/2) <= 1.09 sqrt(n!) (Cramer), n the order of the derivative of the density
    order = DEGREE + density
    bound = 1.09 * (sqrt(factorial(order)) + boost * sqrt(factorial(order + 2))) / sqrt(2.0 * pi)
    end = weight.SATURATION + 0.25 * log1p(boost)
    if density:
        sample = weight.normal_density
    else:

        def sample(v: np.ndarray) -> Any:
            return weight.normal_half_weight(v) + boost * v * weight.normal_density(v)

    return _tabulate(sample, 0.0, end, 0.0, bound, 0.5 * tol, (0.0, 1.0) if density else (0.5, -1.0))


def _check_work(masking: Masking, share: float, density: bool) -> None:
    """Refuse a table of more values, of more waves each, than anybody would wait for.

    Only under Laplace noise on a grid, whose transform has no end but that of the smoothing, do both grow as
    the bandwidth shrinks.
    """
    if masking.noise != "laplace" or weight.has_closed_form(masking):
        return
    work = _work(masking, share, density)
    if not work > MOST_WORK:
        return
    least = masking.beta * sqrt(work / MOST_WORK)
    for _ in range(TRIALS):  # the work falls by somewhat less than the square
        if _work(masking._replace(beta=least), share, density) <= MOST_WORK:
            break
        least *= 1.1
    raise ArgumentError(
        f"bandwidth must be at least {1.05 * least:.2g} sigma for Laplace noise on a grid where no transform "
        f"serves, got {masking.beta:.2g} sigma"
    )


def _work(masking: Masking, share: float, density: bool) -> float:
    """How many waves are summed for a table."""
    end, (split, fine_bound, coarse_bound) = (
        weight.reach(masking, share),
        _zones(masking, 1 if density else 0),
    )
    split = min(split, end)
    cells = _cells(split, fine_bound, share) + _cells(end - split, coarse_bound, share)
    return (DEGREE + 1.0) * cells * weight.waves(masking, end)


def _of_steps(half: np.ndarray, limit: float, delta: float) -> Table:
    """A table with one value per step of a grid."""
    coefficients = np.zeros((half.size, DEGREE + 1))
    coefficients[:, 0] = half
    return Table(coefficients, 0.0, 1.0, 1.0 / delta, limit, -1.0)


def _tabulate(
    sample: Callable[[np.ndarray], np.ndarray],
    split: float,
    end: float,
    fine_bound: float,
    coarse_bound: float,
    share: float,
    limits: tuple[float, float],
) -> Table:
    """Cells such that interpolating `sample` errs by less than `share` on 0 <= v < end."""
    base, mirror = limits
    fine_cells = _cells(split, fine_bound, share)
    coarse_cells = _cells(end - split, coarse_bound, share)
    edges = np.concatenate(
        (np.linspace(0.0, split, fine_cells + 1)[:-1], np.linspace(split, end, coarse_cells + 1))
    )
    coefficients = np.zeros((edges.size, DEGREE + 1))
    coefficients[:-1] = _fit(sample, edges)
    coefficients[-1, 0] = base
    return Table(
        coefficients,
        split,
        fine_cells / split if split > 0.0 else 1.0,
        coarse_cells / (end - split) if end > split else 1.0,
        base,
        mirror,
    )


def _zones(masking: Masking, extra: int) -> tuple[float, float, float]:
    """Where the fine zone ends, and bounds of the eighth derivative on both (of K': one order more)."""
    order = DEGREE + 1 + extra
    p, beta = masking.p, masking.beta
    # |He_n(x)| exp(-x^2/2) <= 1.09 sqrt(n!) (Cramer), n = order - 1
    step = 1.09 * sqrt(factorial(order - 1)) / sqrt(2.0 * pi) / p
    if not weight.has_closed_form(masking):
        smooth = weight.derivative_bound(masking, order)
        return beta * weight.SATURATION, smooth + (step / beta**order if beta > 0.0 else 0.0), smooth
    amplitude, decay = weight.laplace_tail(masking)
    if beta == 0.0:
        return 0.0, 0.0, amplitude / decay**order
    # Beyond v = beta (8.6 + beta/a) the tail is a pure exponential. Within, |S| <= 1/p leaves the
    # moment of order - 1 of the Gaussian exp(-beta^2 w^2 / 2).
    kappa = beta / decay
    split = beta * (weight.SATURATION + kappa)
    inner = 2.0 ** (0.5 * order - 1.0) * gamma(0.5 * order) / (pi * p * beta**order)
    outer = amplitude / decay**order * np.exp(-0.5 * kappa * kappa - weight.SATURATION * kappa)
    return split, inner, float(outer)


def _cells(length: float, bound: float, share: float) -> int:
    """Cells of equal width over `length` such that interpolation errs by less than `share`."""
    if length <= 0.0:
        return 0
    half_width = (share * 2.0**DEGREE * factorial(DEGREE + 1) / max(bound, 1e-300)) ** (1.0 / (DEGREE + 1))
    return int(np.ceil(length / (2.0 * half_width)))


def _fit(function: Callable[[np.ndarray], np.ndarray], edges: np.ndarray) -> Any:
    """Coefficients of the Chebyshev interpolant on every cell, in powers of its position in [-1/2, 1/2)."""
    nodes = np.cos((np.arange(DEGREE + 1) + 0.5) * pi / (DEGREE + 1))
    # powers of a centred variable: counted from the cell's edge they would cost four digits
    to_powers = np.linalg.inv(np.vander(0.5 * nodes, increasing=True))
    points = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    return function(points.ravel()).reshape(points.shape) @ to_powers.T
