"""Figures, with matplotlib."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from condmask.errors import ArgumentError, MissingPackageError

QUANTILE = "quantile "
MARKS = {"most useful": "^", "balanced": "D", "safest": "s"}


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


def risk_against_loss(plan: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """A plan: for each distance the risk of the best attacker against how much longer intervals become."""
    loss = np.array([candidate.loss for candidate in plan.candidates])
    risks = np.array([candidate.risk for candidate in plan.candidates])
    figure = _figure(figsize=(4.6 * len(plan.d), 4.0))
    panels = figure.subplots(1, len(plan.d), squeeze=False)[0]
    for k, (panel, d) in enumerate(zip(panels, plan.d, strict=True)):
        allowed = plan.allowed
        panel.plot(
            risks[~allowed, k], loss[~allowed], "o", color="0.8", markersize=4, label="beyond the caps"
        )
        panel.plot(risks[allowed, k], loss[allowed], "o", color="C0", markersize=4, label="keeps the caps")
        panel.plot(
            risks[plan.refused, k], loss[plan.refused], "x", color="0.2", markersize=5,
            label="refused by the audit",
        )  # fmt: skip
        frontier = np.flatnonzero(plan.on_frontier)
        frontier = frontier[np.argsort(risks[frontier, k])]
        panel.plot(risks[frontier, k], loss[frontier], color="0.5", linewidth=1, label="frontier", zorder=0)
        for suggestion in plan.suggestions:
            panel.plot(
                suggestion.expected.risk[k], suggestion.expected.loss, MARKS[suggestion.name], color="C3",
                markersize=8, fillstyle="none", label=suggestion.name,
            )  # fmt: skip
        panel.axvline(plan.constant[k], color="0.3", linewidth=0.8, linestyle=":", label="a constant guess")
        if d in plan.caps:
            panel.axvline(plan.caps[d], color="C3", linewidth=0.8, linestyle="--", label="cap")
        panel.set(xlabel=f"share of records within {d:g} of the best guess", yscale="log")
    panels[0].set_ylabel("length of intervals, without masking 1")
    panels[0].legend(fontsize="small")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def check_format(path: Path, name: str) -> None:
    """Refuse a file name that tells no picture format."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.removeprefix(".").lower() not in formats:
        raise ArgumentError(f"{name} must end in one of {', '.join(formats)}, got {path}")


def _figure(**options: Any) -> Any:
    """A figure that stands alone, without a window."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "matplotlib must be installed for a figure (pip install condmask[plot]), got none",
            name=error.name,
        ) from None
    return Figure(layout="constrained", **options)
