"""Long stretches of compiled code in a thread of their own, so that Ctrl-C is answered while they run.

Python looks at signals between two of its own instructions, and in the main thread alone. What is one
instruction to it, a loop over ten million numbers, keeps Ctrl-C waiting. So the main thread has such a loop run
elsewhere and waits, which signals do end. A loop whose caller is gone runs to its end, unseen; the process
does not wait for it.
"""

import threading
from collections.abc import Callable
from typing import Any

LONG = 1 << 21  # numbers: compiled code has done fewer in some tenths of a second


def answering(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function returns that runs for long without Python, and lets other threads run meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        return function(*args, **options)
    done, found = threading.Event(), []

    def run() -> None:
        try:
            found.append((True, function(*args, **options)))
        except BaseException as error:  # raised where it was called
            found.append((False, error))
        finally:
            done.set()

    threading.Thread(target=run, name="condmask", daemon=True).start()
    done.wait()
    returned, result = found[0]
    if not returned:
        raise result
    return result


def is_long(args: tuple[Any, ...]) -> bool:
    """Whether one of the arguments is an array of very many numbers."""
    return any(getattr(arg, "size", 0) > LONG for arg in args)
