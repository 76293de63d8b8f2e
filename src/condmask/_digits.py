"""Formats numbers for people, with as many digits as are known, tables of them, and JSON."""

import html
import math
from collections.abc import Iterable
from typing import Any


def number(value: float, error: float | None = None) -> str:
    """Return a number as text: to two digits of its standard error, if that is given and not 0.

    Otherwise to six digits, with all digits of the whole part.
    """
    if not math.isfinite(value):
        return f"{value:g}"
    if error is not None and math.isfinite(error) and error > 0.0:
        places = 1 - math.floor(math.log10(error))
        if abs(value) < 1e12 and places <= 12:
            return f"{value + 0.0:,.{max(0, places)}f}"
    if value == 0.0:
        return "0"
    if not 1e-4 <= abs(value) < 1e12:
        return f"{value:.6g}"
    text = f"{value:,.{max(0, 5 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def preformatted(text: str) -> str:
    """Return a text for notebooks, its lines and blanks as they are."""
    return f"<pre>{html.escape(text)}</pre>"


def line(label: str, cells: Iterable[str], *, head: int, width: int = 12) -> str:
    """Return a line of a table: the label flush left, the cells flush right."""
    return f"{label:{head}}" + "".join(f"{cell:>{width}}" for cell in cells)


def finite(value: Any) -> Any:
    """Return a value, a list or a dict for JSON, in which NaN and infinity become None (null)."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
