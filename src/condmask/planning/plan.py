"""Planning a release: the cheapest scheme under a cap on risk, or the safest under a cap on errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.planning import grid
from condmask.planning.candidate import Candidate, Column, candidate, column_of, statistics
from condmask.planning.result import Plan, Suggestion
from condmask.risks import plain
from condmask.schemes.audit import audit

CLOSE = 1.5  # times the least loss, up to which safety is looked for
TRIES = 6  # schemes whose coins are looked at for one suggestion


def plan(
    x: Any,
    *,
    max_risk: Mapping[float, float] | None = None,
    max_error: Mapping[str, float] | None = None,
    d: Any = None,
    other: Any = None,
    p: Any = None,
    sigma: Any = None,
    noise: Any = "normal",
    donors: Any = "sample",
    decimals: int | None = None,
    step: float | None = None,
    target: str = "population",
) -> Plan:
    """Which p, sigma and noise to take for a file: risk against errors, computed before anything is masked.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    max_risk : dict of float to float, optional
        For a distance d the share of records that the best attacker may come nearer than d (see `risk`).
    max_error : dict of str to float, optional
        For "mean", "std", "median", "quantile 0.1" ... "quantile 0.9" or "correlation" the largest standard
        error of its estimate, in the units of the data.
    d : float or array_like, optional
        Distances at which risks are told; by default those of `max_risk`. Needed where that is left out.
    other : array_like of shape (n,), optional
        A column that is not masked, for the error of its correlation with `x`.
    p, sigma : float or sequence of float, optional
        Tried in all combinations. By default nine of each, sigma from a tenth of the standard deviation to
        twice that.
    noise, donors : str, or sequence of them
        As of `ConditionalMasking`; sequences are tried in all combinations.
    decimals, step : optional
        As of `ConditionalMasking`. By default a step that suits the data.
    target : {"population", "file"}
        What errors are about, those in `max_error` and in tables: the population that the file is a sample
        of, or the original file.

    Returns
    -------
    Plan
        All schemes with risk and errors, the frontier, and up to three suggestions, whose coins are hidden.

    Raises
    ------
    ValueError
        If a cap cannot be met: below what a constant guess reaches, or by any scheme tried; if names or
        distances are wrong; if no scheme can mask the data.

    See Also
    --------
    Plan.check : compares predicted errors with those of simulated releases.

    Notes
    -----
    Risks are those of the best attacker of `risk`, tried on up to 8,192 records. Standard errors follow from
    the originals by the theorem of docs/inference.rst; nothing is simulated. docs/choosing.rst goes from a
    file to a decision.

    Cost: some .03 s a scheme for 100,000 records, and the audit of what is suggested.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
    >>> found = cm.plan(x, max_risk={500: 0.45}, p=[0.3, 0.6], sigma=[500.0, 1000.0, 2000.0])
    >>> found.best.scheme
    ConditionalMasking(p=0.6, sigma=1000.0)
    """
    target = _checks.choice(target, "target", ("population", "file"))
    caps = {} if max_risk is None else _caps(max_risk)
    distances = _distances(d, caps)
    column = _column(x, other)
    limits = {} if max_error is None else _limits(max_error, other=other is not None)
    tried = grid.schemes(column, p=p, sigma=sigma, noise=noise, donors=donors, decimals=decimals, step=step)
    constant = plain.by_constant(column.original(tried[0]), distances)[0]
    _refuse_hopeless(caps, distances, constant)
    found = [candidate(column, scheme, distances) for scheme in tried]
    scored = _Scored(found, distances, caps, limits, target)
    made = Plan(
        column.x.size, tuple(distances.tolist()), constant, found, grid.sorted_out(scored.risk, scored.loss),
        scored.allowed, [], caps, limits, target, column,
    )  # fmt: skip
    scored.refuse_none()
    made.suggestions.extend(_suggested(made, scored, column, distances))
    return made


class _Scored:
    """Schemes by risk and loss, and which keep the caps."""

    def __init__(
        self, found: list[Candidate], d: np.ndarray, caps: dict[float, float], limits: dict[str, float],
        target: str,
    ) -> None:  # fmt: skip
        self.found, self.d, self.caps, self.limits, self.target = found, d, caps, limits, target
        self.risk = np.array([float(np.mean(each.risk)) for each in found])
        self.loss = np.array([each.loss if np.isfinite(each.loss) else np.inf for each in found])
        self.allowed = np.array([self.keeps(each) for each in found])

    def keeps(self, each: Candidate) -> bool:
        """Whether a scheme keeps all caps."""
        errors = getattr(each, self.target)
        return all(
            each.risk[np.flatnonzero(self.d == at)[0]] <= cap for at, cap in self.caps.items()
        ) and all(errors[name] <= cap for name, cap in self.limits.items())

    def refuse_none(self) -> None:
        if self.allowed.any():
            return
        said = []
        for at, cap in self.caps.items():
            least = min(float(each.risk[np.flatnonzero(self.d == at)[0]]) for each in self.found)
            said.append(f"risk at d={at:g} at most {cap:g} (the least is {least:.3f})")
        for name, cap in self.limits.items():
            least = min(float(getattr(each, self.target)[name]) for each in self.found)
            said.append(f"error of {name} at most {cap:g} (the least is {least:.4g})")
        raise ValueError(
            f"max_risk and max_error must be met by one of the {len(self.found)} schemes, got none with "
            + " and ".join(said)
        )


def _suggested(made: Plan, scored: _Scored, column: Column, d: np.ndarray) -> list[Suggestion]:
    """Three schemes on the frontier of those that keep the caps, whose coins are hidden."""
    seen: dict[Any, Candidate | None] = {}
    cheap = np.lexsort((scored.risk, scored.loss))
    cheap = cheap[scored.allowed[cheap]]
    first = _hidden(cheap, scored, column, d, seen)
    if first is None:
        return []
    most = np.inf if made.limits and not made.caps else CLOSE * first.loss
    near, risk = cheap[scored.loss[cheap] <= most], float(np.mean(first.risk))
    order = near[np.argsort(scored.risk[near], kind="stable")]
    safe = _hidden(order, scored, column, d, seen, loss=most, risk=risk) or first
    lo, hi = min(first.loss, safe.loss), max(first.loss, safe.loss)
    a, b = float(np.mean(safe.risk)), risk
    worth = (scored.loss[near] - lo) / (hi - lo or 1.0) + (scored.risk[near] - a) / (b - a or 1.0)
    order = near[np.argsort(worth, kind="stable")]
    middle = _hidden(order, scored, column, d, seen, loss=hi, risk=risk) or first
    named = {"most useful": first, "balanced": middle, "safest": safe}
    return [Suggestion(name, each, _sentence(name, each, made)) for name, each in named.items()]


def _hidden(
    order: np.ndarray, scored: _Scored, column: Column, d: np.ndarray, seen: dict[Any, Candidate | None],
    *, loss: float = np.inf, risk: float = np.inf,
) -> Candidate | None:  # fmt: skip
    """The first of some schemes whose coins are hidden, or that has a neighbour whose are.

    A neighbour may be far off: what loses or risks more than is asked for is passed over.
    """
    for k in order[:TRIES].tolist():
        each = scored.found[k]
        if each.scheme not in seen:
            told = audit(column.x, each.scheme)
            better: Candidate | None = each
            if told.visible:
                better = None
                coarser = [prop.scheme for prop in told.proposals if prop.audit and not prop.audit.visible]
                if coarser and column.fits(coarser[0]):
                    own = candidate(column, coarser[0], d)
                    better = own if scored.keeps(own) else None
            seen[each.scheme] = better
        found = seen[each.scheme]
        if found is not None and not (found.loss > loss or np.mean(found.risk) > risk):
            return found
    return None


def _sentence(name: str, each: Candidate, made: Plan) -> str:
    """What a suggestion does, for a reader."""
    risks = ", ".join(
        f"{risk:.3f} at d = {at:g} ({risk / base:.2f} times what a constant guess reaches)"
        for at, risk, base in zip(made.d, each.risk, made.constant, strict=True)
        if base > 0.0
    )
    why = {
        "most useful": "loses least of those that keep the caps",
        "balanced": "stands between the two others",
        "safest": "lets an attacker come nearest to the fewest records"
        + (f" of those within {CLOSE:g} times the least loss" if made.caps or not made.limits else ""),
    }[name]
    return (
        f"{why}: intervals are {each.loss:.2f} times as long as without masking, and the best attacker "
        f"reaches {risks}"
    )


# --- what is given ---


def _column(x: Any, other: Any) -> Column:
    taken = frames.column(x, "x")
    there = ~np.isnan(taken.array)
    beside = None
    if other is not None:
        beside = frames.column(other, "other").array
        _checks.same_length(beside, "other", taken.array.size, "x")
        there &= ~np.isnan(beside)
        beside = beside[there]
    _checks.at_least_two(int(np.count_nonzero(there)), "x")
    return column_of(np.ascontiguousarray(taken.array[there]), taken.kind, beside)


def _caps(max_risk: Any) -> dict[float, float]:
    if not isinstance(max_risk, Mapping) or not max_risk:
        raise TypeError(f"max_risk must be a dict of risks by distance, got {max_risk!r}")
    return {
        float(_checks.positive(at, "max_risk")): float(_checks.probability(cap, "max_risk"))
        for at, cap in max_risk.items()
    }


def _limits(max_error: Any, *, other: bool) -> dict[str, float]:
    if not isinstance(max_error, Mapping) or not max_error:
        raise TypeError(f"max_error must be a dict of standard errors by statistic, got {max_error!r}")
    named, known = {}, statistics(other=other)
    for name, cap in max_error.items():
        own = "quantile 0.5" if name == "median" else name
        if own not in known:
            raise ValueError(f"max_error must name {', '.join(known)}, got {name!r}")
        named[own] = float(_checks.positive(cap, "max_error"))
    return named


def _distances(d: Any, caps: dict[float, float]) -> np.ndarray:
    given = np.atleast_1d(_checks.distances(d, "d")).ravel() if d is not None else np.empty(0)
    found = np.unique(np.concatenate((given, [*caps])))
    if not found.size:
        raise ValueError("d must be given where max_risk is left out, got None")
    return found


def _refuse_hopeless(caps: dict[float, float], d: np.ndarray, constant: np.ndarray) -> None:
    for at, cap in caps.items():
        least = float(constant[np.flatnonzero(d == at)[0]])
        if cap < least:
            raise ValueError(
                f"max_risk at d={at:g} must be at least {least:.3f}, what a constant guess reaches whatever "
                f"is released, got {cap:g}"
            )
