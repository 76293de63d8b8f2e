"""What is refused: columns that others give away, and noise too narrow for what is repeated.

Two limits on the figures of `table.attack`. Where the columns in clear tell far more of a masked
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
from condmask.disclosure.figures import Figures, mean_figures
from condmask.disclosure.policy import (
    Finding,
    Limits,
    findings_on_figures,
    too_narrow,
    with_acceptance,
)
from condmask.disclosure.rails import SHUFFLE, SHUFFLED, guard_rail_findings
from condmask.disclosure.scale import is_log, spread_of, two_digits
from condmask.disclosure.table.attack import Attack, attack_on
from condmask.disclosure.table.encode import ORDER, column_of
from condmask.disclosure.table.relations import Relation
from condmask.strata import crossed, names_of, present_values

SIGMA_FACTORS = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # times sigma, tried
MAX_MASKINGS = 4  # maskings, where a figure lies within two errors of a limit
MAX_COLUMNS_TAKEN_OUT = 12  # columns left out or masked as well
TOLD_CODES = ("C12", "C13")  # warnings of which the column that tells most is named
RANK_CELLS = 64  # of the ranks of a column


class Case(NamedTuple):
    """The attack on a table, the schemes of its masked columns, up to which figures they may be
    released, and whether the columns were given by name alone."""

    attack: Attack
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
        each._replace(remedy=narrow.text, change=narrow.change)
        if each.code == "C4"
        else _with_strongest(case, judged, each)
        for each in judged.findings
    ]


def _with_strongest(case: Case, judged: "Judged", finding: Finding) -> Finding:
    """Return a warning that values are told, with the column in clear that tells most of them.

    Where released values tell more than columns in clear do, only more noise helps.
    """
    if finding.code not in TOLD_CODES:
        return finding
    row = judged.figures[finding.column]
    if finding.code == "C13" and row.outsider - row.clear > row.clear - row.constant:
        return finding._replace(remedy="pass a larger sigma")
    most = [name for name in _by_strength(case.attack, [finding.column]) if name != ORDER]
    return finding._replace(remedy=f"coarsen or drop {most[0]}") if most else finding


class Remedy(NamedTuple):
    """What helps against findings: in words, and as the change that settles them, if any does."""

    text: str
    change: Change | None = None


def attack_averaged(case: Case) -> dict[str, Figures]:
    """Return the figures of columns; the mean of several maskings where one leaves a doubt."""
    drawn: list[list[Figures]] = []
    means: list[Figures] = []
    for number in range(MAX_MASKINGS):
        drawn.append([*case.attack.figures(case.schemes, number).values()])
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
    relations : dict of str to Relation
        The most frequent exact relation of each masked column that has one.
    """

    figures: dict[str, Figures]
    findings: list[Finding]
    relations: dict[str, Relation]

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
    relations = {name: found[0] for name, found in case.attack.relations.items() if found}
    for name, relation in relations.items():
        row = figures[name]
        known = relation.identifiable
        figures[name] = row._replace(clear=max(row.clear, known), worst=max(row.worst, known))
    findings = findings_on_figures(figures, relations, case.limits)
    return Judged(figures, [*findings, *_at_distances(case, findings)], relations)


def _at_distances(case: Case, findings: list[Finding]) -> list[Finding]:
    """Find columns of which more values are guessed than the publisher allows at a distance."""
    limits = case.limits
    if not limits.risk:
        return []
    at = dict.fromkeys(case.schemes, tuple(limits.risk))
    known = {each.column for each in findings if each.code == "C4"}
    found = []
    for name, rows in case.attack.figures_at(case.schemes, at).items():
        over = [row for row in rows if row.worst > limits.risk[row.d]]
        if over and name not in known:
            text = f"{over[-1].worst:.0%} of the values to less than {over[-1].d:g}"
            found.append(Finding("C4", name, too_narrow(text)))
    return with_acceptance(found, limits.accepted)


def _against_clear(case: Case, judged: Judged) -> Remedy:
    """Return the columns to mask as well, or to drop, so that what is left in clear tells
    little."""
    first = judged
    given_away = [each.column for each in judged.given_away]
    telling = list[str]()
    by_strength = _by_strength(case.attack, given_away)
    rest = case
    while judged.given_away:
        named = [name for one in judged.relations.values() for name in _in_order(one)]
        left = [name for name in (*named[:1], *by_strength) if name not in telling]
        if not left:  # dropping more would change nothing, and the loop would not end
            return _without_masked(case, given_away)
        telling += left[:1] if len(telling) < MAX_COLUMNS_TAKEN_OUT else left
        rest = _without(case, telling)
        if left[1:] and _tells(rest, given_away):
            continue
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
    more = _masked_too(rest, case, telling)
    if more is None:
        return Remedy(dropped.in_words(case.names), dropped)
    masked = Change(mask=tuple(telling), schemes=more.schemes, no_strata=dropped.no_strata)
    words = f"{masked.in_words(case.names)}, or {dropped.in_words(case.names)}"
    exact = any(each.code == "C1" for each in first.given_away)
    return Remedy(words, dropped if exact else masked)


def _in_order(relation: Relation) -> list[str]:
    """Return the columns of a relation as they stand in it: a total before its parts, which are
    worth more to analysts."""
    return sorted(relation.columns, key=relation.text.find)


def _without_masked(case: Case, given_away: list[str]) -> Remedy:
    """Return the remedy where dropping columns in clear does not help: not to release those that
    are given away, if the others pass."""
    others = {name: of for name, of in case.schemes.items() if name not in given_away}
    if not others:
        return Remedy("publish no values of it")
    values = {name: case.attack.table.values[name] for name in others}
    attack = attack_on(case.attack.table._replace(values=values), others)
    judged = _judged(case._replace(attack=attack, schemes=others))
    if any(each.refuses for each in judged.findings):
        return Remedy("mask fewer columns in one call")
    change = Change(drop=tuple(given_away), schemes={} if case.by_name else others)
    return Remedy(change.in_words(), change)


def _tells(case: Case, names: Sequence[str]) -> bool:
    """Return whether columns in clear still tell these columns, by what is learned without a
    release, which is quick."""
    known = {name: row for name, row in case.attack.clear_figures().items() if name in names}
    relations = {name: found[0] for name, found in case.attack.relations.items() if found}
    return any(each.refuses for each in findings_on_figures(known, relations, case.limits))


def _without(case: Case, names: list[str]) -> Case:
    """Return the case without some columns in clear, without strata if one of them is a stratum,
    and in a new order if the order of the rows is one of them."""
    table = case.attack.table
    schemes = case.schemes
    if {*names_of(next(iter(schemes.values())).strata)} & {*names}:
        table = table._replace(pool=_pools(table.values, []))
        schemes = {name: replace(scheme, strata=None) for name, scheme in schemes.items()}
    table = table._replace(clear=case.attack.clear.without(names))
    shuffled = case.attack.shuffled or ORDER in names
    return case._replace(attack=attack_on(table, schemes, shuffled=shuffled), schemes=schemes)


def _pools(values: Mapping[str, np.ndarray], strata: list[np.ndarray]) -> np.ndarray | None:
    """Donor pools by strata and by gaps, which part them where columns are masked together."""
    present, patterns = present_values([*values.values()])
    parts = [*strata, *patterns]
    return crossed(parts, present.size) if parts else None


def _by_strength(attack: Attack, names: Sequence[str]) -> list[str]:
    """Return columns in clear by how much of masked ones each tells alone: correlation ratios of
    ranks."""
    encoded = attack.view.encoded
    masked = [
        np.where(np.isnan(x), np.nan, ranks(x)) for x in (attack.values[name] for name in names)
    ]
    cells = {
        name: np.where(np.isnan(x), -1, (RANK_CELLS * ranks(x) / x.size).astype(np.int64))
        for name, x in encoded.numbers.items()
    }
    both = [*cells.items(), *encoded.codes.items(), *encoded.keys.items()]
    strength = [(max(intraclass(x, code) for x in masked), column_of(name)) for name, code in both]
    return list(dict.fromkeys(name for _, name in sorted(strength, key=lambda each: -each[0])))


def _masked_too(rest: Case, case: Case, names: list[str]) -> Case | None:
    """Return the case with columns masked that were in clear, with as much noise as the first.

    None where that is refused; for texts, dates and gaps; and with additive noise, which needs its
    own grid.
    """
    table = rest.attack.table
    lead, first = next(iter(rest.schemes.items()))
    share = first.sigma / spread_of(table.values[lead], first)
    clear = case.attack.clear
    numbers = clear.encoded.numbers
    masked = {name: numbers[name] for name in names if name in numbers}
    given = [x for name, x in masked.items() if name not in clear.dates and not np.isnan(x).any()]
    if len(given) < len(names) or not first.reverse_mapping:
        return None
    more = {}
    for name, x in masked.items():
        plain = replace(first, scale="log" if is_log(first) and x.min() >= 0.0 else "linear")
        more[name] = replace(plain, sigma=two_digits(share * spread_of(x, plain)))
    rows = clear.rows
    values = {name: x[rows] for name, x in table.values.items()} | masked
    pool = None if table.pool is None else np.maximum(table.pool[rows], 0)
    pools = _pools(values, [] if pool is None else [pool])
    left = rest.attack.clear._replace(rows=np.arange(rows.size))
    wider = table._replace(values=values, pool=pools, clear=left)
    schemes = {**rest.schemes, **more}
    if any(finding.refuses for finding in guard_rail_findings(wider, schemes)):
        return None
    attack = attack_on(wider, schemes, shuffled=rest.attack.shuffled)
    masked_too = rest._replace(attack=attack, schemes=schemes)
    return None if any(each.refuses for each in _judged(masked_too).findings) else masked_too


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
    ordered = not case.attack.alone and case.attack.view.ordered
    if ordered and not _judged(_without(case, [ORDER])).narrow:
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
    """Return schemes of which some have the first of some multiples of their noise that passes,
    else the last; and whether it does.

    Nothing is learned again for each multiple, but for the one that passes so.
    """
    schemes = case.schemes
    learned = case.attack.figures(schemes)
    plain = case.attack.figures(schemes, quick=True)
    more = {name: learned[name].lift - plain[name].lift for name in schemes}
    passes = False
    wider = case
    for times in tries:
        sigmas = {name: two_digits(times * schemes[name].sigma) for name in names}
        changed = {name: replace(schemes[name], sigma=sigma) for name, sigma in sigmas.items()}
        wider = case._replace(schemes={**schemes, **changed})
        if times != 1.0:
            rough = case.attack.figures(wider.schemes, quick=True)
            lifts = [row.lift + max(more[name], 0.0) for name, row in rough.items()]
            if max(lifts) > case.limits.lift:
                continue
        passes = not _judged(wider).narrow
        if passes:
            break
    return wider.schemes, passes
