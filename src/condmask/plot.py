"""Figures, with matplotlib."""

import os
from pathlib import Path
from typing import Any

import numpy as np

QUANTILE = "quantile "


def bias_and_rmse(rows: list[dict[str, Any]], path: str | os.PathLike[str] | None = None) -> Any:
    """Bias and RMSE of quantiles with bars of two standard errors; written to `path` where one is given."""
    figure = _figure(figsize=(9.0, 4.0))
    panels = figure.subplots(1, 2)
    estimators = dict.fromkeys((row["scheme"], row["estimator"]) for row in rows if "bias" in row)
    for scheme, estimator in estimators:
        selected = [
            row
            for row in rows
            if (row["scheme"], row["estimator"]) == (scheme, estimator)
            and row["statistic"].startswith(QUANTILE)
        ]
        q = [float(row["statistic"].removeprefix(QUANTILE)) for row in selected]
        for panel, what in zip(panels, ("bias", "rmse"), strict=True):
            panel.errorbar(
                q, [row[what] for row in selected], [2.0 * row[f"{what}_se"] for row in selected],
                label=f"{scheme}, {estimator}", marker="o", markersize=3, linewidth=1, capsize=2,
            )  # fmt: skip
    for panel, what in zip(panels, ("Bias", "RMSE"), strict=True):
        panel.set(xlabel="probability", ylabel=f"{what} of the quantile")
        panel.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    panels[0].legend(fontsize="small")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def distribution_function(
    x: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray, band: str, ax: Any = None
) -> Any:
    """A distribution function, constant from each of ascending x to the next, with its band; the axes."""
    axes = _figure(figsize=(6.0, 4.0)).subplots() if ax is None else ax
    (line,) = axes.step(x, value, where="post", linewidth=1, label="estimate")
    axes.fill_between(x, low, high, step="post", color=line.get_color(), alpha=0.25, linewidth=0, label=band)
    if ax is None:
        axes.set(xlabel="value", ylabel="share at or below", ylim=(-0.02, 1.02))
        axes.legend(fontsize="small")
    return axes


def errors_by_method(rows: list[dict[str, Any]], path: str | os.PathLike[str] | None = None) -> Any:
    """Errors of each method as multiples of those in the first row; written to `path` where one is given.

    A method without an error has no bar.
    """
    statistics = [
        name for name in ("mean", "s.d.", "deciles", "difference", "correlation") if name in rows[0]
    ]
    figure = _figure(figsize=(2.6 * len(statistics) + 1.6, 4.0))
    labels = [f"{row['method']}, {row['estimator']}" for row in rows]
    for k, (panel, statistic) in enumerate(
        zip(figure.subplots(1, len(statistics), sharey=True, squeeze=False)[0], statistics, strict=True)
    ):
        base = rows[0][statistic]
        panel.barh(labels, [row[statistic] / base if base else row[statistic] for row in rows], color="0.6")
        panel.axvline(1.0, color="C3", linewidth=0.8)
        panel.set(title=f"error of the {statistic}", xlabel=f"times that of {labels[0]}" if k == 0 else "")
        panel.set_xscale("log")
    figure.axes[0].invert_yaxis()
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def check_format(path: Path, name: str) -> None:
    """Refuse a file name that tells no picture format."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.removeprefix(".").lower() not in formats:
        raise ValueError(f"{name} must end in one of {', '.join(formats)}, got {path}")


def _figure(**options: Any) -> Any:
    """A figure that stands alone, without a window."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "matplotlib must be installed for a figure (pip install condmask[plot]), got none",
            name=error.name,
        ) from None
    return Figure(layout="constrained", **options)
