"""Masking of a part, which tables, files and folders share, and of a table in memory.

Columns of one call are masked together: each record is swapped, with one donor, in all or in none. A swapped
record carries all its values from one donor, so Cov(Z_a, Z_b) = Cov(X_a, X_b) for independent noise. Two
separate releases would leave (1 - p)^2 of it (docs/theory.rst, "Joint masking").
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask.disclosure.audit import DEFAULT
from condmask.disclosure.rails import FEW
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.about import Published
from condmask.missing_codes import is_code, restore_codes
from condmask.releases.chosen import chosen_for, names_alone, settled_for
from condmask.releases.job import Job, Part, job_of, look_at, part_of
from condmask.releases.release import Release
from condmask.scheme import release_key


def mask_part(part: Part, job: Job, number: int = 0) -> dict[str, Any]:
    """The masked columns of a part, in their containers."""
    units, pools = part.made.units, part.made.pools
    key = release_key(job.root_of(number), job.schemes, list(units.values()), pools)
    masked = job.method.masked_columns(job.schemes, units, key, pools, job.workers)
    released = {}
    for (name, column), z in zip(part.columns.items(), masked, strict=True):
        scheme = job.schemes[name]
        if column.kind == "int" and (np.abs(z) > _checks.LARGEST_EXACT_INTEGER).any():
            raise ArgumentError(f"{name} must stay below 2^53 when it is masked: sigma is too large")
        nulls = is_code(column.array, scheme.codes, column.kind) if scheme.missing_as == "null" else None
        released[name] = column.back(restore_codes(scheme, z, column.array, column.kind, name), nulls)
    return released


def mask_table(
    frame: Any,
    schemes: dict[str, Any] | Sequence[str] | str,
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    workers: Workers = 1,
    accept_visible_coins: bool = False,
    max_lift: float = DEFAULT.lift,
    max_risk: Mapping[float, float] | None = None,
    shuffle: bool = False,
) -> Release:
    """Mask several columns of a data frame together: each record is swapped in all of them, or in none.

    Parameters
    ----------
    frame : data frame or dict of columns
        pandas, polars, pyarrow or another that narwhals supports.
    schemes : dict of str to scheme, or names of columns
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks the columns together:
        a swapped record gets all its values from one donor. Its schemes may differ in `sigma`, `noise` and
        `decimals`; `p` and `donors` must be equal. Other schemes mask each column on its own. Where only
        names are given, reverse mapping is chosen that suits the data: missing values are left out, small
        strata merged, and ``release.chosen`` says what was chosen and why.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them instead.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`. With "omit", records with different columns missing form strata of
        their own, since a donor must have the values that the record has; each needs 10 records.
    accept_visible_coins : bool
        Release without an audit and without guard rails, whatever that reveals.
    max_lift, max_risk
        What the release may show, as for `audit`.
    shuffle : bool
        Release the rows in a new order, drawn from the operating system (from `rng`, if there is one), where
        their order tells something of the values. A pandas index of row numbers is made anew.

    Returns
    -------
    Release
        The frame with masked columns, the schemes, and by column the estimates of the original; its `write`
        makes a file. The name of its group is drawn anew each time, also with `rng`.

    Raises
    ------
    ValueError
        If a column is unknown or noted as masked, `p` or `donors` differ, or a stratum is too small.
    ReleaseError
        If the release, with its unmasked columns, would show too much of the originals (`audit`).

    Notes
    -----
    Columns masked together let the analyst estimate the correlation of the originals. In return, swapped
    records show whole original records, without saying whose.

    A column masked twice has wrong estimates. Masked columns are noted in the ``attrs`` of a pandas frame and
    the schema of an Arrow table, and are refused there. Frames of other kinds, and pandas frames read from a
    file, have no such note.

    The guard rails look at the masked columns whole, the attacker who knows every coin at up to 16,384 rows
    from all over the frame, or at as many in whole firms, households and the like.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = pd.DataFrame(x, columns=["income", "bonus"])
    >>> scheme = cm.ConditionalMasking(0.6, 0.5)
    >>> release = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> bool(abs(release["income"].correlation("bonus") - 0.8) < 0.03)
    True

    Named columns get schemes that suit them:

    >>> release = cm.mask_table(frame, ["income"], rng=2)
    >>> release.schemes["income"]
    ConditionalMasking(p=0.6, sigma=0.3, reverse_mapping=True, aggregate_ends=3)
    """
    if isinstance(frame, Release):
        raise ArgumentTypeError(
            "frame must contain the originals, got a Release: masking twice would make estimates wrong"
        )
    frames.same_lengths(frame, "frame")
    chosen = chosen_for(frame, names, strata) if (names := names_alone(schemes)) else {}
    named: Any = {name: choice.scheme for name, choice in chosen.items()} or schemes
    job = job_of(
        named, strata=strata, rng=rng, nan_policy="omit" if chosen else nan_policy, round=round,
        workers=workers, accept_visible_coins=accept_visible_coins, max_lift=max_lift, max_risk=max_risk,
        shuffle=shuffle,
    )  # fmt: skip
    job = settled_for(job, lambda: frame)
    if before := frames.masked_columns(frame):
        raise ArgumentError(
            f"{', '.join(before)} is masked already, as the frame notes: mask all columns in one call, from "
            "the original"
        )
    if job.shuffle:
        frame = frames.reordered(frame, job.order)
    part = part_of(frame, job, clear=True)
    look = look_at(part, job)
    masked = frames.with_columns(frame, mask_part(part, job))
    few = job.audited and look.parts[0] < FEW and not next(iter(job.schemes.values())).reverse_mapping
    return Release(
        Published(look.parts, job.schemes, look.origins(job.schemes)),
        data=frames.with_masked(masked, [*job.schemes]),
        marks=look.marks, few=few, workers=workers, chosen=chosen,
    )  # fmt: skip
