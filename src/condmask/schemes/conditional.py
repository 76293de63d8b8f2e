"""Conditional masking, eq. (1) of Ghatak & Roy: swap with probability p, else add noise."""

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._grid import from_units, grid, visible_grid
from condmask._randomness import check_rng, check_rows, working_key
from condmask.law import rounded_noise_moments
from condmask.risk import interval_risk, mean_squared_error
from condmask.schemes.draws import Law, mask_columns
from condmask.schemes.pools import pools_of

if TYPE_CHECKING:
    pass

NOISES = ("normal", "laplace")
DONORS = ("sample", "permutation")
NAN_POLICIES = ("raise", "omit")


class ReleaseWarning(UserWarning):
    """The release would show more than it should; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class ConditionalMasking:
    r"""Conditional masking: with probability `p` another record's value, else normal or Laplace noise.

    A scheme is exactly what is published with the masked data; nothing in it is secret.

    Parameters
    ----------
    p : float
        Swap probability, 0 < p < 1.
    sigma : float
        Standard deviation of the noise, in the units of the data, whatever the noise's law.
    noise : {"normal", "laplace"}
        Law of the noise.
    donors : {"sample", "permutation"}
        "sample": a swapped record takes the value of a record drawn uniformly from the others, eq. (1).
        "permutation": the swapped records pass their values along one random cycle. Each masked value
        has the same law and estimates have smaller errors, but a share `p` of the original values
        appears verbatim, against 1 - exp(-p).
    decimals : int, optional
        Decimal places of the data. Noise is rounded to this grid, so that a masked value does not
        show by its digits whether it was swapped. Negative numbers round to tens, hundreds, ...
    strata : str, optional
        Name of the column within whose groups the donors were drawn, where they were.
    group : str, optional
        Identifier shared by columns that were masked together, stamped by `mask_table`.

    Raises
    ------
    ValueError
        If `p` is outside (0, 1), `sigma` is not positive and finite, or a name is not one of those above.

    See Also
    --------
    mask_table : several columns of a table, masked together.

    Notes
    -----
    With :math:`J` uniform on the other records and :math:`Y_i` the noise, eq. (1) of [1]_ is

    .. math:: Z_i = X_J \text{ with probability } p, \qquad Z_i = X_i + Y_i \text{ with probability } 1 - p.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data",
           J. Stat. Theory Pract. (2019), arXiv:1807.05035.

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

    p: float
    sigma: float
    noise: str = "normal"
    donors: str = "sample"
    decimals: int | None = None
    strata: str | None = None
    group: str | None = None

    def __init__(
        self,
        p: float,
        sigma: float,
        *,
        noise: str = "normal",
        donors: str = "sample",
        decimals: int | None = None,
        strata: str | None = None,
        group: str | None = None,
    ) -> None:
        canonical = {
            "p": _checks.probability(p, "p"),
            "sigma": _checks.positive(sigma, "sigma"),
            "noise": _checks.choice(noise, "noise", NOISES),
            "donors": _checks.choice(donors, "donors", DONORS),
            "decimals": _checks.decimals(decimals),
            "strata": strata,
            "group": group,
        }
        for name, value in canonical.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        shown = [f"p={self.p!r}, sigma={self.sigma!r}"]
        for name, default in (
            ("noise", "normal"),
            ("donors", "sample"),
            ("decimals", None),
            ("strata", None),
            ("group", None),
        ):
            value = getattr(self, name)
            if value != default:
                shown.append(f"{name}={value!r}")
        return f"ConditionalMasking({', '.join(shown)})"

    def mask(
        self,
        x: Any,
        *,
        rng: Any = None,
        strata: Any = None,
        nan_policy: str = "raise",
        rows: tuple[int, int] | None = None,
        workers: Workers = 1,
    ) -> Any:
        """Mask a column.

        Parameters
        ----------
        x : array_like or series of shape (n,)
            Original values: a NumPy array, a list, or a pandas, polars or pyarrow column. n >= 2.
        rng : None, int, Generator, SeedSequence, BitGenerator or Key, optional
            None (the default) takes a new key from the operating system: the only choice for a
            release. A whole number gives the same result each time, for examples and studies; who
            knows it can unmask the data.
        strata : array_like of shape (n,), optional
            Donors come from the record's own stratum. Every stratum needs at least 10 records.
        nan_policy : {"raise", "omit"}
            "omit" leaves missing values missing, and out of the donor pool.
        rows : (int, int), optional
            Mask only the rows start <= r < stop, exactly as they are masked in the whole column. Needs
            a whole number or a Key as `rng`.
        workers : int or map-like callable
            Threads, or a function that maps like `map`. The result does not depend on it.

        Returns
        -------
        same container as `x`
            Masked values: float64; float32 where `x` is float32, since wider values would show
            that they were not swapped; int64 where `x` holds integers without gaps and
            ``decimals <= 0``. With `rows`, an array of shape (stop - start,).

        Raises
        ------
        ValueError
            If values are missing or infinite, lie off the grid of `decimals`, or a stratum is too small.
        TypeError
            If the data are not numbers.

        Warns
        -----
        ReleaseWarning
            If the values are rounded and `decimals` is not set.

        Notes
        -----
        Cost: O(n), and O(n log n) for permutation donors. Two calls without `rng` mask twice with
        fresh randomness: never publish both.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0, decimals=0).mask([310, 420, 385, 290], rng=1).dtype
        dtype('int64')
        """
        column = frames.column(x, "x")
        random = check_rng(rng)
        span = check_rows(rows, column.array.size, random)
        pools = pools_of(
            [column.array], strata, _checks.choice(nan_policy, "nan_policy", NAN_POLICIES), ["x"]
        )
        units = self.canonical(column.array, "x", column.kind)
        key = working_key(random, [units])
        (z,) = mask_columns(
            [units], [self.law], self.p, key,
            donors=self.donors, pools=pools, rows=span, workers=_checks.workers(workers),
        )  # fmt: skip
        return column.back(self.publish(z, column.kind)) if rows is None else self.publish(z, column.kind)

    def estimate(self, z: Any, *, strata: Any = None, nan_policy: str = "omit", workers: Workers = 1) -> Any:
        """The analyst's view: what the masked values tell about the original ones.

        Parameters
        ----------
        z : array_like or series of shape (n,), array_like of shape (replicates, n), or Summary
            Masked values. With two dimensions every result carries a leading axis of replicates.
        strata : array_like of shape (n,), optional
            Strata of the records, where donors were drawn within strata. Only covariances and
            correlations need them.
        nan_policy : {"raise", "omit"}
            What to do with missing values; "omit" leaves them out.
        workers : int or map-like callable
            Results do not depend on it.

        Returns
        -------
        Estimate, or SummaryEstimate of a Summary
            Moments, distribution function, quantiles, density and correlations of the original.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0).estimate([310.0, 420.0, 385.0, 290.0]).mean()
        351.25
        """
        from condmask.estimates.estimate import Estimate
        from condmask.estimates.summary import Summary

        if isinstance(z, Summary):
            from condmask.estimates.summary_estimate import SummaryEstimate

            if z.scheme != self:
                raise ValueError(f"z must be a Summary of the scheme {self!r}, got {z.scheme!r}")
            return SummaryEstimate(z)
        return Estimate(self, z, strata=strata, nan_policy=nan_policy, workers=workers)

    def risk(self, x: Any, d: Any) -> Any:
        """The chance that a masked value lies within d of its record's true one, averaged over a file.

        Parameters
        ----------
        x : array_like of shape (n,)
            Original values, of one stratum where donors are drawn within strata.
        d : float or array_like
            Distances, in the units of the data.

        Returns
        -------
        float or ndarray of the shape of `d`
            p times the share of pairs of records within d plus 1 - p times P(abs(Y) < d), exactly.
            Records without a value are left out.
        """
        distances = _checks.distances(d, "d")
        found = interval_risk(_known(x), distances.ravel(), self)
        return found.reshape(distances.shape) if distances.shape else float(found[0])

    def mse(self, x: Any) -> float:
        """Mean squared error of masked values as guesses of the true ones: 2 p S^2 + (1 - p) Var Y."""
        return mean_squared_error(_known(x), self)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise as it is added."""
        step = 0.0 if self.decimals is None else 10.0**-self.decimals
        return float(rounded_noise_moments(self.noise, step / self.sigma, 2)[2] * self.sigma**2)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        """Every row of x, masked on its own, without strata: for studies, whose randomness is no secret."""
        rows, n = x.shape
        swapped = stream.random(x.shape) < self.p
        donor = stream.integers(0, n - 1, x.shape)
        donor += donor >= np.arange(n)
        taken = np.take_along_axis(x, donor, axis=1)
        if self.donors == "permutation":
            order = np.argsort(stream.random(x.shape), axis=1)
            for row in range(rows):
                cycle = order[row][swapped[row, order[row]]]
                if cycle.size > 1:
                    taken[row, cycle] = x[row, np.roll(cycle, -1)]
        if self.noise == "normal":
            noise = self.sigma * stream.standard_normal(x.shape)
        else:
            noise = stream.laplace(0.0, self.sigma / np.sqrt(2.0), x.shape)
        if self.decimals is not None:
            noise = np.round(noise, self.decimals)
        return np.where(swapped, taken, x + noise)

    @property
    def law(self) -> Law:
        """The law of the noise."""
        return Law(self.noise, self.sigma, self.decimals)

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """The data as they are masked: in units of the grid where there is one."""
        if self.decimals is not None:
            return grid(x, self.decimals, name, kind)
        places = visible_grid(x, kind)
        if places is not None:
            digits = "whole numbers" if places == 0 else f"values with at most {places} decimal places"
            warnings.warn(
                f"{name} holds {digits}: masked values that are swapped keep those digits and the others do "
                f"not, so anyone sees which records were swapped; pass decimals={places}",
                ReleaseWarning,
                stacklevel=3,
            )
        return x

    def publish(self, z: np.ndarray, kind: str) -> np.ndarray:
        """Masked values as they are released, of the kind the original had where that is possible."""
        if self.decimals is not None:
            z = from_units(z, self.decimals)
            if kind == "int" and self.decimals <= 0 and (np.abs(z) <= _checks.LARGEST_EXACT_INTEGER).all():
                return z.astype(np.int64)
        return z.astype(np.float32) if kind == "float32" else z

    def to_dict(self) -> dict[str, Any]:
        """The scheme in terms of JSON; `from_dict` reads it back.

        Examples
        --------
        >>> import condmask as cm
        >>> cm.ConditionalMasking(0.6, 100.0).to_dict()["p"]
        0.6
        """
        return {"scheme": "ConditionalMasking", **asdict(self)}

    @classmethod
    def from_dict(cls, entries: dict[str, Any]) -> "ConditionalMasking":
        """The scheme that `to_dict` described."""
        values = dict(entries)
        if values.pop("scheme", None) != "ConditionalMasking":
            raise ValueError(f"scheme must be 'ConditionalMasking', got {entries.get('scheme')!r}")
        unknown = values.keys() - cls.__dataclass_fields__.keys()
        missing = {"p", "sigma"} - values.keys()
        if unknown or missing:
            wrong = ", ".join(sorted(map(repr, unknown or missing)))
            raise ValueError(f"scheme has {'unknown' if unknown else 'no'} entries {wrong}")
        return cls(**values)


def _known(x: Any) -> np.ndarray:
    """The values of a column that are not missing."""
    array = frames.column(x, "x").array
    there = _checks.present(array, "x", "omit")
    return array if there is None else array[there]
