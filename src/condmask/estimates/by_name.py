"""Other columns of a release, by the names they have in its file."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from condmask import frames
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.batch import by_replicate
from condmask.estimates.origin import Origin
from condmask.indicators import yes_no


class ByName:
    """An estimate that may know its release."""

    origin: Origin
    _name: str
    _read_column: Callable[[str, bool], Any] | None = None
    _named_alone = False  # whether its records lie where no other columns can be brought

    @by_replicate()
    def of_release(self, origin: Origin, read: Callable[[str, bool], Any], name: str = "") -> Self:
        """This estimate as a column of a release, so that other columns can be given by name.

        Parameters
        ----------
        origin : Origin
            What the release says about the column besides its scheme.
        read : callable (name, as_labels)
            Returns the column with a name, or the estimate if that column is masked.
        name : str
            The name of the column itself.

        Returns
        -------
        Estimate
        """
        released = copy(self)
        released.origin, released._read_column, released._name = origin, read, name
        return released

    def _by_name(self, given: Any, argument: str, *, labels: bool = False, masked: bool = False) -> Any:
        """The column given directly or by name; a masked column, if allowed, as its estimate."""
        if not isinstance(given, str):
            if self._named_alone and given is not None and not isinstance(given, ByName):
                raise ArgumentTypeError(
                    f"{argument} must be the name of a column that the frame has, got "
                    f"{type(given).__name__}; add the column to the frame"
                )
            return given
        if self._read_column is None:
            raise ArgumentError(
                f"{argument} must be a column, got {given!r}: only the estimates of a Release know "
                "columns by name"
            )
        column = self._read_column(given, labels)
        if isinstance(column, ByName) and not masked:
            raise ArgumentError(f"{argument} must be a column that was not masked, got {given!r}")
        return column if labels or isinstance(column, ByName) else yes_no(column)


def columns_of(values: Any) -> dict[str, Any]:
    """The columns of a data frame or of a dict of columns; none where it is neither."""
    if isinstance(values, dict):
        return {str(name): column for name, column in values.items()}
    home = type(values).__module__.split(".")[0]
    if home in ("numpy", "builtins", "condmask") or not frames.is_frame(values):
        return {}
    return {name: frames.table_column(values, name) for name in frames.column_names(values)}
