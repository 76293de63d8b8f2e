"""What all pictures share: where they are drawn, plain numbers on their axes, the file they end in."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import Formatter, Locator, NullLocator

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError

DPI = 150
MOST_TICKS = 8
STEPS = ((1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0,))  # of ticks within a power of ten
LONGEST = 30  # letters of a column's name


def panels(ax: Any, count: int, path: Any, *, size: tuple[float, float], **layout: Any) -> list[Any]:
    """Axes to draw in: those that are given, else those of a new figure, which pyplot shows unless it is
    to be written."""
    if path is not None:
        check_format(_checks.writable(path, "path"), "path")
    if ax is None:
        figure = _figure(path, size)
        return list(figure.subplots(1, count, squeeze=False, **layout)[0])
    given = list(_checks.array(ax, "ax", "matplotlib Axes").ravel())
    if not all(isinstance(each, Axes) for each in given):
        raise ArgumentTypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}")
    if len(given) != count:
        raise ArgumentError(f"ax must be as many Axes as there are panels, {count}, got {len(given)}")
    return given


def _figure(path: Any, size: tuple[float, float]) -> Any:
    if path is not None:
        return Figure(figsize=size, layout="constrained")
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained")


def finish(axes: Sequence[Any], path: str | os.PathLike[str] | None) -> None:
    """Write the figure where a path is given."""
    if path is not None:
        axes[0].figure.savefig(path, dpi=DPI)


def check_format(path: Path, name: str) -> None:
    """Refuse a file name that tells no picture format."""
    formats = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.removeprefix(".").lower() not in formats:
        raise ArgumentError(f"{name} must end in one of {', '.join(formats)}, got {path}")


def label(axes: Any, x: str, y: str) -> None:
    """Name the axes that have no label yet."""
    if not axes.get_xlabel():
        axes.set_xlabel(x)
    if not axes.get_ylabel():
        axes.set_ylabel(y)


def text(name: str) -> str:
    """A name as it is, since matplotlib reads what stands between dollar signs as a formula; cut if long."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    return short.replace("$", r"\$")


def plain_numbers(*axes: Any) -> None:
    """Tick labels without powers of ten or offsets, also on log scales."""
    for each in axes:
        if each.get_scale() == "log":
            each.set_major_locator(LogTicks())
            each.set_minor_locator(NullLocator())
        each.set_major_formatter(PlainNumbers())


def halo() -> list[Any]:
    """White around letters that stand on lines."""
    return [withStroke(linewidth=3, foreground="white")]


class PlainNumbers(Formatter):
    """Numbers as people write them: 0.25, 1,500,000."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        low, high = self.axis.get_view_interval()  # type: ignore[union-attr]
        span = abs(high - low) or 1.0
        finest = span if self.axis.get_scale() == "linear" else abs(x) or 1.0  # type: ignore[union-attr]
        places = max(0, 2 - math.floor(math.log10(min(span, finest))))
        shown = f"{x:,.{places}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        return "0" if shown == "-0" else shown.replace("-", "\N{MINUS SIGN}")


class LogTicks(Locator):
    """Round numbers on a log scale, as many as there is room for."""

    def __call__(self) -> Any:
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The ticks between two positive numbers."""
        low, high = sorted((vmin, vmax))
        powers = 10.0 ** np.arange(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
        ticks = powers
        for steps in STEPS:
            ticks = np.outer(powers, steps).ravel()
            ticks = ticks[(low <= ticks) & (ticks <= high)]
            if ticks.size <= MOST_TICKS:
                return ticks
        return ticks[:: math.ceil(ticks.size / MOST_TICKS)]
