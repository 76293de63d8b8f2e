"""The risk of a scheme on a file before it is masked, and of a release after it."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.disclosure import (
    baselines,
    neighbours,
    record_posteriors,
    reverse_mapped_risk,
    value_attack,
    verbatim,
)
from condmask.disclosure.audit import audit as audit_of
from condmask.disclosure.original import Original, evenly_spaced, taken
from condmask.disclosure.record_posteriors import Seen
from condmask.disclosure.reverse_mapped_risk import Rearranged
from condmask.disclosure.risk_result import BEST, CONSTANT, LINKED, MEAN, RELEASED, Risk
from condmask.disclosure.swap_attack import FULL, Effort
from condmask.donor_pools import donor_pools
from condmask.draws import mask_rows
from condmask.grids import check_released
from condmask.law import Law
from condmask.missing_codes import without_codes
from condmask.scheme import Scheme
from condmask.strata import labels_of, names_of, rows_of

TRIED = 1 << 13  # records on which attackers are tried that look at masked values one by one
TRIED_WITH_OTHERS = 1 << 12  # and those that look for neighbours, on half of these
SEED = 2019  # of the release that is drawn to try them


def risk(x: Any, scheme: Any, *, d: Any, others: Any = None, strata: Any = None, audit: bool = True) -> Risk:
    """What attackers would learn from a release of a file, before it is masked.

    Parameters
    ----------
    x : array_like or series of shape (n,)
        Original values; missing ones are left out.
    scheme : ConditionalMasking or AdditiveNoise
        Of the release.
    d : float or array_like of shape (distances,)
        How near a guess must come, in the units of the data.
    others : array_like of shape (n, columns), data frame or dict of columns, optional
        Numeric columns of the same records that are not masked, and known to an attacker.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata. Attackers know them, too.
    audit : bool
        Whether to look at the coins, as `audit` does; of a scheme that swaps, without reverse mapping.

    Returns
    -------
    Risk
        For each attacker and distance the share of records that he comes nearer than d:

        - "masked value": who takes Z_i for the original, in closed form;
        - "mean of masked values": who takes that for every original;
        - "best constant": who knows the file but not who is who, and always says the same; in closed form;
        - "best attacker": who sees Z_i, knows p, sigma, the noise, and the law of the data, which he learned
          from other records, and names the interval with the greatest posterior mass;
        - "best with other columns": who knows also `others`, and takes the records nearest in these for a
          law of his own.

        ``print`` shows all side by side.

    Raises
    ------
    ValueError
        If the scheme cannot take the data, a distance is negative, or there are fewer than two records.
    TypeError
        If nothing is known of the noise of the scheme: see `release_risk`.

    See Also
    --------
    release_risk : of a release that is there.
    insider_risk : who knows most originals, under reverse mapping.
    plan : schemes for which it is small enough.

    Notes
    -----
    Figures are expectations given the file, over coins, donors and noise, and nothing is drawn but for
    `others`. The best attacker may say what the others say, so he is never worse than these. Of files of more
    than 131,072 records he is tried on so many. docs/risk.rst derives all of them.

    Under reverse mapping the figures are those of the joint law of originals and released values among many
    records, and of simulated maps for rare values; `worst` of the result is of single records.

    Cost: O(n log n), .2 s for a million records; with `others` a search for neighbours. Under reverse mapping
    some .3 s a distance for 100,000 distinct values.

    Examples
    --------
    The setting of the paper's Table 3: from the masked value alone nobody is better off than who always says
    the same.

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
    units, there, kind, law = taken(x, scheme)
    code = pool_codes(strata, scheme, there)
    known = None if others is None else _others(others, there)
    parts = [
        _expected(file, scheme, distances, None if known is None else [column[rows] for column in known])
        for rows, file in files_of(units, kind, law, scheme, code)
    ]
    coins = _audited(x, scheme, strata) if audit and units.size else None
    return _together("scheme", parts, distances, coins, scheme)


def release_risk(
    x: Any, z: Any, scheme: Any, *, d: Any, others: Any = None, strata: Any = None, audit: bool = True
) -> Risk:
    """What attackers learn from a release.

    Parameters
    ----------
    x, z : array_like or series of shape (n,)
        Original and released values; records without both are left out.
    scheme, d, others, strata, audit
        As for `risk`. Of a scheme that has no law of its noise, the best attacker is unknown and left out.

    Returns
    -------
    Risk
        The shares of records that attackers come nearer than d in this release. Those that look at masked
        values one by one are tried on 8,192 evenly spaced records.

    Raises
    ------
    ValueError
        As for `risk`, and if `x` and `z` differ in length.

    See Also
    --------
    risk : what is to be expected of any release under a scheme.
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
        raise TypeError(f"scheme must be a masking scheme, got {scheme!r}")
    present, (x, z), strata, others = both(x, z, strata, others, scheme)
    if scheme.law is None and not scheme.reverse_mapping:
        return _without_law(x, z, scheme, distances)
    units, there, kind, law = taken(x, scheme)
    masked = law.to_units(frames.column(z, "z").array)
    check_released(masked, law, "z", np.flatnonzero(present))
    code = pool_codes(strata, scheme, there)
    known = None if others is None else _others(others, there)
    parts = []
    for rows, file in files_of(units, kind, law, scheme, code):
        own = None if known is None else [column[rows] for column in known]
        parts.append(_found(file, masked[rows], scheme, distances, own))
    coins = _audited(x, scheme, strata) if audit else None
    return _together("release", parts, distances, coins, scheme)


class Part(NamedTuple):
    """Of one donor pool: how many records, what each attacker reaches and is tried on, what is printed, and
    the greatest chance of a record to be shown nearer than d to its original."""

    n: int
    attackers: dict[str, np.ndarray]
    records: dict[str, int]
    printed: verbatim.Printed
    worst: np.ndarray | None


def _expected(
    file: Original, scheme: Any, d: np.ndarray, known: list[np.ndarray] | None, effort: Effort = FULL
) -> Part:
    """Of one donor pool, before it is masked."""
    steady, worst = baselines.by_constant(file, d), None
    if isinstance(file, Rearranged):
        found, worst = reverse_mapped_risk.expected(file, d, steady)
    else:
        found = {
            RELEASED: baselines.by_released(file, d),
            MEAN: baselines.by_mean(file, d, shared_donors=scheme.shared_donors or file.law.p == 0.0),
            BEST: value_attack.by_posterior(file, d, steady, effort),
        }
    found = {RELEASED: found[RELEASED], MEAN: found[MEAN], CONSTANT: steady[0], BEST: found[BEST]}
    records = dict.fromkeys(found, file.n)
    _raise_best(found)
    if known is not None:
        rows = evenly_spaced(file.n, TRIED_WITH_OTHERS)
        z = drawn(file, rows)
        found[LINKED], records[LINKED] = neighbours.by_neighbours(
            file, z, rows, neighbours.scaled(known), looked_at(file, z, rows, d, steady), d
        )
        found[LINKED] = np.fmax(found[LINKED], found[BEST])  # he may forget what he knows besides
    return Part(file.n, found, records, _printed(file, scheme), worst)


def _found(file: Original, z: np.ndarray, scheme: Any, d: np.ndarray, known: list[np.ndarray] | None) -> Part:
    """Of one donor pool and its release."""
    steady = baselines.by_constant(file, d)
    rows = evenly_spaced(file.n, TRIED)
    each = looked_at(file, z[rows], rows, d, steady)
    away = np.abs(z - file.units)
    found = {
        RELEASED: np.array([np.mean(away < near) for near in file.near(d)]),
        MEAN: baselines.around(file, float(file.law.from_units(z).mean()), d),
        CONSTANT: steady[0],
        BEST: each.hit.mean(axis=0),
    }
    records = dict.fromkeys(found, file.n) | {BEST: rows.size}
    _raise_best(found)
    if known is not None:
        some = evenly_spaced(rows.size, TRIED_WITH_OTHERS)
        found[LINKED], records[LINKED] = neighbours.by_neighbours(
            file, z[rows[some]], rows[some], neighbours.scaled(known), Seen(*(a[some] for a in each)), d
        )
        found[LINKED] = np.fmax(found[LINKED], found[BEST])
    worst = reverse_mapped_risk.worst(file, d) if isinstance(file, Rearranged) else None
    return Part(file.n, found, records, _printed(file, scheme, z), worst)


def _printed(file: Original, scheme: Any, z: np.ndarray | None = None) -> verbatim.Printed:
    """What of the originals is expected to be printed, or is."""
    if isinstance(file, Rearranged):
        return reverse_mapped_risk.printed(file)
    if z is None:
        return verbatim.expected(file, shared_donors=scheme.shared_donors)
    return verbatim.found(file, z, shared_donors=scheme.shared_donors)


def looked_at(
    file: Original, z: np.ndarray, rows: np.ndarray, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> Seen:
    """What the best attacker makes of the masked values z of the records at `rows`."""
    if isinstance(file, Rearranged):
        return reverse_mapped_risk.looked_at(file, z, rows, d, steady)
    return record_posteriors.looked_at(file, z, rows, d, steady)


def _raise_best(found: dict[str, np.ndarray]) -> None:
    """The best attacker may say what the others say."""
    found[BEST] = np.fmax.reduce([found[name] for name in (BEST, CONSTANT, RELEASED, MEAN)])


def drawn(file: Original, rows: np.ndarray) -> np.ndarray:
    """Masked values of some records, as they are drawn for trials; never for a release."""
    stream = np.random.default_rng(SEED)
    if isinstance(file, Rearranged):
        return np.asarray(reverse_mapped_risk.drawn(file, stream)[rows])
    if file.law.p == 0.0:
        return np.asarray(file.units[rows] + file.law.draw(stream, rows.size))
    return np.asarray(mask_rows(file.units[None], file.law, stream, cycle=False)[0][rows])


def _without_law(x: np.ndarray, z: np.ndarray, scheme: Any, d: np.ndarray) -> Risk:
    ordered, away = np.sort(x), np.abs(z - x)
    last = np.searchsorted(ordered, ordered[:, None] + 2.0 * d)
    constant = (last - np.arange(x.size)[:, None]).max(axis=0) / x.size
    found = {
        RELEASED: np.array([np.mean(away < each) for each in d]),
        MEAN: np.array([np.mean(np.abs(x - z.mean()) < each) for each in d]),
        CONSTANT: constant,
    }
    return Risk("release", x.size, tuple(d.tolist()), found, dict.fromkeys(found, x.size), None, None, scheme)


def _together(of: str, parts: list[Part], d: np.ndarray, coins: Any, scheme: Any) -> Risk:
    """Of all donor pools: shares are averaged over records."""
    n, first = sum(part.n for part in parts), parts[0]
    found = {
        name: np.sum([part.n / n * part.attackers[name] for part in parts], axis=0)
        for name in first.attackers
    }
    records = {name: sum(part.records[name] for part in parts) for name in first.records}
    worsts = [part.worst for part in parts if part.worst is not None]
    worst = np.max(worsts, axis=0) if worsts else None
    if len(parts) == 1:
        return Risk(of, n, tuple(d.tolist()), found, records, coins, first.printed, scheme, worst)
    size = np.array([part.n for part in parts]) / n
    printed_, tied, if_tied, if_untied = np.array([part.printed for part in parts]).T
    total = size @ tied
    with np.errstate(invalid="ignore", divide="ignore"):
        both_ = verbatim.Printed(
            float(size @ printed_), float(total), float(np.nansum(size * tied * if_tied) / total),
            float(np.nansum(size * (1.0 - tied) * if_untied) / (1.0 - total)),
        )  # fmt: skip
    return Risk(of, n, tuple(d.tolist()), found, records, coins, both_, scheme, worst)


# --- what is given ---


def both(x: Any, z: Any, strata: Any, others: Any, scheme: Any) -> tuple[np.ndarray, Any, Any, Any]:
    """Where records have an original and a masked value, and these with whatever goes with them."""
    given = frames.column(x, "x"), frames.column(z, "z")
    _checks.same_length(given[1].array, "z", given[0].array.size, "x")
    codes = getattr(scheme, "missing", ())
    original, masked = (without_codes(each.array, codes, each.kind) for each in given)
    there = ~(np.isnan(original) | np.isnan(masked))
    _checks.at_least_two(int(np.count_nonzero(there)), "x")
    if there.all():
        return there, (x, masked), strata, others
    if strata is not None:
        names = names_of(scheme.strata)
        columns = frames.label_columns(strata, names, "strata")
        for column in columns:
            _checks.same_length(column, "strata", there.size, "x")
        strata = {name: column[there] for name, column in zip(names, columns, strict=True)}
    if others is not None:
        others = {name: column[there] for name, column in frames.design(others, "others").items()}
    kept = original[there].astype(np.float32) if given[0].kind == "float32" else original[there]
    return there, (kept, masked[there]), strata, others


def _known(scheme: Any) -> Any:
    if not isinstance(scheme, Scheme):
        raise TypeError(f"scheme must be a masking scheme, got {scheme!r}")
    if scheme.law is None and not scheme.reverse_mapping:
        raise TypeError(f"{scheme!r} has no closed form of its risk; mask the file and ask release_risk")
    return scheme


def checked_distances(d: Any) -> np.ndarray:
    found = np.atleast_1d(_checks.distances(d, "d")).ravel()
    if not found.size:
        raise ValueError("d must hold at least one distance, got none")
    return found


def _others(others: Any, there: np.ndarray) -> list[np.ndarray]:
    columns = frames.design(others, "others")
    for name, column in columns.items():
        _checks.same_length(column, name, there.size, "x")
    return [column[there] for column in columns.values()]


def pool_codes(strata: Any, scheme: Any, there: np.ndarray, call: str = "risk") -> np.ndarray | None:
    """The pool of each record that is there; None where all are one."""
    code = donor_pools(scheme, labels_of(strata, scheme.strata, there.size, "x", call), [], there)
    return None if code is None else np.asarray(code[there])


def files_of(
    units: np.ndarray, kind: str, law: Law, scheme: Any, code: np.ndarray | None
) -> list[tuple[Any, Original]]:
    """The donor pools of a column, and where their rows are."""
    members: list[Any] = [slice(None)] if code is None else list(rows_of(code).values())
    if scheme.reverse_mapping:
        return list(zip(members, reverse_mapped_risk.pools(units, kind, scheme, code, members), strict=True))
    return [(rows, Original(units[rows], kind, law)) for rows in members]


def _audited(x: Any, scheme: Any, strata: Any) -> Any:
    """What shows of the coins, of a scheme that has some; by reverse mapping no column shows its own."""
    if scheme.reverse_mapping or scheme.law.p == 0.0:
        return None
    return audit_of(x, scheme, strata=strata)
