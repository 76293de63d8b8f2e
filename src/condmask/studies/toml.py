"""Studies described in TOML, and their results as text."""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask._digits import line
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.toml import read_toml
from condmask.scheme import Scheme, scheme_class
from condmask.schemes.conditional import ConditionalMasking
from condmask.studies.populations import NormalCopula, Resampled, paper_population
from condmask.studies.result import StudyResult

PLAIN = (
    "n", "replications", "quantiles", "moments", "cdf_points", "risk_distances", "confidence_levels", "rng",
)  # fmt: skip

VARIED = ("p", "sigma")  # of which a list makes several schemes


def read_study(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `simulate` from a TOML file (docs/studies.rst has an example)."""
    path = _checks.path(path, "path")
    described = read_toml(path)
    unknown = set(described) - {*PLAIN, "population", "schemes"}
    if unknown:
        raise ArgumentError(
            f"{path} may have {', '.join((*PLAIN, 'population', 'schemes'))}, got {sorted(unknown)}"
        )
    for needed in ("n", "replications", "schemes"):
        if needed not in described:
            raise ArgumentError(f"{path} must have {needed!r}")
    schemes = {}
    for entry in _tables(described["schemes"], f"schemes in {path}"):
        for name, scheme in _schemes(entry, path):
            if name in schemes:
                raise ArgumentError(f"schemes in {path} must have different names, got {name!r} twice")
            schemes[name] = scheme
    arguments = {name: described[name] for name in PLAIN if name in described}
    (entries,) = _tables([described.get("population", {"kind": "paper"})], f"population in {path}")
    population = _population(entries, path.parent)
    return {"population": population, "schemes": schemes, **arguments}


def _tables(values: Any, name: str) -> list[dict[str, Any]]:
    """What must be a list of tables."""
    if not (isinstance(values, list) and all(isinstance(value, dict) for value in values)):
        raise ArgumentTypeError(f"{name} must be a table, or a list of tables, got {_checks.shown(values)}")
    return values


def _only(entries: dict[str, Any], name: str, needed: Collection[str], allowed: Collection[str]) -> None:
    """Refuse keys that are unknown, and those that are missing."""
    for key in entries:
        if key not in (*needed, *allowed):
            raise ArgumentError(f"{name} may have {', '.join((*needed, *allowed))}, got {key!r}")
    for key in needed:
        if key not in entries:
            raise ArgumentError(f"{name} must have {key!r}")


def _schemes(entry: dict[str, Any], path: str | os.PathLike[str]) -> Iterator[tuple[str, Scheme]]:
    """The scheme of a table, by name; one for each value where p or sigma is a list."""
    options = {"scheme": ConditionalMasking.method, **entry}
    given, method = options.pop("name", None), options.pop("scheme")
    if given is not None:
        _checks.text(given, f"name of a scheme in {path}")
    lists = {name: options[name] for name in VARIED if isinstance(options.get(name), list)}
    for values in product(*lists.values()):
        varied = dict(zip(lists, values, strict=True))
        try:
            # made and not read: what was written without a step is a release from before there were grids
            scheme = scheme_class(method, "scheme")(**options | varied)
        except TypeError as error:
            raise ArgumentError(
                f"schemes in {path}: {method!r} does not take these options: {error}"
            ) from None
        yield " ".join([given, *(f"{k}={v}" for k, v in varied.items())]) if given else repr(scheme), scheme


def _population(described: dict[str, Any], folder: Path) -> Any:
    kind = described.get("kind", "paper")
    if kind == "paper":
        return paper_population()
    if kind == "copula":
        import scipy.stats

        margins = []
        _only(described, "population", ("kind", "margins"), ("correlation",))
        for entry in _tables(described["margins"], "margins"):
            options = dict(entry)
            name = options.pop("name", "")
            law: Any = getattr(scipy.stats, str(name), None)
            if not isinstance(law, scipy.stats.rv_continuous):
                raise ArgumentError(
                    f"name of a margin must be a continuous SciPy distribution, got {_checks.shown(name)}"
                )
            shapes = [shape.strip() for shape in (law.shapes or "").split(",") if shape]
            _only(options, f"margin {name!r}", shapes, ("loc", "scale"))
            numbers = {key: _checks.real(value, key, "a number") for key, value in options.items()}
            _checks.positive(numbers.get("scale", 1.0), "scale")
            margins.append(law(**numbers))
        return NormalCopula(margins, described.get("correlation", 0.0))
    if kind == "file":
        from condmask.files.read import read_column

        _only(described, "population", ("kind", "path", "column"), ("other",))
        path = folder / _checks.path(described["path"], "path")
        other = described.get("other")
        return Resampled(
            read_column(path, described["column"]), None if other is None else read_column(path, other)
        )
    raise ArgumentError(f"kind of population must be 'paper', 'copula' or 'file', got {_checks.shown(kind)}")


def show(result: StudyResult) -> str:
    """A line for every statistic; several schemes beside each other."""
    head = f"{result.replications:,} replications, seed {result.seed}, {result.seconds:.1f} s"
    rows = result.rows()
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    return "\n".join([head, *(_beside(rows, schemes) if len(schemes) > 1 else _listed(rows, schemes[0]))])


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
    cells = {
        (f"{row['estimator']} {row['statistic']}", number[row["scheme"]]): row["mean"]
        for row in rows
        if "bias" not in row
    }
    return [*lines, *_wide("share, MSE or length", cells), "", "Standard errors and closed forms: --json"]


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
    return f"{value:.5g}"
