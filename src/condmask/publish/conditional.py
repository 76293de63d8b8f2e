"""Conditional masking, eq. (1) of Ghatak & Roy: swap with probability p, else add noise."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from condmask import _checks, frames
from condmask._randomness import Key, check_rng, release_key
from condmask.disclosure.audit import DEFAULT_LIMITS
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimates, estimate_counts, estimate_records
from condmask.grid import Grid, decimal_grid, default_step, grid_of, on_the_grid, step_of
from condmask.law import Law
from condmask.marks import marked, refuse_marked
from condmask.masking import description, reverse_mapping
from condmask.masking.draws import mask_columns, mask_rows
from condmask.masking.ends import AUTO
from condmask.masking.parameters import checked
from condmask.masking.scheme import Columns, Scheme
from condmask.publish.prepare import prepare, released
from condmask.publish.rounding import asked, shift_of
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.strata import Pools, labels_of, named_strata

SHARED = ("reverse_mapping", "p", "donors", "strata", "small_strata")  # of columns masked together


@dataclass(frozen=True, repr=False)
class ConditionalMasking(Scheme):
    r"""Conditional masking: with probability `p` another record's value, else normal or Laplace
    noise.

    A scheme is published with the masked data; nothing in it is secret.

    Parameters
    ----------
    p : float
        Swap probability, at least 2^-64 and below 1.
    sigma : float
        Standard deviation of the noise, in the units of the data, for either law of the noise.
    noise : {"normal", "laplace"}
        Law of the noise.
    donors : {"permutation", "sample"}
        "permutation": the swapped records pass their values along one random cycle. "sample", for
        studies: a swapped record takes the value of a record drawn uniformly from the others, eq.
        (1), and values that several records take reveal that they were swapped (docs/coins.rst).
        Each masked value has the same law under both. "sample" is refused with strata or patterns
        of missing values, where intervals would be several times too long.
    reverse_mapping : bool
        Give the kept records their own values back, in the order of their values with noise, and
        shuffle the values of the swapped records. The release is the column in another order: no
        value shows which records were swapped, and every statistic of the column alone is exact
        (docs/reverse_mapping.rst). Not with `decimals` or `step`, since nothing is rounded.
    aggregate_ends : int or "auto"
        With `reverse_mapping`: release this many of the smallest and of the largest values of each
        donor pool, and all values equal to them, as their means, to the digits of the data. 0 is
        for none; for "auto" `mask_table` and `mask_file` find how many rare values need (0, 3 or
        5), and publish it.
    decimals : int, optional
        Decimal places of the data: data and noise live on this grid. Negative numbers stand for
        tens, hundreds, ...
    step : float, optional
        The step of the grid, if it is not a power of ten: .05, 12, 1/3. Data off the grid of
        `decimals` or `step` are refused, or rounded by ``mask(..., round=True)``. By default the
        power of two at or below ``sigma / 1000``, to which the data are rounded. Without a grid
        (0, for research) the last digits reveal which records were swapped.
    scale : {"linear", "log"}
        "log", with `reverse_mapping` alone: the kept records are put in the order of X exp(Y), and
        `sigma` is the standard deviation of the logarithm (.3: some 30%). For skewed amounts;
        signs and zeros stay.
    range : (float, float), optional
        Public bounds of the values: (0, 100), or (0, None) for one bound. Originals outside are
        refused, and so is a release if noise is expected to take a value outside (use
        `reverse_mapping` then).
    strata : str or sequence of str, optional
        Donors are drawn within the groups of this column; several columns are crossed. `mask` then
        needs the columns, and for covariances so does `estimate`.
    small_strata : {"refuse", "merge"}
        What to do with strata of fewer than 10 records. "merge": they become one, by a rule that
        anyone who has the columns can repeat (docs/theory.rst, "Small strata").
    missing : float or sequence of float and pairs, or None
        Codes in the data that stand for missing values: -8, or (-8, -999). A pair within a
        sequence is a range, [(9990, 9999)] or [-8, (None, -20)] for all numbers up to -20; (9990,
        9999) by itself is two codes. They stay in place, and are left out of estimates. A code
        that masked values could reach is refused, as are data with values that look like codes
        (999, far from all others) until you declare them here, or say with None, alone or after
        the codes, that there are no others.
    missing_as : {"code", "null"}
        "null": release a null, NaN or empty field in place of a code; then any code is allowed.

    Raises
    ------
    ValueError
        If a parameter is outside of its range, the grid is given twice or cannot hold the noise,
        or a parameter does not apply with `reverse_mapping`, or without.

    See Also
    --------
    mask_table : several columns of a table, masked together.

    Notes
    -----
    With :math:`J` uniform on the other records and :math:`Y_i` the noise, eq. (1) of [1]_ is

    .. math:: Z_i = X_J \text{ with probability } p, \qquad Z_i = X_i + Y_i \text{ with probability } 1 - p.

    Data and noise are first rounded to the grid, ties up, so that kept and swapped values have the
    same digits and bits; all estimates are exact for the data as rounded.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data", J. Stat. Theory Pract.
           (2019), https://doi.org/10.1007/s42519-019-0042-y, https://arxiv.org/abs/1807.05035.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, 10_000)
    >>> scheme = cm.ConditionalMasking(p=0.6, sigma=8_000.0)
    >>> masked = scheme.mask(incomes, rng=2)  # rng is for examples and studies, never for a release
    >>> bool(abs(scheme.estimate(masked).mean() / incomes.mean() - 1) < 0.02)
    True
    """

    method: ClassVar[str] = "ConditionalMasking"
    shared_coins: ClassVar[bool] = True
    p: float
    sigma: float
    _: KW_ONLY
    noise: str = "normal"
    donors: str = "permutation"
    reverse_mapping: bool = False
    aggregate_ends: Any = 0
    decimals: int | None = None
    # Any: what is held, of the types in `Scheme`, is made of more that may be given
    step: Any = None
    scale: str = "linear"
    range: Any = None
    strata: Any = None
    small_strata: str = "refuse"
    missing: Any = ()
    missing_as: str = "code"

    def __post_init__(self) -> None:
        for name, value in checked(self).items():
            object.__setattr__(self, name, value)
        step = 0.0 if self.reverse_mapping else self.step
        object.__setattr__(self, "step", step_of(self.sigma, self.decimals, step))

    @property
    def rounds(self) -> bool:
        """Whether data are rounded to the grid; data off one that was named are refused."""
        return self.decimals is None and self.step == default_step(self.sigma)

    def __repr__(self) -> str:
        return description.shown(self)

    def mask(
        self,
        x: Any,
        *,
        rng: Any = None,
        strata: Any = None,
        nan_policy: str = "raise",
        round: bool = False,
        workers: int = 1,
        accept_visible_coins: bool = False,
    ) -> Any:
        """Mask a column.

        Parameters
        ----------
        x : array_like or series of shape (n,)
            Original values: an array, a list, or a column of pandas, polars or pyarrow.
        rng : None, int, Generator, SeedSequence, BitGenerator or Key, optional
            None takes a new key from the operating system: the only choice for a release. A whole
            number, for examples and studies, gives the same result each time; who knows it can
            unmask the data.
        strata : array_like of shape (n,), data frame, dict or sequence of columns, optional
            The column that the scheme names in `strata`; a table, or a sequence of columns, if it
            names several.
        nan_policy : {"raise", "omit"}
            "omit" leaves missing values missing, and out of the donor pool, as are declared codes.
        round : bool
            Round the data to multiples of the scheme's step first, ties up as they are written
            (1.005 to 1.01); a warning says what that moves.
        workers : int
            Results do not depend on it.
        accept_visible_coins : bool
            Release without an audit and without guard rails, whatever that reveals.

        Returns
        -------
        same container as `x`
            Masked values: float64; float32 where `x` is float32, since wider values would show
            that they were not swapped; int64 where `x` holds integers without gaps (codes that
            stay do not count as gaps) and the points of the grid are whole numbers.

        Raises
        ------
        ValueError
            If values are missing or infinite, off the grid of `decimals` or `step`, too far from 0
            for it, or outside the range; if a stratum is too small, or noise would leave the range
            or reach a code; if the index of `strata` has the labels of `x` in another order.
        ReleaseError
            If the release would show too much of the originals (`audit`).
        TypeError
            If the data are not numbers.

        Warns
        -----
        ReleaseWarning
            If there are few records, rows are nearly in the order of their values, or noise takes
            values below 0 and no original is negative.

        Notes
        -----
        Two calls without `rng` mask twice with fresh randomness: never publish both.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0, decimals=0).mask([310, 421, 385, 290], rng=1).dtype
        dtype('int64')
        """
        refuse_marked(x, "x")
        refuse_other_order({"strata": strata}, labels_of_rows(x, "x"))
        column = frames.column(x, "x")
        rule = "aggregate_ends must be a number, which mask_table finds"
        _checks.require(self.aggregate_ends != AUTO, rule, self.aggregate_ends)
        random = check_rng(rng)
        policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
        labels = labels_of(strata, self.strata, column.array.size, "x", "mask")
        threads = _checks.integer(workers, "workers", least=1)
        made = prepare(
            {"x": self},
            {"x": column},
            labels=labels,
            nan_policy=policy,
            to_grid=asked(round, {"x": self}),
            limits=None
            if _checks.boolean(accept_visible_coins, "accept_visible_coins")
            else DEFAULT_LIMITS,
        )
        for moved in made.moved.values():
            shift_of([moved], "x", self.step)
        key = release_key(random, {column.name: self}, list(made.units.values()), made.pools)
        masked = released({"x": self}, made, key, threads)["x"]
        return marked(masked, [column.name or "x"], column.array.size)

    @classmethod
    def masked_columns(
        cls,
        schemes: Sequence[Self],
        columns: list[np.ndarray],
        key: Key,
        pools: Pools | None,
        workers: int,
    ) -> list[np.ndarray]:
        """The masked values of columns that share one swap status and one donor; reverse mapping
        takes the place of the originals."""
        mask = reverse_mapping.mask_columns if schemes[0].reverse_mapping else mask_columns
        return mask(schemes, columns, key, pools, workers)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Every row of x, masked on its own, without strata: for studies, whose randomness is no
        secret."""
        mask = reverse_mapping.mask_rows if self.reverse_mapping else mask_rows
        return mask(x, self, stream)

    def sentence(self) -> str:
        """How a column was masked, for readers of the release."""
        return description.conditional(self)

    def estimate(
        self,
        z: Any,
        *,
        strata: Any = None,
        patterns: Any = None,
        nan_policy: str = "omit",
        workers: int = 1,
    ) -> Estimates:
        """The analyst's view: estimates about the original values from the masked ones.

        Parameters
        ----------
        z : array_like or series of shape (n,), array_like of shape (replicates, n), or Counts
            Masked values. If 2-D, every result has a leading axis of replicates.
        strata : array_like of shape (n,), data frame, dict or sequence of columns, optional
            As for `mask`. Needed for relations with other columns, groups, weights and `part`;
            other estimates are the same without them.
        patterns : data frame or dict of columns, optional
            All columns that were masked together, if some of them have missing values (NaN or
            null): a donor has the same gaps as the record. Needed where strata are; a `Release`
            finds both itself.
        nan_policy : {"omit", "raise"}
            "omit" leaves missing values out; declared codes are left out under both.
        workers : int
            Results do not depend on it.

        Returns
        -------
        Estimate
            Moments, distribution function, quantiles, density and correlations of the original.

        Raises
        ------
        ValueError
            If values lie off the grid of the scheme, Counts are of another scheme, or the index of
            `strata` or `patterns` has the labels of `z` in another order.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0, decimals=0).estimate([310, 420, 385, 290]).mean()
        351.25
        """
        if isinstance(z, Counts):
            return estimate_counts(self, z, workers=workers)
        return estimate_records(
            self, z, strata=strata, patterns=patterns, nan_policy=nan_policy, workers=workers
        )

    @property
    def estimators(self) -> dict[str, Any]:  # type: ignore[override]
        """Names of the estimators of the original distribution, which rearranged values have
        themselves."""
        return {"T_1": None} if self.reverse_mapping else {"T_1": None, "T_b": "scott"}

    @property
    def law(self) -> Law | None:  # type: ignore[override]
        """The law of p and the noise, and the grid; None under reverse mapping, where no value has
        noise."""
        return None if self.reverse_mapping else Law(self.p, self.noise, self.sigma, self.grid)

    @property
    def grid(self) -> Grid | None:  # type: ignore[override]
        """The grid on which originals, noise and masked values lie."""
        if self.decimals is not None:
            return decimal_grid(self.decimals)
        return grid_of(self.step) if self.step > 0.0 else None

    @property
    def shared_donors(self) -> bool:  # type: ignore[override]
        """Whether several records may take one record's value."""
        return self.donors == "sample"

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """The data as they are masked, in units of the grid where there is one."""
        return on_the_grid(self, x, name, kind)

    def publish(self, z: np.ndarray, kind: str) -> np.ndarray:
        """Masked values as they are released, of the kind the original had where that is
        possible."""
        whole = self.reverse_mapping or (self.grid is not None and self.grid.whole)
        if kind == "int" and whole and not np.isnan(z).any():
            return z.astype(np.int64)
        return super().publish(z, kind) if kind == "float32" else z

    @classmethod
    def within(
        cls, schemes: dict[str, Self], strata: str | Sequence[str] | None
    ) -> dict[str, Self]:
        """The schemes with the strata that the call names, or they themselves; all must share what
        is one for all columns of a record."""
        first = next(iter(schemes.values()))
        named = named_strata(strata)
        found = {
            name: scheme if named is None or scheme.strata else replace(scheme, strata=named)
            for name, scheme in schemes.items()
        }
        shared = {name: getattr(first, name) for name in SHARED} | (
            {"strata": named} if named else {}
        )
        for name, scheme in found.items():
            for parameter, value in shared.items():
                rule = f"schemes of columns masked together must agree in {parameter}={value!r}"
                other = getattr(scheme, parameter)
                _checks.require(other == value, rule, other, hint=f" for {name!r}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The scheme in terms of JSON, without what most do without and what reverse mapping rules
        out."""
        unsaid: dict[str, Any] = {"missing": [], "missing_as": "code"}
        unsaid |= {"reverse_mapping": False, "aggregate_ends": 0, "range": None}
        unsaid |= {"decimals": None, "step": 0.0} if self.reverse_mapping else {}
        entries = super().to_dict()
        return {
            name: value
            for name, value in entries.items()
            if name not in unsaid or unsaid[name] != value
        }

    def key_entries(self) -> dict[str, Any]:
        """What of the scheme makes the key another one; which records miss what is seen from the
        data."""
        return {**replace(self, range=None).to_dict(), "patterns": []}  # a range changes no value
