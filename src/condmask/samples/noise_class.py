"""The records of an estimate, counted in steps of a grid."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.engines.counting import ValueCounts
from condmask.law import Law


class NoiseClass(NamedTuple):
    """What standard errors are computed from.

    Attributes
    ----------
    counts : ValueCounts
        In whole steps of a grid of their own.
    law : Law or None
        The law on that grid; None where masking leaves values as they are.
    points : callable
        Points x in these steps, for a bandwidth (None: the step at or below).
    values : callable
        Steps in the units of the data.
    smoothed : bool
        Whether a bandwidth smooths values without noise.
    """

    counts: ValueCounts
    law: Law | None
    points: Callable[[np.ndarray, float | None], np.ndarray]
    values: Callable[[np.ndarray], np.ndarray]
    smoothed: bool = False
