"""What the package logs, on standard error with ``--verbose``.

Log lines contain no value of the data, no key, no label and no column name, which without a header would be a
value.
"""

import argparse
import contextlib
import logging
import time
from collections.abc import Iterator

from condmask.cli.output import say

LOG = logging.getLogger(__name__)


class _Lines(logging.Handler):
    """Says each line, with the seconds so far."""

    def __init__(self) -> None:
        super().__init__()
        self._start = time.perf_counter()

    def emit(self, record: logging.LogRecord) -> None:
        say(f"{time.perf_counter() - self._start:7.2f} s  {record.getMessage()}")


@contextlib.contextmanager
def messages(args: argparse.Namespace) -> Iterator[None]:
    """Show what is logged within."""
    if not args.verbose:
        yield
        return
    package, handler = logging.getLogger("condmask"), _Lines()
    before = package.level
    package.addHandler(handler)
    package.setLevel(logging.INFO)
    try:
        yield
        LOG.info("done")
    finally:
        package.setLevel(before)
        package.removeHandler(handler)
