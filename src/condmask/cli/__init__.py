"""The command ``condmask``: mask a file, estimate from a masked one, simulate, demonstrate.

Results go to standard output, everything else to standard error. There is no option for a seed: a seed is a
secret. A refusal is one line. Any other exception is a bug, shown by where it was raised: a traceback ends up
in logs and in reports to others, so the message, which may quote a value, is left out.

Each command is a file: ``add`` adds it to the grammar, ``run`` runs it and returns what is printed. ``run``
imports whatever is heavy, so that ``--help`` answers at once.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from condmask.cli import audit, compare, demo, estimate, info, mask, paper, plan, report, risk, simulate
from condmask.cli import run as run_recipe
from condmask.cli.arguments import Parser, UsageError, Version
from condmask.cli.messages import messages
from condmask.cli.output import one_line_warnings
from condmask.errors import CondmaskError

COMMANDS = (
    plan, audit, mask, run_recipe, risk, estimate, report, compare, simulate, paper, info, demo
)  # fmt: skip
BUG = "this is a bug in condmask; please report it with the lines above, which contain no value of the data"
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
  130  interrupted from the keyboard"""


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
        with one_line_warnings(args.to_cli_terms), messages(args):
            print(args.run(args), flush=True)
    except UsageError as error:
        return _fail(args.to_cli_terms(str(error)), 2)
    except CondmaskError as error:
        return _fail(args.to_cli_terms(str(error)), 1)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # who reads the output left; what is buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
    for command in COMMANDS:
        command.add(commands)
    return top


def _bug(error: Exception) -> int:
    """Say where an exception was raised and of what type it is, without its message."""
    where = "".join(traceback.format_tb(error.__traceback__))
    print(f"Traceback (most recent call last):\n{where}{type(error).__qualname__}", file=sys.stderr)
    return _fail(BUG, 1)


def _fail(reason: object, code: int) -> int:
    print(f"condmask: error: {' '.join(str(reason).split())}", file=sys.stderr)
    return code
