"""A masked column in one pass and with little memory: counts by grid point or value, which can be merged."""

from bisect import bisect_left
from threading import Lock
from typing import Any, Self

import numpy as np

from condmask import _checks, _state, frames
from condmask.engines.counting import EMPTY, ValueCounts, by_value, coarser, in_cells, merged
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.origin import NOWHERE, Origin
from condmask.grid import Grid, default_step
from condmask.law import Law
from condmask.missing_codes import released_codes, without_codes
from condmask.samples.columns import counted_column
from condmask.scheme import Scheme
from condmask.strata import named_strata

MOST_POINTS = 1 << 20  # of 16 bytes
ADDING = Lock()  # threads may add to the same counts
BY_VALUE, WIDEST = -1074, 1023  # levels: all numbers are multiples of 2^-1074, and below 2^1024


class Counts:
    """Counts of masked values by grid point; estimates need them, not the records.

    Parameters
    ----------
    scheme : ConditionalMasking
        What was published with the data. It must have a grid (a `step` above 0) or use reverse mapping, where
        the values themselves are counted.
    most_points : int
        At least 2. If the data occupy more points (16 bytes each), neighbouring points are merged in pairs,
        as often as needed. `cdf_bounds` and `quantile_bounds` then bound the loss.

    origin : Origin, optional
        What a release says about the column; `read_counts` passes it.

    Raises
    ------
    ValueError
        If the scheme has neither a grid nor reverse mapping.

    Notes
    -----
    Lossless below the cap: estimates equal those from the records bit by bit, however the records are split
    into parts (covariances within 1e-12). How far points are merged depends only on the occupied points, not
    on the order of updates.

    Beyond the cap a value counts as the middle of its cell, of width `resolution`. After reverse mapping that
    moves a mean or a quantile by half of it at most, and an s.d. by that times sqrt(n / (n-1)); under noise
    estimates are those of a release on so wide a grid.

    Examples
    --------
    >>> import condmask as cm
    >>> scheme = cm.ConditionalMasking(0.6, 100.0, decimals=0)
    >>> january, february = cm.Counts(scheme), cm.Counts(scheme)
    >>> january.update([310, 420])
    >>> february.update([385, 290])
    >>> scheme.estimate(january + february).mean()
    351.25
    """

    def __init__(self, scheme: Any, *, most_points: int = MOST_POINTS, origin: Origin = NOWHERE) -> None:
        known: bool = isinstance(scheme, Scheme)
        if not known:
            raise ArgumentTypeError(f"scheme must be ConditionalMasking, got {_checks.shown(scheme)}")
        if not isinstance(origin, Origin):
            raise ArgumentTypeError(f"origin must be an Origin, got {_checks.shown(origin)}")
        self.law = scheme.law or Law(scheme.p, scheme.noise, scheme.sigma)
        self.mapped = (scheme.scale, scheme.aggregate_ends) if scheme.reverse_mapping else None
        if self.law.grid is None and self.mapped is None:
            raise ArgumentError(
                "scheme must have a grid for Counts, got step=0; mask with "
                f"step={default_step(self.law.sigma):g}, the default for this sigma"
            )
        self.shared_donors = scheme.shared_donors  # standard errors about the file depend on it
        self.strata, self.origin = scheme.strata, origin
        self.codes = released_codes(scheme)
        self.most_points = _checks.whole(most_points, "most_points", least=2)
        # 2^level neighbouring points share a count; under reverse mapping all values in a cell of that width
        self.level = self._finest
        self.value_counts = EMPTY
        self.pairs = np.zeros(6)  # as of `_products`

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return self.value_counts.n

    @property
    def resolution(self) -> float:
        """Width of the cells, in the units of the data; 0 if single values are counted."""
        return 0.0 if self.level == BY_VALUE else (self.law.step or 1.0) * 2.0**self.level

    @property
    def exact(self) -> bool:
        """Whether estimates equal those from the records."""
        return self.level == self._finest

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes."""
        return int(self.value_counts.values.nbytes + self.value_counts.counts.nbytes + self.pairs.nbytes)

    def __repr__(self) -> str:
        points = f"points={self.value_counts.values.size}, resolution={self.resolution:g}"
        return f"Counts(n={self.n}, {points}, p={self.law.p!r}, sigma={self.law.sigma!r})"

    def update(self, z: Any, other: Any = None) -> None:
        """Add masked values and, with them, those of a column that was not masked.

        Parameters
        ----------
        z : array_like or series of shape (n,)
            Masked values, on the grid of the scheme; missing ones, and codes, are left out.
        other : array_like or series of shape (n,), optional
            For covariances and correlations, from the records with both values. Not after reverse mapping,
            where these need the records.

        Raises
        ------
        ValueError
            If a value is not on the grid. Nothing is added.
        """
        if other is not None and self.mapped is not None:
            raise ArgumentError(
                "other must be left out after reverse mapping, where Counts have no covariances; estimate "
                "them from the values"
            )
        column = frames.column(z, "z", least=0)
        values = without_codes(column.array, self.codes, column.kind)
        if self.law.grid is None:
            counts = by_value(np.sort(values[~np.isnan(values)]))
        else:
            counts = counted_column(values, self.law.grid, column.kind)
        pairs = np.zeros(6)
        if other is not None:
            w = frames.column(other, "other", least=0).array
            _checks.same_length(w, "other", values.size, "z")
            both = ~(np.isnan(values) | np.isnan(w))
            pairs = _products(values[both], w[both])
        self._add(counts, self._finest, pairs)

    def merge(self, other: "Counts") -> None:
        """Add other counts of the same scheme."""
        if not isinstance(other, Counts):
            raise ArgumentTypeError(f"other must be Counts, got {type(other).__name__}")
        if other._identity() != self._identity():
            raise ArgumentError(f"other must be Counts of the same scheme as {self!r}, got {other!r}")
        with ADDING:
            theirs = other.value_counts, other.level, other.pairs
        self._add(*theirs)

    def __add__(self, other: "Counts") -> "Counts":
        """Both together, as new counts."""
        total = Counts.from_bytes(self.to_bytes())
        total.merge(other)
        return total

    def check(self, scheme: Any) -> None:
        """Refuse another scheme than that of the counts."""
        if Counts(scheme, origin=self.origin)._identity() != self._identity():
            raise ArgumentError(f"z must be Counts of the scheme {scheme!r}, got {self!r}")

    def to_bytes(self) -> bytes:
        """The whole state; `from_bytes` gives it back bit by bit."""
        with ADDING:
            p, noise, sigma, grid = self.law
            described = {
                "p": p, "noise": noise, "sigma": sigma, "grid": grid, "mapped": self.mapped,
                "shared_donors": self.shared_donors, "strata": self.strata, "origin": self.origin,
                "codes": self.codes, "most": self.most_points, "level": self.level,
            }  # fmt: skip
            return _state.pack(described, **self.value_counts._asdict(), pairs=self.pairs)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Counts from what `to_bytes` gave."""
        if not isinstance(data, (bytes, bytearray)):
            raise ArgumentTypeError(f"data must be the bytes of Counts, got {type(data).__name__}")
        counts = cls.__new__(cls)
        try:
            described, arrays = _state.unpack(data)
            grid = None if described["grid"] is None else Grid(*described["grid"])
            counts.law = Law(described["p"], described["noise"], described["sigma"], grid)
            counts.mapped = None if described["mapped"] is None else tuple(described["mapped"])
            counts.shared_donors = _checks.truth(described["shared_donors"], "shared_donors")
            counts.strata, counts.codes = named_strata(described["strata"]), tuple(described["codes"])
            group, patterns, shift = described["origin"]
            counts.origin = Origin(group, tuple(patterns), tuple(shift))
            counts.most_points = _checks.whole(described["most"], "most_points", least=2)
            counts.level = _checks.whole(described["level"], "level", least=counts._finest)
            counts.value_counts = ValueCounts(arrays["values"], arrays["counts"])
            counts.pairs = arrays["pairs"]
            counts._check_state()
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise ArgumentError(
                f"data must be the bytes of Counts, got {len(data)} bytes that are not"
            ) from error
        return counts

    # --- private ---

    def _check_state(self) -> None:
        """Refuse a state that no updates could have led to; its digest holds for whoever wrote it."""
        p, _, sigma, grid = self.law
        _checks.not_negative(p, "p")
        _checks.deviation(sigma)
        for number in (*(grid or ()), *self.codes, *self.origin.shift):
            _checks.real(number, "state", "a number")
        values, counts = self.value_counts
        sound = (
            p < 1.0
            and self.law.noise in ("normal", "laplace")
            and (grid is None or (grid.numerator > 0.0 and grid.denominator > 0.0))
            and (grid is None) == (self.mapped is not None)
            and self.level <= WIDEST
            and values.dtype == np.float64
            and counts.dtype == np.int64
            and values.ndim == 1
            and values.shape == counts.shape
            and bool(np.isfinite(values).all())
            and bool((np.diff(values) > 0.0).all())
            and (self.mapped is not None or bool((values == np.floor(values)).all()))
            and bool((counts > 0).all())
            and counts.sum(dtype=np.float64) <= _checks.LARGEST_EXACT_INTEGER
            and self.pairs.dtype == np.float64
            and self.pairs.shape == (6,)
            and bool(np.isfinite(self.pairs).all())
            and isinstance(self.origin.group, str | None)
            and all(isinstance(name, str) for name in self.origin.patterns)
        )
        if not sound:
            raise ArgumentError("no state of Counts")

    @property
    def _finest(self) -> int:
        return 0 if self.mapped is None else BY_VALUE

    def _identity(self) -> tuple[Any, ...]:
        return self.law, self.mapped, self.shared_donors, self.strata, self.origin, self.codes

    def _add(self, counts: ValueCounts, level: int, pairs: np.ndarray) -> None:
        with ADDING:
            if pairs[0] > 0.0:
                self.pairs = _combined(self.pairs, pairs)
            self._add_values(counts, level)

    def _add_values(self, counts: ValueCounts, level: int) -> None:
        from_, self.level = self.level, max(self.level, level)
        counted = merged([self._coarser(self.value_counts, from_), self._coarser(counts, level)])
        if counted.values.size > self.most_points and self.mapped is not None:
            levels = range(self.level + 1, WIDEST)
            first = bisect_left(levels, True, key=lambda to: self._fits(counted, to))
            self.level = levels[min(first, len(levels) - 1)]
            counted = in_cells(counted, 2.0**self.level)
        while counted.values.size > self.most_points and self.mapped is None:
            counted, self.level = coarser(counted, 2), self.level + 1
        self.value_counts = counted

    def _fits(self, counts: ValueCounts, level: int) -> bool:
        return in_cells(counts, 2.0**level).values.size <= self.most_points

    def _coarser(self, counts: ValueCounts, level: int) -> ValueCounts:
        """Counts at a level, at the level of all."""
        if level == self.level:
            return counts
        if self.mapped is None:
            return coarser(counts, 1 << (self.level - level))
        return in_cells(counts, 2.0**self.level)


def _products(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Number, means, roots of the sums of squares about them, and the product over both roots."""
    if z.size == 0:
        return np.zeros(6)
    (mean_z, root_z, a), (mean_w, root_w, b) = _directed(z), _directed(w)
    return np.array([z.size, mean_z, mean_w, root_z, root_w, a @ b])


def _directed(z: np.ndarray) -> tuple[float, float, np.ndarray]:
    """The mean, and length and direction of the deviations from it, in a scale in which squares are safe."""
    scale = float(np.abs(z).max()) or 1.0
    mean = float((z / scale).mean())
    deviation = z / scale - mean
    root = float(np.sqrt(deviation @ deviation))
    return mean * scale, root * scale, deviation / (root or 1.0)


def _combined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two sets of pairs as one (Chan, Golub and LeVeque)."""
    n = one[0] + other[0]
    if n == 0.0:
        return one
    apart, share = other[1:3] - one[1:3], other[0] / n
    between = apart * np.sqrt(one[0] * share)
    roots = np.hypot(np.hypot(one[3:5], other[3:5]), between)
    safe = np.where(roots > 0.0, roots, 1.0)
    product = sum(
        np.prod(part / safe) * r for part, r in ((one[3:5], one[5]), (other[3:5], other[5]), (between, 1.0))
    )
    return np.array([n, *(one[1:3] + apart * share), *roots, product])
