"""Turns figures of groups into a table of intervals, with notes where a group has none."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask.domains import measures
from condmask.domains.domains import Group
from condmask.errors import warn_once_each
from condmask.estimates.domain_joint import DomainJoint, Row
from condmask.estimates.domain_request import Request, nothing_known
from condmask.estimates.domain_results import DomainIntervals
from condmask.estimates.domain_rows import GroupFigures, GroupRows
from condmask.inference.interval import BEYOND_FLOATS, TARGETS, UNBOUNDED, multiplier

Of = Callable[[GroupRows, Group], GroupFigures]
BASIS = "basis"
PART = "part"
EMPTY = Row([])  # of a group without an estimate


class Layout(NamedTuple):
    """How a table of groups is laid out.

    Attributes
    ----------
    function : str
        The name of the method, for messages.
    quantity : str
        What is estimated, in words.
    keys : list or None
        The names of several statistics of a group; None if there is one, without a name.
    by : str
        What the keys are.
    """

    function: str
    quantity: str
    keys: list[Any] | None = None
    by: str = ""

    @property
    def size(self) -> int:
        """The number of statistics of a group."""
        return 1 if self.keys is None else len(self.keys)

    def names(self, label: Any, columns: int) -> list[Any]:
        """Return the names of a group's statistics."""
        if self.keys is None:
            return [label]
        if columns == 0:
            return list(self.keys)
        first = label if columns > 1 else (label,)
        return [(*first, key) for key in self.keys]


class GroupRow(NamedTuple):
    """What a group adds to the table: figures, or a note, and its measures."""

    figures: GroupFigures | None
    note: str
    worth: float
    explained: float
    route: str


def rows_of(
    request: Request, layout: Layout, of_basis: Of, of_part: Of | None, *, needs_basis: bool = True
) -> DomainIntervals:
    """Return the table of the groups of a request.

    Parameters
    ----------
    request : Request
    layout : Layout
    of_basis : callable
        Gives a group's figures.
    of_part : callable, optional
        Gives them for a group of whole strata.
    needs_basis : bool
        Whether the basis takes part: not where all records have equal weights.
    """
    rows = GroupRows(request)
    found: list[GroupRow] = []
    with warn_once_each():
        for k, group in enumerate(request.groups):
            found.append(_row(rows, k, group, of_basis, of_part, needs_basis=needs_basis))
    if needs_basis:
        if not any(row.figures for row in found):
            raise nothing_known(request, [row.note for row in found])
        known = [row for row in found if row.route == BASIS]
        worths = np.array([row.worth for row in known])
        measures.warn_of_unsure(layout.function, worths, [row.explained for row in known])
    return _table(rows, layout, found)


def _row(
    rows: GroupRows,
    k: int,
    group: Group | None,
    of_basis: Of,
    of_part: Of | None,
    *,
    needs_basis: bool,
) -> GroupRow:
    """Return a group's figures by the route that serves it."""
    request = rows.request
    if group is None:
        empty = measures.NO_WEIGHT if request.records[k] else measures.NO_RECORD
        return GroupRow(None, empty, np.nan, np.nan, BASIS)
    if request.records[k] == 1:
        return GroupRow(None, measures.ONE_RECORD, np.nan, np.nan, BASIS)
    if not request.degrees(group) > 0.0 and request.options.target == "population":
        none = measures.ONE_RECORD if rows.domains.clusters is None else measures.ONE_CLUSTER
        return GroupRow(None, none, np.nan, np.nan, BASIS)
    if of_part is not None and request.is_whole(group):
        return GroupRow(of_part(rows, group), "", rows.worth(group), 0.0, PART)
    if needs_basis and rows.domains.too_few_directions(group):
        return GroupRow(None, measures.NO_DIRECTION, np.nan, np.nan, BASIS)
    worth = rows.worth(group)
    explained = rows.domains.explained(group)
    if worth < measures.MIN_WORTH:
        return GroupRow(None, measures.LITTLE_WORTH, worth, explained, BASIS)
    return GroupRow(of_basis(rows, group), "", worth, explained, BASIS)


def _table(rows: GroupRows, layout: Layout, found: list[GroupRow]) -> DomainIntervals:
    request = rows.request
    options = request.options
    size = layout.size
    nothing = np.full(size, np.nan)
    unknown = GroupFigures(nothing, nothing, nothing, nothing, [EMPTY] * size)
    figures = [unknown if row.figures is None else row.figures for row in found]
    names = [name for label in request.names for name in layout.names(label, len(request.columns))]
    estimate, low, high, error = (
        np.concatenate([each[part] for each in figures]) for part in range(4)
    )
    notes = np.repeat(np.array([row.note for row in found], dtype=object), size)
    finite = np.isfinite([estimate, low, high, error]).all(axis=0)
    why = UNBOUNDED if options.target == "population" else BEYOND_FLOATS
    notes = np.where((notes == "") & ~finite, why, notes)
    degrees = [
        np.inf if group is None or options.target == "file" else request.degrees(group)
        for group in request.groups
    ]
    joint = DomainJoint(
        rows.domains, [row for each in figures for row in each.rows], options.target, rows.sampled
    )
    by = request.columns if layout.keys is None else (*request.columns, layout.by)
    of_groups = f", by {' and '.join(request.columns)}" if request.columns else ""
    return DomainIntervals(
        names,
        low,
        high,
        error,
        estimate,
        options.level,
        options.target,
        f"{layout.quantity} {TARGETS[options.target]}{of_groups}{request.left_out}",
        np.repeat(request.records, size),
        by,
        notes,
        np.repeat(np.array(degrees), size),
        joint,
        worth=np.repeat([row.worth for row in found], size),
        explained=np.repeat([row.explained for row in found], size),
        route=np.repeat(np.array([row.route for row in found], dtype=object), size),
    )


def with_errors(figures: GroupFigures, level: float) -> GroupFigures:
    """Return quantiles with standard errors made from their intervals: half of the length over
    the normal quantile."""
    error = (figures.high - figures.low) / (2.0 * multiplier(level))
    return figures._replace(standard_error=np.asarray(error))
