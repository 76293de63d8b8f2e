"""Defines intervals, and computes them from standard errors.

See docs/guide_analyst.rst, "Which interval answers which question".
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np

from condmask import _checks, frames
from condmask._digits import number, preformatted
from condmask.errors import CondmaskError

MAX_PRINTED = 20  # intervals in a table
UNBOUNDED = "too few records to bound it"
BEYOND_FLOATS = "too large for a floating-point number"
Target = Literal["population", "file"]
TARGETS: dict[Target, str] = {"population": "in the population", "file": "in the original file"}


class EstimateWarning(UserWarning):
    """Warns of an estimate that carries little information, or that no original could have."""


class UndefinedError(CondmaskError, ValueError):
    """Raised if the statistic does not exist for these records under this scheme."""


class IntervalFields(NamedTuple):
    """The fields of an `Interval`."""

    low: float | np.ndarray
    high: float | np.ndarray
    standard_error: float | np.ndarray
    estimate: float | np.ndarray
    confidence_level: float
    target: Target
    about: str | np.ndarray
    note: str | np.ndarray = ""


class Interval(IntervalFields):
    """A confidence interval with its estimate and its target: ``low, high = interval``.

    Attributes
    ----------
    low, high : float or ndarray
        Its ends, in the shape of the method's argument; infinite where the data give no bound.
    standard_error : float or ndarray
        The standard error of the estimate, in its units.
    estimate : float or ndarray
        The estimate itself.
    confidence_level : float
        The share of such intervals that cover their target.
    target : {"population", "file"}
        The value that the interval should cover: that in the population from which the file is a
        sample, or that in the original file, where only the masking is random.
    about : str
        The target in words; an array of texts if they differ between replicates.
    note : str or ndarray of str
        Why an end, the standard error or the estimate is infinite or NaN, in the shape of the
        estimate; empty where all are numbers.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        """Yield both ends, so that an interval can be unpacked into them."""
        yield self.low
        yield self.high

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return all fields, for copies and pickles."""
        return self[:]

    def _asdict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return dict(zip(self._fields, self[:], strict=True))

    def _replace(self, **fields: Any) -> Self:
        """Return the interval with other values of some fields."""
        return type(self)(**(self._asdict() | fields))

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each estimate.

        Examples
        --------
        >>> import condmask as cm
        >>> masked = [310.0, 421.0, 385.0, 290.0, 330.0]
        >>> found = cm.ConditionalMasking(0.5, 10.0, decimals=0).estimate(masked).mean_interval()
        >>> found.to_frame()[["about", "estimate"]]
                                about  estimate
        0  the mean in the population     347.2
        """
        columns = {
            name: np.ravel(getattr(self, name)).tolist()
            for name in ("estimate", "standard_error", "low", "high")
        }
        rows = len(columns["low"])
        about = np.broadcast_to(np.ravel(self.about), rows).tolist()
        notes = {"note": np.ravel(self.note).tolist()} if np.any(np.asarray(self.note)) else {}
        return frames.data_frame({"about": about} | columns | notes)

    def _repr_html_(self) -> str:
        """Return the text for notebooks."""
        return preformatted(str(self))

    def __str__(self) -> str:
        """Format the estimate, its standard error, the interval and the note in one line.

        Several are a table, of the first ones only.
        """
        level = f"{100.0 * self.confidence_level:g}%"
        columns = [
            np.ravel(part).tolist() for part in (self.estimate, self.standard_error, *self[:2])
        ]
        rows = [
            [number(value, row[1]) for value in row]
            for row in islice(zip(*columns, strict=True), MAX_PRINTED)
        ]
        if np.ndim(self.estimate) == 0:
            ((estimate, error, low, high),) = rows
            line = f"{self.about}: {estimate}, s.e. {error}, {level} interval {low} to {high}"
            return f"{line} ({self.note})" if self.note else line
        table = with_notes(
            [["estimate", "s.e.", f"{level} from", "to"], *rows], np.ravel(self.note).tolist()
        )
        about = self.about if isinstance(self.about, str) else str(self.about[0])
        more = len(columns[0]) - len(rows)
        return "\n".join([about, *aligned(table), *([f"and {more} more"] if more else [])])


def with_notes(table: list[list[str]], notes: list[str]) -> list[list[str]]:
    """Return a table with notes on its rows as a last column, if any is not empty; titles come
    first."""
    of_rows = notes[: len(table) - 1]
    if not any(of_rows):
        return table
    width = max(map(len, of_rows))
    column = [note.ljust(width) for note in ("note", *of_rows)]
    return [[*row, note] for row, note in zip(table, column, strict=True)]


def aligned(table: list[list[str]]) -> list[str]:
    """Return the lines of a table with right-aligned columns and without trailing blanks."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.rjust, row, widths)).rstrip() for row in table]


def multiplier(confidence_level: float | np.ndarray, degrees: float | np.ndarray = np.inf) -> Any:
    """Return the quantile of Student's t by which standard errors are multiplied.

    By default degrees of freedom are infinite: the quantile is that of the normal law.
    """
    from scipy.special import stdtrit  # takes .1 s to import

    return stdtrit(degrees, 0.5 + 0.5 * confidence_level)


def plain(value: float | np.ndarray) -> float | np.ndarray:
    """Return a single number as a float; arrays as they are."""
    return value if isinstance(value, np.ndarray) and value.ndim else float(value)


def check_interval_options(confidence_level: float, target: str) -> tuple[float, Target]:
    """Return the level and the target of an interval; refuse others than are allowed."""
    level = _checks.probability(confidence_level, "confidence_level")
    return level, cast("Target", _checks.choice(target, "target", tuple(TARGETS)))


def interval(
    estimate: float | np.ndarray,
    standard_error: float | np.ndarray,
    confidence_level: float | np.ndarray,
    target: Target,
    quantity: str,
    *,
    degrees: float | np.ndarray = np.inf,
    ends: tuple[float | np.ndarray, float | np.ndarray] | None = None,
    reason: str | np.ndarray = BEYOND_FLOATS,
) -> Interval:
    """Return the confidence interval of a quantity from its estimate and standard error.

    Parameters
    ----------
    estimate, standard_error : float or ndarray
    confidence_level, target
        Checked, as of an `Interval`.
    quantity : str
        The estimated quantity in words; `about` adds the target.
    degrees : float or ndarray
        Degrees of freedom of Student's t; by default the interval is normal.
    ends : (float or ndarray, float or ndarray), optional
        The ends of an interval that is not symmetric.
    reason : str or ndarray of str
        The note where an end, the error or the estimate is infinite or NaN.
    """
    if ends is None:
        reach = multiplier(confidence_level, degrees) * standard_error
        with np.errstate(invalid="ignore"):  # an infinite estimate has no ends
            ends = estimate - reach, estimate + reach
    about = f"{quantity} {TARGETS[target]}"
    figures = (*ends, standard_error, estimate)
    note = _note(figures, reason)
    low, high, error, value = map(plain, figures)
    level = cast("float", confidence_level)  # studies pass several levels at once
    return Interval(low, high, error, value, level, target, about, note)


def _note(figures: tuple[float | np.ndarray, ...], reason: str | np.ndarray) -> str | np.ndarray:
    """Return the reason where a figure is infinite or NaN, elsewhere an empty text."""
    finite = np.logical_and.reduce([np.isfinite(each) for each in np.broadcast_arrays(*figures)])
    note = np.where(finite, "", reason)
    return note if note.ndim else str(note)
