"""How a release is looked at: each column by itself, and all together."""

from typing import Any

import numpy as np

from condmask.disclosure import causes, guard_rails, joint_attack, relations, swap_attack
from condmask.disclosure.audit_input import AuditInput
from condmask.disclosure.audit_result import CERTAIN, GUESSED, RAIL, TOLD_BY_RAIL, Audit
from condmask.disclosure.causes import TOLD, Cause
from condmask.disclosure.folds import FoldedRows, evenly_spaced, folded_rows
from condmask.disclosure.swap_attack import BRIEF, HALF, ColumnAttack, Effort, Figures
from condmask.grids import check_fits

CLEARLY = 0.6  # of what is visible: up to here a brief look decides
NO_GRID = Cause(
    "no grid", 1.0, "leave step out",
    "without a grid the last digits and bits of swapped values are those of the data",
)  # fmt: skip


def is_clear(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether a brief look shows that nothing is visible, and nothing to be warned of."""
    rows = folded_rows(data.n, BRIEF.rows, BRIEF.folds)
    some, more = data.take(rows.rows), 0.0
    for name, scheme in schemes.items():
        if scheme.law.grid is None or causes.of_coin(scheme.p):
            return False
        if causes.of_order(data.values[name]):
            return False
        check_fits(data.values[name], scheme.law, name, data.kinds[name])
        column = swap_attack.prepare(
            some.values[name], data.kinds[name], scheme.law, some.strata, rows, BRIEF
        )
        parts = column.outcomes()
        found = swap_attack.figures(column, parts, data.n, shared=scheme.shared_donors)
        more += found.guessed - found.blind
        if found.certain > CLEARLY * CERTAIN or found.unchanged > causes.UNCHANGED:
            return False
        if swap_attack.repeats_beyond_chance(column, parts):
            return False
    if more > CLEARLY * GUESSED:
        return False
    if len(some.values) + len(some.clear) == 1:
        return True
    if len(schemes) > 1 and any(scheme.shared_donors for scheme in schemes.values()):
        return False  # all columns hardly ever agree by chance
    noise = {name: scheme.sigma for name, scheme in schemes.items()}
    if relations.copies(some.values, some.clear) or relations.hang_together(some.values, noise):
        return False
    return not relations.identities({**some.values, **some.clear}, _steps(some, schemes), set(schemes))


def review(data: AuditInput, schemes: dict[str, Any], effort: Effort) -> Audit:
    """The audit of a release, without a proposal."""
    if next(iter(schemes.values())).reverse_mapping:
        return _rearranged(data, schemes)
    rows = folded_rows(data.n, effort.rows, effort.folds)
    some = data.take(rows.rows)
    why: list[Cause] = []
    columns: dict[str, ColumnAttack] = {}
    every: list[Figures] = []
    n, p = 0, next(iter(schemes.values())).p
    for name, scheme in schemes.items():
        values, kind, law = data.values[name], data.kinds[name], scheme.law
        own = causes.of_order(values)
        if law.grid is None:
            found, n = Figures(max(p, 1.0 - p), 1.0, 1.0, 0.0, 1.0, 0.0), data.n
            own.append(NO_GRID)
        else:
            check_fits(values, law, name, kind)
            column = swap_attack.prepare(some.values[name], kind, law, some.strata, rows, effort)
            parts = column.outcomes(closely=True)
            records = round(data.n * column.n / rows.rows.size)
            found = swap_attack.figures(column, parts, records, shared=scheme.shared_donors)
            own += causes.of_column(some.values[name], kind, column, parts, found)
            columns[name], n = column, max(n, records)
        every.append(found)
        why += [cause._replace(column=name) for cause in own] if len(schemes) > 1 else own
    guessed, certain = max(each.guessed for each in every), max(each.certain for each in every)
    if len(schemes) + len(data.clear) > 1 and len(columns) == len(schemes):
        more, joint = _of_columns(some, schemes, columns, rows, guessed, data.n)
        why += more
        if joint is not None:
            guessed, certain = max(guessed, joint.guessed), max(certain, joint.certain)
    why = sorted(why + causes.of_coin(p), key=lambda cause: -cause.share)
    unchanged = max(each.unchanged for each in every)
    return Audit(
        n, max(p, 1.0 - p), guessed, certain, unchanged, tuple(why), dict(schemes),
        name=" and ".join(schemes),
    )  # fmt: skip


def _rearranged(data: AuditInput, schemes: dict[str, Any]) -> Audit:
    """The audit of a release by reverse mapping: what its guard rails say, and what columns tell together.

    A column alone tells nothing (docs/reverse_mapping.rst), and is not attacked.
    """
    first = next(iter(schemes.values()))
    p, blind = first.p, max(first.p, 1.0 - first.p)
    some = data.take(evenly_spaced(data.n, HALF.rows))
    tables = joint_attack.rearranged(some.values, some.clear, schemes, some.strata)
    why, guessed, certain, unchanged = causes.of_coin(p), blind, 0.0, 0.0
    for refusal, warned in (guard_rails.review(data, schemes), guard_rails.review_clear(data)):
        for name, texts in ((RAIL, [] if refusal is None else [refusal]), (TOLD_BY_RAIL, warned)):
            for text in texts:
                said, _, remedy = text.partition("; ")
                why.append(Cause(name, float(name == RAIL), remedy, said))
    for name, x in some.values.items():
        there = ~np.isnan(x)
        if not there.any():
            continue
        swapped, kept = (float(np.mean(table[name][there] == x[there])) for table in tables)
        own = (kept - swapped) / max(1.0 - swapped, 1e-300)  # a common value comes back by chance
        unchanged = max(unchanged, own)
        if own > causes.UNCHANGED:
            text = f"{kept:.0%} of the kept records get their own value back, {swapped:.0%} of the swapped"
            why.append(Cause("unchanged", (1.0 - p) * own, "pass a larger sigma", text, name))
    if len(tables[0]) > 1:
        table, steps = {**some.values, **some.clear}, _steps(some, schemes)
        found = relations.identities(table, steps, set(schemes))
        joint = joint_attack.joint_of_rearranged(p, tables, list(schemes), found, steps)
        guessed, certain = max(blind, joint.guessed), joint.certain
        for each, told in joint.identities.items():
            copied = _copied(each, float(each.holds(table, steps).mean()), schemes)
            if copied is not None:
                why.append(copied)
            elif told > blind + TOLD:
                why.append(_identity(each, told, blind, schemes))
        for (a, b), told in joint.pairs.items():
            if told > blind + TOLD:
                why.append(_pair(a, b, told, blind, b in some.clear))
    n = max(int(np.count_nonzero(~np.isnan(x))) for x in data.values.values())
    ordered = tuple(sorted(why, key=lambda cause: -cause.share))
    return Audit(n, blind, guessed, certain, unchanged, ordered, dict(schemes), name=" and ".join(schemes))


def _pair(a: str, b: str, told: float, blind: float, clear: bool) -> Cause:
    tells = f"that tells {told:.0%} of the coins"
    if clear:
        text = f"{b!r} is left in clear and goes with {a!r} in kept records, not in swapped ones: {tells}"
        return Cause("relation", told - blind, f"mask within strata by {b!r}, or drop it", text, a)
    text = f"{a!r} and {b!r} hang together more closely in swapped records than in kept ones: {tells}"
    return Cause("relation", told - blind, "pass smaller sigmas, or drop one of them", text, b)


def _steps(data: AuditInput, schemes: dict[str, Any]) -> relations.Steps:
    """What masking rounds each column to."""
    return dict.fromkeys(data.clear, 0.0) | {name: scheme.step for name, scheme in schemes.items()}


def _of_columns(
    data: AuditInput,
    schemes: dict[str, Any],
    columns: dict[str, ColumnAttack],
    rows: FoldedRows,
    alone: float,
    records: int,
) -> tuple[list[Cause], joint_attack.Joint | None]:
    """What columns tell of each other, masked ones and those in clear.

    `alone` is what the worst one tells, `records` the number in the file.
    """
    table, steps = {**data.values, **data.clear}, _steps(data, schemes)
    found = relations.identities(table, steps, set(schemes))
    why = [_copied(each, float(each.holds(table, steps).mean()), schemes) for each in found]
    given = [set(each.names) for each in found]
    found = [each for each, cause in zip(found, why, strict=True) if cause is None]
    why += [
        Cause(
            "copy", each.share, f"mask {each.clear!r} together with it, or drop it",
            f"{each.clear!r} is left in clear and {each.how} as {each.masked!r}: it gives the values away",
            each.masked,
        )
        for each in relations.copies(data.values, data.clear)
        if {each.masked, each.clear} not in given
    ]  # fmt: skip
    said = [cause for cause in why if cause is not None]
    if len(schemes) == 1:
        return said, None
    shared = any(scheme.shared_donors for scheme in schemes.values())
    joint = joint_attack.joint(
        data.values, data.clear, columns, data.strata, rows, found, steps, tied=records if shared else 0
    )
    p = next(iter(schemes.values())).p
    blind = max(p, 1.0 - p)
    if joint.ties > alone + TOLD:
        text = (
            f"records that agree in all masked columns were swapped: that tells {joint.ties:.0%} of the coins"
        )
        said.append(Cause("ties", joint.ties - blind, 'pass donors="permutation"', text))
    said += [_identity(each, t, blind, schemes) for each, t in joint.identities.items() if t > blind + TOLD]
    for (a, b), told in joint.pairs.items():
        if told > alone + TOLD and not any({a, b} <= set(each.names) for each in found):
            said.append(_pair(a, b, told, blind, clear=False))
    if joint.guessed > alone + TOLD:
        text = f"columns share their coins: all tell {joint.guessed:.0%} of them, the worst alone {alone:.0%}"
        said.append(Cause("together", joint.guessed - alone, "mend the columns that show most", text))
    return said, joint


def _copied(each: relations.Identity, share: float, schemes: dict[str, Any]) -> Cause | None:
    """An identity in which one column alone is masked."""
    masked = [name for name in each.names if name in schemes]
    if len(masked) > 1:
        return None
    text = f"{each} in {share:.0%} of the records, and all but {masked[0]!r} is left in clear"
    return Cause(
        "copy", share, "mask another of these columns together with it, or drop one", text, masked[0]
    )


def _identity(each: relations.Identity, told: float, blind: float, schemes: dict[str, Any]) -> Cause:
    clear = [name for name in each.names if name not in schemes]
    masked = next(name for name in each.names if name in schemes)
    text = f"{each} in swapped records, not in kept ones: that tells {told:.0%} of the coins"
    remedy = f"drop {clear[0]!r}" if clear else f"drop {masked!r} and compute it from the masked others"
    return Cause("identity", told - blind, remedy, text, masked)
