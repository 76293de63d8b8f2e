"""Collect what a report shows: estimates of a release and, for the publisher, its original."""

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.disclosure.audit import DEFAULT_LIMITS, Audit, audit_table, table_of
from condmask.disclosure.identity import singled_out
from condmask.disclosure.policy import CODES
from condmask.disclosure.risk import risk_of
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError, collect_warnings
from condmask.files.about import digest_of
from condmask.files.parts import FILENAME
from condmask.inference.interval import Interval, Target
from condmask.masking.description import with_rounding
from condmask.masking.swap_scheme import SwapScheme
from condmask.publish.release import Release
from condmask.reports import charts
from condmask.reports.alignment import OriginalData, align, as_released, is_table
from condmask.reports.plot_release import originals_and_released
from condmask.reports.relations import Relation, relations
from condmask.strata import names_of

CORRELATION = "correlation with "
MAX_CORRELATED_COLUMNS = 8  # columns in clear with which correlations are reported
MAX_STANDARD_ERRORS = 5.0  # of a figure that fits; by chance exceeded once in a million
RELATIVE_ROUNDING = 1e-9  # a smaller relative difference is rounding
MAX_MEAN_SHIFT = 0.05  # of the s.d.: the shift of the mean by rounded means at the ends


class Comparison(NamedTuple):
    """One statistic of the original, of the masked values taken as true, and its estimate."""

    statistic: str
    found: Interval
    original: float
    masked: float

    @property
    def error(self) -> float:
        """Return the estimate less the original; 0 if only the last bits differ."""
        error = float(self.found.estimate) - self.original
        return 0.0 if abs(error) <= RELATIVE_ROUNDING * abs(self.original) else error


class ReportedColumn(NamedTuple):
    """The contents of a report about one masked column; pictures are SVG elements, or empty.

    All from `compared` on is for the publisher alone: statistics and relations beside their
    originals, and pictures of attackers, of the risk by record, and of originals and released
    values.
    """

    name: str
    unit: str
    scheme: SwapScheme
    sentence: str
    estimates: Mapping[str, Interval]
    picture: str
    compared: Sequence[Comparison] = ()
    attackers: str = ""
    relations: Sequence[Relation] = ()
    by_record: str = ""
    scatter: str = ""


class View:
    """The contents of a report about a release; the original is not kept.

    Parameters
    ----------
    release : Release
    units : dict of str to str
        Units by column.
    """

    def __init__(self, release: Release, units: Mapping[str, str]) -> None:
        self.schemes: dict[str, SwapScheme] = {}
        for name, scheme in release.schemes.items():
            if not isinstance(scheme, SwapScheme):
                rule = "release must be masked by ConditionalMasking or ReverseMapping"
                raise ArgumentTypeError(f"{rule} in {name!r}, got {scheme!r}")
            self.schemes[name] = scheme
        if not release.has_columns:
            raise ArgumentError("release must have data, got that of dry_run=True")
        self.clear: list[str] = [
            name for name in release.source.names if name not in (*release.schemes, FILENAME)
        ]
        self.release = release
        self.units = units
        self.first: SwapScheme = next(iter(self.schemes.values()))
        self.file: str = "" if release.path is None else release.path.name
        self.digest: str = "" if release.path is None else digest_of(release.path)
        self.notes: list[str] = []
        packages = ", ".join(
            f"{package} {version(package)}" for package in ("condmask", "numpy", "scipy")
        )
        self.software: str = f"{packages}, Python {platform.python_version()}"

    @cached_property
    def numbers(self) -> dict[str, np.ndarray]:
        """Return the first columns in clear that hold numbers, have no gaps, and vary."""
        found: dict[str, np.ndarray] = {}
        for name in self.clear:
            if len(found) < MAX_CORRELATED_COLUMNS and name not in names_of(self.first.strata):
                with suppress(CondmaskError):  # text, or numbers that are infinite
                    values = frames.column(self.release.source.column(name), name).array
                    if values.min() < values.max():
                        found[name] = values
        return found

    def column(self, name: str, original: np.ndarray | None = None) -> ReportedColumn:
        """Return the estimates for a column: about the population, or, if the original is given,
        about the file."""
        target: Target = "population" if original is None else "file"
        unit = self.units.get(name, "")
        lines = {} if original is None else {charts.ORIGINAL_LINE: original}
        if self.schemes[name].law is not None:  # values with noise have another distribution
            lines[charts.MASKED_LINE] = self.release[name].records.z
        estimates = self.estimates(name, target)
        axis = f"{name} ({unit})" if unit else name
        picture = self._noted(
            name, charts.distribution, self.release[name], lines, axis, target=target
        )
        sentence = with_rounding(self.schemes[name], self.release.origins[name].shift)
        return ReportedColumn(name, unit, self.schemes[name], sentence, estimates, picture)

    def estimates(self, name: str, target: Target) -> dict[str, Interval]:
        """Return estimates with their intervals by name; none if there are too few records."""
        estimate = self.release[name]
        found = dict(self._noted(name, estimate.summary, target=target) or {})
        together = [each for each in self.schemes if each != name]
        for other in [*self.numbers, *together]:  # by name, which warnings then give
            interval = self._noted(name, estimate.correlation_interval, other, target=target)
            if interval is not None:
                found[CORRELATION + other] = interval
        return found

    def _noted(self, name: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return the result of a call, None if it is refused; note its warnings or the refusal."""
        result = None
        with collect_warnings(UserWarning) as texts:
            try:
                result = call(*arguments, **options)
            except ValueError as error:  # what does not exist, or not for so few records
                texts.append(str(error))
        self.notes += [note for text in texts if (note := f"{name}: {text}") not in self.notes]
        return result


def internal(
    view: View,
    original: OriginalData,
    d: ArrayLike | Mapping[str, ArrayLike] | None,
    match: str | None,
) -> tuple[list[ReportedColumn], dict[str, Any]]:
    """Return the contents that only the publisher may see: by column, and about the release.

    If the rows of the original cannot be matched with those of the release, the risk is that to be
    expected.
    """
    original = as_released(original, view.release)
    original, matched = align(original, view.release, match)
    pairs = {
        name: originals_and_released(original, view.release, name, matched=matched)
        for name in view.schemes
    }
    table, schemes = table_of(original, view.schemes, parts=view.release.parts)
    accepted = frozenset(CODES) & {*view.release.accepted}
    singled = singled_out(original, schemes) if is_table(original) else None
    found = audit_table(table, schemes, DEFAULT_LIMITS._replace(accepted=accepted), singled)
    released = {name: z for name, (_, z) in pairs.items()} if matched else None
    known = risk_of(table, schemes, d, released)
    beside = {name: (values, values) for name, values in view.numbers.items()}
    pairs_of_all = (beside if matched else _both_of_clear(view, original)) | pairs
    columns = []
    for name, (x, _) in pairs.items():
        column = view.column(name, x)
        both = pairs[name]
        column = column._replace(
            compared=comparisons(column, pairs_of_all),
            attackers=charts.attackers(known[name], name),
            relations=relations(view.release, name, original, both, pairs_of_all),
        )
        if matched:
            d = known[name].d[len(known[name].d) // 2]
            records = known.records(d, name)
            column = column._replace(
                by_record=charts.by_record(records.posterior, name),
                scatter=charts.scatter(*both, name),
            )
        columns.append(column)
    publish, because = verdict(view, found, columns)
    return columns, {
        "publish": publish,
        "because": because,
        "audit": found,
        "risk": known,
        "matched": matched,
        "match": match,
    }


# by column its values in the original and in the release
ColumnPairs = Mapping[str, tuple[np.ndarray, ...]]


def _both_of_clear(view: View, original: OriginalData) -> dict[str, tuple[np.ndarray, ...]]:
    """Return columns in clear in the order of the original, and in that of the release."""
    found = dict[str, tuple[np.ndarray, ...]]()
    for name, of_release in view.numbers.items():
        of_original = frames.column(frames.table_column(original, name, "original"), name).array
        _checks.same_length(of_original, name, of_release.size, "the release")
        found[name] = (of_original, of_release)
    return found


def comparisons(column: ReportedColumn, pairs: ColumnPairs) -> list[Comparison]:
    """Return the estimates about the file with the true figures."""
    x, z = pairs[column.name]
    # a column may have no name, or "mean"
    of = {CORRELATION + name: both for name, both in pairs.items()}
    rows = []
    for statistic, interval in column.estimates.items():
        of_x, of_z = of.get(statistic, (None, None))
        rows.append(
            Comparison(statistic, interval, figure(x, statistic, of_x), figure(z, statistic, of_z))
        )
    return rows


def figure(values: np.ndarray, statistic: str, other: np.ndarray | None) -> float:
    """Return the statistic of a column that `summary` names so, or, if `other` is given, the
    correlation with it."""
    if other is not None:
        both = ~(np.isnan(values) | np.isnan(other))
        return float(np.corrcoef(values[both], other[both])[0, 1])
    x = values[~np.isnan(values)]
    if statistic in ("mean", "s.d."):
        return float(x.mean() if statistic == "mean" else x.std(ddof=1))
    return float(np.quantile(x, float(statistic.removeprefix("quantile ")), method="inverted_cdf"))


def verdict(
    view: View, found: Audit, columns: Sequence[ReportedColumn]
) -> tuple[bool | None, str]:
    """Return whether a release may be published (None if it cannot be judged), and why."""
    wrong = [text for column in columns for text in misfits(view, column)]
    if wrong:
        return False, (
            "its figures do not fit the original that was given. More than "
            f"{MAX_STANDARD_ERRORS:g} predicted errors off: {', '.join(wrong)}. "
            "Is this the original of the release? Find out before anything else."
        )
    if found.refused:
        return False, "masking would refuse it, for the reasons below."
    if not found.figures:
        return None, f"{found.n} records are too few to measure what an attacker learns."
    figures = [
        f"{row.clear:.1%} of the values of {name} without it and {row.worst:.1%} with it"
        for name, row in found.figures.items()
    ]
    return True, (
        "an attacker who knows the columns in clear, and which records were swapped, guesses "
        f"{', '.join(figures)}, to within a tenth of the spread. It may add "
        f"{100.0 * found.limits.lift:g} percentage points."
    )


def misfits(view: View, column: ReportedColumn) -> list[str]:
    """Return the statistics, mean and s.d., that differ from the original by more than noise,
    rounding and means at the ends explain."""
    scheme = column.scheme
    figures = {row.statistic: row for row in column.compared if row.statistic in ("mean", "s.d.")}
    slack = 0.0
    if view.release.origins[column.name].shift and scheme.grid is not None:
        slack = 0.5 * scheme.grid.step
    if scheme.aggregate_ends and figures:  # whose means are rounded as the data are
        slack = MAX_MEAN_SHIFT * figures.pop("s.d.").original
    return [
        f"{statistic} of {column.name}"
        for statistic, row in figures.items()
        if abs(row.error) > MAX_STANDARD_ERRORS * float(row.found.standard_error) + slack
    ]
