"""Define the interface of all schemes, and register schemes by the name of their method.

A new scheme is one file: a frozen dataclass that inherits `Scheme`, names itself by `method`, and
masks. Where it describes its noise by a `Law`, its risks follow in closed form; where it has
estimators of the original, it names them in `estimators` and gives an `Estimate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask._randomness import WHOLE, Key, Randomness, check_rng, release_key
from condmask.closed_form_risk import interval_risk
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import Grid
from condmask.law import Law
from condmask.marks import marked, refuse_marked
from condmask.masking.earlier_versions import of_this_version
from condmask.masking.fitting import refuse_unfit
from condmask.missing_codes import Code, Declared, numbers_of, restore_codes
from condmask.strata import Names, Pools

Columns = tuple[np.ndarray, ...]
# schemes by the name of their method; `publish.schemes` imports those of the package
_REGISTER: dict[str, type["Scheme"]] = {}


# a type variable of the schemes of one call
SchemeT = TypeVar("SchemeT", bound="Scheme")


class Scheme:
    """A masking scheme. It is published with the data and contains no secret.

    Attributes
    ----------
    method : str
        Its name in files and studies.
    law : Law or None
        The law of p and the noise; None where a scheme has none.
    grid : Grid or None
        On which masked values lie; None where there is none.
    estimators : dict of str to bandwidth
        Names of its estimators of the original distribution, and their bandwidths. Without any,
        studies use the masked sample itself.
    shared_donors : bool
        Whether several records may show one record's value.
    shared_coins : bool
        Whether columns masked in one call are swapped in the same records, and with the same
        donors.
    keeps_gaps : bool
        Whether missing values stay missing; else they are refused.
    rounds : bool
        Whether data are rounded to the grid; data off a grid that was named are refused.
    gathers : bool
        Whether values are released as they are, in another order, so that only their order needs
        numbers; else columns that float64 cannot hold are refused.
    why_no_grid : str
        Why data cannot be rounded where a scheme has no grid, as a part of a sentence.
    """

    method: ClassVar[str]
    law: Law | None = None
    grid: Grid | None = None
    decimals: int | None = None
    range: tuple[float | None, float | None] | None = None
    strata: Names = None
    small_strata: str = "refuse"
    missing: Declared = None
    missing_as: str = "code"
    estimators: ClassVar[dict[str, Any]] = {}
    shared_donors: ClassVar[bool] = False
    shared_coins: ClassVar[bool] = False
    keeps_gaps: ClassVar[bool] = False
    rounds: bool = False
    why_no_grid: ClassVar[str] = "there is no step to round to"
    reverse_mapping: ClassVar[bool] = False
    gathers: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "method"):  # else `__new__` says that it is missing
            _REGISTER[cls.method] = cls

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Refuse a class that lacks what a scheme needs, and name all of it."""
        present = {
            'method = "its name in files and studies"': hasattr(cls, "method"),
            "mask_rows(self, x, stream, others)": cls.mask_rows is not Scheme.mask_rows,
            "@dataclass(frozen=True)": is_dataclass(cls),
        }
        lacking = [part for part, is_there in present.items() if not is_there]
        if lacking:
            listed = ", ".join(lacking)
            raise ArgumentTypeError(f"{cls.__name__} is no complete scheme: it lacks {listed}")
        return super().__new__(cls)

    def with_parameters(self, **parameters: Any) -> Self:
        """Return the scheme with other values of some parameters."""
        return replace(self, **parameters)  # type: ignore[type-var]

    @property
    def releases_whole_numbers(self) -> bool:
        """Whether a column of whole numbers is released as one."""
        return self.grid is not None and self.grid.whole

    @property
    def law_of_estimates(self) -> Law | None:
        """The law whose effect on the distribution of a column estimates undo."""
        return self.law

    def decimals_in_text(self, z: np.ndarray) -> int | None:
        """Return the decimals of masked values in text; None for as many as each needs."""
        return 0 if self.grid is not None and self.grid.whole else self.decimals

    @property
    def codes(self) -> tuple[Code, ...]:
        """The declared codes of missing values."""
        return tuple(code for code in self.missing or () if code is not None)

    def mask(self, x: ArrayLike, *, rng: Randomness = None) -> Any:
        """Mask a column and return it in the same container.

        Missing values are refused, except by schemes that add noise to every value.
        """
        refuse_marked(x, "x")
        return self._masked(frames.column(x, "x"), rng)

    def _masked(
        self, column: frames.Column, rng: Randomness, others: Sequence[np.ndarray] = ()
    ) -> Any:
        """Mask a column in one block; `others` are columns published unmasked."""
        refuse_unfit(self, column, "x")
        x = self.canonical(column.array, "x", column.kind)
        key = release_key(check_rng(rng), {column.name: self}, [x, *others])
        z = self.mask_rows(x[None], key.stream(0, WHOLE), tuple(other[None] for other in others))
        masked = column.back(restore_codes(self, z[0], column.array, column.kind, "x"))
        return marked(masked, [column.name or "x"], column.array.size)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own; `others` are columns published unmasked, in rows too.

        Each scheme has its own: `__new__` refuses a class without one.
        """
        raise NotImplementedError

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """Return the values that will be masked: here a copy in which -0.0 becomes 0.0."""
        if not self.keeps_gaps:
            _checks.complete(x, name)
        return np.asarray(x + 0.0)

    @classmethod
    def masked_columns(
        cls,
        schemes: Sequence[Self],
        columns: list[np.ndarray],
        key: Key,
        pools: Pools | None,
        workers: int,
    ) -> list[np.ndarray]:
        """Mask several columns.

        This default masks each column independently; schemes that share swap status override it.
        """
        both = enumerate(zip(schemes, columns, strict=True))
        return [
            scheme.mask_rows(x[None], key.stream(0, WHOLE, k), ())[0] for k, (scheme, x) in both
        ]

    def publish(self, z: np.ndarray, kind: str) -> np.ndarray:
        """Return masked values as they are released, of the type of the original if possible."""
        # zero has no sign, and -1e-50 is 0 in single precision
        return np.asarray(np.add(z, 0.0, dtype=np.float32 if kind == "float32" else np.float64))

    @classmethod
    def within(
        cls, schemes: dict[str, Self], strata: str | Sequence[str] | None
    ) -> dict[str, Self]:
        """Return the schemes with the strata that the call names.

        This default refuses strata, since there are no donor pools.
        """
        rule = f"strata must be None for {cls.method}, which has no donor pools"
        _checks.require(strata is None, rule, strata)
        return schemes

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        return f"masked by {self!r}."

    def estimate(self, z: ArrayLike, *, workers: int = 1) -> Any:
        """Estimate the original; this default refuses, for schemes without an estimator."""
        raise ArgumentTypeError(
            f"{self!r} has no estimator of the original; its masked values are read as they are"
        )

    def risk(self, x: ArrayLike, d: ArrayLike) -> float | np.ndarray:
        """Return the chance that a masked value is closer than d to its original, averaged over a
        file.

        Parameters
        ----------
        x : array_like of shape (n,)
            Original values; those of one stratum if donors are drawn within strata.
        d : float or array_like
            Distances, in the units of the data.

        Returns
        -------
        float or ndarray of the shape of `d`
            p times the share of pairs of records closer than d plus 1 - p times P(abs(Y) < d),
            exactly; p = 0 for additive noise. Records without a value are left out.
        """
        distances = _checks.distances(d, "d")
        values, law = self._values_and_law(x)
        risks = interval_risk(np.sort(values), distances.ravel(), law)
        return risks.reshape(distances.shape) if distances.shape else float(risks[0])

    def mse(self, x: ArrayLike) -> float:
        """Return the mean squared error of masked values as guesses of the originals, record by
        record: 2 p S^2 + (1 - p) E (Z - X)^2.

        Parameters
        ----------
        x : array_like of shape (n,)
            Original values.

        Returns
        -------
        float
            In squared units of the data.

        Notes
        -----
        S^2 has the divisor n - 1. The paper's factor n / (n - 1) is wrong.
        """
        values, law = self._values_and_law(x)
        return float(2.0 * law.p * values.var(ddof=1) + (1.0 - law.p) * law.variance)

    def mse_of_mean(self, x: ArrayLike) -> float:
        """Return the mean squared error of the mean masked value as a guess of every original.

        Parameters
        ----------
        x : array_like of shape (n,)
            Original values.

        Returns
        -------
        float
            In squared units of the data; over samples with the variance of `x`.

        Notes
        -----
        ``Var X (1 - 2/n) + Var(mean of Z)``, where n Var(mean of Z) is
        ``Var X + (1-p) Var Y + (n-1) kappa Var X``. With donors by eq. (1), which several records
        may share, ``kappa = p^2 (n-2)/(n-1)^2 + 2p(1-p)/(n-1)``; along a cycle no donor is shared
        and kappa is 0. The paper assumes that the Z_i are independent.
        """
        values, law = self._values_and_law(x)
        p = law.p
        n = values.size
        variance = values.var(ddof=1)
        kappa = (
            p * p * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1)
            if self.shared_donors
            else 0.0
        )
        of_mean = (variance * (1.0 + (n - 1) * kappa) + (1.0 - p) * law.variance) / n
        return float(variance * (1.0 - 2.0 / n) + of_mean)

    def to_dict(self) -> dict[str, Any]:
        """Return the scheme as a dict for JSON; `from_dict` reads it back.

        Returns
        -------
        dict
            Its method under "scheme", and its parameters.
        """
        entries = asdict(self)  # type: ignore[call-overload]
        return {
            "scheme": self.method,
            **{name: as_lists(value) for name, value in entries.items()},
        }

    def key_entries(self) -> dict[str, Any]:
        """Return the parameters that enter the key of a release."""
        return self.to_dict()

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "Scheme":
        """Return the scheme that `to_dict` described.

        Parameters
        ----------
        entries : dict
            As from `to_dict`.

        Returns
        -------
        scheme

        Raises
        ------
        ValueError
            If the method is unknown, or entries are unknown or missing.
        """
        _checks.require(
            isinstance(entries, Mapping), "entries must be a dict", entries, ArgumentTypeError
        )
        named = _REGISTER[_checks.choice(entries.get("scheme"), "scheme", sorted(_REGISTER))]
        options = of_this_version(entries)
        method = _REGISTER[options.pop("scheme")]
        if not (issubclass(method, cls) or issubclass(named, cls)):
            raise ArgumentError(f"scheme must be {cls.method!r}, got {method.method!r}")
        defaults = {
            field.name: field.default
            for field in fields(method)  # type: ignore[arg-type]
        }
        unknown = {*map(str, options)} - {*defaults}
        missing = {
            name for name, default in defaults.items() if default is MISSING
        } - options.keys()
        if unknown or missing:
            wrong = ", ".join(sorted(map(repr, unknown or missing)))
            raise ArgumentError(f"scheme has {'unknown' if unknown else 'no'} entries {wrong}")
        return method(**options)

    def _values_and_law(self, x: ArrayLike) -> tuple[np.ndarray, Law]:
        """Return the values of a column that are not missing, and the law of the noise."""
        if self.law is None:
            raise ArgumentTypeError(f"{self!r} has no closed form of its risk; simulate it")
        values = numbers_of(x, "x", self.codes)
        if _checks.has_gaps(values, "x", "omit"):
            values = values[~np.isnan(values)]
        return values, self.law


def as_lists(value: object) -> Any:
    """Convert tuples to lists, also nested ones, as JSON has them; return other values as they
    are."""
    return [as_lists(entry) for entry in value] if isinstance(value, tuple) else value


def together(
    schemes: Mapping[str, SchemeT], strata: str | Sequence[str] | None = None
) -> dict[str, SchemeT]:
    """Check that columns can be masked in one call under these schemes.

    Returns
    -------
    dict of str to scheme
        The schemes by column, with the strata that the call names.
    """
    rule = "schemes must be a dict of schemes by column"
    _checks.require(isinstance(schemes, Mapping), rule, schemes, ArgumentTypeError)
    if not schemes:
        raise ArgumentError("schemes must name at least one column, got none")
    method = type(next(iter(schemes.values())))
    for name, scheme in schemes.items():
        sound = isinstance(scheme, Scheme)
        of = f" for {name!r}"
        _checks.require(
            sound, "schemes must be masking schemes", scheme, ArgumentTypeError, hint=of
        )
        if type(scheme) is not method:
            both = f"{method.__name__} and for {name!r} {type(scheme).__name__}"
            raise ArgumentError(f"schemes must be of one class, got {both}")
    return method.within(dict(schemes), strata)
