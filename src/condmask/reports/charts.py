"""Pictures of a report: SVG within the page, of the same bytes whenever they are drawn.

No name of a column stands in a picture, since matplotlib reads mathematics into some.
"""

import io
from typing import Any

import numpy as np

from condmask._digits import number
from condmask.errors import MissingPackageError
from condmask.reports.html import Html, text

SIZE = (5.4, 3.6)  # inches; letters can be read where this is shown 360 px wide
POINTS = 1000
SEED = 1  # of the band's simulations
GREY, RED = "0.45", "C3"


def distributions(
    estimate: Any, z: np.ndarray | None, x: np.ndarray | None = None, target: str = "population"
) -> Html:
    """The estimate of the original with its band, the masked column and the original where they are given."""
    axes = _axes()
    estimate.plot_cdf(ax=axes, rng=SEED, target=target)
    left, right = axes.get_xlim()
    at = np.linspace(left, right, POINTS)
    if z is not None:
        label = "masked values, as if true"
        axes.plot(at, share_below(z, at), color=GREY, linestyle="--", linewidth=1, label=label)
    if x is not None:
        axes.plot(at, share_below(x, at), color=RED, linestyle=":", linewidth=1.6, label="original")
    axes.set(xlim=(left, right), ylim=(-0.02, 1.02), xlabel="value", ylabel="share at or below")
    axes.legend(fontsize="small", loc="lower right")
    shown = [*(["original"] if x is not None else []), *(["masked"] if z is not None else []), "estimated"]
    return svg(axes.figure, f"Distribution functions: {' and '.join(', '.join(shown).rsplit(', ', 1))}.")


def attackers(risk: Any) -> Html:
    """How many records each attacker comes nearer than d."""
    axes = _axes()
    places = np.arange(len(risk.d))
    width = 0.8 / len(risk.attackers)
    for k, (name, share) in enumerate(risk.attackers.items()):
        low, high = risk.interval(name)
        ends = np.maximum([share - low, high - share], 0.0)
        at = places + (k - 0.5 * (len(risk.attackers) - 1)) * width
        axes.bar(at, share, 0.9 * width, yerr=ends, error_kw={"linewidth": 0.8}, label=name)
    axes.set_xticks(places, [number(d) for d in risk.d])
    axes.set(xlabel="nearer than", ylabel="share of records", ylim=(0.0, 1.0))
    axes.figure.legend(fontsize="small", loc="outside upper center", ncols=2)  # beside the bars
    return svg(axes.figure, "Share of records that each attacker comes near.")


def share_below(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The share of values at or below some points."""
    return np.asarray(np.searchsorted(np.sort(values), at, side="right") / values.size)


def ready() -> None:
    """Refuse to begin where pictures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "matplotlib must be installed for a report (pip install condmask[plot]), got none",
            name=error.name,
        ) from None


def _axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, layout="constrained").subplots()


def svg(figure: Any, label: str) -> Html:
    """A figure as an element of a page; `label` is for those who do not see it."""
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
