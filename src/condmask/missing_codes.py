"""Missing codes: numbers that stand for "no value" (-8: refused to say), declared with the scheme.

Codes are not values: they are replaced by NaN before anything is done with a column, and the release has them
in their places again, or nulls. A publisher whose data hold an undeclared value that looks like a code is
asked.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.errors import ArgumentError
from condmask.law import Law
from condmask.suspected_codes import Suspicion, suspicion

Declared = tuple[float | None, ...] | None  # None among codes, or alone: there are no others
TOLERATED = 1e-6  # masked values, expected, that are taken for a code
FAR = 40.0  # sigma: beyond, noise of either law is less likely than 1e-24
INSTEAD = 'missing_as="null" (--missing-as null) releases nulls in their place'


class Coded(Protocol):
    """What the functions here need from a scheme."""

    @property
    def codes(self) -> tuple[float, ...]: ...
    @property
    def missing_as(self) -> str: ...


def released_codes(scheme: Coded) -> tuple[float, ...]:
    """The codes that stand in a release; where nulls do, a masked value may be any number."""
    return scheme.codes if scheme.missing_as == "code" else ()


def is_code(x: np.ndarray, codes: tuple[float, ...], kind: str) -> np.ndarray:
    """Where values are codes; float32 holds the nearest number to -99.9."""
    codes_at = np.zeros(x.shape, dtype=bool)
    for code in codes:
        codes_at |= x == held(code, kind)
    return codes_at


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
    out = x if in_place else np.empty(x.shape, x.dtype)
    if not in_place:
        out[:] = x
    flat = out.reshape(-1)
    for start, stop in blocks(flat.size):
        part = flat[start:stop]
        part[is_code(part, codes, kind)] = np.nan
    return out


def drop_codes(
    schemes: Mapping[str, Any],
    columns: dict[str, np.ndarray],
    kinds: Mapping[str, str],
    policy: str,
    *,
    in_place: bool = False,
) -> tuple[dict[str, np.ndarray], str]:
    """Columns with NaN for their codes, and the policy for gaps from here on: codes declare theirs.

    Refused where values look like codes that none declares.
    """
    declared = any(scheme.codes for scheme in schemes.values())
    if declared:
        for name, x in columns.items():
            _checks.has_gaps(x, name, policy)
        columns = {
            name: without_codes(x, schemes[name].codes, kinds[name], in_place=in_place)
            for name, x in columns.items()
        }
    for name, x in columns.items():
        refuse_undeclared(schemes[name].missing, x, name, kinds[name])
    return columns, "omit" if declared else policy


def refuse_undeclared(missing: Declared, x: np.ndarray, name: str, kind: str) -> None:
    """Refuse a column, without its codes, in which a value looks like a code, unless declared complete."""
    if missing is None or None in missing:
        return
    suspected = suspicion(x, kind)
    if suspected is not None:
        raise ArgumentError(_question(suspected, missing, name))


def _question(suspected: Suspicion, missing: tuple[float | None, ...], name: str) -> str:
    """The question, with both answers."""
    codes = sorted(suspected.codes, key=abs)
    yes, no = (*missing, *codes), (*missing, None)
    listed, stand = " and ".join(map(_shown, codes)), "stands" if len(codes) == 1 else "stand"
    return (
        f"missing must say whether {listed} in {name} ({suspected.records} records, "
        f"far from all other values) {stand} for a missing value; pass {_answer(yes)} if so, "
        f"{_answer(no)} if not"
    )


def _answer(missing: tuple[float | None, ...]) -> str:
    """A declaration in Python and as options."""
    listed = ", ".join(map(_shown, missing))
    return f"missing={listed if len(missing) == 1 else f'({listed})'} ({' '.join(options(missing))})"


def options(missing: Declared) -> list[str]:
    """A declaration as options of a command."""
    declared = (None,) if missing is None else missing
    return [
        word
        for code in declared
        for word in (["--no-missing"] if code is None else ["--missing", _shown(code)])
    ]


def _shown(code: float | None) -> str:
    return "None" if code is None else f"{code:.15g}"


def refuse_reachable(
    schemes: Mapping[str, Any], columns: Mapping[str, np.ndarray], kinds: Mapping[str, str]
) -> None:
    """Refuse codes on which masked values would land; the columns are in whole steps of their grids."""
    for name, scheme in schemes.items():
        for code in released_codes(scheme):
            refuse_hits(expected_hits(scheme, code, columns[name], kinds[name]), code, name)


def refuse_hits(count: float, code: float, name: str) -> None:
    """Refuse a code on which so many masked values are expected to land."""
    if count > TOLERATED:
        raise ArgumentError(
            f"missing must be out of reach of masked values, got {code:g}, on which {count:.2g} of "
            f"{name} are expected to land; {INSTEAD}"
        )


def expected_hits(scheme: Any, code: float, units: np.ndarray, kind: str) -> float:
    """How many masked values are expected to come out as the code."""
    law: Law = scheme.law
    steps = landing(scheme, code, kind)
    if steps is None:
        return 0.0
    low, high = steps
    total = 0.0
    for start, stop in blocks(units.size):
        at = units[start:stop]
        at = at[np.abs(at - 0.5 * (low + high)) * law.step < FAR * law.sigma + (high - low) * law.step]
        swapped = np.count_nonzero((at >= low) & (at <= high))
        kept = between(law, (low - at - 0.5) * law.step, (high - at + 0.5) * law.step)
        total += law.p * swapped + (1.0 - law.p) * float(kept.sum())
    return total


def landing(scheme: Any, code: float, kind: str) -> np.ndarray | None:
    """The first and the last point of the grid, in whole steps, that is published as the code; None where
    none is."""
    grid = scheme.grid
    if grid is None:
        return None
    size, most = held(code, kind), 2.0**53

    def published(k: float) -> float:
        with np.errstate(over="ignore"):
            return float(scheme.publish(grid.values(np.array([k])), kind)[0])

    def first(reached: Any) -> float:
        """The first k for which something holds that then holds for all larger ones."""
        low, high = -most, most
        while high - low > 1.0:
            middle = np.floor(0.5 * (low + high))
            low, high = (low, middle) if reached(middle) else (middle, high)
        return float(high)

    low, high = first(lambda k: published(k) >= size), first(lambda k: published(k) > size) - 1.0
    return np.array([low, high]) if low <= high else None


def between(law: Law, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """P(low < Y < high) of the noise before it is rounded, in the tails too."""
    from scipy.special import ndtr  # takes .1 s to import

    above = low > 0.0  # the same on the other side, where chances are small numbers and not 1 minus such
    low, high = np.where(above, -high, low) / law.sigma, np.where(above, -low, high) / law.sigma
    if law.noise == "normal":
        return np.asarray(ndtr(high) - ndtr(low))
    return np.asarray(_laplace(high) - _laplace(low))


def _laplace(u: np.ndarray) -> np.ndarray:
    tail = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(u))
    return np.asarray(np.where(u < 0.0, tail, 1.0 - tail))


def restore_codes(scheme: Any, z: np.ndarray, x: np.ndarray, kind: str, name: str) -> np.ndarray:
    """Masked values as they are published, with the codes of the original in their places."""
    codes = released_codes(scheme)
    if not codes:
        return finite_release(scheme, z, kind, name)
    where = is_code(x, codes, kind)
    published = finite_release(scheme, np.where(where, x, z), kind, name)
    not_hit(scheme, published[~where], kind, name)
    return published


def finite_release(scheme: Any, z: np.ndarray, kind: str, name: str) -> np.ndarray:
    """Masked values as they are published, all finite."""
    with np.errstate(over="ignore"):
        published = np.asarray(scheme.publish(z, kind))
    check_finite(published, name)
    return published


def check_finite(published: np.ndarray, name: str) -> None:
    """Refuse infinite values: one would show that its record was masked."""
    if any(np.isinf(published[start:stop]).any() for start, stop in blocks(published.size)):
        raise ArgumentError(f"{name} must stay finite when it is masked: its noise is too large")


def not_hit(scheme: Any, z: np.ndarray, kind: str, name: str) -> None:
    """A last check before publication."""
    for code in released_codes(scheme):
        if is_code(z, (code,), kind).any():
            raise ArgumentError(
                f"{name} has a masked value that equals its code {code:g}; nothing was released; {INSTEAD}"
            )
