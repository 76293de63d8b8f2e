"""Batches: a method of an estimate of many samples is called for each sample, and the results are stacked.

Methods are written for one sample. The results of a batch have a leading axis of replicates.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from condmask.errors import each_once

Method = TypeVar("Method", bound=Callable[..., Any])
Estimates = TypeVar("Estimates")
STACKED = (int, float, np.ndarray, np.generic)
COMMON = ("confidence_level",)  # numbers that all replicates share


def batch_of(estimates: Sequence[Estimates]) -> Estimates:
    """One estimate for several samples, whose results have a leading axis of replicates."""
    batch: Any = copy(estimates[0])
    batch._replicates = tuple(estimates)
    return batch  # type: ignore[no-any-return]


def by_replicate(method: Method) -> Method:
    """Let a method of one sample serve batches."""

    @wraps(method)
    def served(self: Any, *args: Any, **options: Any) -> Any:
        if not self._replicates:
            return method(self, *args, **options)
        with each_once():
            return stacked([method(each, *args, **options) for each in self._replicates])

    return served  # type: ignore[return-value]


def rows_of(estimate: Any) -> np.ndarray:
    """The masked values of a batch, of shape (replicates, n); of one sample the only row."""
    return np.array([each._records.z for each in estimate._replicates or (estimate,)])


def plain(value: Any) -> Any:
    """A single number as such, those of replicates as an array."""
    return value if np.ndim(value) else float(value)


def stacked(answers: list[Any]) -> Any:
    """Results of one form as one, whose numbers and arrays have a leading axis; all else is the first's.

    Forms are numbers, arrays, and named tuples and dataclasses of these; texts that differ become an array,
    too. Estimates become a batch.
    """
    first = answers[0]
    if hasattr(first, "_replicates"):
        return batch_of(answers)
    if isinstance(first, STACKED) or (isinstance(first, str) and len(set(answers)) > 1):
        return np.array(answers)
    names = [field.name for field in fields(first)] if is_dataclass(first) else getattr(first, "_fields", ())
    columns = {
        name: getattr(first, name) if name in COMMON else stacked([getattr(each, name) for each in answers])
        for name in names
    }
    return type(first)(**columns) if columns else first
