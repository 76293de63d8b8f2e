"""The audit of a Dask frame before it is masked, on rows from all over it."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from condmask import _checks, frames
from condmask.dask import gate, partitions
from condmask.dask.keys import client_of
from condmask.dask.originals import Task, check_frame
from condmask.disclosure.audit import audit_table, check_schemes
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.boosting import check_available
from condmask.scheme import common_method
from condmask.strata import not_masked


def audit(frame: Any, schemes: Mapping[str, Any], *, thorough: bool = False, client: Any = None) -> Audit:
    """How well an attacker could tell which records of a release of a Dask frame were swapped.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    schemes : dict of str to ConditionalMasking
        The schemes of the columns that are masked together; the others stay unmasked.
    thorough : bool
        As for `condmask.audit`.
    client : distributed.Client, optional
        The client whose workers read the frame; by default the default client, if there is one.

    Returns
    -------
    Audit
        The result of `condmask.audit` for up to 131,072 rows from all over the frame, in stretches of 16 (at
        least 1,024 of each donor pool), which are brought into this process. A frame with no more rows has
        the same result as on one machine.

    Raises
    ------
    ValueError, TypeError
        As for `condmask.audit`.

    Examples
    --------
    >>> import dask.dataframe as dd, numpy as np, pandas as pd
    >>> import condmask as cm, condmask.dask
    >>> incomes = np.random.default_rng(1).lognormal(8, 0.5, 5_000).round(-1)
    >>> frame = dd.from_pandas(pd.DataFrame({"income": incomes}), npartitions=3)
    >>> cm.dask.audit(frame, {"income": cm.ConditionalMasking(0.6, 500.0, decimals=0)}).visible
    True
    """
    check_frame(frame)
    if _checks.truth(thorough, "thorough"):
        check_available()
    common_method(schemes)
    check_schemes(dict(schemes))
    for name in schemes:
        frames.table_column(frame._meta, name)
    within = not_masked(next(iter(schemes.values())).strata, schemes)
    task = Task(dict(schemes), within, False)
    workers = client_of(client)
    with nullcontext() if workers is None else workers.as_current():
        parts = frame.to_delayed()
        table = gate.audit_input(parts, partitions.looked_at(parts, task, "omit"), task, clear=True)
    return audit_table(table, task.schemes, thorough=thorough)
