"""Warnings that point at the user's line, however deep in the package they are raised."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PACKAGE = __name__.partition(".")[0]


_places: ContextVar[set[tuple[object, int]] | None] = ContextVar("places", default=None)


_listeners: ContextVar[tuple[tuple[type[Warning], list[str]], ...]] = ContextVar("listeners", default=())


@contextmanager
def heard(category: type[Warning] = Warning) -> Iterator[list[str]]:
    """Collect the texts of warnings of a category instead of showing them: those of this thread alone.

    `warnings.catch_warnings` changes the filters of all threads; where two of them leave it in the order in
    which they entered, those of the first stay for good.
    """
    texts: list[str] = []
    token = _listeners.set(((category, texts), *_listeners.get()))
    try:
        yield texts
    finally:
        _listeners.reset(token)


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
    for heeded, texts in _listeners.get():
        if issubclass(category, heeded):
            texts.append(text)
            return
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)
