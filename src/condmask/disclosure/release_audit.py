"""The audit of columns before they are masked: each by itself, and all together."""

from typing import Any

from condmask.audit_input import AuditInput
from condmask.disclosure import causes, columns_together, swap_attack
from condmask.disclosure.audit_result import CERTAIN, GUESSED, Audit
from condmask.disclosure.causes import Cause
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.reverse_mapped_audit import audit_reverse_mapped
from condmask.disclosure.swap_attack import BRIEF, ColumnAttack, Effort, Figures
from condmask.grid import check_fits

CLEARLY = 0.6  # of the limits: up to here a brief look decides
NO_GRID = Cause(
    "no grid", 1.0, "leave step out",
    "without a grid, swapped values have the last digits and bits of the data, kept ones do not",
)  # fmt: skip


def nothing_visible(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether a brief look shows that nothing is visible, and that there is nothing to warn of."""
    rows, columns, more = folded_rows(data.n, BRIEF.rows, BRIEF.folds), {}, 0.0
    some = data.masked_alone().take(rows.rows)
    for name, scheme in schemes.items():
        if causes.of_coin(scheme.p) or causes.of_order(data.values[name]):
            return False
        if scheme.reverse_mapping:
            continue
        if scheme.law.grid is None:
            return False
        check_fits(data.values[name], scheme.law, name, data.kinds[name])
        columns[name] = column = swap_attack.prepare(
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
    if len(schemes) > 1 and any(scheme.shared_donors for scheme in schemes.values()):
        return False  # all columns hardly ever agree by chance
    blind = max(scheme.p, 1.0 - scheme.p)
    return not columns_together.are_related(data, schemes) and all(
        joint.guessed <= blind + CLEARLY * GUESSED and joint.certain <= CLEARLY * CERTAIN
        for joint in columns_together.figures(
            data, schemes, columns, rows, columns_together.unequal(data, set(schemes)), BRIEF
        )
    )


def audit_columns(data: AuditInput, schemes: dict[str, Any], effort: Effort) -> Audit:
    """The audit of a release, without proposals."""
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
    if len(columns) == len(schemes):
        more, related = columns_together.relations_of(data, schemes)
        why += more
        joints = [*columns_together.figures(data, schemes, columns, rows, related, effort)]
        in_order = any(cause.name == "row order" for cause in why)
        why += columns_together.causes_of(joints, schemes, guessed, in_order=in_order)
        guessed = max(guessed, *(joint.guessed for joint in joints))
        certain = max(certain, *(joint.certain for joint in joints))
    why = sorted(why + causes.of_coin(p), key=lambda cause: -cause.share)
    unchanged = max(figures.unchanged for figures in by_column)
    return Audit(
        n, max(p, 1.0 - p), guessed, certain, unchanged, tuple(why), dict(schemes),
        name=" and ".join(schemes), worst=max(figures.worst for figures in by_column),
        columns=len(schemes) + len({*data.clear, *data.labels}),
    )  # fmt: skip
