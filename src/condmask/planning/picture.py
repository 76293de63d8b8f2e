"""The picture of a plan, with matplotlib."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from condmask.planning.result import Plan

MARKS = {"most useful": "^", "balanced": "D", "safest": "s"}


def frontier(plan: "Plan", path: str | os.PathLike[str] | None = None) -> Any:
    """A panel for each distance: the risk of the best attacker against how much longer intervals become."""
    from matplotlib.figure import Figure

    loss = np.array([each.loss for each in plan.candidates])
    risks = np.array([each.risk for each in plan.candidates])
    figure = Figure(figsize=(4.6 * len(plan.d), 4.0), layout="constrained")
    panels = figure.subplots(1, len(plan.d), squeeze=False)[0]
    for k, (panel, d) in enumerate(zip(panels, plan.d, strict=True)):
        shown = plan.allowed
        panel.plot(risks[~shown, k], loss[~shown], "o", color="0.8", markersize=4, label="beyond the caps")
        panel.plot(risks[shown, k], loss[shown], "o", color="C0", markersize=4, label="keeps the caps")
        own = np.flatnonzero(plan.on_frontier)
        own = own[np.argsort(risks[own, k])]
        panel.plot(risks[own, k], loss[own], color="0.5", linewidth=1, label="frontier", zorder=0)
        for each in plan.suggestions:
            panel.plot(
                each.expected.risk[k], each.expected.loss, MARKS[each.name], color="C3", markersize=8,
                fillstyle="none", label=each.name,
            )  # fmt: skip
        panel.axvline(plan.constant[k], color="0.3", linewidth=0.8, linestyle=":", label="a constant guess")
        if d in plan.caps:
            panel.axvline(plan.caps[d], color="C3", linewidth=0.8, linestyle="--", label="cap")
        panel.set(xlabel=f"share of records within {d:g} of the best guess", yscale="log")
    panels[0].set_ylabel("length of intervals, without masking 1")
    panels[0].legend(fontsize="small")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
