"""Define `ConditionalMasking`: noise on a grid, with the audit of releases and the estimators."""

import inspect
import warnings
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, ClassVar, Self

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.masking.conditional import ConditionalScheme
from condmask.masking.earlier_versions import without_defaults
from condmask.masking.parameters import NOT_REVERSE_MAPPING, ONLY_REVERSE_MAPPING
from condmask.publish.reverse_mapping import ReverseMapping
from condmask.publish.swap_masking import SwapMasking


@dataclass(frozen=True, repr=False)
class ConditionalMasking(SwapMasking, ConditionalScheme):
    r"""Conditional masking: release another record's value with probability `p`, else add noise.

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
        (1), and values that several records take reveal that they were swapped (docs/audit.rst).
        Each masked value has the same law under both. "sample" is refused with strata or patterns
        of missing values, where intervals would be several times too long.
    decimals : int, optional
        Decimal places of the data: data and noise live on this grid. Negative numbers stand for
        tens, hundreds, ...
    step : float, optional
        The step of the grid, if it is not a power of ten: .05, 12, 1/3. Data off the grid of
        `decimals` or `step` are refused, or rounded by ``mask(..., round=True)``. By default the
        power of two at or below ``sigma / 1000``, to which the data are rounded. Without a grid
        (0, for research) the last digits reveal which records were swapped.
    range : (float, float), optional
        Public bounds of the values: (0, 100), or (0, None) for one bound. Originals outside are
        refused, and so is a release if noise is expected to take a value outside (use
        `ReverseMapping` then).
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
        If a parameter is outside of its range, or the grid is given twice or cannot hold the
        noise.

    See Also
    --------
    ReverseMapping : releases the values of the column in another order.
    mask_table : several columns of a table, masked together.

    Notes
    -----
    ``ConditionalMasking(..., reverse_mapping=True)``, as reverse mapping was written up to version
    0.2, returns a `ReverseMapping` with a DeprecationWarning.

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
    >>> masked = scheme.mask(incomes, rng=2)  # rng is for examples, never for a release
    >>> bool(abs(scheme.estimate(masked).mean() / incomes.mean() - 1) < 0.02)
    True
    """

    method: ClassVar[str] = "ConditionalMasking"
    # `__new__` below takes the deprecated parameters, too, which `help` need not list
    __signature__: ClassVar[inspect.Signature] = inspect.signature(ConditionalScheme)
    _: KW_ONLY
    # deprecated: parameters of `ReverseMapping`, which versions up to 0.2 took here
    reverse_mapping: InitVar[bool] = False
    scale: InitVar[str] = "linear"
    aggregate_ends: InitVar[int | str] = 0

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Return a new scheme; for ``reverse_mapping=True`` a `ReverseMapping`, with a warning."""
        mapped = parameters.pop("reverse_mapping", False)
        if not _checks.boolean(mapped, "reverse_mapping"):
            return super().__new__(cls)
        scheme = _reverse_mapping(*args, **parameters)
        warnings.warn(
            f"ConditionalMasking(..., reverse_mapping=True) will be refused: use cm.{scheme!r}",
            DeprecationWarning,
            stacklevel=2,
        )
        return scheme  # type: ignore[return-value]

    def __post_init__(self, reverse_mapping: bool, scale: str, aggregate_ends: int | str) -> None:
        super().__post_init__()
        given = {"scale": scale, "aggregate_ends": aggregate_ends}
        for name, default in ONLY_REVERSE_MAPPING.items():
            if given[name] != default:
                call = f"cm.ReverseMapping({self.p!r}, {self.sigma!r}, {name}={given[name]!r})"
                raise ArgumentError(
                    f"{name} must be left out of ConditionalMasking, got {given[name]!r}: use "
                    f"{call}"
                )


def _reverse_mapping(*args: Any, **parameters: Any) -> ReverseMapping:
    """Return reverse mapping by the parameters of ``ConditionalMasking(reverse_mapping=True)``."""
    parameters = without_defaults(parameters, ReverseMapping.method)
    for name, why in NOT_REVERSE_MAPPING.items():
        if name in parameters:
            value = parameters[name]
            raise ArgumentError(
                f"{name} must be left out with reverse mapping, got {value!r}: {why}"
            )
    return ReverseMapping(*args, **parameters)
