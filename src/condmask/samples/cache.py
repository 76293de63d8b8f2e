"""A cache of recent results, shared by all threads."""

from collections.abc import Callable
from typing import Any

from condmask._once import alone


class BoundedCache:
    """The last few results, by key; each is computed by one thread, for which others wait.

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
        with alone(self, key):
            value = self._kept.pop(key, self)
            if value is self:
                value = make()
            with alone(self._kept, "order"):
                self._kept[key] = value  # as the last
                if len(self._kept) > self._most:
                    del self._kept[next(iter(self._kept))]
        return value
