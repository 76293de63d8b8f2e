"""What the package logs, on standard error: with ``--verbose`` all, on a terminal at least warnings."""

import argparse
import contextlib
import logging
import sys
import time
from collections.abc import Iterator

from condmask._log import logger, shown
from condmask.cli.output import say

LOG = logger(__name__)


@contextlib.contextmanager
def messages(args: argparse.Namespace) -> Iterator[None]:
    """Show what is logged within."""
    if not args.verbose:
        with shown(say) if sys.stderr.isatty() else contextlib.nullcontext():
            yield
        return
    start = time.perf_counter()
    with shown(lambda line: say(f"{time.perf_counter() - start:7.2f} s  {line}"), logging.INFO):
        yield
        LOG.info("done")
