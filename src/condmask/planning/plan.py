"""Plan a release: the cheapest scheme under a cap on risk, or the safest one under a cap on errors."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.choose import is_skewed
from condmask.disclosure.rails import ENDS
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import default_step
from condmask.missing_codes import drop_codes
from condmask.planning.candidates import NARROW, Candidate, Column, constant_guess, evaluate, frontier
from condmask.planning.predicted import QUANTILES, RELATED
from condmask.planning.result import NAMES, Plan, Suggestion
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.parameters import choices_of
from condmask.strata import labels_of, pools_of
from condmask.visible_grid import step_for, suits, visible_grid

LOG = logging.getLogger(__name__)

P = tuple(round(0.1 * k, 1) for k in range(1, 10))
SHARES = (0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # sigma over the standard deviation
LOGARITHMS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
CLOSE = 1.5  # times the least loss: the most that the safest scheme may lose


def plan(
    x: Any, *, max_risk: Mapping[float, float] | None = None,
    max_record_risk: Mapping[float, float] | None = None, max_error: Mapping[str, float] | None = None,
    d: Any = None, other: Any = None, p: Any = None, sigma: Any = None, noise: str = "normal",
    reverse_mapping: bool | None = None, scale: str | None = None, donors: str = "permutation",
    decimals: int | None = None, step: float | None = None, strata: Any = None, small_strata: str = "refuse",
    missing: Any = (), missing_as: str = "code", target: str = "population",
) -> Plan:  # fmt: skip
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
    noise : str
        As for `ConditionalMasking`.
    reverse_mapping : bool, optional
        Whether to try schemes with or without reverse mapping; by default both.
    scale : {"linear", "log"}, optional
        Scale for schemes with reverse mapping. By default "linear"; for amounts, if `sigma` is left out,
        "log". Amounts are columns without negative values whose upper half spreads more than twice as far as
        the lower one (the 10%, 50% and 90% quantiles of those above 0).
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
        this column. None is beaten by another in both mean risk and loss.

    Raises
    ------
    ValueError
        If a cap is met by no scheme tried; if names or distances are wrong; if no scheme can mask the data;
        if values look like codes for missing ones and `missing` does not say whether they are.

    See Also
    --------
    Plan.check : compares predicted errors with those of simulated releases.

    Notes
    -----
    Risks are those of the best attacker of `risk`, of up to 16,384 records in 512 cells. Standard errors
    follow from the originals by the theorem of docs/inference.rst. With reverse mapping, errors about the
    file are 0 for statistics of the column alone. Only the chances of rare values are simulated.
    docs/guide_publisher.rst goes from a file to a decision.

    Cost: about .03 s a scheme for 100,000 records, and the audits of the schemes suggested.

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
    caps, record_caps = _caps(max_risk, "max_risk"), _caps(max_record_risk, "max_record_risk")
    limits = _limits(max_error, [*(RELATED if other is not None else ()), "mean", "std", *QUANTILES])
    groups = _groups(strata)
    common = {"strata": tuple(groups) or None, "small_strata": small_strata, "missing": missing}
    common |= {"missing_as": missing_as, "noise": noise}
    column = _column(x, other, groups, ConditionalMasking(0.5, 1.0, donors=donors, **common))
    distances = _distances(d, [*caps, *record_caps], column.x)
    if scale is not None:
        _checks.choice(scale, "scale", choices_of("scale"))
    if step is not None:
        _checks.positive(step, "step")  # without a grid, masking refuses every scheme
    added = {"donors": donors, "decimals": decimals, "step": step}
    ways: list[dict[str, Any]] = [{"reverse_mapping": True, "scale": scale}, added]
    if reverse_mapping is not None:
        ways = ways[:1] if _checks.truth(reverse_mapping, "reverse_mapping") else ways[1:]
    schemes = _schemes(column, _several(P if p is None else p, "p"), sigma, ways, common)
    LOG.info("trying %d schemes on %d records", len(schemes), column.x.size)
    candidates = [evaluate(column, scheme, distances) for scheme in schemes]
    made = Plan(
        column.x.size, tuple(distances.tolist()), constant_guess(column, distances), candidates, [], caps,
        record_caps, limits, target, column,
    )  # fmt: skip
    if not made.allowed.any():
        raise ArgumentError(_unmet(made))
    capped = bool(caps or record_caps or not limits)
    chosen = _suggested(_accepted(made, distances), capped=capped)
    named = (NAMES[:1] if capped else NAMES[2:], NAMES[::2], NAMES)[len(chosen) - 1]
    made.suggestions.extend(map(Suggestion, named, chosen))
    return made


def _schemes(
    column: Column, chances: Sequence[Any], sigma: Any, ways: list[dict[str, Any]], common: dict[str, Any]
) -> list[ConditionalMasking]:
    """Every combination that can mask the data; refused if none can."""
    found, refusal = [], None
    for way in ways:
        options = dict(way)
        if "scale" in options and options["scale"] is None:
            options["scale"] = "log" if sigma is None and is_skewed(column.x) else "linear"
        for size in _sizes(column.x, options.get("scale")) if sigma is None else _several(sigma, "sigma"):
            try:
                if "step" in way and (way["decimals"], way["step"]) == (None, None):
                    options["step"] = _step(column, float(_checks.positive(size, "sigma")))
                for chance in chances:
                    scheme = ConditionalMasking(chance, size, **options, **common)
                    column.masked(scheme)
                    found.append(scheme)
            except ValueError as error:
                refusal = error
    if not found:
        raise refusal or ArgumentError("p and sigma must name at least one scheme, got none")
    return found


def _sizes(x: np.ndarray, scale: str | None) -> Sequence[float]:
    """Round numbers for sigma."""
    return LOGARITHMS if scale == "log" else [float(f"{share * _spread(x, 'sigma'):.1e}") for share in SHARES]


def _step(column: Column, sigma: float) -> float | None:
    """The default step, by None; where that does not keep the data's own grid, one that does."""
    fitting = default_step(sigma)
    grid = visible_grid(column.x, column.kind, fitting)
    return None if grid is None or suits(fitting, grid) else step_for(fitting, grid)


def _accepted(made: Plan, d: np.ndarray) -> list[Candidate]:
    """The frontier of what masking accepts, of schemes that keep the caps, or that do with means at their
    ends: from the cheapest to the safest."""
    left = [candidate for candidate, ok in zip(made.candidates, made.allowed, strict=True) if ok]
    while left:
        on = frontier(left)
        refused = {
            id(each) for each, best in zip(left, on, strict=True) if best and made.column.refusal(each.scheme)
        }
        if not refused:
            front = [each for each, best in zip(left, on, strict=True) if best]
            return sorted(front, key=lambda each: each.loss)
        mended = [_with_ends(each, made.column, d) for each in left if id(each) in refused]
        left = [each for each in left if id(each) not in refused]
        left += [each for each in mended if each is not None and made.keeps(each)]
    return []


def _with_ends(candidate: Candidate, column: Column, d: np.ndarray) -> Candidate | None:
    """A scheme of reverse mapping with more values at its ends released as means, which may help."""
    scheme = candidate.scheme
    more = [count for count in ENDS if count > scheme.aggregate_ends]
    if not (scheme.reverse_mapping and more) or column.refusal(scheme) == NARROW:
        return None
    return evaluate(column, replace(scheme, aggregate_ends=more[0]), d)


def _suggested(front: list[Candidate], *, capped: bool) -> list[Candidate]:
    """The cheapest of these; the safest whose intervals are not much longer; and what lies best between."""
    close = [each for each in front if not capped or each.loss <= CLOSE * front[0].loss]
    if len(close) < 3:
        return close
    (a, risky), (b, safe) = ((each.loss, each.risk.mean()) for each in (close[0], close[-1]))
    worth = [(each.loss - a) / (b - a) + (each.risk.mean() - safe) / (risky - safe) for each in close[1:-1]]
    return [close[0], close[1 + int(np.argmin(worth))], close[-1]]


def _unmet(made: Plan) -> str:
    """What to say where no scheme keeps the caps."""
    every = [made.capped(candidate) for candidate in made.candidates]
    said = " and ".join(
        f"{rows[0][0]} at most {rows[0][2]:g} (the least is {min(figure for _, figure, _ in rows):.4g})"
        for rows in zip(*every, strict=True)
    )
    return (
        "max_risk and max_record_risk and max_error must be met by one of the "
        f"{len(every)} schemes tried, got none with {said}"
    )


# --- what is given ---


def _several(values: Any, name: str) -> Sequence[Any]:
    if isinstance(values, str | float | int):
        return [values]
    with _checks.converting(values, name, "one value or a sequence of several"):
        return list(values)


def _groups(strata: Any) -> dict[str, Any]:
    """The columns of strata by name; a series has its own name, an array that of the argument."""
    if strata is None or isinstance(strata, Mapping):
        return dict(strata or {})
    if frames.is_frame(strata):
        return {name: frames.table_column(strata, name) for name in frames.column_names(strata)}
    return {frames.series_name(strata) or "strata": strata}


def _column(x: Any, other: Any, groups: Mapping[str, Any], common: ConditionalMasking) -> Column:
    """The column as given, and without gaps and codes in ascending order; codes have to be declared."""
    given = {"x": frames.column(x, "x")}
    if other is not None:
        given["other"] = frames.column(other, "other")
        _checks.same_length(given["other"].array, "other", given["x"].array.size, "x")
    arrays = {name: column.array for name, column in given.items()}
    kinds = {name: column.kind for name, column in given.items()}
    values, _ = drop_codes(dict.fromkeys(given, common), arrays, kinds, "omit")
    labels = labels_of(dict(groups) or None, common.strata, arrays["x"].size, "x", "plan")
    pools, _ = pools_of(common, {"x": values["x"]}, labels, "omit")
    rows = np.argsort(values["x"], kind="stable")
    rows = rows[~np.logical_or.reduce([np.isnan(array[rows]) for array in values.values()])]
    _checks.at_least_two(rows.size, "x")
    beside = values["other"][rows] if other is not None else None
    code = pools.pool[rows] if pools is not None and labels else None
    return Column(values["x"][rows], beside, code, arrays["x"], kinds["x"], labels, given["x"].name)


def _given(given: Any, name: str, what: str) -> dict[Any, float]:
    """Caps, all positive."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not given:
        raise ArgumentTypeError(f"{name} must be a dict of {what}, got {_checks.shown(given)}")
    return {key: float(_checks.positive(cap, name)) for key, cap in given.items()}


def _caps(given: Any, name: str) -> dict[float, float]:
    caps = _given(given, name, "risks by distance")
    return {float(_checks.positive(at, name)): _checks.probability(cap, name) for at, cap in caps.items()}


def _limits(given: Any, names: Sequence[str]) -> dict[str, float]:
    limits = _given(given, "max_error", "standard errors by statistic")
    named = {"quantile 0.5" if name == "median" else name: cap for name, cap in limits.items()}
    return {_checks.choice(name, "max_error", names): cap for name, cap in named.items()}


def _distances(d: Any, caps: list[float], x: np.ndarray) -> np.ndarray:
    given = np.atleast_1d(_checks.few_distances(d, "d")).ravel() if d is not None else np.empty(0)
    distances = np.unique(np.concatenate((given, caps)))
    return distances if distances.size else np.array([float(f"{_spread(x, 'd') / 4.0:.0e}")])


def _spread(x: np.ndarray, left_out: str) -> float:
    """The standard deviation, from which the argument left out is chosen."""
    spread = float(x.std())
    if not spread > 0.0:
        raise ArgumentError(f"x must not be constant if {left_out} is left out, got a single value")
    return spread
