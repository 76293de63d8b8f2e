"""Measure how closely attackers guess the originals of a column or table, before and after
masking."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.audit import table_of
from condmask.disclosure.column.joint_law import JointLaw
from condmask.disclosure.column.rare_values import most_exposed
from condmask.disclosure.risk_result import (
    BEST_ATTACKER,
    BEST_CONSTANT,
    COLUMNS_IN_CLEAR,
    KNOWS_SWAPPED,
    MASKED_VALUE,
    MEAN_OF_MASKED,
    ColumnRisk,
    Risk,
)
from condmask.disclosure.scale import D, is_log, spread_of, two_digits
from condmask.disclosure.table.attack import attack_on
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import check_fits
from condmask.missing_codes import released_codes, without_codes
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.strata import values_by_pool


def risk(
    data: Any, schemes: Any, *, d: Any = None, strata: Any = None, released: Any = None
) -> Risk:
    """Measure how closely attackers can guess original values from a release.

    Parameters
    ----------
    data : array_like or series of shape (n,), data frame, or dict of columns
        Originals: a column with one scheme, or a table with the columns left in clear. Missing
        values are left out.
    schemes : scheme, or dict of str to scheme
        As for `audit`; for a column also `AdditiveNoise`, and with `released` any scheme.
    d : float or array_like of shape (distances,), or dict of str to these, optional
        A guess closer than this to the original counts, in the units of the data; by default a
        tenth of the spread of each column. At most 100 distances.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata. Attackers know them, too.
    released : like `data`, optional
        A release, whose risk is measured; by default the risk to be expected of any release.

    Returns
    -------
    Risk
        By column, attacker and distance the share of records guessed closer than d:

        - "masked value" takes the released value for the original;
        - "mean of masked values" guesses this mean for every record;
        - "best constant" knows the distribution in the file, and guesses one value for all
          records;
        - "columns in clear" has learned from other records to guess a value from these
          columns, and needs no release;
        - "best attacker" has the columns in clear and the release, and knows the scheme and the
          distribution of the data;
        - "knows who was swapped" also knows the swap status of every record.

        ``print`` shows all side by side.

    Raises
    ------
    ValueError
        If the scheme cannot take the data, a distance is negative, there are fewer than two
        records, or the index of `strata` or `released` has the labels of `data` in another order.
    TypeError
        If the distribution of the scheme's noise is unknown and there is no release.

    See Also
    --------
    audit : the same attackers, and what is refused.
    plan : find schemes whose risk is small enough.

    Notes
    -----
    For a column alone the figures follow from the joint law of originals and released values
    (docs/risk.rst); beside other columns those of the last three attackers are tried on maskings,
    as in `audit`. Cost: .3 s a column, some seconds a table.

    Examples
    --------
    In the setting of the paper's Table 3, taking the masked value for the original is worse than
    always guessing the same value.

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
    refuse_other_order({"strata": strata, "released": released}, labels_of_rows(data, "data"))
    table, by_column = table_of(data, schemes, strata, any_scheme=not isinstance(schemes, Mapping))
    if released is not None and not isinstance(schemes, Mapping):
        released = {next(iter(by_column)): released}
    return risk_of(table, by_column, d, released)


def risk_of(table: Table, schemes: dict[str, Any], d: Any, released: Any) -> Risk:
    """Return the risk of columns that `table_of` checked."""
    shown = None if released is None else _released(released, schemes, table)
    columns = {}
    for name, scheme in schemes.items():
        if scheme.law is None and not scheme.reverse_mapping and released is None:
            raise ArgumentTypeError(
                f"{scheme!r} has no closed form of its risk; pass what it released"
            )
        near = _distances(d, name, table.values[name], scheme)
        columns[name] = _column(table, name, scheme, near, None if shown is None else shown[name])
    attack = attack_on(table, schemes)
    if not attack.alone:
        distances = {name: column.d for name, column in columns.items()}
        for name, found in attack.figures_at(schemes, distances).items():
            clear, expected, worst = np.transpose(
                [(row.clear, row.expected, row.worst) for row in found]
            )
            who = columns[name].attackers
            who[COLUMNS_IN_CLEAR] = np.maximum(clear, who[BEST_CONSTANT])
            who[BEST_ATTACKER] = np.maximum.reduce(
                [expected, who[BEST_ATTACKER], who[COLUMNS_IN_CLEAR]]
            )
            who[KNOWS_SWAPPED] = np.maximum.reduce([worst, who[KNOWS_SWAPPED], who[BEST_ATTACKER]])
            tried = int(np.count_nonzero(~np.isnan(attack.values[name])))
            columns[name] = replace(columns[name], tried=tried)
    return Risk(table.n, columns, schemes, table, shown)


def _released(released: Any, schemes: dict[str, Any], table: Table) -> dict[str, np.ndarray]:
    """Return released values by column, as many as originals, NaN for codes."""
    found = {}
    for name, scheme in schemes.items():
        column = frames.column(frames.table_column(released, name), "released")
        _checks.same_length(column.array, "released", table.n, "data")
        found[name] = without_codes(column.array, released_codes(scheme), column.kind)
        check_fits(found[name], scheme, "released", column.kind)
    return found


def _distances(d: Any, name: str, x: np.ndarray, scheme: Any) -> list[float]:
    """Return the distances of a column in its units; by default a tenth of its spread.

    On the log scale that is a tenth of the spread at the median.
    """
    if isinstance(d, Mapping):
        _checks.require(name in d, f"d must name {name!r}", sorted(map(str, d)))
        d = d[name]
    if d is None:
        moved = np.abs(x[(x < 0.0) | (x > 0.0)])  # on the log scale zeros are not
        at_middle = float(np.median(moved)) if is_log(scheme) and moved.size else 1.0
        return [two_digits(D * spread_of(x, scheme) * at_middle)]
    distances = np.atleast_1d(_checks.finite_distances(d, "d")).ravel().tolist()
    if not distances:
        raise ArgumentError("d must hold at least one distance, got none")
    return distances


def _column(
    table: Table, name: str, scheme: Any, d: list[float], z: np.ndarray | None
) -> ColumnRisk:
    """Return the risk by the attackers who look at this column alone, averaged over pools."""
    x = table.values[name] if z is None else np.where(np.isnan(z), np.nan, table.values[name])
    n = int(np.count_nonzero(~np.isnan(x)))
    _checks.at_least_two(n, "data")
    sizes = []
    found = []
    exposed = []
    for rows, values in values_by_pool(x, table.pool):
        law = JointLaw.of(values, scheme)
        sizes.append(values.size)
        found.append(attackers_of_pool(law, values, scheme, d, None if z is None else z[rows]))
        if scheme.reverse_mapping and z is None:
            exposed.append([most_exposed(values, scheme, law, near) for near in d])
    shares = {
        who: np.average([each[who] for each in found], axis=0, weights=sizes) for who in found[0]
    }
    return ColumnRisk(name, n, tuple(d), shares, n, np.max(exposed, axis=0) if exposed else None)


def attackers_of_pool(
    law: JointLaw, x: np.ndarray, scheme: Any, d: list[float], z: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the shares guessed in one pool, by attacker: expected ones, or those of a release."""
    if z is not None:
        shown = np.array([np.mean(np.abs(z - x) < near) for near in d])
    elif scheme.reverse_mapping:
        shown = np.array([law.shares @ law.shown(near) for near in d])
    else:
        shown = scheme.risk(x, d)
    off = np.abs(law.values - (x if z is None else z).mean())
    found = {
        MASKED_VALUE: shown,
        MEAN_OF_MASKED: np.array([law.shares[off < near].sum() for near in d]),
    }
    found[BEST_CONSTANT] = np.array([law.constant(near) for near in d])
    if law.swapped.size:
        best = [law.best(near) if z is None else law.guesses(x, z, near)[2].mean() for near in d]
        found[BEST_ATTACKER] = np.maximum.reduce([np.array(best), *found.values()])
        found[KNOWS_SWAPPED] = np.maximum(
            found[BEST_ATTACKER], [law.best(near, known_coins=True) for near in d]
        )
    return found
