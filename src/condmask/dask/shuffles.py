"""Sending rows of narrow frames to their destinations, by Dask's own shuffle.

Which shuffle, peer to peer or by tasks, is a matter of Dask's configuration. The rows of a destination come
in no particular order; who needs one sorts by what the rows carry.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed

TO = "to"


def frame(to: np.ndarray, columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Rows sent to the partitions of these numbers."""
    return pd.DataFrame({TO: to, **columns}, copy=False)


def shuffled(frames: Sequence[Delayed], types: Mapping[str, Any], partitions: int) -> list[Delayed]:
    """Partitions with the rows that were sent to each, in any order.

    Parameters
    ----------
    frames : sequence of Delayed
        Each a `frame`.
    types : mapping
        The types of their columns.
    partitions : int
        Destinations are 0 .. partitions - 1.
    """
    meta = frame(np.empty(0, np.int32), {name: np.empty(0, kind) for name, kind in types.items()})
    sent = dd.from_delayed(list(frames), meta=meta, verify_meta=False)
    return list(sent.set_index(TO, divisions=list(range(partitions + 1))).to_delayed())


def column(received: pd.DataFrame, name: str) -> np.ndarray:
    """A column of the received rows, as an array."""
    return np.asarray(received[name].to_numpy())
