"""Logging: what is being done, and how much of it.

Log lines contain no value of the data, no key, no label and no column name, which without a header would be a
value. They are shown only by a handler on the logger "condmask", the command line, or a study with
``progress=True``. The latter two show warnings; the command line shows everything with ``--verbose``.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator

logging.getLogger("condmask").addHandler(logging.NullHandler())


def logger(module: str) -> logging.Logger:
    """The logger of a module."""
    return logging.getLogger(module)


@contextlib.contextmanager
def shown(show: Callable[[str], None], level: int = logging.WARNING) -> Iterator[None]:
    """Show what is logged within, from this level on; what is shown already is not shown twice."""
    package = logging.getLogger("condmask")
    if any(isinstance(handler, _Lines) for handler in package.handlers):
        yield
        return
    handler, before = _Lines(show, level), package.level
    package.addHandler(handler)
    package.setLevel(level)
    try:
        yield
    finally:
        package.setLevel(before)
        package.removeHandler(handler)


class _Lines(logging.Handler):
    def __init__(self, show: Callable[[str], None], level: int) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())
