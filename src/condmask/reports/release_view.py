"""What a release says by itself; nothing here is given the original. A public report is made of this."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import Workers
from condmask._digits import number
from condmask.clear_columns import Clear, clear_columns, clear_of_frame, columns_in_clear, some_rows
from condmask.errors import ArgumentTypeError, heard
from condmask.files.about import digest_of
from condmask.files.parts import FILENAME, Source
from condmask.files.tables import reading
from condmask.missing_codes import released_codes, without_codes
from condmask.releases.columns import Columns
from condmask.releases.release import Release, published_with
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.description import with_rounding
from condmask.strata import names_of
from condmask.variance.interval import Interval

MOST_OTHERS = 8  # columns in clear whose correlations are told
CORRELATION = "correlation with "


class ReleaseView:
    """A release, read.

    Parameters
    ----------
    path : path
        Of its data.
    workers : int or map-like callable
        Results do not depend on it.
    units : dict of str to str
        What the values of columns are counted in.
    """

    def __init__(self, path: Path, workers: Workers, units: Mapping[str, str] | None = None) -> None:
        self.path, self._units = path, dict(units or {})
        published = published_with(path)
        self.rows, self.schemes = published.records, published.schemes
        for name, scheme in self.schemes.items():
            if not isinstance(scheme, ConditionalMasking):
                raise ArgumentTypeError(
                    f"release must be masked by ConditionalMasking, got {scheme!r} for {name!r}"
                )
        first = next(iter(self.schemes.values()))
        self.reverse_mapping: bool = first.reverse_mapping  # all columns, or none
        self.strata = names_of(first.strata)
        self.sha256 = digest(path)
        self.release = Release(published, path=path, workers=workers)
        self.source = Source(path, published.form)
        self.columns = Columns(self.source, published, workers)
        self.names = [name for name in self.source.names if name != FILENAME]
        self._numbers: dict[str, np.ndarray | None] = {}
        self._texts: set[str] = set()
        self.warnings: list[str] = []  # of estimates

    @property
    def file(self) -> str:
        """The name by which somebody reads the release."""
        return self.path.name

    @cached_property
    def _clear(self) -> list[str]:
        """The columns that are neither masked nor tell donor pools."""
        return columns_in_clear(self.names, [*self.schemes, *self.strata])

    def clear_beside(self, originals: list[np.ndarray]) -> Clear:
        """The columns in clear beside the originals of masked ones, as an audit looks at them."""
        if len(self.release.parts) == 1:
            names = self._clear or list(self.schemes)[:1]  # a table of no columns has no rows
            (part,) = self.source.parts(names, self.release.parts)
            clear = clear_of_frame(part, self._clear, originals)
        else:
            clear = self._sampled(originals)
        self._texts = set(clear.labels) - set(clear.clear)
        return clear

    def _sampled(self, originals: list[np.ndarray]) -> Clear:
        """The columns in clear of a long release, in rows from all over it."""
        for _ in self.source.parts([]):  # counts the rows of all files
            pass
        table, rows = self.source.sample()
        some = some_rows(table, self._clear, np.arange(rows.size))
        return clear_columns(self.rows, originals, rows, some, self.columns.labels)

    @cached_property
    def known(self) -> dict[str, np.ndarray]:
        """All columns in clear as an attacker knows them: numbers, or labels by number; NaN where missing."""
        known: dict[str, np.ndarray] = {}
        for name in self._clear:
            values = self._clear_numbers(name)
            if values is None:
                try:
                    code = self.columns.labels(name).code.astype(np.float64)
                except (TypeError, ValueError):  # lists, and what else is no label
                    continue
                known[name] = np.where(code < 0.0, np.nan, code)
            else:
                finite = np.isfinite(values)
                known[name] = values if finite.all() else np.where(finite, values, np.nan)
        return known

    @cached_property
    def others(self) -> dict[str, np.ndarray]:
        """The first columns in clear that are complete and vary: correlations with them are reported."""
        others: dict[str, np.ndarray] = {}
        for name in self._clear:
            values = self._clear_numbers(name) if len(others) < MOST_OTHERS else None
            if values is not None and np.isfinite(values).all() and values.min() < values.max():
                others[name] = values
        return others

    def _clear_numbers(self, name: str) -> np.ndarray | None:
        if name in self._texts:  # it was seen to be
            return None
        if name not in self._numbers:
            self._numbers[name] = numeric(self.source, name)
        return self._numbers[name]

    def unit(self, name: str) -> str:
        """What a column is counted in; nothing where nobody said."""
        return self._units.get(name, "")

    def axis(self, name: str) -> str:
        """A column and its unit, as an axis names them."""
        return f"{name} ({self.unit(name)})" if self.unit(name) else name

    def with_unit(self, name: str, figure: str) -> str:
        """A figure of a column with its unit."""
        return f"{figure}\u00a0{self.unit(name)}" if self.unit(name) else figure

    def masked(self, name: str) -> np.ndarray:
        """The masked values of a column, in single precision where they were; NaN where one is missing."""
        column = frames.column(self.columns.numbers(name), name)
        values = without_codes(column.array, released_codes(self.schemes[name]), column.kind)
        return values.astype(np.float32) if column.kind == "float32" else values

    def sentence(self, name: str) -> str:
        """How a column was masked."""
        return with_rounding(self.schemes[name], self.release.origins[name].shift)

    def estimates(self, name: str, target: str, *, correlations: bool = True) -> dict[str, Interval]:
        """Estimates of the original with their intervals; none where there are too few records.

        `correlations` is whether those with other columns are among them.
        """
        estimate = self.release[name]
        estimates = dict(self._noted(name, estimate.summary, target=target) or {})
        for other, values in self._partners(name) if correlations else ():
            if other in self.schemes and self.schemes[other].reverse_mapping:
                pair = " and ".join(sorted((name, other)))
                self._note(
                    f"The correlation of {pair} can be estimated, but has no interval: none is known for two "
                    "columns that were masked together by reverse mapping."
                )
                continue
            interval = self._noted(name, estimate.correlation_interval, values, target=target)
            if interval is not None:
                estimates[f"{CORRELATION}{other}"] = interval
        return estimates

    def picture(self, name: str, draw: Callable[[Any], Any]) -> Any:
        """What `draw` makes of the estimate; None where that is not available."""
        return self._noted(name, draw, self.release[name])

    def _partners(self, name: str) -> Iterator[tuple[str, Any]]:
        """Columns whose correlation with a masked one is available."""
        yield from self.others.items()
        group = self.release.group
        for other in self.schemes:
            if other != name and group[name] is not None and group[name] == group[other]:
                yield other, self.release[other]

    def _noted(self, name: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a call gives, None where that does not exist; its warnings, or its refusal, are noted."""
        with heard(UserWarning) as texts:
            try:
                result = call(*arguments, **options)
            except ValueError as error:  # what does not exist, or not for so few records
                result = None
                self._note(f"{name}: {error}")
        for text in texts:
            self._note(f"{name}: {text}")
        return result

    def _note(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def numeric(source: Source, name: str) -> np.ndarray | None:
    """A column of numbers as float64; None where it holds something else."""
    try:
        return source.column(name).astype(np.float64)
    except (TypeError, ValueError):
        return None


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with reading(path):
        return digest_of(path)


def number_text(value: float, error: float | None = None) -> str:
    """A number for readers, with a true minus."""
    return number(value, error).replace("-", "\u2212")
