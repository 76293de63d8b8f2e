"""Recipes: every choice of a release in TOML, read and checked before anything else."""

import os
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import is_folder
from condmask.files.tables import format_of
from condmask.files.toml import read_toml
from condmask.scheme import common_method
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.parameters import PARAMETERS, number_or_fraction
from condmask.strata import not_masked

TOP = (
    "source", "target", "scheme", "columns", "omit_missing", "round", "accept_visible_coins", "thorough",
    "keep_metadata", "csv", "report", "checks", "log",
)  # fmt: skip
CSV = tuple(field.name for field in fields(CsvFormat))
REPORT = ("internal", "public", "within", "units")


class Recipe(NamedTuple):
    """A recipe that was read: paths relative to here, schemes by column, reports and checks.

    Attributes
    ----------
    path, source, target : Path
    schemes : dict of str to ConditionalMasking
    omit_missing, round, accept_visible_coins : bool
    keep_metadata : list of str
        Entries in the metadata of the source to release unchanged.
    csv : CsvFormat or None
    internal, public : Path or None
        Reports.
    within : dict of str to list of float
        Distances by column, if given.
    units : dict of str to str
        What columns are counted in, if given.
    checks : dict of str to dict of float to float
        By column and distance, the largest share of records that the best attacker may guess that closely.
    thorough : bool
        Whether to train an attacker, for the checks and the internal report.
    log : bool or Path
        The user's own log, none, or the one in a file.
    """

    path: Path
    source: Path
    target: Path
    schemes: dict[str, ConditionalMasking]
    omit_missing: bool
    round: bool
    accept_visible_coins: bool
    keep_metadata: list[str]
    csv: CsvFormat | None
    internal: Path | None
    public: Path | None
    within: dict[str, list[float]]
    units: dict[str, str]
    checks: dict[str, dict[float, float]]
    thorough: bool
    log: bool | Path


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Read a recipe; an error names it, and the key that is wrong."""
    path = _checks.path(path, "path")
    entries = read_toml(path)
    try:
        return _recipe(path, entries)
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _recipe(path: Path, entries: dict[str, Any]) -> Recipe:
    _check_keys(entries, "the recipe", TOP, needed=("source", "target", "columns"))
    schemes = _schemes(_table(entries, "scheme"), _table(entries, "columns"))
    report, csv = _table(entries, "report"), _table(entries, "csv")
    _check_keys(report, "report", REPORT)
    _check_keys(csv, "csv", CSV)
    paths = {
        name: path.parent / _text(table[name], name)
        for table, names in ((entries, ("source", "target")), (report, ("internal", "public")))
        for name in names
        if name in table
    }
    twice = [name for name, file in paths.items() if [*paths.values()].count(file) > 1]
    if twice:
        raise ArgumentError(f"{' and '.join(twice)} must be different files, got {paths[twice[0]]}")
    for name in () if is_folder(paths["source"]) else ("source", "target"):
        format_of(paths[name])  # refuses unknown formats
    for name in ("internal", "public"):
        if name in paths and paths[name].suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(f"{name} must end in .html or .htm, got {report[name]!r}")
    return Recipe(
        path, paths["source"], paths["target"], schemes,
        _flag(entries, "omit_missing"), _flag(entries, "round"), _flag(entries, "accept_visible_coins"),
        _names(entries, "keep_metadata"),
        CsvFormat(**csv) if csv else None,
        paths.get("internal"), paths.get("public"),
        _distances(report.get("within", []), schemes), _units(_table(report, "units"), schemes),
        _caps(_table(entries, "checks"), schemes),
        _flag(entries, "thorough"),
        _log(path, entries.get("log", True)),
    )  # fmt: skip


def _schemes(shared: dict[str, Any], columns: dict[str, Any]) -> dict[str, ConditionalMasking]:
    """The schemes of the columns; shared parameters are under [scheme]."""
    _check_keys(shared, "scheme", PARAMETERS)
    if not columns:
        raise ArgumentError("columns must have a table for each column to mask, [columns.income], got none")
    schemes = {}
    for name in columns:
        entries = _table(columns, name)
        _check_keys(entries, f"columns.{name}", PARAMETERS)
        options = _in_python({**shared, **entries}, set(entries))
        for key, parameter in PARAMETERS.items():
            if parameter.default is MISSING and key not in options:
                raise ArgumentError(f"columns.{name} must have {key!r}, or [scheme] must, got neither")
        try:
            schemes[name] = ConditionalMasking(**options)
        except (ArgumentError, ArgumentTypeError) as error:
            raise type(error)(f"columns.{name}: {error}") from None
    common_method(schemes)
    not_masked(next(iter(schemes.values())).strata, schemes)
    return schemes


def _in_python(options: dict[str, Any], of_column: set[str]) -> dict[str, Any]:
    """Options in which a column's step or decimals replace the other, if that is shared; steps may be 1/3,
    and false means that there are no codes, or no others."""
    for one, other in (("step", "decimals"), ("decimals", "step")):
        if one in of_column and other not in of_column:
            options.pop(other, None)
    if options.get("missing") is False:  # TOML has no None
        options["missing"] = None
    elif isinstance(options.get("missing"), list):
        options["missing"] = [None if code is False else code for code in options["missing"]]
    step = options.get("step")
    if isinstance(step, str):
        try:
            options["step"] = number_or_fraction(step)
        except ArgumentError as error:
            raise ArgumentError(f"step {error}") from None
    return options


def _distances(within: Any, schemes: Mapping[str, Any]) -> dict[str, list[float]]:
    """Distances by column, given for all columns or for each."""
    if not isinstance(within, dict):
        distances = _numbers(within, "within")
        return dict.fromkeys(schemes, distances) if distances else {}
    _check_keys(within, "report.within", schemes)
    return {name: _numbers(distances, f"within of {name}") for name, distances in within.items()}


def _units(units: dict[str, Any], schemes: Mapping[str, Any]) -> dict[str, str]:
    """Units by column."""
    _check_keys(units, "report.units", schemes)
    for name, unit in units.items():
        if not isinstance(unit, str):
            raise ArgumentTypeError(f"units of {name} must be text, got {unit!r}")
    return units


def _numbers(values: Any, name: str) -> list[float]:
    values = values if isinstance(values, list) else [values]
    return [float(_checks.positive(value, name)) for value in values]


def _caps(checks: dict[str, Any], schemes: Mapping[str, Any]) -> dict[str, dict[float, float]]:
    """The largest allowed risks by column and distance."""
    _check_keys(checks, "checks", schemes)
    caps: dict[str, dict[float, float]] = {}
    for name in checks:
        caps[name] = {}
        for key, cap in _table(checks, name).items():
            try:
                distance = float(key)
            except ValueError:
                raise ArgumentError(f"checks.{name} must have distances as keys, got {key!r}") from None
            caps[name][_checks.positive(distance, f"checks.{name}")] = _checks.probability(
                cap, f"checks.{name}.{key}"
            )
    return caps


def _check_keys(
    entries: dict[str, Any], where: str, allowed: Collection[str], needed: Collection[str] = ()
) -> None:
    """Refuse unknown and missing keys."""
    for name in entries:
        if name not in allowed:
            raise ArgumentError(f"{where} may have {', '.join(allowed)}, got {name!r}")
    for name in needed:
        if name not in entries:
            raise ArgumentError(
                f"{where} must have {name!r}, got {_checks.listed(list(entries)) or 'nothing'}"
            )


def _table(entries: dict[str, Any], name: str) -> dict[str, Any]:
    table = entries.get(name, {})
    if not isinstance(table, dict):
        raise ArgumentTypeError(f"{name} must be a table, [{name}], got {table!r}")
    return table


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ArgumentTypeError(f"{name} must be a path, got {value!r}")
    return value


def _names(entries: dict[str, Any], name: str) -> list[str]:
    value = entries.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ArgumentTypeError(f"{name} must be a list of names, got {value!r}")
    return value


def _log(path: Path, value: Any) -> bool | Path:
    """The log that a recipe names."""
    return value if isinstance(value, bool) else path.parent / _text(value, "log")


def _flag(entries: dict[str, Any], name: str) -> bool:
    value = entries.get(name, False)
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be true or false, got {value!r}")
    return value
