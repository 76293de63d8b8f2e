"""Holds confidence intervals by name, as of regression coefficients or group means."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from condmask import frames
from condmask._digits import number, preformatted
from condmask.estimates.compared import Compared, Joint, shown
from condmask.inference.interval import (
    Interval,
    Target,
    aligned,
    with_notes,
)


@dataclass(frozen=True, eq=False)
class Intervals(Compared):
    """Confidence intervals by name; printed, a table.

    Attributes
    ----------
    names : list
        Names of the coefficients, or labels of the groups (tuples if several columns make the
        groups). They are the keys: each has its `Interval`.
    low, high, standard_error, estimate : ndarray of shape (names,) or (replicates, names)
        The ends of the intervals, the standard errors and the estimates, in the order of the
        names.
    confidence_level, target, about
        As of an `Interval`.
    records : ndarray of shape (names,) or (replicates, names)
        The number of records behind each.
    by : tuple of str
        What the names stand for: "statistic", "coefficient", or the columns that make the groups.
    notes : ndarray of str of shape (names,) or (replicates, names)
        For each, why one of its figures is infinite or NaN; empty where all are numbers.
    degrees : ndarray of shape (names,), optional
        Degrees of freedom of Student's t, where intervals are made by it.
    joint : callable, optional
        Gives the covariances of the estimates at some positions; None where they are not known, as
        of a batch.
    one_residual : bool
        Whether all have the degrees of freedom of one fit or design.
    """

    names: list[Any]
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray
    estimate: np.ndarray
    confidence_level: float
    target: Target
    about: str
    records: np.ndarray
    by: tuple[str, ...]
    notes: np.ndarray
    degrees: np.ndarray | None = None
    joint: Joint | None = None
    one_residual: bool = False

    @classmethod
    def of(
        cls,
        intervals: Interval,
        names: list[Any],
        about: str,
        records: np.ndarray,
        by: tuple[str, ...],
        **known: Any,
    ) -> Self:
        """Return an array of intervals under names, with further fields that are known."""
        return cls(
            names,
            np.asarray(intervals.low),
            np.asarray(intervals.high),
            np.asarray(intervals.standard_error),
            np.asarray(intervals.estimate),
            intervals.confidence_level,
            intervals.target,
            about,
            records,
            by,
            np.asarray(intervals.note),
            **known,
        )

    def __getitem__(self, name: Any) -> Interval:
        at = self.places[name]
        low, high, error, estimate = (
            figures[..., at] if figures.ndim > 1 else float(figures[at])
            for figures in (self.low, self.high, self.standard_error, self.estimate)
        )
        about = f"{self.about}: {shown(name)}"
        note = self.notes[..., at] if self.notes.ndim > 1 else str(self.notes[at])
        return Interval(
            low, high, error, estimate, self.confidence_level, self.target, about, note
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for every name; of a batch, for every replicate
        and name. There is a column "note" where any figure is infinite or NaN.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(2).normal(100.0, 15.0, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).summary([0.5])
        >>> found.to_frame()[["statistic", "estimate"]].round(1)
              statistic  estimate
        0          mean     100.1
        1          s.d.      14.8
        2  quantile 0.5      99.9
        """
        figures = ["records", "estimate", "standard_error", "low", "high"]
        more = self.columns()
        notes = {"note": self.notes.ravel().tolist()} if self.notes.any() else {}
        replicates = self.estimate.size // len(self.names)
        names = self.names
        columns: dict[str, list[Any]] = {}
        if self.estimate.ndim > 1:
            columns["replicate"] = np.repeat(np.arange(replicates), len(names)).tolist()
        for k, by in enumerate(self.by):
            columns[f"{by} (label)" if by in (*figures, *more, *notes, *columns) else by] = [
                name[k] if len(self.by) > 1 else name for name in names
            ] * replicates
        return frames.data_frame(
            columns
            | {name: getattr(self, name).ravel().tolist() for name in figures}
            | more
            | notes
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the further columns of a frame: none."""
        return {}

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return preformatted(repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return by name a dict of the interval, with the records behind it and its note."""
        names = list(map(shown, self.names))
        if len({*names}) < len(names):  # 1 and "1", or texts with commas
            names = list(map(repr, self.names))
        counts = zip(names, self.values(), self.records.T.tolist(), strict=True)
        return {name: {"records": n, **one._asdict()} for name, one, n in counts}

    def __repr__(self) -> str:
        if self.estimate.ndim > 1:
            kept = f"names={self.names!r}, replicates={len(self.estimate)}, target={self.target!r}"
            return f"Intervals({kept})"
        names = ["", *map(shown, self.names)]
        width = max(map(len, names))
        table = [
            [
                "records",
                "estimate",
                "standard error",
                f"{100 * self.confidence_level:g}% from",
                "to",
            ]
        ]
        figures = zip(self.estimate, self.standard_error, self.low, self.high, strict=True)
        for count, row in zip(self.records, figures, strict=True):
            table.append([f"{count:.0f}", *(number(value, row[1]) for value in row)])
        table = with_notes(table, self.notes.tolist())
        rows = [[name.ljust(width), *cells] for name, cells in zip(names, table, strict=True)]
        return "\n".join([self.about, *aligned(rows)])
