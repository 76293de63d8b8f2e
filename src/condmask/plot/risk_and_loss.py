"""Draw a plan: the risk of each scheme against the length of intervals."""

from typing import Any

import numpy as np

from condmask.plot import panels
from condmask.plot.panels import Style

DOT_STYLE: Style = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 4.5,
    "markeredgewidth": 0.5,
    "zorder": 3,
}
ALLOWED_STYLE: Style = {"color": panels.BLUE}
REFUSED_STYLE: Style = {"color": panels.VERMILLION, "marker": "X", "markersize": 7.0}
FRONTIER_STYLE: Style = {"color": panels.BLACK, "linewidth": 1.6, "zorder": 2}
BEYOND_STYLE: Style = {"color": panels.GREY, "fillstyle": "none", "markeredgewidth": 0.9}
SUGGESTED_STYLE: Style = {
    "color": panels.BLACK,
    "markersize": 9,
    "markeredgewidth": 1.5,
    "fillstyle": "none",
    "zorder": 4,
}
# how each suggestion is marked, and where its name stands beside the marker, in points: on the
# side of the frontier where no scheme is
SUGGESTION_MARKS: dict[str, tuple[str, tuple[int, int], str]] = {
    "most useful": ("^", (0, -10), "top"),
    "balanced": ("D", (-9, -3), "center"),
    "safest": ("s", (-9, 2), "center"),
}
SUGGESTION_LABELS: Style = {
    "textcoords": "offset points",
    "fontsize": "small",
    "ha": "right",
    "zorder": 5,
}
LENGTH_LABEL = "length of intervals (1 = without masking)"
LABEL_ROOM = 0.22  # of the width, left of the constant guess, for these names


def risk_against_loss(plan: Any, name: str, path: panels.PicturePath, ax: Any) -> Any:
    """Draw for each distance the risk of the best attacker against the length of intervals.

    Returns the axes, one for each distance.
    """
    axes = panels.begin_figure(ax, len(plan.d), path, size=(4.8 * len(plan.d), 4.2), sharey=True)
    loss = np.array([candidate.loss for candidate in plan.candidates])
    risks = np.array([candidate.risk for candidate in plan.candidates])
    groups = (
        ("beyond the caps", ~plan.allowed & ~plan.refused, BEYOND_STYLE),
        ("keeps the caps" if plan.caps else "scheme", plan.allowed & ~plan.refused, ALLOWED_STYLE),
        ("refused by the audit", plan.refused, REFUSED_STYLE),
    )
    frontier = np.flatnonzero(plan.on_frontier)
    frontier = frontier[np.argsort(loss[frontier])]
    of_whom = f" whose {panels.escaped_name(name)} is" if name else ""
    for k, (panel, d) in enumerate(zip(axes, plan.d, strict=True)):
        panel.set_yscale("log")
        panel.plot(risks[frontier, k], loss[frontier], label="frontier", **FRONTIER_STYLE)
        for what, rows, look in groups:
            if rows.any():
                panel.plot(risks[rows, k], loss[rows], label=what, **DOT_STYLE | look)
        for suggested, candidate in plan.suggestions.items():
            marker, offset, side = SUGGESTION_MARKS[suggested]
            at = (candidate.risk[k], candidate.loss)
            panel.plot(*at, marker=marker, label=suggested, **SUGGESTED_STYLE)
            panel.annotate(
                suggested, at, offset, va=side, path_effects=panels.HALO, **SUGGESTION_LABELS
            )
        constant = plan.constant[k]
        rightmost = risks[:, k].max()
        panel.axvline(
            constant, color=panels.BLACK, linewidth=1.0, linestyle=":", label="a constant guess"
        )
        if (cap := plan.caps.get(f"risk {d:.15g}")) is not None:
            panel.axvline(cap, color=panels.PURPLE, linewidth=1.4, linestyle="--", label="cap")
        if ax is None:
            width = max(rightmost - constant, 0.01)
            panel.set_xlim(constant - LABEL_ROOM * width, rightmost + 0.05 * width)
        risk = f"risk: share of records{of_whom}\nguessed closer than {d:g} by the best attacker"
        panels.label_axes(panel, risk, LENGTH_LABEL if k == 0 or ax is not None else "")
        panels.plain_numbers(panel.xaxis, panel.yaxis)
    axes[0].legend(fontsize="small", loc="upper right")
    return panels.finish_figure(axes, path)
