"""The command ``condmask``: ten commands, each a function of `condmask.cli.commands`.

Results go to standard output, everything else to standard error. There is no option for a seed: a
seed is a secret. A refusal is one line. Any other exception is a bug, shown by where it was
raised: a traceback ends up in logs and in reports to others, so the message, which may quote a
value, is left out.
"""

import sys
import traceback
from collections.abc import Sequence

BUG = (
    "this is a bug in condmask; please report it with the lines above, which contain no "
    "value of the data"
)

WARNED = 3  # the exit code of a release of which there is a warning


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name. None takes those of the process.

    Returns
    -------
    int
        The exit code: 0 if all was done, 1 if something was refused or failed, 2 if the command
        was wrong, 3 if a release was made, or tried in a dry run, and there is a warning of it.
    """
    from condmask.cli.text import UsageError, fail, one_line_warnings, say
    from condmask.errors import CondmaskError, optional

    words = [*(sys.argv[1:] if argv is None else argv)]
    try:
        with optional("the command line", "files"):
            from condmask.cli.commands import COMMANDS
            from condmask.cli.options import parsed
        command = parsed(COMMANDS, words)
        with one_line_warnings() as shown:
            code = command() or 0
        code = code or _code_of(shown)
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
    return code if words else 2


def _code_of(shown: Sequence[type[Warning]]) -> int:
    """Return the exit code of a command that did all, by the kinds of the warnings that it
    showed."""
    if not shown:
        return 0
    from condmask.errors import ReleaseWarning  # here, so that the start stays short

    return WARNED if any(issubclass(kind, ReleaseWarning) for kind in shown) else 0
