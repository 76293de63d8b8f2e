"""Define `Release`: masked columns, their schemes, and the estimates of their originals."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from condmask import _checks, frame_rows, frames
from condmask._digits import preformatted
from condmask.disclosure.audit import refuse_too_few_records
from condmask.disclosure.choose import Choice
from condmask.errors import ArgumentError, Refusals
from condmask.estimates.estimate import Estimate
from condmask.estimates.origin import Origin
from condmask.estimates.results import Intervals
from condmask.files.about import Published
from condmask.files.parts import Source
from condmask.files.publish import refuse_target
from condmask.frames import DataFrame
from condmask.inference.interval import Target, check_interval_options
from condmask.publish import regression
from condmask.publish.columns import ColumnSource, Frame, MaskedColumn
from condmask.publish.formula import regress_by_formula
from condmask.publish.joint_columns import JointColumns
from condmask.publish.log import Log, Where
from condmask.publish.overview import Overview
from condmask.publish.schemes import OWN_SCHEMES as OWN_SCHEMES
from condmask.publish.write import write_table
from condmask.row_labels import refuse_other_order


class Release(Overview, JointColumns):
    """Maps masked columns to the estimates of their originals.

    Made by `mask_table`, `mask_file` and `read_release`.

    Parameters
    ----------
    published : Published
        The metadata published with the data.
    source : Source, Frame or None
        The masked files, or the table; None if nothing was written.
    workers : int
        For estimates; results do not depend on it.
    chosen : dict of str to Choice, optional
        The choices for columns of which only the names were given.
    notes : sequence of str
        What to say of the source and the target.

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
        ``why``. As a text it is one line with the scheme to name in another call.
    notes : tuple of str
        After `mask_file` of a file of SPSS or Stata: codes that it declares, and what is not
        written back.
    records : int
        Number of records.
    parts : tuple of int
        The records of each part of a long file, within which donors were drawn.
    shuffled : bool
        Whether the rows are in another order than those of the original.
    accepted : tuple of str
        The codes of findings that the publisher accepted.
    steps : tuple of str
        The changes that ``fix=True`` made so that the release passes, with their cost.
    origins : dict of str to Origin
        What else estimates need about each column: its ``group``, a name that columns
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
        source: ColumnSource | None,
        *,
        workers: int = 1,
        chosen: Mapping[str, Choice] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._published = published
        self._source = source
        self.chosen: dict[str, Choice] = dict(chosen or {})
        self.path: Path | None = None if source is None else source.path
        self.schemes: dict[str, Any] = published.schemes
        self.origins: dict[str, Origin] = published.origins
        self.records: int = published.records
        self.parts: tuple[int, ...] = published.parts
        self.shuffled: bool = published.shuffled
        self.accepted: tuple[str, ...] = published.accepted
        self.steps: tuple[str, ...] = published.steps
        self.notes: tuple[str, ...] = tuple(notes)
        self._workers = workers
        self._estimates = dict[str, Estimate]()

    @property
    def data(self) -> DataFrame:
        """A copy of the masked table; None for a file."""
        return frame_rows.copied(self._source.table) if isinstance(self._source, Frame) else None

    @property
    def has_columns(self) -> bool:
        """Whether masked columns were written; not so after a dry run."""
        return self._source is not None

    @property
    def source(self) -> ColumnSource:
        """The columns of the masked files, or of the masked table; refused after a dry run."""
        if self._source is None:
            names = _checks.listed([*self.schemes])
            raise ArgumentError(f"{names} have no values: nothing was written (dry_run=True)")
        return self._source

    @property
    def files(self) -> Source:
        """The masked files; refused for a table in memory."""
        if not isinstance(self._source, Source):
            raise ArgumentError("a release in memory has no files: write it first")
        return self._source

    def __getitem__(self, column: str) -> Estimate:
        if not isinstance(column, str) or column not in self.schemes:
            masked_names = _checks.listed([*self.schemes])
            given = _checks.in_message(column)
            raise KeyError(f"{given} is not one of the masked columns {masked_names}")
        if column not in self._estimates:
            if not self.has_columns:
                raise ArgumentError(
                    f"{column!r} has no estimate: nothing was written (dry_run=True)"
                )
            masked = MaskedColumn(self.source, column, self._published)
            self._estimates[column] = masked.estimate(self._workers, self._column)
        return self._estimates[column]

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook offers within ``release[...]``."""
        return list(self.schemes)

    @property
    def columns(self) -> list[str]:
        """The names of all columns, masked or in clear; of the masked ones after a dry run."""
        return list(self.schemes if self._source is None else self._source.names)

    def __contains__(self, column: object) -> bool:
        return column in self.schemes  # without an estimate

    def __iter__(self) -> Iterator[str]:
        return iter(self.schemes)

    def __len__(self) -> int:
        return len(self.schemes)

    def _repr_html_(self) -> str:
        """Return the text for notebooks."""
        return preformatted(repr(self))

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
        """Write the release of a table: the masked data, and how they were masked.

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
            records with noise: too few to say what they reveal.

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
        source = self._source
        if not isinstance(source, Frame):
            raise ArgumentError(
                "write must be called on the release of a table; a file is written already"
            )
        target = _checks.path(path, "path")
        used_log = Log(log)
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
            used_log.refuse_unwritable()
            entry = used_log.refuse(source.marks, None, again=again, keeps=not refusals.errors)
        refusals.raise_all()
        write_table(source.table, target, self._published)
        used_log.enter(target, entry, self._published.accepted)
        if entry:  # written once more, it is the same release
            source.marks = {}

    def regress(
        self,
        outcome: str,
        on: str | Sequence[str] = (),
        *,
        data: DataFrame = None,
        weights: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Regress the original of a column on those of others, any of which may be masked.

        Parameters
        ----------
        outcome : str
            The column to be explained; or a formula, ``"income ~ age + C(region) * sex"``, which
            formulaic reads and `on` is left out (``pip install 'condmask[formula]'``).
        on : str or sequence of str
            The columns that explain it: numbers, or yes and no; for text with 2 to 50 labels,
            indicators of each label but the first in the sorted order. Records that miss a value
            are left out.
        data : data frame or dict of columns, optional
            For a formula, columns in clear that the release does not hold, a row for each record.
        weights, clusters : array_like of shape (n,) or str, optional
            For a formula with a masked outcome alone: as of `Design`, or clusters as of
            `Estimate.regress`.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            The intervals cover the coefficients in the population that the file is a sample
            of, or those in the original file.

        Returns
        -------
        Intervals
            By name of the column, or as formulaic names it, "intercept" first. Ends are infinite
            where the records do not bound a coefficient, and NaN where several columns were masked
            together by reverse mapping.

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

        In a formula a masked column is a term by itself, or after reverse mapping a function of
        it, as ``log(income)``; columns in clear may be in any terms. Functions such as ``scale``
        see the records that have all values.

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
        level = check_interval_options(confidence_level, target)[0]
        if isinstance(outcome, str) and "~" in outcome and len(on) == 0:
            read = self._column if data is None else partial(self._of_table, data)
            return regress_by_formula(
                self,
                outcome,
                read,
                weights=weights,
                clusters=clusters,
                level=level,
                target=target,
            )
        for name, value in (("data", data), ("weights", weights), ("clusters", clusters)):
            _checks.require(value is None, f"{name} must be left out without a formula", value)
        names = list(_checks.names([on] if isinstance(on, str) else on, "on"))
        return regression.regress_release(
            self, _checks.text(outcome, "outcome"), names, level, target
        )

    def _of_table(self, data: DataFrame, name: str, as_labels: bool) -> Any:
        """Return a column of a table of the same records; or of the release, if it is not
        there."""
        refuse_other_order({"data": data}, self.source.row_labels)
        names = [*frames.column_names(data), *frames.level_names(data)]
        if name in self.schemes or name not in names:
            return self._column(name, as_labels)
        return frames.table_column(data, name, levels=True)

    def _column(self, name: str, as_labels: bool) -> Any:
        """Return another column, or the estimate of a masked one."""
        if name in self.schemes:
            return self[name]
        return self.source.labels(name) if as_labels else self.source.column(name)
