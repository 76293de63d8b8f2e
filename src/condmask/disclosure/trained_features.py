"""What a trained attacker uses: numbers for each record of a release, about whatever may show its coin.

Of each masked column: the value, its digits, how often it occurs, the log likelihood ratio of the attack on
the column alone, and what the rows before and behind show. Of several columns: residuals of relations, those
of a masked column given the ones in clear, and the log likelihood ratio of all, as if they were normal. Of
units, within each column in clear that repeats: the mean and median of the others' values, and how many of
these lie near.

Whatever is learned for it is learned from one half of the file for the records of the other.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.correlations import normal_scores
from condmask.disclosure import boosting, relations, swap_attack
from condmask.disclosure.drawn_release import DrawnRelease
from condmask.disclosure.folds import FoldedRows
from condmask.disclosure.identity import Identity, Table
from condmask.disclosure.leave_one_out import others_of_unit
from condmask.disclosure.swap_attack import HALF, ColumnAttack

ROWS = 1 << 15  # examined if nothing is in clear
UNITS = 3  # columns that tell units
STRATA = "\0strata"
NEAR = (1.0, 2.0, 4.0)  # times sigma
HEAPS = (5, 10, 50, 100, 500, 1000, 5000, 10_000)  # whole steps
LEARNED = 1 << 12  # records of which one column is learned given others
RIDGE = 1e-9  # of a variance


class Feature(NamedTuple):
    """A number for each record: what kind of look it is, and at which column in clear, if any."""

    kind: str
    column: str
    values: np.ndarray


class Sample(NamedTuple):
    """Some rows of a file, and what is known of them before any release is drawn.

    Attributes
    ----------
    rows : ndarray
    half : ndarray of the shape of `rows`
        0 or 1 for each record.
    clear : dict of str to ndarray of the shape of `rows`
        Columns in clear as numbers.
    units : dict of str to ndarray of the shape of `rows`
        Those that tell units, as codes.
    predicted : dict of str to ndarray of the shape of `rows`
        Each masked column, as those in clear predict it.
    """

    rows: np.ndarray
    half: np.ndarray
    clear: Table
    units: Table
    predicted: Table


class Context(NamedTuple):
    """What does not change from release to release under some schemes.

    Attributes
    ----------
    data : AuditInput
    schemes : dict of str to scheme
    sample : Sample
    attacks : dict of str to ColumnAttack
        Those of columns with noise, by half.
    identities : list of Identity
        Relations of the originals.
    """

    data: AuditInput
    schemes: dict[str, Any]
    sample: Sample
    attacks: dict[str, ColumnAttack]
    identities: list[Identity]


def samples(data: AuditInput, half: np.ndarray) -> list[Sample]:
    """The rows in which columns in clear are examined; and, if these are not all, whole units of each column
    that tells some."""
    rows = evenly_spaced(data.n, ROWS)
    if data.clear or data.labels:
        rows = np.arange(data.n) if data.rows is None else data.rows
    codes = {
        name: np.where(code >= 0, code, np.nan).astype(np.float64)
        for name, code in data.labels.items()
        if name not in data.clear
    }
    strata = {} if data.strata is None else {STRATA: np.where(data.strata >= 0, data.strata, np.nan)}
    units = {}
    for name, unit in list(data.units.items())[:UNITS]:
        code = np.full(data.n, -1)
        code[unit.rows] = unit.codes
        units[name] = code
    beside = {**data.clear, **codes, **{name: x[rows] for name, x in strata.items()}}
    if rows.size == data.n:
        return [_sample(data, half, rows, beside, units)]
    whole = [
        _sample(data, half, unit.rows, {name: x[unit.rows] for name, x in strata.items()}, {name: unit.codes})
        for name, unit in list(data.units.items())[:UNITS]
    ]
    return [_sample(data, half, rows, beside, {}), *whole]


def _sample(data: AuditInput, half: np.ndarray, rows: np.ndarray, clear: Table, units: Table) -> Sample:
    predicted = {}
    if clear:
        beside = np.column_stack(list(clear.values()))
        predicted = {name: _predicted(beside, x[rows], half[rows]) for name, x in data.values.items()}
    return Sample(rows, half[rows], clear, units, predicted)


def column_attacks(data: AuditInput, schemes: dict[str, Any], half: np.ndarray) -> dict[str, ColumnAttack]:
    """The attacks on columns with noise, each by itself, for either half with the law of the other."""
    some = evenly_spaced(data.n, HALF.rows)
    folded, part = FoldedRows(some, half[some], 2), data.masked_alone().take(some)
    return {
        name: swap_attack.prepare(part.values[name], data.kinds[name], scheme.law, part.strata, folded, HALF)
        for name, scheme in schemes.items()
        if scheme.grid is not None
    }


def context(
    data: AuditInput, schemes: dict[str, Any], sample: Sample, attacks: dict[str, ColumnAttack],
    related: list[Identity],
) -> Context:  # fmt: skip
    """What is known of a sample under some schemes; `related` are relations of the whole table."""
    inside = {*data.values, *sample.clear}
    identities = [identity for identity in related if inside >= set(identity.names)]
    return Context(data, schemes, sample, attacks, identities)


def _predicted(beside: np.ndarray, x: np.ndarray, half: np.ndarray) -> np.ndarray:
    """A column as others predict it, learned from the half that a record is not in."""
    predicted = np.full(x.size, np.nan)
    for side in (0, 1):
        learned = np.flatnonzero((half != side) & ~np.isnan(x))
        learned = learned[evenly_spaced(learned.size, LEARNED)]
        asked = np.flatnonzero(half == side)
        if learned.size and asked.size:
            predicted[asked] = boosting.predictions(beside[learned], x[learned], beside[asked])
    return predicted


def features(known: Context, release: DrawnRelease) -> list[Feature]:
    """The features of a release of the sample."""
    rows, clear = known.sample.rows, known.sample.clear
    looks = [Feature("clear", name, x) for name, x in clear.items()]
    released = {name: z[rows] for name, z in release.values.items()}
    for name, z in released.items():
        looks += _of_column(known, name, release.values[name])
        if known.sample.predicted:
            predicted = known.sample.predicted[name]
            looks += [Feature("clear", "", z - predicted), Feature("clear", "", predicted)]
        for unit, code in known.sample.units.items():
            line, sigma = _line(z, known.schemes[name])
            number, mean, median, *near = others_of_unit(code, line, tuple(k * sigma for k in NEAR))
            columns = [number, mean, median, line - mean, line - median, *near]
            looks += [Feature("unit", unit, column) for column in columns]
    table = {**released, **clear}
    for identity in known.identities:
        holds = identity.holds(table, relations.steps_of(known.schemes))
        looks += [
            Feature("relation", str(identity), x)
            for x in (identity.residual(table), holds.astype(np.float64))
        ]
    if len(table) > 1:
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
    rows, data = known.sample.rows, known.data
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
        ratio[has] = known.attacks[name].log_ratios(units[has], strata, known.sample.half[has])
        whole = np.where(np.isnan(units), 0.0, units)
        heap = np.sum([whole % multiple == 0.0 for multiple in HEAPS], axis=0) + 0.0 * units
        columns += [ratio, heap, units % 10.0, units % 100.0]
    padded = np.concatenate(([np.nan] * 2, z, [np.nan] * 2))
    beside = [padded[2 + k : 2 + k + z.size][rows] for k in (-2, -1, 1, 2)]
    with np.errstate(invalid="ignore"):
        around = [z[rows] - beside[1], z[rows] - beside[2], z[rows] - np.mean(beside, axis=0)]
    return [Feature("column", name, x) for x in columns] + [Feature("order", name, x) for x in around]


def _normal_ratios(known: Context, release: DrawnRelease) -> list[np.ndarray]:
    """Log likelihood ratios of all columns, swapped against kept, as if these were normal.

    Raw, as logarithms, and by normal scores; variances are those of the half that a record is not in.
    """
    rows = known.sample.rows
    raw = np.column_stack([*(z[rows] for z in release.values.values()), *known.sample.clear.values()])
    raw = raw[:, [len(np.unique(x[~np.isnan(x)][:1000])) > 1 for x in raw.T]]
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(raw > 0.0, np.log(raw), np.nan)
    swapped, half = release.swapped[rows], known.sample.half
    ratios = []
    for table in (raw, logs, np.column_stack([normal_scores(x) for x in raw.T])):
        ratio = np.zeros(rows.size)
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
