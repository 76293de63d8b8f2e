"""Plan files: every choice of a release in TOML, read and checked before anything else is."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask.files.csv_format import CsvFormat
from condmask.files.formats import format_of, reading
from condmask.scheme import common_method
from condmask.schemes.conditional import ConditionalMasking
from condmask.strata import not_masked

SCHEME = (
    "p", "sigma", "noise", "donors", "reverse_mapping", "aggregate_ends", "decimals", "step", "scale",
    "strata", "small_strata", "missing", "missing_as",
)  # fmt: skip
TOP = (
    "source", "target", "scheme", "columns", "omit_missing", "round", "accept_visible_coins", "csv", "report",
    "checks",
)  # fmt: skip
CSV = ("delimiter", "decimal", "encoding", "na")
REPORT = ("internal", "public", "within")


class Described(NamedTuple):
    """A plan, read: paths as they are from here, schemes by column, what reports and checks ask.

    Attributes
    ----------
    path, source, target : Path
    schemes : dict of str to ConditionalMasking
    omit_missing, round, accept_visible_coins : bool
    csv : CsvFormat or None
    internal, public : Path or None
        Reports.
    within : dict of str to list of float
        Distances by column, where they are given.
    checks : dict of str to dict of float to float
        By column and distance, the greatest share of records that the best attacker may come so near.
    """

    path: Path
    source: Path
    target: Path
    schemes: dict[str, ConditionalMasking]
    omit_missing: bool
    round: bool
    accept_visible_coins: bool
    csv: CsvFormat | None
    internal: Path | None
    public: Path | None
    within: dict[str, list[float]]
    checks: dict[str, dict[float, float]]


def read_plan(path: str | os.PathLike[str]) -> Described:
    """A plan file; refused in one sentence that names it, and the key that is wrong."""
    plan = Path(path)
    try:
        with reading(plan):
            given = tomllib.loads(plan.read_bytes().decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{plan} is no TOML: {error}") from None
    try:
        return _described(plan, given)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{plan}: {error}") from None


def _described(plan: Path, given: dict[str, Any]) -> Described:
    _keys(given, "the plan", TOP, needed=("source", "target", "columns"))
    schemes = _schemes(_table(given, "scheme"), _table(given, "columns"))
    report, csv = _table(given, "report"), _table(given, "csv")
    _keys(report, "report", REPORT)
    _keys(csv, "csv", CSV)
    paths = {
        name: plan.parent / _text(table[name], name)
        for table, names in ((given, ("source", "target")), (report, ("internal", "public")))
        for name in names
        if name in table
    }
    twice = [name for name, each in paths.items() if [*paths.values()].count(each) > 1]
    if twice:
        raise ValueError(f"{' and '.join(twice)} must be different files, got {paths[twice[0]]}")
    for name in ("source", "target"):
        format_of(paths[name])  # refuses formats that nobody knows
    for name in ("internal", "public"):
        if name in paths and paths[name].suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"{name} must end in .html or .htm, got {report[name]!r}")
    return Described(
        plan, paths["source"], paths["target"], schemes,
        _flag(given, "omit_missing"), _flag(given, "round"), _flag(given, "accept_visible_coins"),
        CsvFormat(**csv) if csv else None,
        paths.get("internal"), paths.get("public"),
        _within(report.get("within", []), schemes), _caps(_table(given, "checks"), schemes),
    )  # fmt: skip


def _schemes(shared: dict[str, Any], columns: dict[str, Any]) -> dict[str, ConditionalMasking]:
    """Those of the columns; what they share stands under scheme."""
    _keys(shared, "scheme", SCHEME)
    if not columns:
        raise ValueError("columns must have a table for each column to mask, [columns.income], got none")
    schemes = {}
    for name in columns:
        own = _table(columns, name)
        _keys(own, f"columns.{name}", SCHEME)
        options = _grid({**shared, **own}, set(own))
        for needed in ("p", "sigma"):
            if needed not in options:
                raise ValueError(f"columns.{name} must have {needed!r}, or [scheme] must, got neither")
        try:
            schemes[name] = ConditionalMasking(**options)
        except (ValueError, TypeError) as error:
            raise type(error)(f"columns.{name}: {error}") from None
    common_method(schemes)
    not_masked(next(iter(schemes.values())).strata, schemes)
    return schemes


def _grid(options: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """A column's own step or decimals stand in place of the other, where that is shared; steps may be 1/3."""
    for one, other in (("step", "decimals"), ("decimals", "step")):
        if one in own and other not in own:
            options.pop(other, None)
    step = options.get("step")
    if isinstance(step, str):
        try:
            options["step"] = float(Fraction(step))
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"step must be a number or a fraction of two, got {step!r}") from None
    return options


def _within(given: Any, schemes: Mapping[str, Any]) -> dict[str, list[float]]:
    """Distances for all columns, or by column."""
    if not isinstance(given, dict):
        found = _numbers(given, "within")
        return dict.fromkeys(schemes, found) if found else {}
    _keys(given, "report.within", tuple(schemes))
    return {name: _numbers(each, f"within of {name}") for name, each in given.items()}


def _numbers(given: Any, name: str) -> list[float]:
    each = given if isinstance(given, list) else [given]
    return [float(_checks.positive(value, name)) for value in each]


def _caps(given: dict[str, Any], schemes: Mapping[str, Any]) -> dict[str, dict[float, float]]:
    """Greatest risks by column and distance."""
    _keys(given, "checks", tuple(schemes))
    caps: dict[str, dict[float, float]] = {}
    for name in given:
        caps[name] = {}
        for distance, cap in _table(given, name).items():
            try:
                near = float(distance)
            except ValueError:
                raise ValueError(f"checks.{name} must have distances for keys, got {distance!r}") from None
            caps[name][_checks.positive(near, f"checks.{name}")] = _checks.probability(
                cap, f"checks.{name}.{distance}"
            )
    return caps


def _keys(given: dict[str, Any], where: str, allowed: Sequence[str], needed: Sequence[str] = ()) -> None:
    """Refuse what is unknown, and what is left out."""
    for name in given:
        if name not in allowed:
            raise ValueError(f"{where} may have {', '.join(allowed)}, got {name!r}")
    for name in needed:
        if name not in given:
            raise ValueError(f"{where} must have {name!r}, got {_checks.listed(list(given)) or 'nothing'}")


def _table(given: dict[str, Any], name: str) -> dict[str, Any]:
    found = given.get(name, {})
    if not isinstance(found, dict):
        raise TypeError(f"{name} must be a table, [{name}], got {found!r}")
    return found


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name} must be a path, got {value!r}")
    return value


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be true or false, got {value!r}")
    return value
