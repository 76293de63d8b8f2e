"""Computes the variances of estimates about the file and about the population.

Let psi be the influence function of an estimate on the masked values and h that of its target on
the originals. n times the variance about the value in the original file is V - D for donors drawn
independently, and V - Var h for a permutation, with V = Var psi and D = Var(h - p psi); about the
population it is larger by Var h. All are variances over all records, even if donors were drawn
within strata; for a permutation the result is the same (docs/inference.rst, "Strata").
"""

from typing import NamedTuple

import numpy as np


class Variance(NamedTuple):
    """n times the variance of an estimate, at some points.

    Attributes
    ----------
    file : ndarray of shape (points,)
        About the value in the original file.
    sample : ndarray of shape (points,)
        The variance that sampling from the population adds.
    """

    file: np.ndarray
    sample: np.ndarray

    def about(self, target: str) -> np.ndarray:
        """Return n times the variance about the target."""
        return self.file if target == "file" else self.file + self.sample

    def standard_error(self, n: int, target: str) -> np.ndarray:
        """Return the standard error about the target, from n records."""
        return np.asarray(np.sqrt(self.about(target) / n))


def given_file(
    v: np.ndarray,
    d: np.ndarray,
    h: np.ndarray,
    a: np.ndarray | float,
    *,
    shared_donors: bool,
    p: float,
) -> np.ndarray:
    """Return n times the variance of an estimate about its value in the original file.

    All arguments may be covariances of several estimates instead of variances; so is the result.
    As an estimate of a variance it may be negative. With p = 1, a permutation of all records, the
    release is the file and the result 0.

    Parameters
    ----------
    v : ndarray
        The variance of the influence function on the masked records.
    d : ndarray
        The variance of its mean given the file.
    h : ndarray
        The variance of the influence function on the originals.
    a : ndarray or float
        The covariance of its two margins (docs/inference.rst, "The theorem").
    shared_donors : bool
        Whether several records may share a donor.
    p : float
    """
    if p == 1.0:
        return np.zeros(np.shape(v))
    return np.asarray(v - d if shared_donors else v - h + 2.0 * p * np.asarray(a))
