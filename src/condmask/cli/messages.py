"""``--verbose``: what the package logs, on standard error, each line with the seconds since the start."""

import argparse
import contextlib
import time
from collections.abc import Iterator

from condmask.cli.output import say


@contextlib.contextmanager
def messages(args: argparse.Namespace) -> Iterator[None]:
    """Show what is logged within, where that was asked for."""
    if not args.verbose:
        yield
        return
    import logging

    start = time.perf_counter()

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(f"{time.perf_counter() - start:7.2f} s  {record.getMessage()}")

    logger, handler = logging.getLogger("condmask"), Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
        logger.info("done")
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
