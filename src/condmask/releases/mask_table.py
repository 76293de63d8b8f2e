"""Several sensitive columns masked together: each record is swapped, with one donor, in all or in none.

A swapped record carries all its values from one donor, so Cov(Z_a, Z_b) = Cov(X_a, X_b) for
independent noise. Two separate releases would leave (1 - p)^2 of it (docs/theory.rst, "Joint masking").
"""

from collections.abc import Sequence
from typing import Any

from condmask import _checks, frames, masked_notes
from condmask._blocks import Workers
from condmask._randomness import check_rng
from condmask.clear_columns import clear_of_frame, columns_in_clear
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.frame_columns import column_of_frame
from condmask.files.metadata import Published
from condmask.frames import Labels
from condmask.missing_codes import is_code, restore_codes
from condmask.releases.record_words import originals_of
from condmask.releases.release import Release, origins_of
from condmask.scheme import common_method
from condmask.schemes.prepare import prepare
from condmask.schemes.rounding import asked
from condmask.strata import not_masked


def mask_table(
    frame: Any,
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    workers: Workers = 1,
    accept_visible_coins: bool = False,
) -> Release:
    """Mask several columns of a data frame together: each record is swapped in all of them, or in none.

    Parameters
    ----------
    frame : data frame or dict of columns
        pandas, polars, pyarrow or another that narwhals supports.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks the columns together:
        a swapped record gets all its values from one donor. Its schemes may differ in `sigma`, `noise` and
        `decimals`; `p` and `donors` must be equal. Other schemes mask each column on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them instead.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`. With "omit", records with different columns missing form strata of
        their own, since a donor must have the values that the record has; each needs 10 records.
    accept_visible_coins : bool
        Release without an audit and without guard rails, even if that shows which records were swapped.

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
        If the release, with its unmasked columns, would show which records were swapped (`audit`).

    Notes
    -----
    Columns masked together let the analyst estimate the correlation of the originals. In return, swapped
    records show whole original records, without saying whose.

    A column masked twice has wrong estimates. Masked columns are noted in the ``attrs`` of a pandas frame and
    the schema of an Arrow table, and are refused there. Frames of other kinds, and pandas frames read from a
    file, have no such note.

    The audit examines the masked columns whole, and all others in up to 32,768 rows from all over the frame,
    in stretches of 16. Columns that identify firms, households and the like are examined in all rows of some.

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
    """
    if isinstance(frame, Release):
        raise ArgumentTypeError(
            "frame must contain the originals, got a Release: masking twice would make estimates wrong"
        )
    masking = common_method(schemes)
    frames.same_lengths(frame, "frame")
    before = masked_notes.masked_columns(frame)
    for name in schemes:
        if name in before:
            raise ArgumentError(f"{name} is masked already, as the frame notes: mask the original instead")
    audited = not _checks.truth(accept_visible_coins, "accept_visible_coins")
    random = check_rng(rng)
    named = masking.within(schemes, strata)
    columns = {name: column_of_frame(frame, name) for name in schemes}
    within = next(iter(named.values()))
    parts = not_masked(within.strata, schemes)
    labels = [
        Labels(*frames.codes(frames.labels(frames.table_column(frame, part), part), part)) for part in parts
    ]
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    to_grid, threads = asked(round, schemes), _checks.workers(workers)
    kinds = {name: column.kind for name, column in columns.items()}
    clear = None
    if audited:
        whole = frames.with_index(frame)
        beside = columns_in_clear(frames.column_names(whole), {*schemes, *parts})
        clear = clear_of_frame(whole, beside, [column.array for column in columns.values()])
    arrays = {name: column.array for name, column in columns.items()}
    originals = originals_of(arrays, kinds, schemes) if random is None else None
    made = prepare(
        schemes, arrays, kinds, published=named, labels=labels, clear=clear, rng=random,
        nan_policy=policy, to_grid=to_grid, audited=audited,
    )  # fmt: skip
    masked = masking.masked_columns(schemes, made.units, made.key, made.pools, threads)
    released = {}
    for (name, column), z in zip(columns.items(), masked, strict=True):
        scheme = schemes[name]
        nulls = is_code(column.array, scheme.codes, column.kind) if scheme.missing_as == "null" else None
        released[name] = column.back(restore_codes(scheme, z, column.array, column.kind, name), nulls)
    published = Published(masked[0].size, named, origins_of(named, made.patterns, made.shifts))
    data = masked_notes.with_masked(frames.with_columns(frame, released), [*before, *schemes])
    return Release(published, data=data, originals=originals, audited=audited)
