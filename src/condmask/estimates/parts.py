"""The records of an estimate, in parts to which noise of one law is added."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.engines.counting import Counts
from condmask.engines.variances import Sums
from condmask.law import Law


class Part(NamedTuple):
    """Records of one class, counted.

    Attributes
    ----------
    counts : Counts
        In whole steps of a grid of their own.
    law : Law or None
        The plain law on that grid; None where masking leaves values as they are.
    points : callable
        Points x in these steps, for a bandwidth (None: the step at or below); infinite where all values of
        the part lie on one side.
    values : callable
        Steps in the units of the data.
    smoothed : callable or None
        The sums of T_b at points x for a bandwidth, where values without noise are smoothed by it.
    """

    counts: Counts
    law: Law | None
    points: Callable[[np.ndarray, float | None], np.ndarray]
    values: Callable[[np.ndarray], np.ndarray]
    smoothed: Callable[[np.ndarray, float], Sums] | None = None


def shifted(part: Part, by: float) -> Part:
    """The same records, larger by a constant."""

    def points(x: np.ndarray, width: float | None) -> np.ndarray:
        return part.points(x - by, width)

    def values(steps: np.ndarray) -> np.ndarray:
        return np.asarray(part.values(steps) + by)

    return part._replace(points=points, values=values)
