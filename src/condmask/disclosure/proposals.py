"""Schemes that may hide the coins that one shows, the gentlest first."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask._grid import decimal_grid, default_step, round_and_pass, shown, step_for, suits, visible_grid
from condmask.grids import COARSEST_HEAP, largest_heap

LOG_SIGMAS = (0.1, 1.0)
LOG_STEPS = (10.0, 5.0, 3.0)  # of which part of sigma a step of the logarithm is
TRIED = 4  # coarser steps


class Proposal(NamedTuple):
    """A scheme and how to come by it."""

    scheme: Any
    remedy: str


def proposals(values: np.ndarray, kind: str, scheme: Any) -> Iterator[Proposal]:
    """Schemes with the same p, noise and donors: a grid that suits the data, heaps, coarser ones, logarithms.

    The coarsest step, and the coarsest heap, is at most half of sigma. On the log scale sigma is such that
    the noise at the median is as large as before, but .1 to 1.
    """
    values = values[~np.isnan(values)]
    if scheme.scale == "log":
        yield from _coarser_logarithms(scheme, "pass")
    elif values.any():
        yield from _linear(values, kind, scheme)
        sigma = float(np.clip(scheme.sigma / np.median(np.abs(values[values != 0.0])), *LOG_SIGMAS).round(3))
        log = replace(scheme, sigma=sigma, decimals=None, step=None, heaps=None, scale="log")
        said = f'pass scale="log", sigma={sigma:g}'
        yield Proposal(log, said)
        yield from _coarser_logarithms(log, f"{said},")


def _linear(values: np.ndarray, kind: str, scheme: Any) -> Iterator[Proposal]:
    """A grid that suits the data, heaps, and coarser grids."""
    now, most = scheme.step or default_step(scheme.sigma), COARSEST_HEAP * scheme.sigma
    own = visible_grid(values, kind, now)
    if own is None and scheme.step == 0.0:
        yield Proposal(replace(scheme, step=None), "leave step out")
    if own is not None and not suits(scheme.step, own):
        step = step_for(now, own)
        if step <= most:
            yield Proposal(_on(scheme, step), f"pass step={shown(step)}")
    base = own if own is not None or scheme.decimals is None else decimal_grid(scheme.decimals)
    heap = None if base is None else largest_heap(base, scheme.sigma)
    if base is not None and heap is not None and heap != scheme.heaps:
        same = scheme.step == base.step and not scheme.rounds
        remedy = f"heaps={shown(heap)}" if same else f"step={shown(base.step)}, heaps={shown(heap)}"
        yield Proposal(_on(scheme, base.step, heaps=heap), f"pass {remedy}")
    least = max(now, 0.0 if own is None else own.step)
    powers = 10.0 ** np.arange(np.floor(np.log10(least)), np.floor(np.log10(most)) + 1.0)
    steps = [float(f"{times * power:.1g}") for power in powers for times in (1.0, 5.0)]
    for step in [step for step in steps if least < step <= most][-TRIED:]:
        yield Proposal(_on(scheme, step), round_and_pass(step))


def _coarser_logarithms(scheme: Any, said: str) -> Iterator[Proposal]:
    for part in LOG_STEPS:
        step = float(f"{scheme.sigma / part:.1g}")
        if scheme.step < step <= COARSEST_HEAP * scheme.sigma:
            yield Proposal(replace(scheme, step=step), f"{said} step={shown(step)}")


def _on(scheme: Any, step: float, heaps: float | None = None) -> Any:
    return replace(scheme, decimals=None, step=step, heaps=heaps)
