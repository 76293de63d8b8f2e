"""Results of a function for each partition, combined by a tree of tasks.

Tasks are put together in the order of the partitions, a few at a time: what comes out is the same bits
whatever workers there are, and how often a task was tried again.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import reduce
from typing import Any

from dask.delayed import delayed

FAN_IN = 8  # of a task that puts together what others found


def reduced(
    parts: Sequence[Any], function: Callable[..., Any], combine: Callable[[Any, Any], Any], *shared: Any
) -> Any:
    """The combined result for all partitions of a Dask frame or series, of which there is at least one.

    Parameters
    ----------
    parts : sequence of Delayed
        The partitions.
    function : callable (partition, *shared)
    combine : callable (found, found)
        Gives what is found in both, the earlier ones first; it may change the first.
    *shared : Any
        Sent once to each worker.
    """
    of_all = [delayed(each, pure=False, traverse=False) for each in shared]
    find, together = delayed(function, pure=False), delayed(_together, pure=False)
    found = [find(part, *of_all) for part in parts]
    while len(found) > 1:
        groups = [found[k : k + FAN_IN] for k in range(0, len(found), FAN_IN)]
        found = [together(combine, group) if len(group) > 1 else group[0] for group in groups]
    return found[0].compute()


def _together(combine: Callable[[Any, Any], Any], found: list[Any]) -> Any:
    """The combined result of several; a task must not change its input, since it may be retried."""
    return reduce(combine, found[1:], deepcopy(found[0]))
