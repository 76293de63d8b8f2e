"""Check the arguments of a release, and take each step that they decide.

The steps come in this order: `kept_rows` and `inspect` (all that is seen at once), `settle` (the
choice of schemes and the attack), `statistics_of` and `metadata_of` (what is published). A job
never changes; a step that settles schemes returns a new job.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from condmask import _checks
from condmask._randomness import WHOLE, Key, Randomness, check_rng, group_name, root_key
from condmask.disclosure.audit import (
    DEFAULT_LIMITS,
    check_at_once,
    check_attack,
    limits_of,
    warn_of_identity,
)
from condmask.disclosure.choose import TRIES, Choice, choose, with_wider_noise
from condmask.disclosure.column.rare_values import open_ends, with_ends
from condmask.disclosure.figures import Figures
from condmask.disclosure.policy import Limits, accepted_codes
from condmask.disclosure.unmasked import Table, clear_of, glimpse_of
from condmask.errors import ArgumentError, Refusals
from condmask.estimates.origin import Origin
from condmask.files.about import Published
from condmask.files.arrow import ArrowTable
from condmask.frames import DataFrame
from condmask.masking.scheme import Scheme, together
from condmask.masking.swap_scheme import SwapScheme
from condmask.missing_codes import GivenCodes, values_of
from condmask.own_grid import on_own_grids
from condmask.publish import usefulness
from condmask.publish.audited_rows import ReadRows, audited_table, units_in, with_whole_units
from condmask.publish.declared_codes import with_codes_of
from condmask.publish.original_table import OriginalTable
from condmask.publish.part_statistics import (
    PartStatistics,
    fingerprints,
    first_patterns,
    shifts,
    statistics_of,
    warn_of_different_parts,
)
from condmask.publish.prepare import Prepared, in_units, least_pool, look, settled
from condmask.publish.reverse_mapping import ReverseMapping
from condmask.publish.rounding import check_round, shift_of
from condmask.publish.settling import SETTLED_TOO, in_order
from condmask.strata import not_masked, with_rare_gaps

RARE_GAPS = ("refuse", "drop")

GivenSchemes = Mapping[str, Scheme] | Sequence[str] | str  # by column, or names of columns alone
# what the audit of rows covers: a whole table, or a part of a long one; None without an audit
Scope = Literal["whole", "part"] | None


class Job:
    """Checks the arguments of a release; its methods take each step that they decide.

    Parameters
    ----------
    schemes : dict of str to scheme, or names of columns
    may_choose : bool
        Whether there is a table for which schemes, or the number of ends, may be chosen.
    strata, rng, nan_policy, round, accept, accept_visible_coins, workers, max_clear, max_lift,
    max_risk, shuffle, missing, rare_gaps, drop
        As for `mask_table`.
    steps : tuple of str, optional
        The steps so far of a release that settles its refusals; None for one that does not.

    Attributes
    ----------
    schemes : dict of str to scheme
        By column, with the strata that the call names. Where only names of columns were given,
        the schemes by which they are inspected, until `choose` returns a job with others.
    names : tuple of str
        The columns whose schemes are chosen; empty where schemes were given.
    chosen : dict of str to Choice
        The choices for these columns; empty until then.
    groups : tuple of str
        The columns of the strata.
    limits : Limits or None
        How much the release may show; None where it is not audited, as with schemes that swap no
        records.
    accepted : tuple of str
        The codes of findings that are let pass; ("all",) where nothing is audited.
    policy : {"raise", "omit"}
        For missing values.
    drops : bool
        Whether records are left out whose gaps too few others share.
    round, shuffle : bool
    workers : int
    drop : tuple of str
        Columns that are not released.
    root : Key or None
        From which all keys are derived; None for new keys from the operating system.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        One error that names all wrong arguments.
    """

    def __init__(
        self,
        schemes: GivenSchemes,
        *,
        may_choose: bool = True,
        strata: str | Sequence[str] | None = None,
        rng: Randomness = None,
        nan_policy: str = "raise",
        round: bool = False,
        accept: str | Sequence[str] = (),
        accept_visible_coins: bool = False,
        workers: int = 1,
        max_clear: float = DEFAULT_LIMITS.clear,
        max_lift: float = DEFAULT_LIMITS.lift,
        max_risk: Mapping[float, float] | None = None,
        shuffle: bool = False,
        missing: GivenCodes = (),
        rare_gaps: str = "refuse",
        drop: str | Sequence[str] = (),
        steps: tuple[str, ...] | None = None,
    ) -> None:
        self.names: tuple[str, ...] = ()
        self.schemes: dict[str, Scheme] = {}
        self.chosen: dict[str, Choice] = {}
        self._strata = strata
        refusals = Refusals()
        with refusals.collected():
            self._set_schemes(schemes, missing, may_choose=may_choose)
        with refusals.collected():
            random = check_rng(rng)
            self.root: Key | None = None if random is None else root_key(random)
        with refusals.collected():
            policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
            self.policy: str = "omit" if self.names else policy
        with refusals.collected():
            self.drops: bool = _checks.choice(rare_gaps, "rare_gaps", RARE_GAPS) == "drop"
        with refusals.collected():
            self.workers: int = _checks.integer(workers, "workers", least=1)
        accepted: frozenset[str] | None = frozenset()
        with refusals.collected():
            accepted = accepted_codes(accept, visible_coins=accept_visible_coins)
        with refusals.collected():
            limits = limits_of(max_clear, max_lift, max_risk, accepted or frozenset())
        with refusals.collected():
            self.shuffle: bool = _checks.boolean(shuffle, "shuffle")
        self.drop: tuple[str, ...] = ()
        with refusals.collected():
            self.drop = _checks.names([drop] if isinstance(drop, str) else drop, "drop")
        refusals.raise_all()
        first = next(iter(self.schemes.values()))
        self.groups: tuple[str, ...] = not_masked(first.strata, self.schemes)
        self.round: bool = check_round(round, self.schemes)
        used = [name for name in self.drop if name in (*self.schemes, *self.groups)]
        rule = "drop must be columns that are neither masked nor strata"
        _checks.require(not used, rule, used)
        if steps is not None:
            limits = limits._replace(refused_too=SETTLED_TOO)
        self.steps: tuple[str, ...] = steps or ()
        audited = first.shared_coins and accepted is not None
        self.limits: Limits | None = limits if audited else None
        self.accepted: tuple[str, ...] = in_order(accepted)

    def _set_schemes(
        self, schemes: GivenSchemes, missing: GivenCodes, *, may_choose: bool
    ) -> None:
        """Check the given schemes, or make those by which columns given by name are inspected."""
        by_name = may_choose and isinstance(schemes, str | list | tuple)
        if by_name:
            names = [schemes] if isinstance(schemes, str) else schemes
            self.names = _checks.names(names, "schemes")
        rule = "missing must be left out where schemes are given, each of which has its own"
        _checks.require(
            bool(self.names) or (isinstance(missing, tuple) and not missing), rule, missing
        )
        self._options: dict[str, Any] = {"missing": missing}
        if self._strata is not None:
            self._options |= {"strata": self._strata, "small_strata": "merge"}
        scheme = self._new_scheme
        given: Any = dict.fromkeys(self.names, scheme(0.6, 1.0)) if by_name else schemes
        self.schemes = together(given, self._strata)
        if open_ends(self.schemes) and not may_choose:
            raise ArgumentError("aggregate_ends must be a number in a table of Dask, got 'auto'")

    def _new_scheme(self, p: float, sigma: float, **parameters: Any) -> ReverseMapping:
        """Return a scheme for a column given by name, with the codes and strata of the call."""
        return ReverseMapping(p, sigma, **self._options, **parameters)

    # --- schemes that depend on the data ---

    def on_own_grids(self, parts: Iterable[OriginalTable]) -> Self:
        """Return the job with the grid of the data, of which these are all parts, in each scheme
        that names no step."""
        return self.with_schemes(on_own_grids(self.schemes, (part.column for part in parts)))

    def with_schemes(self, schemes: Mapping[str, Any]) -> Self:
        """Return the job with other schemes of the same columns."""
        job = copy.copy(self)
        job.schemes = dict(schemes)
        return job

    @property
    def chooses(self) -> bool:
        """Whether schemes, or the number of ends, are still to be chosen."""
        return bool(open_ends(self.schemes)) or (bool(self.names) and not self.chosen)

    def choose(self, table: Table) -> Self:
        """Return the job with schemes, and numbers of ends, chosen for a table where they are
        open."""
        job = copy.copy(self)
        if self.names:
            chosen = with_wider_noise(table, choose(table, self.names, self._new_scheme))
            job.chosen = with_codes_of(self.schemes, chosen)
            schemes = {name: choice.scheme for name, choice in job.chosen.items()}
        else:
            ends = {
                name: with_ends(table, name, self.schemes[name])
                for name in open_ends(self.schemes)
            }
            schemes = self.schemes | ends
        job.schemes = together(schemes, self._strata)
        return job

    # --- rows ---

    def kept_rows(self, table: OriginalTable) -> np.ndarray | None:
        """Return a mask of the rows that are released; None where all of them are.

        Under ``rare_gaps="drop"``, records whose gaps too few others share are left out.
        """
        if not self.drops:
            return None
        values = values_of(self.schemes, table.columns(self.schemes))
        labels = [table.labels(name) for name in self.groups]
        first = next(iter(self.schemes.values()))
        candidates = [first]
        if self.chooses and self.names:
            candidates = [self._new_scheme(p, 1.0) for p, _, _ in TRIES]
        least = least_pool(candidates, self.limits)
        rare = with_rare_gaps(first, values, labels, least)
        return None if not rare.any() else ~rare

    def new_order(self, n: int) -> np.ndarray:
        """Draw a permutation of n rows that nobody without the key can reverse."""
        key = (self.root or Key()).derive(b"shuffle")
        return np.asarray(key.stream(0, WHOLE).permutation(n))

    # --- parts: inspected, settled, measured ---

    def inspect(self, table: OriginalTable, scope: Scope, refusals: Refusals) -> Prepared:
        """Collect all that is wrong with a table and is seen without an attack.

        Parameters
        ----------
        table : OriginalTable
        scope : {"whole", "part"} or None
            In a whole table, columns left in clear are looked at, too; None for no audit.
        refusals : Refusals
            Takes all that is wrong.

        Returns
        -------
        Prepared
            The columns, which are not yet ready to be masked.
        """

        def audited(values: dict[str, np.ndarray], pool: np.ndarray | None) -> Table:
            clear = glimpse_of(table.frame, values) if scope == "whole" else None
            return Table(values, pool, clear, str(scope))

        limits = self.limits if scope else None
        is_audited = scope is not None and (limits is not None or self.chooses)
        return look(
            self.schemes,
            table.columns(self.schemes),
            refusals,
            labels=[table.labels(name) for name in self.groups],
            nan_policy=self.policy,
            to_grid=self.round,
            limits=limits,
            table=audited if is_audited else None,
        )

    def settle(self, seen: Prepared, table: OriginalTable) -> tuple[Self, Prepared]:
        """Choose schemes where they are open, then attack the release; both take time.

        Returns
        -------
        tuple of Job, Prepared
            The job with the schemes of the release; the table, ready to be masked.
        """
        job = self
        if seen.table is not None and self.limits is not None:
            warn_of_identity(table.frame, self.schemes, self.limits)
        if seen.table is not None:
            seen = seen._replace(
                table=seen.table._replace(clear=clear_of(table.frame, seen.values))
            )
        if self.chooses and seen.table is not None:
            job = self.choose(seen.table)
            refusals = Refusals()
            if job.limits:  # another p may need larger pools
                check_at_once(seen.table, job.schemes, job.limits, refusals)
            seen = seen._replace(units=in_units(seen, job.schemes, refusals))
            refusals.raise_all()
        return job, settled(seen, job.schemes, job.limits, by_name=bool(job.names))

    def part_of(self, table: OriginalTable, scope: Scope) -> Prepared:
        """Return a part ready to be masked; raises one error that says all that is wrong."""
        refusals = Refusals()
        seen = self.inspect(table, scope, refusals)
        refusals.raise_all()
        return settled(seen, self.schemes, self.limits if scope else None)

    def marks_in(self, part: Prepared) -> dict[str, np.ndarray]:
        """Return the fingerprints of a part for the log; none of a release under `rng`, which has
        no entry."""
        return {} if self.root is not None else fingerprints(part)

    def statistics_of(self, part: Prepared) -> PartStatistics:
        """Return the statistics of a part that is ready to be masked."""
        return statistics_of(part, self.marks_in(part))

    def warn_of_use(self, frame: DataFrame, part: Prepared) -> None:
        """Warn of masked columns of a part by which hardly any relation can be estimated."""
        given = self.schemes.items()
        schemes = {name: each for name, each in given if isinstance(each, SwapScheme)}
        if not schemes:
            return
        pool = None if part.pools is None else part.pools.pool
        table = Table(values_of(self.schemes, part.columns), pool)
        usefulness.warn_of_use(
            usefulness.UnmaskedRelease(table, frame, schemes, self.limits, bool(self.chosen))
        )

    # --- the release as a whole ---

    def metadata_of(self, parts: Sequence[PartStatistics]) -> Published:
        """Return the metadata published with the release; warns if rounding moved values or if
        the parts differ."""
        first = next(iter(self.schemes.values()))
        group = group_name() if len(self.schemes) > 1 and first.shared_coins else None
        patterns = first_patterns(parts)
        origins = {}
        for name, scheme in self.schemes.items():
            shift: tuple[float, ...] = ()
            if self.round and scheme.grid is not None:
                shift = shift_of(shifts(parts, name), name, scheme.grid.step)
            origins[name] = Origin(group, patterns, shift)
            warn_of_different_parts(name, [part.moments[name] for part in parts])
        records = tuple(part.records for part in parts)
        return Published(
            records,
            self.schemes,
            origins,
            shuffled=self.shuffle,
            accepted=self.accepted,
            steps=self.steps,
        )

    def audit_sample(self, sample: ArrowTable, read_rows: ReadRows) -> dict[str, Figures]:
        """Audit a long table, whose parts were inspected one by one, by some of its rows.

        Parameters
        ----------
        sample : pyarrow Table
            Rows from all over the table.
        read_rows : callable (Units) -> iterable of pyarrow Table
            Reads all rows of some firms, households or persons.

        Returns
        -------
        dict of str to Figures
            By masked column.
        """
        if self.limits is None:
            return {}
        table = self._audited(sample)
        units = units_in(sample, table)
        if units is not None:
            table = self._audited(with_whole_units(sample, units, read_rows))
        refusals = Refusals()
        check_at_once(table, self.schemes, self.limits, refusals)
        refusals.raise_all()
        return check_attack(table, self.schemes, self.limits, by_name=bool(self.names))

    def _audited(self, rows: ArrowTable) -> Table:
        """Return sampled rows as the audit takes them."""
        columns = OriginalTable(rows).columns(self.schemes)
        return audited_table(rows, values_of(self.schemes, columns))
