"""Codes of missing values that a file of SPSS or Stata declares itself."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Protocol, Self, TypeVar

from condmask.disclosure.choose import Choice
from condmask.errors import ArgumentError, Refusals, ReleaseWarning, warn
from condmask.files.stat import LETTERS, StatFile
from condmask.missing_codes import Code, codes_in_words, declared_codes, ends_of


class HasSchemes(Protocol):
    """A job, whose schemes may be exchanged."""

    schemes: dict[str, Any]

    def with_schemes(self, schemes: Mapping[str, Any]) -> Self: ...


Task = TypeVar("Task", bound="HasSchemes")


def with_declared(job: Task, source: StatFile, form: str) -> tuple[Task, list[str]]:
    """Return the job with the codes that the file declares for its columns, and what to say of
    these, and of what is not written into a file of a format."""
    refusals = Refusals()
    schemes = dict(job.schemes)
    notes = []
    for name, scheme in job.schemes.items():
        codes = source.codes(name)
        _warn_of_labels(source, name, codes)
        if not codes:
            continue
        with refusals.collected():
            schemes[name] = _with_codes(scheme, codes, name)
        notes.append(f"{name}: {_in_words(codes)} from the file, which declares missing values")
    refusals.raise_all()
    return job.with_schemes(schemes), notes + (source.losses(form) if form else [])


def with_codes_of(schemes: Mapping[str, Any], chosen: Mapping[str, Choice]) -> dict[str, Choice]:
    """Return choices of schemes with the codes of the schemes by which columns were inspected."""
    return {
        name: choice._replace(scheme=replace(choice.scheme, missing=schemes[name].missing))
        for name, choice in chosen.items()
    }


def _with_codes(scheme: Any, codes: list[Code], name: str) -> Any:
    """Return a scheme with more codes; its own within them are left out."""
    if "missing" not in {field.name for field in fields(scheme)}:
        raise ArgumentError(
            f"{name} has declared missing values, which {type(scheme).__name__} would mask as "
            "values: use ReverseMapping or ConditionalMasking"
        )
    given = (None,) if scheme.missing is None else scheme.missing
    others = [code for code in given if code is not None and not _within_any(code, codes)]
    no_more = [None] if None in given else []
    return replace(scheme, missing=declared_codes([*others, *codes, *no_more]))


def _within_any(code: Code, codes: list[Code]) -> bool:
    """Return whether a code is one of others, or in a range of them."""
    low, high = ends_of(code)
    return any(least <= low and high <= most for least, most in map(ends_of, codes))


def _in_words(codes: list[Code]) -> str:
    """Return codes as the program names them that wrote the file."""
    letter_of = {number: f".{letter}" for letter, number in LETTERS.items()}
    letters = sorted(letter_of[code] for code in codes if code in letter_of)
    return " and ".join(letters) if letters else codes_in_words(codes)


def _warn_of_labels(source: StatFile, name: str, codes: list[Code]) -> None:
    """Warn of labels on values that are no codes, which stay on values that other records get."""
    numbers = source.labelled_values(name)
    others = [value for value in numbers if not _within_any(value, [*codes, *LETTERS.values()])]
    if others:
        warn(
            f"{name} has labels on {len(others)} values that the file does not declare as "
            "missing: "
            "declare them (missing=) if they are codes; they label released values otherwise",
            ReleaseWarning,
            about=name,
        )
