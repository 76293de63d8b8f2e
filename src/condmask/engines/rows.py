"""The rows of each stratum, by counting."""

import numpy as np

from condmask.kernels import sorting
from condmask.strata import index_type


def by_stratum(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows by stratum, in each in their order, and how many each has; codes below 0 are none."""
    size = np.zeros(int(code.max(initial=-1)) + 1, dtype=np.int64)
    sorting.count(code, size)
    order = np.empty(int(size.sum()), dtype=index_type(code.size))  # a file may have many rows
    sorting.sort(code, np.cumsum(size) - size, order)
    return order, size


def rows_of(code: np.ndarray) -> dict[int, np.ndarray]:
    """The rows of each stratum that has any."""
    order, size = by_stratum(code)
    parts = np.split(order, np.cumsum(size)[:-1])
    return {k: rows for k, rows in enumerate(parts) if rows.size}
