"""Estimates of many samples at once: each is asked the same, and the answers are stacked."""

from collections.abc import Sequence
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from condmask import frames
from condmask.errors import ArgumentError, warn_once_each
from condmask.estimates.base import Shared

ALONE = ("summary", "cdf_band", "plot_cdf")  # of one sample only
# of intervals, what is a replicate's own
FIGURES = ("low", "high", "standard_error", "estimate", "records", "note", "notes")


class Batch:
    """The estimates of samples of one size under one scheme, asked as each of them is.

    Answers have a leading axis of replicates. The other column of a pair has a row for each
    sample, or is the same for all.
    """

    def __init__(self, estimates: Sequence[Any]) -> None:
        self._replicates = tuple(estimates)
        self.scheme: Any = estimates[0].scheme
        self.n: int = estimates[0].n

    def __repr__(self) -> str:
        return f"Estimate(replicates={len(self._replicates)}, n={self.n}, scheme={self.scheme!r})"

    def __dir__(self) -> list[str]:
        return dir(self._replicates[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        asked = [getattr(each, name) for each in self._replicates]
        if not callable(asked[0]):
            return stacked(asked)

        @wraps(asked[0])
        def served(*args: Any, **options: Any) -> Any:
            if name in ALONE:
                raise ArgumentError(
                    f"z must be 1-D for {name}, got a batch; estimate its rows one by one"
                )
            rows = self._rows(signature(asked[0]).bind(*args, **options).arguments)
            with warn_once_each():
                return stacked([ask(**row) for ask, row in zip(asked, rows, strict=True)])

        return served

    def _rows(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        """The arguments for each replicate, with its row of another column."""
        count = len(self._replicates)
        other = given.get("other")
        if isinstance(other, Batch):
            others = list(other._replicates)
        elif other is None or isinstance(other, str | Shared):
            return [given] * count
        else:
            self._replicates[0]._refuse_other_order(other=other)
            others = list(np.atleast_2d(frames.column(other, "other", dimensions=(1, 2)).array))
        if len(others) not in (1, count):
            raise ArgumentError(f"other must have {count} replicates, as z has, got {len(others)}")
        return [given | {"other": one} for one in others * (count // len(others))]


def stacked(answers: list[Any]) -> Any:
    """Numbers, arrays, intervals or estimates of replicates as one, with a leading axis.

    What intervals are about becomes an array, too, where it differs; all else is the first's.
    """
    first = answers[0]
    if isinstance(first, Shared):
        return Batch(answers)
    if not hasattr(first, "about"):
        return np.array(answers)
    fields = {}
    for name in type(first).__match_args__:
        found = [getattr(each, name) for each in answers]
        differ = name in FIGURES or (name == "about" and len({*found}) > 1)
        fields[name] = np.array(found) if differ else found[0]
    return type(first)(**fields)
