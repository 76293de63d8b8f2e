"""Long stretches of compiled code in a thread of their own, so that Ctrl-C is answered while they run.

Python looks at signals between two of its own instructions, and in the main thread alone. What is one
instruction to it, a loop over ten million numbers, keeps Ctrl-C waiting. So the main thread has such a loop
run elsewhere and waits, which signals do end. A loop whose caller is gone runs to its end, unseen; the
process does not wait for it.
"""

import threading
from collections.abc import Callable
from typing import Any

LONG = 1 << 21  # numbers: compiled code has done fewer in some tenths of a second


def answering(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function returns that, given very many numbers, runs for long without Python.

    It must let other threads run meanwhile, as our kernels do, and sorts of NumPy.
    """
    if not is_long(args) or threading.current_thread() is not threading.main_thread():
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


def is_long(args: tuple[Any, ...] | list[Any]) -> bool:
    """Whether there is an array of very many numbers among the arguments, or in one of them."""
    for arg in args:
        if is_long(arg) if isinstance(arg, (tuple, list)) else getattr(arg, "size", 0) > LONG:
            return True
    return False
