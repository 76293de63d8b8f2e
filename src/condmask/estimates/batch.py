"""Batches: what is asked of an estimate of many samples is asked of each, and stacked.

Methods are written for one sample. A batch answers along a leading axis of replicates.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np

Method = TypeVar("Method", bound=Callable[..., Any])
STACKED = (int, float, np.ndarray, np.generic)
COMMON = ("confidence_level",)  # numbers that all replicates share


def by_replicate(*paired: str) -> Callable[[Method], Method]:
    """Let a method of one sample serve batches.

    Parameters
    ----------
    *paired : str
        Its arguments of which a batch may bring a row, or an estimate, for each replicate.

    Returns
    -------
    decorator
    """

    def decorated(method: Method) -> Method:
        takes = signature(method)

        @wraps(method)
        def served(self: Any, *args: Any, **options: Any) -> Any:
            if not self._batch:
                return method(self, *args, **options)
            bound = takes.bind(self, *args, **options)
            answers = []
            for k, replicate in enumerate(self._replicates):
                given = dict(bound.arguments)
                for name in paired:
                    if name in given:
                        given[name] = row_of(given[name], k)
                call = bound.signature.bind_partial()
                call.arguments.update(given)
                answers.append(method(replicate, *call.args[1:], **call.kwargs))
            return stacked(answers)

        return served  # type: ignore[return-value]

    return decorated


def row_of(given: Any, k: int) -> Any:
    """What belongs to replicate k: a row of two dimensions, one estimate of a batch, else what is given."""
    if getattr(given, "_batch", False):
        return given._replicates[k]
    if isinstance(given, str) or given is None:
        return given
    return given[k] if np.ndim(given) == 2 else given


def stacked(answers: list[Any]) -> Any:
    """Answers of one form, each number and array in it along a leading axis; what is neither is the first's.

    Forms are numbers, arrays, tuples, named tuples, dataclasses and mappings of these; text that differs is
    along a leading axis, too.
    """
    first = answers[0]
    if isinstance(first, str) and len(set(answers)) > 1:
        return np.array(answers)
    if isinstance(first, bool | str) or first is None:
        return first
    if isinstance(first, STACKED):
        return np.array(answers)
    if is_dataclass(first) and not isinstance(first, type):
        return type(first)(**_by_name([field.name for field in fields(first)], answers))
    if isinstance(first, Mapping):
        return {name: stacked([each[name] for each in answers]) for name in first}
    if isinstance(first, tuple):
        if hasattr(first, "_fields"):
            return type(first)(**_by_name(first._fields, answers))
        return tuple(stacked(list(each)) for each in zip(*answers, strict=True))
    return first


def _by_name(names: Iterable[str], answers: list[Any]) -> dict[str, Any]:
    first = answers[0]
    return {
        name: getattr(first, name) if name in COMMON else stacked([getattr(each, name) for each in answers])
        for name in names
    }
