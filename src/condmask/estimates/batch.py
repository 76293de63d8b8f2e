"""Batches: a method of an estimate of many samples is called for each sample, and the results are stacked.

Methods are written for one sample. The results of a batch have a leading axis of replicates.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from condmask.errors import ArgumentError, each_once

Method = TypeVar("Method", bound=Callable[..., Any])
Estimates = TypeVar("Estimates")
STACKED = (int, float, np.ndarray, np.generic)
COMMON = ("confidence_level",)  # numbers that all replicates share


def batch_of(estimates: Sequence[Estimates]) -> Estimates:
    """One estimate for several samples, whose results have a leading axis of replicates."""
    batch: Any = copy(estimates[0])
    batch._replicates = tuple(estimates)
    return batch  # type: ignore[no-any-return]


def by_replicate(*paired: str, rows: bool = False) -> Callable[[Method], Method]:
    """Let a method of one sample serve batches.

    Parameters
    ----------
    *paired : str
        The arguments that may have a row, or an estimate, for each replicate of a batch.
    rows : bool
        Whether the method itself serves the rows of a batch, unless these were mapped back to the values.

    Returns
    -------
    decorator
    """

    def decorated(method: Method) -> Method:
        takes = signature(method)

        @wraps(method)
        def served(self: Any, *args: Any, **options: Any) -> Any:
            replicates = self._replicates
            if not replicates or (rows and not self.scheme.reverse_mapping):
                return method(self, *args, **options)
            call, answers = takes.bind(self, *args, **options), []
            whole = {name: call.arguments[name] for name in paired if name in call.arguments}
            for name, argument in whole.items():
                check_replicates(argument, name, len(replicates))
            with each_once():
                for k, replicate in enumerate(replicates):
                    call.arguments["self"] = replicate
                    call.arguments |= {name: row_of(argument, k) for name, argument in whole.items()}
                    answers.append(method(*call.args, **call.kwargs))
            return stacked(answers)

        return served  # type: ignore[return-value]

    return decorated


def rows_of(estimate: Any) -> np.ndarray:
    """The masked values of a batch, of shape (replicates, n); of one sample the only row."""
    return np.array([each._records.z for each in estimate._replicates or (estimate,)])


def plain(value: Any) -> Any:
    """A single number as such, those of replicates as an array."""
    return value if np.ndim(value) else float(value)


def row_of(argument: Any, k: int) -> Any:
    """The part for replicate k: a row of a 2-D array, one estimate of a batch, or the argument itself."""
    rows = _rows(argument)
    return argument if rows is None else rows[k if len(rows) > 1 else 0]


def _rows(argument: Any) -> Any:
    """The rows of a 2-D array or the estimates of a batch; None if the argument serves all replicates."""
    try:
        if hasattr(argument, "_replicates"):
            return argument._replicates or (argument,)
        return argument if not isinstance(argument, str) and np.ndim(argument) == 2 else None
    except Exception:  # no array: each replicate refuses it in its own words
        return None


def check_replicates(argument: Any, name: str, count: int) -> None:
    """Refuse a wrong number of estimates or rows; one row may serve all replicates."""
    rows = _rows(argument)
    if rows is not None and len(rows) != count and (len(rows) != 1 or hasattr(argument, "_replicates")):
        raise ArgumentError(f"{name} must have {count} replicates, as z has, got {len(rows)}")


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
