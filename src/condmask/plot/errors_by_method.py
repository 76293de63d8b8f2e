"""A comparison of methods: the error of each statistic under each, a dot on a scale that has 0."""

import os
from collections.abc import Iterable
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from condmask.plot.panels import finish, halo, label, panels, plain_numbers, text
from condmask.plot.style import BLUE, GREY, VERMILLION

STATISTICS = ("mean", "s.d.", "deciles", "difference", "correlation")
LINEAR = 1.0  # up to which the scale is linear, and logarithmic beyond
TICKS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
FEW = (0.0, 1.0, *(10.0**k for k in range(1, 16)))  # where TICKS would be too close
MANY = 25.0
LINE = 24  # letters of a line below an axis
NONE = "not available"


def errors_by_method(
    rows: list[dict[str, Any]],
    missing: Iterable[str] = (),
    name: str = "",
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
) -> Any:
    """Errors as multiples of those in the first row that has one; the axes, one for each statistic."""
    statistics = [statistic for statistic in STATISTICS if statistic in rows[0]]
    methods = [row["method"] for row in rows]
    labels = [  # the estimator where a method has several
        method if methods.count(method) == 1 else f"{method}, {row['estimator']}"
        for method, row in zip(methods, rows, strict=True)
    ] + list(missing)
    absent = [np.nan] * (len(labels) - len(rows))
    axes = panels(
        ax, len(statistics), path, size=(1.9 * len(statistics) + 2.0, 0.36 * len(labels) + 1.3), sharey=True
    )
    for k, (panel, statistic) in enumerate(zip(axes, statistics, strict=True)):
        errors = np.array([row[statistic] for row in rows] + absent, dtype=np.float64)
        reference = next((place for place, error in enumerate(errors) if error > 0.0), None)
        ratios = errors if reference is None else errors / errors[reference]
        known = np.flatnonzero(~np.isnan(ratios))
        panel.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
        if reference is not None:
            panel.axvline(1.0, color=VERMILLION, linewidth=1.0, linestyle="--", zorder=0)
        panel.hlines(known, 0.0, ratios[known], color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        panel.plot(ratios[known], known, linestyle="none", marker="o", markersize=6.0, color=BLUE, zorder=3)
        for place in np.flatnonzero(np.isnan(ratios)):
            panel.text(0.06, place, NONE, va="center", size="small", style="italic", path_effects=halo())
        _scale(panel, float(ratios[known].max(initial=1.0)))
        if k == 0 or ax is not None:  # those of a new figure share this axis
            panel.set_yticks(range(len(labels)), labels)
        panel.set_ylim(len(labels) - 0.4, -0.6)
        unit = "" if reference is None else "\n" + fill(f"(1 = {labels[reference]})", LINE)
        label(panel, f"error of the {statistic}{unit}", f"masking of {text(name)}" if name and k == 0 else "")
        panel.xaxis.label.set_size("small")
    finish(axes, path)
    return np.array(axes, dtype=object)


def _scale(panel: Any, most: float) -> None:
    """From 0, linear up to the reference and logarithmic beyond: large errors leave room for small."""
    panel.set_xscale("symlog", linthresh=LINEAR, linscale=0.5)
    panel.set_xlim(-0.12, max(1.3 * most, 2.2))
    right = panel.get_xlim()[1]
    ticks = FEW if right > MANY else TICKS
    panel.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= right]))
    panel.xaxis.set_minor_locator(NullLocator())
    plain_numbers(panel.xaxis)
