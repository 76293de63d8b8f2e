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

from condmask.correlations import intraclass, ranks
from condmask.disclosure.computable import Formula, computable
from condmask.disclosure.figures import Figures, mean_figures
from condmask.disclosure.known_coins import attacked
from condmask.disclosure.rails import SHUFFLE, Finding, guard_rail_findings
from condmask.disclosure.sample import Sample, is_log, sample_of, spread_of, two_digits
from condmask.disclosure.unmasked import ORDER, column_of
from condmask.strata import crossed, names_of, present_values

SIGMA_FACTORS = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # times sigma, tried
MAX_MASKINGS = 4  # maskings, where a figure lies within two errors of a limit
MAX_COLUMNS_TAKEN_OUT = 12  # columns left out or masked as well
MIN_SHARE_OF_REST = 0.5  # of what a constant misses: where most values are zero, that is little
RANK_CELLS = 64  # of the ranks of a column
COLUMNS_TELL = "the columns in clear tell"
MAX_LINKED_SHARE = 0.03  # of the values, guessed because the owner of swapped values is known


class Limits(NamedTuple):
    """Up to which figures a release passes.

    Attributes
    ----------
    given : float
        ``clear - constant``: what columns in clear may tell.
    lift : float
        ``worst - clear``: what a release may add.
    risk : dict of float to float
        The share of values that an attacker who knows every coin may guess to within a distance,
        in the units of the data.
    """

    given: float = 0.25
    lift: float = 0.10
    risk: Mapping[float, float] = {}


class Case(NamedTuple):
    """Records of a table, the schemes of its masked columns, and up to which figures they may be
    released."""

    sample: Sample
    schemes: dict[str, Any]
    limits: Limits = Limits()


def audit_figures_and_findings(case: Case) -> tuple[dict[str, Figures], list[Finding]]:
    """The figures of a case, and what it is refused for, each finding with a remedy that was
    tried."""
    found, told, formulas = _told(case)
    if not told:
        return found, _too_narrow(case, found)
    remedy = _against_clear(case, told, formulas)
    return found, [Finding(name, text, remedy, True) for name, text in told.items()]


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


def _told(case: Case) -> tuple[dict[str, Figures], dict[str, str], dict[str, Formula]]:
    """Figures; the columns that others in clear give away, and how; and formulas of these."""
    found = attack_averaged(case)
    formulas = computable(case.sample)
    told = dict[str, str]()
    for name, row in found.items():
        if row.linked > MAX_LINKED_SHARE and row.lift > case.limits.lift:
            text = (
                "the unmasked columns reveal which record each swapped value came from: "
                f"{row.worst:.0%} of its values are guessed"
            )
            told[name] = (
                f"{text} to within a tenth of its spread, {row.worst - row.linked:.0%} without"
            )
        elif row.clear - row.constant > min(
            case.limits.given, MIN_SHARE_OF_REST * (1.0 - row.constant)
        ):
            text = f"{COLUMNS_TELL} {row.clear:.0%} of its values to within a tenth of its spread"
            told[name] = f"{text}, a constant guess {row.constant:.0%}"
    for name, formula in formulas.items():
        row = found[name]
        share = formula.share
        told[name] = f"{name} = {formula.text} in {share:.0%} of the records"
        found[name] = row._replace(clear=max(row.clear, share), worst=max(row.worst, share))
    hidden = "masking it alone hides nothing"
    return found, {name: f"{told[name]}: {hidden}" for name in found if name in told}, formulas


def _against_clear(case: Case, told: dict[str, str], formulas: dict[str, Formula]) -> str:
    """The columns to mask as well, or to drop, so that what is left in clear tells little."""
    sample = case.sample
    telling = list[str]()
    by_strength = _by_strength(case.sample, [*told])
    while told:
        named = [column_of(name) for formula in formulas.values() for name in formula.names]
        left = [name for name in (*named[:1], *by_strength) if name not in telling]
        if not left:  # dropping more would change nothing, and the loop would not end
            return f"leave {_listed([*told])} out"
        telling += left[:1] if len(telling) < MAX_COLUMNS_TAKEN_OUT else left
        rest = _without(case, telling)
        found, told, formulas = _told(rest)
    narrow = _too_narrow(rest, found)
    columns = [name for name in telling if name != ORDER]
    words = [f"drop {_listed(columns)}"] if columns else []
    words += [SHUFFLE] if ORDER in telling else []
    dropped = "; ".join([*words, *dict.fromkeys(finding.remedy for finding in narrow)])
    first = "leave strata out, and " if rest.schemes != case.schemes else ""
    more = _masked_too(rest, sample, telling)
    if more is None:
        return first + dropped
    linear = ', scale="linear"' if is_log(next(iter(case.schemes.values()))) else ""
    others = [(name, more.schemes[name]) for name in telling]
    masked = _listed(
        [f"{name} (sigma={of.sigma:g}{'' if is_log(of) else linear})" for name, of in others]
    )
    return f"{first}mask {masked} in the same call, or {dropped}"


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


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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
    masked_too = Case(rest.sample._replace(table=table), {**rest.schemes, **more}, rest.limits)
    if any(finding.refuses for finding in guard_rail_findings(table, masked_too.schemes)):
        return None
    found, told, _ = _told(masked_too)
    return None if told or _narrow(masked_too, found) else masked_too


# --- noise that is too narrow ---


def _narrow(case: Case, found: dict[str, Figures]) -> dict[str, str]:
    """The columns of which a release tells too much to who knows every coin, and what is said of
    them."""
    (sample, schemes, limits) = case
    over = dict[str, str]()
    at = dict.fromkeys(schemes, tuple(limits.risk))
    for name, rows in attacked(sample, schemes, at=at).items() if limits.risk else ():
        for row in rows:
            if row.worst > limits.risk[row.d]:
                over[name] = f"{row.worst:.0%} of the values to less than {row.d:g}"
    for name, row in found.items():
        if row.lift > limits.lift:
            share = f"{row.worst:.0%} of the values to within a tenth of the spread"
            over[name] = f"{share}, {row.clear:.0%} without the release"
    who = "an attacker who knows which records were swapped guesses"
    return {
        name: f"{who} {over[name]}: the noise is too narrow" for name in schemes if name in over
    }


def _too_narrow(case: Case, found: dict[str, Figures]) -> list[Finding]:
    """The columns over a limit, each with the sigma that passes; else with what might."""
    narrow = _narrow(case, found)
    several = len(case.schemes) > 1
    remedies = dict.fromkeys(
        narrow, "mask fewer columns in one call" if several else "leave it out"
    )
    wider, passes = widened(case, narrow) if narrow else (case.schemes, False)
    if passes:
        of = " for {}" if several else ""
        remedies = {name: f"pass sigma={wider[name].sigma:g}{of.format(name)}" for name in narrow}
    elif narrow and ORDER in case.sample.clear.labels:
        rest = _without(case, [ORDER])
        remedies = (
            remedies if _narrow(rest, attack_averaged(rest)) else dict.fromkeys(narrow, SHUFFLE)
        )
    return [Finding(name, text, remedies[name], True) for name, text in narrow.items()]


def widened(
    case: Case, names: Collection[str], tries: Sequence[float] = SIGMA_FACTORS
) -> tuple[dict[str, Any], bool]:
    """Schemes of which some have the first of some multiples of their noise that passes, else the
    last; and whether it does."""
    for times in tries:
        sigmas = {name: two_digits(times * case.schemes[name].sigma) for name in names}
        more = {name: replace(case.schemes[name], sigma=sigma) for name, sigma in sigmas.items()}
        wider = case._replace(schemes={**case.schemes, **more})
        if passes := not _narrow(wider, attack_averaged(wider)):
            break
    return wider.schemes, passes
