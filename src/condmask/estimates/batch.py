"""Estimates of several samples at once: calls the method of each and stacks the answers."""

from collections.abc import Sequence
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from condmask import frames
from condmask.errors import ArgumentError, warn_once_each
from condmask.estimates.base import Shared
from condmask.masking.scheme import Scheme
from condmask.row_labels import has_index, refuse_other_order

OF_ONE_SAMPLE = (
    "summary",
    "describe",
    "group_by",
    "cdf_band",
    "plot_cdf",
)  # methods that batches refuse
# fields of intervals that differ between replicates
REPLICATED_FIELDS = (
    *("low", "high", "standard_error", "estimate", "records", "note", "notes"),
    *("degrees", "worth", "explained", "route"),
)
JOINT = "joint"  # field of covariances, which a batch does not have


class Batch:
    """Estimates of several samples of equal size under one scheme.

    Offers the methods of Estimate and stacks the answers along a leading axis of replicates. The
    other column of a pair has a row for each sample, or is the same for all.
    """

    def __init__(self, estimates: Sequence[Shared]) -> None:
        self.replicates: tuple[Shared, ...] = tuple(estimates)
        self.scheme: Scheme = estimates[0].scheme
        self.n: int = estimates[0].sample.n

    def __repr__(self) -> str:
        return f"Estimate(replicates={len(self.replicates)}, n={self.n}, scheme={self.scheme!r})"

    def __dir__(self) -> list[str]:
        return dir(self.replicates[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        attributes = [getattr(each, name) for each in self.replicates]
        if not callable(attributes[0]):
            return stacked(attributes)

        @wraps(attributes[0])
        def call_each(*args: Any, **options: Any) -> Any:
            if name in OF_ONE_SAMPLE:
                raise ArgumentError(
                    f"z must be 1-D for {name}, got a batch; estimate its rows one by one"
                )
            rows = self._by_replicate(signature(attributes[0]).bind(*args, **options).arguments)
            with warn_once_each():
                calls = zip(attributes, rows, strict=True)
                return stacked([method(**row) for method, row in calls])

        return call_each

    def _by_replicate(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the arguments for each replicate, with its row of another column."""
        count = len(self.replicates)
        other = given.get("other")
        if isinstance(other, Batch):
            others = list(other.replicates)
        elif other is None or isinstance(other, str | Shared):
            return [given] * count
        else:
            columns = {"other": other}
            if has_index(columns):
                refuse_other_order(columns, self.replicates[0].records.row_labels)
            others = list(np.atleast_2d(frames.column(other, "other", dimensions=(1, 2)).array))
        if len(others) not in (1, count):
            raise ArgumentError(f"other must have {count} replicates, as z has, got {len(others)}")
        return [given | {"other": one} for one in others * (count // len(others))]


def stacked(answers: list[Any]) -> Any:
    """Stack the numbers, arrays, intervals or estimates of replicates along a leading axis.

    Descriptions of intervals become an array if they differ; other fields are those of the first.
    """
    first = answers[0]
    if isinstance(first, Shared):
        return Batch(answers)
    if not hasattr(first, "about"):
        return np.array(answers)
    fields = {}
    for name in type(first).__match_args__:
        values = [None if name == JOINT else getattr(each, name) for each in answers]
        replicated = name in REPLICATED_FIELDS and values[0] is not None
        differ = replicated or (name == "about" and len({*values}) > 1)
        fields[name] = np.array(values) if differ else values[0]
    return type(first)(**fields)
