"""Schemes that hide which records were swapped: reverse mapping, and coarser steps. Each is tried."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask.audit_input import AuditInput
from condmask.disclosure import causes, guard_rails
from condmask.disclosure.audit_result import Audit, Proposal
from condmask.disclosure.release_audit import audit_columns
from condmask.disclosure.swap_attack import FULL, HALF
from condmask.grid import COARSEST, default_step, round_and_pass, shown
from condmask.visible_grid import step_for, suits, visible_grid

LOG_SIGMAS = (0.1, 1.0)
SKEWED = 2.0  # times as far the upper decile lies from the median as the lower one
ENDS = 3  # values at either end, where these are what comes back to its record
TRIED = 4  # coarser steps


def with_proposals(audit: Audit, data: AuditInput, schemes: dict[str, Any]) -> Audit:
    """The audit with the schemes that hide who was swapped, or else the best coarser step tried.

    If equal values give it away, donors from a permutation alone if that suffices, else with coarser steps.
    """
    more = ""
    if any(cause.name == "ties" for cause in audit.causes):
        schemes = {name: replace(scheme, donors="permutation") for name, scheme in schemes.items()}
        alone = Proposal(schemes, 'pass donors="permutation"', audit_columns(data, schemes, FULL))
        if alone.hides:
            return replace(audit, proposals=(alone,))
        more = f"{alone.remedy}, "
    tried = (reverse_mapping(data, schemes), _coarser(data, schemes, more))
    proposals = tuple(proposal for proposal in tried if proposal is not None)
    return replace(audit, proposals=tuple(p for p in proposals if p.hides) or proposals)


def reverse_mapping(data: AuditInput, schemes: dict[str, Any]) -> Proposal | None:
    """Reverse mapping with the same p, noise and strata; None if that hides nothing.

    The linear scale is tried first, then the log scale. It is the other way round for skewed amounts: none is
    negative, and the upper decile of the positive ones lies more than twice as far from their median as the
    lower one. On the log scale sigma gives as much noise at the median as before, within .1 to 1. The ends
    are aggregated if rare values there come back to their records.
    """
    p = next(iter(schemes.values())).p
    if guard_rails.review_clear(data).refusals or not guard_rails.pools_hold(data, p):
        return None
    for ends in (0, ENDS):
        scales: dict[str, dict[str, Any]] = {}
        for name, scheme in schemes.items():
            scale = _scale(data.only(name), name, scheme, ends)
            if scale is not None:
                scales[name] = scale
        if len(scales) < len(schemes):
            continue
        proposed = {name: _reversed(scheme, scales[name], ends) for name, scheme in schemes.items()}
        if guard_rails.hold(data, proposed):
            audit = audit_columns(data, proposed, FULL)
            proposal = Proposal(proposed, _how_to_reverse(scales, ends), audit)
            return proposal if proposal.hides else None
    return None


def _scale(data: AuditInput, name: str, scheme: Any, ends: int) -> dict[str, Any] | None:
    """The scale on which the guard rails hold for one column, and sigma if it is the log scale."""
    values = data.values[name]
    sizes = values[values > 0.0]
    scales: list[dict[str, Any]] = [{}]
    if sizes.size and np.nanmin(values) >= 0.0:
        low, middle, high = np.quantile(sizes, (0.1, 0.5, 0.9), overwrite_input=True)
        log = {"scale": "log", "sigma": float(np.clip(scheme.sigma / middle, *LOG_SIGMAS).round(3))}
        scales = [log, {}] if high - middle > SKEWED * (middle - low) else [{}, log]
    for scale in scales:
        if guard_rails.hold(data, {name: _reversed(scheme, scale, ends)}):
            return scale
    return None


def _reversed(scheme: Any, scale: dict[str, Any], ends: int) -> Any:
    options = {"reverse_mapping": True, "aggregate_ends": ends, "decimals": None, "step": None}
    return replace(scheme, **options, donors="permutation", **scale)


def _how_to_reverse(scales: dict[str, dict[str, Any]], ends: int) -> str:
    parts = ["pass reverse_mapping=True", *([f"aggregate_ends={ends}"] if ends else [])]
    for name, scale in scales.items():
        if scale:
            options = f'scale="log", sigma={scale["sigma"]:g}'
            parts.append(options if len(scales) == 1 else f"{options} for {name!r}")
    return ", ".join(parts)


# --- coarser steps ---


class _Step(NamedTuple):
    """A coarser scheme, how to get it, and whether the data have to be rounded for it."""

    scheme: Any
    remedy: str
    rounds: bool


def _coarser(data: AuditInput, schemes: dict[str, Any], more: str) -> Proposal | None:
    """The first steps that hide the coins of each visible column, or the best of those tried."""
    better, remedies, rounds = dict(schemes), [], False
    for name, scheme in schemes.items():
        column = data.only(name)
        alone = audit_columns(column, {name: scheme}, HALF)
        if not alone.visible:
            continue
        best, chosen = (True, alone.guessed + alone.certain), None
        for step in _steps(data.values[name], data.kinds[name], scheme):
            try:
                audit = audit_columns(column, {name: step.scheme}, HALF)
            except ValueError:  # the grid cannot hold the values
                continue
            rank = audit.visible or audit.unchanged > causes.UNCHANGED, audit.guessed + audit.certain
            if rank < best:
                best, chosen = rank, step
            if not rank[0]:
                break
        if chosen is not None:
            better[name], rounds = chosen.scheme, rounds or chosen.rounds
            remedies.append(chosen.remedy if len(schemes) == 1 else f"{chosen.remedy} for {name!r}")
    if not remedies:
        return None
    return Proposal(better, more + ", ".join(remedies), audit_columns(data, better, FULL), rounds)


def _steps(values: np.ndarray, kind: str, scheme: Any) -> Iterator[_Step]:
    """A grid that suits the data and coarser ones, the finest first; none above half of sigma."""
    if not np.fmax.reduce(values) > 0.0 and not np.fmin.reduce(values) < 0.0:
        return
    now, most = scheme.step or default_step(scheme.sigma), COARSEST * scheme.sigma
    grid = visible_grid(values, kind, now)
    if grid is None and scheme.step == 0.0:
        yield _Step(replace(scheme, step=None), "leave step out", False)
    if grid is not None and not suits(scheme.step, grid):
        step = step_for(now, grid)
        if step <= most:
            yield _Step(_on(scheme, step), f"pass step={shown(step)}", False)
    least = max(now, 0.0 if grid is None else grid.step)
    powers = 10.0 ** np.arange(np.floor(np.log10(least)), np.floor(np.log10(most)) + 1.0)
    steps = [float(f"{times * power:.1g}") for power in powers for times in (1.0, 5.0)]
    for step in [step for step in steps if least < step <= most][-TRIED:]:
        yield _Step(_on(scheme, step), round_and_pass(step), True)


def _on(scheme: Any, step: float) -> Any:
    return replace(scheme, decimals=None, step=step)
