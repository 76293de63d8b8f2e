"""The figures of a study as a table for readers."""

from collections.abc import Iterable
from math import isnan
from typing import Any

from condmask._digits import line

GUESSES = {"Z_i": "the masked value", "mean of Z": "the mean of all masked values"}  # of attackers


def study_table(rows: list[dict[str, Any]]) -> list[str]:
    """A line for every statistic; several schemes beside each other.

    Parameters
    ----------
    rows : list of dict
        As `StudyResult.rows` has them.
    """
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    return _beside(rows, schemes) if len(schemes) > 1 else _listed(rows, schemes[0])


def _beside(rows: list[dict[str, Any]], schemes: list[str]) -> list[str]:
    """A table of each figure: a row for every statistic, a column for every scheme and estimator."""
    number = {scheme: str(k) for k, scheme in enumerate(schemes, start=1)}
    lines = ["", *(f"{k:>2}  {scheme}" for scheme, k in number.items())]
    estimated = [row for row in rows if "bias" in row]
    for figure, title in (("bias", "bias"), ("rmse", "RMSE")):
        cells = {
            (row["statistic"], f"{number[row['scheme']]} {row['estimator']}"): row[figure]
            for row in estimated
        }
        lines += _wide(title, cells)
    cells = {(_attack(row), number[row["scheme"]]): row["mean"] for row in rows if "bias" not in row}
    more = "Standard errors and closed forms: --json, or rows() in Python. -: not defined"
    return [*lines, *_wide("share, MSE or length", cells), "", more]


def _attack(row: dict[str, Any]) -> str:
    """What an attacker gains by a guess, or what intervals are."""
    if row["estimator"] not in GUESSES:
        return f"{row['estimator']} {row['statistic']}"
    return f"{row['statistic']} of guessing {GUESSES[row['estimator']]}"


def _wide(title: str, cells: dict[tuple[str, str], float]) -> list[str]:
    rows, columns = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))
    table = [[title, *columns]]
    table += [
        [row, *(_number(cells[row, name]) if (row, name) in cells else "" for name in columns)]
        for row in rows
    ]
    first, *widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "",
        *("  ".join([row[0].ljust(first), *map(str.rjust, row[1:], widths)]).rstrip() for row in table),
    ]


def _listed(rows: list[dict[str, Any]], scheme: str) -> list[str]:
    """A line for every statistic of one scheme, with standard errors."""
    lines = ["", scheme]
    of_scheme = [row for row in rows if row["scheme"] == scheme]
    estimated = [row for row in of_scheme if "bias" in row]
    if estimated:
        population_known = {row["truth_of"] for row in estimated} == {"population"}
        truth = "truth" if population_known else "of the sample"
        lines.append(_line(["", "", truth, "bias", "s.e.", "RMSE", "s.e."]))
    lines += [
        _line([row["estimator"], row["statistic"], *(
            _number(row[name]) for name in ("truth", "bias", "bias_se", "rmse", "rmse_se")
        )])
        for row in estimated
    ]  # fmt: skip
    lines.append(_line(["", "", "share or MSE", "s.e.", "closed form"]))
    lines += [
        _line([
            row["estimator"], row["statistic"], _number(row["mean"]), _number(row["mean_se"]),
            "" if row["closed_form"] is None else _number(row["closed_form"]),
        ])
        for row in of_scheme
        if "bias" not in row
    ]  # fmt: skip
    return lines


def _line(cells: Iterable[str]) -> str:
    estimator, statistic, *numbers = cells
    return line(f"  {estimator:10} {statistic:15}", numbers, head=28, width=14).rstrip()


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.5g}"
