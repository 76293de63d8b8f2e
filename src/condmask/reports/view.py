"""What a report shows: what the API says of a release and, where it is given, of its original."""

import platform
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.audit import Audit, audit
from condmask.disclosure.insiders import InsiderRisk
from condmask.disclosure.linkage import Linkage, Uniques
from condmask.disclosure.rails import FEW
from condmask.disclosure.risk import risk
from condmask.disclosure.risk_result import ColumnRisk, RecordRisk
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError, heard
from condmask.files.about import digest_of
from condmask.files.parts import FILENAME
from condmask.files.tables import reading
from condmask.missing_codes import released_codes
from condmask.releases.release import Release
from condmask.reports import charts
from condmask.reports.plot_release import numbers_of, originals_and_released
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.description import with_rounding
from condmask.strata import names_of
from condmask.variance.interval import Interval

CORRELATION = "correlation with "
MOST_OTHERS = 8  # columns in clear whose correlations are told
FAR = 5.0  # standard errors: by chance once in a million
ROUNDED = 1e-9  # of a figure that is exact
ENDS = 0.05  # of the s.d., by which means at the ends move the mean at most


class Column(NamedTuple):
    """What a release says of one masked column; the picture is an element of SVG, or empty."""

    name: str
    unit: str
    scheme: Any
    sentence: str
    estimates: Mapping[str, Interval]
    picture: str


class Compared(NamedTuple):
    """One statistic of the original, of the masked values as if they were true, and as it is estimated."""

    statistic: str
    found: Interval
    original: float
    masked: float

    @property
    def error(self) -> float:
        """The estimate less the original; 0 where only the last bits differ."""
        error = float(self.found.estimate) - self.original
        return 0.0 if abs(error) <= ROUNDED * abs(self.original) else error


class Secret(NamedTuple):
    """What only the publisher may read of one masked column; `attackers` is an element of SVG."""

    column: Column
    compared: list[Compared]
    risk: ColumnRisk
    attackers: str
    records: RecordRisk
    insiders: InsiderRisk | None


class Internal(NamedTuple):
    """What only the publisher may read of a release; `publish` is None where that is not known."""

    publish: bool | None
    because: str
    audit: Audit
    columns: dict[str, Secret]
    linkage: Linkage
    uniques: Uniques | None


class View:
    """A release, read; nothing here is given the original.

    Parameters
    ----------
    release : Release
    units : dict of str to str
        What the values of columns are counted in.
    """

    def __init__(self, release: Release, units: Mapping[str, str]) -> None:
        for name, scheme in release.schemes.items():
            rule = f"release must be masked by ConditionalMasking in {name!r}"
            _checks.require(isinstance(scheme, ConditionalMasking), rule, scheme, ArgumentTypeError)
        if release._source is None:
            raise ArgumentError("release must have data, got that of dry_run=True")
        self.source = release._source
        self.release, self.units, self.schemes = release, units, release.schemes
        self.first = next(iter(self.schemes.values()))
        self.file = "" if release.path is None else release.path.name
        self.notes: list[str] = []
        packages = ", ".join(f"{package} {version(package)}" for package in ("condmask", "numpy", "scipy"))
        self.software = f"{packages}, Python {platform.python_version()}"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file; empty for a table in memory."""
        return "" if self.release.path is None else digest(self.release.path)

    @cached_property
    def clear(self) -> list[str]:
        """The columns that are not masked."""
        names = self.source.names
        return [name for name in names if name not in self.schemes and name != FILENAME]

    @cached_property
    def numbers(self) -> dict[str, np.ndarray]:
        """The first columns in clear that are complete numbers and vary."""
        found: dict[str, np.ndarray] = {}
        for name in (name for name in self.clear if name not in names_of(self.first.strata)):
            if len(found) == MOST_OTHERS:
                break
            try:
                values = frames.column(self.source.numbers_or_objects(name), name).array
            except CondmaskError:  # text, or numbers that are infinite
                continue
            if not np.isnan(values).any() and values.min() < values.max():
                found[name] = values
        return found

    def column(self, name: str, original: np.ndarray | None = None) -> Column:
        """What is estimated of a column: of the population, or of the file whose original is given."""
        target, unit = "population" if original is None else "file", self.units.get(name, "")
        lines = {} if original is None else {charts.ORIGINAL: without_gaps(original)}
        if not self.first.reverse_mapping:
            values = self.source.numbers_or_objects(name)
            values = numbers_of(values, name, released_codes(self.schemes[name]))
            lines[charts.MASKED] = without_gaps(values)
        estimates, axis = self.estimates(name, target), f"{name} ({unit})" if unit else name
        picture = self._noted(name, charts.distribution, self.release[name], lines, axis, target=target)
        sentence = with_rounding(self.schemes[name], self.release.origins[name].shift)
        return Column(name, unit, self.schemes[name], sentence, estimates, picture or "")

    def estimates(self, name: str, target: str) -> dict[str, Interval]:
        """Estimates of the original with their intervals; none where there are too few records."""
        estimate, group = self.release[name], self.release.group
        found = dict(self._noted(name, estimate.summary, target=target) or {})
        others: dict[str, Any] = dict(self.numbers)
        for other in self.schemes:
            if other != name and group[name] is not None and group[name] == group[other]:
                others[other] = self.release[other]
        for other, values in others.items():
            interval = self._noted(name, estimate.correlation_interval, values, target=target)
            if interval is not None:
                found[CORRELATION + other] = interval
        return found

    def _noted(self, name: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a call gives, None where that does not exist; its warnings, or its refusal, are noted."""
        result = None
        with heard(UserWarning) as texts:
            try:
                result = call(*arguments, **options)
            except ValueError as error:  # what does not exist, or not for so few records
                texts.append(str(error))
        self.notes += [note for text in texts if (note := f"{name}: {text}") not in self.notes]
        return result


def internal(view: View, original: Any, d: Any) -> Internal:
    """What an original, a table, tells of its release."""
    pairs = {name: originals_and_released(original, view.release, name) for name in view.schemes}
    found = audit(original, view.schemes)
    known = risk(original, view.schemes, d=d, released={name: z for name, (_, z) in pairs.items()})
    columns = {}
    for name, of_column in known.columns.items():
        column = view.column(name, pairs[name][0])
        columns[name] = Secret(
            column,
            compared(view, column, pairs),
            of_column,
            charts.attackers(of_column, name),
            known.records(of_column.d[len(of_column.d) // 2], name),
            known.insiders(name) if view.schemes[name].reverse_mapping else None,
        )
    publish, because = verdict(view, found, columns)
    uniques = known.uniques() if len(columns) > 1 else None
    return Internal(publish, because, found, columns, known.linkage(), uniques)


def compared(
    view: View, column: Column, pairs: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> list[Compared]:
    """Estimates about the file beside what they estimate."""
    rows = []
    for statistic, interval in column.estimates.items():
        other = statistic.partition(CORRELATION)[2]
        beside = pairs.get(other) or (view.numbers.get(other),) * 2
        figures = (figure(x, statistic, w) for x, w in zip(pairs[column.name], beside, strict=True))
        rows.append(Compared(statistic, interval, *figures))
    return rows


def figure(values: np.ndarray, statistic: str, other: np.ndarray | None) -> float:
    """A statistic of a column by the name that `summary` gives it, or its correlation with another one."""
    there = ~np.isnan(values) if other is None else ~np.isnan(values + other)
    x = values[there]
    if other is not None:
        return float(np.corrcoef(x, other[there])[0, 1])
    if statistic in ("mean", "s.d."):
        return float(x.mean() if statistic == "mean" else x.std(ddof=1))
    return float(np.quantile(x, float(statistic.removeprefix("quantile ")), method="inverted_cdf"))


def verdict(view: View, found: Audit, columns: Mapping[str, Secret]) -> tuple[bool | None, str]:
    """Whether a release may be published, by its audit and by whether the original fits it; and why."""
    wrong = [text for name, column in columns.items() for text in misfits(view, name, column.compared)]
    if wrong:
        return False, (
            f"its figures do not fit the original that was given. More than {FAR:g} predicted errors off: "
            f"{', '.join(wrong)}. Is this the original of the release? Find out before anything else."
        )
    if found.refused:
        return False, "masking would refuse it, for what is found below."
    if found.n < FEW and not view.first.reverse_mapping:
        return None, f"{found.n} records are too few to measure what an attacker learns."
    return True, (
        "no attacker tried here, not even one who knows which records were swapped, guesses many more "
        "values than without it: the share that is guessed to within a tenth of the spread grows by "
        f"at most {100.0 * found.limits.lift:g} percentage points."
    )


def misfits(view: View, name: str, rows: list[Compared]) -> list[str]:
    """Which of mean and s.d. are further off than noise, rounding and means at the ends explain."""
    scheme = view.schemes[name]
    figures = {row.statistic: row for row in rows if row.statistic in ("mean", "s.d.")}
    slack = 0.5 * scheme.grid.step if view.release.origins[name].shift else 0.0
    if scheme.aggregate_ends and figures:  # whose means are rounded as the data are
        slack = ENDS * figures.pop("s.d.").original
    return [
        f"{statistic} of {name}" for statistic, row in figures.items()
        if abs(row.error) > FAR * float(row.found.standard_error) + slack
    ]  # fmt: skip


def without_gaps(values: np.ndarray) -> np.ndarray:
    """The values that are not missing."""
    return np.asarray(values[~np.isnan(values)])


def digest(path: Any) -> str:
    """The SHA-256 of a file."""
    with reading(path):
        return digest_of(path)
