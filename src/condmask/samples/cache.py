"""A cache of recent results, shared by all threads."""

from collections.abc import Callable
from threading import Lock
from typing import Any


class BoundedCache:
    """The last few results, by key.

    Parameters
    ----------
    most : int
        How many are kept; the least recently used goes first.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedCache, (self._most,)  # what was worked out does not travel

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result for a key; computed if it is not there, perhaps by two threads at once."""
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
