"""What condmask raises on purpose: every refusal is a CondmaskError, and any other exception is a bug.

Each is an exception of Python's own as well, ValueError, TypeError, OSError or another, so that nobody need
know these names. What Python asks of an object is raised as Python has it: KeyError by a mapping without that
name, AttributeError by a module.
"""


class CondmaskError(Exception):
    """What is asked is refused, or cannot be done; the message is one sentence that says why."""


class ArgumentError(CondmaskError, ValueError):
    """An argument, or what the file it names holds, is not what it must be."""


class ArgumentTypeError(CondmaskError, TypeError):
    """An argument, or a column of the file it names, is of another type than it must be."""


class MissingPackageError(CondmaskError, ModuleNotFoundError):
    """A package that this needs is not installed; the message says how to install it."""


class StateError(CondmaskError, RuntimeError):
    """What the work was begun with is no longer there, or no longer the same."""
