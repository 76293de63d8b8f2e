"""The command ``condmask``: nine commands, each a function of `condmask.cli.commands`.

Results go to standard output, everything else to standard error. There is no option for a seed: a seed is a
secret. A refusal is one line. Any other exception is a bug, shown by where it was raised: a traceback ends up
in logs and in reports to others, so the message, which may quote a value, is left out.
"""

import sys
import traceback
from collections.abc import Sequence

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
    from condmask.cli.text import UsageError, fail, one_line_warnings, say
    from condmask.errors import CondmaskError, optional

    words = [*(sys.argv[1:] if argv is None else argv)]
    try:
        with optional("the command line", "files"):
            from condmask.cli.commands import COMMANDS
            from condmask.cli.options import parsed
        command = parsed(COMMANDS, words)
        with one_line_warnings():
            code = command() or 0
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
