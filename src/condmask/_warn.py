"""Warnings that point at the user's line, however deep in the package they are said."""

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the nearest caller that is no part of the package."""
    depth = 2  # as warnings count: 1 is the line below
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)
