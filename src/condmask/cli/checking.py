"""The command ``condmask check``: all that a release needs, and one command line that passes."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from condmask.cli.options import (
    CSV,
    OUTPUT,
    FileOptions,
    Output,
    Several,
    codes_of_words,
    shares_by_distance,
)
from condmask.cli.shell_form import in_shell, options_of, scheme_options
from condmask.cli.text import UsageError, audit_progress, say

if TYPE_CHECKING:
    from condmask.disclosure.figures import Figures
    from condmask.publish.settling import Step

MASKED_SUFFIX = "-masked"  # of the name of the file that is suggested


def check(
    source: str,
    *,
    column: Annotated[list[str], Parameter(alias="-c")],
    strata: list[str] | None = None,
    missing: Annotated[list[str] | None, Parameter(allow_leading_hyphen=True)] = None,
    drop: Several = None,
    max_clear: float = 0.6,
    max_lift: float = 0.1,
    max_risk: Several = None,
    accept: Several = None,
    part_rows: int | None = None,
    log: str | None = None,
    no_log: bool = False,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Say all that keeps columns of a file from being released, and a command that releases them.

    Nothing is written, and nothing is entered in the log. The last line is a complete command,
    which was tried in memory and passes.

    For example: condmask check people.parquet -c income

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask; several are masked together, by schemes that are chosen for the data
    strata
        swap values only within the groups of this column; of several, crossed
    missing
        number that stands for a missing value (-8), or range of them (9990:9999); none: there are
        no others
    drop
        column that is not released
    max_clear
        share of values from which on a release is refused if columns in clear, or the release
        alone, tell so many (default .6)
    max_lift
        largest share of values that may be guessed from the release but not from the columns in
        clear alone (default .1)
    max_risk
        DISTANCE=SHARE: largest share of values that an attacker may guess closer than this
    accept
        code of a finding that the release is not refused for, such as C4
    part_rows
        rows of a part, as for mask
    log
        file that lists earlier releases (default: your own log)
    no_log
        do not look up earlier releases
    """
    from condmask.publish.attempts import Files, attempt_file, passing
    from condmask.publish.settling import Settings, Step

    if log is not None and no_log:
        raise UsageError("--log must be left out with --no-log")
    place = Path(source)
    target = _free_name(place)
    limits = {
        "max_clear": max_clear,
        "max_lift": max_lift,
        "max_risk": shares_by_distance(max_risk, "--max-risk"),
        "accept": accept or (),
    }
    files = Files(
        place,
        target,
        csv=csv.format(),
        part_rows=part_rows,
        keep=(),
        log=log or not no_log,
        force=False,
        again=False,
        dry_run=True,
        progress=None,
    )
    settings = Settings(
        column,
        strata=strata,
        drop=tuple(drop or ()),
        missing=() if missing is None else tuple(codes_of_words(missing)),
    )
    for line in _facts(files, settings):
        say(line)
    steps: list[Step] = []

    def said(step: Step) -> None:
        steps.append(step)
        for reason in step.reasons:
            say(f"found: {in_shell(reason)}")

    with audit_progress():
        ready, passed = passing(
            lambda under, past: attempt_file(files, under, past, limits),
            settings,
            fix=True,
            said=said,
        )
    fixed = {
        "part_rows": part_rows,
        "log": False if no_log else log,
        "max_clear": None if max_clear == 0.6 else max_clear,
        "max_lift": None if max_lift == 0.1 else max_lift,
        "accept": accept,
        **csv.given(),
    }
    words = [command_line(place, target, passed, fixed)]
    words += [f"--max-risk {shlex.quote(each)}" for each in max_risk or ()]
    command = " ".join(words)
    _show(output, command, steps, ready.figures)


def _show(
    output: Output, command: str, steps: Sequence["Step"], figures: Mapping[str, "Figures"]
) -> None:
    """Show a command that passes, with the steps that led to it and the figures of its release."""
    result = {
        "command": command,
        "steps": [{"text": step.text, "reasons": list(step.reasons)} for step in steps],
        "figures": {name: row._asdict() for name, row in figures.items()},
    }
    lines = [f"settled: {step.text}" for step in steps]
    for name, row in figures.items():
        lines.append(
            f"{name}: guessed to within a tenth of the spread by a constant {row.constant:.1%}, "
            f"by columns in clear {row.clear:.1%}, with all coins known {row.worst:.1%}"
        )
    output.show(result, "\n".join([*map(in_shell, lines), "this passes:", command]), rewrite=False)


def _free_name(place: Path) -> Path:
    """Return the name of a file that does not exist, next to the source."""
    suffixes = "".join(place.suffixes[-2:]) if place.suffix == ".gz" else place.suffix
    folder = place.is_dir() or not suffixes
    stem = place.name if folder else place.name.removesuffix(suffixes)
    stem = "masked" if set("*?[") & set(stem) else stem
    number = 1
    while True:
        more = "" if number == 1 else f"-{number}"
        parent = place.parent if place.parent.is_dir() else Path()
        name = parent / f"{stem}{MASKED_SUFFIX}{more}{'' if folder else suffixes}"
        if not name.exists():
            return name
        number += 1


def _facts(files: Any, settings: Any) -> list[str]:
    """Return what is seen of a file without any check: its size, and the gaps of the columns."""
    import numpy as np

    from condmask.publish.stages import originals

    source = originals(files.source, files.csv)
    source.require(settings.names)
    gaps = dict.fromkeys(settings.names, 0)
    rows = 0
    for part in source.parts(settings.names):
        rows += part.num_rows
        for name in settings.names:
            gaps[name] += int(np.isnan(source.numbers(part, name).array).sum())
    lines = [f"{files.source}: {rows:,} records, {len(source.names)} columns, {source.format}"]
    lines += [
        f"{name}: {count:,} records without a value" for name, count in gaps.items() if count
    ]
    return lines


def command_line(source: Path, target: Path, settings: Any, fixed: dict[str, Any]) -> str:
    """Return the command that masks a file under some settings."""
    words = ["condmask mask", shlex.quote(str(source)), shlex.quote(str(target))]
    if settings.by_name:
        words += [f"-c {shlex.quote(name)}" for name in settings.names]
    else:
        words.append(scheme_options(settings.schemes))
    given = {
        "strata": settings.strata,
        "missing": settings.missing,
        "drop": settings.drop,
        "shuffle": settings.shuffle or None,
        "rare_gaps": None if settings.rare_gaps == "refuse" else settings.rare_gaps,
        "nan_policy": None if settings.nan_policy == "raise" else settings.nan_policy,
        **fixed,
    }
    words.append(options_of(given))
    return " ".join(filter(None, words))
