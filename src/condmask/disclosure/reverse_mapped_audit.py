"""The audit of a release by reverse mapping: what its guard rails say, and what columns show together.

A column alone shows nothing (docs/reverse_mapping.rst) and is not attacked.
"""

from typing import Any

import numpy as np

from condmask.audit_input import AuditInput
from condmask.disclosure import causes, columns_together, guard_rails
from condmask.disclosure.attacked_rows import attacked_rows
from condmask.disclosure.audit_result import RAIL, RAIL_WARNING, Audit
from condmask.disclosure.causes import Cause
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.long_columns import count_present
from condmask.disclosure.redrawn import redrawn
from condmask.disclosure.swap_attack import FULL


def audit_reverse_mapped(data: AuditInput, schemes: dict[str, Any]) -> Audit:
    """The audit of a release by reverse mapping, without a proposal."""
    first, rows = next(iter(schemes.values())), folded_rows(data.n, FULL.rows)
    blind = max(first.p, 1.0 - first.p)
    why = causes.of_coin(first.p) + _of_rails(data, schemes)
    of_relations, related = columns_together.relations_of(data, schemes)
    joints = [*columns_together.figures(data, schemes, {}, rows, related, FULL)]
    why += of_relations + columns_together.causes_of(joints, schemes, blind, in_order=False)
    of_unchanged, unchanged = _of_unchanged(data, schemes)
    why += of_unchanged
    n = max(map(count_present, data.values.values()))
    return Audit(
        n, blind, max(blind, *(joint.guessed for joint in joints)), max(joint.certain for joint in joints),
        unchanged, tuple(sorted(why, key=lambda cause: -cause.share)), dict(schemes),
        name=" and ".join(schemes), columns=len(schemes) + len({*data.clear, *data.labels}),
    )  # fmt: skip


def _of_rails(data: AuditInput, schemes: dict[str, Any]) -> list[Cause]:
    """What the guard rails refuse or warn of."""
    why = []
    for verdict in (guard_rails.review_clear(data), guard_rails.review(data, schemes)):
        for name, sentences in ((RAIL, verdict.refusals), (RAIL_WARNING, verdict.warnings)):
            for sentence in sentences:
                text, _, remedy = sentence.partition("; ")
                why.append(Cause(name, float(name == RAIL), remedy, text))
    return why


def _of_unchanged(data: AuditInput, schemes: dict[str, Any]) -> tuple[list[Cause], float]:
    """Columns whose kept records get their own value back beyond chance, and the share of the worst."""
    rows = attacked_rows(data, FULL.together, folded_rows(data.n, FULL.rows))[0]
    drawn = redrawn(rows.values, schemes, rows.strata, {}, rows.fold, np.random.default_rng(0))
    why, most, p = [], 0.0, next(iter(schemes.values())).p
    for name, x in rows.values.items():
        present = ~np.isnan(x)
        if not present.any():
            continue
        swapped, kept = (float(np.mean(way[present] == x[present])) for way in drawn.values[name])
        share = (kept - swapped) / max(1.0 - swapped, 1e-300)  # a common value comes back by chance
        most = max(most, share)
        if share > causes.UNCHANGED and not guard_rails.zeros_stay(x, schemes[name]):  # told already
            text = (
                f"{kept:.0%} of the kept records get their own value back, against {swapped:.0%} of the "
                "swapped ones"
            )
            why.append(Cause("unchanged", (1.0 - p) * share, "pass a larger sigma", text, name))
    return why, most
