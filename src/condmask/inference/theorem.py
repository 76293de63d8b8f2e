"""How far an estimate may lie from its target: n times its variances, from mean squares.

An estimate whose influence function is psi on the masked values and h on the originals has, about
its value in the original file, V - D for donors drawn anew and V - Var h for a permutation, with
V = Var psi and D = Var(h - p psi); about the population Var h more. All are taken over all
records, also where donors were drawn within strata: for a permutation it is the same
(docs/inference.rst, "Strata").
"""

from typing import NamedTuple

import numpy as np


class Variance(NamedTuple):
    """n times the variance of an estimate, at some points.

    Attributes
    ----------
    file : ndarray
        About the value in the original file.
    sample : ndarray
        What a sample of the population adds.
    """

    file: np.ndarray
    sample: np.ndarray

    def about(self, target: str) -> np.ndarray:
        """The variance about the target."""
        return self.file if target == "file" else self.file + self.sample

    def standard_error(self, n: int, target: str) -> np.ndarray:
        """The standard error about the target, from n records."""
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
    """n times the variance of an estimate about its value in the original file, or covariances of
    several.

    `v` is the variance of the influence function on the masked records, `d` that of its mean given
    the file, `h` that of the influence function on the originals, `a` the covariance of its two
    margins (docs/inference.rst, "The theorem"); or all of these are covariances. About the
    population it is larger by `h`. With p = 1, a permutation of all records, what is released is
    the file. As an estimate of a variance it may be negative.
    """
    if p == 1.0:
        return np.zeros(np.shape(v))
    return np.asarray(v - d if shared_donors else v - h + 2.0 * p * np.asarray(a))
