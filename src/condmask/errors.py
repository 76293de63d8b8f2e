"""Exceptions of condmask: every refusal is a CondmaskError; any other exception is a bug.

Each is an exception of Python's own as well, ValueError, TypeError, OSError or another, so users need not
know these names. Where Python defines the exception, it is raised as such: KeyError for a missing name in a
mapping, AttributeError for a module. What the operating system refuses may leave as its OSError, and what
a callable raises that was passed in as that.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class CondmaskError(Exception):
    """The request is refused or impossible; the message is one sentence that says why."""

    reasons: "Sequence[CondmaskError]" = ()  # of several that are refused at once

    def __str__(self) -> str:
        # on one line, whatever stands in the name of a file
        return re.sub(r"[\x00-\x1f\x7f]+", " ", super().__str__())


class ArgumentError(CondmaskError, ValueError):
    """An argument, or the content of the file it names, has a wrong value."""


class ArgumentTypeError(CondmaskError, TypeError):
    """An argument, or a column of the file it names, has a wrong type."""


class MissingPackageError(CondmaskError, ModuleNotFoundError):
    """A package that this needs is not installed; the message says how to install it."""


class FileError(CondmaskError, OSError):
    """A file cannot be read or written; the message is one sentence that names it."""


class Refusals:
    """What is refused, collected so that all of it is said at once."""

    def __init__(self) -> None:
        self.errors: list[CondmaskError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Go on after a refusal within; the same is not said twice."""
        try:
            yield
        except CondmaskError as error:
            said = [str(one) for one in self.errors]
            self.errors += [one for one in error.reasons or (error,) if str(one) not in said]

    def raise_all(self) -> None:
        """Raise one error that says all of it; of the class of a single one, or of the narrowest they share,
        at least that of wrong arguments."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            texts = "; ".join(f"({k}) {error}" for k, error in enumerate(self.errors, 1))
            kinds = [kind for kind in type(self.errors[0]).__mro__ if issubclass(kind, CondmaskError)]
            shared = next(kind for kind in kinds if all(isinstance(error, kind) for error in self.errors))
            shared = ArgumentError if shared is CondmaskError else shared
            error = shared(f"{len(self.errors)} things must be settled: {texts}")
            error.reasons = self.errors
            raise error
