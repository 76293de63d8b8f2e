"""Means of functions of the original, and the ingredients of their standard errors."""

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from condmask.inference import expectations
from condmask.inference.cdf_variance import Sums
from condmask.inference.far_expectations import Function, NotFiniteError
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.moments import theorem_2_1
from condmask.samples.noise_class import NoiseClass


def sums_of(*functions: Function) -> Callable[[MaskedSample], Sums]:
    """The ingredients of the means of functions of values in the units of the data, in the shape of these."""

    def of(source: MaskedSample) -> Sums:
        return _part(source.noise_class(), source.law.p, functions).over(source.n)

    return of


def known(value: Any) -> Any:
    """What `sums_of` gave, refused where g grows too fast."""
    if np.isnan(value).any():
        raise ValueError(
            "g must grow more slowly beyond the data: where the estimated distribution has next to no mass g "
            "(for intervals g^2) is too large for its mean to be known; moments have methods of their own"
        )
    return value


def checked(g: Any, floor: float | None) -> Function:
    """A user's function, of values of at least `floor`; what it may do at points without mass is ignored."""
    if not callable(g):
        raise TypeError(f"g must be a function of an array of values, got {type(g).__name__}")

    def function(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.asarray(g(x if floor is None else np.maximum(x, floor)))
        if found.shape != x.shape or found.dtype.kind not in "biuf":
            raise TypeError(
                f"g must give numbers, one for each value, got {found.dtype} of shape {found.shape} for "
                f"shape {x.shape}"
            )
        return found.astype(np.float64)

    return function


def _part(part: NoiseClass, p: float, functions: Sequence[Function]) -> Sums:
    of_steps = [partial(_of_steps, g, part) for g in functions]
    try:
        if part.law is None:
            return expectations.sums_without_noise(part.counts, p, of_steps)
        return expectations.sums(part.counts, masking(part.law, None), of_steps)
    except expectations.TooManyPointsError as error:
        assert part.law is not None
        raise ValueError(
            "the mean of a function needs its value at every point of the grid within reach of the data, at "
            f"most 2^27, got {error.args[0]:.2g} of step {part.law.step:g} with sigma={part.law.sigma:g}; "
            "moment and cdf need none, and a release on a coarser grid has fewer"
        ) from None
    except NotFiniteError as error:
        step, value = error.args
        at = float(part.values(np.array([step]))[0])
        raise ValueError(
            "g must be finite wherever the estimated distribution has mass, beyond the data too, got "
            f"{value} at {at:g}; floor= replaces smaller values by itself"
        ) from None


def _of_steps(g: Function, part: NoiseClass, steps: np.ndarray) -> np.ndarray:
    return g(part.values(steps))


# --- polynomials: exact without a transform ---


def sums_of_polynomial(
    coefficients: np.ndarray, center: float, scale: float
) -> Callable[[MaskedSample], Sums]:
    """The same of a polynomial in (x - center) / scale."""

    def of(source: MaskedSample) -> Sums:
        part, p = source.noise_class(), source.law.p
        u, held = (part.values(part.counts.values) - center) / scale, part.counts.counts

        def undone(f: np.ndarray) -> np.ndarray:
            """The polynomial whose mean over the masked values is that of f over the originals."""
            noise = np.zeros(f.size) if part.law is None else part.law.noise_moments(f.size - 1, scale)
            return np.asarray(theorem_2_1(np.eye(f.size), p, noise).T @ f)

        psi = undone(coefficients)
        rest = coefficients - p * psi
        of_z = polyval(u, psi)
        others = (rest, np.convolve(rest, rest), np.convolve(coefficients, coefficients))
        sums = Sums(held @ of_z, held @ of_z**2, *(held @ polyval(u, undone(each)) for each in others))
        return sums.over(source.n)

    return of


def shifted_power(order: int, distance: float) -> np.ndarray:
    """The coefficients of (u + distance)^order."""
    return np.array([comb(order, k) * distance ** (order - k) for k in range(order + 1)])
