"""A file as the publisher has it and what is released in its order, by reverse mapping."""

from functools import cached_property
from typing import Any

import numpy as np

from condmask.disclosure.aggregated_ends import aggregate
from condmask.disclosure.original import Original, distinct
from condmask.disclosure.rare_values import RareChances, near_values
from condmask.engines.reverse_keys import Keys
from condmask.law import Law

ROUNDED = 2.0**-50  # of the largest value: distances are told from each other up to this


class ReverseMapped(Original):
    """The values of one donor pool, none missing, and what is released in their order.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Originals.
    released : ndarray of shape (n,)
        The same, or means where they are at the ends.
    kind : str
        What the container held.
    scheme : ConditionalMasking
        With reverse mapping.
    """

    def __init__(self, units: np.ndarray, released: np.ndarray, kind: str, scheme: Any) -> None:
        super().__init__(units, kind, Law(scheme.p, scheme.noise, scheme.sigma))
        self.scheme, self.released = scheme, released
        self._rare: dict[bytes, RareChances] = {}

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        return distinct(self.units)

    @cached_property
    def rank(self) -> np.ndarray:
        """Which of the distinct originals each record has."""
        return np.searchsorted(self.counted[0], self.units)

    @cached_property
    def shown(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values that are released, ascending, and how many records before each and in all."""
        return distinct(self.released)

    @cached_property
    def released_for(self) -> np.ndarray:
        """What is released of each distinct original: itself, or a mean at the ends."""
        ordered = np.sort(self.released)
        return np.asarray(ordered[self.counted[1][:-1]])

    @cached_property
    def keys(self) -> Keys:
        """Where the distinct originals lie among the keys."""
        places, below = self.counted
        return Keys(places, np.diff(below), self.law.noise, self.law.sigma, self.scheme.scale)

    @cached_property
    def cuts(self) -> np.ndarray:
        """The thresholds around the released values: the first is that below the smallest."""
        return self.keys.thresholds(self.shown[1])

    def rare(self, d: np.ndarray) -> RareChances:
        """What becomes of rare values, simulated once for these distances."""
        key = d.tobytes()
        if key not in self._rare:
            self._rare[key] = near_values(self.units, self.counted[0], self.scheme, self.near(d))
        return self._rare[key]

    def near(self, d: np.ndarray) -> np.ndarray:
        return self._less(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        return self._less(2.0 * d)

    def _less(self, d: np.ndarray) -> np.ndarray:
        """Differences of values are rounded, and so nearer than d is nearer by more than that."""
        slack = ROUNDED * float(np.abs(self.units).max())
        return np.where(d > 2.0 * slack, d - slack, d)

    def some(self, rows: np.ndarray) -> "ReverseMapped":
        return ReverseMapped(self.units[rows], self.released[rows], self.kind, self.scheme)

    def places_of(self, z: np.ndarray) -> np.ndarray:
        """Which of the released values each of z is."""
        values = self.shown[0]
        places = np.minimum(np.searchsorted(values, z), values.size - 1)
        wrong = np.flatnonzero(values[places] != z)
        if wrong.size:
            raise ValueError(
                "z must hold the values of x in another order, as a release by reverse mapping does, got "
                f"{wrong.size} that x does not have"
            )
        return places

    def between(self, places: np.ndarray) -> np.ndarray:
        """Where keys lie that get these released values: the middle between thresholds, within the data."""
        ends = np.clip(self.cuts, self.keys.at[0], self.keys.at[-1])
        return np.asarray(0.5 * (ends[places] + ends[places + 1]))


def pools(
    units: np.ndarray, kind: str, scheme: Any, code: np.ndarray | None, members: list[Any]
) -> list[ReverseMapped]:
    """The originals of each donor pool of a column."""
    released = units.copy()
    if scheme.aggregate_ends:
        aggregate(released, code, scheme.aggregate_ends)
        released = scheme.publish(released, kind).astype(np.float64)
    return [ReverseMapped(units[rows], released[rows], kind, scheme) for rows in members]
