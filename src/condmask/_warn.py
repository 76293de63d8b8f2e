"""Warnings that point at the user's line, however deep in the package they are raised."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PACKAGE = __name__.partition(".")[0]


_places: ContextVar[set[tuple[object, int]] | None] = ContextVar("places", default=None)


@contextmanager
def each_once() -> Iterator[None]:
    """Let each line of the package warn only once: once for a whole batch."""
    token = _places.set(set())
    try:
        yield
    finally:
        _places.reset(token)


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the nearest caller outside the package."""
    depth, frame = 2, sys._getframe(1)  # 1 is this line, 2 the caller of this function
    places, place = _places.get(), (frame.f_code, frame.f_lineno)
    if places is not None:
        if place in places:
            return
        places.add(place)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)
