"""Several sensitive columns of a Dask frame masked together, partition by partition."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import dask.dataframe as dd
import numpy as np
from dask.base import compute, persist
from dask.delayed import delayed
from distributed import Client, futures_of, wait

from condmask import _checks, frames, masked_notes
from condmask._randomness import check_rng, working_key
from condmask.dask import gate, originals, partitions
from condmask.dask.keys import HeldKey, client_of
from condmask.dask.masked_parts import masked_parts
from condmask.dask.originals import Task
from condmask.dask.partitions import Layout
from condmask.dask.release import DaskRelease
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.metadata import Published
from condmask.releases.release import Release, origins_of
from condmask.scheme import MASK, common_method
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.rounding import Shifts, asked
from condmask.strata import not_masked

AT_ONCE = 8  # partitions that pass through the client at a time


def mask_table(
    frame: Any,
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    accept_visible_coins: bool = False,
    client: Client | None = None,
) -> DaskRelease:
    """Mask several columns of a Dask frame together: each record is swapped in all of them, or in none.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The frame. It is read four times and must be the same each time: persist it, or read it from files.
    schemes : dict of str to ConditionalMasking
        The scheme of each column to mask; `p` and `donors` must be equal.
    strata, rng, nan_policy, round, accept_visible_coins
        As for `condmask.mask_table`.
    client : distributed.Client, optional
        The client whose workers mask. By default the default client if there is one, else Dask's scheduler in
        this process. With another client, compute `data` within ``client.as_current()``.

    Returns
    -------
    DaskRelease
        Its `data` is a Dask frame with masked columns and the same partitions. Its `write` makes a folder of
        Parquet files. By column it gives the estimates of the original.

    Raises
    ------
    ValueError, TypeError, ReleaseError
        As for `condmask.mask_table`; then nothing is released.
    RuntimeError
        If a partition changed since it was audited, or a worker has another version of NumPy, randomgen or
        condmask than the client.

    Notes
    -----
    A record gets the same value as on one machine under the same key, whatever the partitions, the workers
    and the number of times a task was retried. The masked columns stay in the memory of the cluster, 8 bytes
    per record and column, until the release and its frame are gone; everything else is read again when
    needed.

    The key is drawn in this process, unless `rng` is given, and sent to the workers apart from the tasks: no
    graph, log or dashboard shows it. Anyone who listens on the network of the cluster may read it, and the
    data too: use TLS. With `rng`, for studies, the masked columns pass through the client once, since the key
    depends on them.

    The audit examines up to 131,072 rows from all over the frame (at least 1,024 of each donor pool).

    Examples
    --------
    >>> import dask.dataframe as dd, numpy as np, pandas as pd
    >>> import condmask as cm, condmask.dask
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = dd.from_pandas(pd.DataFrame(x, columns=["income", "bonus"]), npartitions=4)
    >>> scheme = cm.ConditionalMasking(0.6, 0.5)
    >>> release = cm.dask.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> bool(abs(release["income"].correlation("bonus") - 0.8) < 0.03)
    True
    """
    if isinstance(frame, Release):
        raise ArgumentTypeError(
            "frame must contain the originals, got a Release: masking twice would make estimates wrong"
        )
    originals.check_frame(frame)
    if not issubclass(common_method(schemes), ConditionalMasking):
        raise ArgumentTypeError(
            "schemes must be ConditionalMasking for a Dask frame, got "
            f"{type(next(iter(schemes.values()))).__name__}; condmask.mask_table masks with others, in memory"
        )
    meta = frame._meta
    before = masked_notes.masked_columns(meta)
    for name in schemes:
        frames.table_column(meta, name)
        if name in before:
            raise ArgumentError(f"{name} is masked already, as the frame notes: mask the original instead")
    audited = not _checks.truth(accept_visible_coins, "accept_visible_coins")
    random, policy = check_rng(rng), _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    named = ConditionalMasking.within(schemes, strata)
    within = not_masked(next(iter(named.values())).strata, schemes)
    for name in within:
        frames.table_column(meta, name)
    task = Task(named, within, asked(round, schemes))
    workers = client_of(client)
    with nullcontext() if workers is None else workers.as_current():
        parts = frame.to_delayed()
        whole = partitions.looked_at(parts, task, policy)
        shifts = _shifts(whole, task)
        gate.check(parts, whole, task, audited=audited)
        narrow = [
            delayed(originals.narrow)(part, task, whole.pools, look.digest, number)
            for number, (part, look) in enumerate(zip(parts, whole.looks, strict=True))
        ]
        held = HeldKey(working_key(random, MASK, named, lambda: _digests(narrow, whole)), workers)
        masked = _persisted(
            masked_parts(narrow, whole.starts, list(named.values()), held.name, whole.sizes), workers
        )
        whole = whole._replace(dtypes=_dtypes(frame._meta, parts, masked, whole, task))
        data = _replaced(frame, parts, masked, whole, task, [*before, *schemes])
    published = Published(whole.n, named, origins_of(named, whole.patterns, shifts))
    return DaskRelease(
        published, data=data, starts=whole.starts, original=frame if random is None else None, held=held,
        client=workers, audited=audited,
    )  # fmt: skip


def _shifts(whole: Layout, task: Task) -> Shifts:
    shifts: Shifts = {}
    for name, scheme in task.schemes.items():
        if task.round:
            shifts |= whole.moved(name).shift(name, scheme.grid.step)
    return shifts


def _digests(narrow: Sequence[Any], whole: Layout) -> list[bytes]:
    """The SHA-256 of each column, and of the first row of each record's pool, as one machine has them."""
    digests: list[Any] = []
    first = {-1: -1}
    for start in range(0, len(narrow), AT_ONCE):
        some = compute(*narrow[start : start + AT_ONCE])
        for row, (units, pool) in zip(whole.starts[start:], some, strict=False):
            digests = digests or [hashlib.sha256() for _ in range(len(units) + (pool is not None))]
            columns = list(units)
            if pool is not None:
                own, place, number = np.unique(pool, return_index=True, return_inverse=True)
                leaders = [
                    first.setdefault(k, int(row) + at)
                    for k, at in zip(own.tolist(), place.tolist(), strict=True)
                ]
                columns.append(np.array(leaders, dtype=np.int64)[number])
            for digest, column in zip(digests, columns, strict=True):
                digest.update(np.ascontiguousarray(column).data)
    return [digest.digest() for digest in digests]


def _persisted(masked: Sequence[Any], client: Client | None) -> list[Any]:
    """Masked columns in the memory of the cluster; what failed is raised here."""
    held: list[Any] = list(persist(*masked))
    if client is not None:
        futures = futures_of(held)
        wait(futures)
        for future in futures:
            if future.status == "error":
                raise future.exception()
    return held


def _dtypes(
    meta: Any, parts: Sequence[Any], masked: Sequence[Any], whole: Layout, task: Task
) -> dict[str, Any]:
    """The types of the columns as they are released: decimals only where all masked values fit theirs."""
    dtypes = dict(whole.dtypes)
    for number, name in enumerate(task.schemes):
        if meta[name].dtype.kind != "O":  # of decimals and objects
            continue
        own = [
            delayed(originals.dtype_of_masked)(part, z[number], task, name)
            for part, z in zip(parts, masked, strict=True)
        ]
        dtypes[name] = next((dtype for dtype in compute(*own) if _is_float(dtype)), dtypes[name])
    return dtypes


def _is_float(dtype: Any) -> bool:
    """Whether a type is one of numbers, and not of decimals or objects."""
    return getattr(dtype, "kind", "O") == "f"


def _replaced(
    frame: Any, parts: Sequence[Any], masked: Sequence[Any], whole: Layout, task: Task, noted: list[str]
) -> Any:
    """The frame with masked columns in place of the originals."""
    replaced = [
        delayed(replace)(part, z, task, whole.dtypes, look.digest, number, noted)
        for number, (part, z, look) in enumerate(zip(parts, masked, whole.looks, strict=True))
    ]
    empty = frame._meta.iloc[:0].copy()
    meta = masked_notes.with_masked(empty.astype({name: whole.dtypes[name] for name in task.schemes}), noted)
    divisions = frame.divisions if frame.known_divisions else None
    return dd.from_delayed(replaced, meta=meta, divisions=divisions, prefix="released", verify_meta=False)


def replace(
    part: Any,
    masked: Sequence[np.ndarray],
    task: Task,
    dtypes: Mapping[str, Any],
    digest: bytes,
    number: int,
    noted: list[str],
) -> Any:
    """A partition with masked columns in place of the originals."""
    own = originals.same(part, task, digest, number)
    columns = originals.released(own, dict(zip(task.schemes, masked, strict=True)), task)
    columns = {name: z.astype(dtypes[name]) for name, z in columns.items()}
    return masked_notes.with_masked(frames.with_columns(part, columns), noted)
