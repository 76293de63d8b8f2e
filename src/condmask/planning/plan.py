"""Plan a release: the cheapest scheme under a cap on risk, or the safest one under a cap on errors."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.missing_codes import drop_codes
from condmask.planning import search_grid
from condmask.planning.candidates import Candidate, Column, by_constant, column_of, evaluate, statistics
from condmask.planning.gate import Gate
from condmask.planning.result import NAMES, Plan, Suggestion
from condmask.schemes.conditional import ConditionalMasking
from condmask.strata import labels_of, pools_of

LOG = logging.getLogger(__name__)

CLOSE = 1.5  # times the least loss: the most that the safest scheme may lose
ENDS = 3  # values at either end that become their means, where the largest ones come back too often
TRIES = 12  # schemes of a kind on which the audit is tried for one suggestion


def plan(
    x: Any,
    *,
    max_risk: Mapping[float, float] | None = None,
    max_record_risk: Mapping[float, float] | None = None,
    max_error: Mapping[str, float] | None = None,
    d: Any = None,
    other: Any = None,
    p: Any = None,
    sigma: Any = None,
    noise: Any = "normal",
    reverse_mapping: bool | None = None,
    scale: Any = None,
    donors: Any = "permutation",
    decimals: int | None = None,
    step: float | None = None,
    strata: Any = None,
    small_strata: str = "refuse",
    missing: Any = (),
    missing_as: str = "code",
    target: str = "population",
) -> Plan:
    """Choose p, sigma and noise for a file: risk against errors, computed before anything is masked.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    max_risk : dict of float to float, optional
        By distance d, the largest share of records that the best attacker of `risk` may guess closer than d.
    max_record_risk : dict of float to float, optional
        By distance d, the largest chance for any single record that its released value is nearer than d to
        its own. For the same `max_risk`, few swaps and wide noise cost least, but leave records that were not
        swapped most exposed to chance. This cap limits that.
    max_error : dict of str to float, optional
        The largest standard error, in the units of the data, of the estimate of "mean", "std", "median",
        "quantile 0.1" ... "quantile 0.9" and, with `other`, "correlation", "slope" or "difference".
    d : float or array_like, optional
        Distances at which risks are computed. By default those of `max_risk` and `max_record_risk`; without
        caps, a quarter of the standard deviation, to one digit.
    other : array_like of shape (n,), optional
        A column that is not masked, for the errors of its correlation with `x`, of the slope of `x` on it,
        and of the difference in means between the records above its median and the rest.
    p, sigma : float or sequence of float, optional
        Values tried in all combinations. By default nine of each, sigma from a tenth of the standard
        deviation to twice that, or from .05 to 1 on the log scale.
    noise : str, or sequence of them
        As for `ConditionalMasking`; sequences are tried in all combinations.
    reverse_mapping : bool, optional
        Whether to try schemes with or without reverse mapping; by default both.
    scale : {"linear", "log"}, or both, optional
        Scale for schemes with reverse mapping. By default "linear"; for amounts, if `sigma` is left out, also
        "log". Amounts are columns without negative values whose upper half spreads more than one and a half
        times as far as the lower one (the 5%, 50% and 95% quantiles).
    donors, decimals, step : optional
        For schemes without reverse mapping. By default a step that suits the data.
    strata : series, data frame or dict of columns, optional
        Columns within whose groups donors are drawn; several are crossed.
    small_strata, missing, missing_as
        As for `ConditionalMasking`; codes are left out of `other`, too.
    target : {"population", "file"}
        What errors in `max_error` and in tables refer to: the population from which the file is a sample, or
        the original file.

    Returns
    -------
    Plan
        All schemes with risk and errors, the frontier, and up to three suggestions that `mask` accepts for
        this column. All differ, none is beaten by another, and the safest one has the least risk.

    Raises
    ------
    ValueError
        If a cap is below the risk of a constant guess, or is met by no scheme tried; if names or distances
        are wrong; if no scheme can mask the data; if values look like codes for missing ones and `missing`
        does not say whether they are.

    See Also
    --------
    Plan.check : compares predicted errors with those of simulated releases.

    Notes
    -----
    Risks are those of the best attacker of `risk`, tried on up to 8,192 records, or on 256 values released by
    reverse mapping. Standard errors follow from the originals by the theorem of docs/inference.rst. With
    reverse mapping, errors about the file are 0 for statistics of the column alone. Only the chances of rare
    values are simulated. docs/choosing.rst goes from a file to a decision.

    Cost: about .05 s a scheme for 100,000 records, and the audits of the schemes suggested.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
    >>> found = cm.plan(x, max_risk={500: 0.45}, p=[0.3, 0.6], sigma=[500.0, 1000.0, 2000.0])
    >>> found.best.scheme
    ConditionalMasking(p=0.3, sigma=1000.0, reverse_mapping=True, aggregate_ends=3)
    """
    target = _checks.choice(target, "target", ("population", "file"))
    caps = {} if max_risk is None else _caps(max_risk, "max_risk")
    of_records = {} if max_record_risk is None else _caps(max_record_risk, "max_record_risk")
    groups = _groups(strata)
    common: dict[str, Any] = {"strata": tuple(groups) or None, "small_strata": small_strata}
    common |= {"missing": missing, "missing_as": missing_as}
    column = _column(x, other, groups, ConditionalMasking(0.5, 1.0, **common))
    distances = _distances(d, [*caps, *of_records], column.x)
    limits = {} if max_error is None else _limits(max_error, other=other is not None)
    schemes = search_grid.schemes(
        column, p=p, sigma=sigma, noise=noise, reverse_mapping=reverse_mapping, scale=scale, donors=donors,
        decimals=decimals, step=step, common=common,
    )  # fmt: skip
    LOG.info("trying %d schemes on %d records", len(schemes), column.x.size)
    constant = by_constant(column.file(schemes[0]), distances)
    _refuse_hopeless(caps, distances, constant)
    candidates = [evaluate(column, scheme, distances) for scheme in schemes]
    scored = _Scored(candidates, distances, caps, of_records, limits, target)
    plan_ = Plan(
        column.x.size, tuple(distances.tolist()), constant, candidates,
        search_grid.frontier(scored.risk, scored.loss),
        scored.allowed, [], caps, of_records, limits, target, column,
    )  # fmt: skip
    scored.refuse_none()
    plan_.suggestions.extend(_named(_suggested(scored, column, distances), scored, plan_))
    return plan_


class _Scored:
    """Schemes by risk and loss, and which of them keep the caps."""

    def __init__(
        self, candidates: list[Candidate], d: np.ndarray, caps: dict[float, float],
        of_records: dict[float, float], limits: dict[str, float], target: str,
    ) -> None:  # fmt: skip
        self.candidates, self.d, self.limits, self.target = candidates, d, limits, target
        self.capped = bool(caps or of_records or not limits)
        self.caps = {"risk": ("risk", caps), "risk of a record": ("record_risk", of_records)}
        self.risk = np.array([float(np.mean(candidate.risk)) for candidate in candidates])
        loss = np.array([candidate.loss for candidate in candidates])
        self.loss = np.where(np.isfinite(loss), loss, np.inf)
        self.allowed = np.array([self.keeps(candidate) for candidate in candidates])

    def keeps(self, candidate: Candidate) -> bool:
        """Whether a scheme keeps all caps."""
        errors = getattr(candidate, self.target)
        return all(
            self.at(candidate, what, d) <= cap for what, caps in self.caps.values() for d, cap in caps.items()
        ) and all(errors[name] <= cap for name, cap in self.limits.items())

    def at(self, candidate: Candidate, what: str, d: float) -> float:
        """One of the risks at a distance."""
        return float(getattr(candidate, what)[np.flatnonzero(self.d == d)[0]])

    def refuse_none(self) -> None:
        if self.allowed.any():
            return
        unmet = []
        for name, (what, caps) in self.caps.items():
            for d, cap in caps.items():
                least = min(self.at(candidate, what, d) for candidate in self.candidates)
                unmet.append(f"{name} at d={d:g} at most {cap:g} (the least is {least:.3f})")
        for name, cap in self.limits.items():
            least = min(float(getattr(candidate, self.target)[name]) for candidate in self.candidates)
            unmet.append(f"error of {name} at most {cap:g} (the least is {least:.4g})")
        raise ArgumentError(
            "max_risk and max_record_risk and max_error must be met by one of the "
            f"{len(self.candidates)} schemes tried, got none with {' and '.join(unmet)}"
        )


def _suggested(scored: _Scored, column: Column, d: np.ndarray) -> list[Candidate]:
    """Up to three schemes that keep the caps and that masking accepts, the cheapest first.

    None is beaten by another, and none has less risk than the last one, at any distance or for any record.
    """
    mended: dict[Any, Candidate | None] = {}

    def first(order: np.ndarray, fits: Callable[[Candidate], bool]) -> Candidate | None:
        """The first of some schemes that masking accepts, or whose neighbour it accepts."""
        tried: Counter[tuple[bool, str]] = Counter()
        for k in order.tolist():
            candidate = scored.candidates[k]
            scheme = candidate.scheme
            kind = (scheme.reverse_mapping, scheme.scale)  # what is refused of one may be fine of another
            if tried[kind] == TRIES or not fits(candidate):
                continue
            if scheme not in mended:
                mended[scheme] = _mended(candidate, scored, column, d)
            accepted = mended[scheme]
            tried[kind] += 1
            if accepted is not None and fits(accepted):  # a neighbour may be far off
                return accepted
        return None

    cheap = np.lexsort((scored.risk, scored.loss))
    cheap = cheap[scored.allowed[cheap]]
    useful = first(cheap, lambda candidate: True)
    if useful is None:
        return []
    most = CLOSE * useful.loss if scored.capped else np.inf
    by_risk = cheap[np.lexsort((scored.loss[cheap], scored.risk[cheap]))]
    safe = first(by_risk, lambda other: other.loss <= most and _safer(other, useful))
    if safe is None:
        return [useful]
    if safe.loss <= useful.loss:
        return [safe]
    lo, a, b = useful.loss, _risk(safe), _risk(useful)
    worth = (scored.loss[cheap] - lo) / (safe.loss - lo) + (scored.risk[cheap] - a) / (b - a)
    middle = first(
        cheap[np.argsort(worth, kind="stable")],
        lambda other: lo < other.loss < safe.loss and _risk(other) < b and _safer(safe, other),
    )
    return [useful, safe] if middle is None else [useful, middle, safe]


def _risk(candidate: Candidate) -> float:
    """The mean over the distances."""
    return float(np.mean(candidate.risk))


def _safer(one: Candidate, other: Candidate) -> bool:
    """Whether a scheme has less risk than another, and nowhere more."""
    everywhere = (one.risk <= other.risk).all() and (one.record_risk <= other.record_risk).all()
    return bool(everywhere and _risk(one) < _risk(other))


def _named(chosen: list[Candidate], scored: _Scored, plan_: Plan) -> list[Suggestion]:
    """Suggestions, the cheapest first; a single one is named after what is asked for."""
    names = {1: NAMES[:1] if scored.capped else NAMES[2:], 2: NAMES[::2], 3: NAMES}.get(len(chosen), ())
    return [
        Suggestion(name, candidate, _sentence(name, candidate, plan_, alone=len(chosen) == 1))
        for name, candidate in zip(names, chosen, strict=True)
    ]


def _mended(candidate: Candidate, scored: _Scored, column: Column, d: np.ndarray) -> Candidate | None:
    """The scheme, or one near it, that masking accepts for the data and that keeps the caps."""
    scheme = candidate.scheme
    if column.refusal(scheme) is None:
        return candidate
    for neighbour in _beside(scheme, column):
        if column.refusal(neighbour) is None:
            mended = evaluate(column, neighbour, d)
            if scored.keeps(mended):
                return mended
    return None


def _beside(scheme: Any, column: Column) -> Iterator[Any]:
    """Schemes near one that is refused: with means at the ends, or as the audit proposes."""
    if scheme.reverse_mapping:
        yield replace(scheme, aggregate_ends=ENDS)
        return
    for proposal in column.gate.audit(scheme).proposals:
        if proposal.hides and not proposal.scheme.reverse_mapping and not proposal.round:
            yield proposal.scheme


def _sentence(name: str, scheme: Candidate, plan_: Plan, *, alone: bool) -> str:
    """What a suggestion does, for a reader."""
    capped = plan_.caps or plan_.record_caps or plan_.limits
    which = (
        "the schemes that keep the caps and pass the audit" if capped else "the schemes that pass the audit"
    )
    why = {
        "most useful": f"It has the shortest intervals of {which}.",
        "balanced": "It lies between the other two.",
        "safest": f"It has the lowest risk of {which}"
        + (
            f", with intervals at most {CLOSE:g} times as long as the shortest."
            if plan_.caps or plan_.record_caps or not plan_.limits
            else "."
        ),
    }[name]
    if alone:
        why = f"It has the shortest intervals and the lowest risk of {which}."
    risks = ", ".join(
        f"{risk:.1%} of the values closer than d = {at:g} ({risk / base:.2f} times as many as a constant "
        "guess)"
        for at, risk, base in zip(plan_.d, scheme.risk, plan_.constant, strict=True)
        if base > 0.0
    )
    exposed = ", ".join(
        f"{chance:.1%} for d = {at:g}" for at, chance in zip(plan_.d, scheme.record_risk, strict=True)
    )
    return (
        f"{why} Intervals are {scheme.loss:.2f} times as long as without masking. The best attacker guesses "
        f"{risks}. For the most exposed record, the chance that its released value is closer than d to its "
        f"own is {exposed}."
    )


# --- what is given ---


def _groups(strata: Any) -> dict[str, Any]:
    """The columns of strata by name; a series has its own name, an array that of the argument."""
    if strata is None:
        return {}
    if isinstance(strata, Mapping):
        return dict(strata)
    if frames.is_frame(strata):
        return {name: frames.table_column(strata, name) for name in frames.column_names(strata)}
    own_name = frames.series_name(strata)
    return {own_name or "strata": strata}


def _column(x: Any, other: Any, groups: Mapping[str, Any], common: ConditionalMasking) -> Column:
    """The column as given and without gaps and codes; refused if codes are not declared."""
    given = frames.column(x, "x")
    n = given.array.size
    columns, kinds = {"x": given.array}, {"x": given.kind}
    if other is not None:
        clear = frames.column(other, "other")
        _checks.same_length(clear.array, "other", n, "x")
        columns["other"], kinds["other"] = clear.array, clear.kind
    values, _ = drop_codes(dict.fromkeys(columns, common), columns, kinds, "omit")
    labels = labels_of(dict(groups) or None, common.strata, n, "x", "plan")
    pools, _ = pools_of(common, {"x": values["x"]}, labels, "omit")
    present = ~np.logical_or.reduce([np.isnan(array) for array in values.values()])
    _checks.at_least_two(int(np.count_nonzero(present)), "x")
    beside = values["other"][present] if other is not None else None
    code = pools.pool[present] if pools is not None and labels else None
    gate = Gate(given.array, given.kind, labels)
    return column_of(np.ascontiguousarray(values["x"][present]), given.kind, beside, code, gate, given.name)


def _caps(given: Any, name: str) -> dict[float, float]:
    if not isinstance(given, Mapping) or not given:
        raise ArgumentTypeError(f"{name} must be a dict of risks by distance, got {_checks.shown(given)}")
    return {
        float(_checks.positive(at, name)): float(_checks.probability(cap, name)) for at, cap in given.items()
    }


def _limits(max_error: Any, *, other: bool) -> dict[str, float]:
    if not isinstance(max_error, Mapping) or not max_error:
        raise ArgumentTypeError(
            f"max_error must be a dict of standard errors by statistic, got {_checks.shown(max_error)}"
        )
    limits, names = {}, statistics(other=other)
    for name, cap in max_error.items():
        statistic = "quantile 0.5" if name == "median" else name
        if statistic not in names:
            raise ArgumentError(f"max_error must name {', '.join(names)}, got {_checks.shown(name)}")
        limits[statistic] = float(_checks.positive(cap, "max_error"))
    return limits


def _distances(d: Any, caps: list[float], x: np.ndarray) -> np.ndarray:
    given = np.atleast_1d(_checks.few_distances(d, "d")).ravel() if d is not None else np.empty(0)
    distances = np.unique(np.concatenate((given, caps)))
    return distances if distances.size else np.array([float(f"{search_grid.spread_of(x, 'd') / 4.0:.0e}")])


def _refuse_hopeless(caps: dict[float, float], d: np.ndarray, constant: np.ndarray) -> None:
    for at, cap in caps.items():
        least = float(constant[np.flatnonzero(d == at)[0]])
        if cap < least:
            raise ArgumentError(
                f"max_risk at d={at:g} must be at least {least:.3f}, what a constant guess reaches without "
                f"any release, got {cap:g}"
            )
