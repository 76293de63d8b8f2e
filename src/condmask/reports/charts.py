"""Pictures of a report: SVG within the page, of the same bytes whenever they are drawn.

Names of columns and units stand in them as plain text: matplotlib would read mathematics into some.
"""

import io
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from condmask.disclosure.risk_result import CONSTANT
from condmask.errors import optional
from condmask.reports.html import UNFIT, Html, text

WIDTH, HEIGHT = 5.4, 3.6  # inches; letters can be read where this is shown 360 px wide
ROW, AROUND = 0.24, 0.75  # inches of an attacker's row, and above and below the rows of one distance
POINTS = 1000
SEED = 1  # of the band's simulations
GREY, RED = "0.45", "C3"
ROOM = 1.08  # beyond the largest share
LETTERS = 60  # of a line below an axis


def distributions(
    estimate: Any, z: np.ndarray | None, x: np.ndarray | None = None, target: str = "population",
    axis: str = "value",
) -> Html:  # fmt: skip
    """The estimate of the original with its band, the masked column and the original where they are given.

    `axis` names the column and its unit.
    """
    axes = _figure(HEIGHT).subplots()
    estimate.plot_cdf(ax=axes, rng=SEED, target=target)
    left, right = axes.get_xlim()
    at = np.linspace(left, right, POINTS)
    if z is not None:
        label = "masked values, as if true"
        axes.plot(at, share_below(z, at), color=GREY, linestyle="--", linewidth=1, label=label)
    if x is not None:
        axes.plot(at, share_below(x, at), color=RED, linestyle=":", linewidth=1.6, label="original")
    axes.set(xlim=(left, right), ylim=(-0.02, 1.02), ylabel="share of records at or below")
    axes.yaxis.set_major_formatter(lambda share, _: f"{100.0 * share:.0f}%")
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    _label_x(axes, axis)
    axes.legend(fontsize="small", loc="lower right")
    shown = [*(["original"] if x is not None else []), *(["masked"] if z is not None else []), "estimated"]
    listed = " and ".join(", ".join(shown).rsplit(", ", 1))
    return svg(axes.figure, f"Distribution functions of {axis}: {listed}.")


def attackers(risk: Any, labels: Mapping[str, str], distances: list[str], axis: str) -> Html:
    """How many records each attacker comes nearer than d: a panel for each distance, on a scale of its own.

    `labels` are the attackers from the weakest on, by the names of the API; `distances` have their unit.
    """
    names = list(labels)
    figure = _figure(len(distances) * (AROUND + ROW * len(names)))
    panels = figure.subplots(len(distances), 1, squeeze=False)[:, 0]
    for k, (axes, distance) in enumerate(zip(panels, distances, strict=True)):
        most = 0.0
        for row, name in enumerate(names):
            share = float(risk.attackers[name][k])
            low, high = (float(ends[k]) for ends in risk.interval(name))
            most = max(most, high)
            without = name == CONSTANT
            axes.errorbar(
                share, row, xerr=[[max(share - low, 0.0)], [max(high - share, 0.0)]],
                color=GREY if without else "C0", marker="D" if without else "o", markersize=4.5,
                linewidth=1, capsize=2,
            )  # fmt: skip
        if CONSTANT in labels:
            axes.axvline(
                float(risk.attackers[CONSTANT][k]), color=GREY, linewidth=0.8, linestyle="--", zorder=0
            )
        axes.set_yticks(range(len(names)), [labels[name] for name in names], fontsize="small")
        axes.set(xlim=(0.0, min(1.02, max(ROOM * most, 1e-6))), ylim=(len(names) - 0.5, -0.5))
        axes.xaxis.set_major_formatter(lambda share, _: f"{100.0 * share:g}%")
        axes.tick_params(axis="x", labelsize="small")
        _label_x(axes, f"records whose {axis} is guessed closer than {distance}")
    return svg(figure, f"Share of records whose {axis} each attacker guesses closer than a distance.")


def plain(value: float) -> str:
    """A number on an axis, with its thousands apart."""
    return f"{value:,.10g}".replace("-", "\u2212")


def _label_x(axes: Any, label: str) -> None:
    """Label an axis up to its right end: a long label reaches to the left, and is broken."""
    lines = textwrap.fill(UNFIT.sub("\ufffd", label), LETTERS)
    axes.set_xlabel(lines, parse_math=False, fontsize="small", loc="right")


def share_below(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The share of values at or below some points."""
    return np.asarray(np.searchsorted(np.sort(values), at, side="right") / values.size)


def ready() -> None:
    """Refuse to begin where pictures cannot be drawn."""
    with optional("a report", "plot"):
        import matplotlib.figure  # noqa: F401


def _figure(height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def svg(figure: Any, label: str) -> Html:
    """A figure as an element of a page; `label` is for readers who cannot see it."""
    import matplotlib

    written = io.StringIO()
    # letters stay letters; names of parts recur
    same: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "condmask"}
    with matplotlib.rc_context(same):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(written, format="svg", metadata=nothing)
    drawn = written.getvalue()
    start = drawn.index("<svg ")
    return Html(f'<svg role="img" aria-label="{text(label)}" {drawn[start + len("<svg ") :]}')
