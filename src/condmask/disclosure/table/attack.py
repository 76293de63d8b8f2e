"""Let all attackers of a table guess, and count how often each comes near.

The table is prepared once (`view`), and what is learned without a release is learned once
(`insider`). For another sigma only the release is drawn again, and what others show is added up
again: nothing is learned anew.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np

from condmask.disclosure.column.alone import figures_alone
from condmask.disclosure.figures import Figures
from condmask.disclosure.scale import D, Line, is_log, line_of
from condmask.disclosure.table.insider import Learned, learned
from condmask.disclosure.table.known_coins import Guesses, guesses
from condmask.disclosure.table.learners import best_window, hits
from condmask.disclosure.table.links import linked, totals_of, with_levels
from condmask.disclosure.table.outsider import outsider_guess, without_coins
from condmask.disclosure.table.relations import Relation
from condmask.disclosure.table.release import Release, draw
from condmask.disclosure.table.view import MaskedColumn, View
from condmask.disclosure.table.worst_unit import worst_unit
from condmask.disclosure.unmasked import Clear, Table

LOG = logging.getLogger(__name__)
SECONDS_OF_SILENCE = 1.0


class Steps:
    """Says in the log how far an audit is, once it takes a second."""

    def __init__(self, text: str, total: int) -> None:
        self._text = text
        self._total = total
        self._done = 0
        self._start = monotonic()

    def next(self) -> None:
        """Count a further step as done."""
        self._done = min(self._done + 1, self._total)
        if monotonic() - self._start > SECONDS_OF_SILENCE:
            LOG.info("%s: %d of %d", self._text, self._done, self._total)


class Attack:
    """The attackers of some masked columns of a table.

    Parameters
    ----------
    table : Table
    schemes : mapping of str to scheme
        Their noise may be changed for `figures`, not the scale on which it is added.
    shuffled : bool
        Whether the rows will be released in another order.
    """

    def __init__(
        self, table: Table, schemes: Mapping[str, Any], *, shuffled: bool = False
    ) -> None:
        self.table = table
        self.schemes: dict[str, Any] = dict(schemes)
        self.shuffled = shuffled
        clear = table.clear or Clear(np.arange(table.n))
        self.clear = clear
        rows = clear.rows
        self.values: dict[str, np.ndarray] = {
            name: table.values[name][rows] for name in self.schemes
        }
        self._pool = None if table.pool is None else table.pool[rows]
        self._lines: dict[str, Line] = {
            name: line_of(table.values[name], scheme) for name, scheme in self.schemes.items()
        }
        self._figures: dict[tuple[Any, ...], dict[str, Figures]] = {}
        named = ", ".join(self.schemes)
        columns = len({*clear.names})
        self._steps = Steps(f"auditing {columns} columns against {named}", 6)

    @property
    def alone(self) -> bool:
        """Return whether a single masked column has nothing beside it."""
        return len(self.schemes) == 1 and self.clear.encoded.empty

    @cached_property
    def view(self) -> View:
        """Return what attackers see whatever the release."""
        clear = self.clear
        view = View(
            clear.encoded,
            clear.rows,
            clear.content,
            self.values,
            self._lines,
            shuffled=self.shuffled,
        )
        self._steps.next()
        return view

    @cached_property
    def learned(self) -> dict[str, list[Learned]]:
        """Return what is learned without a release, by record and by unit."""
        folds = self.view.folds
        near = [D] * len(self.schemes)
        result = {"record": with_levels(self.view, learned(self.view, folds.records, near))}
        self._steps.next()
        result["unit"] = result["record"]
        if folds.units is not None:
            result["unit"] = with_levels(self.view, learned(self.view, folds.units, near))
            self._steps.next()
        return result

    @property
    def relations(self) -> dict[str, list[Relation]]:
        """Return the exact relations of each masked column, the most frequent first."""
        if self.alone:
            return {}
        return {column.name: column.relations for column in self.view.columns}

    def without(self, names: Sequence[str]) -> "Attack":
        """Return the attack on the table without some columns in clear."""
        clear = self.clear.without(names)
        table = self.table._replace(clear=clear)
        return Attack(table, self.schemes, shuffled=self.shuffled)

    def figures(
        self, schemes: Mapping[str, Any] | None = None, number: int = 0, *, quick: bool = False
    ) -> dict[str, Figures]:
        """Return the figures of each masked column under these schemes, in the masking of that
        number.

        With ``quick`` nothing is learned from the release. Its reader is tried on the first
        masking alone.
        """
        schemes = dict(schemes or self.schemes)
        asked = (number, quick, *map(repr, schemes.values()))
        if asked not in self._figures:
            self._figures[asked] = self._all_figures(schemes, number, quick=quick)
        return self._figures[asked]

    def _all_figures(
        self, schemes: dict[str, Any], number: int, *, quick: bool
    ) -> dict[str, Figures]:
        rows = {name: figures_alone(*self._column(name), of) for name, of in schemes.items()}
        if self.alone:
            return {name: row[0] for name, row in rows.items()}
        return {
            name: each[0] for name, each in self._attacked(schemes, rows, number, quick).items()
        }

    def figures_at(
        self, schemes: Mapping[str, Any], distances: Mapping[str, Sequence[float]]
    ) -> dict[str, list[Figures]]:
        """Return the figures at distances in the units of the data."""
        rows = {
            name: figures_alone(*self._column(name), of, distances[name])
            for name, of in schemes.items()
        }
        if self.alone:
            return rows
        return self._attacked(dict(schemes), rows, 0, quick=False, in_units=True)

    def clear_figures(self) -> dict[str, Figures]:
        """Return the figures of each masked column without any release."""
        nothing = float("nan")
        result = {}
        for k, column in enumerate(self.view.columns):
            here = column.present
            constant = best_window(column.u[here], D)[1]
            shares = {}
            for kind, known in self.learned.items():
                hit = hits(known[k].tries, column.u, D, known[k].fold, here)
                shares[kind] = max(constant, float(hit[here].mean()))
            result[column.name] = Figures(
                D,
                constant,
                max(shares.values()),
                nothing,
                nothing,
                clear_unit=shares["unit"],
                clear_record=shares["record"],
            )
        return result

    def is_like(self, other: "Attack") -> bool:
        """Return whether another attack sees the same: columns, donor pools and scales."""
        same_values = self.schemes.keys() == other.schemes.keys() and all(
            x is other.table.values[name] for name, x in self.table.values.items()
        )
        return (
            same_values
            and self.table.pool is other.table.pool
            and self.shuffled == other.shuffled
            and [*map(is_log, self.schemes.values())] == [*map(is_log, other.schemes.values())]
        )

    def _column(self, name: str) -> tuple[np.ndarray, np.ndarray | None]:
        return self.table.values[name], self.table.pool

    def _attacked(
        self,
        schemes: dict[str, Any],
        rows: dict[str, list[Figures]],
        number: int,
        quick: bool,
        in_units: bool = False,
    ) -> dict[str, list[Figures]]:
        view = self.view
        release = draw(self.values, self._pool, schemes, number)
        totals = [totals_of(view, column) for column in view.columns]
        tried = {}
        kinds = ["record"] if view.folds.units is None else ["unit", "record"]
        for kind in kinds:
            trees = not quick and kind == kinds[0]
            tried[kind] = guesses(view, self.learned[kind], release, totals, D, trees=trees)
            self._steps.next()
        # without coins any released values may be those of a stranger
        all_strangers = release._replace(kept=np.zeros_like(release.kept))
        blind = not quick and number == 0
        of_strangers = [] if not blind else linked(view, self.learned["record"], all_strangers)
        result = {}
        for k, column in enumerate(view.columns):
            by_kind = {kind: (self.learned[kind][k], some[k]) for kind, some in tried.items()}
            outside: list[np.ndarray] = []
            if blind:
                by_record = self.learned["record"][k]
                outside = [
                    outsider_guess(view, column, release, by_record.fold),
                    without_coins(column, release, by_record.guess),
                    *of_strangers[k],
                ]
            counted = Counted(self, column, release, by_kind, outside, in_units)
            result[column.name] = [counted.figures(row) for row in rows[column.name]]
        return result


def attack_on(table: Table, schemes: Mapping[str, Any], *, shuffled: bool = False) -> Attack:
    """Return the attack on a table, the same one for the same columns with the same donor
    pools."""
    new = Attack(table, schemes, shuffled=shuffled)
    for attack in new.clear.encoded.attacks:
        if isinstance(attack, Attack) and attack.is_like(new):
            return attack
    new.clear.encoded.attacks.append(new)
    return new


class Counted:
    """Counts the records of one column that attackers guess to within a distance."""

    def __init__(
        self,
        attack: Attack,
        column: MaskedColumn,
        release: Release,
        by_kind: Mapping[str, tuple[Learned, Sequence[Guesses]]],
        outside: Sequence[np.ndarray],
        in_units: bool,
    ) -> None:
        self._attack = attack
        self._column = column
        self._release = release
        self._by_kind = by_kind
        self._outside = outside
        self._back = column.line.back if in_units else np.asarray
        self._u = column.x if in_units else column.u

    def figures(self, alone: Figures) -> Figures:
        """Return the figures at one distance, no lower than those of the column alone."""
        column = self._column
        here = column.present
        d = alone.d
        constant = max(best_window(self._u[here], d)[1], 0.0)
        clear = {}
        worst = {}
        plain = {}
        for kind, (known, groups) in self._by_kind.items():
            clear[kind] = self._hits(known.tries, known.fold, here, d)
            worst[kind], plain[kind] = self._of_groups(groups, d)
        best = max(worst, key=lambda kind: float(worst[kind][here].mean()))
        clear_shares = {
            kind: max(constant, float(hit[here].mean())) for kind, hit in clear.items()
        }
        of_clear = max(clear_shares.values())
        swapped = here & ~self._release.kept
        share_swapped = float(swapped.sum()) / float(here.sum())
        gained = max(float(hit[swapped].mean()) - constant for hit in clear.values())
        by_parts = alone.worst + share_swapped * max(gained, 0.0)
        unnamed = max(of_clear, alone.worst, by_parts, self._share(plain, here))
        most = max(unnamed, self._share(worst, here))
        outsider, expected = self._without_coins(alone, of_clear, d)
        lift = max(
            max(
                alone.worst - constant,
                by_parts - of_clear,
                float(worst[kind][here].mean()) - share,
            )
            for kind, share in clear_shares.items()
        )
        unit, rate = worst_unit(self._attack.view, column, worst[best])
        return alone._replace(
            constant=constant,
            clear=of_clear,
            expected=expected,
            worst=max(most, np.nan_to_num(expected)),
            lift=lift,
            error=self._error(worst[best], clear[best]),
            linked=most - unnamed,
            clear_unit=clear_shares.get("unit", clear_shares["record"]),
            clear_record=clear_shares["record"],
            outsider=outsider,
            worst_unit=unit,
            worst_unit_rate=rate,
        )

    def _hits(
        self, tries: Sequence[np.ndarray], fold: np.ndarray, some: np.ndarray, d: float
    ) -> np.ndarray:
        return hits([self._back(each) for each in tries], self._u, d, fold, some)

    def _of_groups(self, groups: Sequence[Guesses], d: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the records that are guessed, with values that are named and without."""
        worst = np.zeros(self._u.size, dtype=bool)
        plain = np.zeros(self._u.size, dtype=bool)
        for each in groups:
            without = self._hits(each.tries, each.fold, each.some, d)
            plain |= without
            best = without
            if each.named:
                named = self._hits([*each.tries, *each.named], each.fold, each.some, d)
                best = named if named.sum() > without.sum() else without
            worst |= best
        return worst, plain

    def _share(self, by_kind: Mapping[str, np.ndarray], here: np.ndarray) -> float:
        return max(float(hit[here].mean()) for hit in by_kind.values())

    def _without_coins(self, alone: Figures, of_clear: float, d: float) -> tuple[float, float]:
        """Return what is guessed without coins: by a reader, and by who knows originals."""
        if not self._outside:
            return float("nan"), float("nan")
        here = self._column.present
        reader, *insiders = (
            float(np.mean(np.abs(self._back(guess) - self._u)[here] < d))
            for guess in self._outside
        )
        return max(reader, alone.expected), max(*insiders, alone.expected, of_clear)

    def _error(self, worst: np.ndarray, clear: np.ndarray) -> float:
        """Return the standard error of what a release adds, by unit."""
        here = self._column.present
        gain = worst[here] * 1.0 - clear[here]
        of_block = np.bincount(self._attack.view.folds.block[here], gain - gain.mean())
        return float(np.sqrt(of_block @ of_block) / gain.size)
