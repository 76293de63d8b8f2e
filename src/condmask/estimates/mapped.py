"""Takes functions of the values of a column that reverse mapping released (docs/inference.rst,
"Functions of a column")."""

from collections.abc import Callable
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.linear.records import MappedRecords, Records
from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.masking.scheme import Scheme

ColumnFunction = Callable[[np.ndarray], Any]  # the answer is checked


def function_of_records(
    scheme: Scheme, records: Records, function: ColumnFunction
) -> MappedRecords:
    """Return a function of released values, as records.

    Parameters
    ----------
    scheme : Scheme
        How they were masked; refused unless by reverse mapping.
    records : Records
    function : callable
        Maps an array of shape (m,) to numbers of the same shape.
    """
    rule = "function must be callable, such as np.log"
    _checks.require(callable(function), rule, function, ArgumentTypeError)
    if not isinstance(scheme, ReverseMappingScheme):
        raise ArgumentError(
            "a function of a masked column needs reverse mapping, got a column with noise: the "
            "function of a value with noise is not that of the original, and cannot be undone "
            "record by record; expectation_interval(function) estimates its mean"
        )
    present = ~np.isnan(records.z)
    before = records.z[present]
    with np.errstate(all="ignore"):  # infinite and undefined values are counted below
        after = _numbers_for_each(function(before.copy()), before.size)
    undefined = int(np.count_nonzero(~np.isfinite(after)))
    if undefined:
        raise ArgumentError(
            f"function must have a finite value for every record, got none for {undefined:,} of "
            f"{before.size:,} records{_of_logarithm(function, before)}"
        )
    z = np.full(records.z.size, np.nan)
    z[present] = after
    return MappedRecords(records, z)


def mapped_name(function: ColumnFunction, name: str) -> str:
    """Return the name of a function of a column, such as "log(income)"; empty for no name."""
    return f"{getattr(function, '__name__', 'function')}({name})" if name else ""


def _numbers_for_each(answer: Any, size: int) -> np.ndarray:
    """Return the answer of a function as numbers, one for each of `size` values."""
    rule = f"function must return one number for each of {size:,} values"
    try:
        numbers = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{rule}, got {type(answer).__name__}") from None
    if numbers.shape != (size,):
        raise ArgumentError(f"{rule}, got the shape {numbers.shape}")
    return numbers


def _of_logarithm(function: ColumnFunction, values: np.ndarray) -> str:
    """Return how many values are zero or negative, if the function is a logarithm."""
    if function not in (np.log, np.log10, np.log2):
        return ""
    zeros = np.count_nonzero(values == 0.0)
    negative = np.count_nonzero(values < 0.0)
    return f": {zeros:,} are zero and {negative:,} negative, and have no logarithm"
