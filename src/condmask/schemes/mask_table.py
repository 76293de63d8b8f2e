"""Several sensitive columns masked together: one coin and one donor per record.

A swapped record carries all its values from one donor, so Cov(Z_a, Z_b) = Cov(X_a, X_b) for
independent noise. Two separate releases would leave (1 - p)^2 of it (docs/theory.rst, "Joint masking").
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._randomness import check_rng
from condmask.disclosure.audit_input import AuditInput
from condmask.donor_pools import numbers_of, pools_of
from condmask.missing_codes import is_code, put_back, refuse_reachable, taken_out
from condmask.scheme import release_key, together
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.reverse_mapping import release_of
from condmask.schemes.rounding import asked, rounded, with_shifts
from condmask.strata import Labels, not_masked


class MaskedTable(NamedTuple):
    """A masked table and the schemes to publish with it, by column."""

    data: Any
    schemes: dict[str, ConditionalMasking]


def mask_table(
    frame: Any,
    schemes: dict[str, ConditionalMasking],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    workers: Workers = 1,
    accept_visible_coins: bool = False,
) -> MaskedTable:
    """Mask several columns of a data frame together, with one coin and one donor per record.

    Parameters
    ----------
    frame : data frame
        pandas, polars, pyarrow or another that narwhals supports.
    schemes : dict of str to ConditionalMasking
        The scheme of each column to mask. They may differ in `sigma`, `noise` and `decimals`; `p` and
        `donors` must be equal.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn, or several that are crossed. The schemes may name them
        instead.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`. With "omit", records that miss different columns form
        strata of their own, since a donor must have what the record has; each needs 10 records.
    accept_visible_coins : bool
        Release without an audit and without guard rails, whatever the release shows.

    Returns
    -------
    MaskedTable
        ``(data, schemes)``: the frame with the columns replaced, and the schemes to publish, stamped with
        an identifier of the group, a keyed hash that tells nothing of the key, and the number of values (and
        the name of the strata).

    Raises
    ------
    ValueError
        If a column is unknown, `p` or `donors` differ, or a stratum is too small.
    ReleaseError
        If the release, columns left in clear included, would show which records were swapped (`audit`).

    Notes
    -----
    Columns released together let the analyst estimate the correlation of the originals. Price: swapped
    records show whole original records, without saying which.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = pd.DataFrame(x, columns=["income", "bonus"])
    >>> scheme = cm.ConditionalMasking(0.6, 1.0)
    >>> data, schemes = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> income, bonus = (schemes[name].estimate(data[name]) for name in schemes)
    >>> bool(abs(income.correlation(bonus) - 0.8) < 0.03)
    True
    """
    masking = together(schemes)
    if not issubclass(masking, ConditionalMasking):
        raise TypeError(
            "schemes must be ConditionalMasking, by which columns share coins and donors, got "
            f"{masking.__name__}; its mask takes one column"
        )
    random = check_rng(rng)
    named = ConditionalMasking.within(schemes, strata)
    columns = {name: frames.column(frames.table_column(frame, name), name) for name in schemes}
    within = next(iter(named.values()))
    parts = not_masked(within.strata, schemes)
    labels = [Labels(*frames.codes(frames.labels(frames.table_column(frame, part)))) for part in parts]
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    to_grid = asked(round, schemes)
    kinds, merge = {name: c.kind for name, c in columns.items()}, within.small_strata == "merge"
    known, policy = taken_out(schemes, {name: c.array for name, c in columns.items()}, kinds, policy)
    known, shifts = rounded(schemes, known, kinds) if to_grid else (known, {})
    pools, patterns = pools_of(list(known.values()), labels, policy, list(columns), merge=merge)
    if not accept_visible_coins:
        clear = frames.numeric_columns(frame, {*schemes, *parts})
        ConditionalMasking.check(
            schemes, AuditInput(known, kinds, clear, None if pools is None else pools.pool)
        )
    units = [schemes[name].canonical(x, name, kinds[name]) for name, x in known.items()]
    refuse_reachable(schemes, dict(zip(columns, units, strict=True)), kinds)
    key = release_key(random, named, units, pools)
    threads = _checks.workers(workers)
    release = release_of(list(schemes.values()), units, key, pools=pools, workers=threads)
    released = {}
    for (name, column), z in zip(columns.items(), release.masked(threads), strict=True):
        scheme = schemes[name]
        nulls = is_code(column.array, scheme.missing, column.kind) if scheme.missing_as == "null" else None
        released[name] = column.back(put_back(scheme, z, column.array, column.kind, name), nulls)
    stamped = ConditionalMasking.stamp(named, patterns, key, numbers_of(known))
    return MaskedTable(frames.with_columns(frame, released), with_shifts(stamped, shifts))
