"""A release as it was asked for, its parts ready to be masked, and what a look at them finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._randomness import WHOLE, Key, check_rng, group_name, root_key
from condmask.disclosure.audit import DEFAULT, ReleaseWarning, limits_of
from condmask.disclosure.limits import Limits
from condmask.disclosure.table import Clear, Table, clear_of, names_in_clear
from condmask.errors import CondmaskError, Refusals, warn
from condmask.estimates.origin import Origin
from condmask.frames import Column
from condmask.missing_codes import without_codes
from condmask.releases.log import mark_of
from condmask.scheme import Scheme, common_method
from condmask.schemes.prepare import Prepared, decimals_in_text, prepare
from condmask.schemes.rounding import Moved, Shifts, asked
from condmask.strata import not_masked

BETWEEN = 0.1  # of the variance: parts that differ by more are worth a word
UNITS = 256  # firms, households and the like that are looked at whole


class Job(NamedTuple):
    """All arguments, checked before any data are looked at.

    Attributes
    ----------
    schemes : dict of str to scheme
        By column, with the strata that the call names.
    groups : tuple of str
        The columns of the strata.
    root : Key or None
        From which all keys come; None for new ones from the operating system.
    """

    schemes: dict[str, Any]
    groups: tuple[str, ...]
    root: Key | None
    policy: str
    round: bool
    audited: bool
    workers: Workers
    limits: Limits
    shuffle: bool

    @property
    def method(self) -> type[Scheme]:
        """The class of the schemes."""
        return type(next(iter(self.schemes.values())))

    def order(self, n: int) -> np.ndarray:
        """A new order of the rows, which none who has no key can undo."""
        key = (self.root or Key()).derive(b"shuffle")
        return np.asarray(key.stream(0, WHOLE).permutation(n))

    def root_of(self, part: int) -> Key | None:
        """What the key of a part comes from: never one key for two parts, which would share coins and
        noise."""
        return self.root if part == 0 or self.root is None else self.root.derive(b"part", str(part).encode())


def job_of(
    schemes: Mapping[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    accept_visible_coins: bool = False,
    workers: Workers = 1,
    max_lift: float = DEFAULT.lift,
    max_risk: Mapping[float, float] | None = None,
    shuffle: bool = False,
) -> Job:
    """The job, or an error in one sentence."""
    named = common_method(schemes).within(dict(schemes), strata)
    random = check_rng(rng)
    return Job(
        named,
        not_masked(next(iter(named.values())).strata, named),
        None if random is None else root_key(random),
        _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES),
        asked(round, schemes),
        not _checks.truth(accept_visible_coins, "accept_visible_coins"),
        _checks.workers(workers),
        limits_of(max_lift, max_risk),
        _checks.truth(shuffle, "shuffle"),
    )


class Part(NamedTuple):
    """A table, or a part of one, that may be masked: its columns as they came, and as they are masked."""

    columns: dict[str, Column]
    made: Prepared


def part_of(
    frame: Any, job: Job, *, clear: bool = False, audited: bool = True, to_file: bool = False
) -> Part:
    """A table ready to be masked, or an error that says all that is wrong with it.

    With `clear`, the audit looks at the columns in clear beside those that are masked, too.
    """
    refusals = Refusals()
    columns, audited = {}, audited and job.audited
    for name in job.schemes:
        with refusals.collected():
            columns[name] = frames.column_of(frame, name)
    refusals.raise_all()
    arrays = {name: column.array for name, column in columns.items()}
    made = prepare(
        job.schemes, arrays, {name: column.kind for name, column in columns.items()},
        labels=[frames.coded(frame, name) for name in job.groups],
        clear=_clear_beside(frame, arrays, job) if clear and audited else None,
        nan_policy=job.policy, to_grid=job.round, audited=audited, to_file=to_file,
        scope="whole" if clear else "part", limits=job.limits,
    )  # fmt: skip
    return Part(columns, made)


def sampled(frame: Any, job: Job) -> Table:
    """Some rows of a longer table as an audit looks at them, whose parts were looked at by themselves."""
    columns = {name: frames.column_of(frame, name) for name in job.schemes}
    values = {
        name: without_codes(column.array, job.schemes[name].codes, column.kind)
        for name, column in columns.items()
    }
    kinds = {name: column.kind for name, column in columns.items()}
    return Table(values, kinds, None, _clear_beside(frame, values, job), "sample")


def audited_whole(job: Job, names: Sequence[str]) -> bool:
    """Whether a longer table with these columns is also audited by some of its rows."""
    beside = {*names} != {*job.schemes}
    return job.audited and (beside or len(job.schemes) > 1)


Units = tuple[str, Any]  # the column that names firms, households or the like, and some of its values


def with_units(sample: Any, job: Job, found: Callable[[Units], Iterable[Any]]) -> Any:
    """A sample with all rows of the firms, households and the like in some of its rows; `found` looks for
    them in the whole table."""
    import pyarrow as pa

    clear = sampled(sample, job).clear
    named = [name for name in clear.units if name in sample.column_names] if clear is not None else []
    if not named:
        return sample
    some = sample[named[0]].take(np.linspace(0, len(sample) - 1, UNITS).astype(int))
    units = named[0], some.combine_chunks().unique()
    return pa.concat_tables([rows_of(units, sample, others=True), *found(units)], promote_options="default")


def rows_of(units: Units, table: Any, *, others: bool = False) -> Any:
    """All rows of these firms, households and the like, or all others."""
    import pyarrow.compute as pc

    there = pc.is_in(table[units[0]], value_set=units[1])
    return table.filter(pc.invert(there) if others else there)


def raise_of_parts(refused: Sequence[CondmaskError]) -> None:
    """Raise what the first part refused; others have other figures, seldom other reasons."""
    if refused:
        others = f"; parts that are refused as well: {len(refused) - 1}" if len(refused) > 1 else ""
        raise type(refused[0])(f"{refused[0]}{others}")


def _clear_beside(frame: Any, values: Mapping[str, np.ndarray], job: Job) -> Clear | None:
    """The columns in clear, where there are some."""
    whole = frames.with_index(frame)
    names = names_in_clear(frames.column_names(whole), {*job.schemes})
    return clear_of(whole, names, values) if names else None


class Look(NamedTuple):
    """What a look at some parts finds, which adds.

    Attributes
    ----------
    parts : tuple of int
        The records of each.
    patterns : tuple of str
        The columns whose pattern of missing values parts the donors, of any part.
    moved : dict of str to Moved
        What rounding moved.
    places : dict of str to int or None
        The decimals of masked columns in text.
    marks : dict of str to ndarray
        By which the log knows the columns again.
    moments : dict of str to ndarray of shape (parts, 3)
        Number, sum and sum of squares of the values of each part.
    """

    parts: tuple[int, ...]
    patterns: tuple[str, ...]
    moved: dict[str, Moved]
    places: dict[str, int | None]
    marks: dict[str, np.ndarray]
    moments: dict[str, np.ndarray]

    def plus(self, other: "Look") -> "Look":
        """Both together."""
        return Look(
            self.parts + other.parts,
            self.patterns or other.patterns,
            {name: moved.plus(other.moved[name]) for name, moved in self.moved.items()},
            {name: _most(places, other.places[name]) for name, places in self.places.items()},
            {name: mark + other.marks[name] for name, mark in self.marks.items()},
            {name: np.vstack([rows, other.moments[name]]) for name, rows in self.moments.items()},
        )

    def origins(self, schemes: Mapping[str, Any]) -> dict[str, Origin]:
        """What the release says of each column; warns of what rounding moved, and of parts that differ."""
        shared = next(iter(schemes.values())).shared_coins
        group = group_name() if shared and len(schemes) > 1 else None
        shifts: Shifts = {}
        for name, moved in self.moved.items():
            shifts |= moved.shift(name, schemes[name].grid.step)
        for name, rows in self.moments.items():
            _warn_of_order(name, *rows.T)
        patterns = self.patterns if shared else ()
        return {name: Origin(group, patterns, shifts.get(name, ())) for name in schemes}


def look_at(part: Part, job: Job) -> Look:
    """What a look at one part finds."""
    arrays = {name: column.array for name, column in part.columns.items()}
    moments = {name: [np.isfinite(x).sum(), np.nansum(x), np.nansum(x * x)] for name, x in arrays.items()}
    return Look(
        (next(iter(arrays.values())).size,),
        part.made.patterns,
        part.made.moved,
        {name: decimals_in_text(job.schemes[name], x) for name, x in part.made.units.items()},
        {name: mark_of(x) for name, x in arrays.items()} if job.root is None else {},
        {name: np.array([row]) for name, row in moments.items()},
    )


def looks(found: Sequence[Look]) -> Look:
    """All of them together."""
    return reduce(Look.plus, found)


def _warn_of_order(name: str, n: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> None:
    """Say so where parts differ: records get values of their own part, so that it tells something of them."""
    total, mean = squares.sum() - sums.sum() ** 2 / n.sum(), sums.sum() / n.sum()
    between = np.sum(n * (sums / np.maximum(n, 1.0) - mean) ** 2)
    if n.size > 1 and between > BETWEEN * total:
        warn(
            f"{name} is masked in {n.size} parts that differ ({between / total:.0%} of its variance is "
            "between them), and records get values of their own part: shuffle the rows first",
            ReleaseWarning,
        )


def _most(one: int | None, other: int | None) -> int | None:
    """The larger number of decimals; None, for as many as each needs, is more than any."""
    return None if one is None or other is None else max(one, other)
