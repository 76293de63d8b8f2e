"""The most asked of a release in one table, each number with its interval."""

from typing import Any

import numpy as np

from condmask.estimates.results import Intervals
from condmask.variance.interval import Interval

DECILES = tuple(k / 10 for k in range(1, 10))


def by_name(what: str, at: np.ndarray, interval: Interval) -> dict[str, Interval]:
    """An interval for each of some points: "quantile 0.5"."""
    columns = {name: getattr(interval, name) for name in Interval._fields[:4]}
    return {
        f"{what} {point:g}": interval._replace(**{name: column[k] for name, column in columns.items()})
        for k, point in enumerate(at)
    }


def table(intervals: dict[str, Interval], n: int, *, exact: str | None = None) -> Intervals:
    """Intervals of one release; `exact` says how well it is the original, in another order."""
    columns = {
        name: np.array([float(getattr(interval, name)) for interval in intervals.values()])
        for name in ("estimate", "standard_error", "low", "high")
    }
    first = next(iter(intervals.values()))
    where = "the population" if first.target == "population" else "the original file"
    certainty = exact if exact is not None and first.target == "file" else "estimated"
    return Intervals(
        list(intervals), **columns, records=np.full(len(intervals), n),
        confidence_level=first.confidence_level, target=first.target, about=f"{where}, {certainty}",
        by=("statistic",),
    )  # fmt: skip


def exactness(scheme: Any) -> str:
    """How well the values released by reverse mapping are those of the original."""
    return "exact except at the ends, which are means" if scheme.aggregate_ends else "exact"
