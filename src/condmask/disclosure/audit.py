"""The audit: how well one could tell which records were swapped, before anything is released."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.audit_input import AuditInput
from condmask.clear_columns import Clear, clear_of_frame, columns_in_clear
from condmask.disclosure import boosting, swap_attack
from condmask.disclosure.audit_result import FEWEST, Audit
from condmask.disclosure.coin_classes import chances
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.release_audit import audit_columns, nothing_visible
from condmask.disclosure.remedies import with_proposals
from condmask.disclosure.swap_attack import FULL
from condmask.disclosure.trained_attack import TrainedFile, trained_file, with_trained
from condmask.errors import ArgumentTypeError
from condmask.frames import Labels
from condmask.grid import check_fits, check_released
from condmask.missing_codes import drop_codes, released_codes, without_codes
from condmask.scheme import Scheme, common_method
from condmask.strata import donor_pools, labels_of, not_masked, of_present, present_values

LOG = logging.getLogger(__name__)


def audit(data: Any, scheme: Any, *, strata: Any = None, thorough: bool = False) -> Audit:
    """How well an attacker could tell which records of a release were swapped.

    Parameters
    ----------
    data : array_like or series of shape (n,), data frame, or dict of columns
        A column with one scheme, or a table. Missing values are left out.
    scheme : ConditionalMasking, or dict of str to ConditionalMasking
        The scheme of the column; for a table, the schemes of the columns that are masked together. The other
        columns of the table are left in clear.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata; those of a table are found there.
    thorough : bool
        Whether to train an attacker as well, on releases drawn from half of the file, and try it on the other
        half. This needs scikit-learn (``pip install 'condmask[thorough]'``).

    Returns
    -------
    Audit
        The shares of records whose swap status (swapped or kept) is guessed right or known for certain, and
        the causes. If swapped records are visible, also schemes that hide them: reverse mapping, and a
        coarser step. ``print`` gives the verdict and shows all side by side.

    Raises
    ------
    ValueError
        If values are infinite or too far from 0 for the scheme, or a column is unknown.
    TypeError
        If a scheme swaps no records.
    ModuleNotFoundError
        If `thorough` is True and scikit-learn is not installed.

    See Also
    --------
    ConditionalMasking.mask : refuses a release whose swapped records are visible.

    Notes
    -----
    A Bayes attacker who knows p, the noise and the grid, and has learned the law F of the data from other
    records, guesses "swapped" if p F(z) >= (1 - p) (F * noise)(z). With ``donors="sample"`` the number of
    records that show z counts as well (docs/coins.rst). The file is split into folds, and the values of each
    are attacked with the law of the rest. Nothing is drawn, so the answer is always the same.
    Data are audited as they are rounded to the grid. The columns of a table are attacked together, in up to
    32,768 rows from all over it, the same as when it is masked. The attacks use masked columns, columns left
    in clear, neighbouring rows, and records with the same firm or household. The figures are those of the
    best of these attacks, on rows other than those it was learned from and chosen by.

    With reverse mapping, a column alone shows nothing and is guessed blindly. The guard rails of masking are
    checked, and a release that they refuse counts as visible.

    The trained attacker sees all columns of a release at once: masked values and their digits, columns in
    clear, relations, the other records of a unit, the order of the rows (docs/coins.rst). Each figure is the
    greater one of both attackers.

    Of more than 131,072 rows so many evenly spaced ones are examined. Cost: O(n log n), about .1 s a column,
    several times that if a scheme is proposed, and some seconds more if an attacker is trained.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> incomes = np.random.default_rng(1).lognormal(8, 0.5, 5_000).round(-1)
    >>> audit = cm.audit(incomes, cm.ConditionalMasking(0.6, 500.0, decimals=0))
    >>> audit.visible, audit.causes[0].name, audit.remedy
    (True, 'grid', 'pass reverse_mapping=True, scale="log", sigma=0.17; or pass step=10')
    """
    if _checks.truth(thorough, "thorough"):
        boosting.check_available()
    table = input_of(data, scheme, strata)
    if isinstance(scheme, Mapping):
        return audit_table(table, dict(scheme), thorough=thorough)
    return _single(audit_table(table, {next(iter(table.values)): scheme}, thorough=thorough))


def check(data: AuditInput, schemes: dict[str, Any]) -> Audit | None:
    """The audit of columns to be masked; None if a brief look shows nothing, or if records are few."""
    if data.n < FEWEST or nothing_visible(data, schemes):
        return None
    return audit_table(data, schemes)


def posterior(x: Any, z: Any, scheme: Any, *, strata: Any = None) -> np.ndarray:
    """The chance that each record was swapped, to an attacker who knows the file except the record's fold.

    With reverse mapping the chance is p for every record, whatever its value (docs/reverse_mapping.rst); an
    attacker who knows other columns may know more.

    Parameters
    ----------
    x, z : array_like of shape (n,)
        Original and released values.
    scheme : ConditionalMasking
        The scheme of the release.
    strata : array_like of shape (n,), optional
        Strata within which donors were drawn.

    Returns
    -------
    ndarray of shape (n,)
        NaN for missing values.
    """
    table = input_of(x, scheme, strata)
    ((name, values),) = table.values.items()
    column, law = frames.column(z, "z"), scheme.law
    released = without_codes(column.array, released_codes(scheme), column.kind)
    if scheme.reverse_mapping:  # coins and released column are independent
        return np.where(np.isnan(released), np.nan, scheme.p)
    rows = folded_rows(values.size, values.size)
    check_fits(values, law, name, table.kinds[name])
    attack = swap_attack.prepare(
        values, table.kinds[name], law, table.strata, rows, FULL._replace(rows=values.size)
    )
    present = np.flatnonzero(~np.isnan(released))
    units = law.to_units(released)
    check_released(units, law, "z")
    strata = None if table.strata is None else table.strata[present]
    ratios = attack.log_ratios(units[present], strata, rows.fold[present], shared=scheme.shared_donors)
    chance = np.full(released.size, np.nan)
    chance[present] = chances(law.p, ratios)
    return chance


def audit_table(data: AuditInput, schemes: dict[str, Any], *, thorough: bool = False) -> Audit:
    """The audit of columns to be masked, with proposals if swapped records are visible."""
    LOG.info("auditing %d records, columns to mask: %d, in clear: %d", data.n, len(schemes), len(data.clear))
    audit = audit_columns(data, schemes, FULL)
    file = trained_file(data) if thorough and audit.n >= FEWEST else None
    if file is not None:
        audit = with_trained(audit, file, schemes)
    remedied = next(iter(schemes.values())).reverse_mapping or audit.computed  # by the causes themselves
    if not audit.visible or remedied:
        return audit
    audit = with_proposals(audit, data, schemes)
    return audit if file is None else _attacked_proposals(audit, file)


def _attacked_proposals(audit: Audit, file: TrainedFile) -> Audit:
    """The audit with the proposals that hold against a trained attacker, or all if none does."""
    attacked = tuple(
        proposal._replace(audit=with_trained(proposal.audit, file, proposal.scheme))
        for proposal in audit.proposals
    )
    return replace(audit, proposals=tuple(p for p in attacked if p.hides) or attacked)


def _single(audit: Audit) -> Audit:
    """The audit of one column, whose scheme needs no name."""
    (scheme,) = audit.scheme.values()
    proposals = []
    for proposal in audit.proposals:
        (proposed,) = proposal.scheme.values()
        proposals.append(proposal._replace(scheme=proposed, audit=_single(proposal.audit)))
    return replace(audit, scheme=scheme, proposals=tuple(proposals))


def input_of(data: Any, scheme: Any, strata: Any = None) -> AuditInput:
    """Columns from their containers, checked."""
    schemes = dict(scheme) if isinstance(scheme, Mapping) else {"x": scheme}
    check_schemes(schemes)
    names = next(iter(schemes.values())).strata
    clear: Clear | None = None
    if isinstance(scheme, Mapping):
        frames.same_lengths(data, "data")
        columns = {name: frames.column(frames.table_column(data, name), name) for name in scheme}
        parts = not_masked(names, schemes)
        whole = frames.with_index(data)
        beside = columns_in_clear(frames.column_names(whole), {*schemes, *parts})
        clear = clear_of_frame(whole, beside, [column.array for column in columns.values()])
        if strata is None and parts:
            strata = {part: frames.table_column(data, part) for part in parts}
            strata = strata if len(parts) > 1 else strata[parts[0]]
    else:
        column = frames.column(data, "x")
        columns = {column.name or "x": column}
    n = next(iter(columns.values())).array.size
    labels = labels_of(strata, names, n, "x", "audit")
    kinds = {name: column.kind for name, column in columns.items()}
    by_column = dict(zip(columns, schemes.values(), strict=True))
    return table_of(by_column, {name: column.array for name, column in columns.items()}, kinds, labels, clear)


def column_beside(x: Any, scheme: Any, strata: Any, others: Any) -> AuditInput:
    """A column and the other columns known, from their containers, checked."""
    data = input_of(x, scheme, strata)
    if others is None:
        return data
    beside = frames.design(others, "others")
    return data._replace(**clear_of_frame(beside, list(beside), list(data.values.values()))._asdict())


def check_schemes(schemes: dict[str, Any]) -> None:
    """Refuse schemes that swap no records, or that cannot be combined in one table."""
    for method in schemes.values():
        law = method.law if isinstance(method, Scheme) else None
        if not (isinstance(method, Scheme) and method.reverse_mapping) and (law is None or law.p == 0.0):
            raise ArgumentTypeError(
                f"scheme must be one that swaps records, ConditionalMasking, got {_checks.shown(method)}"
            )
    common_method(schemes)


def table_of(
    schemes: Mapping[str, Any],
    columns: dict[str, np.ndarray],
    kinds: dict[str, str],
    labels: Sequence[Labels],
    clear: Clear | None,
) -> AuditInput:
    """Columns to be masked as an audit sees them, whether values are missing or not."""
    values, _ = drop_codes(schemes, columns, kinds, "omit")
    present, patterns = present_values(list(values.values()))
    code = donor_pools(next(iter(schemes.values())), labels, patterns, present)
    table = AuditInput(values, kinds, {}, None if code is None else of_present(code, present))
    return table if clear is None else table._replace(**clear._asdict())
