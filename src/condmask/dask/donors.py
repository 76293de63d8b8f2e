"""Values of donors for the swapped records, and noise for the kept ones."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.dask.permutation import passed_on
from condmask.dask.sample_donors import sampled
from condmask.dask.shuffles import TO, column, shuffled


def masked_by_donors(narrow: Sequence[Delayed], job: Job, *, cycle: bool) -> list[Delayed]:
    """The masked columns of each partition, in units of the data."""
    back, alone = passed_on(narrow, job) if cycle else (sampled(narrow, job), None)
    taken = shuffled(back, job.back_types, job.parts)
    return [delayed(partial(_place, job, part))(held, taken[part], alone) for part, held in enumerate(narrow)]


def _place(
    job: Job, part: int, narrow: Narrow, taken: pd.DataFrame, alone: pd.DataFrame | None
) -> list[np.ndarray]:
    draws, masked = job.draws(part), []
    arrived = [taken] if alone is None else [taken, alone[alone[TO] == part]]  # the latter have the last word
    for number, (x, law, name) in enumerate(zip(narrow.units, job.laws, job.names, strict=True)):
        z = np.full(x.size, np.nan)  # in no pool
        for some in arrived:
            z[column(some, "row")] = column(some, name)
        z[draws.kept] = x[draws.kept] + draws.noise(law, number)
        masked.append(law.from_units(z))
    return masked
