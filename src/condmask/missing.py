"""Missing codes: numbers that stand for "no value" (-8: refused to say), declared with the scheme.

They are no values: they are taken out before anything is done with a column, as NaN, and what is released has
them in their places again, or nulls.
"""

from typing import Protocol

import numpy as np

from condmask._blocks import blocks

RELEASED_AS = ("code", "null")


class Coded(Protocol):
    """What is asked of a scheme."""

    @property
    def missing(self) -> tuple[float, ...]: ...
    @property
    def missing_as(self) -> str: ...


def released_codes(scheme: Coded) -> tuple[float, ...]:
    """The codes that stand in a release; where nulls do, a masked value may be any number."""
    return scheme.missing if scheme.missing_as == "code" else ()


def is_code(x: np.ndarray, codes: tuple[float, ...], kind: str) -> np.ndarray:
    """Where values are codes; float32 holds the nearest number to -99.9."""
    found = np.zeros(x.shape, dtype=bool)
    for code in codes:
        found |= x == held(code, kind)
    return found


def held(code: float, kind: str) -> float:
    """A code as a column of this kind holds it."""
    with np.errstate(over="ignore"):
        return float(np.float32(code)) if kind == "float32" else code


def without_codes(
    x: np.ndarray, codes: tuple[float, ...], kind: str, *, in_place: bool = False
) -> np.ndarray:
    """The column with NaN for its codes, block by block."""
    if not codes:
        return x
    out = x if in_place else x.copy()
    flat = out.reshape(-1)
    for start, stop in blocks(flat.size):
        part = flat[start:stop]
        part[is_code(part, codes, kind)] = np.nan
    return out
