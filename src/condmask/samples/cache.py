"""A cache of recent results, shared by all threads."""

from collections.abc import Callable
from typing import Any


class BoundedCache:
    """The last few results, by key.

    Parameters
    ----------
    most : int
        How many are kept; the least recently used goes first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedCache, (self._most,)  # what was worked out does not travel

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result for a key; computed if it is not there."""
        value = self._kept.pop(key, self)
        if value is self:
            value = make()
        self._kept[key] = value  # as the last
        for old in list(self._kept)[: -self._most]:
            self._kept.pop(old, None)
        return value
