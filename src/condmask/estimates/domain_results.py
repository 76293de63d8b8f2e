"""Confidence intervals of statistics of groups, with how much is known of each group."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condmask.estimates.results import Intervals
from condmask.inference.interval import Interval, plain

FURTHER = ("worth", "explained", "route")  # figures of groups besides


@dataclass(frozen=True, eq=False, repr=False)
class DomainIntervals(Intervals):
    """Confidence intervals of statistics of groups of records that need not be strata.

    Attributes
    ----------
    worth : ndarray of shape (names,)
        How many unmasked records of the group would give its median as well.
    explained : ndarray of shape (names,)
        R^2 of membership on the values of the column. Where it is above .5 the group nearly ends
        at some value, and that edge is blurred.
    route : ndarray of str of shape (names,)
        "part" where the group is whole strata, which `Estimate.part` gives without approximation,
        else "basis". Other attributes are those of `Intervals`.
    """

    worth: np.ndarray = field(default_factory=lambda: np.empty(0))
    explained: np.ndarray = field(default_factory=lambda: np.empty(0))
    route: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=object))

    def shaped(self, shape: tuple[int, ...]) -> Interval:
        """Return the statistics of a single group as one interval, in a shape."""
        figures = (self.low, self.high, self.standard_error, self.estimate)
        low, high, error, value = (plain(each.reshape(shape)) for each in figures)
        note = self.notes.reshape(shape)
        shown = note if shape else str(note)
        return Interval(
            low, high, error, value, self.confidence_level, self.target, self.about, shown
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the further columns of a frame."""
        return {name: getattr(self, name).ravel().tolist() for name in FURTHER}
