"""A masked column in one pass and with little memory: counts by grid point or value, which can be merged."""

from threading import Lock
from typing import Any, Self

import numpy as np

from condmask import _checks, _state, frames
from condmask.distribution.counting import EMPTY, Counted, by_value, counted_column, merged
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.origin import NOWHERE, Origin
from condmask.grid import Grid, default_step
from condmask.law import Law
from condmask.missing_codes import released_codes, without_codes
from condmask.scheme import Scheme
from condmask.strata import named_strata

ADDING = Lock()  # threads may add to the same counts
STATE = {"p", "noise", "sigma", "grid", "mapped", "shared_donors", "strata", "origin", "codes"}


class Counts:
    """Counts of masked values by grid point; estimates of the column need them, not the records.

    Parameters
    ----------
    scheme : ConditionalMasking
        What was published with the data. It must have a grid (a `step` above 0) or use reverse mapping, where
        the values themselves are counted.
    origin : Origin, optional
        What a release says about the column; `read_counts` passes it.

    Raises
    ------
    TypeError
        If the scheme is another than `ConditionalMasking`.
    ValueError
        If it has neither a grid nor reverse mapping.

    Notes
    -----
    Lossless: estimates equal those from the records bit by bit, however the records are split into parts.
    Memory: 16 bytes a distinct value, see `nbytes`.

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

    def __init__(self, scheme: Any, *, origin: Origin = NOWHERE) -> None:
        counted: bool = isinstance(scheme, Scheme) and "T_1" in scheme.estimators
        if not counted:
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
        self.counted = EMPTY

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return self.counted.n

    @property
    def nbytes(self) -> int:
        """Memory in use: 16 bytes a distinct value."""
        return int(self.counted.values.nbytes + self.counted.counts.nbytes)

    def __repr__(self) -> str:
        size = f"n={self.n}, points={self.counted.values.size}, nbytes={self.nbytes}"
        return f"Counts({size}, p={self.law.p!r}, sigma={self.law.sigma!r})"

    def update(self, z: Any) -> None:
        """Add masked values.

        Parameters
        ----------
        z : array_like or series of shape (n,)
            Masked values, on the grid of the scheme; missing ones, and codes, are left out.

        Raises
        ------
        ValueError
            If a value is not on the grid. Nothing is added.
        """
        column = frames.column(z, "z", least=0)
        values = without_codes(column.array, self.codes, column.kind)
        if self.law.grid is None:
            self._add(by_value(np.sort(values[~np.isnan(values)])))
        else:
            self._add(counted_column(values, self.law.grid, column.kind))

    def merge(self, other: "Counts") -> None:
        """Add other counts of the same scheme."""
        if not isinstance(other, Counts):
            raise ArgumentTypeError(f"other must be Counts, got {type(other).__name__}")
        if other._identity() != self._identity():
            raise ArgumentError(f"other must be Counts of the same scheme as {self!r}, got {other!r}")
        self._add(other.counted)

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
                "codes": self.codes,
            }  # fmt: skip
            return _state.pack(described, values=self.counted.values, counts=self.counted.counts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Counts from what `to_bytes` gave."""
        if not isinstance(data, (bytes, bytearray)):
            raise ArgumentTypeError(f"data must be the bytes of Counts, got {type(data).__name__}")
        counts = cls.__new__(cls)
        try:
            described, arrays = _state.unpack(data)
            if described.keys() != STATE:
                raise ArgumentError("no state of Counts")
            grid = None if described["grid"] is None else Grid(*described["grid"])
            counts.law = Law(described["p"], described["noise"], described["sigma"], grid)
            counts.mapped = None if described["mapped"] is None else tuple(described["mapped"])
            counts.shared_donors = _checks.truth(described["shared_donors"], "shared_donors")
            counts.strata, counts.codes = named_strata(described["strata"]), tuple(described["codes"])
            group, patterns, shift = described["origin"]
            counts.origin = Origin(group, tuple(patterns), tuple(shift))
            counts.counted = Counted(arrays["values"], arrays["counts"])
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
        values, counts = self.counted.values, self.counted.counts
        sound = (
            p < 1.0
            and self.law.noise in ("normal", "laplace")
            and (grid is None or (grid.numerator > 0.0 and grid.denominator > 0.0))
            and (grid is None) == (self.mapped is not None)
            and values.dtype == np.float64
            and counts.dtype == np.int64
            and values.ndim == 1
            and values.shape == counts.shape
            and bool(np.isfinite(values).all())
            and bool((np.diff(values) > 0.0).all())
            and (self.mapped is not None or bool((values == np.floor(values)).all()))
            and bool((counts > 0).all())
            and counts.sum(dtype=np.float64) <= _checks.LARGEST_EXACT_INTEGER
            and isinstance(self.origin.group, str | None)
            and all(isinstance(name, str) for name in self.origin.patterns)
        )
        if not sound:
            raise ArgumentError("no state of Counts")

    def _identity(self) -> tuple[Any, ...]:
        return self.law, self.mapped, self.shared_donors, self.strata, self.origin, self.codes

    def _add(self, counts: Counted) -> None:
        with ADDING:
            self.counted = merged([self.counted, counts])
