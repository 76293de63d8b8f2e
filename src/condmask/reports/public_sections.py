"""The parts of a report that the release itself tells; a public report has no others."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from condmask._digits import number
from condmask.reports import charts, formulas, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.release_view import ReleaseView, number_text
from condmask.schemes.parameters import PARAMETERS


def facts(view: ReleaseView, more: dict[str, Any] | None = None) -> Html:
    """What was released, and with what."""
    clear = [name for name in view.names if name not in view.schemes]
    software = ", ".join(f"{package} {version(package)}" for package in ("condmask", "numpy", "scipy"))
    return html.facts({
        "Release": html.name(view.path.name),
        "Records": f"{view.rows:,}",
        "Masked columns": html.names(view.schemes),
        "Columns in clear": html.names(clear),
        "SHA-256 of the release": tag("code", view.sha256),
        **(more or {}),
        "Software": f"{software}, Python {platform.python_version()}",
    })  # fmt: skip


def scheme_section(view: ReleaseView) -> Html:
    """The scheme in words, in numbers and as an equation."""
    sentences = html.items(html.join([html.name(name), ": ", view.sentence(name)]) for name in view.schemes)
    table = html.table("Parameters", ["", *map(html.name, view.schemes)], _parameters(view))
    if view.reverse_mapping:
        return section("How it was masked", sentences, *_reverse_mapping(view), table)
    parts: list[Html] = [
        sentences,
        paragraph("Record by record, Z is released, X the original, J another record and Y noise:"),
        formulas.equation_1(),
        paragraph("so that"),
        formulas.moments(),
        paragraph("and the distribution function is estimated by the weight K that undoes the masking:"),
        formulas.distribution(),
    ]
    if len(view.schemes) > 1:
        parts.append(
            paragraph("The columns were masked together: a swapped record has all values of one donor.")
        )
    return section("How it was masked", *parts, table)


def _reverse_mapping(view: ReleaseView) -> list[Html]:
    """What reverse mapping did, what is exact, and what is printed."""
    parts = [
        paragraph("X being the original, V the value with noise Y by which the kept records are ordered:")
    ]
    parts += [
        formulas.keys(scale) for scale in dict.fromkeys(scheme.scale for scheme in view.schemes.values())
    ]
    parts.append(
        paragraph(
            "The kept record with the smallest V got the smallest value of the kept ones, and so on. No "
            "value of a column shows by itself which records were swapped: given the whole released column "
            "each was swapped with probability p."
        )
    )
    if len(view.schemes) > 1:
        parts.append(
            paragraph(
                "The columns were masked together: a swapped record has all values of one other record. The "
                "kept ones were put back column by column."
            )
        )
    ends = any(scheme.aggregate_ends for scheme in view.schemes.values())
    but = ", but for the ends of each group, which are means" if ends else ""
    largest = "" if ends else "the largest and "
    parts.append(
        paragraph(
            "Mean, total, standard deviation, quantiles and distribution function of one column are those "
            f"of the original file, exactly{but}. All values of the original are in the release, each "
            f"once{but}: {largest}the total can be read from it."
        )
    )
    return parts


def _parameters(view: ReleaseView) -> list[list[Any]]:
    """A row for each parameter that one of the columns has."""
    rows = []
    for name, parameter in PARAMETERS.items():
        values = [getattr(scheme, name) for scheme in view.schemes.values()]
        if any(value not in (None, (), 0.0) for value in values):
            rows.append([html.join([parameter.label, " (", html.name(name), ")"]), *map(_value, values)])
    patterns = view.release.patterns.values()
    if any(patterns):
        rows.append(["donors within the pattern of missing values of", *map(_value, patterns)])
    return rows


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return html.names(map(_value, value))
    if isinstance(value, str):
        return html.name(value)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else repr(value)


def distribution_section(view: ReleaseView, name: str) -> Html:
    """What the release tells of one column of the original."""
    masked = None if view.reverse_mapping else present(view.masked(name))  # that stand as they are
    picture = view.picture(name, lambda estimate: charts.distributions(estimate, masked))
    wrong = "; dashed, the masked values read as if they were true, which is wrong"
    caption = html.join([
        "Distribution function of ", html.name(name), ": estimated, with the band that holds all of it in 95 "
        f"of 100 files{'' if view.reverse_mapping else wrong}.",
    ])  # fmt: skip
    return html.join([
        estimate_table(view, name), Html("") if picture is None else html.figure(picture, caption)
    ])  # fmt: skip


def estimate_table(view: ReleaseView, name: str, *, correlations: bool = True) -> Html:
    """Estimates of one column of the population; `correlations` as of `ReleaseView.estimates`."""
    estimates = view.estimates(name, "population", correlations=correlations)
    if not estimates:
        return paragraph("Nothing can be estimated from so few records.")
    rows = [
        [statistic_name(statistic), *(number_text(value, interval.standard_error) for value in (
            interval.estimate, interval.standard_error, interval.low, interval.high
        ))]
        for statistic, interval in estimates.items()
    ]  # fmt: skip
    caption = html.join(["Estimates of ", html.name(name), " in the population, from the release"])
    return html.table(caption, ["", "estimate", "standard error", "95% from", "to"], rows)


def statistic_name(statistic: str) -> Html:
    """The name of a statistic for readers."""
    names = {"mean": "mean", "s.d.": "standard deviation", "quantile 0.5": "median"}
    before, correlation, other = statistic.partition("correlation with ")
    if correlation and not before:
        return html.join([correlation, html.name(other)])
    return html.text(names.get(statistic, statistic))


def notes(view: ReleaseView) -> Html:
    """The warnings of the estimates."""
    if not view.warnings:
        return Html("")
    return section("Notes", html.items(tag("span", warning, class_="note") for warning in view.warnings))


def share(value: float) -> str:
    """A share in percent."""
    return "none" if value != value else f"{100.0 * value:.1f}%"


def distances(d: list[float]) -> list[str]:
    """Distances as heads of columns."""
    return [number(distance) for distance in d]


def present(values: np.ndarray) -> np.ndarray:
    """The values that are not missing."""
    return np.asarray(values[~np.isnan(values)])
