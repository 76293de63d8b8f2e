"""What was worked out last, kept for all threads that ask."""

from collections.abc import Callable
from threading import Lock
from typing import Any


class BoundedCache:
    """The last few things worked out, by what was asked.

    Parameters
    ----------
    most : int
        So many are kept; what was asked longest ago goes first.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedCache, (self._most,)  # what was worked out does not travel

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is kept by a key, or else made and kept; two threads may both make it."""
        with self._lock:
            if key in self._kept:
                self._kept[key] = value = self._kept.pop(key)
                return value
        value = make()
        with self._lock:
            self._kept[key] = value
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return value
