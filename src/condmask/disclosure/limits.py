"""What is refused: columns that others give away, and noise too narrow for what is repeated.

Two limits on the figures of `known_coins`. Where the columns in clear tell far more of a masked column than
its distribution does, masking it alone hides nothing. Where a release adds much to that for an attacker who
knows every coin, the noise is too narrow: twelve months of one firm, or ten columns that say the same,
average it out. Every remedy that is named was tried.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.computable import Formula, computable
from condmask.disclosure.known_coins import Attack, D, Figures, at_distances, both_halves, figures
from condmask.disclosure.rails import Finding, rare_values_hold
from condmask.disclosure.sample import Sample, is_log, line_of, spread_of
from condmask.disclosure.table import column_of

WIDER = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # times sigma, tried
DRAWN = 4  # maskings, where a figure lies within two errors of a limit
MOST = 12  # columns left out or masked as well


class Limits(NamedTuple):
    """Up to which figures a release passes.

    Attributes
    ----------
    given : float
        ``clear - constant``: what columns in clear may tell.
    lift : float
        ``worst - clear``: what a release may add.
    risk : dict of float to float
        The share of values that an attacker who knows every coin may guess to within a distance, in the units
        of the data.
    """

    given: float = 0.25
    lift: float = 0.10
    risk: Mapping[float, float] = {}

    def close(self, found: Figures) -> bool:
        """Whether a figure lies within two errors of its limit."""
        return 0.0 < abs(found.lift - self.lift) < 2.0 * found.error


class Judgement(NamedTuple):
    """The figures of columns, and what is refused for them."""

    figures: dict[str, Figures]
    findings: list[Finding]


def judged(sample: Sample, schemes: dict[str, Any], limits: Limits) -> Judgement:
    """The figures of a table and its schemes under limits, each finding with a remedy that was tried."""
    found, formulas = tried(sample, schemes, limits), computable(sample)
    for formula in formulas:
        row = found[formula.column]
        known, most = max(row.clear, formula.share), max(row.worst, formula.share)
        found[formula.column] = row._replace(clear=known, worst=most)
    findings = list(_of_clear(sample, schemes, limits, found, formulas))
    if not findings:
        findings += _of_noise(sample, schemes, limits, found)
    return Judgement(found, findings)


def tried(sample: Sample, schemes: dict[str, Any], limits: Limits) -> dict[str, Figures]:
    """The figures of columns; the mean of several maskings where one leaves a doubt."""
    drawn = [figures(sample, schemes)]
    while len(drawn) < DRAWN and any(map(limits.close, _means(drawn).values())):
        drawn.append(figures(sample, schemes, len(drawn)))
    return _means(drawn)


def _means(drawn: list[dict[str, Figures]]) -> dict[str, Figures]:
    names = drawn[0]
    means = {name: np.mean([found[name] for found in drawn], axis=0) for name in names}
    return {
        name: Figures(*row.tolist())._replace(error=float(row[-1] / np.sqrt(len(drawn))))
        for name, row in means.items()
    }


# --- columns in clear that tell ---


def _of_clear(
    sample: Sample,
    schemes: dict[str, Any],
    limits: Limits,
    found: dict[str, Figures],
    formulas: list[Formula],
) -> Iterator[Finding]:
    """Columns that others in clear give away, and which these are."""
    by_formula = {formula.column: formula for formula in formulas}
    told = [name for name in schemes if name in by_formula or found[name].given > limits.given]
    if not told:
        return
    remedy = _against_clear(sample, schemes, limits, told, formulas)
    for name in told:
        if name in by_formula:
            formula = by_formula[name]
            text = f"{formula.text} in {formula.share:.0%} of the records"
        else:
            text = (
                f"the columns in clear tell {found[name].clear:.0%} of its values to within a tenth of its "
                f"spread, a constant guess {found[name].constant:.0%}"
            )
        yield Finding(name, f"{text}: masking it alone hides nothing", remedy, True)


def _against_clear(
    sample: Sample, schemes: dict[str, Any], limits: Limits, told: list[str], formulas: list[Formula]
) -> str:
    """The columns to mask as well, or to drop, so that what is left in clear tells little."""
    telling: list[str] = []
    rest = sample
    by_strength = _by_strength(sample, schemes, told)
    while formulas or any(_given(rest, schemes, name) > limits.given for name in told):
        named = [name for formula in formulas for name in formula.names if name not in telling]
        left = [*named[:1], *(name for name in by_strength if name not in telling)]
        if not left or len(telling) >= MOST:
            return "drop the columns in clear"
        telling.append(left[0])
        clear = sample.clear.without(telling, sample.table.values)
        rest = sample._replace(clear=clear)
        formulas = computable(rest)
    both = _masked_too(rest, sample, schemes, telling)
    if both is not None and not judged_plainly(*both, limits):
        masked = _listed([f"{name} (sigma={both[1][name].sigma:g})" for name in telling])
        return f"mask {masked} in the same call, or drop {'them' if len(telling) > 1 else 'it'}"
    return f"drop {_listed(telling)}"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _given(sample: Sample, schemes: dict[str, Any], name: str) -> float:
    return Attack.on(sample, schemes).figures(name).given


def _by_strength(sample: Sample, schemes: dict[str, Any], told: list[str]) -> list[str]:
    """Columns in clear by how much of masked ones each tells alone."""
    columns: dict[str, list[np.ndarray]] = {}
    for name, values in [*sample.clear.numbers.items(), *sample.clear.labels.items()]:
        columns.setdefault(column_of(name), []).append(values.astype(np.float64))
    strength = dict.fromkeys(columns, 0.0)
    for name in told:
        x = sample.table.values[name]
        u = line_of(x, schemes[name])(x)
        here = ~np.isnan(u)
        for clear, seen in columns.items():
            hits = both_halves(np.column_stack(seen), u, here, here, sample.half, np.array([D]))
            strength[clear] = max(strength[clear], float(hits.mean()))
    return sorted(strength, key=lambda clear: -strength[clear])


def _masked_too(
    rest: Sample, sample: Sample, schemes: dict[str, Any], names: list[str]
) -> tuple[Sample, dict[str, Any]] | None:
    """The table with columns masked that were in clear, with as much noise as the first; None for text."""
    first = next(iter(schemes.values()))
    lead = next(iter(schemes))
    wide = spread_of(sample.table.values[lead], first)
    more, values = {}, {}
    for name in names:
        x = sample.clear.numbers.get(name)
        if x is None or name in sample.clear.labels or np.isnan(x).any() or x.min() == x.max():
            return None
        log = is_log(first) and x.min() >= 0.0
        options = {"scale": "log" if log else "linear"} if first.reverse_mapping else {}
        plain = replace(first, **options)
        sigma = first.sigma / wide * spread_of(x, plain)
        more[name] = replace(plain, sigma=float(f"{sigma:.2g}"))
        values[name] = x
    table = sample.table
    table = table._replace(
        values={**table.values, **values}, kinds={**table.kinds, **dict.fromkeys(values, "float64")}
    )
    return rest._replace(table=table), {**schemes, **more}


def judged_plainly(sample: Sample, schemes: dict[str, Any], limits: Limits) -> bool:
    """Whether a table is refused, without a search for what helps."""
    found = tried(sample, schemes, limits)
    return any(row.given > limits.given or row.lift > limits.lift for row in found.values())


# --- noise that is too narrow ---


def _of_noise(
    sample: Sample, schemes: dict[str, Any], limits: Limits, found: dict[str, Figures]
) -> Iterator[Finding]:
    """Columns of which a release tells too much to who knows every coin, and the sigma that passes."""
    narrow = _narrow(sample, schemes, limits, found)
    wider = _wide_enough(sample, schemes, limits, set(narrow)) if narrow else None
    for name, text in narrow.items():
        fewer = "mask fewer columns in one call" if len(schemes) > 1 else "leave it out"
        remedy = fewer if wider is None else f"pass sigma={wider[name].sigma:g}"
        yield Finding(name, f"{text}: the noise is too narrow", remedy, True)


def _narrow(
    sample: Sample, schemes: dict[str, Any], limits: Limits, found: dict[str, Figures]
) -> dict[str, str]:
    """The columns over a limit, and what is said of them."""
    knows = "an attacker who knows which records were swapped guesses"
    over = {}
    for name, row in found.items():
        if row.lift > limits.lift:
            over[name] = (
                f"{knows} {row.worst:.0%} of the values to within a tenth of the spread, {row.clear:.0%} "
                "without the release"
            )
        distances = list(limits.risk)
        for near in at_distances(sample, schemes, name, distances) if distances else ():
            if near.worst > limits.risk[near.d] and name not in over:
                over[name] = f"{knows} {near.worst:.0%} of the values to less than {near.d:g}"
    return over


def _wide_enough(
    sample: Sample, schemes: dict[str, Any], limits: Limits, narrow: set[str]
) -> dict[str, Any] | None:
    """The first schemes with wider noise that pass; None if none does."""
    held = [name for name in narrow if _holds(sample, name, schemes[name])]
    for times in WIDER:
        wider = {
            name: replace(scheme, sigma=float(f"{times * scheme.sigma:.2g}")) if name in narrow else scheme
            for name, scheme in schemes.items()
        }
        rare = any(not _holds(sample, name, wider[name]) for name in held)
        if not rare and not _narrow(sample, wider, limits, tried(sample, wider, limits)):
            return wider
    return None


def _holds(sample: Sample, name: str, scheme: Any) -> bool:
    """Whether no rare value comes back too often."""
    return not scheme.reverse_mapping or rare_values_hold(sample.table, name, scheme)
