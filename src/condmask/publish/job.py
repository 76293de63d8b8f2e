"""A release as it was asked for, its parts ready to be masked, and what a look at them finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._blocks import evenly_spaced
from condmask._randomness import WHOLE, Key, check_rng, group_name, root_key
from condmask.disclosure.audit import DEFAULT_LIMITS, check_at_once, check_attack, limits_of
from condmask.disclosure.choose import TRIES, Choice, choose, with_wider_noise
from condmask.disclosure.rails import min_pool_records
from condmask.disclosure.rare_values import open_ends, with_ends
from condmask.disclosure.table import Table, clear_of, glimpse_of
from condmask.errors import ArgumentError, Refusals, ReleaseWarning, warn
from condmask.estimates.origin import Origin
from condmask.files.about import Published
from condmask.files.arrow import pa, pc
from condmask.frames import Column
from condmask.labels import coded
from condmask.masking.scheme import together
from condmask.missing_codes import values_of
from condmask.own_grid import on_own_grids
from condmask.publish import usefulness
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.log import mark_of
from condmask.publish.prepare import Prepared, in_units, look, settled
from condmask.publish.rounding import Moved, asked, shift_of
from condmask.strata import SMALLEST, not_masked, with_rare_gaps

RARE_GAPS = ("refuse", "drop")
BETWEEN = 0.1  # of the variance: parts that differ by more are worth a word
UNITS = 256  # firms, households and the like that are looked at whole


class Job:
    """All arguments, checked before any data are looked at.

    Parameters
    ----------
    schemes : dict of str to scheme, or names of columns
    may_choose : bool
        Whether there is a table for which schemes, or the number of ends, may be chosen.
    strata, rng, nan_policy, round, accept_visible_coins, workers, max_lift, max_risk, shuffle,
    missing
        As for `mask_table`.
    rare_gaps
        As for `mask_table`.

    Attributes
    ----------
    schemes : dict of str to scheme
        By column, with the strata that the call names; until `choose` those by which columns are
        looked at.
    names : tuple of str
        The columns whose schemes are chosen.
    chosen : dict of str to Choice
        What was chosen for names alone.
    groups : tuple of str
        The columns of the strata.
    limits : Limits or None
        What the release may show; None where it is not audited, as that of schemes that swap no
        records.
    root : Key or None
        From which all keys come; None for new ones from the operating system.
    """

    def __init__(
        self,
        schemes: Any,
        *,
        may_choose: bool = True,
        strata: Any = None,
        rng: Any = None,
        nan_policy: str = "raise",
        round: bool = False,
        accept_visible_coins: bool = False,
        workers: int = 1,
        max_lift: float = DEFAULT_LIMITS.lift,
        max_risk: Mapping[float, float] | None = None,
        shuffle: bool = False,
        missing: Any = (),
        rare_gaps: str = "refuse",
    ) -> None:
        self.names: tuple[str, ...] = ()
        self.schemes: dict[str, Any] = {}
        self.chosen: dict[str, Choice] = {}
        self._may_choose = may_choose
        self._order = np.zeros(0, np.int64)
        self._strata = strata
        refusals = Refusals()
        with refusals.collected():
            self._set_schemes(schemes, missing)
        with refusals.collected():
            random = check_rng(rng)
            self.root = None if random is None else root_key(random)
        with refusals.collected():
            policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
            self.policy = "omit" if self.names else policy
        with refusals.collected():
            self.drops = _checks.choice(rare_gaps, "rare_gaps", RARE_GAPS) == "drop"
        with refusals.collected():
            self.workers = _checks.integer(workers, "workers", least=1)
        with refusals.collected():
            limits = limits_of(max_lift, max_risk)
        with refusals.collected():
            self.shuffle = _checks.boolean(shuffle, "shuffle")
        with refusals.collected():
            accepted = _checks.boolean(accept_visible_coins, "accept_visible_coins")
        refusals.raise_all()
        first = next(iter(self.schemes.values()))
        self.groups = not_masked(first.strata, self.schemes)
        self.round = asked(round, self.schemes)
        self.limits: Any = limits if first.shared_coins and not accepted else None

    def take_own_grids(self, parts: Iterable[Any]) -> None:
        """Let schemes without a named step have the grid of the data, of which these are all
        parts."""
        self.schemes = on_own_grids(self.schemes, parts)

    def _set_schemes(self, schemes: Any, missing: Any) -> None:
        """Take the schemes, or make those by which columns are looked at whose schemes are chosen
        later."""
        named = self._may_choose and isinstance(schemes, str | list | tuple)
        if named:
            self.names = _checks.names(
                [schemes] if isinstance(schemes, str) else schemes, "schemes"
            )
        rule = "missing must be left out where schemes are given, each of which has its own"
        _checks.require(
            bool(self.names) or (isinstance(missing, tuple) and not missing), rule, missing
        )
        within = {} if self._strata is None else {"strata": self._strata, "small_strata": "merge"}
        of: Any = partial(ConditionalMasking, missing=missing, **within)
        if named:
            schemes = dict.fromkeys(self.names, of(0.6, 1.0, reverse_mapping=True))
        self.of = of
        self.schemes = together(schemes, self._strata)
        if open_ends(self.schemes) and not self._may_choose:
            raise ArgumentError("aggregate_ends must be a number in a table of Dask, got 'auto'")

    @property
    def chooses(self) -> bool:
        """Whether schemes, or the number of ends, are still to be chosen."""
        return bool(open_ends(self.schemes)) or (bool(self.names) and not self.chosen)

    def choose(self, table: Table) -> None:
        """Choose the schemes of columns that are only named, and the number of ends, for a
        table."""
        if self.names:
            self.chosen = with_wider_noise(table, choose(table, self.names, self.of))
            schemes = {name: choice.scheme for name, choice in self.chosen.items()}
        else:
            ends = {
                name: with_ends(table, name, self.schemes[name])
                for name in open_ends(self.schemes)
            }
            schemes = self.schemes | ends
        self.schemes = together(schemes, self._strata)

    def order(self, n: int) -> np.ndarray:
        """Return the new order of n rows, the same at each call; no one can undo it without its
        key."""
        if self._order.size != n:
            key = (self.root or Key()).derive(b"shuffle")
            self._order = np.asarray(key.stream(0, WHOLE).permutation(n))
        return self._order

    def as_released(self, frame: Any) -> Any:
        """Return a table with its rows in the order in which they are released."""
        return frames.reordered(frame, self.order) if self.shuffle else frame


def kept_rows(frame: Any, job: Job) -> np.ndarray | None:
    """Return where records stay that are released; None where all do.

    Records whose gaps too few others share are left out, where the job says so.
    """
    if not job.drops:
        return None
    values = values_of(job.schemes, _columns(frame, job))
    labels = [coded(frame, name) for name in job.groups]
    first = next(iter(job.schemes.values()))
    tried = (
        [job.of(p, 1.0, reverse_mapping=True) for p, _, _ in TRIES]
        if job.chooses and job.names
        else [first]
    )
    least = SMALLEST if job.limits is None else max(map(min_pool_records, tried))
    rare = with_rare_gaps(first, values, labels, least)
    return None if not rare.any() else ~rare


def warn_of_dropped(records: int, total: int) -> None:
    """Say how many records are left out."""
    if records:
        were = "was" if records == 1 else "were"
        text = (
            f"{records:,} of {total:,} records {were} left out, whose gaps too few share "
            '(rare_gaps="drop")'
        )
        warn(text, ReleaseWarning, about="rare_gaps")


def look_at_once(frame: Any, job: Job, scope: str | None, refusals: Refusals) -> Prepared:
    """Collect all that is wrong with a table and is seen without an attack; return it as it was
    looked at.

    The scope is that of the `Table` that is audited, None where none is; where it is "whole", the
    audit looks at the columns in clear, too.
    """

    def table(values: dict[str, np.ndarray], pool: np.ndarray | None) -> Table:
        return Table(
            values, pool, glimpse_of(frame, values) if scope == "whole" else None, str(scope)
        )

    limits = job.limits if scope else None
    return look(
        job.schemes,
        _columns(frame, job),
        refusals,
        labels=[coded(frame, name) for name in job.groups],
        nan_policy=job.policy,
        to_grid=job.round,
        limits=limits,
        table=None if scope is None or (limits is None and not job.chooses) else table,
    )


def settle(seen: Prepared, frame: Any, job: Job) -> Prepared:
    """Choose schemes where they are to be chosen, then attack: what takes time."""
    if seen.table is not None:
        seen = seen._replace(table=seen.table._replace(clear=clear_of(frame, seen.values)))
    if job.chooses and seen.table is not None:
        job.choose(seen.table)
        refusals = Refusals()
        if job.limits:  # another p may need larger pools
            check_at_once(seen.table, job.schemes, refusals)
        seen = seen._replace(units=in_units(seen, job.schemes, refusals))
        refusals.raise_all()
    return settled(seen, job.schemes, job.limits)


def part_of(frame: Any, job: Job, scope: str | None) -> Prepared:
    """A table ready to be masked, or an error that says all that is wrong with it."""
    refusals = Refusals()
    seen = look_at_once(frame, job, scope, refusals)
    refusals.raise_all()
    return settled(seen, job.schemes, job.limits if scope else None)


def warn_of_use(frame: Any, part: Prepared, job: Job) -> None:
    """Warn of masked columns of a part of which analysts could estimate hardly anything beside
    others."""
    pool = None if part.pools is None else part.pools.pool
    table = Table(values_of(job.schemes, part.columns), pool)
    usefulness.warn_of_use(
        usefulness.Candidate(table, frame, job.schemes, job.limits, chosen=bool(job.chosen))
    )


# the column that names firms, households or the like, and some of its values
Units = tuple[str, Any]


def audit_sample(sample: Any, job: Job, rows_with: Callable[[Units], Iterable[Any]]) -> None:
    """Audit a longer table, whose parts were looked at by themselves, by some of its rows; with
    all rows of some of the firms, households and the like in them."""
    table = _some(sample, job)
    named = (
        [name for name in table.clear.units if name in sample.column_names] if table.clear else []
    )
    if named:
        some = sample[named[0]].take(evenly_spaced(len(sample), UNITS))
        units = named[0], frames.without_dictionary(some).unique()
        rows = [rows_of(units, sample, others=True), *rows_with(units)]
        table = _some(pa.concat_tables(rows, promote_options="default"), job)
    refusals = Refusals()
    check_at_once(table, job.schemes, refusals)
    refusals.raise_all()
    check_attack(table, job.schemes, job.limits)


def _some(frame: Any, job: Job) -> Table:
    """Some rows of a longer table as an audit looks at them."""
    values = values_of(job.schemes, _columns(frame, job))
    return Table(values, None, clear_of(frame, values), "sample")


def rows_of(units: Units, table: Any, *, others: bool = False) -> Any:
    """All rows of these firms, households and the like, or all others."""
    there = pc.is_in(frames.without_dictionary(table[units[0]]), value_set=units[1])
    return table.filter(pc.invert(there) if others else there)


def _columns(frame: Any, job: Job) -> dict[str, Column]:
    """The columns to be masked."""
    refusals = Refusals()
    columns = {}
    for name in job.schemes:
        with refusals.collected():
            columns[name] = frames.column_of(frame, name)
    refusals.raise_all()
    return columns


class Look(NamedTuple):
    """What a look at a part finds.

    Attributes
    ----------
    records : int
    patterns : tuple of str
        The columns whose pattern of missing values parts the donors.
    moved : dict of str to Moved
        What rounding moved.
    marks : dict of str to ndarray
        By which the log knows the columns again; they add.
    moments : dict of str to tuple
        Number, sum and sum of squares of the values as they are masked.
    """

    records: int
    patterns: tuple[str, ...]
    moved: dict[str, Moved]
    marks: dict[str, np.ndarray]
    moments: dict[str, tuple[float, float, float]]


def marks_in(part: Prepared, job: Job) -> dict[str, np.ndarray]:
    """Return by which the log knows the columns again; nothing for examples, which have no
    entry."""
    return (
        {}
        if job.root is not None
        else {name: mark_of(one.array) for name, one in part.columns.items()}
    )


def look_at(part: Prepared, job: Job) -> Look:
    """What a look at a part finds."""
    units = part.units
    return Look(
        next(iter(units.values())).size,
        part.patterns,
        part.moved,
        marks_in(part, job),
        {
            name: (np.isfinite(x).sum(), np.nansum(x), np.nansum(x * x))
            for name, x in units.items()
        },
    )


def told(looks: Sequence[Look], job: Job) -> Published:
    """What is published with all parts; warns of what rounding moved, and of parts that differ."""
    together = len(job.schemes) > 1 and next(iter(job.schemes.values())).shared_coins
    group = group_name() if together else None
    patterns = next((look.patterns for look in looks if look.patterns), ())
    origins = {}
    for name, scheme in job.schemes.items():
        shift = (
            shift_of([look.moved[name] for look in looks], name, scheme.grid.step)
            if job.round
            else ()
        )
        origins[name] = Origin(group, patterns, shift)
        _warn_of_order(name, *np.array([look.moments[name] for look in looks]).T)
    return Published(
        tuple(look.records for look in looks), job.schemes, origins, shuffled=job.shuffle
    )


def marks_of(looks: Sequence[Look]) -> dict[str, Any]:
    """By which the log knows the columns of all parts again."""
    return {name: sum(look.marks[name] for look in looks) for name in looks[0].marks}


def _warn_of_order(name: str, n: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> None:
    """Say so where parts differ: records get values of their own part, so that it tells something
    of them."""
    total = squares.sum() - sums.sum() ** 2 / n.sum()
    mean = sums.sum() / n.sum()
    between = np.sum(n * (sums / np.maximum(n, 1.0) - mean) ** 2)
    if n.size > 1 and between > BETWEEN * total:
        warn(
            f"{name} is masked in {n.size} parts that differ ({between / total:.0%} of its variance is "
            "between them), and records get values of their own part: shuffle the rows first",
            ReleaseWarning,
            about=name,
        )
