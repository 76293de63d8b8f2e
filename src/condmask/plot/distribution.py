"""Distribution functions: the estimate with its band, and what a release made of the originals."""

import os
from typing import Any, NamedTuple

import numpy as np

from condmask.plot.panels import finish, label, panels, plain_numbers, text
from condmask.plot.style import BLACK, BLUE, COLOURS, LINES, VERMILLION

BEYOND = 0.05  # of the width of the values, shown on either side of them
SHARE, WHOLE = "share of records at or below", (-0.02, 1.02)
# the original lies on top: where it hides the estimate, that is right
RELEASED: dict[str, Any] = {
    "color": VERMILLION,
    "linestyle": (0, (2.5, 1)),
    "linewidth": 2.6,
    "label": "released",
}
ORIGINAL: dict[str, Any] = {
    "color": BLACK, "linestyle": ":", "linewidth": 1.6, "label": "original (confidential)", "zorder": 4,
}  # fmt: skip


class Curve(NamedTuple):
    """A distribution function, constant from each of ascending `x` to the next, with its band.

    `band` says what the band is, `name` what the column is called, "" where that is not known.
    """

    x: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band: str
    name: str


def distribution_function(curve: Curve, path: str | os.PathLike[str] | None = None, ax: Any = None) -> Any:
    """An estimate and its band; the axes. Each further one in the same axes has a look of its own."""
    (axes,) = panels(ax, 1, path, size=(6.0, 4.0))
    k = sum(not line.get_label().startswith("_") for line in axes.get_lines())  # drawn before
    name = f"estimated {text(curve.name)}" if curve.name else "estimate"
    _draw(axes, curve, COLOURS[k % len(COLOURS)], LINES[k % len(LINES)], name)
    label(axes, text(curve.name) or "value", SHARE)
    if ax is None:
        axes.set_ylim(*WHOLE)
    plain_numbers(axes.xaxis, axes.yaxis)
    axes.legend(fontsize="small")
    finish([axes], path)
    return axes


def original_and_release(
    original: np.ndarray,
    released: np.ndarray,
    shown: np.ndarray,
    curve: Curve,
    *,
    log: bool,
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
) -> Any:
    """Some records before and after masking, and three distribution functions; both axes.

    `shown` are the rows of the records that are drawn, `log` is whether values are on log scales.
    """
    records, shares = axes = panels(ax, 2, path, size=(10.0, 4.5))
    name = text(curve.name) or "value"
    ends = [min(original.min(), released.min()), max(original.max(), released.max())]
    records.plot(ends, ends, color=BLACK, linewidth=1.0, label="released as it was", zorder=3)
    some = "" if shown.size == original.size else f" ({shown.size:,} of {original.size:,})"
    records.plot(
        original[shown], released[shown], linestyle="none", marker="o", markersize=3.0,
        markerfacecolor=VERMILLION, markeredgewidth=0.0, alpha=0.6,
        label=f"a record{some}",
    )  # fmt: skip
    label(records, f"original {name} (confidential)", f"released {name}")

    for values, look in ((released, RELEASED), (original, ORIGINAL)):
        share = np.searchsorted(np.sort(values), curve.x, side="right") / values.size
        shares.step(curve.x, share, where="post", **look)
    _draw(shares, curve, BLUE, "-", "estimated from the release")
    label(shares, name, SHARE)
    if log:
        records.set(xscale="log", yscale="log")
        shares.set_xscale("log")
    if ax is None:
        shares.set_ylim(*WHOLE)
    plain_numbers(records.xaxis, records.yaxis, shares.xaxis, shares.yaxis)
    for panel in axes:  # above, where no record and no line can lie
        panel.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    finish(axes, path)
    return np.array(axes, dtype=object)


def _draw(axes: Any, curve: Curve, color: str, linestyle: Any, name: str) -> None:
    axes.fill_between(
        curve.x, curve.low, curve.high,
        step="post", color=color, alpha=0.25, linewidth=0, zorder=1, label=curve.band,
    )  # fmt: skip
    axes.step(
        curve.x, curve.value, where="post", color=color, linestyle=linestyle, linewidth=1.2, label=name,
    )  # fmt: skip
