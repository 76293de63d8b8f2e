"""The command ``condmask``: mask a file, estimate from a masked one, simulate, demonstrate.

Results go to standard output, everything else to standard error. There is no option for a seed: a seed is a
secret. A refusal is one line; any other exception is a bug, shown with its traceback.

Each command is a file: ``add`` adds it to the grammar, ``run`` runs it and returns what is printed. ``run``
imports whatever is heavy, so that ``--help`` answers at once.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence

from condmask.cli import (
    audit,
    bugs,
    compare,
    completion,
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
from condmask.cli.messages import messages
from condmask.cli.output import one_line_warnings
from condmask.cli.signals import Ended, ended_by_signals
from condmask.cli.streams import give_up_output, print_text, standard_streams
from condmask.errors import CondmaskError

COMMANDS = (
    plan, audit, mask, run_recipe, ledger, risk, estimate, report, compare, simulate, paper, info, demo,
    completion,
)  # fmt: skip
BUG = 70  # as sysexits.h has it
WHAT_TO_TYPE = """\
Mask columns of a file, or estimate from a masked file. For example:

  condmask demo --people people.parquet
  condmask plan people.parquet -c income
  condmask mask people.parquet masked.parquet -c income --p 0.6 --sigma 0.3 --scale log --reverse-mapping
  condmask estimate masked.parquet -c income

condmask COMMAND --help explains a command and its options."""
EXIT_CODES = """\
Results go to standard output, everything else to standard error. The exit code is

  0    done
  1    refused, or failed; one line says why
  2    wrong usage; one line says what is wrong
  70   a bug in condmask; the traceback says where
  129  the terminal was closed
  130  interrupted from the keyboard
  143  terminated"""


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
    words = sys.argv[1:] if argv is None else argv
    if not words:
        parser().print_help(sys.stderr)
        return 2
    try:
        args = parser().parse_args(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    try:
        with (
            one_line_warnings(args.to_cli_terms),
            without_core_dumps(),
            ended_by_signals(),
            messages(args),
            standard_streams(args),
        ):
            print_text(args, args.run(args))
    except UsageError as error:
        return _fail(args.to_cli_terms(str(error)), 2)
    except CondmaskError as error:
        return _fail(args.to_cli_terms(str(error)), 1)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except Ended as end:
        return _fail(end.reason, 128 + end.signal)
    except BrokenPipeError:
        give_up_output()  # the reader left; so do we
        return 1
    except OSError as error:  # of the file system: other ones have no message
        if error.strerror is None:
            return _bug(error)
        return _fail(": ".join(str(part) for part in (error.filename, error.strerror) if part is not None), 1)
    except MemoryError:
        return _fail("not enough memory", 1)
    except Exception as error:
        return _bug(error)
    return 0


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = Parser(
        prog="condmask", description=WHAT_TO_TYPE, epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    top.set_defaults(grammar=top)
    for command in COMMANDS:
        command.add(commands)
    return top


@contextlib.contextmanager
def without_core_dumps() -> Iterator[None]:
    """Write no core dumps, which would hold what is in memory."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
            import resource

            soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
            stack.callback(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
        yield


def _bug(error: Exception) -> int:
    print(bugs.shown(error), file=sys.stderr)
    return BUG


def _fail(reason: object, code: int) -> int:
    print(f"condmask: error: {' '.join(str(reason).split())}", file=sys.stderr)
    return code
