"""Mask by conditional masking with noise on a grid, eq. (1) of Ghatak & Roy.

With J uniform on the other records and Y_i the noise::

    Z_i = X_J with probability p,    Z_i = X_i + Y_i with probability 1 - p

Data and noise lie on one grid, so that kept and swapped values have the same digits and bits.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from condmask._randomness import Key
from condmask.grid import Grid, decimal_grid, default_step, grid_of, on_the_grid, step_of
from condmask.law import Law
from condmask.masking.description import of_same_group, range_and_codes
from condmask.masking.draws import mask_columns, mask_rows
from condmask.masking.parameters import checked_parameters
from condmask.masking.scheme import Columns
from condmask.masking.swap_scheme import SwapScheme
from condmask.strata import Pools


@dataclass(frozen=True, repr=False)
class ConditionalScheme(SwapScheme):
    """Parameters of conditional masking with noise on a grid, and how it masks.

    `condmask.ConditionalMasking` documents the parameters.
    """

    title: ClassVar[str] = "conditional masking"
    shared_parameters: ClassVar[tuple[str, ...]] = ("p", "donors", "strata", "small_strata")
    estimators: ClassVar[dict[str, Any]] = {"T_1": None, "T_b": "scott"}
    p: float
    sigma: float
    _: KW_ONLY
    noise: str = "normal"
    donors: str = "permutation"
    decimals: int | None = None
    # Any: a field holds one type, named in `Scheme`, and is made of several that may be given
    step: Any = None
    range: Any = None
    strata: Any = None
    small_strata: str = "refuse"
    missing: Any = ()
    missing_as: str = "code"

    def __post_init__(self) -> None:
        for name, value in checked_parameters(self).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "step", step_of(self.sigma, self.decimals, self.step))

    def __repr__(self) -> str:
        follows = self.decimals is not None or self.rounds
        return self._as_code(omitted=("step",) if follows else ())

    @property
    def rounds(self) -> bool:  # type: ignore[override]
        """Whether data are rounded to the grid; data off a grid that was named are refused."""
        return self.decimals is None and self.step == default_step(self.sigma)

    @property
    def law(self) -> Law:  # type: ignore[override]
        """The law of p and the noise, and the grid."""
        return Law(self.p, self.noise, self.sigma, self.grid)

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

    @classmethod
    def masked_columns(
        cls,
        schemes: Sequence[Self],
        columns: list[np.ndarray],
        key: Key,
        pools: Pools | None,
        workers: int,
    ) -> list[np.ndarray]:
        """Mask columns that share one swap status and one donor for each record."""
        laws = [scheme.law for scheme in schemes]
        cycle = schemes[0].donors == "permutation"
        return mask_columns(laws, columns, key, pools, workers, cycle=cycle)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own, without strata, for studies."""
        return mask_rows(x, self.law, stream, cycle=self.donors == "permutation")

    def canonical(self, x: np.ndarray, name: str, kind: str) -> np.ndarray:
        """Return the data as they are masked: in whole steps of the grid where there is one."""
        return on_the_grid(self, x, name, kind)

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        grid = "" if self.grid is None else f" Values are multiples of {self.grid.step:g}."
        return (
            f"with probability {self.p:g} a record shows the true value of another record"
            f"{of_same_group(self.strata)}, otherwise its own value plus {self.noise} noise of "
            f"standard deviation {self.sigma:g}; which of the two is not disclosed.{grid}"
            f"{range_and_codes(self)}"
        )

    def key_entries(self) -> dict[str, Any]:
        """Return the parameters that enter the key of a release, under their earliest names.

        A range changes no value. "scale" and "patterns" are of earlier versions: without them
        every key would be another one.
        """
        entries = self.to_dict()
        entries.pop("range", None)
        return {**entries, "scheme": "ConditionalMasking", "scale": "linear", "patterns": []}
