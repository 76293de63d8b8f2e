"""The audit of coins: what an attacker can tell of them before anything is released, and whatever the key."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from condmask import frames
from condmask.disclosure import joint_attack, swap_attack
from condmask.disclosure.audit_input import AuditInput
from condmask.disclosure.audit_result import FEWEST, Audit
from condmask.disclosure.remedies import mended
from condmask.disclosure.review import is_clear, review
from condmask.disclosure.swap_attack import FULL
from condmask.donor_pools import donor_pools, present_values
from condmask.grids import check_fits, check_released
from condmask.missing_codes import drop_codes, released_codes, without_codes
from condmask.scheme import Scheme, common_method
from condmask.strata import labels_of, not_masked


def audit(data: Any, scheme: Any, *, strata: Any = None) -> Audit:
    """What an attacker could tell of the coins of a release.

    Parameters
    ----------
    data : array_like or series of shape (n,), data frame, or dict of columns
        A column with one scheme, or a table. Missing values are left out.
    scheme : ConditionalMasking, or dict of str to ConditionalMasking
        The scheme of the column; or those of the columns of the table that are masked together, whose other
        numeric columns are left in clear.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata; those of a table are found there.

    Returns
    -------
    Audit
        Shares of coins guessed and of records known for certain, the causes, and where coins are visible
        schemes that hide them: reverse mapping, and a coarser step. ``print`` shows all side by side.

    Raises
    ------
    ValueError
        If values are infinite or too far from 0 for the scheme, or a column is unknown.
    TypeError
        If a scheme swaps no records.

    See Also
    --------
    ConditionalMasking.mask : refuses a release whose coins are visible.

    Notes
    -----
    A Bayes attacker who knows p, the noise and the grid, and learned the law F of the data from other
    records, guesses "swapped" where p F(z) >= (1 - p) (F * noise)(z); with ``donors="sample"`` the number of
    records that show z counts as well (docs/coins.rst). The file is split into folds; the values of each are
    attacked with the law of the rest. Nothing is drawn, so the answer is always the same.
    Data are audited as they are rounded to the grid. Columns left in clear count in identities, and are
    compared one by one; what several of them together say of a masked column is not looked at.

    By reverse mapping a column alone tells nothing, and is guessed blindly. The guard rails of masking are
    asked, and a release that they refuse is visible. Columns masked together are attacked, and those in clear
    beside a masked one, on 32,768 rows.

    Beyond 131,072 rows so many evenly spaced ones are looked at. Cost: O(n log n), some .1 s a column,
    several times that where a scheme is proposed.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> incomes = np.random.default_rng(1).lognormal(8, 0.5, 5_000).round(-1)
    >>> found = cm.audit(incomes, cm.ConditionalMasking(0.6, 500.0, decimals=0))
    >>> found.visible, found.causes[0].name, found.remedy
    (True, 'grid', 'pass reverse_mapping=True, scale="log", sigma=0.17; or pass step=10')
    """
    given = _data(data, scheme, strata)
    if isinstance(scheme, Mapping):
        return _full(given, dict(scheme))
    return _single(_full(given, {next(iter(given.values)): scheme}))


def check(data: AuditInput, schemes: dict[str, Any]) -> Audit | None:
    """The audit of columns to be masked; None where a brief look shows that all is well, or n is small."""
    if data.n < FEWEST or is_clear(data, schemes):
        return None
    return _full(data, schemes)


def posterior(x: Any, z: Any, scheme: Any, *, strata: Any = None) -> np.ndarray:
    """The chance that each record was swapped, as an attacker sees it who knows the file but for its fold.

    By reverse mapping that of every record is p, whatever its value (docs/reverse_mapping.rst): who knows
    other columns may know more.

    Parameters
    ----------
    x, z : array_like of shape (n,)
        Original and released values.
    scheme : ConditionalMasking
        Of the release.
    strata : array_like of shape (n,), optional
        Strata within which donors were drawn.

    Returns
    -------
    ndarray of shape (n,)
        NaN where a value is missing.
    """
    given = _data(x, scheme, strata)
    ((name, values),) = given.values.items()
    column, law = frames.column(z, "z"), scheme.law
    released = without_codes(column.array, released_codes(scheme), column.kind)
    if scheme.reverse_mapping:  # coins and released column are independent
        return np.where(np.isnan(released), np.nan, scheme.p)
    effort = FULL._replace(rows=values.size)
    rows = swap_attack.rows_of(values.size, effort)
    check_fits(values, law, name, given.kinds[name])
    laid = swap_attack.lay_out(values, given.kinds[name], law, given.strata, rows, effort)
    there = np.flatnonzero(~np.isnan(released))
    shown = law.to_units(released)
    check_released(shown, law, "z")
    own = None if given.strata is None else given.strata[there]
    found = np.full(released.size, np.nan)
    ratios = laid.ratios(shown[there], own, rows.fold[there], shared=scheme.shared_donors)
    found[there] = joint_attack.chances(law.p, ratios)
    return found


def _full(data: AuditInput, schemes: dict[str, Any]) -> Audit:
    found = review(data, schemes, FULL)
    mapped = next(iter(schemes.values())).reverse_mapping  # whose causes have the remedies
    return mended(found, data, schemes) if found.visible and not mapped else found


def _single(found: Audit) -> Audit:
    """The audit of one column, whose scheme needs no name."""
    (scheme,) = found.scheme.values()
    proposals = []
    for each in found.proposals:
        (own,) = each.scheme.values()
        proposals.append(each._replace(scheme=own, audit=_single(each.audit)))
    return replace(found, scheme=scheme, proposals=tuple(proposals))


def _data(data: Any, scheme: Any, strata: Any) -> AuditInput:
    """Columns from their containers, checked."""
    schemes = dict(scheme) if isinstance(scheme, Mapping) else {"x": scheme}
    for each in schemes.values():
        law = each.law if isinstance(each, Scheme) else None
        if not (isinstance(each, Scheme) and each.reverse_mapping) and (law is None or law.p == 0.0):
            raise TypeError(f"scheme must be one that swaps records, ConditionalMasking, got {each!r}")
    names = next(iter(schemes.values())).strata
    clear: dict[str, np.ndarray] = {}
    if isinstance(scheme, Mapping):
        common_method(scheme)
        columns = {name: frames.column(frames.table_column(data, name), name) for name in scheme}
        parts = not_masked(names, schemes)
        clear = frames.numeric_columns(data, {*schemes, *parts})
        if strata is None and parts:
            strata = {part: frames.table_column(data, part) for part in parts}
            strata = strata if len(parts) > 1 else strata[parts[0]]
    else:
        column = frames.column(data, "x")
        columns = {column.name or "x": column}
    n = next(iter(columns.values())).array.size
    labels = labels_of(strata, names, n, "x", "audit")
    kinds = {name: column.kind for name, column in columns.items()}
    own = dict(zip(columns, schemes.values(), strict=True))
    values, _ = drop_codes(own, {name: column.array for name, column in columns.items()}, kinds, "omit")
    present, patterns = present_values(list(values.values()))
    code = donor_pools(next(iter(schemes.values())), labels, patterns, present)
    return AuditInput(values, kinds, clear, None if code is None else np.where(present, code, -1))
