"""Masking and estimation of tables that Dask holds, on one machine or many: ``import condmask.dask``.

A record gets the same value whatever the partitions, the workers, and how often a task was tried again: it
depends on the key, the number of the row, and the data.
"""

from condmask._optional import optional

with optional("condmask.dask", "dask"):
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401

from condmask.dask.audit import audit
from condmask.dask.counting import counts
from condmask.dask.estimate import estimate
from condmask.dask.masking import mask_table
from condmask.dask.read import read_release
from condmask.dask.simulate import simulate

__all__ = ["audit", "counts", "estimate", "mask_table", "read_release", "simulate"]
