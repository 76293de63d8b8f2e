"""A release as it was asked for, and what a look at its data finds."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._randomness import Key, check_rng, group_name, root_key
from condmask.clear_columns import Clear, clear_of_frame, columns_in_clear
from condmask.errors import Refusals
from condmask.estimates.origin import Origin
from condmask.frames import Column
from condmask.releases.log import Mark, mark_of
from condmask.scheme import Scheme, common_method
from condmask.schemes.prepare import Prepared, decimals_in_text, prepare
from condmask.schemes.rounding import Moved, Shifts, asked
from condmask.strata import not_masked


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

    @property
    def method(self) -> type[Scheme]:
        """The class of the schemes."""
        return type(next(iter(self.schemes.values())))

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
    )


class Look(NamedTuple):
    """What a look at parts finds, which adds.

    Attributes
    ----------
    parts : tuple of int
        The records of each.
    patterns : tuple of str
        The columns whose pattern of missing values parts the donors, of any part.
    moved : dict of str to Moved
        What rounding moved.
    places : dict of str to int or None
        The decimals of columns that are released with the values of the original.
    marks : dict of str to Mark
        By which the log knows the columns again.
    """

    parts: tuple[int, ...]
    patterns: tuple[str, ...]
    moved: dict[str, Moved]
    places: dict[str, int | None]
    marks: dict[str, Mark]

    def plus(self, other: "Look") -> "Look":
        """Both together."""
        return Look(
            self.parts + other.parts,
            self.patterns or other.patterns,
            {name: moved.plus(other.moved[name]) for name, moved in self.moved.items()},
            {name: _most(places, other.places[name]) for name, places in self.places.items()},
            {name: mark.plus(other.marks[name]) for name, mark in self.marks.items()},
        )

    def origins(self, schemes: Mapping[str, Any]) -> dict[str, Origin]:
        """What the release says of each column; warns of what rounding moved."""
        shared = next(iter(schemes.values())).shared_coins
        group = group_name() if shared and len(schemes) > 1 else None
        shifts: Shifts = {}
        for name, moved in self.moved.items():
            shifts |= moved.shift(name, schemes[name].grid.step)
        patterns = self.patterns if shared else ()
        return {name: Origin(group, patterns, shifts.get(name, ())) for name in schemes}


def look_at(columns: Mapping[str, Column], made: Prepared, job: Job) -> Look:
    """What a look at one part finds."""
    return Look(
        (next(iter(columns.values())).array.size,),
        made.patterns,
        made.moved,
        {name: decimals_in_text(job.schemes[name], x) for name, x in made.units.items()},
        {name: mark_of(column.array) for name, column in columns.items()} if job.root is None else {},
    )


def columns_of(frame: Any, job: Job) -> dict[str, Column]:
    """The columns to be masked."""
    refusals, columns = Refusals(), {}
    for name in job.schemes:
        with refusals.collected():
            columns[name] = frames.column_of(frame, name)
    refusals.raise_all()
    return columns


def prepared(
    frame: Any, columns: Mapping[str, Column], job: Job, *, clear: Clear | None = None, to_file: bool = False,
    audited: bool | None = None,
) -> Prepared:  # fmt: skip
    """The columns of a table ready to be masked, or an error that says all that is wrong with them."""
    return prepare(
        job.schemes,
        {name: column.array for name, column in columns.items()},
        {name: column.kind for name, column in columns.items()},
        labels=[frames.coded(frame, name) for name in job.groups],
        clear=clear,
        nan_policy=job.policy,
        to_grid=job.round,
        audited=job.audited if audited is None else audited,
        to_file=to_file,
    )


def clear_beside(frame: Any, columns: Mapping[str, Column], job: Job) -> Clear | None:
    """The columns in clear beside those that are masked, as an attacker looks at them."""
    whole = frames.with_index(frame)
    beside = columns_in_clear(frames.column_names(whole), {*job.schemes, *job.groups})
    return clear_of_frame(whole, beside, [column.array for column in columns.values()]) if beside else None


def _most(one: int | None, other: int | None) -> int | None:
    """The larger number of decimals; None, for as many as each needs, is more than any."""
    return None if one is None or other is None else max(one, other)
