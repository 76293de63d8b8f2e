"""The command ``condmask``: nine commands, each a function of `condmask.cli.commands`.

Results go to standard output, everything else to standard error. There is no option for a seed: a seed is a
secret. A refusal is one line. Any other exception is a bug, shown by where it was raised: a traceback ends up
in logs and in reports to others, so the message, which may quote a value, is left out.
"""

import sys
import traceback
from collections.abc import Sequence

COMMANDS = {
    "plan": "compare what schemes would protect and cost, and suggest some",
    "audit": "see how near an attacker comes who knows who was swapped, and what is refused",
    "mask": "mask columns of a file; how they were masked is stored with the masked data",
    "risk": "measure how near attackers come to original values, before masking or after it",
    "estimate": "estimate mean, quantiles and more of the original from a masked file",
    "report": "write a report of a release: to be signed, or for its readers",
    "info": "show what a masked file holds, and how it was masked",
    "simulate": "run a Monte Carlo study: bias, error and risk of masking schemes",
    "demo": "see it work on weekly earnings of a survey",
}
HELP = f"""\
Usage: condmask COMMAND [OPTIONS]

Mask columns of a file, or estimate from a masked file. For example:

  condmask demo --people people.parquet
  condmask mask people.parquet masked.parquet -c income
  condmask estimate masked.parquet

Commands:

{chr(10).join(f"  {name:10}{text}" for name, text in COMMANDS.items())}

condmask COMMAND --help lists the options of a command; --options FILE.toml reads them from a file.
Messages may name an option as Python does: nan_policy="omit" is --nan-policy omit, shuffle=True is --shuffle.
The exit code is 0 if all was done, 1 if something was refused or failed, 2 if the command was wrong."""
BUG = "this is a bug in condmask; please report it with the lines above, which contain no value of the data"


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
    words = [*(sys.argv[1:] if argv is None else argv)]
    if not words or words[0] in ("--help", "-h"):
        print(HELP, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"condmask {version('condmask')}")
        return 0
    from condmask.cli.text import UsageError, fail, say
    from condmask.errors import CondmaskError

    try:
        _run(*words)
        sys.stdout.flush()
    except CondmaskError as error:
        return fail(error, 2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        return fail("interrupted", 1)
    except MemoryError:
        return fail("not enough memory", 1)
    except Exception as error:
        if isinstance(error, OSError) and error.strerror is not None:  # of the file system
            return fail(": ".join(map(str, filter(None, (error.filename, error.strerror)))), 1)
        where = "".join(traceback.format_tb(error.__traceback__))
        say(f"Traceback (most recent call last):\n{where}{type(error).__qualname__}")
        return fail(BUG, 1)
    return 0


def _run(name: str, *words: str) -> None:
    """Run a command with its options."""
    from condmask.cli.text import UsageError, one_line_warnings
    from condmask.errors import optional

    if name not in COMMANDS:
        raise UsageError(f"the command must be one of {', '.join(COMMANDS)}, got {name!r}")
    with optional("the command line", "files"):
        from condmask.cli import commands
        from condmask.cli.options import parsed
    command = parsed(getattr(commands, name), words)
    with one_line_warnings():
        command()
