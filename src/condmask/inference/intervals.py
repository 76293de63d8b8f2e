"""What an interval is, and how a standard error becomes one."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks

TARGETS = ("population", "file")


class EstimateWarning(UserWarning):
    """An estimate, as it is given, that tells little or lies where no original value could, and why."""


class UndefinedError(ValueError):
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
        The target in words.
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
    return _checks.choice(target, "target", TARGETS)


def over_file(
    v: np.ndarray, d: np.ndarray, h: np.ndarray, a: np.ndarray | float, *, shared_donors: bool, p: float
) -> np.ndarray:
    """n times the variance of an estimate about its value in the original file; never negative.

    `v` is the variance of the influence function on the masked records, `d` that of its mean given the file,
    `h` that of the influence function on the originals, `a` the covariance of its two margins
    (docs/inference.rst, "The theorem"). About the population it is larger by `h`. With p = 1, a permutation
    of all records, what is released is the file.
    """
    if p == 1.0:
        return np.zeros(np.shape(v))
    found = v - d if shared_donors else v - h + 2.0 * p * np.asarray(a)
    return np.asarray(np.maximum(found, 0.0))
