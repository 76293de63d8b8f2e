"""Check arguments, return them as canonical values, and word the errors.

The form is always *argument, rule, value*: ``p must lie strictly between 0 and 1, got 1.5``. For
columns, which may be originals, messages name positions and no values, since messages end up in
logs.
"""

import math
import numbers
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from condmask.changes import Change
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError

LARGEST_EXACT_INTEGER = 2**53
MAX_MAGNITUDE = 2.0**1022  # so that the difference of two values is finite
MAX_ORDER = 170  # whose factorial is the largest that a number can hold
MAX_SHOWN_LETTERS = 500  # letters of a value in a message
NAN_POLICIES = ("raise", "omit")


def require(
    allowed: bool,
    rule: str,
    value: object,
    error: type[CondmaskError] = ArgumentError,
    *,
    hint: str = "",
) -> None:
    """Raise an error with the rule, the value and a hint unless the value is allowed."""
    if not allowed:
        raise error(f"{rule}, got {in_message(value)}{hint}")


@contextmanager
def converting(value: object, name: str, rule: str) -> Iterator[None]:
    """Refuse a value that cannot be converted within, whatever its own methods, NumPy or others
    raise.

    What they say is left out: it may hold values.
    """
    try:
        yield
    except (CondmaskError, MemoryError):
        raise
    except Exception:
        raise ArgumentTypeError(f"{name} must be {rule}, got {in_message(value)}") from None


def real(value: Any, name: str, rule: str) -> float:
    """Convert a Python or NumPy real number to float; infinities are accepted, booleans
    rejected."""
    known = isinstance(value, numbers.Real) and not isinstance(value, bool)
    require(known, f"{name} must be {rule}", value, ArgumentTypeError)
    with converting(value, name, rule):
        return float(value)


def probability(value: object, name: str) -> float:
    """Return a number strictly between 0 and 1 as float."""
    number = real(value, name, "a number strictly between 0 and 1")
    require(0.0 < number < 1.0, f"{name} must lie strictly between 0 and 1", value)
    return number


def positive(value: object, name: str, *, least: float = 0.0) -> float:
    """Return a positive finite number as float."""
    number = real(value, name, "a positive finite number")
    require(0.0 < number < math.inf, f"{name} must be positive and finite", value)
    require(number >= least, f"{name} must be at least {least:.2g}", number)
    return number


def not_below_zero(value: object, name: str) -> float:
    """Return a finite number of at least 0 as float."""
    number = real(value, name, "a finite number of at least 0")
    require(0.0 <= number < math.inf, f"{name} must be at least 0 and finite", value)
    return number


def integer(
    value: Any, name: str, *, least: int, most: int = LARGEST_EXACT_INTEGER, beyond: str = ""
) -> int:
    """Convert a Python or NumPy integer to int; booleans are rejected.

    An upper bound keeps time and memory in bounds; `beyond` is appended to its message as a
    reason.
    """
    rule = f"a whole number of at least {least}"
    known = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    require(known, f"{name} must be {rule}", value, ArgumentTypeError)
    with converting(value, name, rule):
        number = int(value)
    require(number >= least, f"{name} must be {rule}", value)
    limit = "2^53" if most == LARGEST_EXACT_INTEGER else f"{most:,}"
    require(number <= most, f"{name} must be at most {limit}{beyond}", value)
    return number


def order(value: object, name: str, *, most: int = MAX_ORDER) -> int:
    """Return the order of a moment as int."""
    beyond = ", beyond which powers of the noise are too large for a number"
    return integer(value, name, least=1, most=most, beyond=beyond)


def callback(value: object, name: str) -> Any:
    """Validate a progress callback, or None."""
    require(
        value is None or callable(value),
        f"{name} must be None or a callable",
        value,
        ArgumentTypeError,
    )
    return value


def text(value: object, name: str) -> str:
    """Return a text, such as the name of a column."""
    require(isinstance(value, str), f"{name} must be a text", value, ArgumentTypeError)
    return str(value)


def boolean(value: object, name: str) -> bool:
    """Return True or False; other values that count as true or false are rejected."""
    require(
        isinstance(value, bool | np.bool_),
        f"{name} must be True or False",
        value,
        ArgumentTypeError,
    )
    return bool(value)


def choice(value: object, name: str, allowed: Sequence[str]) -> str:
    """Return one of the allowed words."""
    known = isinstance(value, str) and value in allowed
    require(known, f"{name} must be one of {', '.join(map(repr, allowed))}", value)
    return str(value)


def names(values: Any, name: str) -> tuple[str, ...]:
    """Return names of columns as a tuple."""
    known = isinstance(values, tuple | list) and all(isinstance(value, str) for value in values)
    require(known, f"{name} must be a sequence of names", values, ArgumentTypeError)
    return tuple(values)


def path(value: Any, name: str) -> Path:
    """Return a path."""
    with converting(value, name, "a path"):
        return Path(value)


def writable(value: object, name: str) -> Path:
    """Return the path of a file in a folder that can be written."""
    target = path(value, name)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ArgumentError(f"{name} must be a file in a folder that can be written, got {value}")
    return target


def in_memory(values: object, name: str) -> None:
    """Refuse a table or column of Dask, and a lazy frame of polars, which hold no values yet."""
    home = type(values).__module__.partition(".")[0]
    kind = type(values).__name__
    if home in ("dask", "dask_expr"):
        raise ArgumentTypeError(
            f"{name} must be in memory, got a Dask {kind}: pass {name}.compute(); cm.dask.mask "
            "masks a data frame of Dask, and its release has the estimates"
        )
    if home == "polars" and kind == "LazyFrame":
        raise ArgumentTypeError(
            f"{name} must be in memory, got a LazyFrame: pass {name}.collect()"
        )


def array(values: object, name: str, rule: str) -> np.ndarray:
    """Convert a column to a NumPy array; raises one of our errors if that fails in any way."""
    in_memory(values, name)
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and isinstance(values, list | tuple):
            raise ArgumentError(f"{name} must be {rule}, got rows of unequal length") from None
        kind = type(values).__name__
        raise ArgumentTypeError(
            f"{name} must be {rule}, got {kind}, which NumPy cannot convert to an array"
        ) from None


def reals(values: object, name: str) -> np.ndarray:
    """Return points as float64 of any shape; NaN is refused, infinities are kept."""
    rule = "a number or an array of numbers"
    given = array(values, name, rule)
    if given.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be {rule}, got {_kind(given, in_message(values))}")
    points = given.astype(np.float64)
    if np.isnan(points).any():
        wrong = "hold NaN" if points.ndim else f"be NaN, got {in_message(values)}"
        raise ArgumentError(f"{name} must not {wrong}")
    return points


def all_allowed(
    points: np.ndarray, allowed: Callable[[np.ndarray], np.ndarray], rule: str
) -> np.ndarray:
    """Return the points if all are allowed; otherwise name the first that is not."""
    wrong = points[~allowed(points)]
    if wrong.size:
        raise ArgumentError(f"{rule}, got {wrong[0]}")
    return points


def probabilities(values: object, name: str) -> np.ndarray:
    """Return points strictly between 0 and 1 as float64."""
    rule = f"{name} must lie strictly between 0 and 1"
    return all_allowed(reals(values, name), lambda points: (points > 0.0) & (points < 1.0), rule)


def distances(values: object, name: str) -> np.ndarray:
    """Return points of at least 0 as float64."""
    return all_allowed(
        reals(values, name), lambda points: points >= 0.0, f"{name} must not be negative"
    )


def finite_distances(values: object, name: str) -> np.ndarray:
    """Return finite points of at least 0 as float64."""
    return all_allowed(distances(values, name), np.isfinite, f"{name} must be finite")


def column(
    values: object,
    name: str,
    *,
    dimensions: tuple[int, ...] = (1,),
    least: int = 2,
    finite: bool = True,
) -> np.ndarray:
    """Return a column as C-contiguous float64; NaN stays, infinities are refused.

    ``finite`` is False where values are looked at one by one later, and each look at all of them
    counts.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"{name} must be a plain array, got a masked one; fill its gaps with NaN"
        )
    shape = " or ".join(f"{d}-D" for d in dimensions)
    given = array(values, name, shape)
    if given.dtype.kind not in "iuf":
        raise ArgumentTypeError(
            f"{name} must be numeric, got {_kind(given, type(values).__name__)}"
        )
    if given.dtype.kind == "f" and given.dtype.itemsize not in (4, 8):
        # longer ones do not fit; of half precision, the coarse values would show who was swapped
        raise ArgumentTypeError(f"{name} must be float32 or float64, got dtype {given.dtype}")
    if given.ndim not in dimensions:
        raise ArgumentError(f"{name} must be {shape}, got {given.ndim}-D")
    if least == 2:
        at_least_two(given.shape[-1], name)
    column = np.ascontiguousarray(given, np.float64)
    if finite:
        no_infinities(column, name)
    return column


def at_least_two(count: int, name: str) -> None:
    """Refuse a column of fewer than two values."""
    if count < 2:
        raise ArgumentError(f"{name} must have at least 2 values, got {count}")


def no_infinities(array: np.ndarray, name: str, row: int = 0) -> None:
    """Refuse infinite and enormous values; ``row`` is the position of the first value in the whole
    column."""
    if array.size == 0 or (array.min() >= -MAX_MAGNITUDE and array.max() <= MAX_MAGNITUDE):
        return  # without a temporary array; a NaN makes both comparisons false
    infinite = np.isinf(array)
    beyond = np.abs(array) > MAX_MAGNITUDE
    if infinite.any():
        raise ArgumentError(
            f"{name} must be finite, got {_counted(infinite, 'infinite value', row)}"
        )
    if beyond.any():
        rule = f"{name} must be at most {MAX_MAGNITUDE:.1e} in size"
        raise ArgumentError(f"{rule}, got a larger one at position {row + int(beyond.argmax())}")


def exact_integers(array: np.ndarray, name: str, hint: str = "") -> None:
    """Refuse integers beyond 2^53, which float64 does not tell apart."""
    beyond = np.flatnonzero((array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER))
    if beyond.size:
        rule = f"{name} must hold integers of at most 2^53"
        raise ArgumentError(f"{rule}, got a larger one at position {beyond[0]}{hint}")


def has_gaps(array: np.ndarray, name: str, nan_policy: str) -> bool:
    """Return whether values are missing; refused under "raise", and in a column that has fewer
    than two other values."""
    if not np.isnan(array.min()):
        return False
    missing = np.isnan(array)
    if nan_policy == "raise":
        values = _counted(missing, "missing value")
        error = ArgumentError(f'{name} has {values}; pass nan_policy="omit" to leave them out')
        raise error.settled_by(Change(omit=True))
    left = array.size - int(missing.sum())
    if array.ndim == 1 and left < 2:
        raise ArgumentError(f"{name} must have at least 2 values that are not missing, got {left}")
    return True


def complete(array: np.ndarray, name: str) -> None:
    """Refuse missing values."""
    missing = np.isnan(array)
    if missing.any():
        raise ArgumentError(f"{name} must be complete, got {_counted(missing, 'missing value')}")


def _counted(where: np.ndarray, what: str, row: int = 0) -> str:
    """Return in words how many values are True, and the position of the first."""
    count = int(where.sum())
    first = row + int(where.argmax())
    return f"{count} {what}{'' if count == 1 else 's'}, the first at position {first}"


def same_length(array: Any, name: str, n: int, of: str) -> None:
    """Refuse a column that is not 1-D or not of length n; `of` names the other column."""
    if np.ndim(array) != 1:
        raise ArgumentError(f"{name} must be 1-D, got {np.ndim(array)}-D")
    if len(array) != n:
        raise ArgumentError(f"{name} must be as long as {of}, {n} values, got {len(array)}")


def in_message(value: object) -> str:
    """Return a value as text for a message, on one line and cut if it is long.

    A table, a column or an array may hold originals, so its type is returned, as for a value that
    has no text.
    """
    try:
        data = hasattr(value, "__array__") and not isinstance(value, np.generic)
        text = "" if data else re.sub(r"\s*[\r\n]\s*", " ", repr(value))
    # numbers of thousands of digits, lists in lists without end, faults of its own
    except Exception:
        text = ""
    if not text:
        return f"a {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN_LETTERS else f"{text[:MAX_SHOWN_LETTERS]}..."


def listed(names: Sequence[Any]) -> str:
    """List names of columns for a message, but count names that are numbers: in a file without a
    header they are the values of the first record."""
    words = [name for name in names if not _reads_as_number(name)]
    numbers = len(names) - len(words)
    parts = [", ".join(map(repr, words))] if words else []
    return " and ".join(
        parts + ([f"{numbers} named by numbers (is there a header?)"] if numbers else [])
    )


def _reads_as_number(name: Any) -> bool:
    try:
        float(name)
    except (TypeError, ValueError):
        return False
    return True


def _kind(array: np.ndarray, scalar: str) -> str:
    """Return in words the type of an array that does not hold numbers."""
    kinds = {"b": "booleans", "c": "complex numbers"}
    return kinds.get(array.dtype.kind, f"dtype {array.dtype}" if array.ndim else scalar)
