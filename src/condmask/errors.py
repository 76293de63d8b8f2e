"""Exceptions of condmask: every refusal is a CondmaskError; any other exception is a bug.

Each is an exception of Python's own as well, ValueError, TypeError, OSError or another, so users need not
know these names. Where Python defines the exception, it is raised as such: KeyError for a missing name in a
mapping, AttributeError for a module. What the operating system refuses may leave as its OSError, and what
a callable raises that was passed in as that.
"""

import re


class CondmaskError(Exception):
    """The request is refused or impossible; the message is one sentence that says why."""

    def __str__(self) -> str:
        # on one line, whatever stands in the name of a file
        return re.sub(r"[\x00-\x1f\x7f]+", " ", super().__str__())


class ArgumentError(CondmaskError, ValueError):
    """An argument, or the content of the file it names, has a wrong value."""


class ArgumentTypeError(CondmaskError, TypeError):
    """An argument, or a column of the file it names, has a wrong type."""


class MissingPackageError(CondmaskError, ModuleNotFoundError):
    """A package that this needs is not installed; the message says how to install it."""
