"""The values of a column in its own type, of which a release under reverse mapping takes each
once.

Float64 holds the order of nearly all columns, and not the values of all: decimals of 21 digits,
integers beyond 2^53, dates. Where it does not hold the order either, values have ranks. Means at
the ends of a column are the only values that are computed; they are rounded to the last digit of
the type.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

LARGEST_TOLD_APART = 2.0**51  # last digits up to which numbers of float64 are different
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # steps of a type in a second
DAY = 86_400


class StoredValues(Protocol):
    """The values of a column in its own type.

    Attributes
    ----------
    rank : ndarray of shape (n,), or None
        Ranks of the values by exact comparison; None where float64 tells all of them apart.
    step : Fraction or None
        The smallest difference of dates and times, in their units, days and seconds; None for
        other types.
    """

    @property
    def rank(self) -> np.ndarray | None: ...

    @property
    def step(self) -> Fraction | None: ...

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> Any:
        """Return a column of the same type in which each row has the value of its donor.

        Parameters
        ----------
        donors : ndarray of shape (n,)
            Numbers of rows.
        ends : sequence of ndarray
            Groups of rows that show the mean of their values.
        nulls : ndarray of bool, shape (n,), or None
            Rows without a value.
        """


def mean_of(counts: Mapping[int, int]) -> int:
    """Return the mean of whole numbers by how often each occurs, rounded to a whole number, ties
    to even."""
    total = sum(number * count for number, count in counts.items())
    return round(Fraction(total, sum(counts.values())))


def counts_of(numbers: np.ndarray) -> dict[int, int]:
    """Return how often each of some whole numbers occurs."""
    distinct, counts = np.unique(numbers, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def ranks_of(numbers: np.ndarray) -> np.ndarray | None:
    """Return the ranks of whole numbers; None where float64 tells them apart."""
    if not numbers.size:
        return None
    largest = max(int(numbers.max()), -int(numbers.min()))
    return np.unique(numbers, return_inverse=True)[1] if largest > LARGEST_TOLD_APART else None


class ArrayValues:
    """Integers, dates, times or durations in an array of NumPy."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def _whole(self) -> np.ndarray:
        whole = self.array if self.array.dtype.kind in "iu" else self.array.view(np.int64)
        return np.asarray(whole)

    @cached_property
    def rank(self) -> np.ndarray | None:
        """Ranks of the values; None where float64 tells all of them apart."""
        return ranks_of(self._whole)

    @property
    def step(self) -> Fraction | None:
        """The smallest difference of dates, times and durations."""
        if self.array.dtype.kind in "iu":
            return None
        return Fraction(1, per_unit(np.datetime_data(self.array.dtype)))

    def numbers(self) -> np.ndarray:
        """Return dates as days, times and durations as seconds, NaN where one is missing."""
        per = per_unit(np.datetime_data(self.array.dtype))
        return np.asarray(np.where(np.isnat(self.array), np.nan, self._whole / per))

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> np.ndarray:
        """Return the values of the donors; integers with nulls become float64."""
        released: np.ndarray = self.array[donors]
        for rows in ends:
            mean = mean_of(counts_of(self._whole[donors[rows]]))
            released[rows] = np.array([mean], self._whole.dtype).view(released.dtype)
        if nulls is None or not nulls.any():
            return released
        if released.dtype.kind in "iu":
            return np.where(nulls, np.nan, released)
        released[nulls] = np.array("NaT", released.dtype)
        return released


def per_unit(unit: tuple[str, int]) -> int:
    """Return how many steps of a date make a day, of a time a second; 0 for other units."""
    name, steps = unit
    return 0 if steps != 1 else 1 if name == "D" else SECONDS.get(name, 0)


class IntegerSeries:
    """Integers in a series.

    Parameters
    ----------
    series : narwhals Series
    native : series
        The same, as it was given.
    whole : ndarray of shape (n,)
        The values, any number where one is missing.
    """

    step: Fraction | None = None

    def __init__(self, series: Any, native: Any, whole: np.ndarray) -> None:
        self.series = series
        self.native = native
        self.whole = whole

    @cached_property
    def rank(self) -> np.ndarray | None:
        """Ranks of the values; None where float64 tells all of them apart."""
        return ranks_of(self.whole)

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> Any:
        """Return the values of the donors, in the container of the series."""
        import narwhals as nw

        means = [mean_of(counts_of(self.whole[donors[rows]])) for rows in ends]
        array = np.array(means, self.whole.dtype)
        backend = self.series.implementation
        computed = nw.new_series(self.series.name, array, backend=backend)
        return in_series(self.series, self.native, donors, ends, computed, nulls)


class ArrowValues:
    """Integers, decimals, dates, times or durations in an array of Arrow.

    Parameters
    ----------
    values : pyarrow Array
    rebuilt : callable (ChunkedArray) -> column
        Puts values into the container that they came in.
    """

    def __init__(self, values: Any, rebuilt: Callable[[Any], Any]) -> None:
        self.values = values
        self.rebuilt = rebuilt
        self.step: Fraction | None = smallest_step(values.type)

    @cached_property
    def rank(self) -> np.ndarray | None:
        """Ranks of the values; None where float64 tells all of them apart."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_decimal(self.values.type):
            return ranks_of(whole_numbers(self.values))
        values = sortable(self.values)
        ends = [end.as_py() for end in pc.min_max(values).values()]
        sizes = [abs(unscaled(end, values.type.scale)) for end in ends if end is not None]
        if max(sizes, default=0) <= LARGEST_TOLD_APART:
            return None
        order = pc.sort_indices(values)
        ordered = values.take(order)
        differs = pc.not_equal(ordered[1:], ordered[:-1]).fill_null(True)
        rank = np.empty(len(values), np.int64)
        rank[order.to_numpy()] = np.cumsum([False, *differs.to_numpy(zero_copy_only=False)])
        return rank

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> Any:
        """Return the values of the donors, in the container that they came in."""
        import pyarrow as pa

        place = donors.copy()
        for number, rows in enumerate(ends):
            place[rows] = len(self.values) + number
        both = pa.concat_arrays([self.values, self.means([donors[rows] for rows in ends])])
        return self.rebuilt(both.take(pa.array(place, mask=nulls)))

    def means(self, groups: Sequence[np.ndarray]) -> Any:
        """Return the means of the values in groups of rows, rounded to the type, as an array of
        it."""
        import pyarrow as pa

        empty = self.values.slice(0, 0)
        return pa.concat_arrays([empty, *(self._mean(rows) for rows in groups)])

    def _mean(self, rows: np.ndarray) -> Any:
        import pyarrow as pa

        kind = self.values.type
        some = self.values.take(pa.array(rows))
        if is_date(kind):  # whole days, also where milliseconds are stored
            days = mean_of(counts_of(whole_numbers(some.cast(pa.date32()))))
            return as_type([days], pa.date32()).cast(kind)
        if not pa.types.is_decimal(kind):
            return as_type([mean_of(counts_of(whole_numbers(some)))], kind)
        counts = sortable(some).value_counts().to_pylist()
        whole = {unscaled(one["values"], kind.scale): one["counts"] for one in counts}
        mean = mean_of(whole)
        digits = tuple(map(int, str(abs(mean))))
        return pa.array([Decimal((int(mean < 0), digits, -kind.scale))], kind)


class ObjectSeries(ArrowValues):
    """Decimals, dates, times or integers as objects in a series, or times as NumPy has them.

    Parameters
    ----------
    series : narwhals Series
    native : series
        The same, as it was given.
    values : pyarrow Array
        The same values.
    """

    def __init__(self, series: Any, native: Any, values: Any) -> None:
        super().__init__(values, lambda released: released)
        self.series = series
        self.native = native

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> Any:
        """Return the values of the donors, in the container of the series."""
        import narwhals as nw
        import pyarrow as pa

        table = pa.table({"means": self.means([donors[rows] for rows in ends])})
        computed = nw.from_arrow(table, backend=self.series.implementation)["means"]
        return in_series(self.series, self.native, donors, ends, computed, nulls)


def in_series(
    series: Any,
    native: Any,
    donors: np.ndarray,
    ends: Sequence[np.ndarray],
    means: Any,
    nulls: np.ndarray | None,
) -> Any:
    """Return a series in which each row has the value of its donor, and each group of rows at the
    ends its mean."""
    released = series[donors]
    if ends:
        group = np.repeat(np.arange(len(ends)), [rows.size for rows in ends])
        rows = np.concatenate(list(ends))
        released = released.scatter(rows.tolist(), means[group])
    return placed(with_nulls(released, nulls).to_native(), native)


def placed(result: Any, values: Any) -> Any:
    """Return a new series with the index of an old one, if any, and in one chunk if that was."""
    if hasattr(result, "combine_chunks") and not hasattr(values, "chunks"):
        return result.combine_chunks()
    if hasattr(values, "index") and not callable(values.index):  # pandas and its like
        result.index = values.index
    return result


def unscaled(value: Decimal, scale: int) -> int:
    """Return a decimal of this scale as the whole number of its last places, without the rounding
    of Python's context."""
    sign, digits, exponent = value.as_tuple()
    whole: int = int("".join(map(str, digits))) * 10 ** (int(exponent) + scale)
    return -whole if sign else whole


def sortable(values: Any) -> Any:
    """Return decimals as a type that Arrow compares: it has no order for those of 32 and 64
    bits."""
    import pyarrow as pa

    kind = values.type
    short = kind.bit_width < 128
    return values.cast(pa.decimal128(kind.precision, kind.scale)) if short else values


def smallest_step(kind: Any) -> Fraction | None:
    """Return the smallest difference of dates in days, of times in seconds; None for numbers."""
    import pyarrow as pa

    if pa.types.is_time(kind):
        return Fraction(DAY)  # any other noise would leave the day
    per = steps_of(kind)
    return None if per is None else Fraction(1, 1 if is_date(kind) else per)


def is_date(kind: Any) -> bool:
    """Return whether a type of Arrow is one of dates."""
    import pyarrow as pa

    return bool(pa.types.is_date(kind))


def steps_of(kind: Any) -> int | None:
    """Return how many steps of a type of Arrow make a day, of dates, or a second, of times; None
    for other types."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return 1
    if pa.types.is_date64(kind):
        return DAY * SECONDS["ms"]
    timed = (pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time)
    return SECONDS[kind.unit] if any(is_kind(kind) for is_kind in timed) else None


def whole_numbers(values: Any) -> np.ndarray:
    """Return the whole numbers by which Arrow stores integers, dates and times; 0 for nulls."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_integer(kind):
        return np.asarray(values.fill_null(0))
    if kind.bit_width == 32:
        values = values.cast(pa.int32())
    return np.asarray(values.cast(pa.int64()).fill_null(0))


def as_type(numbers: Sequence[int] | np.ndarray, kind: Any, mask: Any = None) -> Any:
    """Return an array of Arrow of a type that stores these whole numbers."""
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return pa.array(numbers, kind, mask=mask)
    if kind.bit_width == 32:
        return pa.array(numbers, pa.int32(), mask=mask).cast(kind)
    return pa.array(numbers, pa.int64(), mask=mask).cast(kind)


def with_nulls(series: Any, nulls: np.ndarray | None) -> Any:
    """Return a series with nulls in some rows."""
    import narwhals as nw

    if nulls is None or not nulls.any():
        return series
    present = nw.new_series(series.name, ~nulls, backend=series.implementation)
    return series.zip_with(present, series.shift(len(series)))
