"""What is shown of a bug: where it is, and no value of the data.

The traceback is for the user's terminal, but ends up in logs and in reports to others. Lines of code contain
no data. The messages of unforeseen exceptions may (``could not convert string to float: '1204.50'``), so only
their types are shown.
"""

import traceback
from collections.abc import Iterator

LAST = (
    "condmask: error: this is a bug in condmask; please report it to its developers with the lines above, "
    "which contain no value of the data"
)


def shown(bug: BaseException) -> str:
    """Where an exception and its causes were raised, each without its message."""
    parts = [
        "".join([*traceback.format_tb(error.__traceback__), named(error)])
        for error in reversed(list(chain(bug)))
    ]
    return "\n\n".join(["Traceback (most recent call last):\n" + part for part in parts] + [LAST])


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def named(error: BaseException) -> str:
    """The type of an exception, by its full name."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
