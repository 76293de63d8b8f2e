"""Studies described in TOML."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.toml import read_toml
from condmask.scheme import Scheme
from condmask.schemes.conditional import ConditionalMasking
from condmask.studies.populations import NormalCopula, Resampled, paper_population

NEEDED = ("n", "replications", "schemes")
ALLOWED = (
    "quantiles", "moments", "cdf_points", "risk_distances", "confidence_levels", "crossing", "rng",
    "population",
)  # fmt: skip


def read_study(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `simulate` from a TOML file (docs/studies.rst has an example)."""
    path = _checks.path(path, "path")
    described = read_toml(path)
    _only(described, str(path), NEEDED, ALLOWED)
    schemes: dict[str, Scheme] = {}
    for entry in _tables(described["schemes"], f"schemes in {path}"):
        options = {"scheme": ConditionalMasking.method, **entry}
        given = options.pop("name", None)
        scheme = Scheme.from_dict(options)
        name = repr(scheme) if given is None else _checks.text(given, f"name of a scheme in {path}")
        if name in schemes:
            raise ArgumentError(f"schemes in {path} must have different names, got {name!r} twice")
        schemes[name] = scheme
    (entries,) = _tables([described.get("population", {"kind": "paper"})], f"population in {path}")
    return {**described, "population": _population(entries, path.parent), "schemes": schemes}


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


def _population(described: dict[str, Any], folder: Path) -> Any:
    kind = described.get("kind", "paper")
    if kind == "paper":
        return paper_population()
    if kind == "copula":
        _only(described, "population", ("kind", "margins"), ("correlation",))
        margins = [_margin(**entry) for entry in _tables(described["margins"], "margins")]
        return NormalCopula(margins, described.get("correlation", 0.0))
    if kind == "file":
        from condmask.files.parts import read_column

        _only(described, "population", ("kind", "path", "column"), ("other",))
        path = folder / _checks.path(described["path"], "path")
        names = [described[key] for key in ("column", "other") if key in described]
        return Resampled(*(read_column(path, name) for name in names))
    raise ArgumentError(f"kind of population must be 'paper', 'copula' or 'file', got {_checks.shown(kind)}")


def _margin(name: Any = "", **options: Any) -> Any:
    """A continuous SciPy distribution by name."""
    import scipy.stats

    law: Any = getattr(scipy.stats, str(name), None)
    if not isinstance(law, scipy.stats.rv_continuous):
        raise ArgumentError(
            f"name of a margin must be a continuous SciPy distribution, got {_checks.shown(name)}"
        )
    shapes = [shape.strip() for shape in (law.shapes or "").split(",") if shape]
    _only(options, f"margin {name!r}", shapes, ("loc", "scale"))
    numbers = {key: _checks.real(value, key, "a number") for key, value in options.items()}
    _checks.positive(numbers.get("scale", 1.0), "scale")
    return law(**numbers)
