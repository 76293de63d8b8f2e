"""Prepare a table for its attackers, once: what each of them can see of each masked column."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from condmask.disclosure.scale import Line
from condmask.disclosure.table.derived import Derived, Gathering, of_units, pairs
from condmask.disclosure.table.encode import ORDER, Columns, Encoded
from condmask.disclosure.table.groups import RUN, Ranked, groups_of, nearest, places, ranked
from condmask.disclosure.table.learners import FOLDS, Design, matrix_of
from condmask.disclosure.table.neighbours import Group, Neighbours, group, standard
from condmask.disclosure.table.order import (
    order_tells,
    orders_of,
    period,
    telling,
    windows_of,
    within,
)
from condmask.disclosure.table.relations import (
    Relation,
    exact,
    multiples,
    resolution,
    with_identifiable,
)
from condmask.disclosure.table.solved import Chain, chain_of

MIN_UNITS = 100  # units: fewer are categories, of which anybody knows what is usual
MIN_MEAN_UNIT = 1.5  # records
MIN_UNIT_COVER = 0.5  # of the records, that are in units of several
MIN_IDENTIFIABLE = 0.05  # of the records
MAX_BASE_COLUMNS = 60
MAX_TREE_CODES = 30  # that may say where a relation holds
RUNS = (2, 3, 4, 5, 6, 8, 10, 12)  # rows after one another that may be a unit
MAX_DERIVED_UNITS = 7
WINDOW_UNITS = 3  # in which records before and after are looked at
MATCHING_STEPS = 0.51  # steps of a column, within which numbers are equal: half, and rounding
FOLD_MIX = np.uint64(0x9E3779B97F4A7C15)


class MaskedColumn(NamedTuple):
    """A masked column, as its attackers look at it.

    Attributes
    ----------
    name : str
    x, u : ndarray of shape (m,)
        Originals in units of the data, and on the scale on which guesses must be near; the median
        where one is missing.
    present : ndarray of bool of shape (m,)
    line : Line
        From units of the data to that scale, and back.
    step : float
        The resolution of the data.
    keys : list of Neighbours
        Groups and windows of records that tell of it.
    units : list of Group
    dense : ndarray of shape (m, k)
        Numbers in clear, and derived ones that tell of it; NaN where one is missing.
    relations : list of Relation
    chain : Chain or None
        Records whose values follow from one another.
    """

    name: str
    x: np.ndarray
    u: np.ndarray
    present: np.ndarray
    line: Line
    step: float
    groups: list[Neighbours]
    windows: list[Neighbours]
    units: list[Group]
    dense: np.ndarray
    relations: list[Relation]
    chain: Chain | None


class Folds(NamedTuple):
    """The part of the records that each record is in; no part teaches of itself."""

    records: np.ndarray
    units: np.ndarray | None
    block: np.ndarray


class View:
    """What attackers see of some records of a table, whatever the release.

    Parameters
    ----------
    encoded : Encoded
        The columns in clear.
    rows : ndarray of shape (m,)
        Where the records stand in the table.
    content : ndarray of uint64 of shape (m,)
        A hash of each record's content.
    masked : mapping of str to ndarray of shape (m,)
        Originals of the masked columns, NaN where one is missing.
    lines : mapping of str to Line
        The scale on which guesses of each must be near.
    shuffled : bool
        Whether the rows will be released in another order.
    """

    def __init__(
        self,
        encoded: Encoded,
        rows: np.ndarray,
        content: np.ndarray,
        masked: Mapping[str, np.ndarray],
        lines: Mapping[str, Line],
        *,
        shuffled: bool = False,
    ) -> None:
        filled = {name: _filled(x) for name, x in masked.items()}
        scaled = {name: lines[name].to(x) for name, x in filled.items()}
        standards = {name: standard(u) for name, u in scaled.items()}
        self.ordered: bool = not shuffled and any(
            order_tells(z, rows, encoded) for z in standards.values()
        )
        groups = groups_of(encoded)
        if self.ordered:
            encoded = encoded.without([])
            encoded.numbers[ORDER] = rows.astype(np.float64)
            for turn in {period(z[np.argsort(rows)]) for z in standards.values()} - {0}:
                groups.append(group(f"rows modulo {turn}", rows % turn, structural=True))
            groups += [group(f"{RUN}{size}", rows // size) for size in RUNS]
        self.encoded = encoded
        self.orders: Columns = orders_of(encoded)
        rankings = {name: ranked(groups, z, encoded) for name, z in standards.items()}
        self._nearest = {name: nearest(encoded, z) for name, z in standards.items()}
        units = [ranking.alike for ranking in rankings.values()]
        units += [places(near, encoded) for near in self._nearest.values()]
        self.folds: Folds = _folds(units, content)
        self.columns: list[MaskedColumn] = self._columns(
            masked, filled, lines, standards, rankings
        )
        derived: Columns = {}
        for column in self._gathered.values():
            derived |= {each.text: each.values for each in column}
        self.design: Design = Design(encoded, encoded.numbers | derived)

    def _columns(
        self,
        masked: Mapping[str, np.ndarray],
        filled: Columns,
        lines: Mapping[str, Line],
        standards: Columns,
        rankings: Mapping[str, Ranked],
    ) -> list[MaskedColumn]:
        """Return what attackers look at for each masked column."""
        encoded = self.encoded
        base = _base(encoded)
        steps = {name: resolution(x) for name, x in masked.items()}
        gatherings = {
            name: Gathering(x, standards[name], base, MATCHING_STEPS * steps[name])
            for name, x in filled.items()
        }
        units = _together(ranking.units for ranking in rankings.values())
        units = units[:MAX_DERIVED_UNITS]
        of_unit = {each.name: within(encoded, each, self.orders) for each in units}
        windows = windows_of(self.orders, units[:WINDOW_UNITS], of_unit)
        for each in of_units(encoded, units, self.orders, of_unit):
            for gathering in gatherings.values():
                gathering.offer(each)
        self._gathered: dict[str, list[Derived]] = {}
        columns = []
        for name, gathering in gatherings.items():
            chosen = _chosen(gathering, filled[name], steps[name], encoded)
            relations = exact(filled[name], gathering.equal, encoded.numbers, steps[name])
            numbers = encoded.numbers | {each.text: each.values for each in chosen}
            numbers |= {each.text: each.values for each in relations}
            self._gathered[name] = chosen
            dense = matrix_of(numbers, encoded.n)
            half = self.folds.records % 2
            everything = _with_codes(dense, encoded)
            known = [
                with_identifiable(each, filled[name], steps[name], everything, half)
                for each in relations
            ]
            own_units = rankings[name].units
            columns.append(
                MaskedColumn(
                    name,
                    filled[name],
                    lines[name].to(filled[name]),
                    ~np.isnan(masked[name]),
                    lines[name],
                    steps[name],
                    [*rankings[name].keys, *self._nearest[name]],
                    list(telling(windows, standards[name])),
                    own_units,
                    dense,
                    known,
                    chain_of(
                        filled[name],
                        encoded.numbers,
                        [(each.codes, of_unit[each.name].orders) for each in units[:WINDOW_UNITS]],
                        self.orders,
                    ),
                )
            )
        return columns


def _chosen(
    gathering: Gathering, filled: np.ndarray, step: float, encoded: Encoded
) -> list[Derived]:
    """Return the derived columns that tell most of a masked one, pairs and multiples among
    them."""
    for each in (
        *pairs(encoded, filled, MATCHING_STEPS * step),
        *multiples(filled, encoded.numbers),
    ):
        gathering.offer(each)
    return gathering.selected()


def _with_codes(dense: np.ndarray, encoded: Encoded) -> np.ndarray:
    """Return numbers and some codes side by side, as a small tree takes them."""
    return np.column_stack((dense, *list(encoded.codes.values())[:MAX_TREE_CODES]))


def _filled(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), np.nanmedian(x), x)


def _base(encoded: Encoded) -> np.ndarray:
    """Return the numbers in clear on two scales, side by side."""
    columns = [standard(x) for x in list(encoded.numbers.values())[:MAX_BASE_COLUMNS]]
    logs = [np.sign(z) * np.log1p(10.0 * np.abs(z)) for z in columns]
    return np.column_stack((np.empty((encoded.n, 0)), *columns, *logs))


def _together(units: Iterable[list[Group]]) -> list[Group]:
    """Return the units of several masked columns, each once."""
    return list({each.name: each for some in units for each in some}.values())


def _folds(units: list[list[Group]], content: np.ndarray) -> Folds:
    """Part records by their content, and by the content of the first record of their unit."""
    records = _fold_of(content)
    for each in (unit for some in units for unit in some):
        sizes = each.sizes
        several = sizes[sizes > 1].sum()
        is_many = sizes.size >= MIN_UNITS and sizes.mean() >= MIN_MEAN_UNIT
        if is_many and several > MIN_UNIT_COVER * content.size:
            least = np.full(each.codes.max() + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
            np.minimum.at(least, each.codes, content)
            return Folds(records, _fold_of(least * FOLD_MIX)[each.codes], each.codes)
    return Folds(records, None, np.arange(content.size))


def _fold_of(content: np.ndarray) -> np.ndarray:
    return ((content >> np.uint64(17)) % np.uint64(FOLDS)).astype(np.int64)
