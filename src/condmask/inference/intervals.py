"""What an interval is, and how a standard error becomes one."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.errors import CondmaskError

TARGETS = {"population": "in the population", "file": "in the original file"}


class EstimateWarning(UserWarning):
    """An estimate, as it is given, that tells little or lies where no original value could, and why."""


class UndefinedError(CondmaskError, ValueError):
    """What is asked does not exist for these records under this scheme; for others it may."""


class Interval(NamedTuple):
    """A confidence interval, and what it is about.

    Attributes
    ----------
    low, high : float or ndarray
        Its ends, in the shape of what was asked; infinite where the data bound nothing.
    standard_error : float or ndarray
        Of the estimate, in its units.
    estimate : float or ndarray
        The estimate itself.
    confidence_level : float
        The share of such intervals that cover their target.
    target : {"population", "file"}
        What is to be covered: the value in the population that the file is a sample of, or that in the
        original file, where the randomness is that of the masking alone.
    about : str
        The target in words; for replicates of which different things are to be said, an array of these.
    """

    low: Any
    high: Any
    standard_error: Any
    estimate: Any
    confidence_level: float
    target: str
    about: str


def multiplier(confidence_level: Any) -> tuple[float, float]:
    """The level, checked, and the normal quantile by which standard errors are multiplied."""
    from scipy.special import ndtri  # takes .1 s to import

    level = _checks.probability(confidence_level, "confidence_level")
    return level, float(ndtri(0.5 + 0.5 * level))


def check_target(target: Any) -> str:
    """Which of the two targets."""
    return _checks.choice(target, "target", tuple(TARGETS))


def interval(
    estimate: Any,
    standard_error: Any,
    confidence_level: float,
    target: str,
    quantity: str,
    *,
    degrees: Any = np.inf,
    logarithmic: bool = False,
    ends: tuple[Any, Any] | None = None,
) -> Interval:
    """The confidence interval of a quantity from its estimate and standard error.

    Parameters
    ----------
    estimate, standard_error : float or ndarray
    confidence_level, target
        Checked, as of an `Interval`.
    quantity : str
        What is estimated, in words; `about` adds the target.
    degrees : float or ndarray
        Of freedom of Student's t; by default the interval is normal.
    logarithmic : bool
        Symmetric in the logarithm, for a quantity that is positive. Where its estimate is not, from 0 on.
    ends : (float or ndarray, float or ndarray), optional
        Of an interval that is not symmetric.
    """
    if ends is None:
        from scipy.special import stdtrit  # takes .1 s to import

        reach = stdtrit(degrees, 0.5 + 0.5 * confidence_level) * standard_error
        ends = estimate - reach, estimate + reach
        if logarithmic:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                positive, factor = np.asarray(estimate) > 0.0, np.exp(reach / estimate)
                ends = (
                    np.where(positive, estimate / factor, 0.0)[()],
                    np.where(positive, estimate * factor, np.maximum(ends[1], 0.0))[()],
                )
    about = f"{quantity} {TARGETS[target]}"
    return Interval(ends[0], ends[1], standard_error, estimate, confidence_level, target, about)
