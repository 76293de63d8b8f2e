"""Plan a release: find the cheapest scheme under caps on risk, or the safest under caps on
errors.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.disclosure.choose import is_skewed
from condmask.disclosure.scale import two_digits
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError
from condmask.frames import DataFrame
from condmask.inference.interval import TARGETS
from condmask.marks import refuse_marked
from condmask.masking.parameters import CHOICES, NOT_REVERSE_MAPPING
from condmask.masking.swap_scheme import SwapScheme
from condmask.missing_codes import numbers_of
from condmask.own_grid import own_grid
from condmask.planning.candidates import (
    QUANTILES,
    RELATIONS,
    Candidate,
    PlannedColumn,
    evaluate,
    frontier,
)
from condmask.planning.plan_result import Plan
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.reverse_mapping import ReverseMapping
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.strata import labels_of, pools_of
from condmask.suspected_codes import drop_codes

DEFAULT_P = tuple(round(0.1 * k, 1) for k in range(1, 10))
# sigma over the standard deviation
SIGMA_SHARES = np.array([0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
LOG_SIGMAS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
# a class of schemes, and its parameters but p and sigma
Way = tuple[type[ConditionalMasking] | type[ReverseMapping], dict[str, Any]]
CapKey = TypeVar("CapKey", float, str)  # of caps: distances, or names of statistics
MAX_LOSS_RATIO = 1.5  # of the loss of the safest suggestion to the smallest loss


def plan(
    x: ArrayLike,
    *,
    max_risk: Mapping[float, float] | None = None,
    max_record_risk: Mapping[float, float] | None = None,
    max_error: Mapping[str, float] | None = None,
    d: ArrayLike | None = None,
    other: ArrayLike | None = None,
    p: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    reverse_mapping: bool | None = None,
    scale: str | None = None,
    strata: DataFrame | None = None,
    target: str = "population",
    **options: Any,
) -> Plan:
    """Choose p, sigma and noise for a file: risk against errors, computed before anything is
    masked.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    max_risk : dict of float to float, optional
        By distance d, the largest share of records that the best attacker of `risk` may guess
        closer than d.
    max_record_risk : dict of float to float, optional
        By distance d, the largest chance for any single record that its released value is
        nearer than d to its own. For the same `max_risk`, few swaps and wide noise cost least,
        but leave records that were not swapped most exposed to chance. This cap limits that.
    max_error : dict of str to float, optional
        The largest standard error, in the units of the data, of the estimate of "mean", "std",
        "quantile 0.1" ... "quantile 0.9" and, with `other`, "correlation", "slope" or
        "difference".
    d : float or array_like, optional
        Distances at which risks are computed. By default those of `max_risk` and
        `max_record_risk`; without caps, a quarter of the standard deviation, to one digit.
    other : array_like of shape (n,), optional
        A column that is not masked, for the errors of its correlation with `x`, of the slope
        of `x` on it, and of the difference in means between the records above its median and
        the rest.
    p, sigma : float or sequence of float, optional
        Values tried in all combinations. By default nine of each, sigma from a tenth of the
        standard deviation to twice that, or from .05 to 1 on the log scale.
    reverse_mapping : bool, optional
        Whether to try schemes with or without reverse mapping; by default both.
    scale : {"linear", "log"}, optional
        Scale for schemes with reverse mapping. By default "linear"; for amounts, if `sigma` is
        left out, "log". Amounts are columns without negative values whose upper half spreads
        more than twice as far as the lower one (the 10%, 50% and 90% quantiles of those above
        0).
    strata : data frame or dict of columns, optional
        Columns within whose groups donors are drawn; several are crossed.
    target : {"population", "file"}
        What errors in `max_error` and in tables refer to: the population from which the file
        is a sample, or the original file.
    **options
        Others of `ReverseMapping` and `ConditionalMasking`: noise, small_strata, missing
        (codes are left out of `other`, too), missing_as; and of `ConditionalMasking` alone
        donors, decimals, step, by default a step that suits the data.

    Returns
    -------
    Plan
        All schemes with risk and errors, the frontier, and up to three suggestions that `mask`
        accepts for this column, none beaten by another in both mean risk and loss: the "most
        useful" has the shortest intervals of the schemes that keep the caps; the "safest" has
        the least risk of those with intervals at most half as long again, or of all where
        there are caps on errors alone; "balanced" lies between them.

    Raises
    ------
    ValueError
        If a cap is met by no scheme tried; if names or distances are wrong; if no scheme can
        mask the data; if values look like codes for missing ones and `missing` does not say
        whether they are; if the index of `other` or of a column of `strata` has the labels of
        `x` in another order.

    Notes
    -----
    Risks are those of the best attacker of `risk`, of up to 16,384 records in 512 cells.
    Standard errors follow from the originals by the theorem of docs/inference.rst. By reverse
    mapping, errors about the file are 0 for statistics of the column alone. Only the chances
    of rare values are simulated. docs/guide_publisher.rst goes from a file to a decision.

    Cost: about .03 s a scheme for 100,000 records, and the audits of the schemes suggested.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
    >>> found = cm.plan(x, max_risk={500: 0.45}, p=[0.3, 0.6], sigma=[500.0, 1000.0, 2000.0])
    >>> found.best.scheme
    ReverseMapping(p=0.3, sigma=1000.0, aggregate_ends=3)
    """
    target = _checks.choice(target, "target", tuple(TARGETS))
    options["strata"] = None if strata is None else tuple(frames.column_names(strata))
    column = _planned_column(x, other, strata, ConditionalMasking(0.5, 1.0, **options))
    errors = _checked_caps(max_error, "max_error")
    for name in errors:
        _checks.choice(
            name, "max_error", ["mean", "std", *(RELATIONS if column.related else ()), *QUANTILES]
        )
    risks = _checked_caps(max_risk, "max_risk")
    chances = _checked_caps(max_record_risk, "max_record_risk")
    distances = _planned_distances(d, [*risks, *chances], column.x)
    named = (("risk {:.15g}", risks), ("record risk {:.15g}", chances), ("error of {}", errors))
    caps = {text.format(key): cap for text, given in named for key, cap in given.items()}
    chosen = "log" if sigma is None and is_skewed(column.x) else "linear"
    scale = chosen if scale is None else _checks.choice(scale, "scale", CHOICES["scale"])
    shared = {name: value for name, value in options.items() if name not in NOT_REVERSE_MAPPING}
    ways: list[Way] = [
        (ReverseMapping, shared | {"scale": scale}),
        (ConditionalMasking, options),
    ]
    if reverse_mapping is not None:
        ways = ways[:1] if _checks.boolean(reverse_mapping, "reverse_mapping") else ways[1:]
    candidates = _evaluated_candidates(column, p, sigma, ways, distances)
    n = column.x.size
    d = tuple(distances.tolist())
    rows = [each.row(d, target) for each in candidates]
    allowed = np.array([all(row[key] <= cap for key, cap in caps.items()) for row in rows])
    if not allowed.any():
        raise ArgumentError(_unmet_caps(rows, caps))
    front = frontier([candidates[k] for k in np.flatnonzero(allowed)], column.accepts)
    suggestions = _suggestions(front, MAX_LOSS_RATIO if risks or chances or not errors else np.inf)
    return Plan(n, d, candidates, suggestions, column.refusals, caps, target, allowed, column.name)


def _evaluated_candidates(
    column: PlannedColumn,
    p: ArrayLike | None,
    sigma: ArrayLike | None,
    ways: list[Way],
    d: np.ndarray,
) -> list[Candidate]:
    """Return every combination that can mask the data and be undone, with risks and errors.

    If there is none, the error of the last combination is raised.
    """
    found = []
    refusal = None
    chances = _checks.reals(DEFAULT_P if p is None else p, "p").ravel().tolist()
    for method, options in ways:
        defaults = [two_digits(size) for size in SIGMA_SHARES * column.x.std()]
        if options.get("scale") == "log":
            defaults = [*LOG_SIGMAS]
        sigmas = _checks.reals(defaults if sigma is None else sigma, "sigma").ravel().tolist()
        for size, chance in product(sigmas, chances):
            try:
                scheme: SwapScheme = method(chance, size, **options)
                if not {"decimals", "step"} & options.keys():
                    scheme = _on_own_grid(column, scheme)
                found.append(evaluate(column, scheme, d))
            except CondmaskError as error:
                refusal = error
    if not found:
        raise refusal or ArgumentError("p and sigma must name at least one scheme, got none")
    return found


def _on_own_grid(column: PlannedColumn, scheme: SwapScheme) -> SwapScheme:
    """Return the scheme with the step of the grid of the data, if it rounds and they have one.

    Data are rounded to a default step, but refused if they do not lie on a step that is named.
    """
    if not scheme.rounds:
        return scheme
    step = own_grid(column.x, column.whole.kind, scheme.sigma)
    return scheme.with_parameters(step=float(step)) if step else scheme


def _suggestions(front: list[Candidate], most: float) -> dict[str, Candidate]:
    """Return up to three candidates of a frontier by name.

    They are the cheapest, the safest with a loss of at most `most` times that of the cheapest, and
    the one that lies best between them.
    """
    close = [each for each in front if each.loss <= most * front[0].loss]
    if len(close) < 3:
        return dict(zip(("most useful", "safest"), close, strict=False))
    (a, risky), (b, safe) = ((each.loss, each.risk.mean()) for each in (close[0], close[-1]))
    worth = [
        (each.loss - a) / (b - a) + (each.risk.mean() - safe) / (risky - safe)
        for each in close[1:-1]
    ]
    return {
        "most useful": close[0],
        "balanced": close[1 + int(np.argmin(worth))],
        "safest": close[-1],
    }


def _unmet_caps(rows: list[dict[str, float]], caps: dict[str, float]) -> str:
    """Return the message of a plan in which no scheme keeps the caps."""
    least = {key: min(row[key] for row in rows) for key in caps}
    said = " and ".join(
        f"{key} at most {cap:g} (the least is {least[key]:.4g})" for key, cap in caps.items()
    )
    rule = f"max_risk and others must be met by one of the {len(rows)} schemes tried"
    return f"{rule}, got none with {said}"


# --- arguments ---


def _planned_column(
    x: ArrayLike, other: ArrayLike | None, strata: DataFrame | None, common: ConditionalMasking
) -> PlannedColumn:
    """Return the column of a plan; refuse values that look like codes nobody declared."""
    refuse_marked(x, "x")
    refuse_other_order({"other": other, "strata": strata}, labels_of_rows(x, "x"))
    column = frames.column(x, "x")
    name = column.name or "x"
    n = column.array.size
    values = drop_codes({name: common}, {name: column})
    labels = labels_of(strata, common.strata, n, "x", "plan")
    pool, _ = pools_of(common, values, labels)
    pool = pool if labels else None
    rows = np.argsort(values[name], kind="stable")
    beside = np.resize([-1.0, 1.0], n)[np.argsort(rows)]
    present = ~np.isnan(values[name])
    if other is not None:
        beside = numbers_of(other, "other", common.codes)
        _checks.same_length(beside, "other", n, "x")
    rows = rows[(present & ~np.isnan(beside))[rows]]
    _checks.at_least_two(rows.size, "x")
    table = Table(values, pool)
    whole = column._replace(array=values[name])
    planned = values[name][rows]
    code = None if pool is None else pool[rows]
    for sorted_values, of in ((planned, "x"), (beside[rows], "other")):
        _checks.positive(float(sorted_values.std()), f"the standard deviation of {of}")
    return PlannedColumn(
        planned, beside[rows], other is not None, code, table, labels, name, whole, {}
    )


def _checked_caps(given: Mapping[CapKey, float] | None, name: str) -> dict[CapKey, float]:
    """Return caps by key, all of them positive."""
    known = given is None or (isinstance(given, Mapping) and len(given) > 0)
    _checks.require(known, f"{name} must be a dict of caps", given, ArgumentTypeError)
    return {key: _checks.positive(cap, name) for key, cap in (given or {}).items()}


def _planned_distances(d: ArrayLike | None, caps: list[float], x: np.ndarray) -> np.ndarray:
    """Return the distances of `d` and of the caps, ascending; a default if there are none."""
    given = [] if d is None else np.ravel(_checks.finite_distances(d, "d")).tolist()
    given += [_checks.positive(near, "a distance of max_risk or max_record_risk") for near in caps]
    return np.unique(given or float(f"{x.std() / 4.0:.0e}"))
