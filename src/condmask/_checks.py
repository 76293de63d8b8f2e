"""Checks that turn arguments into canonical values, and the wording of their errors.

The form is always *argument, rule, value*: ``p must lie strictly between 0 and 1, got 1.5``. For
columns, which may be originals, messages name positions and no values, since messages end up in logs.
"""

import math
import numbers
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError

LARGEST_EXACT_INTEGER = 2**53
LARGEST = 2.0**1022  # so that the difference of two values is finite
LARGEST_SIGMA = 1e300  # so that a value and its noise are
MOST_ORDER = 170  # whose factorial is the largest that a number can hold
MOST_SHOWN = 500  # letters of a value in a message
MOST_DISTANCES = 100
LEAST_CONFIDENCE_LEVEL = 1e-9  # of an interval that has a length
LEAST_TOLERANCE = 1e-300  # half of which is not zero
LEAST_SWAP_PROBABILITY = 2.0**-64  # below, no coin of 64 bits falls on swapped
NAN_POLICIES = ("raise", "omit")


@contextmanager
def converting(value: Any, name: str, rule: str) -> Iterator[None]:
    """Refuse a value that cannot be converted within, whatever its own methods, NumPy or others raise.

    What they say is left out: it may hold values.
    """
    try:
        yield
    except (CondmaskError, MemoryError):
        raise
    except Exception:
        raise ArgumentTypeError(f"{name} must be {rule}, got {shown(value)}") from None


def no_less(number: float, least: float, name: str) -> float:
    if number < least:
        raise ArgumentError(f"{name} must be at least {least:.2g}, got {number}")
    return number


def probability(value: Any, name: str) -> float:
    number = real(value, name, "a number strictly between 0 and 1")
    if not 0.0 < number < 1.0:
        raise ArgumentError(f"{name} must lie strictly between 0 and 1, got {shown(value)}")
    return number


def confidence_level(value: Any, name: str = "confidence_level") -> float:
    return no_less(probability(value, name), LEAST_CONFIDENCE_LEVEL, name)


def swap_probability(value: Any) -> float:
    return no_less(probability(value, "p"), LEAST_SWAP_PROBABILITY, "p")


def probabilities(values: Any, name: str) -> np.ndarray:
    array = reals(values, name)
    outside = ~((array > 0.0) & (array < 1.0))
    if outside.any():
        raise ArgumentError(f"{name} must lie strictly between 0 and 1, got {array[outside][0]}")
    return array


def shares(values: Any, name: str) -> np.ndarray:
    array = reals(values, name)
    outside = ~((array >= 0.0) & (array <= 1.0))
    if outside.any():
        raise ArgumentError(f"{name} must lie between 0 and 1, got {array[outside][0]}")
    return array


def correlation(value: Any) -> float:
    number = real(value, "correlation", "a number between -1 and 1")
    if not -1.0 < number < 1.0:
        raise ArgumentError(f"correlation must lie between -1 and 1, got {shown(value)}")
    return number


def positive(value: Any, name: str) -> float:
    number = real(value, name, "a positive finite number")
    if not (number > 0.0 and math.isfinite(number)):
        raise ArgumentError(f"{name} must be positive and finite, got {shown(value)}")
    return number


def tolerance(value: Any) -> float:
    return no_less(positive(value, "tol"), LEAST_TOLERANCE, "tol")


def deviation(value: Any) -> float:
    number = positive(value, "sigma")
    if number > LARGEST_SIGMA:
        raise ArgumentError(f"sigma must be at most {LARGEST_SIGMA:g}, got {shown(value)}")
    return number


def not_negative(value: Any, name: str) -> float:
    number = real(value, name, "a finite number of at least 0")
    if not (number >= 0.0 and math.isfinite(number)):
        raise ArgumentError(f"{name} must be at least 0 and finite, got {shown(value)}")
    return number


def array(values: Any, name: str, rule: str) -> np.ndarray:
    """What NumPy makes of a column; refused where that is nothing, whatever its methods raise."""
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and isinstance(values, (list, tuple)):
            raise ArgumentError(f"{name} must be {rule}, got rows of unequal length") from None
        kind = type(values).__name__
        raise ArgumentTypeError(f"{name} must be {rule}, got {kind}, of which NumPy makes no array") from None


def strata(value: Any) -> str | tuple[str, ...] | None:
    """None, the name of a column or the names of several; of one in a sequence its name."""
    if value is None or (isinstance(value, str) and value):
        return value
    if not isinstance(value, (tuple, list)) or not value or not all(isinstance(n, str) and n for n in value):
        raise ArgumentTypeError(f"strata must be None, a name or a sequence of names, got {shown(value)}")
    if len(set(value)) < len(value):
        raise ArgumentError(f"strata must name each column once, got {shown(value)}")
    return tuple(value) if len(value) > 1 else str(value[0])


def names(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, str) for value in values):
        raise ArgumentTypeError(f"{name} must be a sequence of names, got {shown(values)}")
    return tuple(values)


def reals(values: Any, name: str) -> np.ndarray:
    """Points, not data: any shape, NaN refused, infinities kept."""
    rule = "a number or an array of numbers"
    given = array(values, name, rule)
    if given.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be {rule}, got {_kind(given, shown(values))}")
    points = given.astype(np.float64)
    if np.isnan(points).any():
        raise ArgumentError(
            f"{name} must not be NaN, got {shown(values)}"
            if points.ndim == 0
            else f"{name} must not hold NaN"
        )
    return points


def distances(values: Any, name: str) -> np.ndarray:
    array = reals(values, name)
    if (array < 0.0).any():
        raise ArgumentError(f"{name} must not be negative, got {array[array < 0.0][0]}")
    return array


def few_distances(values: Any, name: str) -> np.ndarray:
    """Finite ones, on each of which attackers are tried."""
    array = distances(values, name)
    if np.isinf(array).any():
        raise ArgumentError(f"{name} must be finite, got {array[np.isinf(array)][0]}")
    if array.size > MOST_DISTANCES:
        raise ArgumentError(f"{name} must hold at most {MOST_DISTANCES} distances, got {array.size:,}")
    return array


def path(value: Any, name: str) -> Path:
    """A place in a file system."""
    if isinstance(value, str | os.PathLike):
        with converting(value, name, "a path"):
            place = Path(value)
            if b"\0" not in os.fsencode(place):  # which refuses what no name of a file can be
                return place
    raise ArgumentTypeError(f"{name} must be a path, got {shown(value)}")


def writable(value: Any, name: str) -> Path:
    """A file that can be written, once there is something to write."""
    target = path(value, name)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ArgumentError(f"{name} must be a file in a folder that can be written, got {value}")
    return target


def utf8(path: Path) -> None:
    """Refuse a path that is no text, which no note or list could name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{str(path)!r} must be named in UTF-8: rename it") from None


def whole(value: Any, name: str, *, least: int, most: int = LARGEST_EXACT_INTEGER) -> int:
    """A whole number; at most so large where time or memory grow with it."""
    rule = f"a whole number of at least {least}"
    number = integer(value, name, rule)
    if number < least:
        raise ArgumentError(f"{name} must be {rule}, got {shown(value)}")
    if number > most:
        limit = "2^53" if most == LARGEST_EXACT_INTEGER else f"{most:,}"
        raise ArgumentError(f"{name} must be at most {limit}, got {shown(value)}")
    return number


def integer(value: Any, name: str, rule: str) -> int:
    """A whole number of Python's or NumPy's; True and False are none."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise ArgumentTypeError(f"{name} must be {rule}, got {shown(value)}")
    with converting(value, name, rule):
        number = int(value)
    return number


def order(value: Any, name: str, *, most: int = MOST_ORDER) -> int:
    """The order of a moment: beyond the largest one those of the noise are larger than numbers can be."""
    number = whole(value, name, least=1)
    if number > most:
        raise ArgumentError(
            f"{name} must be at most {most}, beyond which powers of the noise are too large for a number, "
            f"got {shown(value)}"
        )
    return number


def called(value: Any, name: str) -> Any:
    """What is called as work goes on; None where nothing is."""
    if value is not None and not callable(value):
        raise ArgumentTypeError(f"{name} must be None or a callable, got {shown(value)}")
    return value


def text(value: Any, name: str) -> str:
    """A name of a column, or another word."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a text, got {shown(value)}")
    return value


def truth(value: Any, name: str) -> bool:
    """True or False, and nothing that merely counts as one."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")
    return str(value)


def decimals(value: Any) -> int | None:
    if value is None:
        return None
    rule = "None or a whole number from -15 to 15"
    places = integer(value, "decimals", rule)
    if not -15 <= places <= 15:
        raise ArgumentError(f"decimals must be {rule}, got {shown(value)}")
    return places


def aggregated(value: Any) -> int:
    """How many values at either end become their mean: none, or several."""
    count = whole(value, "aggregate_ends", least=0)
    if count == 1:
        raise ArgumentError("aggregate_ends must be 0 or at least 2, got 1: one value is its own mean")
    return count


def limits(value: Any) -> tuple[float | None, float | None] | None:
    """The bounds of a range, the lower first, None for one that is open; None where both are."""
    rule = "range must be two numbers, the lower first, of which one may be None"
    if value is None:
        return None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ArgumentTypeError(f"{rule}, got {shown(value)}")
    try:
        low, high = (None if end is None else real(end, "range", "a number") + 0.0 for end in value)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"{rule}, got {shown(value)}") from None
    low, high = None if low == -math.inf else low, None if high == math.inf else high
    if any(end is not None and not math.isfinite(end) for end in (low, high)):
        raise ArgumentError(f"{rule}, got {shown(value)}")
    if low is not None and high is not None and not low < high:
        raise ArgumentError(f"{rule}, got {shown(value)}")
    return None if low is None and high is None else (low, high)


def codes(values: Any) -> tuple[float | None, ...] | None:
    """Numbers that stand for missing values: one or several, each once; None where there are no others."""
    rule = "a finite number or a sequence of several"
    several = isinstance(values, (tuple, list)) or (isinstance(values, np.ndarray) and values.ndim > 0)
    given = list(values) if several else [values]
    complete = any(value is None for value in given)
    given = [value for value in given if value is not None]
    numbers = [real(value, "missing", rule) + 0.0 for value in given]
    counts = Counter(numbers)
    for number, value in zip(numbers, given, strict=True):
        if not math.isfinite(number):
            raise ArgumentError(f"missing must be {rule}, got {shown(value)}")
        if (times := counts[number]) > 1:
            raise ArgumentError(f"missing must name each code once, got {shown(value)} {times} times")
    if not complete:
        return tuple(numbers)
    return (*numbers, None) if numbers else None


def workers(value: Any) -> Any:
    if callable(value):
        return value
    rule = "a whole number of at least 1 or a map-like callable"
    try:
        count = integer(value, "workers", rule)
    except ArgumentTypeError:
        count = 0
    if count < 1:
        raise ArgumentError(f"workers must be {rule}, got {shown(value)}")
    return count


def column(
    values: Any, name: str, *, dimensions: tuple[int, ...] = (1,), least: int = 2, finite: bool = True
) -> np.ndarray:
    """Numbers as C-contiguous float64; missing values stay NaN, infinities are refused.

    ``finite`` is False where values are looked at one by one later, and each look at all of them counts.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{name} must be a plain array, got a masked one; fill its gaps with NaN")
    shape = " or ".join(f"{d}-D" for d in dimensions)
    given = array(values, name, shape)
    if given.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be numeric, got {_kind(given, type(values).__name__)}")
    if given.dtype.kind == "f" and given.dtype.itemsize not in (4, 8):
        # longer ones do not fit; of half precision, the coarse values would show who was swapped
        raise ArgumentTypeError(f"{name} must be float32 or float64, got dtype {given.dtype}")
    if given.ndim not in dimensions:
        raise ArgumentError(f"{name} must be {shape}, got {given.ndim}-D")
    if least == 2:
        at_least_two(given.shape[-1], name)
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        exact_integers(given, name)
    column = given
    if given.dtype != np.float64 or not given.flags.c_contiguous:
        column = np.empty(given.shape)
        column[...] = given
    if finite:
        no_infinities(column, name)
    return column


def at_least_two(count: int, name: str) -> None:
    if count < 2:
        raise ArgumentError(f"{name} must have at least 2 values, got {count}")


def ends(array: np.ndarray) -> tuple[float, float]:
    """The least value and the largest, in one pass through memory; NaN where there is one, or nothing."""
    flat = array.ravel()
    parts = [flat[start:stop] for start, stop in blocks(flat.size)] or [np.array([np.nan])]
    return float(np.min([part.min() for part in parts])), float(np.max([part.max() for part in parts]))


def no_infinities(array: np.ndarray, name: str, row: int = 0) -> None:
    """``row`` is the position of the first value in the whole column."""
    least, largest = ends(array)
    if array.size == 0 or (least >= -LARGEST and largest <= LARGEST):
        return  # without a temporary array; a NaN makes both comparisons false
    infinite = np.isinf(array)
    if infinite.any():
        first = row + int(np.flatnonzero(infinite.ravel())[0])
        count = int(infinite.sum())
        many = "1 infinite value" if count == 1 else f"{count} infinite values"
        raise ArgumentError(f"{name} must be finite, got {many}, the first at position {first}")
    beyond = np.flatnonzero(np.abs(array.ravel()) > LARGEST)
    if beyond.size:
        first = row + int(beyond[0])
        raise ArgumentError(
            f"{name} must be at most {LARGEST:.1e} in size, got a larger one at position {first}"
        )


def exact_integers(array: np.ndarray, name: str, positions: Sequence[int] | np.ndarray | None = None) -> None:
    """``positions`` are those of the integers in the whole column, where others stand between them."""
    beyond = (array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)
    if beyond.any():
        first = int(np.flatnonzero(beyond.ravel())[0])
        first = first if positions is None else int(positions[first])
        raise ArgumentError(
            f"{name} must hold integers of at most 2^53, got a larger one at position {first}"
        )


def present(array: np.ndarray, name: str, nan_policy: str) -> np.ndarray | None:
    """Where values are present; None where all are. Missing ones are refused under "raise"."""
    if not has_gaps(array, name, nan_policy):
        return None
    missing = np.isnan(array)
    return np.asarray(np.logical_not(missing, out=missing))


def has_gaps(array: np.ndarray, name: str, nan_policy: str) -> bool:
    """Whether values are missing; these are refused under "raise"."""
    if not np.isnan(array.min()):
        return False
    flat = array.reshape(-1)
    counts = [int(np.count_nonzero(np.isnan(flat[start:stop]))) for start, stop in blocks(flat.size)]
    start, stop = next(part for part, gaps in zip(blocks(flat.size), counts, strict=True) if gaps)
    first = start + int(np.isnan(flat[start:stop]).argmax())
    refuse_gaps(sum(counts), first, array.size if array.ndim == 1 else None, name, nan_policy)
    return True


def refuse_gaps(count: int, first: int, of: int | None, name: str, nan_policy: str) -> None:
    """Refuse missing values under "raise", and a column of so many records in which hardly any is left."""
    if nan_policy == "raise":
        values = "1 missing value" if count == 1 else f"{count} missing values"
        raise ArgumentError(
            f'{name} has {values}, the first at position {first}; pass nan_policy="omit" to leave them out'
        )
    if of is not None and of - count < 2:
        raise ArgumentError(f"{name} must have at least 2 values that are not missing, got {of - count}")


def complete(array: np.ndarray, name: str) -> None:
    missing = np.flatnonzero(np.isnan(array.ravel()))
    if missing.size:
        values = "1 missing value" if missing.size == 1 else f"{missing.size} missing values"
        raise ArgumentError(f"{name} must be complete, got {values}, the first at position {missing[0]}")


def same_length(array: Any, name: str, n: int, of: str) -> None:
    if np.ndim(array) != 1:
        raise ArgumentError(f"{name} must be 1-D, got {np.ndim(array)}-D")
    if len(array) != n:
        raise ArgumentError(f"{name} must be as long as {of}, {n} values, got {len(array)}")


def real(value: Any, name: str, rule: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ArgumentTypeError(f"{name} must be {rule}, got {shown(value)}")
    with converting(value, name, rule):
        try:
            number = float(value)
        except OverflowError:  # a whole number of more than 308 digits
            number = math.copysign(math.inf, 1 if value > 0 else -1)  # type: ignore[operator]
    return number


def shown(value: Any) -> str:
    """What was given, in a message, on one line and cut where it is long; of a table, a column or an array,
    which may be originals, its type, as of what cannot be shown."""
    try:
        data = hasattr(value, "__array__") and not isinstance(value, np.generic)
        text = "" if data else re.sub(r"\s*[\r\n]\s*", " ", repr(value))
    except Exception:  # numbers of thousands of digits, lists in lists without end, faults of its own
        text = ""
    if not text:
        return f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def listed(names: Sequence[Any]) -> str:
    """Names of columns, but no numbers: without a header they are the values of the first record."""
    words = [name for name in names if not _reads_as_number(name)]
    numbers = len(names) - len(words)
    parts = [", ".join(map(repr, words))] if words else []
    return " and ".join(parts + ([f"{numbers} named by numbers (is there a header?)"] if numbers else []))


def _reads_as_number(name: Any) -> bool:
    try:
        float(name)
    except (TypeError, ValueError):
        return False
    return True


def _kind(array: np.ndarray, scalar: str) -> str:
    if array.dtype.kind == "b":
        return "booleans"
    if array.dtype.kind == "c":
        return "complex numbers"
    if array.ndim == 0:
        return scalar
    return f"dtype {array.dtype}"
