"""Other columns of a release, by the names they have in its file."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self


class ByName:
    """An estimate that may know the file it was read from."""

    _read_column: Callable[[str, bool], Any] | None = None

    def with_columns(self, read: Callable[[str, bool], Any]) -> Self:
        """These estimates, to which other columns of the release may be named.

        Parameters
        ----------
        read : callable (name, as_labels)
            Gives the column of a name, or the estimate of a masked one.

        Returns
        -------
        Estimate
        """
        estimate = copy(self)
        estimate._read_column = read
        return estimate

    def _by_name(self, given: Any, argument: str, *, labels: bool = False, masked: bool = False) -> Any:
        """The column that was given, or named; a masked one where an estimate may stand for it."""
        if not isinstance(given, str):
            return given
        if self._read_column is None:
            raise ValueError(
                f"{argument} must be a column, got {given!r}: names are known to what read_release has read"
            )
        column = self._read_column(given, labels)
        if isinstance(column, ByName) and not masked:
            raise ValueError(f"{argument} must be a column that was not masked, got {given!r}")
        return column
