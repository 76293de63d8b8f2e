"""What quantiles, rearrangement and intervals need of an estimated distribution function T.

`T_1` (Theorem 2.2) and `T_b` (Theorem 2.3) both have it.
"""

from typing import Protocol

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Layer
from condmask.distribution.symbol import Masking


class Curve(Protocol):
    """An estimated distribution function T = mean of K over the records.

    n T is a step of height `jump` at each record, and a smooth part that is known at the nodes of
    `line`.

    Attributes
    ----------
    counted : Counted
        The masked values.
    masking : Masking
    n : int
        The number of records.
    line : Layer
        Where the nodes of the smooth part are.
    jump : float
        The height of K's step at 0.
    max_weight : float
        Upper bound on K; 1 - max_weight is the lower one.
    bend : float
        Upper bound on the absolute second derivative of the smooth part of one record, per node.
    shift : float
        How far to the right of a point the smooth part is read, in the units of the values.
    whole : bool
        Whether points are whole steps of a grid.
    sums : ndarray of shape (2, v or 0)
        Under Laplace noise `kernels.exponentials.weighted_sums` at the v distinct values, of which
        the smooth part is made between them.
    decay : float
        The distance over which the exponentials of `sums` fall to 1/e, in the units of the values.
    """

    counted: Counted
    masking: Masking
    n: int
    line: Layer
    jump: float
    max_weight: float
    bend: float
    shift: float
    whole: bool
    sums: np.ndarray
    decay: float

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return T at points in the units of the values, of the same shape (points,)."""
        ...

    def smooth(self, k: int) -> np.ndarray:
        """Return the smooth part of n T at the nodes of stretch k of the line."""
        ...
