"""The audit of a release by reverse mapping: what its guard rails say, and what columns tell together.

A column alone tells nothing (docs/reverse_mapping.rst), and is not attacked.
"""

from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.disclosure import causes, guard_rails, joint_attack, relation_causes, relations
from condmask.disclosure.audit_result import RAIL, RAIL_WARNING, Audit
from condmask.disclosure.causes import NAMED, Cause
from condmask.disclosure.swap_attack import HALF


def audit_reverse_mapped(data: AuditInput, schemes: dict[str, Any]) -> Audit:
    """The audit of a release by reverse mapping, without a proposal."""
    first = next(iter(schemes.values()))
    p, blind, masked = first.p, max(first.p, 1.0 - first.p), set(schemes)
    some = data.aligned()
    some = some.take(evenly_spaced(some.n, HALF.rows))
    tables = joint_attack.rearranged(some.values, some.clear, schemes, some.strata)
    why, guessed, certain = causes.of_coin(p) + _of_rails(data, schemes), blind, 0.0
    of_unchanged, unchanged = _of_unchanged(some, tables, p)
    why += of_unchanged
    if len(tables[0]) > 1:
        table, steps = {**some.values, **some.clear}, relations.steps_of(some, schemes)
        identities = relations.identities(table, steps, masked)
        joint = joint_attack.joint_of_rearranged(p, tables, list(schemes), identities, steps)
        guessed, certain = max(blind, joint.guessed), joint.certain
        for identity, alone in joint.identities.items():
            share = float(identity.holds(table, steps).mean())
            lone = relation_causes.of_lone_identity(identity, share, masked)
            if lone is not None:
                why.append(lone)
            elif alone > blind + NAMED:
                why.append(relation_causes.of_identity(identity, alone, blind, masked))
        for (a, b), alone in joint.pairs.items():
            if alone > blind + NAMED:
                why.append(relation_causes.of_pair(a, b, alone, blind, clear=b in some.clear))
    n = max(int(np.count_nonzero(~np.isnan(x))) for x in data.values.values())
    ordered = tuple(sorted(why, key=lambda cause: -cause.share))
    return Audit(
        n, blind, guessed, certain, unchanged, ordered, dict(schemes), name=" and ".join(schemes),
        columns=len(schemes) + len(data.clear),
    )  # fmt: skip


def _of_rails(data: AuditInput, schemes: dict[str, Any]) -> list[Cause]:
    """What the guard rails refuse or warn of."""
    why = []
    for verdict in (guard_rails.review(data, schemes), guard_rails.review_clear(data)):
        refusals = [] if verdict.refusal is None else [verdict.refusal]
        for name, sentences in ((RAIL, refusals), (RAIL_WARNING, verdict.warnings)):
            for sentence in sentences:
                text, _, remedy = sentence.partition("; ")
                why.append(Cause(name, float(name == RAIL), remedy, text))
    return why


def _of_unchanged(data: AuditInput, tables: joint_attack.Tables, p: float) -> tuple[list[Cause], float]:
    """Columns whose kept records get their own value back beyond chance, and the share of the worst."""
    why, most = [], 0.0
    for name, x in data.values.items():
        present = ~np.isnan(x)
        if not present.any():
            continue
        swapped, kept = (float(np.mean(table[name][present] == x[present])) for table in tables)
        share = (kept - swapped) / max(1.0 - swapped, 1e-300)  # a common value comes back by chance
        most = max(most, share)
        if share > causes.UNCHANGED:
            text = f"{kept:.0%} of the kept records get their own value back, {swapped:.0%} of the swapped"
            why.append(Cause("unchanged", (1.0 - p) * share, "pass a larger sigma", text, name))
    return why, most
