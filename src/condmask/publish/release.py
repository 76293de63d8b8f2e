"""A release: masked columns, how they were masked, and the estimates of their originals."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.audit import refuse_too_few_records
from condmask.disclosure.choose import Choice
from condmask.errors import ArgumentError, ArgumentTypeError, Refusals, warn
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimate
from condmask.estimates.results import Intervals
from condmask.files.about import Published, published, sidecar
from condmask.files.parts import MANIFEST, Source
from condmask.files.publish import refuse_target
from condmask.inference.interval import TARGETS, UNBOUNDED, EstimateWarning, asked
from condmask.linear.masked_regress import POWERS, Masked, Table, fit
from condmask.masking.scheme import Scheme
from condmask.pairs.pair_interval import MASKED_TOGETHER
from condmask.publish.columns import Frame, MaskedColumn
from condmask.publish.log import Log, Where
from condmask.publish.schemes import OWN_SCHEMES as OWN_SCHEMES
from condmask.reverse_mapping.pairs import TOGETHER


class Release(Mapping[str, Estimate]):
    """A release: a mapping of masked columns to the estimates of their originals.

    Made by `mask_table`, `mask_file` and `read_release`.

    Parameters
    ----------
    published : Published
        What is published with the data.
    source : Source, Frame or None
        The masked files, or the table; None if nothing was written.
    workers : int
        For estimates; results do not depend on it.
    chosen : dict of str to Choice, optional
        What was chosen for columns of which only the names were given.

    Attributes
    ----------
    data : data frame, dict of columns or None
        A copy of the table with masked columns in place of the originals; None for a file.
    path : Path or None
        The file that was masked or read.
    schemes : dict of str to scheme
        How each column was masked.
    chosen : dict of str to Choice
        Where only names of columns were given: by column the ``scheme`` that was chosen, and
        ``why``. Written as a text it is one line with the scheme to name in another call.
    records : int
        Number of records.
    parts : tuple of int
        The records of each part of a long file, within which donors were drawn.
    origins : dict of str to Origin
        What else estimates need to know about each column: its ``group``, a name that columns
        masked together share; ``patterns``, the columns whose common gaps bound the draw of
        donors; and ``shift``, how far rounding moved values.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = pd.DataFrame(x, columns=["income", "bonus"])
    >>> scheme = cm.ConditionalMasking(0.6, 0.5)
    >>> release = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> list(release), release.records
    (['income', 'bonus'], 20000)
    >>> bool(abs(release["income"].correlation("bonus") - 0.8) < 0.03)
    True
    """

    def __init__(
        self,
        published: Published,
        source: Any,
        *,
        workers: int = 1,
        chosen: Mapping[str, Choice] = {},
    ) -> None:
        self._published = published
        self._source = source
        self.chosen = dict(chosen)
        self.path = source and source.path
        self.schemes = published.schemes
        self.origins = published.origins
        self.records = published.records
        self.parts = published.parts
        self._workers = workers
        self._estimates = dict[str, Estimate]()

    @property
    def data(self) -> Any:
        """A copy of the masked table; None for a file."""
        return frames.copied(self._source.table) if isinstance(self._source, Frame) else None

    def __getitem__(self, column: str) -> Estimate:
        if not isinstance(column, str) or column not in self.schemes:
            there = _checks.listed([*self.schemes])
            raise KeyError(
                f"{_checks.in_message(column)} is not one of the masked columns {there}"
            )
        if column not in self._estimates:
            if self._source is None:
                raise ArgumentError(
                    f"{column!r} has no estimate: nothing was written (dry_run=True)"
                )
            masked = MaskedColumn(self._source, column, self._published)
            self._estimates[column] = masked.estimate(self._workers, self._column)
        return self._estimates[column]

    def __contains__(self, column: object) -> bool:
        return column in self.schemes  # without an estimate

    def __iter__(self) -> Iterator[str]:
        return iter(self.schemes)

    def __len__(self) -> int:
        return len(self.schemes)

    def __repr__(self) -> str:
        where = "" if self.path is None else f", path={str(self.path)!r}"
        return f"Release(records={self.records}, schemes={self.schemes!r}{where})"

    def to_dict(self) -> dict[str, Any]:
        """Return what is published with the data, in terms of JSON, as `condmask info --json`
        prints it.

        Returns
        -------
        dict
            "about", a note for readers; the "version" of the format; "records" and "parts", their
            numbers; "columns", the scheme of each masked column, and "origins", as in the
            attribute; and where they apply "csv", "sums" of each part, and "shuffled".
        """
        return self._published.to_dict()

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        log: Where = True,
        again: bool = False,
    ) -> None:
        """Write the release of a table: the data as they were masked, and how.

        Parameters
        ----------
        path : path
            The file to write; its suffix gives the format, as for `mask_file`.
        force : bool
            Whether an existing file may be replaced.
        log, again
            As for `mask_file`; one release may be written several times.

        Raises
        ------
        FileError
            If the file cannot be written, or exists.
        ValueError
            If the release is a masked file, which is written already.
        ReleaseError
            If a masked column has the values of an earlier release; or if there are fewer than 100
            records with noise: too few to tell what they show.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, pandas as pd
        >>> import condmask as cm
        >>> income = np.random.default_rng(1).lognormal(7, 0.5, 5_000)
        >>> scheme = cm.ConditionalMasking(0.6, 500.0)
        >>> release = cm.mask_table(pd.DataFrame({"income": income}), {"income": scheme})
        >>> folder = tempfile.TemporaryDirectory()
        >>> release.write(folder.name + "/released.parquet", log=False)  # invented data: in no log
        >>> list(cm.read_release(folder.name + "/released.parquet"))
        ['income']
        >>> folder.cleanup()
        """
        from condmask.publish.write import write_table

        source = self._source
        if not isinstance(source, Frame):
            raise ArgumentError(
                "write must be called on the release of a table; a file is written already"
            )
        target = _checks.path(path, "path")
        book = Log(log)
        force = _checks.boolean(force, "force")
        again = _checks.boolean(again, "again")
        refusals = Refusals()
        entry = dict[str, Any]()
        with refusals.collected():
            if source.audited:
                refuse_too_few_records(self.records, self.schemes)
        with refusals.collected():
            refuse_target(target, None, force=force)
        with refusals.collected():
            book.refuse_unwritable()
            entry = book.refuse(source.marks, None, again=again, keeps=not refusals.errors)
        refusals.raise_all()
        write_table(source.table, target, self._published)
        book.enter(target, entry)
        # written to another file it is no other release
        source.marks = {} if entry else source.marks

    def regress(
        self,
        outcome: str,
        on: str | Sequence[str],
        *,
        confidence_level: float = 0.95,
        target: str = "population",
    ) -> Intervals:
        """Linear regression of the original of a column on those of others, any of which may be
        masked.

        Parameters
        ----------
        outcome : str
            The column to be explained.
        on : str or sequence of str
            The columns that explain it: numbers, or yes and no; for text with 2 to 50 labels,
            indicators of each label but the first in the sorted order. Records that miss a value
            are left out.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            What they should cover: the coefficients in the population that the file is a sample
            of, or those in the original file.

        Returns
        -------
        Intervals
            By name of the column, "intercept" first. Ends are infinite where the records do not
            bound a coefficient, and NaN where several columns were masked together by reverse
            mapping.

        Raises
        ------
        ValueError
            If there are fewer records than coefficients, a column is constant or determined by
            others, or is masked and not one of the release.
        TypeError
            If the outcome holds no numbers.

        Warns
        -----
        EstimateWarning
            If ends are infinite or NaN.

        Notes
        -----
        Ordinary least squares of masked columns is wrong. Here all products of columns are
        estimated without bias, and intervals are where a test of the coefficient does not reject
        (docs/inference.rst, "Masked regressors"). If the outcome alone is masked, this is
        `Estimate.regress`.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> income = rng.lognormal(7, 0.5, 20_000)
        >>> spending = 300 + 0.6 * income + rng.normal(0, 600, 20_000)
        >>> frame = pd.DataFrame({"income": income, "spending": spending})
        >>> release = cm.mask_table(frame, {"income": cm.ConditionalMasking(0.6, 300.0)}, rng=2)
        >>> found = release.regress("spending", on="income")["income"]
        >>> bool(found.low < 0.6 < found.high < found.low + 0.1)
        True
        """
        level, target = asked(confidence_level, target)
        names = list(_checks.names([on] if isinstance(on, str) else on, "on"))
        outcome = _checks.text(outcome, "outcome")
        if not names or outcome in names or len(set(names)) < len(names):
            raise ArgumentError(
                f"on must name different columns, none of them {outcome!r}, got {names}"
            )
        masked = {name: self[name] for name in (*names, outcome) if name in self}
        if list(masked) == [outcome]:
            return masked[outcome].regress(names, confidence_level=level, target=target)
        if not masked:
            raise ArgumentError(
                f"one of {names} and {outcome!r} must be masked: others need no release"
            )
        first = next(iter(masked.values()))
        given = {name: name for name in (*names, outcome)}
        given |= {name: first._rows.beside(one._rows) for name, one in masked.items()}
        columns = first._design(given, intercept=True, argument="on")
        _checks.require(
            outcome in columns, "outcome must be a column of numbers", outcome, ArgumentTypeError
        )
        places = [place for place, name in enumerate(columns, 1) if name in masked]
        table = Table(columns, _masked(dict(zip(places, masked.values(), strict=True))))
        estimate, error, low, high = fit(table, level, target)
        finite = np.isfinite([low, high, error, estimate]).all(axis=0)
        reason = MASKED_TOGETHER if table.masked.products else UNBOUNDED
        notes = np.where(finite, "", reason)
        if table.masked.products:
            warn(f"regress: {TOGETHER}", EstimateWarning)
        elif not np.isfinite(low).all():
            warn(
                "regress: too few records for this scheme to bound some coefficients",
                EstimateWarning,
            )
        return Intervals(
            ["intercept", *list(columns)[:-1]],
            low,
            high,
            error,
            estimate,
            level,
            target,
            f"regression of {outcome}, coefficients {TARGETS[target]}",
            np.full(len(low), table.n),
            ("coefficient",),
            notes,
        )

    def _column(self, name: str, labels: bool) -> Any:
        """Another column, or the estimate of a masked one."""
        if name in self.schemes:
            return self[name]
        return self._source.labels(name) if labels else self._source.column(name)


def released_in(path: Any, **options: Any) -> Release:
    """The release of files; refused if nothing was published with them."""
    place = _checks.path(path, "path")
    found = published(place)
    if found is None:
        where = (
            f"in {MANIFEST} in it"
            if place.is_dir()
            else f"in its schema, or in {sidecar(place).name}"
        )
        raise ArgumentError(
            f"{path} holds no scheme {where}: it was not masked by condmask, is one file of a released "
            "folder, or what was published with it is lost"
        )
    return Release(found, Source(place, found.csv), **options)


def read_release(
    path: str | os.PathLike[str], column: str | None = None, *, workers: int = 1
) -> Any:
    """The estimate of a masked column, or of all of them, from the file alone.

    Parameters
    ----------
    path : path
        A file or a folder that `mask_file` or `Release.write` wrote.
    column : str, optional
        The masked column; None for all.
    workers : int
        Results do not depend on it.

    Returns
    -------
    Estimate or Release
        The estimate, or a mapping of columns to estimates, each read on first use. The schemes are
        those in the file; strata come from the columns that they name; other columns of the file
        can be used by name: ``read_release(path, "income").correlation("age")``.

    Raises
    ------
    FileError
        If the file cannot be read, or is not the one that was released.
    ValueError
        If it has no scheme, or none for this column, or lacks a column of the strata.
    """
    release = released_in(path, workers=_checks.integer(workers, "workers", least=1))
    return release if column is None else release[masked_column(release.schemes, column)]


def read_counts(path: str | os.PathLike[str], column: str | None = None) -> Counts:
    """Counts of a masked column in one pass; on a grid, of files larger than memory.

    Parameters
    ----------
    path, column
        As for `read_release`.

    Returns
    -------
    Counts
        The scheme's ``estimate(counts)`` gives the estimates; ``read_release(path).schemes`` has
        the scheme.
    """
    release = released_in(path)
    name = masked_column(release.schemes, column)
    counts = Counts(release.schemes[name])
    counts.counted = release[name]._sample.counted
    return counts


def masked_column(schemes: Mapping[str, Scheme], column: str | None) -> str:
    """The name of a masked column; None means the only one."""
    name: Any = next(iter(schemes)) if column is None and len(schemes) == 1 else column
    rule = f"column must be one of the masked columns {', '.join(map(repr, schemes))}"
    _checks.require(isinstance(name, str) and name in schemes, rule, name)
    return str(name)


def _masked(estimates: dict[int, Any]) -> Masked:
    """Columns of a release that were masked, by their places, as they are undone."""
    places = [*estimates]
    first = next(iter(estimates.values()))
    if first.scheme.reverse_mapping:
        pairs = combinations(estimates.items(), 2)
        products = {(i, j): one.covariance(other) for (i, one), (j, other) in pairs}
        files = [each._linear() for each in estimates.values()]
        undone = [(file.powers(file.middle)[1:] * file.unit**POWERS, file.cell) for file in files]
        return Masked(places, first._rows, 1.0, True, np.zeros((len(places), 5)), undone, products)
    noise = np.array([each._law.noise_moments(4, 1.0) for each in estimates.values()])
    return Masked(places, first._rows, first._law.p, first.scheme.shared_donors, noise)
