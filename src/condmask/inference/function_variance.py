"""Means of functions of the original, and the ingredients of their standard errors."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.inference import expectations
from condmask.inference.cdf_variance import Sums
from condmask.inference.far_expectations import Function, NotFiniteError
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.noise_class import NoiseClass


def means_of(functions: Sequence[Function], sample: MaskedSample) -> Sums:
    """The ingredients of the means of functions of values in the units of the data, in the shape of these."""
    return _sums(sample.noise_class(), sample.law.p, functions).over(sample.n)


def known(value: Any) -> Any:
    """The result of `means_of`; an error if g grows too fast."""
    if np.isnan(value).any():
        raise ArgumentError(
            "g must grow more slowly beyond the data: it (for intervals its square) is too large where the "
            "estimated distribution has almost no mass, so its mean is not known; use moment for powers"
        )
    return value


def checked(g: Any, floor: float | None) -> Function:
    """A user's function, for values of at least `floor`; its results at points without mass are ignored."""
    if not callable(g):
        raise ArgumentTypeError(f"g must be a function of an array of values, got {type(g).__name__}")

    def function(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.asarray(g(x if floor is None else np.maximum(x, floor)))
        if found.shape != x.shape or found.dtype.kind not in "biuf":
            raise ArgumentTypeError(
                f"g must give numbers, one for each value, got {found.dtype} of shape {found.shape} for "
                f"shape {x.shape}"
            )
        return found.astype(np.float64)

    return function


def _sums(part: NoiseClass, p: float, functions: Sequence[Function]) -> Sums:
    of_steps = [partial(_of_steps, g, part) for g in functions]
    try:
        if part.law is None:
            return expectations.sums_without_noise(part.counts, p, of_steps)
        return expectations.sums(part.counts, masking(part.law, None), of_steps)
    except expectations.TooManyPointsError as error:
        assert part.law is not None
        raise ArgumentError(
            "the mean of a function needs its value at every point of the grid within reach of the data, at "
            f"most 2^27, got {error.args[0]:.2g} of step {part.law.step:g} with sigma={part.law.sigma:g}; "
            "moment and cdf need none, and a release on a coarser grid has fewer"
        ) from None
    except NotFiniteError as error:
        step, value = error.args
        at = float(part.values(np.array([step]))[0])
        raise ArgumentError(
            "g must be finite wherever the estimated distribution has mass, beyond the data too, got "
            f"{value} at {at:g}; floor= replaces all smaller values"
        ) from None


def _of_steps(g: Function, part: NoiseClass, steps: np.ndarray) -> np.ndarray:
    return g(part.values(steps))
