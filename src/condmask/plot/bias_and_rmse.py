"""Draw bias and RMSE of quantiles in a study, a line for every estimator."""

from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.plot import panels

QUANTILE_PREFIX = "quantile "
BAR_STANDARD_ERRORS = 2.0  # Monte Carlo standard errors to either side
BAR_TITLE = f"bars: \N{PLUS-MINUS SIGN}{BAR_STANDARD_ERRORS:g} Monte Carlo standard errors"


def bias_and_rmse(rows: list[dict[str, Any]], path: panels.PicturePath, ax: object) -> Any:
    """Draw bias and RMSE with bars of their Monte Carlo errors; return the two axes."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["statistic"].startswith(QUANTILE_PREFIX) and "bias" in row:
            lines.setdefault(
                f"{panels.escaped_name(row['scheme'])}, {row['estimator']}", []
            ).append(row)
    if not lines:
        raise ArgumentError("a study must have quantiles for a picture, got none")
    axes = panels.begin_figure(ax, 2, path, size=(9.6, 4.2))
    for panel, what, name in zip(axes, ("bias", "rmse"), ("bias", "RMSE"), strict=True):
        panel.axhline(0.0, color=panels.GREY, linewidth=0.8, zorder=0)
        for k, (line, found) in enumerate(lines.items()):
            q = [float(row["statistic"].removeprefix(QUANTILE_PREFIX)) for row in found]
            values, errors = np.array(
                [(row[what], BAR_STANDARD_ERRORS * row[f"{what}_se"]) for row in found]
            ).T
            panel.errorbar(
                q,
                values,
                errors,
                label=f"{line}: not available" if np.isnan(values).all() else line,
                markersize=4.5,
                linewidth=1.2,
                capsize=2.5,
                elinewidth=0.9,
                **panels.series_style(k),
            )
        panels.label_axes(
            panel, "probability of the quantile", f"{name} of the estimated quantile"
        )
        panels.plain_numbers(panel.xaxis, panel.yaxis)
    axes[0].legend(fontsize="small", title=BAR_TITLE, title_fontsize="small")
    return panels.finish_figure(axes, path)
