"""Open and finish figures, and set the style of lines and numbers in all of them.

The colours are those of Okabe and Ito, "Color Universal Design" (2008), without yellow, faint on
white; each series also has a marker and a line style of its own, for black and white.
"""

import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullLocator

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError

BLACK = "#000000"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREY = "#7F7F7F"  # for lines of comparison
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
HALO = [withStroke(linewidth=3, foreground="white")]  # around letters that stand on lines

DPI = 150
MAX_TICKS = 8
# multiples of powers of ten with a tick, by the ratio that the ends of an axis stay below
TICK_STEPS: dict[float, tuple[float, ...]] = {
    10.0: (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0),
    800.0: (1.0, 2.0, 5.0),
    np.inf: (1.0,),
}
MAX_NAME_LETTERS = 30  # letters of a column's name
TICK_DIGITS = 12  # of a tick, and its digits

PicturePath = str | os.PathLike[str] | None
Style = dict[str, Any]  # keyword arguments of matplotlib's artists


def series_style(k: int) -> dict[str, Any]:
    """Return the style of the k-th line: colour, marker and line style, repeated after 280
    lines."""
    looks = {"color": COLOURS, "marker": MARKERS, "linestyle": LINES}
    return {what: known[k % len(known)] for what, known in looks.items()}


def begin_figure(
    ax: object, count: int, path: PicturePath, *, size: tuple[float, float], **layout: Any
) -> list[Any]:
    """Return axes to draw in: the given ones, or those of a new figure.

    A new figure is shown by pyplot unless it is written to a file.
    """
    if path is not None:
        formats = sorted(FigureCanvasBase.get_supported_filetypes())
        if _checks.writable(path, "path").suffix.removeprefix(".").lower() not in formats:
            raise ArgumentError(f"path must end in one of {', '.join(formats)}, got {path}")
    if ax is None:
        figure: Any = Figure
        if path is None:
            from matplotlib.pyplot import figure
        made = figure(figsize=size, layout="constrained")
        return list(made.subplots(1, count, squeeze=False, **layout)[0])
    given = list(_checks.array(ax, "ax", "matplotlib Axes").ravel())
    if not all(isinstance(each, Axes) for each in given):
        raise ArgumentTypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}")
    rule = f"ax must be as many Axes as there are panels, {count}"
    _checks.require(len(given) == count, rule, len(given))
    return given


def finish_figure(axes: Sequence[Any], path: PicturePath) -> Any:
    """Write the figure if a path is given; return the axes as an array."""
    if path is not None:
        axes[0].figure.savefig(path, dpi=DPI)
    return np.array(axes, dtype=object)


def label_axes(axes: Any, x: str, y: str) -> None:
    """Name the axes that have no label yet."""
    axes.set(xlabel=axes.get_xlabel() or x, ylabel=axes.get_ylabel() or y)


def escaped_name(name: str) -> str:
    """Return a name as matplotlib text, cut if it is long.

    Dollar signs are escaped, as matplotlib reads text between them as a formula.
    """
    short = (
        name
        if len(name) <= MAX_NAME_LETTERS
        else f"{name[: MAX_NAME_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
    )
    return short.replace("$", r"\$")


def plain_numbers(*axes: Any) -> None:
    """Set tick labels without powers of ten and offsets, also on log scales."""
    for each in axes:
        if each.get_scale() == "log":
            low, high = sorted(each.get_view_interval())
            steps = next(steps for apart, steps in TICK_STEPS.items() if high < apart * low)
            each.set_major_locator(LogLocator(subs=steps, numticks=MAX_TICKS))
            each.set_minor_locator(NullLocator())
        each.set_major_formatter(plain_number)


def plain_number(x: float, _: int | None = None) -> str:
    """Return a number as people write it: 0.25, 1,500,000; and 0 for rounding errors."""
    digits = f"{round(x, TICK_DIGITS) + 0.0:.{TICK_DIGITS}g}"
    return f"{Decimal(digits):,f}".replace("-", "\N{MINUS SIGN}")
