"""The fewest decimal places that all values of a column have, from its partitions: what `decimals_of` finds.

That goes through the column part by part and gives up at the first one that has too many, so the order of
parts matters. Where sizes and places are moderate it does not, and the partitions' own places tell; else
one task goes through what each part says of every number of places.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from dask.delayed import Delayed, delayed

from condmask import _grid
from condmask._grid import LARGEST_UNITS, MOST_PLACES, decimal_grid, decimals_of

MODERATE = 2.0**50  # steps, up to which a number with some decimal places has one more, bit for bit


class Decimals(NamedTuple):
    """The places of a partition, its largest size, and whether the column certainly has too many."""

    places: int | None
    largest: float
    too_many: bool


class Part(NamedTuple):
    """Of a part of the column: its number, which places its values have, and their largest size."""

    number: int
    has: np.ndarray
    largest: float


def decimals_of_parts(columns: Sequence[Delayed], starts: np.ndarray) -> Delayed:
    """The places of a column, as a task."""
    firsts = starts[:-1].tolist()
    own = delayed(list)(
        [delayed(partial(_decimals, first))(x) for first, x in zip(firsts, columns, strict=True)]
    )
    parts = [delayed(partial(_parts, first))(x, own) for first, x in zip(firsts, columns, strict=True)]
    made: Delayed = delayed(_together)(own, parts)
    return made


def _decimals(first: int, x: np.ndarray) -> Decimals:
    largest = float(np.nanmax(np.abs(x), initial=0.0))
    too_many = first == 0 and decimals_of(x[: x.size // _grid.PART * _grid.PART]) is None
    return Decimals(None if too_many else decimals_of(x), largest, too_many)


def _moderate(own: list[Decimals]) -> int | None:
    """The places of the column, if the order of parts does not matter."""
    places = max((-1 if d.places is None else d.places for d in own), default=0)
    if any(d.places is None for d in own) or max(d.largest for d in own) * 10.0**places > MODERATE:
        return None
    return places


def _parts(first: int, x: np.ndarray, own: list[Decimals]) -> list[Part]:
    """The parts of a partition, if they are needed."""
    if _moderate(own) is not None or any(d.too_many for d in own):
        return []
    cuts = range((first // _grid.PART + 1) * _grid.PART - first, x.size, _grid.PART)
    parts = []
    for number, some in enumerate(np.split(x, list(cuts)), first // _grid.PART):
        values = np.abs(some)
        values = values[values > 0.0]
        grids = [decimal_grid(places) for places in range(MOST_PLACES + 1)]
        has = np.array([bool((grid.values(grid.units(values)) == values).all()) for grid in grids])
        parts.append(Part(number, has, float(values.max(initial=0.0))))
    return parts


def _together(own: list[Decimals], parts: list[list[Part]]) -> int | None:
    moderate = _moderate(own)
    if moderate is not None or any(d.too_many for d in own):
        return moderate
    whole: dict[int, Part] = {}
    for part in (part for some in parts for part in some):
        other = whole.get(part.number, part)
        largest = max(part.largest, other.largest)
        whole[part.number] = Part(part.number, part.has & other.has, largest)
    places = 0
    for number in sorted(whole):
        while not whole[number].has[places]:
            places += 1
            if places > MOST_PLACES or whole[number].largest * 10.0**places > LARGEST_UNITS:
                return None
    return places
