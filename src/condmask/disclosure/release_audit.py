"""The audit of columns before they are masked: each by itself, and all together."""

from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.disclosure import causes, joint_attack, relation_causes, relations, swap_attack
from condmask.disclosure.audit_result import CERTAIN, GUESSED, Audit
from condmask.disclosure.causes import NAMED, Cause
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.reverse_mapped_audit import audit_reverse_mapped
from condmask.disclosure.swap_attack import BRIEF, ColumnAttack, Effort, Figures
from condmask.grids import check_fits

CLEARLY = 0.6  # of what is visible: up to here a brief look decides
NO_GRID = Cause(
    "no grid", 1.0, "leave step out",
    "without a grid the last digits and bits of swapped values are those of the data",
)  # fmt: skip


def nothing_visible(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether a brief look shows that nothing is visible, and nothing to be warned of."""
    rows = folded_rows(data.n, BRIEF.rows, BRIEF.folds)
    some, more = data.masked_alone().take(rows.rows), 0.0
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
        figures = swap_attack.figures(column, parts, data.n, shared=scheme.shared_donors)
        more += figures.guessed - figures.blind
        if figures.certain > CLEARLY * CERTAIN or figures.unchanged > causes.UNCHANGED:
            return False
        if swap_attack.repeats_beyond_chance(column, parts):
            return False
    if more > CLEARLY * GUESSED:
        return False
    some = data.aligned()
    some = some.take(evenly_spaced(some.n, BRIEF.rows))
    if len(some.values) + len(some.clear) == 1:
        return True
    if len(schemes) > 1 and any(scheme.shared_donors for scheme in schemes.values()):
        return False  # all columns hardly ever agree by chance
    noise = {name: scheme.sigma for name, scheme in schemes.items()}
    if relations.copies(some.values, some.clear) or relations.hang_together(some.values, noise):
        return False
    steps = relations.steps_of(some, schemes)
    return not relations.identities({**some.values, **some.clear}, steps, set(schemes))


def audit_columns(data: AuditInput, schemes: dict[str, Any], effort: Effort) -> Audit:
    """The audit of a release, without a proposal."""
    if next(iter(schemes.values())).reverse_mapping:
        return audit_reverse_mapped(data, schemes)
    rows = folded_rows(data.n, effort.rows, effort.folds)
    some = data.masked_alone().take(rows.rows)
    why: list[Cause] = []
    columns: dict[str, ColumnAttack] = {}
    by_column: list[Figures] = []
    n, p = 0, next(iter(schemes.values())).p
    for name, scheme in schemes.items():
        values, kind, law = data.values[name], data.kinds[name], scheme.law
        of_column = causes.of_order(values)
        if law.grid is None:
            figures, n = Figures(max(p, 1.0 - p), 1.0, 1.0, 0.0, 1.0, 0.0, 1.0), data.n
            of_column.append(NO_GRID)
        else:
            check_fits(values, law, name, kind)
            column = swap_attack.prepare(some.values[name], kind, law, some.strata, rows, effort)
            parts = column.outcomes(closely=True)
            records = round(data.n * column.n / rows.rows.size)
            figures = swap_attack.figures(column, parts, records, shared=scheme.shared_donors)
            of_column += causes.of_column(some.values[name], kind, column, parts, figures)
            columns[name], n = column, max(n, records)
        by_column.append(figures)
        why += [cause._replace(column=name) for cause in of_column] if len(schemes) > 1 else of_column
    guessed = max(figures.guessed for figures in by_column)
    certain = max(figures.certain for figures in by_column)
    if len(schemes) + len(data.clear) > 1 and len(columns) == len(schemes):
        if data.rows is None:
            aligned, fold = data.take(rows.rows), rows.fold
        else:
            aligned, fold = data.aligned(), rows.folds_of(data.rows)
        more, joint = _of_columns(aligned, schemes, columns, fold, guessed, data.n)
        why += more
        if joint is not None:
            guessed, certain = max(guessed, joint.guessed), max(certain, joint.certain)
    why = sorted(why + causes.of_coin(p), key=lambda cause: -cause.share)
    unchanged = max(figures.unchanged for figures in by_column)
    return Audit(
        n, max(p, 1.0 - p), guessed, certain, unchanged, tuple(why), dict(schemes),
        name=" and ".join(schemes), worst=max(figures.worst for figures in by_column),
        columns=len(schemes) + len(data.clear),
    )  # fmt: skip


def _of_columns(
    data: AuditInput, schemes: dict[str, Any], columns: dict[str, ColumnAttack], fold: np.ndarray,
    alone: float, records: int,
) -> tuple[list[Cause], joint_attack.Joint | None]:  # fmt: skip
    """What columns tell of each other, masked ones and those in clear.

    `alone` is what the worst one tells, `records` the number in the file.
    """
    table, steps, masked = {**data.values, **data.clear}, relations.steps_of(data, schemes), set(schemes)
    identities, why, related = [], [], []
    for identity in relations.identities(table, steps, masked):
        lone = relation_causes.of_lone_identity(identity, float(identity.holds(table, steps).mean()), masked)
        related.append(set(identity.names))
        if lone is None:
            identities.append(identity)
        else:
            why.append(lone)
    why += [
        relation_causes.of_copy(copy)
        for copy in relations.copies(data.values, data.clear)
        if {copy.masked, copy.clear} not in related
    ]
    if len(schemes) == 1:
        return why, None
    shared = any(scheme.shared_donors for scheme in schemes.values())
    joint = joint_attack.joint(
        data.values, data.clear, columns, data.strata, fold, identities, steps, tied=records if shared else 0
    )
    p = next(iter(schemes.values())).p
    blind = max(p, 1.0 - p)
    if joint.ties > alone + NAMED:
        text = f"records that agree in all masked columns were swapped: {causes.tells(joint.ties)}"
        why.append(Cause("ties", joint.ties - blind, 'pass donors="permutation"', text))
    why += [
        relation_causes.of_identity(identity, guessed, blind, masked)
        for identity, guessed in joint.identities.items()
        if guessed > blind + NAMED
    ]
    for (a, b), guessed in joint.pairs.items():
        if guessed > alone + NAMED and not any({a, b} <= set(identity.names) for identity in identities):
            why.append(relation_causes.of_pair(a, b, guessed, blind, clear=False))
    if joint.guessed > alone + NAMED:
        text = (
            f"columns are swapped together: all of them tell of {joint.guessed:.0%} of the records whether "
            f"they were swapped, the worst alone of {alone:.0%}"
        )
        why.append(Cause("joint", joint.guessed - alone, "mend the columns that show most", text))
    return why, joint
