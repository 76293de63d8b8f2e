"""A plan: what the best attacker reaches under each scheme, against what analysts lose by it."""

import os
from typing import Any

import numpy as np

from condmask.plot.panels import finish, halo, label, panels, plain_numbers, text
from condmask.plot.style import BLACK, BLUE, GREY, PURPLE, VERMILLION

# how each suggestion is marked, and where its name stands beside the marker, in points: on the side of the
# frontier where no scheme is
MARKS: dict[str, tuple[str, tuple[int, int], dict[str, str]]] = {
    "most useful": ("^", (0, -10), {"ha": "right", "va": "top"}),
    "balanced": ("D", (-9, -3), {"ha": "right", "va": "center"}),
    "safest": ("s", (-9, 2), {"ha": "right", "va": "center"}),
}
ROOM = 0.22  # of the width, left of the constant guess, for these names


def risk_against_loss(
    plan: Any, name: str = "", path: str | os.PathLike[str] | None = None, ax: Any = None
) -> Any:
    """For each distance the risk of the best attacker against how much longer intervals become; the axes."""
    axes = panels(ax, len(plan.d), path, size=(4.8 * len(plan.d), 4.2), sharey=True)
    loss = np.array([candidate.loss for candidate in plan.candidates])
    risks = np.array([candidate.risk for candidate in plan.candidates])
    capped = bool(plan.caps or plan.record_caps or plan.limits)
    groups = (
        ("beyond the caps", ~plan.allowed & ~plan.refused, _dots("o", GREY, filled=False)),
        ("keeps the caps" if capped else "scheme", plan.allowed & ~plan.refused, _dots("o", BLUE)),
        ("refused by the audit", plan.refused, _dots("X", VERMILLION) | {"markersize": 7.0}),
    )
    frontier = np.flatnonzero(plan.on_frontier)
    frontier = frontier[np.argsort(loss[frontier])]
    of_whom = f" whose {text(name)} is" if name else ""
    for k, (panel, d) in enumerate(zip(axes, plan.d, strict=True)):
        panel.set_yscale("log")
        panel.plot(risks[frontier, k], loss[frontier], color=BLACK, linewidth=1.6, label="frontier", zorder=2)
        for what, rows, look in groups:
            if rows.any():
                panel.plot(risks[rows, k], loss[rows], label=what, **look)
        for suggestion in plan.suggestions:
            _suggestion(panel, suggestion, k)
        constant, rightmost = plan.constant[k], risks[:, k].max()
        panel.axvline(constant, color=BLACK, linewidth=1.0, linestyle=":", label="a constant guess")
        if d in plan.caps:
            panel.axvline(plan.caps[d], color=PURPLE, linewidth=1.4, linestyle="--", label="cap")
        if ax is None:
            width = max(rightmost - constant, 0.01)
            panel.set_xlim(constant - ROOM * width, rightmost + 0.05 * width)
        label(
            panel,
            f"risk: share of records{of_whom}\nguessed closer than {d:g} by the best attacker",
            "length of intervals (1 = without masking)" if k == 0 or ax is not None else "",
        )
        plain_numbers(panel.xaxis, panel.yaxis)
    axes[0].legend(fontsize="small", loc="upper right")
    finish(axes, path)
    return np.array(axes, dtype=object)


def _dots(marker: str, color: str, *, filled: bool = True) -> dict[str, Any]:
    return {
        "linestyle": "none", "marker": marker, "color": color, "markersize": 4.5, "zorder": 3,
        "fillstyle": "full" if filled else "none", "markeredgewidth": 0.5 if filled else 0.9,
    }  # fmt: skip


def _suggestion(panel: Any, suggestion: Any, k: int) -> None:
    marker, offset, aligned = MARKS[suggestion.name]
    at = (suggestion.expected.risk[k], suggestion.expected.loss)
    panel.plot(
        *at, linestyle="none", marker=marker, color=BLACK, markersize=9, markeredgewidth=1.5,
        fillstyle="none", label=suggestion.name, zorder=4,
    )  # fmt: skip
    panel.annotate(
        suggestion.name, at, offset, textcoords="offset points", fontsize="small", zorder=5,
        path_effects=halo(), **aligned,
    )  # fmt: skip
