"""What columns show together: which can be computed, how many coins all of them give away, and why."""

from collections.abc import Iterator
from typing import Any

from condmask.audit_input import AuditInput
from condmask.disclosure import causes, joint_attack, relation_causes, relations
from condmask.disclosure.attacked_rows import attacked_rows
from condmask.disclosure.causes import NAMED, Cause
from condmask.disclosure.folds import FoldedRows
from condmask.disclosure.inequalities import Inequality, inequalities
from condmask.disclosure.joint_attack import Joint
from condmask.disclosure.long_columns import share_holding
from condmask.disclosure.swap_attack import ColumnAttack, Effort


def are_related(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether columns repeat each other, or add up."""
    if len(data.values) + len(data.clear) == 1:
        return False
    some = data.aligned()
    return bool(relations.copies(some.values, some.clear) or relations.identities_of(data))


def unequal(data: AuditInput, masked: set[str]) -> list[Inequality]:
    """Inequalities that always hold."""
    if len(data.values) + len(data.clear) == 1:
        return []
    some = data.aligned()
    return inequalities({**some.values, **some.clear}, masked)


def figures(
    data: AuditInput, schemes: dict[str, Any], columns: dict[str, ColumnAttack], rows: FoldedRows,
    related: list[Any], effort: Effort,
) -> Iterator[Joint]:  # fmt: skip
    """What all columns show together, in each sample of rows."""
    steps = relations.steps_of(schemes)
    shared = any(scheme.shared_donors for scheme in schemes.values())
    for sample in attacked_rows(data, effort.together, rows):
        inside = {*sample.values, *sample.clear}
        here = [relation for relation in related if inside >= set(relation.names)]
        yield joint_attack.joint(sample, schemes, columns, here, steps, tied=data.n if shared else 0)


def relations_of(data: AuditInput, schemes: dict[str, Any]) -> tuple[list[Cause], list[Any]]:
    """Columns that can be computed from those in clear or repeat one, and all relations of columns."""
    if len(data.values) + len(data.clear) == 1:
        return [], []
    some, masked, steps = data.aligned(), set(schemes), relations.steps_of(schemes)
    table, related = {**some.values, **some.clear}, relations.identities_of(data)
    lone = [
        relation_causes.of_lone_identity(identity, share_holding(identity, table, steps), masked)
        for identity in related
    ]
    together = [set(identity.names) for identity in related]
    copies = [
        relation_causes.of_copy(copy)
        for copy in relations.copies(some.values, some.clear)
        if {copy.masked, copy.clear} not in together
    ]
    return [cause for cause in lone if cause is not None] + copies, [*related, *unequal(data, masked)]


def causes_of(joints: list[Joint], schemes: dict[str, Any], alone: float, *, in_order: bool) -> list[Cause]:
    """Why columns show more together than the worst one, which gives away a share `alone` of the coins.

    `in_order` says that a cause already names the order of the rows.
    """
    p = next(iter(schemes.values())).p
    blind, masked, why = max(p, 1.0 - p), set(schemes), []
    by_relation, by_pair, by_unit = (
        _greatest([getattr(joint, of) for joint in joints]) for of in ("relations", "pairs", "units")
    )
    ties, most = max(joint.ties for joint in joints), max(joint.guessed for joint in joints)
    if ties > alone + NAMED:
        text = f"records that agree in all masked columns were swapped: {causes.tells(ties)}"
        why.append(Cause("ties", ties - blind, 'pass donors="permutation"', text))
    identities = [set(one.names) for one in by_relation if not isinstance(one, Inequality)]
    for relation, share in by_relation.items():
        least = blind
        if isinstance(relation, Inequality):  # it may be a mere remnant of a closer relation
            names = set(relation.names)
            least = max([blind, *(of_pair for pair, of_pair in by_pair.items() if names >= set(pair))])
            if any(names <= identity for identity in identities):
                continue
        if share > least + NAMED:
            why.append(relation_causes.of_identity(relation, share, blind, masked))
    for (a, b), share in by_pair.items():
        if share > alone + NAMED and not any({a, b} <= identity for identity in identities):
            why.append(relation_causes.of_pair(a, b, share, blind, clear=b not in masked))
    for (column, name), share in by_unit.items():
        if share > alone + NAMED and (name or not in_order):
            why.append(relation_causes.of_unit(column, name, share, blind))
    if most > alone + NAMED and len(schemes) > 1:
        text = (
            f"columns are swapped together: all of them give away the swap status of {most:.0%} of the "
            f"records, the worst alone of {alone:.0%}"
        )
        why.append(Cause("joint", most - alone, "change the columns that show most", text))
    return why


def _greatest(shares: list[dict[Any, float]]) -> dict[Any, float]:
    """For each key the greatest share in any sample of rows."""
    greatest: dict[Any, float] = {}
    for some in shares:
        greatest |= {key: max(share, greatest.get(key, 0.0)) for key, share in some.items()}
    return greatest
