"""A study: bias and RMSE of quantiles, a line for every estimator."""

import os
from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.plot.panels import finish, label, panels, plain_numbers, text
from condmask.plot.style import GREY, series

QUANTILE = "quantile "
ERRORS = 2.0  # Monte Carlo standard errors to either side
BARS = f"bars: \N{PLUS-MINUS SIGN}{ERRORS:g} Monte Carlo standard errors"


def bias_and_rmse(
    rows: list[dict[str, Any]], path: str | os.PathLike[str] | None = None, ax: Any = None
) -> Any:
    """Both, with bars of their Monte Carlo errors; the axes."""
    quantiles = [row for row in rows if row["statistic"].startswith(QUANTILE) and "bias" in row]
    if not quantiles:
        raise ArgumentError("a study must have quantiles for a picture, got none")
    axes = panels(ax, 2, path, size=(9.6, 4.2))
    for k, (scheme, estimator) in enumerate(
        dict.fromkeys((row["scheme"], row["estimator"]) for row in quantiles)
    ):
        selected = [row for row in quantiles if (row["scheme"], row["estimator"]) == (scheme, estimator)]
        q = [float(row["statistic"].removeprefix(QUANTILE)) for row in selected]
        name = f"{text(scheme)}, {estimator}"
        if all(np.isnan(row["rmse"]) for row in selected):
            name += ": not available"
        for panel, what in zip(axes, ("bias", "rmse"), strict=True):
            panel.errorbar(
                q, [row[what] for row in selected], [ERRORS * row[f"{what}_se"] for row in selected],
                label=name, markersize=4.5, linewidth=1.2, capsize=2.5, elinewidth=0.9, **series(k),
            )  # fmt: skip
    for panel, what in zip(axes, ("bias", "RMSE"), strict=True):
        panel.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        label(panel, "probability of the quantile", f"{what} of the estimated quantile")
        plain_numbers(panel.xaxis, panel.yaxis)
    axes[0].legend(fontsize="small", title=BARS, title_fontsize="small")
    finish(axes, path)
    return np.array(axes, dtype=object)
