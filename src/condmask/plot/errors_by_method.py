"""Draw a comparison of methods: the error of each statistic under each method, as dots."""

from collections import Counter
from collections.abc import Iterable
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from condmask.plot import panels
from condmask.plot.panels import Style

COMPARED_STATISTICS = ("mean", "s.d.", "deciles", "difference", "correlation")
MAX_LINEAR_RATIO = 1.0  # up to which the scale is linear, and logarithmic beyond
CLOSE_TICKS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
POWER_TICKS = (0.0, 1.0, *(10.0**k for k in range(1, 16)))  # where TICKS would be too close
MAX_CLOSE_TICK = 25.0
MAX_LINE_LETTERS = 24  # letters of a line below an axis
NOTE_STYLE: Style = {
    "va": "center",
    "size": "small",
    "style": "italic",
    "path_effects": panels.HALO,
}


def errors_by_method(
    rows: list[dict[str, Any]],
    missing: Iterable[str],
    name: str,
    path: panels.PicturePath,
    ax: object,
) -> Any:
    """Draw errors as multiples of the error in the first row that has one.

    Returns the axes, one for each statistic.
    """
    statistics = [statistic for statistic in COMPARED_STATISTICS if statistic in rows[0]]
    # the estimator is named where a method has several
    times = Counter(row["method"] for row in rows)
    labels = [row["method"] + f", {row['estimator']}" * (times[row["method"]] > 1) for row in rows]
    labels += missing
    size = 1.9 * len(statistics) + 2.0, 0.36 * len(labels) + 1.3
    axes = panels.begin_figure(ax, len(statistics), path, size=size, sharey=True)
    for panel, statistic in zip(axes, statistics, strict=True):
        ratios = np.full(len(labels), np.nan)
        ratios[: len(rows)] = [row[statistic] for row in rows]
        reference = next((place for place, error in enumerate(ratios) if error > 0.0), None)
        unit = ""
        panel.axvline(0.0, color=panels.GREY, linewidth=0.8, zorder=0)
        if reference is not None:
            ratios /= ratios[reference]
            unit = "\n" + fill(f"(1 = {labels[reference]})", MAX_LINE_LETTERS)
            panel.axvline(1.0, color=panels.VERMILLION, linewidth=1.0, linestyle="--", zorder=0)
        known = np.flatnonzero(~np.isnan(ratios))
        panel.hlines(
            known, 0.0, ratios[known], color=panels.GREY, linewidth=0.8, linestyle=":", zorder=1
        )
        panel.plot(ratios[known], known, "o", markersize=6.0, color=panels.BLUE, zorder=3)
        for place in np.flatnonzero(np.isnan(ratios)):
            panel.text(0.06, place, "not available", **NOTE_STYLE)
        _scale(panel, float(ratios[known].max(initial=1.0)))
        first = panel is axes[0]
        if first or ax is not None:  # those of a new figure share this axis
            panel.set_yticks(range(len(labels)), labels)
        panel.set_ylim(len(labels) - 0.4, -0.6)
        of_what = f"masking of {panels.escaped_name(name)}" if name and first else ""
        panels.label_axes(panel, f"error of the {statistic}{unit}", of_what)
        panel.xaxis.label.set_size("small")
    return panels.finish_figure(axes, path)


def _scale(panel: Any, most: float) -> None:
    """Set a scale that is linear from 0 to the reference and logarithmic beyond it.

    Large errors then leave room for small ones.
    """
    panel.set_xscale("symlog", linthresh=MAX_LINEAR_RATIO, linscale=0.5)
    right = max(1.3 * most, 2.2)
    panel.set_xlim(-0.12, right)
    ticks = POWER_TICKS if right > MAX_CLOSE_TICK else CLOSE_TICKS
    panel.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= right]))
    panel.xaxis.set_minor_locator(NullLocator())
    panels.plain_numbers(panel.xaxis)
