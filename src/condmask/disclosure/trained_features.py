"""What a trained attacker looks at: numbers for each record of a release, of whatever may show its coin.

Of each masked column: the value, its digits, how often it occurs, the log likelihood ratio of the attack on
the column alone, and what the rows before and behind show. Of several columns: residuals of relations, those
of a masked column given the ones in clear, and the log likelihood ratio of all, as if they were normal. Of
units, within each column in clear that repeats: the mean and median of the others' values, and how many of
these lie near.

Whatever is learned for it is learned from one half of the file for the records of the other.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.audit_input import AuditInput
from condmask.disclosure import boosting, relations, swap_attack
from condmask.disclosure.correlations import normal_scores
from condmask.disclosure.drawn_release import DrawnRelease
from condmask.disclosure.folds import FoldedRows
from condmask.disclosure.leave_one_out import others_of_unit, unit_codes
from condmask.disclosure.swap_attack import HALF, ColumnAttack
from condmask._blocks import evenly_spaced

UNITS, LARGEST_UNIT = 3, 500  # columns that tell units, and records of one, on average
NEAR = (1.0, 2.0, 4.0)  # times sigma
HEAPS = (5, 10, 50, 100, 500, 1000, 5000, 10_000)  # whole steps
LEARNED = 1 << 13  # records of which one column is learned given others
RIDGE = 1e-9  # of a variance

Table = dict[str, np.ndarray]


class Feature(NamedTuple):
    """A number for each record: what kind of look it is, and at which column in clear, if any."""

    kind: str
    column: str
    values: np.ndarray


class Context(NamedTuple):
    """What does not change from release to release.

    Attributes
    ----------
    data : AuditInput
    schemes : dict of str to scheme
    half : ndarray of shape (n,)
        0 or 1 for each record.
    rows : ndarray
        The records whose features are wanted.
    attacks : dict of str to ColumnAttack
        Those of columns with noise, by half.
    clear : dict of str to ndarray of shape (n,)
        All columns in clear as numbers, labels too; NaN where one is missing.
    units : dict of str to ndarray of shape (n,)
        The columns in clear that repeat, as codes.
    predicted : dict of str to ndarray
        Each masked column at `rows`, as those in clear predict it.
    identities : list
        Relations of the originals.
    """

    data: AuditInput
    schemes: dict[str, Any]
    half: np.ndarray
    rows: np.ndarray
    attacks: dict[str, ColumnAttack]
    clear: Table
    units: Table
    predicted: Table
    identities: list[Any]


def context(data: AuditInput, schemes: dict[str, Any], half: np.ndarray, rows: np.ndarray) -> Context:
    """What is learned of a file before any release of it is drawn."""
    clear = dict(data.clear)
    if data.strata is not None:
        clear["\0strata"] = np.where(data.strata >= 0, data.strata, np.nan).astype(np.float64)
    some = evenly_spaced(data.n, HALF.rows)
    folded = FoldedRows(some, half[some], 2)
    part, attacks = data.take(some), {}
    for name, scheme in schemes.items():
        if scheme.law is not None:
            attacks[name] = swap_attack.prepare(
                part.values[name], data.kinds[name], scheme.law, part.strata, folded, HALF
            )
    table, steps = {**part.values, **part.clear}, relations.steps_of(part, schemes)
    identities = relations.identities(table, steps, set(schemes)) if len(table) > 1 else []
    predicted = {}
    if clear:
        beside = np.column_stack(list(clear.values()))
        predicted = {name: _predicted(beside, x, half, rows) for name, x in data.values.items()}
    return Context(data, schemes, half, rows, attacks, clear, _units(clear), predicted, identities)


def _units(clear: Table) -> Table:
    """The columns in clear whose values repeat, the smallest units first."""
    units: list[tuple[float, str, np.ndarray]] = []
    for name, values in clear.items():
        code = unit_codes(values)
        counts = np.bincount(code[code >= 0])
        size = float(np.sum(counts.astype(np.float64) ** 2) / max(1, counts.sum()))
        if 1.5 <= size <= LARGEST_UNIT:
            units.append((size, name, code))
    units.sort(key=lambda unit: unit[0])
    return {name: code for _, name, code in units[:UNITS]}


def _predicted(beside: np.ndarray, x: np.ndarray, half: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A column at some rows, as others predict it, learned from the half that they are not in."""
    predicted = np.full(rows.size, np.nan)
    for side in (0, 1):
        learned = np.flatnonzero((half != side) & ~np.isnan(x))
        learned = learned[evenly_spaced(learned.size, LEARNED)]
        asked = np.flatnonzero(half[rows] == side)
        if learned.size and asked.size:
            predicted[asked] = boosting.predictions(beside[learned], x[learned], beside[rows[asked]])
    return predicted


def features(known: Context, release: DrawnRelease) -> list[Feature]:
    """The features of a release at the rows that are wanted."""
    looks = [Feature("clear", name, x[known.rows]) for name, x in known.clear.items()]
    for name, z in release.values.items():
        looks += _of_column(known, name, z)
        if known.predicted:
            looks.append(Feature("clear", "", z[known.rows] - known.predicted[name]))
            looks.append(Feature("clear", "", known.predicted[name]))
        for unit, code in known.units.items():
            line, sigma = _line(z, known.schemes[name])
            number, mean, median, *near = others_of_unit(code, line, tuple(k * sigma for k in NEAR))
            columns = [number, mean, median, line - mean, line - median, *near]
            looks += [Feature("unit", unit, column[known.rows]) for column in columns]
    table = {**release.values, **known.data.clear}
    steps = relations.steps_of(known.data, known.schemes)
    some = {name: x[known.rows] for name, x in table.items()}
    for identity in known.identities:
        looks.append(Feature("relation", str(identity), identity.residual(some)))
        looks.append(Feature("relation", str(identity), identity.holds(some, steps).astype(np.float64)))
    if len(release.values) + len(known.clear) > 1:
        looks += [Feature("columns", "", ratio) for ratio in _normal_ratios(known, release)]
    return looks


def _line(z: np.ndarray, scheme: Any) -> tuple[np.ndarray, float]:
    """Released values on the line on which noise was added, and its s.d. there."""
    if scheme.reverse_mapping and scheme.scale == "log":
        with np.errstate(divide="ignore"):
            log = np.log(np.abs(z))
        return np.where(z != 0.0, log, np.nan), scheme.sigma
    return z, scheme.sigma


def _of_column(known: Context, name: str, z: np.ndarray) -> list[Feature]:
    """What one column shows by itself, and in the order of the rows."""
    rows, data = known.rows, known.data
    present = ~np.isnan(z)
    times = np.full(z.size, np.nan)
    _, place, count = np.unique(z[present], return_inverse=True, return_counts=True)
    times[present] = count[place]
    columns = [z[rows], times[rows]]
    if name in known.attacks:
        law = known.schemes[name].law
        units = np.rint(law.to_units(z[rows]))
        has = np.flatnonzero(~np.isnan(units))
        ratio = np.full(rows.size, np.nan)
        strata = None if data.strata is None else data.strata[rows[has]]
        ratio[has] = known.attacks[name].log_ratios(units[has], strata, known.half[rows[has]])
        whole = np.where(np.isnan(units), 0.0, units)
        heap = np.sum([whole % multiple == 0.0 for multiple in HEAPS], axis=0).astype(np.float64)
        columns += [ratio, heap, units % 10.0, units % 100.0]
    padded = np.concatenate(([np.nan] * 2, z, [np.nan] * 2))
    beside = [padded[2 + k : 2 + k + z.size][rows] for k in (-2, -1, 1, 2)]
    with np.errstate(invalid="ignore"):
        around = [z[rows] - beside[1], z[rows] - beside[2], z[rows] - np.mean(beside, axis=0)]
    return [Feature("column", name, x) for x in columns] + [Feature("order", name, x) for x in around]


def _normal_ratios(known: Context, release: DrawnRelease) -> list[np.ndarray]:
    """Log likelihood ratios of all columns, swapped against kept, as if these were normal.

    Raw, and by normal scores; variances are those of the half that a record is not in.
    """
    raw = np.column_stack([x[known.rows] for x in (*release.values.values(), *known.clear.values())])
    raw = raw[:, [len(np.unique(x[~np.isnan(x)][:1000])) > 1 for x in raw.T]]
    ratios = []
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(raw > 0.0, np.log(raw), np.nan)
    for table in (raw, logs, np.column_stack([normal_scores(x) for x in raw.T])):
        ratio = np.zeros(known.rows.size)
        swapped, half = release.swapped[known.rows], known.half[known.rows]
        for side in (0, 1):
            asked = np.flatnonzero(half == side)
            for sign, coin in ((1.0, True), (-1.0, False)):
                learned = (half != side) & (swapped == coin)
                ratio[asked] += sign * _normal_density(table[learned], table[asked])
        ratios.append(ratio)
    return ratios


def _normal_density(learned: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The logarithm of the normal density of some rows, mean and variances from others."""
    if learned.shape[0] < 2:
        return np.zeros(asked.shape[0])
    mean, deviation = np.nanmean(learned, axis=0), np.maximum(np.nanstd(learned, axis=0), 1e-300)
    learned, asked = (np.nan_to_num((x - mean) / deviation) for x in (learned, asked))
    variances = learned.T @ learned / learned.shape[0] + RIDGE * np.eye(learned.shape[1])
    root = np.linalg.cholesky(variances)
    scaled = np.linalg.solve(root, asked.T)
    logs = np.log(np.diag(root)).sum() + np.log(deviation).sum()
    return np.asarray(-0.5 * np.sum(scaled**2, axis=0) - logs)
