"""The risk of a scheme for a file before it is masked, and of a release afterwards."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.disclosure import baselines, boosting, neighbours
from condmask.disclosure.audit import audit as audit_of
from condmask.disclosure.audit import column_beside
from condmask.disclosure.original import Original, distinct
from condmask.disclosure.pools import Pool, pools_of
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.risk_result import BEST, CONSTANT, LINKED, MEAN, RELEASED, TRAINED, Risk
from condmask.disclosure.trained_values import by_training
from condmask.disclosure.verbatim import Verbatim
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import check_released
from condmask.missing_codes import without_codes
from condmask.scheme import Scheme
from condmask.strata import names_of

TRIED = 1 << 13  # records on which attackers who look at masked values one by one are tried
TRIED_WITH_OTHERS = 1 << 12  # the same for attackers who look for neighbours, on half of these
SEED = 2019  # of the release drawn to try them


def risk(
    x: Any,
    scheme: Any,
    *,
    d: Any,
    others: Any = None,
    strata: Any = None,
    audit: bool = True,
    thorough: bool = False,
) -> Risk:
    """How well attackers could guess original values from a release, computed before masking.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    scheme : ConditionalMasking or AdditiveNoise
        The scheme of the release.
    d : float or array_like of shape (distances,)
        How near a guess must come to count, in the units of the data; at most 100 distances.
    others : array_like of shape (n, columns), data frame or dict of columns, optional
        Numeric columns of the same records that are not masked and that an attacker knows.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata. Attackers know them, too.
    audit : bool
        Whether to add how well one can guess which records were swapped, as `audit` does. Applies to schemes
        that swap, without reverse mapping.
    thorough : bool
        Whether to train an attacker as well, for a scheme that swaps. This needs scikit-learn
        (``pip install 'condmask[thorough]'``).

    Returns
    -------
    Risk
        For each attacker and distance the share of records guessed closer than d:

        - "masked value" takes Z_i for the original (in closed form);
        - "mean of masked values" guesses this mean for every record;
        - "best constant" knows the file but not who is who, and always guesses the same (in closed form);
        - "best attacker" sees Z_i, knows p, sigma, the noise, and the law of the data, learned from other
          records, and names the interval with the greatest posterior mass;
        - "best with other columns" also knows `others`, and learns the law from the records that are nearest
          in these;
        - "trained attacker" learned from releases of half of the file which of several guesses is near: Z_i,
          what `others` predict or determine, what the other records of a unit show.

        ``print`` shows all side by side.

    Raises
    ------
    ValueError
        If the scheme cannot take the data, a distance is negative, or there are fewer than two records.
    TypeError
        If the distribution of the scheme's noise is unknown: see `release_risk`.
    ModuleNotFoundError
        If `thorough` is True and scikit-learn is not installed.

    See Also
    --------
    release_risk : the risk of a release that exists.
    insider_risk : an attacker who knows most originals, under reverse mapping.
    plan : find schemes whose risk is small enough.

    Notes
    -----
    Figures are expectations given the file, over swap statuses, donors and noise; nothing is drawn except for
    `others`. The best attacker may use the guesses of the simpler ones, and so is never worse than these. For
    files of more than 131,072 records, that many are tried. docs/risk.rst derives all figures.

    With reverse mapping, the figures follow from the joint law of originals and released values among many
    records, and from simulated maps for rare values; `most_exposed` of the result is about single records.

    Cost: O(n log n), .2 s for a million records; with `others` also a search for neighbours. With reverse
    mapping about .3 s a distance for 100,000 distinct values.

    Examples
    --------
    In the setting of the paper's Table 3, taking the masked value for the original is worse than always
    guessing the same value.

    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 50_000)
    >>> found = cm.risk(x, cm.ConditionalMasking(0.6, 1000.0), d=[500, 1000])
    >>> for name in ("masked value", "best constant", "best attacker"):
    ...     print(name, found.attackers[name].round(2))
    masked value [0.3  0.54]
    best constant [0.39 0.63]
    best attacker [0.41 0.66]
    """
    scheme, distances = _known(scheme), checked_distances(d)
    if _checks.truth(thorough, "thorough"):
        boosting.check_available()
    present, _, pools = pools_of(x, scheme, strata, "risk")
    columns = None if others is None else _others(others, present)
    parts = [
        _expected(pool, distances, None if columns is None else [column[rows] for column in columns])
        for rows, pool in pools
    ]
    coins = _audited(x, scheme, strata) if _checks.truth(audit, "audit") and present.any() else None
    result = _of_all("scheme", parts, distances, coins, scheme)
    return with_trained(result, column_beside(x, scheme, strata, others)) if thorough else result


def with_trained(risk: Risk, data: AuditInput, name: str | None = None, schemes: Any = None) -> Risk:
    """The risk of a column with the trained attacker added, who may use the best attacker's guesses."""
    name = next(iter(data.values)) if name is None else name
    share, records = by_training(data, schemes or {name: risk.scheme}, name, np.array(risk.d))
    attackers = {**risk.attackers, TRAINED: np.fmax(share, risk.attackers[BEST])}
    return replace(risk, attackers=attackers, records={**risk.records, TRAINED: records})


def release_risk(
    x: Any, z: Any, scheme: Any, *, d: Any, others: Any = None, strata: Any = None, audit: bool = True
) -> Risk:
    """How well attackers guess original values from a given release.

    Parameters
    ----------
    x, z : array_like or series of shape (n,)
        Original and released values; records without both are left out.
    scheme, d, others, strata, audit
        As for `risk`. If the distribution of the scheme's noise is unknown, the best attacker is left out.

    Returns
    -------
    Risk
        The shares of records guessed closer than d in this release. Attackers who look at masked values one
        by one are tried on 8,192 evenly spaced records.

    Raises
    ------
    ValueError
        As for `risk`, and if `x` and `z` differ in length.

    See Also
    --------
    risk : what to expect of any release under a scheme.
    record_risk : the same, record by record.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 50_000)
    >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
    >>> found = cm.release_risk(x, scheme.mask(x, rng=2), scheme, d=500)
    >>> bool(abs(found.attackers["masked value"][0] - 0.298) < 0.01)
    True
    """
    distances = checked_distances(d)
    if not isinstance(scheme, Scheme):
        raise ArgumentTypeError(f"scheme must be a masking scheme, got {_checks.shown(scheme)}")
    present, (x, z), strata, others = both(x, z, strata, others, scheme)
    if scheme.law is None and not scheme.reverse_mapping:
        return _without_law(x, z, scheme, distances)
    in_both, law, pools = pools_of(x, scheme, strata, "risk")
    masked = law.to_units(frames.column(z, "z").array)
    check_released(masked, law, "z", np.flatnonzero(present))
    columns = None if others is None else _others(others, in_both)
    parts = []
    for rows, pool in pools:
        beside = None if columns is None else [column[rows] for column in columns]
        parts.append(_in_release(pool, masked[rows], distances, beside))
    coins = _audited(x, scheme, strata) if _checks.truth(audit, "audit") else None
    return _of_all("release", parts, distances, coins, scheme)


class PoolRisk(NamedTuple):
    """The risk of one donor pool.

    The number of records, the share of each attacker and the number of records it was tried on, what is
    released verbatim, and the greatest chance that a record is shown nearer than d to its original.
    """

    n: int
    attackers: dict[str, np.ndarray]
    records: dict[str, int]
    verbatim: Verbatim
    most_exposed: np.ndarray | None


def _expected(file: Pool, d: np.ndarray, others: list[np.ndarray] | None) -> PoolRisk:
    """The risk of one donor pool before it is masked."""
    constant = baselines.by_constant(file, d)
    risks, most_exposed = file.expected(d, constant)
    risks = {RELEASED: risks[RELEASED], MEAN: risks[MEAN], CONSTANT: constant.share, BEST: risks[BEST]}
    records = dict.fromkeys(risks, file.n)
    _raise_best(risks)
    if others is not None:
        rows = evenly_spaced(file.n, TRIED_WITH_OTHERS)
        z = file.drawn(rows, np.random.default_rng(SEED))
        posteriors = file.posteriors(z, rows, d, constant)
        _add_linked(risks, records, file, z, rows, others, posteriors, d)
    return PoolRisk(file.n, risks, records, file.verbatim(), most_exposed)


def _in_release(file: Pool, z: np.ndarray, d: np.ndarray, others: list[np.ndarray] | None) -> PoolRisk:
    """The risk of one donor pool and its release."""
    constant = baselines.by_constant(file, d)
    rows = evenly_spaced(file.n, TRIED)
    posteriors = file.posteriors(z[rows], rows, d, constant)
    away = np.abs(z - file.units)
    risks = {
        RELEASED: np.array([np.mean(away < near) for near in file.near(d)]),
        MEAN: baselines.around(file, float(file.law.from_units(z).mean()), d),
        CONSTANT: constant.share,
        BEST: posteriors.hit.mean(axis=0),
    }
    records = dict.fromkeys(risks, file.n) | {BEST: rows.size}
    _raise_best(risks)
    if others is not None:
        some = evenly_spaced(rows.size, TRIED_WITH_OTHERS)
        of_some = RecordPosteriors(*(column[some] for column in posteriors))
        _add_linked(risks, records, file, z[rows[some]], rows[some], others, of_some, d)
    return PoolRisk(file.n, risks, records, file.verbatim(z), file.most_exposed(d))


def _add_linked(
    risks: dict[str, np.ndarray], records: dict[str, int], file: Original, z: np.ndarray, rows: np.ndarray,
    others: list[np.ndarray], posteriors: RecordPosteriors, d: np.ndarray,
) -> None:  # fmt: skip
    """Add the attacker who knows other columns, and who may ignore them."""
    risk, records[LINKED] = neighbours.by_neighbours(file, z, rows, others, posteriors, d)
    risks[LINKED] = np.fmax(risk, risks[BEST])


def _raise_best(risks: dict[str, np.ndarray]) -> None:
    """The best attacker may use the guesses of the others."""
    risks[BEST] = np.fmax.reduce([risks[name] for name in (BEST, CONSTANT, RELEASED, MEAN)])


def _without_law(x: np.ndarray, z: np.ndarray, scheme: Any, d: np.ndarray) -> Risk:
    """The risk of a release whose noise is unknown."""
    away = np.abs(z - x)
    risks = {
        RELEASED: np.array([np.mean(away < distance) for distance in d]),
        MEAN: np.array([np.mean(np.abs(x - z.mean()) < distance) for distance in d]),
        CONSTANT: baselines.fullest_windows(*distinct(x), 2.0 * d).share,
    }
    return Risk("release", x.size, tuple(d.tolist()), risks, dict.fromkeys(risks, x.size), None, None, scheme)


def _of_all(of: str, parts: list[PoolRisk], d: np.ndarray, coins: Any, scheme: Any) -> Risk:
    """The risk of all donor pools: shares are averaged over records."""
    n, first = sum(part.n for part in parts), parts[0]
    risks = {
        name: np.sum([part.n / n * part.attackers[name] for part in parts], axis=0)
        for name in first.attackers
    }
    records = {name: sum(part.records[name] for part in parts) for name in first.records}
    exposed = [part.most_exposed for part in parts if part.most_exposed is not None]
    most_exposed = np.max(exposed, axis=0) if exposed else None
    whole = first.verbatim
    if len(parts) > 1:
        size = np.array([part.n for part in parts]) / n
        share, tied, if_tied, if_untied = np.array([part.verbatim for part in parts]).T
        total = size @ tied
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = Verbatim(
                float(size @ share), float(total), float(np.nansum(size * tied * if_tied) / total),
                float(np.nansum(size * (1.0 - tied) * if_untied) / (1.0 - total)),
            )  # fmt: skip
    return Risk(of, n, tuple(d.tolist()), risks, records, coins, whole, scheme, most_exposed)


# --- what is given ---


def both(x: Any, z: Any, strata: Any, others: Any, scheme: Any) -> tuple[np.ndarray, Any, Any, Any]:
    """Where records have an original and a masked value, and these with their strata and other columns."""
    pair = frames.column(x, "x"), frames.column(z, "z")
    _checks.same_length(pair[1].array, "z", pair[0].array.size, "x")
    codes = getattr(scheme, "codes", ())
    original, masked = (without_codes(column.array, codes, column.kind) for column in pair)
    present = ~(np.isnan(original) | np.isnan(masked))
    _checks.at_least_two(int(np.count_nonzero(present)), "x")
    if present.all():
        return present, (x, masked), strata, others
    if strata is not None:
        names = names_of(scheme.strata)
        columns = frames.label_columns(strata, names, "strata")
        for column in columns:
            _checks.same_length(column, "strata", present.size, "x")
        strata = {name: column[present] for name, column in zip(names, columns, strict=True)}
    if others is not None:
        others = {name: column[present] for name, column in frames.design(others, "others").items()}
    kept = original[present].astype(np.float32) if pair[0].kind == "float32" else original[present]
    return present, (kept, masked[present]), strata, others


def _known(scheme: Any) -> Any:
    if not isinstance(scheme, Scheme):
        raise ArgumentTypeError(f"scheme must be a masking scheme, got {_checks.shown(scheme)}")
    if scheme.law is None and not scheme.reverse_mapping:
        raise ArgumentTypeError(
            f"{scheme!r} has no closed form of its risk; mask the file and use release_risk"
        )
    return scheme


def checked_distances(d: Any) -> np.ndarray:
    distances = np.atleast_1d(_checks.few_distances(d, "d")).ravel()
    if not distances.size:
        raise ArgumentError("d must hold at least one distance, got none")
    return distances


def _others(others: Any, present: np.ndarray) -> list[np.ndarray]:
    columns = frames.design(others, "others")
    for name, column in columns.items():
        _checks.same_length(column, name, present.size, "x")
    return [column[present] for column in columns.values()]


def _audited(x: Any, scheme: Any, strata: Any) -> Any:
    """The audit of a scheme that swaps; with reverse mapping no column shows who was swapped."""
    if scheme.reverse_mapping or scheme.law.p == 0.0:
        return None
    return audit_of(x, scheme, strata=strata)
