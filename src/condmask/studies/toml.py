"""Studies described in TOML: the arguments of `simulate` by their names."""

import os
from inspect import signature
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentTypeError
from condmask.files.parts import read_column
from condmask.files.toml import read_toml
from condmask.scheme import Scheme
from condmask.schemes.conditional import ConditionalMasking
from condmask.studies.populations import Resampled, paper_population
from condmask.studies.simulate import simulate

OF_A_RUN = {"workers", "progress", "checkpoint"}  # which are no part of a study


def read_study(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `simulate` from a TOML file (docs/guide_researcher.rst has an example).

    The population is the paper's, or columns of a file.
    """
    path = _checks.path(path, "path")
    described, parameters = read_toml(path), signature(simulate).parameters
    for name in described:
        _checks.choice(name, f"an entry of {path}", [name for name in parameters if name not in OF_A_RUN])
    for name in ("n", "replications", "schemes"):
        _checks.require(name in described, f"{path} must have {name!r}", list(described))
    tables, population = described["schemes"], described.get("population")
    named = isinstance(tables, dict) and all(isinstance(entry, dict) for entry in tables.values())
    _checks.require(named, "schemes must be a table for each, by its name", tables, ArgumentTypeError)
    default = {"scheme": ConditionalMasking.method}
    schemes = {name: Scheme.from_dict(default | entry) for name, entry in tables.items()}
    drawn = paper_population() if population is None else _resampled(population, path.parent)
    return {**described, "population": drawn, "schemes": schemes}


def _resampled(described: Any, folder: Path) -> Resampled:
    """Columns of a file as a population."""
    known = isinstance(described, dict) and {*described} in ({"path", "column"}, {"path", "column", "other"})
    _checks.require(known, "population must be a table of path, column and perhaps other", described)
    path = folder / _checks.path(described["path"], "path")
    return Resampled(*(read_column(path, described[key]) for key in ("column", "other") if key in described))
