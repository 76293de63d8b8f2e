"""Draw the pictures of a report: SVG within the page, with the same bytes every time."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from condmask._blocks import evenly_spaced
from condmask.disclosure.risk_result import ATTACKERS, BEST_CONSTANT, ColumnRisk
from condmask.estimates.estimate import Estimate
from condmask.inference.interval import Target
from condmask.plot import panels
from condmask.reports.plot_release import CURVE_POINTS, MAX_DRAWN_RECORDS

CHART_WIDTH = 5.4
CHART_HEIGHT = 3.6  # inches; letters can be read where this is shown 360 px wide
HISTOGRAM_HEIGHT = 2.2
HISTOGRAM_BINS = 20
ATTACKER_HEIGHT = 0.34
MARGIN_HEIGHT = 1.1  # inches of an attacker's row, and above and below all rows
BAND_SEED = 1  # of the band's simulations
MASKED_LINE = "masked values, as if true"
ORIGINAL_LINE = "original"
LINE_STYLES: dict[str, Any] = {
    MASKED_LINE: {"color": panels.VERMILLION, "linestyle": "--"},
    ORIGINAL_LINE: {"color": panels.BLACK, "linestyle": ":"},
}


def distribution(
    estimate: Estimate, lines: Mapping[str, np.ndarray], axis: str, *, target: Target
) -> str:
    """Draw the estimated distribution function with its band, and those of further values.

    `lines` holds these values by the labels of their lines. Returns SVG.
    """
    drawing = Figure(figsize=(CHART_WIDTH, CHART_HEIGHT), layout="constrained")
    axes = drawing.subplots()
    estimate.plot_cdf(ax=axes, rng=BAND_SEED, target=target)
    left, right = axes.dataLim.intervalx
    at = np.linspace(left, right, CURVE_POINTS)
    for label, values in lines.items():
        present = np.sort(values[~np.isnan(values)])
        share = np.searchsorted(present, at, side="right") / present.size
        axes.plot(at, share, label=label, **LINE_STYLES[label])
    axes.set_xlabel(panels.escaped_name(axis))
    axes.legend(fontsize="small")
    return svg(drawing)


def attackers(risk: ColumnRisk, name: str) -> str:
    """Draw the shares guessed by each attacker and distance, with 95% intervals; return SVG."""
    who = [each for each in ATTACKERS if each in risk.attackers]
    height = MARGIN_HEIGHT + ATTACKER_HEIGHT * len(who)
    drawing = Figure(figsize=(CHART_WIDTH, height), layout="constrained")
    axes = drawing.subplots()
    rows = np.arange(len(who))
    for k, d in enumerate(risk.d):
        share = np.array([risk.attackers[each][k] for each in who])
        low, high = np.transpose([[end[k] for end in risk.interval(each)] for each in who])
        look = panels.series_style(k) | {"linestyle": "none", "markersize": 4.0}
        axes.hlines(rows, low, high, look["color"])
        axes.plot(share, rows, label=f"closer than {d:,g}", **look)
        without = risk.attackers[BEST_CONSTANT][k]
        axes.axvline(without, color=look["color"], linestyle="--")
    axes.set_yticks(rows, who)
    axes.set(xlim=(0.0, 1.02), ylim=(len(who) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(lambda share, _: f"{100.0 * share:g}%")
    axes.set_xlabel(f"records whose {panels.escaped_name(name)} is guessed")
    drawing.legend(fontsize="small", loc="outside upper center", ncols=3)
    return svg(drawing)


def by_record(posterior: np.ndarray, name: str) -> str:
    """Draw how many records the best attacker is how sure of; return SVG."""
    drawing = Figure(figsize=(CHART_WIDTH, HISTOGRAM_HEIGHT), layout="constrained")
    axes = drawing.subplots()
    axes.hist(posterior, HISTOGRAM_BINS, range=(0.0, 1.0), color=panels.BLUE)
    axes.set(xlim=(0.0, 1.0))
    axes.set_xlabel(f"how sure an attacker is of the {panels.escaped_name(name)} of a record")
    axes.set_ylabel("records")
    axes.xaxis.set_major_formatter(lambda share, _: f"{100.0 * share:g}%")
    return svg(drawing)


def scatter(x: np.ndarray, z: np.ndarray, name: str) -> str:
    """Draw released values against originals, of some records from all over the file; return
    SVG."""
    there = np.flatnonzero(~np.isnan(x))
    some = there[evenly_spaced(there.size, MAX_DRAWN_RECORDS)]
    drawing = Figure(figsize=(CHART_WIDTH, CHART_WIDTH), layout="constrained")
    axes = drawing.subplots()
    axes.plot(x[some], z[some], ".", color=panels.BLUE, markersize=2.5)
    ends = [np.nanmin(x), np.nanmax(x)]
    axes.plot(ends, ends, color=panels.BLACK, linewidth=0.75)
    axes.set_xlabel(f"original {panels.escaped_name(name)}")
    axes.set_ylabel("released")
    return svg(drawing)


def svg(figure: Figure) -> str:
    """Return a figure as an SVG element, in which letters remain text."""
    written = io.StringIO()
    same: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "condmask"}
    with rc_context(same):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(written, format="svg", metadata=nothing)
    drawn = written.getvalue()
    return drawn[drawn.index("<svg ") :]
