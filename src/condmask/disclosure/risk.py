"""How near attackers come to original values: of a column or a table, before it is masked and afterwards."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.audit import table_of
from condmask.disclosure.joint_law import JointLaw
from condmask.disclosure.known_coins import D, at_distances
from condmask.disclosure.rails import settled
from condmask.disclosure.rare_values import own_value_chances
from condmask.disclosure.records import guessed
from condmask.disclosure.risk_result import (
    BEST,
    CLEAR,
    COINS,
    CONSTANT,
    MEAN,
    RELEASED,
    ColumnRisk,
    Risk,
)  # fmt: skip
from condmask.disclosure.sample import is_log, sample_of, spread_of
from condmask.disclosure.table import Table
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import check_fits
from condmask.missing_codes import released_codes, without_codes
from condmask.scheme import Scheme
from condmask.strata import values_by_pool


def risk(data: Any, schemes: Any, *, d: Any = None, strata: Any = None, released: Any = None) -> Risk:
    """How well attackers guess original values from a release.

    Parameters
    ----------
    data : array_like or series of shape (n,), data frame, or dict of columns
        Originals: a column with one scheme, or a table with the columns left in clear. Missing values are
        left out.
    schemes : scheme, or dict of str to scheme
        As for `audit`; for a column also `AdditiveNoise`, and with `released` any scheme.
    d : float or array_like of shape (distances,), or dict of str to these, optional
        How near a guess must come to count, in the units of the data, of each column; by default a tenth of
        the spread. At most 100 distances.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata. Attackers know them, too.
    released : like `data`, optional
        A release; its figures are those found in it, not those to be expected of any.

    Returns
    -------
    Risk
        By column, attacker and distance the share of records guessed to less than d:

        - "masked value" takes the released value for the original;
        - "mean of masked values" guesses this mean for every record;
        - "best constant" knows the file but not who is who, and always guesses the same;
        - "columns in clear" learned from other records what these tell, and needs no release;
        - "best attacker" knows these, the scheme, how the data are distributed, and what is released;
        - "knows who was swapped" knows every coin besides.

        ``print`` shows all side by side.

    Raises
    ------
    ValueError
        If the scheme cannot take the data, a distance is negative, or there are fewer than two records.
    TypeError
        If the distribution of the scheme's noise is unknown and there is no release.

    See Also
    --------
    audit : the same attackers, and what is refused.
    plan : find schemes whose risk is small enough.

    Notes
    -----
    For a column alone the figures follow from the joint law of originals and released values (docs/risk.rst);
    beside other columns those of the last three attackers are tried on maskings, as in `audit`. Cost: .3 s a
    column, some seconds a table.

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
    table, by_column = _table(data, schemes, strata, released)
    by_column = settled(table, by_column)
    shown = None if released is None else _released(released, schemes, by_column, table)
    for name, scheme in by_column.items():
        if scheme.law is not None:
            check_fits(table.values[name], scheme.law, name, table.kinds[name])
    columns = {}
    for name, scheme in by_column.items():
        distances = _distances(d, name, table.values[name], scheme)
        columns[name] = _column(table, name, scheme, distances, None if shown is None else shown[name])
        beside = table.clear is not None and (table.clear.numbers or table.clear.labels)
        if (beside or len(by_column) > 1) and swaps(scheme):
            _add_attack(columns[name], table, by_column, name)
    return Risk(table.n, columns, by_column, table, shown)


def swaps(scheme: Any) -> bool:
    """Whether a scheme swaps records: the others share no coin."""
    return bool(scheme.reverse_mapping or (scheme.law is not None and scheme.law.p > 0.0))


def _table(data: Any, schemes: Any, strata: Any, released: Any) -> tuple[Table, dict[str, Any]]:
    several = isinstance(schemes, Mapping)
    if several or (isinstance(schemes, Scheme) and swaps(schemes)):
        table = table_of(data, schemes, strata)
        return table, dict(schemes) if several else {next(iter(table.values)): schemes}
    if not isinstance(schemes, Scheme):
        raise ArgumentTypeError(f"schemes must be a masking scheme, got {_checks.shown(schemes)}")
    if schemes.law is None and released is None:
        raise ArgumentTypeError(f"{schemes!r} has no closed form of its risk; pass what it released")
    column = frames.column(data, "data")
    name = column.name or "x"
    return Table({name: column.array}, {name: column.kind}), {name: schemes}


def _released(released: Any, schemes: Any, by_column: dict[str, Any], table: Table) -> dict[str, np.ndarray]:
    """Released values by column, as many as originals, NaN for codes."""
    found = {}
    for name, scheme in by_column.items():
        values = frames.table_column(released, name) if isinstance(schemes, Mapping) else released
        column = frames.column(values, "released")
        _checks.same_length(column.array, "released", table.n, "data")
        found[name] = without_codes(column.array, released_codes(scheme), column.kind)
        if scheme.law is not None:
            check_fits(found[name], scheme.law, "released", column.kind)
    return found


def _distances(d: Any, name: str, x: np.ndarray, scheme: Any) -> np.ndarray:
    """The distances of a column in its units; by default a tenth of its spread, about the middle."""
    if isinstance(d, Mapping):
        _checks.require(name in d, f"d must name {name!r}", sorted(map(str, d)))
        d = d[name]
    if d is not None:
        distances = np.atleast_1d(_checks.few_distances(d, "d")).ravel()
        if not distances.size:
            raise ArgumentError("d must hold at least one distance, got none")
        return distances
    at_middle = abs(float(np.nanmedian(x))) or 1.0
    return np.array([float(f"{D * spread_of(x, scheme) * (at_middle if is_log(scheme) else 1.0):.2g}")])


def _column(table: Table, name: str, scheme: Any, d: np.ndarray, z: np.ndarray | None) -> ColumnRisk:
    """The attackers who look at the column alone, by donor pools."""
    x, parts = table.values[name], []
    x = x if z is None else np.where(np.isnan(z), np.nan, x)
    for rows, values in values_by_pool(x, table.pool):
        parts.append((values.size, _pool(values, scheme, d, None if z is None else z[rows])))
    n = sum(size for size, _ in parts)
    _checks.at_least_two(n, "data")
    attackers = {key: np.sum([size / n * found[key] for size, found in parts], axis=0) for key in parts[0][1]}
    exposed = None
    if scheme.reverse_mapping and z is None:
        pools = [values for _, values in values_by_pool(x, table.pool)]
        exposed = np.array([max(_exposed(values, scheme, near) for values in pools) for near in d])
    return ColumnRisk(name, n, tuple(d.tolist()), attackers, exposed)


def _pool(x: np.ndarray, scheme: Any, d: np.ndarray, z: np.ndarray | None) -> dict[str, np.ndarray]:
    """The attackers of one pool."""
    if scheme.law is None and not scheme.reverse_mapping:
        law, joint = JointLaw(*_counted(x), np.empty(0), np.empty((0, 0)), np.empty((0, 0))), False
    else:
        law, joint = JointLaw.of(x, scheme), True
    mean = float(x.mean() if z is None else z.mean())
    constant = np.array([law.constant(near)[0] for near in d])
    found = {
        RELEASED: _shown(law, x, scheme, d) if z is None else _shares(np.abs(z - x), d),
        MEAN: np.array([law.within(mean, near) for near in d]),
        CONSTANT: constant,
    }
    if joint:
        best = [law.best(near, known_coins=False) for near in d]
        if z is not None:
            best = [float(guessed(law, x, z, near).hit.mean()) for near in d]
        found[BEST] = np.max([constant, found[RELEASED], found[MEAN], np.array(best)], axis=0)
        known = [law.best(near, known_coins=True) for near in d]
        found[COINS] = np.maximum(found[BEST], np.array(known))
    return found


def _counted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(x, return_counts=True)
    return values, counts / x.size


def _shown(law: JointLaw, x: np.ndarray, scheme: Any, d: np.ndarray) -> np.ndarray:
    """The chance that a released value is nearer than d to its original."""
    if scheme.reverse_mapping:
        return np.array([law.shown(near) for near in d])
    return np.asarray(scheme.risk(x, d))


def _shares(away: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.array([np.mean(away < near) for near in d])


def _exposed(x: np.ndarray, scheme: Any, near: float) -> float:
    """The greatest chance of a record that what it shows is nearer than d to its original."""
    rare = own_value_chances(x, scheme, near)
    return max(JointLaw.of(x, scheme).most_exposed(near), float(rare.max(initial=0.0)))


def _add_attack(column: ColumnRisk, table: Table, schemes: dict[str, Any], name: str) -> None:
    """What attackers make of the columns in clear, and of columns masked together, at the same distances."""
    found = at_distances(sample_of(table), schemes, name, column.d, blind=True)
    attackers = column.attackers
    attackers[CLEAR] = np.fmax(np.array([row.clear for row in found]), attackers[CONSTANT])
    attackers[BEST] = np.fmax(np.array([row.expected for row in found]), attackers[BEST])
    attackers[BEST] = np.fmax(attackers[BEST], attackers[CLEAR])
    attackers[COINS] = np.fmax(np.array([row.worst for row in found]), attackers[COINS])
    attackers[COINS] = np.fmax(attackers[COINS], attackers[BEST])
