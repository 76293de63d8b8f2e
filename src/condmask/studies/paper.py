"""Repeat Section 3 of the paper: its tables beside ours, with standard errors, z-scores and
misprints.

Published figures are those of paper.csv; where the paper prints an impossible or a copied number,
the remark has the arithmetic that shows it.
"""

import csv
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import Workers
from condmask.publish.additive import AdditiveNoise
from condmask.publish.conditional import ConditionalMasking
from condmask.studies.populations import paper_population
from condmask.studies.result import StudyResult
from condmask.studies.simulate import DECILES, simulate

SIZES = (2000, 5000, 10000)
DISTANCES = (250, 500, 1000, 1500, 2000)
SCHEMES: dict[str, ConditionalMasking | AdditiveNoise] = {
    "CM": ConditionalMasking(0.6, 1000.0, donors="sample"),
    "ANM": AdditiveNoise(1000.0 * np.sqrt(2.0)),
}
ESTIMATORS = (("CM", "T_1"), ("CM", "T_b"), ("ANM", "ANM"))
STATISTICS = (*(f"quantile {q:g}" for q in DECILES), "mean", "s.d.", "correlation")
PUBLISHED_RUNS = 1000
# columns of paper.csv that say where the paper prints a figure
PLACE = ("table", "n", "scheme", "estimator", "statistic")
FURTHER_MISPRINTS = (
    "Table 4, T_b: the row of S = 500 repeats that of S = 800.",
    "Table 5, ANM: the row of n = 2000 repeats T_1, and that of n = 5000 repeats T_b, both at "
    "n = 10000.",
    "Table 5: mean, s.d. and correlation are not averages over runs; they contradict Table 3.",
    "All tables: the correlation is scored against -0.7, the parameter of the copula; with these "
    "margins the correlation is -0.68645, which explains the 'bias' of +0.014.",
)


class PaperResult(NamedTuple):
    """Studies by n, and the published figures beside ours.

    Each line is one of paper.csv with "ours", its standard error "se", and "z", their difference
    in joint standard errors.
    """

    studies: dict[int, StudyResult]
    lines: list[dict[str, Any]]


def run(
    replications: int = 1000,
    *,
    rng: int = 20190101,
    workers: Workers = 1,
    sizes: tuple[int, ...] = SIZES,
) -> PaperResult:
    """Repeat the studies of Section 3."""
    arguments: dict[str, Any] = {
        "replications": replications,
        "risk_distances": DISTANCES,
        "rng": rng,
        "workers": workers,
    }
    studies = {n: simulate(paper_population(), SCHEMES, n=n, **arguments) for n in sizes}
    if any(study.replications < replications for study in studies.values()):
        raise KeyboardInterrupt
    with files("condmask.studies").joinpath("paper.csv").open() as file:
        cells = [
            {**row, "n": int(row["n"]), "value": float(row["value"])}
            for row in csv.DictReader(file)
        ]
    lines = [_line(cell, studies[int(cell["n"])]) for cell in cells if cell["n"] in studies]
    return PaperResult(studies, lines)


def _line(cell: dict[str, Any], study: StudyResult) -> dict[str, Any]:
    """Add to a published figure that of a study; for the mean absolute bias, the mean over the
    quantiles .1 and .9.
    """
    estimator = (cell["scheme"], cell["estimator"])
    figure_name = cell["what"]
    if figure_name == "mean absolute bias":
        (low, one), (high, other) = (
            [study.value(*estimator, f"quantile {q}", figure) for figure in ("bias", "bias_se")]
            for q in (0.1, 0.9)
        )
        ours = 0.5 * (high - low)
        se = 0.5 * float(np.hypot(one, other))
    else:
        names = figure_name, f"{figure_name}_se"
        ours, se = (study.value(*estimator, cell["statistic"], name) for name in names)
    # ours, and the paper's for its runs
    joint = se * np.sqrt(1.0 + study.replications / PUBLISHED_RUNS)
    return {**cell, "ours": ours, "se": se, "z": float((cell["value"] - ours) / joint)}


def show(result: PaperResult) -> str:
    """Return the comparison as Markdown."""
    first = next(iter(result.studies.values()))
    compared = []
    for cell in result.lines:
        z = f"{cell['z']:+.1f}", "**differs**" * (abs(cell["z"]) > 4.0)
        judged = ["", cell["remark"]] if cell["remark"] else z
        figures = f"{cell['value']:g}", f"{cell['ours']:.5g}", f"{cell['se']:.2g}"
        compared.append([*(cell[name] for name in (*PLACE, "what")), *figures, *judged])
    lines = [
        f"Section 3 with S = {first.replications:,} (the paper: {PUBLISHED_RUNS:,}), "
        f"seed {first.seed}.",
        "z is the difference between both figures, in joint standard errors.",
        *_table([*PLACE, "figure", "paper", "ours", "s.e.", "z", ""], compared),
    ]
    lines += ["", "Further misprints:", "", *(f"- {text}" for text in FURTHER_MISPRINTS)]
    heads = ["", *(name.removeprefix("quantile ") for name in STATISTICS)]
    for n, study in result.studies.items():
        for what, table in (("bias", "3 and 5"), ("rmse", "4 and 6")):
            lines += [
                "",
                f"Ours, {what} at n = {n} (tables {table}), standard errors in brackets:",
            ]
            rows = []
            for estimator in ESTIMATORS:
                both = (
                    [study.value(*estimator, s, figure) for figure in (what, f"{what}_se")]
                    for s in STATISTICS
                )
                rows.append([estimator[1], *(f"{ours:.3g} ({se:.1g})" for ours, se in both)])
            lines += _table(heads, rows)
    return "\n".join(lines)


def _table(heads: list[str], rows: list[list[Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    head, *body = (f"| {' | '.join(map(str, cells))} |" for cells in (heads, *rows))
    return ["", head, "|---" * len(heads) + "|", *body]
