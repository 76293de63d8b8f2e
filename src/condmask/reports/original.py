"""What only the publisher can tell: the original beside the release, what attackers learn, what shows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.correlations import pearson
from condmask.disclosure.all_columns import by_all_columns, swap_evidence
from condmask.disclosure.audit import audit_table, table_of
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.insider_risk import InsiderRisk, insider_risk
from condmask.disclosure.linkage import Linkage, record_linkage
from condmask.disclosure.original import units_of
from condmask.disclosure.record_risk import RecordRisk, record_risk
from condmask.disclosure.risk import release_risk, with_trained
from condmask.disclosure.risk_result import ALL, BEST, LINKED, Risk
from condmask.disclosure.uniques import Uniques, uniques
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.csv_text import CsvFormat
from condmask.files.read import numbers_or_objects, opened
from condmask.missing_codes import without_codes
from condmask.reports.release_view import CORRELATION, ReleaseView, digest
from condmask.strata import rows_of
from condmask.variance.interval import Interval

MOST_RECORDS = 1 << 16  # that are looked at one by one
FAR = 5.0  # standard errors: by chance once in a million
ROUNDED = 1e-9  # of a figure that is exact


class Compared(NamedTuple):
    """One statistic: of the original, of the masked values as if true, as estimated, and how far that is off.

    `times` is the actual error over the predicted one; NaN where none is predicted and none is there.
    """

    statistic: str
    actual: float
    masked: float
    estimate: float
    predicted_error: float
    error: float
    times: float

    @property
    def exact(self) -> bool:
        """Whether there is no error, and none was predicted."""
        return self.predicted_error == 0.0 and self.error == 0.0

    @property
    def far(self) -> bool:
        return abs(self.times) > FAR


@dataclass(frozen=True)
class OriginalColumn:
    """One column of the original, with what attackers learn of it from the release.

    Attributes
    ----------
    values : ndarray
        The originals as they were masked: those that are not missing, rounded to the grid.
    actual : dict of str to float
        What the release estimates, computed from the original.
    masked : dict of str to float
        These statistics of the masked values, as if they were the original.
    risk : Risk
    records : RecordRisk
        At the middle one of the distances, for evenly spaced records.
    insiders : InsiderRisk, optional
        Under reverse mapping.
    """

    values: np.ndarray
    actual: dict[str, float]
    masked: dict[str, float]
    risk: Risk
    records: RecordRisk
    insiders: InsiderRisk | None


class Original:
    """The file that a release was made of.

    Parameters
    ----------
    path : path
        Of the original.
    view : ReleaseView
        The release.
    csv : CsvFormat, optional
        How the original is written, as for `mask_file`.
    thorough : bool
        Whether attackers are trained.
    """

    def __init__(
        self, path: Path, view: ReleaseView, csv: CsvFormat | None = None, *, thorough: bool = False
    ) -> None:
        self.path, self._view, self._thorough = path, view, thorough
        source = opened(path, csv)
        self._raw = {name: numbers_or_objects(source, name) for name in view.schemes}
        for name, values in self._raw.items():
            if values.size != view.rows:
                raise ArgumentError(
                    f"source must have the {view.rows} rows of the release, got {values.size} in {path}"
                )
            if values.dtype == object:
                raise ArgumentTypeError(
                    f"{name} must be numbers in {path}, as it is in the release, got something else"
                )
        self.sha256 = digest(path)

    def audit(self) -> Audit:
        """How well an attacker could tell which records were swapped."""
        return audit_table(self._table, self._view.schemes, thorough=self._thorough)

    @cached_property
    def _table(self) -> AuditInput:
        """The original as an audit looks at it."""
        view = self._view
        labels = [view.columns.strata(name) for name in view.strata]
        columns = {name: frames.column(values, name) for name, values in self._raw.items()}
        values = {name: column.array for name, column in columns.items()}
        kinds = {name: column.kind for name, column in columns.items()}
        clear = view.clear_beside(list(values.values()))
        return table_of(view.schemes, values, kinds, labels, clear)

    def column(self, name: str, statistics: list[str], d: list[float]) -> OriginalColumn:
        """One column, its statistics, and what attackers learn of it."""
        view, pools = self._view, self._pools(name)
        x, z, rows = self._both(name)
        others, known = _in_rows(view.others, rows), _in_rows(view.known, rows)
        scheme = _alone(view.schemes[name], pools)
        strata = None if pools is None else pools[rows]
        if scheme.grid is not None:  # in double precision, single ones are off their grid
            units, *_, law = units_of(x, scheme)
            x = law.from_units(units)
        some = evenly_spaced(x.size, x.size if view.reverse_mapping else MOST_RECORDS)
        middle = sorted(d)[len(d) // 2]
        risk = release_risk(x, z, scheme, d=d, strata=strata, audit=False)
        nothing, originals = np.zeros(x.size), self._partners(name, rows, masked=False)
        attackers = {LINKED: ([*known.values()], nothing)} if known else {}
        if originals:
            attackers[ALL] = [*known.values(), *originals.values()], self._evidence_beside(name)[rows]
        best = risk.attackers[BEST]
        for attacker, (columns, evidence) in attackers.items():
            share, tried = by_all_columns(x, z, scheme, np.array(risk.d), columns, evidence, strata)
            best = np.fmax(share, best)  # one may forget what else one knows
            risk = replace(
                risk, attackers={**risk.attackers, attacker: best}, records={**risk.records, attacker: tried}
            )
        if self._thorough:
            risk = with_trained(risk, self._table, name, dict(view.schemes))
        records = record_risk(
            x[some], z[some], scheme, d=middle, strata=None if strata is None else strata[some]
        )
        records = replace(records, rows=np.flatnonzero(rows)[some][records.rows])
        actual = statistics_of(x, statistics, {**others, **self._partners(name, rows, masked=False)})
        partners = self._partners(name, rows, masked=True)
        masked = statistics_of(z.astype(np.float64, copy=False), statistics, {**others, **partners})
        insiders = insider_risk(x, scheme, d=d, strata=strata) if view.reverse_mapping else None
        return OriginalColumn(x, actual, masked, risk, records, insiders)

    def _evidence_beside(self, name: str) -> np.ndarray:
        """What the columns that share the swap status of one tell of it, added up."""
        group = self._view.release.group
        others = [
            other
            for other in self._raw
            if other != name and group[name] is not None and group[other] == group[name]
        ]
        together = [np.zeros(self._view.rows), *(self._evidence[other] for other in others)]
        return np.asarray(np.sum(together, axis=0))

    @cached_property
    def _evidence(self) -> dict[str, np.ndarray]:
        """What each column tells of who was swapped, its originals being known; 0 where one is missing."""
        evidence = {}
        for name in self._raw:
            x, z, rows = self._both(name)
            pools = self._pools(name)
            scheme = _alone(self._view.schemes[name], pools)
            evidence[name] = np.zeros(rows.size)
            evidence[name][rows] = swap_evidence(x, z, scheme, None if pools is None else pools[rows])
        return evidence

    def told_by_originals(self) -> float | None:
        """The share of records whose swap status is guessed by knowing one masked column, the worst.

        Expected, by the scheme. None where no columns share their swap status.
        """
        group = self._view.release.group
        if not any(group.values()):
            return None
        shares = []
        for name, evidence in self._evidence.items():
            p, present = self._view.schemes[name].p, evidence != 0.0
            swapped = 1.0 / (1.0 + (1.0 - p) / p * np.exp(-evidence[present]))
            shares.append(float(np.maximum(swapped, 1.0 - swapped).mean()))
        return max(shares)

    def present(self, name: str) -> np.ndarray:
        """The originals of a column that are not missing."""
        return self._both(name)[0]

    def by_pool(self, name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The originals of a column and their rows in the file, by donor pool."""
        x, _, rows = self._both(name)
        places, pools = np.flatnonzero(rows), self._pools(name)
        for members in [slice(None)] if pools is None else rows_of(pools[rows]).values():
            yield x[members], places[members]

    def _pools(self, name: str) -> np.ndarray | None:
        """The donor pool of each record; None where all are one."""
        pools: np.ndarray | None = self._view.release[name]._records_for("a comparison", "records").pools()
        return pools

    def linkage(self) -> dict[str, Linkage]:
        """Records found again by the masked columns alone, and together with those in clear."""
        view = self._view
        pairs = {name: self._columns(name) for name in view.schemes}
        x, z = ({name: pair[k] for name, pair in pairs.items()} for k in (0, 1))
        linkage = {"the masked columns": record_linkage(x, z)}
        if view.others:
            known = f"the masked columns and {', '.join(view.others)}"
            linkage[known] = record_linkage(x, z, others=view.others)
        return linkage

    def uniques(self) -> Uniques | None:
        """Records that are unique in the columns masked together; None where one is masked."""
        if len(self._raw) < 2:
            return None
        scheme = next(iter(self._view.schemes.values()))
        return uniques({name: self._columns(name)[0] for name in self._raw}, scheme)

    def _columns(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Originals and masked values, NaN where one is missing; in single precision where they were."""
        column = frames.column(self._raw[name], name)
        x = without_codes(column.array, self._view.schemes[name].codes, column.kind)
        return x.astype(np.float32) if column.kind == "float32" else x, self._view.masked(name)

    def _both(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Originals and masked values that are not missing, and in which rows they are."""
        x, z = self._columns(name)
        rows = ~(np.isnan(x) | np.isnan(z))
        if not rows.any() or not np.array_equal(np.isnan(x), np.isnan(z)):
            raise ArgumentError(f"{name} must be missing in the same rows of source and release, got others")
        return (x, z, rows) if rows.all() else (x[rows], z[rows], rows)

    def _partners(self, name: str, rows: np.ndarray, *, masked: bool) -> dict[str, np.ndarray]:
        """The other masked columns, or the originals of these."""
        others = [other for other in self._raw if other != name]
        return _in_rows({other: self._columns(other)[int(masked)] for other in others}, rows)


def compared(estimates: dict[str, Interval], column: OriginalColumn, *, exact: bool) -> list[Compared]:
    """Estimates beside the original; `exact` is whether those of one column alone must be so."""
    rows = []
    for statistic, interval in estimates.items():
        actual, estimate = column.actual[statistic], float(interval.estimate)
        predicted, error = float(interval.standard_error), estimate - actual
        if abs(error) <= ROUNDED * max(abs(actual), abs(estimate)):
            error = 0.0
        times = error / predicted if predicted > 0.0 else float("nan")
        if exact and error != 0.0 and not statistic.startswith(CORRELATION):
            times = np.inf
        rows.append(Compared(statistic, actual, column.masked[statistic], estimate, predicted, error, times))
    return rows


def _in_rows(columns: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The values of columns in some rows; not copied where these are all."""
    return columns if rows.all() else {name: values[rows] for name, values in columns.items()}


def _alone(scheme: Any, pools: np.ndarray | None) -> Any:
    """The scheme of a column whose donor pools and missing values are known."""
    return replace(scheme, strata=None if pools is None else "pools", small_strata="refuse", missing=())


def statistics_of(values: np.ndarray, names: list[str], others: dict[str, np.ndarray]) -> dict[str, float]:
    """Statistics of a column by the names that `summary` gives them."""
    statistics = {}
    for name in names:
        if name == "mean":
            statistics[name] = float(values.mean())
        elif name == "s.d.":
            statistics[name] = float(values.std(ddof=1))
        elif name.startswith("quantile "):
            q = float(name.removeprefix("quantile "))
            statistics[name] = float(np.quantile(values, q, method="inverted_cdf"))
        else:
            other = others[name.removeprefix("correlation with ")]
            complete = ~np.isnan(other)
            x, w = (values, other) if complete.all() else (values[complete], other[complete])
            w = w.astype(np.float64, copy=False)
            constant = (x == x[:1]).all() or (w == w[:1]).all()
            statistics[name] = float("nan") if constant else pearson(x, w)
    return statistics
