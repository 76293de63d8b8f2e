"""Define the base class of schemes that swap records with probability p.

`conditional` and `reverse_mapping` are two ways to hide the values of the records that are kept.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from condmask import _checks
from condmask.masking.scheme import Scheme
from condmask.strata import Names, named_strata


class SwapScheme(Scheme):
    """A scheme with a swap probability p, and noise of standard deviation sigma for kept records.

    Attributes
    ----------
    p : float
        Swap probability.
    sigma : float
        Standard deviation of the noise.
    noise : {"normal", "laplace"}
        Law of the noise.
    scale : {"linear", "log"}
        Whether noise is added to values or to their logarithms.
    aggregate_ends : int or "auto"
        How many of the smallest and largest values of a donor pool are released as their means.
    title : str
        Name of the method in tables and pictures.
    shared_parameters : tuple of str
        Parameters that columns masked together must agree in.
    """

    title: ClassVar[str]
    shared_coins: ClassVar[bool] = True
    shared_parameters: ClassVar[tuple[str, ...]] = ("p", "strata", "small_strata")
    p: float
    sigma: float
    noise: str
    scale: str = "linear"
    aggregate_ends: Any = 0
    strata: Names
    small_strata: str

    @classmethod
    def within(
        cls, schemes: dict[str, Self], strata: str | Sequence[str] | None
    ) -> dict[str, Self]:
        """Return the schemes with the strata that the call names.

        Columns masked together share swap status and donors, so their schemes must agree in all
        parameters that decide them.
        """
        named = named_strata(strata)
        stratified = {
            name: scheme
            if named is None or scheme.strata
            else scheme.with_parameters(strata=named)
            for name, scheme in schemes.items()
        }
        first = next(iter(schemes.values()))
        shared = {parameter: getattr(first, parameter) for parameter in cls.shared_parameters}
        if named:
            shared["strata"] = named
        for name, scheme in stratified.items():
            for parameter, value in shared.items():
                rule = f"schemes of columns masked together must agree in {parameter}={value!r}"
                other = getattr(scheme, parameter)
                _checks.require(other == value, rule, other, hint=f" for {name!r}")
        return stratified

    def publish(self, z: np.ndarray, kind: str) -> np.ndarray:
        """Return masked values as they are released, of the type of the original if possible."""
        if kind == "int" and self.releases_whole_numbers and not np.isnan(z).any():
            return z.astype(np.int64)
        return super().publish(z, kind) if kind == "float32" else z

    def to_dict(self) -> dict[str, Any]:
        """Return the scheme as a dict for JSON, without optional parameters at their defaults."""
        optional: dict[str, Any] = {
            "missing": [],
            "missing_as": "code",
            "range": None,
            "aggregate_ends": 0,
        }
        return {
            name: value
            for name, value in super().to_dict().items()
            if name not in optional or optional[name] != value
        }

    def __repr__(self) -> str:
        return self._as_code(omitted=())

    def _as_code(self, omitted: Sequence[str]) -> str:
        """Return the scheme as Python code, without defaults and the omitted parameters."""
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in defaults if name not in omitted}
        parts = [f"{name}={value!r}" for name, value in values.items() if value != defaults[name]]
        return f"{self.method}({', '.join(parts)})"
