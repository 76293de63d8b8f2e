"""Audit a release: measure what an attacker who knows every swap status guesses, and judge it."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._digits import finite, line, preformatted
from condmask.disclosure.column.rare_values import open_ends, with_ends
from condmask.disclosure.figures import Figures
from condmask.disclosure.identity import SingledOut, singled_out
from condmask.disclosure.limits import Case, audit_figures_and_findings
from condmask.disclosure.policy import (
    CODES,
    Finding,
    Limits,
    accepted_codes,
    with_acceptance,
)
from condmask.disclosure.rails import (
    MIN_FILE_RECORDS,
    findings_on_values,
    findings_without_simulation,
)
from condmask.disclosure.table.attack import attack_on
from condmask.disclosure.unmasked import Table, clear_of
from condmask.errors import ArgumentTypeError, Refusals, ReleaseError, ReleaseWarning, warn
from condmask.grid import check_fits
from condmask.marks import refuse_marked
from condmask.masking.scheme import together
from condmask.own_grid import on_own_grids
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.strata import donor_pools, labels_of, not_masked, present_values
from condmask.suspected_codes import drop_codes

LOG = logging.getLogger(__name__)
DEFAULT_LIMITS = Limits()
CELL_WIDTH = 18
HEAD_WIDTH = 20


@dataclass(frozen=True)
class Audit:
    """The risk of a release, and the reasons for refusing it.

    Attributes
    ----------
    n : int
        Number of records.
    figures : dict of str to Figures
        By column the shares of records whose value is guessed to within a tenth of the spread, on
        the scale on which noise is added: by the best ``constant``; from the columns in ``clear``,
        without any release; and by the ``worst`` attacker, who has these and the release, and
        knows which records were swapped.
    findings : tuple of Finding
        All findings, each with its column, text and remedy, and whether the release is refused for
        it.
    schemes : dict of str to scheme
    limits : Limits
        Up to which figures a release passes.
    singled_out : SingledOut or None
        The records that up to three columns in clear single out; None for a column alone.

    See Also
    --------
    audit : makes one.
    risk : the same attackers, and others, at any distance.
    """

    n: int
    figures: dict[str, Figures]
    findings: tuple[Finding, ...]
    schemes: dict[str, Any]
    limits: Limits
    singled_out: SingledOut | None = None

    @property
    def refused(self) -> bool:
        """Return whether masking refuses the release."""
        return any(finding.refuses for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit in terms of JSON."""
        return {
            "n": self.n,
            "refused": self.refused,
            "figures": finite({name: row._asdict() for name, row in self.figures.items()}),
            "findings": [finding.to_dict() for finding in self.findings],
            "singled_out": None if self.singled_out is None else self.singled_out._asdict(),
            "limits": {"clear": self.limits.clear, "lift": self.limits.lift},
            "schemes": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
        }

    def _repr_html_(self) -> str:
        """Return the text for notebooks."""
        return preformatted(str(self))

    def __str__(self) -> str:
        verdict = (
            "REFUSED" if self.refused else "PASSES, with a warning" if self.findings else "PASSES"
        )
        lines = [f"Audit of {self.n:,} records: {verdict}"]
        cells = {"": ["by a constant", "columns in clear", "all coins known"]}
        for name, row in self.figures.items():
            cells[name] = [f"{share:.1%}" for share in (row.constant, row.clear, row.worst)]
        if self.figures:
            lines += ["", "Share of values guessed to within a tenth of their spread"]
            lines += [
                line(name, row, head=HEAD_WIDTH, width=CELL_WIDTH) for name, row in cells.items()
            ]
        if self.singled_out is not None:
            lines += ["", str(self.singled_out)]
        for title, refuses in (("Refused because:", True), ("Warnings:", False)):
            some = [f"  {finding}" for finding in self.findings if finding.refuses == refuses]
            lines += ["", title, *some] if some else []
        return "\n".join(
            [*lines, "", *(f"{name}: {scheme!r}" for name, scheme in self.schemes.items())]
        )


def audit(
    data: Any,
    scheme: Any,
    *,
    strata: Any = None,
    max_clear: float = DEFAULT_LIMITS.clear,
    max_lift: float = DEFAULT_LIMITS.lift,
    max_risk: Mapping[float, float] | None = None,
    accept: str | Sequence[str] = (),
    known: Sequence[str] = (),
) -> Audit:
    """Measure how closely an attacker who knows every record's swap status can guess the
    originals, and list the reasons for refusing the release.

    Parameters
    ----------
    data : array_like or series of shape (n,), data frame, or dict of columns
        A column with one scheme, or a table. Missing values are left out.
    scheme : ConditionalMasking or ReverseMapping, or dict of str to either
        The scheme of the column; for a table, the schemes of the columns that are masked together.
        The other columns of the table are left in clear.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata, which attackers know. Those of a table are
        taken from it, and count among the columns in clear.
    max_clear : float
        Share of values from which on a release is refused if columns in clear, or the release
        alone, tell so many.
    max_lift : float
        Largest share of values that may be guessed from the release but not from the columns in
        clear alone.
    max_risk : dict of float to float, optional
        By distance, in the units of the data, the largest share of values that the attacker may
        guess closer than this.
    accept : str or sequence of str, optional
        Codes of findings that the release is not refused for (docs/audit.rst).
    known : sequence of str, optional
        Columns in clear that somebody may know of a person, in which records that are alone with
        their values are counted; by default all of few levels.

    Returns
    -------
    Audit
        Figures by column, and all findings, each with its remedy. ``print`` shows both.

    Raises
    ------
    ValueError
        If values are infinite or too far from 0 for the scheme, a column is unknown, or columns
        have an index with the same labels in different orders.
    TypeError
        If a scheme swaps no records.
    ModuleNotFoundError
        If several columns are looked at and scikit-learn is not installed.

    See Also
    --------
    mask_table : refuses a release for the same findings.

    Notes
    -----
    Who was swapped may show: by digits, ties, or relations of columns. The figures assume that it
    does (docs/audit.rst). A swapped record hides its value behind a stranger's, a kept one behind
    noise, so what harms is repetition, for which noise must be wider; and columns in clear that
    tell the value themselves.

    One column alone is judged by the joint law of originals and released values. In a table,
    attackers learn by gradient boosting from maskings of one half of up to 16,384 records and are
    tried on the other half; figures within two errors of a limit are drawn again. Nothing depends
    on chance or workers. Where rows must be shuffled, figures and remedies are those after it.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> incomes = np.random.default_rng(1).lognormal(8, 0.5, 5_000).round(-1)
    >>> found = cm.audit(incomes, cm.ConditionalMasking(0.6, 500.0, decimals=0))
    >>> found.refused, found.findings
    (False, ())
    """
    if isinstance(scheme, Mapping):  # a table, which is released on its own grids
        scheme = on_own_grids(together(scheme), [partial(frames.column_of, data, least=0)])
    accepted = accepted_codes(accept)
    limits = limits_of(
        max_clear, max_lift, max_risk, frozenset(CODES) if accepted is None else accepted
    )
    table, schemes = table_of(data, scheme, strata)
    singled: SingledOut | None = None
    if isinstance(data, dict) or frames.is_frame(data):
        singled = singled_out(data, schemes, _checks.names(known, "known"))
    return audit_table(table, schemes, limits, singled)


def limits_of(max_clear: Any, max_lift: Any, max_risk: Any, accepted: frozenset[str]) -> Limits:
    """Check limits and return them."""
    lift = _checks.probability(max_lift, "max_lift")
    clear = _checks.positive(max_clear, "max_clear")
    rule = "max_risk must be a dict of shares by distance"
    _checks.require(
        max_risk is None or isinstance(max_risk, Mapping), rule, max_risk, ArgumentTypeError
    )
    given = (max_risk or {}).items()
    risk = {
        _checks.positive(d, "max_risk"): _checks.probability(share, "max_risk")
        for d, share in given
    }
    return Limits(clear, lift, risk, accepted)


def audit_table(
    table: Table,
    schemes: dict[str, Any],
    limits: Limits = DEFAULT_LIMITS,
    singled: SingledOut | None = None,
) -> Audit:
    """Audit columns to be masked; a part of a long table by the guard rails alone."""
    seen = findings_without_simulation(table, schemes)
    figures, more = attack(table, schemes, limits, seen)
    identity = [singled.finding()] if singled is not None and singled.is_warned_of else []
    found = with_acceptance([*seen, *more, *identity], limits.accepted)
    return Audit(table.n, figures, tuple(found), dict(schemes), limits, singled)


def warn_of_identity(frame: Any, schemes: Mapping[str, Any], limits: Limits) -> None:
    """Warn of columns in clear that single records out."""
    singled = singled_out(frame, schemes)
    if singled is not None and singled.is_warned_of:
        _collect_or_warn([singled.finding()], limits, Refusals())


def attack(
    table: Table,
    schemes: dict[str, Any],
    limits: Limits,
    seen: Sequence[Finding] = (),
    *,
    by_name: bool = False,
) -> tuple[dict[str, Figures], list[Finding]]:
    """Return the figures and the findings of an attack; ``seen`` are findings made before it."""
    LOG.info("auditing %d records, columns to mask: %d", table.n, len(schemes))
    found = findings_on_values(table, schemes)
    few = (
        table.n < MIN_FILE_RECORDS and not next(iter(schemes.values())).reverse_mapping
    )  # to judge
    if table.scope == "part" or few or table.n < 2:
        return {}, found
    shuffled = any(finding.code == "C8" for finding in seen)
    figures, findings = audit_figures_and_findings(
        Case(attack_on(table, schemes, shuffled=shuffled), schemes, limits, by_name)
    )
    return figures, [*found, *findings]


def check_at_once(
    table: Table, schemes: dict[str, Any], limits: Limits, refusals: Refusals
) -> None:
    """Collect the findings for which a release is refused without an attack, and warn of all
    others."""
    _collect_or_warn(findings_without_simulation(table, schemes), limits, refusals)
    if table.scope == "part":  # of a file
        with refusals.collected():
            refuse_too_few_records(table.n, schemes, limits.accepted)


def check_attack(
    table: Table, schemes: dict[str, Any], limits: Limits, *, by_name: bool = False
) -> dict[str, Figures]:
    """Return the figures of a release, or refuse it with all reasons; warn of all other findings.

    Remedies fit schemes, or names of columns alone.
    """
    refusals = Refusals()
    figures, findings = attack(table, schemes, limits, by_name=by_name)
    _collect_or_warn(findings, limits, refusals)
    refusals.raise_all()
    return figures


def _collect_or_warn(findings: Sequence[Finding], limits: Limits, refusals: Refusals) -> None:
    """Collect findings for which a release is refused, and warn of all others.

    An accepted refusal is said again, as a warning; an accepted warning is not.
    """
    for finding in with_acceptance(findings, limits.accepted):
        about = finding.code + finding.column + finding.remedy
        if finding.refuses or finding.code in limits.refused_too - limits.accepted:
            error = ReleaseError(finding.refusal)
            refusals.errors.append(error.settled_by(finding.change, finding.code))
        elif not finding.accepted:
            warn(str(finding), ReleaseWarning, about=about)
        elif CODES[finding.code].refuses:
            warn(f"accepted: {finding}", ReleaseWarning, about=about)


def refuse_too_few_records(
    n: int, schemes: Mapping[str, Any], accepted: Collection[str] = ()
) -> None:
    """Refuse to write a file of too few records whose values get noise."""
    first = next(iter(schemes.values()))
    if n < MIN_FILE_RECORDS and not first.reverse_mapping and "C9" not in accepted:
        text = f"{n} records are too few: a file must have at least {MIN_FILE_RECORDS}"
        remedy = f"cm.ReverseMapping(p={first.p!r}, sigma={first.sigma!r})"
        finding = Finding("C9", "", f"{text}, or, with {remedy}, groups of at least 50")
        raise ReleaseError(finding.refusal)


def table_of(
    data: Any,
    scheme: Any,
    strata: Any = None,
    *,
    any_scheme: bool = False,
    parts: Sequence[int] = (),
) -> tuple[Table, dict[str, Any]]:
    """Check data and schemes, and return them as a table and as schemes by column.

    Schemes with ``aggregate_ends="auto"`` get a number of ends. `parts` are the sizes of the parts
    in which a release was masked, each with its own donor pools.
    """
    refuse_other_order({"strata": strata}, labels_of_rows(data, "data"))
    in_table = isinstance(scheme, Mapping)
    if not in_table:
        name = frames.series_name(data) or "x"
        data = {name: data}
        scheme = {name: scheme}
    schemes = together(scheme)
    first = next(iter(schemes.values()))
    rule = "scheme must be one that swaps records, ConditionalMasking or ReverseMapping"
    _checks.require(first.shared_coins or any_scheme, rule, first, ArgumentTypeError)
    refuse_marked(data, "data")
    frames.same_lengths(data, "data")
    columns = {name: frames.column_of(data, name) for name in schemes}
    groups = not_masked(first.strata, schemes)
    if strata is None and groups and in_table:
        strata = {name: frames.table_column(data, name, levels=True) for name in groups}
    values = drop_codes(schemes, columns)
    for name, of in schemes.items():
        check_fits(values[name], of, name, columns[name].kind)
    present, patterns = present_values([*values.values()])
    labels = labels_of(strata, first.strata, present.size, "x", "risk" if any_scheme else "audit")
    table = Table(values, donor_pools(first, labels, patterns, present), clear_of(data, values))
    if parts:
        _checks.same_length(table.code, "original", sum(parts), "the release")
    if len(parts) > 1:
        part = np.repeat(np.arange(len(parts)), parts)
        table = table._replace(pool=np.where(table.code < 0, -1, table.code * len(parts) + part))
    return table, schemes | {
        name: with_ends(table, name, schemes[name]) for name in open_ends(schemes)
    }
