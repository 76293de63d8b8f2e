"""What only the publisher can tell: the original beside the release, what attackers learn, what shows."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from condmask import frames
from condmask.disclosure.audit import audit
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.folds import evenly_spaced
from condmask.disclosure.insider_risk import InsiderRisk, insider_risk
from condmask.disclosure.linkage import Linkage, record_linkage
from condmask.disclosure.original import units_of
from condmask.disclosure.record_risk import RecordRisk, record_risk
from condmask.disclosure.risk import release_risk
from condmask.disclosure.risk_result import Risk
from condmask.disclosure.uniques import Uniques, uniques
from condmask.files.csv_format import CsvFormat
from condmask.files.formats import columns_exist, reading
from condmask.files.read import column_of, open_table
from condmask.missing_codes import without_codes
from condmask.reports.release_view import Told, digest

MOST_RECORDS = 1 << 16  # that are looked at one by one


@dataclass(frozen=True)
class Beside:
    """One column of the original, beside what was released of it.

    Attributes
    ----------
    values : ndarray
        The originals as they were masked: those that are there, rounded to the grid.
    actual : dict of str to float
        What the release estimates, computed from the original.
    masked : dict of str to float
        The same of the masked values, as if they were the original.
    risk : Risk
    records : RecordRisk
        At the middle one of the distances, for evenly spaced records.
    insiders : InsiderRisk, optional
        Of reverse mapping.
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
    told : Told
        The release.
    csv : CsvFormat, optional
        How the original is written, as for `mask_file`.
    """

    def __init__(self, path: Path, told: Told, csv: CsvFormat | None = None) -> None:
        self.path, self._told = path, told
        with reading(path):
            table = open_table(path, csv)
            columns_exist(table, list(told.schemes))
            self._raw = {name: column_of(table, name) for name in told.schemes}
        for name, values in self._raw.items():
            if values.size != told.rows:
                raise ValueError(
                    f"source must have the {told.rows} rows of the release, got {values.size} in {path}"
                )
            if values.dtype == object:
                raise TypeError(
                    f"{name} must be numbers in {path}, as it is in the release, got something else"
                )
        self.sha256 = digest(path)

    def audit(self) -> Audit:
        """What an attacker could tell of the coins."""
        told = self._told
        groups = {name: told.columns.strata(name) for name in told.groups}
        return audit({**self._raw, **told.numbers, **groups}, told.schemes)

    def beside(self, name: str, wanted: list[str], d: list[float]) -> Beside:
        """A column beside what was released of it."""
        told, estimate = self._told, self._told.file[name]
        x, z, rows = self._both(name)
        pools, known = estimate._pools(), {other: each[rows] for other, each in told.known.items()}
        scheme = replace(
            told.schemes[name], strata=None if pools is None else "pools", small_strata="refuse", missing=()
        )
        strata = None if pools is None else pools[rows]
        if scheme.grid is not None:  # in double precision, single ones are off their grid
            units, *_, law = units_of(x, scheme)
            x = law.from_units(units)
        some = evenly_spaced(x.size, x.size if told.mapped else MOST_RECORDS)
        middle = sorted(d)[len(d) // 2]
        risk = release_risk(x, z, scheme, d=d, others=known or None, strata=strata, audit=False)
        each = record_risk(
            x[some], z[some], scheme, d=middle, strata=None if strata is None else strata[some]
        )
        actual = figures(x, wanted, {**known, **self._partners(name, rows)})
        masked = figures(z.astype(np.float64), wanted, {**known, **self._partners(name, rows, masked=True)})
        each = replace(each, rows=np.flatnonzero(rows)[some][each.rows])
        insiders = insider_risk(x, scheme, d=d, strata=strata) if told.mapped else None
        return Beside(x, actual, masked, risk, each, insiders)

    def linkage(self) -> dict[str, Linkage]:
        """Records found again by the masked columns alone, and together with those in clear."""
        told = self._told
        pairs = {name: self._columns(name) for name in told.schemes}
        x, z = ({name: pair[k] for name, pair in pairs.items()} for k in (0, 1))
        found = {"by the masked columns": record_linkage(x, z)}
        if told.known:
            found["by these and the columns in clear"] = record_linkage(x, z, others=told.known)
        return found

    def uniques(self) -> Uniques | None:
        """Records that are unique in the columns masked together; None where one is masked."""
        if len(self._raw) < 2:
            return None
        scheme = next(iter(self._told.schemes.values()))
        return uniques({name: self._columns(name)[0] for name in self._raw}, scheme)

    def _columns(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Originals and masked values, NaN where one is missing; in single precision where they were."""
        column = frames.column(self._raw[name], name)
        x = without_codes(column.array, self._told.schemes[name].missing, column.kind)
        return x.astype(np.float32) if column.kind == "float32" else x, self._told.values(name)

    def _both(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Those that are there, and in which rows."""
        x, z = self._columns(name)
        rows = ~(np.isnan(x) | np.isnan(z))
        if not rows.any() or not np.array_equal(np.isnan(x), np.isnan(z)):
            raise ValueError(f"{name} must be missing in the same rows of source and release, got others")
        return x[rows], z[rows], rows

    def _partners(self, name: str, rows: np.ndarray, *, masked: bool = False) -> dict[str, np.ndarray]:
        """The other masked columns."""
        others = [other for other in self._raw if other != name]
        return {other: self._columns(other)[int(masked)][rows] for other in others}


def figures(values: np.ndarray, wanted: list[str], others: dict[str, np.ndarray]) -> dict[str, float]:
    """Statistics of a column by the names that `summary` gives them."""
    found = {}
    for what in wanted:
        if what == "mean":
            found[what] = float(values.mean())
        elif what == "s.d.":
            found[what] = float(values.std(ddof=1))
        elif what.startswith("quantile "):
            q = float(what.removeprefix("quantile "))
            found[what] = float(np.quantile(values, q, method="inverted_cdf"))
        else:
            other = others[what.removeprefix("correlation with ")]
            there = ~np.isnan(other)
            found[what] = correlation(values[there], other[there].astype(np.float64))
    return found


def correlation(x: np.ndarray, w: np.ndarray) -> float:
    """Of two columns; NaN where one is constant."""
    x, w = x - x.mean(), w - w.mean()
    below = float(np.sqrt((x @ x) * (w @ w)))
    return float(x @ w) / below if below > 0.0 else float("nan")
