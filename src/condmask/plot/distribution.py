"""Draw distribution functions: an estimate with its band, originals and released values."""

from typing import Any, NamedTuple

import numpy as np

from condmask.plot import panels
from condmask.plot.panels import Style

BEYOND = 0.05  # of the width of the values, shown on either side of them
SHARE_LABEL = "share of records at or below"
SHARE_RANGE = (-0.02, 1.02)
# the original lies on top: where it hides the estimate, that is right
RELEASED_STYLE: Style = {
    "color": panels.VERMILLION,
    "linestyle": (0, (2.5, 1)),
    "linewidth": 2.6,
    "label": "released",
}
ORIGINAL_STYLE: Style = {
    "color": panels.BLACK,
    "linestyle": ":",
    "linewidth": 1.6,
    "label": "original (confidential)",
}
RECORD_STYLE: Style = {
    "marker": "o",
    "markersize": 3.0,
    "markerfacecolor": panels.VERMILLION,
    "markeredgewidth": 0.0,
}


class DrawnCurve(NamedTuple):
    """A distribution function, constant from each of ascending `x` to the next, with its band.

    `band` is the label of the band, `name` the name of the column, "" if it has none.
    """

    x: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band: str
    name: str

    def draw(self, axes: Any, color: str, linestyle: Any, name: str) -> None:
        """Draw the line and its band."""
        look = {"step": "post", "color": color, "alpha": 0.25, "linewidth": 0, "zorder": 1}
        axes.fill_between(self.x, self.low, self.high, label=self.band, **look)
        line = {"color": color, "linestyle": linestyle, "linewidth": 1.2, "label": name}
        axes.step(self.x, self.value, where="post", **line)
        panels.label_axes(axes, panels.escaped_name(self.name) or "value", SHARE_LABEL)


def distribution_function(curve: DrawnCurve, path: panels.PicturePath, ax: Any) -> Any:
    """Draw an estimate and its band; return the axes.

    Each further estimate in the same axes gets another colour and line style.
    """
    (axes,) = panels.begin_figure(ax, 1, path, size=(6.0, 4.0))
    k = sum(not line.get_label().startswith("_") for line in axes.get_lines())  # drawn before
    name = f"estimated {panels.escaped_name(curve.name)}" if curve.name else "estimate"
    curve.draw(
        axes, panels.COLOURS[k % len(panels.COLOURS)], panels.LINES[k % len(panels.LINES)], name
    )
    if ax is None:
        axes.set_ylim(*SHARE_RANGE)
    panels.plain_numbers(axes.xaxis, axes.yaxis)
    axes.legend(fontsize="small")
    return panels.finish_figure([axes], path)[0]


def original_and_release(
    original: np.ndarray,
    released: np.ndarray,
    shown: np.ndarray,
    curve: DrawnCurve,
    *,
    log: bool,
    path: panels.PicturePath = None,
    ax: Any = None,
) -> Any:
    """Draw records before and after masking, and three distribution functions; return both axes.

    `shown` holds the rows of the records that are drawn; `log` chooses log scales for values.
    """
    records, shares = axes = panels.begin_figure(ax, 2, path, size=(10.0, 4.5))
    name = panels.escaped_name(curve.name) or "value"
    ends = [min(original.min(), released.min()), max(original.max(), released.max())]
    records.plot(
        ends, ends, color=panels.BLACK, linewidth=1.0, label="released as it was", zorder=3
    )
    some = "" if shown.size == original.size else f" ({shown.size:,} of {original.size:,})"
    look = RECORD_STYLE | {"linestyle": "none", "alpha": 0.6, "label": f"a record{some}"}
    records.plot(original[shown], released[shown], **look)
    panels.label_axes(records, f"original {name} (confidential)", f"released {name}")
    for values, line in ((released, RELEASED_STYLE), (original, ORIGINAL_STYLE | {"zorder": 4})):
        share = np.searchsorted(np.sort(values), curve.x, side="right") / values.size
        shares.step(curve.x, share, where="post", **line)
    curve.draw(shares, panels.BLUE, "-", "estimated from the release")
    if log:
        records.set(xscale="log", yscale="log")
        shares.set_xscale("log")
    if ax is None:
        shares.set_ylim(*SHARE_RANGE)
    for panel in axes:  # legends above, where no record and no line can lie
        panels.plain_numbers(panel.xaxis, panel.yaxis)
        panel.legend(
            fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False
        )
    return panels.finish_figure(axes, path)
