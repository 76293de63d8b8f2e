"""What is refused: columns that others give away, and noise too narrow for what is repeated.

Two limits on the figures of `known_coins`. Where the columns in clear tell far more of a masked
column than its distribution does, masking it alone hides nothing. Where a release adds much to
that for an attacker who knows every coin, the noise is too narrow: twelve months of one firm, or
ten columns that say the same, average it out. Every remedy that is named was tried.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask.changes import Change
from condmask.correlations import intraclass, ranks
from condmask.disclosure.computable import Formula, computable
from condmask.disclosure.figures import Figures, mean_figures
from condmask.disclosure.known_coins import attacked
from condmask.disclosure.policy import (
    Finding,
    Limits,
    findings_on_figures,
    too_narrow,
    with_acceptance,
)
from condmask.disclosure.rails import SHUFFLE, SHUFFLED, guard_rail_findings
from condmask.disclosure.sample import Sample, is_log, sample_of, spread_of, two_digits
from condmask.disclosure.unmasked import ORDER, column_of
from condmask.strata import crossed, names_of, present_values

SIGMA_FACTORS = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # times sigma, tried
MAX_MASKINGS = 4  # maskings, where a figure lies within two errors of a limit
MAX_COLUMNS_TAKEN_OUT = 12  # columns left out or masked as well
RANK_CELLS = 64  # of the ranks of a column


class Case(NamedTuple):
    """Records of a table, the schemes of its masked columns, up to which figures they may be
    released, and whether the columns were given by name alone."""

    sample: Sample
    schemes: dict[str, Any]
    limits: Limits = Limits()
    by_name: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the masked columns where these were given by name alone."""
        return tuple(self.schemes) if self.by_name else ()


def audit_figures_and_findings(case: Case) -> tuple[dict[str, Figures], list[Finding]]:
    """Return the figures of a case, and all that is found in them, with remedies that were
    tried."""
    judged = _judged(case)
    refused = judged.given_away
    if refused:
        remedy = _against_clear(case, judged)
        return judged.figures, [
            each._replace(remedy=remedy.text, change=remedy.change) if each in refused else each
            for each in judged.findings
            if each.code != "C4"  # it depends on the columns in clear
        ]
    narrow = _against_narrow(case, judged)
    return judged.figures, [
        each._replace(remedy=narrow.text, change=narrow.change) if each.code == "C4" else each
        for each in judged.findings
    ]


class Remedy(NamedTuple):
    """What helps against findings: in words, and as the change that settles them, if any does."""

    text: str
    change: Change | None = None


def attack_averaged(case: Case) -> dict[str, Figures]:
    """The figures of columns; the mean of several maskings where one leaves a doubt."""
    drawn: list[list[Figures]] = []
    for number in range(MAX_MASKINGS):
        drawn.append([rows[0] for rows in attacked(case.sample, case.schemes, number).values()])
        means = [mean_figures(rows) for rows in zip(*drawn, strict=True)]
        if not any(0.0 < abs(row.lift - case.limits.lift) < 2.0 * row.error for row in means):
            break
    return dict(zip(case.schemes, means, strict=True))


# --- columns in clear that tell ---


class Judged(NamedTuple):
    """A case with its figures and what is found in them, before remedies are sought.

    Attributes
    ----------
    figures : dict of str to Figures
    findings : list of Finding
        Without remedies.
    formulas : dict of str to Formula
        Exact relations of masked columns with columns in clear.
    """

    figures: dict[str, Figures]
    findings: list[Finding]
    formulas: dict[str, Formula]

    @property
    def given_away(self) -> list[Finding]:
        """Return the refusals of columns that other columns, or the release alone, tell."""
        return [each for each in self.findings if each.refuses and each.code != "C4"]

    @property
    def narrow(self) -> list[str]:
        """Return the columns whose noise is refused as too narrow."""
        return [each.column for each in self.findings if each.refuses and each.code == "C4"]


def _judged(case: Case) -> Judged:
    """Attack a case, and return what is found in the figures."""
    figures = attack_averaged(case)
    formulas = computable(case.sample)
    for name, formula in formulas.items():
        row = figures[name]
        figures[name] = row._replace(
            clear=max(row.clear, formula.share), worst=max(row.worst, formula.share)
        )
    findings = findings_on_figures(figures, formulas, case.limits)
    return Judged(figures, [*findings, *_at_distances(case, findings)], formulas)


def _at_distances(case: Case, findings: list[Finding]) -> list[Finding]:
    """Find columns of which more values are guessed than the publisher allows at a distance."""
    limits = case.limits
    if not limits.risk:
        return []
    at = dict.fromkeys(case.schemes, tuple(limits.risk))
    known = {each.column for each in findings if each.code == "C4"}
    found = []
    for name, rows in attacked(case.sample, case.schemes, at=at).items():
        over = [row for row in rows if row.worst > limits.risk[row.d]]
        if over and name not in known:
            text = f"{over[-1].worst:.0%} of the values to less than {over[-1].d:g}"
            found.append(Finding("C4", name, too_narrow(text)))
    return with_acceptance(found, limits.accepted)


def _against_clear(case: Case, judged: Judged) -> Remedy:
    """Return the columns to mask as well, or to drop, so that what is left in clear tells
    little."""
    sample = case.sample
    first = judged
    given_away = [each.column for each in judged.given_away]
    telling = list[str]()
    by_strength = _by_strength(case.sample, given_away)
    rest = case
    while judged.given_away:
        relations = judged.formulas.values()
        named = [column_of(name) for formula in relations for name in formula.names]
        left = [name for name in (*named[:1], *by_strength) if name not in telling]
        if not left:  # dropping more would change nothing, and the loop would not end
            return _without_masked(case, given_away)
        telling += left[:1] if len(telling) < MAX_COLUMNS_TAKEN_OUT else left
        rest = _without(case, telling)
        judged = _judged(rest)
    narrow = _against_narrow(rest, judged)
    dropped = Change(
        drop=tuple(name for name in telling if name != ORDER),
        shuffle=ORDER in telling,
        no_strata=rest.schemes != case.schemes,
        schemes={} if rest.schemes == case.schemes or case.by_name else rest.schemes,
    )
    if judged.narrow:
        if narrow.change is None:
            return Remedy("; ".join(filter(None, (dropped.in_words(case.names), narrow.text))))
        dropped = dropped.with_more(narrow.change)
    more = _masked_too(rest, sample, telling)
    if more is None:
        return Remedy(dropped.in_words(case.names), dropped)
    masked = Change(mask=tuple(telling), schemes=more.schemes, no_strata=dropped.no_strata)
    words = f"{masked.in_words(case.names)}, or {dropped.in_words(case.names)}"
    exact = any(each.code == "C1" for each in first.given_away)
    return Remedy(words, dropped if exact else masked)


def _without_masked(case: Case, given_away: list[str]) -> Remedy:
    """Return the remedy where dropping columns in clear does not help: not to release those that
    are given away, if the others pass."""
    others = {name: of for name, of in case.schemes.items() if name not in given_away}
    if not others:
        return Remedy("publish no values of it")
    values = {name: case.sample.table.values[name] for name in others}
    sample = case.sample._replace(table=case.sample.table._replace(values=values))
    judged = _judged(case._replace(sample=sample, schemes=others))
    if any(each.refuses for each in judged.findings):
        return Remedy("mask fewer columns in one call")
    change = Change(drop=tuple(given_away), schemes={} if case.by_name else others)
    return Remedy(change.in_words(), change)


def _without(case: Case, names: list[str]) -> Case:
    """The case without some columns in clear, without strata if one of them is a stratum, and in a
    new order if the order of the rows is one of them."""
    sample = case.sample
    table = case.sample.table
    schemes = case.schemes
    if {*names_of(next(iter(schemes.values())).strata)} & {*names}:
        table = table._replace(pool=_pools(table.values, []))
        schemes = {name: replace(scheme, strata=None) for name, scheme in schemes.items()}
    clear = sample.clear.without(names, table.values)
    sample = sample._replace(table=table, clear=clear)
    if ORDER in names:
        table = table._replace(clear=clear._replace(rows=np.arange(table.n)))
        sample = sample_of(table, shuffled=True)
    return case._replace(sample=sample, schemes=schemes)


def _pools(values: Mapping[str, np.ndarray], strata: list[np.ndarray]) -> np.ndarray | None:
    """Donor pools by strata and by gaps, which part them where columns are masked together."""
    present, patterns = present_values([*values.values()])
    parts = [*strata, *patterns]
    return crossed(parts, present.size) if parts else None


def _by_strength(sample: Sample, told: list[str]) -> list[str]:
    """Columns in clear by how much of masked ones each tells alone: correlation ratios of
    ranks."""
    masked = [
        np.where(np.isnan(x), np.nan, ranks(x))
        for x in (sample.table.values[name] for name in told)
    ]
    codes = {
        name: np.where(np.isnan(x), -1, (RANK_CELLS * ranks(x) / x.size).astype(np.int64))
        for name, x in sample.clear.numbers.items()
    }
    both = [*codes.items(), *sample.clear.labels.items()]
    strength = [(max(intraclass(x, code) for x in masked), column_of(name)) for name, code in both]
    return list(dict.fromkeys(name for _, name in sorted(strength, key=lambda each: -each[0])))


def _masked_too(rest: Case, sample: Sample, names: list[str]) -> Case | None:
    """The case with columns masked that were in clear in the sample, with as much noise as the
    first.

    None where that is refused; for texts, dates and gaps; and with additive noise, which needs its
    own grid.
    """
    lead, first = next(iter(rest.schemes.items()))
    share = first.sigma / spread_of(sample.table.values[lead], first)
    more = {}
    asked = {*names} - {*sample.clear.labels, *sample.clear.dates}
    values = {
        name: x
        for name, x in sample.clear.numbers.items()
        if name in asked and not np.isnan(x).any()
    }
    if len(values) < len(names) or not first.reverse_mapping:
        return None
    for name, x in values.items():
        plain = replace(first, scale="log" if is_log(first) and x.min() >= 0.0 else "linear")
        more[name] = replace(plain, sigma=two_digits(share * spread_of(x, plain)))
    values = sample.table.values | values
    pool = rest.sample.table.pool
    pool = _pools(values, [] if pool is None else [np.maximum(pool, 0)])
    table = rest.sample.table._replace(values=values, pool=pool)
    masked_too = rest._replace(
        sample=rest.sample._replace(table=table), schemes={**rest.schemes, **more}
    )
    if any(finding.refuses for finding in guard_rail_findings(table, masked_too.schemes)):
        return None
    judged = _judged(masked_too)
    return None if any(each.refuses for each in judged.findings) else masked_too


# --- noise that is too narrow ---


def _against_narrow(case: Case, judged: Judged) -> Remedy:
    """Return the sigmas that pass, else what might help; nothing where noise is wide enough."""
    narrow = judged.narrow
    if not narrow:
        return Remedy("")
    several = len(case.schemes) > 1
    wider, passes = widened(case, narrow)
    if passes and several and case.by_name:  # which have no sigma: the one that tells most
        most = max(narrow, key=lambda name: judged.figures[name].worst)
        change = Change(drop=(most,))
        return Remedy(f"{change.in_words()}, or {Change(schemes=wider).in_words()}", change)
    if passes:
        change = Change(schemes=wider)
        sigma = next(iter(wider.values())).sigma
        plain = "" if several or case.by_name else f"pass sigma={sigma:g}"
        return Remedy(plain or change.in_words(), change)
    if ORDER in case.sample.clear.labels and not _judged(_without(case, [ORDER])).narrow:
        return Remedy(SHUFFLE, SHUFFLED)
    if several:
        most = max(narrow, key=lambda name: judged.figures[name].worst)
        others = {name: of for name, of in case.schemes.items() if name != most}
        change = Change(drop=(most,), schemes={} if case.by_name else others)
        return Remedy(f"mask fewer columns in one call: {change.in_words()}", change)
    return Remedy("publish no values of it")


def widened(
    case: Case, names: Collection[str], tries: Sequence[float] = SIGMA_FACTORS
) -> tuple[dict[str, Any], bool]:
    """Schemes of which some have the first of some multiples of their noise that passes, else the
    last; and whether it does."""
    for times in tries:
        sigmas = {name: two_digits(times * case.schemes[name].sigma) for name in names}
        more = {name: replace(case.schemes[name], sigma=sigma) for name, sigma in sigmas.items()}
        wider = case._replace(schemes={**case.schemes, **more})
        if passes := not _judged(wider).narrow:
            break
    return wider.schemes, passes
