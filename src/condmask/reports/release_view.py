"""What a release tells by itself; nothing here is given the original. A public report is made of this."""

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import Workers
from condmask._digits import number
from condmask.clear_columns import Clear, columns_in_clear
from condmask.errors import ArgumentTypeError
from condmask.files.formats import Table, reading
from condmask.files.metadata import digest_of
from condmask.files.note import sentence
from condmask.files.read import open_table
from condmask.files.sampling import clear_of_table
from condmask.files.streams import OPENED
from condmask.inference.intervals import Interval
from condmask.missing_codes import released_codes, without_codes
from condmask.releases.file_columns import FileColumns
from condmask.releases.read import published_with
from condmask.releases.release import Release
from condmask.schemes.conditional import ConditionalMasking
from condmask.strata import names_of

MOST_OTHERS = 8  # columns in clear whose correlations are told, and that an attacker is taken to know


class ReleaseView:
    """A release, read.

    Parameters
    ----------
    path : path
        Of its data.
    workers : int or map-like callable
        Results do not depend on it.
    """

    def __init__(self, path: Path, workers: Workers) -> None:
        self.path = path
        published = published_with(path)
        self.rows, self.schemes = published.records, published.schemes
        with reading(path):
            self.names = list(open_table(path).names)
        for name, scheme in self.schemes.items():
            if not isinstance(scheme, ConditionalMasking):
                raise ArgumentTypeError(
                    f"release must be masked by ConditionalMasking, got {scheme!r} for {name!r}"
                )
        first = next(iter(self.schemes.values()))
        self.reverse_mapping: bool = first.reverse_mapping  # all columns, or none
        self.strata = names_of(first.strata)
        self.sha256 = digest(path)
        self.columns = FileColumns(path, published.records)
        self.release = Release(published, path=path, columns=self.columns, workers=workers)
        self._numbers: dict[str, np.ndarray | None] = {}
        self.warnings: list[str] = []  # of estimates

    @property
    def file(self) -> str:
        """The name by which somebody reads the release; a stream has none, and gets one."""
        return "masked.csv" if self.path in OPENED else self.path.name

    @cached_property
    def _clear(self) -> list[str]:
        """The columns that are neither masked nor tell donor pools."""
        return columns_in_clear(self.names, [*self.schemes, *self.strata])

    def clear_beside(self, originals: list[np.ndarray]) -> Clear:
        """The columns in clear beside the originals of masked ones, as an audit looks at them."""
        with reading(self.path):
            table = open_table(self.path)
            for _ in table.parts([]):
                pass  # text is sampled where it was read
            return clear_of_table(table, self._clear, originals)

    @cached_property
    def others(self) -> dict[str, np.ndarray]:
        """The first columns in clear that are complete and no constants: an attacker knows them."""
        others: dict[str, np.ndarray] = {}
        for name in self._clear:
            values = self._clear_numbers(name) if len(others) < MOST_OTHERS else None
            if values is not None and np.isfinite(values).all() and values.min() < values.max():
                others[name] = values
        return others

    def _clear_numbers(self, name: str) -> np.ndarray | None:
        if name not in self._numbers:
            with reading(self.path):
                self._numbers[name] = numeric(open_table(self.path), name)
        return self._numbers[name]

    def masked(self, name: str) -> np.ndarray:
        """The masked values of a column, in single precision where they were; NaN where one is missing."""
        column = frames.column(self.columns.numbers(name), name)
        values = without_codes(column.array, released_codes(self.schemes[name]), column.kind)
        return values.astype(np.float32) if column.kind == "float32" else values

    def sentence(self, name: str) -> str:
        """How a column was masked."""
        return sentence(self.schemes[name], self.release.origins[name])

    def estimates(self, name: str, target: str, *, correlations: bool = True) -> dict[str, Interval]:
        """Estimates of the original with their intervals; none where there are too few records.

        `correlations` is whether those with other columns are among them.
        """
        estimate = self.release[name]
        estimates = dict(self._noted(name, estimate.summary, target=target) or {})
        for other, values in self._partners(name) if correlations else ():
            interval = self._noted(name, estimate.correlation_interval, values, target=target)
            if interval is not None:
                estimates[f"correlation with {other}"] = interval
        return estimates

    def picture(self, name: str, draw: Callable[[Any], Any]) -> Any:
        """What `draw` makes of the estimate; None where it cannot be had."""
        return self._noted(name, draw, self.release[name])

    def _partners(self, name: str) -> Iterator[tuple[str, Any]]:
        """Columns whose correlation with a masked one can be had."""
        yield from self.others.items()
        group = self.release.group
        for other in self.schemes:
            if other != name and group[name] is not None and group[name] == group[other]:
                yield other, self.release[other]

    def _noted(self, name: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a call gives, None where that does not exist; its warnings, or its refusal, are noted."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = call(*arguments, **options)
            except ValueError as error:  # what does not exist, or not for so few records
                result = None
                self._note(f"{name}: {error}")
        for warning in caught:
            if issubclass(warning.category, UserWarning):
                self._note(f"{name}: {warning.message}")
        return result

    def _note(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def numeric(table: Table, name: str) -> np.ndarray | None:
    """A column of numbers as float64; None where it holds something else."""
    try:
        parts = [part.numbers[name][0].astype(np.float64) for part in table.parts([name])]
    except (TypeError, ValueError):
        return None
    return np.concatenate(parts) if parts else np.empty(0)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with reading(path):
        return digest_of(path)


def number_text(value: float, error: float | None = None) -> str:
    """A number for readers, with a true minus."""
    return number(value, error).replace("-", "\u2212")
