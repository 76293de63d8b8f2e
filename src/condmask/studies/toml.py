"""Studies described in TOML, and their results as text."""

import os
from collections.abc import Collection, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.toml import read_toml
from condmask.scheme import Scheme, scheme_class
from condmask.schemes.conditional import ConditionalMasking
from condmask.studies.populations import NormalCopula, Resampled, paper_population

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
