"""The two panels of a picture in the gallery: single records, and means of groups.

Colours are those of Okabe and Ito, which everybody can tell apart; markers differ as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

ORIGINAL, RELEASED, ESTIMATED = "#000000", "#D55E00", "#0072B2"
SHOWN = 600  # records


def panels(unit, original, released, means, scale="log", what=""):
    """Draw some records, and for each group its mean in the original, as released, and as estimated.

    Parameters
    ----------
    unit : str
        What the values are.
    original, released : array-like
        A value for each record.
    means : list of (str, float, float, Interval)
        The name of a group, its original mean, the mean of its released values, the estimate.
    scale : {"log", "linear", "symlog"}
        The axes of the first panel.
    what : str
        What the records show, before the unit, where the groups show something else.
    """
    original, released = np.asarray(original, dtype=float), np.asarray(released, dtype=float)
    figure = plt.figure(figsize=(9.4, 4.2), layout="constrained")
    records, groups = figure.subplots(1, 2)
    _records(records, f"{what}{unit}", original, released, scale)
    _groups(groups, unit, means)
    for axes in (records, groups):
        axes.spines[["top", "right"]].set_visible(False)


def _records(axes, unit, original, released, scale):
    shown = np.random.default_rng(1).choice(original.size, min(SHOWN, original.size), replace=False)
    x, y = original[shown], released[shown]
    if scale == "log":
        x, y = (np.where(values > 0.0, values, np.nan) for values in (x, y))
    axes.axline((1.0, 1.0), slope=1.0, color=ORIGINAL, linewidth=0.9)
    axes.scatter(x, y, s=8, color=RELEASED, linewidths=0, alpha=0.7)
    ends = np.nanquantile(np.concatenate([x, y]), [0.005, 0.995])
    axes.set(xlim=ends, ylim=ends)
    axes.set(xscale=scale, yscale=scale, xlabel=f"original {unit}", ylabel=f"released {unit}")
    if scale != "linear":
        for axis in (axes.xaxis, axes.yaxis):
            if scale == "log" and ends[1] < 200.0 * ends[0]:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(lambda value, _: f"{value:,g}")
            axis.set_minor_formatter(NullFormatter())
    axes.set_title("A record: released against original", fontsize=11, loc="left")


def _groups(axes, unit, means):
    rows = np.arange(len(means), dtype=float)[::-1]
    names, original, released, estimated = zip(*means, strict=True)
    middle = np.array([each.estimate for each in estimated])
    sides = [middle - [each.low for each in estimated], [each.high for each in estimated] - middle]
    axes.errorbar(
        middle, rows - 0.16, xerr=sides, fmt="s", color=ESTIMATED, capsize=3, markersize=6,
        label="estimated from the release, 95%",
    )  # fmt: skip
    axes.plot(released, rows, "x", color=RELEASED, markersize=8, markeredgewidth=2, label="released values")
    axes.plot(
        original, rows + 0.16, "o", color=ORIGINAL, markersize=7, fillstyle="none", markeredgewidth=1.6,
        label="original",
    )  # fmt: skip
    axes.set_yticks(rows, names)
    axes.set(ylim=(-0.6, len(means) - 0.4 + 0.22 * len(means)), xlabel=f"mean {unit}")
    axes.legend(loc="upper left", fontsize=9, frameon=False, reverse=True)
    axes.set_title("A group: its mean", fontsize=11, loc="left")
