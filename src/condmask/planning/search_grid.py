"""Which schemes are tried by default: sizes of noise and grids that suit the data."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.grid import default_step
from condmask.planning.candidates import Column
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.parameters import choices_of
from condmask.visible_grid import step_for, suits, visible_grid

P = tuple(round(0.1 * k, 1) for k in range(1, 10))
SHARES = (0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # sigma over the standard deviation
LOGARITHMS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
SKEWED = 1.5  # how many times as far as the lower half of amounts the upper one spreads; 1 is symmetric


def schemes(
    column: Column, *, p: Any, sigma: Any, noise: Any, reverse_mapping: Any, scale: Any, donors: Any,
    decimals: Any, step: Any, common: Mapping[str, Any],
) -> list[ConditionalMasking]:  # fmt: skip
    """Every combination that can mask the data, with parameters common to all; refused if none can."""
    if step is not None:
        _checks.positive(step, "step")  # without a grid, masking refuses every scheme
    chances = (
        P
        if p is None
        else [
            _checks.probability(value, "p", least=_checks.LEAST_SWAP_PROBABILITY)
            for value in _several(p, "p")
        ]
    )
    noises = [_checks.choice(value, "noise", choices_of("noise")) for value in _several(noise, "noise")]
    rules = [_checks.choice(value, "donors", choices_of("donors")) for value in _several(donors, "donors")]
    by_default = ["linear"] if sigma is not None else _scales(column.x)  # a sigma is one of one scale
    named = by_default if scale is None else _several(scale, "scale")
    scales = [_checks.choice(value, "scale", choices_of("scale")) for value in named]
    kinds: list[dict[str, Any]] = []
    if reverse_mapping is None or not _checks.truth(reverse_mapping, "reverse_mapping"):
        kinds += [{"donors": rule} for rule in rules]
    if reverse_mapping is not False:
        kinds += [{"reverse_mapping": True, "scale": value} for value in scales]
    tried, refusal = [], None
    for chance, law, kind in product(chances, noises, kinds):
        for size in _sizes(column, kind.get("scale")) if sigma is None else _several(sigma, "sigma"):
            try:
                amount = float(_checks.positive(size, "sigma"))
                grid = {} if "scale" in kind else _step(column, amount, decimals, step)
                scheme = ConditionalMasking(chance, size, noise=law, **kind, **grid, **common)
                column.file(scheme)
            except ValueError as error:
                refusal = error
                continue
            if scheme not in tried:
                tried.append(scheme)
    if not tried:
        raise refusal or ArgumentError("p and sigma must name at least one scheme, got none")
    return tried


def _several(values: Any, name: str) -> Sequence[Any]:
    if values is None or isinstance(values, str | float | int):
        return [values]
    with _checks.converting(values, name, "one value or a sequence of several"):
        several = list(values)
    return several


def _sizes(column: Column, scale: str | None) -> Iterator[float]:
    """Round numbers."""
    if scale == "log":
        yield from LOGARITHMS
        return
    spread = spread_of(column.x, "sigma")
    for share in SHARES:
        yield float(f"{share * spread:.1e}")


def spread_of(x: np.ndarray, left_out: str) -> float:
    """The standard deviation, from which the argument left out is chosen."""
    spread = float(x.std())
    if not spread > 0.0:
        raise ArgumentError(f"x must not be constant if {left_out} is left out, got a single value")
    return spread


def _scales(x: np.ndarray) -> list[str]:
    """Both scales for amounts, whose upper half spreads further than the lower one."""
    low, middle, high = np.quantile(x, (0.05, 0.5, 0.95))
    return ["linear", "log"] if x.min() >= 0.0 and high - middle > SKEWED * (middle - low) else ["linear"]


def _step(column: Column, sigma: float, decimals: Any, step: Any) -> dict[str, Any]:
    """The grid named, or the default one; if that does not keep the data's own grid, one that does."""
    if decimals is not None or step is not None:
        return {"decimals": decimals} if step is None else {"step": step}
    fitting = default_step(sigma)
    grid = visible_grid(column.x, column.kind, fitting)
    return {} if grid is None or suits(fitting, grid) else {"step": step_for(fitting, grid)}


def frontier(risk: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Which schemes are on the frontier, where no other has both less risk and less loss."""
    order = np.lexsort((risk, loss))
    best, on = np.inf, np.zeros(risk.size, dtype=bool)
    for k in order.tolist():
        if risk[k] < best:
            best, on[k] = risk[k], True
    return on
