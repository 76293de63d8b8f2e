"""The parts of a partition that decide which record gets which value: masked columns and donor pools."""

from typing import NamedTuple

import numpy as np


class Narrow(NamedTuple):
    """The masked columns of one partition, row by row.

    units : list of ndarray of float64
        In whole steps of their grids, or as they are where there is none; NaN for a missing value.
    pool : ndarray of int64, or None
        The number of each row's donor pool, -1 for none; None where all rows of the table are one pool.
    """

    units: list[np.ndarray]
    pool: np.ndarray | None
