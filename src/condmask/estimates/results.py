"""Confidence intervals by name, as of the coefficients of a regression or the means of groups."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask._digits import number
from condmask.inference.intervals import Interval


@dataclass(frozen=True, eq=False)
class Intervals(Mapping[Any, Interval]):
    """Confidence intervals by name; printed, a table.

    Attributes
    ----------
    names : list
        Of the coefficients, or the labels of the groups: the keys, by which each has its `Interval`.
    estimate, standard_error, low, high : ndarray of shape (names,) or (replicates, names)
        The estimates, their standard errors, and the ends of the intervals, in the order of the names.
    records : ndarray of shape (names,) or (replicates, names)
        How many records each is from.
    confidence_level, target, about
        As of an `Interval`.
    """

    names: list[Any]
    estimate: np.ndarray
    standard_error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    records: np.ndarray
    confidence_level: float
    target: str
    about: str

    def __getitem__(self, name: Any) -> Interval:
        if name not in self.names:
            raise KeyError(name)
        at = self.names.index(name)
        low, high, error, estimate = (
            figures[..., at] if figures.ndim > 1 else float(figures[at])
            for figures in (self.low, self.high, self.standard_error, self.estimate)
        )
        about = f"{self.about}: {name}"
        return Interval(low, high, error, estimate, self.confidence_level, self.target, about)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        if self.estimate.ndim > 1:
            kept = f"names={self.names!r}, replicates={len(self.estimate)}, target={self.target!r}"
            return f"Intervals({kept})"
        level = f"{100 * self.confidence_level:g}%"
        figures = zip(self.estimate, self.standard_error, self.low, self.high, strict=True)
        table = [["", "records", "estimate", "standard error", f"{level} from", "to"]]
        for name, count, row in zip(self.names, self.records, figures, strict=True):
            table.append([str(name), f"{count:.0f}", *(number(value, row[1]) for value in row)])
        first, *widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join([row[0].ljust(first), *map(str.rjust, row[1:], widths)]) for row in table]
        return "\n".join([self.about, *lines])
