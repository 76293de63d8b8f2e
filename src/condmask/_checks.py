"""Arguments become canonical values here, and every error gets its wording.

The form is always *argument, rule, value*: ``p must lie strictly between 0 and 1, got 1.5``.
"""

import math
import numbers
import operator
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

LARGEST_EXACT_INTEGER = 2**53
LARGEST = 2.0**1022  # so that the difference of two values is finite
SMALLEST_STRATUM = 10


def probability(value: Any, name: str) -> float:
    number = _real(value, name, "a number strictly between 0 and 1")
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def probabilities(values: Any, name: str) -> np.ndarray:
    array = reals(values, name)
    outside = ~((array > 0.0) & (array < 1.0))
    if outside.any():
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {array[outside][0]}")
    return array


def correlation(value: Any) -> float:
    number = _real(value, "correlation", "a number between -1 and 1")
    if not -1.0 < number < 1.0:
        raise ValueError(f"correlation must lie between -1 and 1, got {value!r}")
    return number


def positive(value: Any, name: str) -> float:
    number = _real(value, name, "a positive finite number")
    if not (number > 0.0 and math.isfinite(number)):
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return number


def reals(values: Any, name: str) -> np.ndarray:
    """Points, not data: any shape, NaN refused, infinities kept."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or an array of numbers, got {_kind(values, array)}")
    array = array.astype(np.float64)
    if np.isnan(array).any():
        raise ValueError(
            f"{name} must not be NaN, got {values!r}" if array.ndim == 0 else f"{name} must not hold NaN"
        )
    return array


def distances(values: Any, name: str) -> np.ndarray:
    array = reals(values, name)
    if (array < 0.0).any():
        raise ValueError(f"{name} must not be negative, got {array[array < 0.0][0]}")
    return array


def writable(path: Any, name: str) -> Path:
    """A file that can be written, once there is something to write."""
    try:
        target = Path(path)
    except TypeError:
        raise TypeError(f"{name} must be a path, got {path!r}") from None
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ValueError(f"{name} must be a file in a folder that can be written, got {path}")
    return target


def whole(value: Any, name: str, *, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number of at least {least}, got {value!r}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number


def choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return str(value)


def decimals(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"decimals must be None or a whole number from -15 to 15, got {value!r}")
    places = int(value)
    if not -15 <= places <= 15:
        raise ValueError(f"decimals must be None or a whole number from -15 to 15, got {value!r}")
    return places


def workers(value: Any) -> Any:
    if callable(value):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(
            f"workers must be a whole number of at least 1 or a map-like callable, got {value!r}"
        )
    return int(value)


def rng(value: Any) -> Any:
    """What `numpy.random.default_rng` takes, or a Key."""
    from condmask._randomness import Key

    kinds = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence, Key)
    if value is None or isinstance(value, kinds):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"rng must be None, a whole number, a Generator or a Key, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"rng must be at least 0, got {value!r}")
    return int(value)


def rows(value: Any, n: int, random: Any) -> tuple[int, int]:
    """A half-open range of rows, which only a key that is the same next time can serve."""
    if value is None:
        return 0, n
    if not (isinstance(random, int) or type(random).__name__ == "Key"):
        given = "None" if random is None else f"a {type(random).__name__}"
        raise ValueError(
            f"rng must be a whole number or a Key where rows are given, got {given}: every part of the "
            "file would be masked under another key"
        )
    try:
        start, stop = (operator.index(bound) for bound in value)
    except (TypeError, ValueError):
        raise TypeError(f"rows must be a pair (start, stop), got {value!r}") from None
    if not 0 <= start < stop <= n:
        raise ValueError(f"rows must be a pair 0 <= start < stop <= {n}, got {value!r}")
    return start, stop


def secret(value: Any) -> bytes:
    """The 16 bytes of a key. The wording names their number, never the bytes."""
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"secret must be 16 bytes, got {type(value).__name__}")
    if len(value) != 16:
        raise ValueError(f"secret must be 16 bytes, got {len(value)}")
    return bytes(value)


def column(values: Any, name: str, *, dimensions: tuple[int, ...] = (1,), least: int = 2) -> np.ndarray:
    """Numbers as C-contiguous float64; missing values stay NaN, infinities are refused."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array, got a masked one; fill its gaps with NaN")
    shape = " or ".join(f"{d}-D" for d in dimensions)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be {shape}, got rows of unequal length") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numeric, got {_kind(values, array)}")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        # longer ones do not fit; of half precision, the coarse values would show who was swapped
        raise TypeError(f"{name} must be float32 or float64, got dtype {array.dtype}")
    if array.ndim not in dimensions:
        raise ValueError(f"{name} must be {shape}, got {array.ndim}-D")
    if least == 2:
        at_least_two(array.shape[-1], name)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        exact_integers(array, name)
    array = np.ascontiguousarray(array, dtype=np.float64)
    no_infinities(array, name)
    return array


def at_least_two(count: int, name: str) -> None:
    if count < 2:
        raise ValueError(f"{name} must have at least 2 values, got {count}")


def no_infinities(array: np.ndarray, name: str, row: int = 0) -> None:
    """``row`` is the position of the first value in the whole column."""
    if array.size == 0 or (array.min() >= -LARGEST and array.max() <= LARGEST):
        return  # without a temporary array; a NaN makes both comparisons false
    infinite = np.isinf(array)
    if infinite.any():
        first = row + int(np.flatnonzero(infinite.ravel())[0])
        count = int(infinite.sum())
        many = "1 infinite value" if count == 1 else f"{count} infinite values"
        raise ValueError(f"{name} must be finite, got {many}, the first at position {first}")
    beyond = np.flatnonzero(np.abs(array.ravel()) > LARGEST)
    if beyond.size:
        value, first = array.ravel()[beyond[0]], row + int(beyond[0])
        raise ValueError(f"{name} must be at most {LARGEST:.1e} in size, got {value} at position {first}")


def exact_integers(array: np.ndarray, name: str) -> None:
    beyond = (array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)
    if beyond.any():
        raise ValueError(f"{name} must hold integers of at most 2^53, got {array[beyond][0]}")


def present(array: np.ndarray, name: str, nan_policy: str) -> np.ndarray | None:
    """Where values are present; None where all are. Missing ones are refused under "raise"."""
    if not np.isnan(array.min()):
        return None
    missing = np.isnan(array)
    count = int(missing.sum())
    if nan_policy == "raise":
        first = int(np.flatnonzero(missing.ravel())[0])
        values = "1 missing value" if count == 1 else f"{count} missing values"
        raise ValueError(
            f'{name} has {values}, the first at position {first}; pass nan_policy="omit" to leave them out'
        )
    left = array.size - count
    if array.ndim == 1 and left < 2:
        raise ValueError(f"{name} must have at least 2 values that are not missing, got {left}")
    there: np.ndarray = ~missing
    return there


def complete(array: np.ndarray, name: str) -> None:
    missing = np.flatnonzero(np.isnan(array.ravel()))
    if missing.size:
        values = "1 missing value" if missing.size == 1 else f"{missing.size} missing values"
        raise ValueError(f"{name} must be complete, got {values}, the first at position {missing[0]}")


def same_length(array: Any, name: str, n: int, of: str) -> None:
    if np.ndim(array) != 1:
        raise ValueError(f"{name} must be 1-D, got {np.ndim(array)}-D")
    if len(array) != n:
        raise ValueError(f"{name} must be as long as {of}, {n} values, got {len(array)}")


def stratum_sizes(labels: Sequence[Any], sizes: np.ndarray, name: str = "strata") -> None:
    small = np.flatnonzero(sizes < SMALLEST_STRATUM)
    if small.size:
        label = labels[int(small[0])]
        more = "" if small.size == 1 else f" ({small.size} strata are too small)"
        raise ValueError(
            f"{name} must have at least {SMALLEST_STRATUM} records each, "
            f"got {int(sizes[small[0]])} in stratum {label!r}{more}"
        )


def grid(array: np.ndarray, places: int, name: str, kind: str = "float64", *, row: int = 0) -> np.ndarray:
    """The data in units of ``10**-places``, as whole numbers; anything off that grid is refused.

    ``row`` is the position of the first value in the whole column.
    """
    with np.errstate(over="ignore"):
        units = to_units(array, places)
    if (np.abs(units) > LARGEST_EXACT_INTEGER).any():
        largest = float(np.nanmax(np.abs(array)))
        raise ValueError(
            f"{name} must stay below 2^53 steps of its grid, got {largest!r} with decimals={places}"
        )
    back = from_units(units, places)
    # a value computed in binary may miss its decimal by a few units in the last place
    ulp = np.spacing(np.abs(back).astype(np.float32 if kind == "float32" else np.float64))
    off = np.abs(array - back) > 4.0 * ulp
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{name} must be rounded to decimals={places}, "
            f"got {float(array[first])!r} at position {row + first} "
            f"({int(off.sum())} such values); round the data first, or swapped records show"
        )
    return units


def to_units(array: np.ndarray, places: int) -> np.ndarray:
    """Whole steps of ``10**-places``; zero has no sign, which noise would take from it."""
    step = 10.0 ** abs(places)
    return np.rint(array * step if places >= 0 else array / step) + 0.0


def from_units(units: np.ndarray, places: int) -> np.ndarray:
    """The decimal nearest to a whole number of steps (a division rounds correctly, 0.1 * 3 does not)."""
    step = 10.0 ** abs(places)
    return units / step if places >= 0 else units * step


def _real(value: Any, name: str, rule: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {rule}, got {value!r}")
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return math.inf


def _kind(values: Any, array: np.ndarray) -> str:
    if array.dtype.kind == "b":
        return "booleans"
    if array.dtype.kind == "c":
        return "complex numbers"
    if array.ndim == 0:
        return repr(values)
    return f"dtype {array.dtype}"


def visible_grid(array: np.ndarray, kind: str) -> int | None:
    """The fewest decimal places (0 to 4) on which all values lie, None if there are more."""
    for places in range(5):
        # part by part: most data leave the grid within a few values, and little memory is needed
        if all(_on_grid(array[start : start + 8192], places, kind) for start in range(0, array.size, 8192)):
            return places
    return None


def _on_grid(array: np.ndarray, places: int, kind: str) -> bool:
    values = array[~np.isnan(array)]
    if np.abs(values).max(initial=0.0) > LARGEST_EXACT_INTEGER:  # there every float is whole
        return False
    rounded = from_units(to_units(values, places), places)
    if kind == "float32":
        return np.array_equal(rounded.astype(np.float32), values.astype(np.float32))
    return np.array_equal(rounded, values)
