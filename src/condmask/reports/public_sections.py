"""The parts of a report that the release itself tells; a public report has no others."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from condmask.reports import charts, formulas, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.release_view import CORRELATION, ReleaseView, number_text
from condmask.schemes.parameters import PARAMETERS


def facts_section(view: ReleaseView, more: dict[str, Any] | None = None) -> Html:
    """What was released, and with what."""
    clear = [name for name in view.names if name not in view.schemes]
    software = ", ".join(f"{package} {version(package)}" for package in ("condmask", "numpy", "scipy"))
    return section("The files", html.facts({
        "Release": html.name(view.path.name),
        "Records": f"{view.rows:,}",
        "Masked columns": html.names(view.schemes),
        "Unchanged columns": html.names(clear),
        "SHA-256 of the release": tag("code", view.sha256),
        **(more or {}),
        "Software": f"{software}, Python {platform.python_version()}",
    }))  # fmt: skip


def scheme_section(view: ReleaseView) -> Html:
    """The scheme in words."""
    sentences = html.items(html.join([html.name(name), ": ", view.sentence(name)]) for name in view.schemes)
    parts = [sentences]
    if view.reverse_mapping:
        parts += _reverse_mapping(view)
    elif len(view.schemes) > 1:
        parts.append(
            paragraph("The columns were masked together: a swapped record has all values of one donor.")
        )
    return section("How it was masked", *parts)


def equations_section(view: ReleaseView) -> Html:
    """The scheme in numbers and as equations."""
    head = ["parameter", *map(html.name, view.schemes)]
    table = html.table("Parameters", head, _parameters(view))
    if view.reverse_mapping:
        scales = dict.fromkeys(scheme.scale for scheme in view.schemes.values())
        parts = [
            paragraph("X is the original and Y noise. The records that are not swapped are ordered by V:"),
            *map(formulas.keys, scales),
            paragraph(
                "The one with the smallest V gets the smallest value of these records, and so on. Given the "
                "whole released column, each record was swapped with probability p."
            ),
        ]
    else:
        parts = [
            paragraph("For each record Z is released. X is the original, J another record and Y noise:"),
            formulas.equation_1(),
            paragraph("It follows that"),
            formulas.moments(),
            paragraph("The weight K undoes the masking, and gives an estimate of the distribution function:"),
            formulas.distribution(),
        ]
    return section("Parameters and equations", table, *parts)


def _reverse_mapping(view: ReleaseView) -> list[Html]:
    """What is exact under reverse mapping, and what is printed."""
    parts = [
        paragraph("No value of a column shows by itself which records were swapped."),
    ]
    if len(view.schemes) > 1:
        parts.append(
            paragraph(
                "The columns were masked together: a swapped record has all values of one other record. The "
                "values of the others were put back column by column."
            )
        )
    ends = any(scheme.aggregate_ends for scheme in view.schemes.values())
    but = ", except that the ends of each group are replaced by means" if ends else ""
    largest = "" if ends else "the largest and "
    parts.append(
        paragraph(
            "Mean, total, standard deviation, quantiles and distribution function of one column are "
            f"exactly those of the original file{but}. All values of the original are in the release, each "
            f"once{but}: {largest}the total can be read from it."
        )
    )
    return parts


def _parameters(view: ReleaseView) -> list[list[Any]]:
    """A row for each parameter that does something in one of the columns."""
    rows = []
    for name, parameter in PARAMETERS.items():
        values = [getattr(scheme, name) for scheme in view.schemes.values()]
        if any(value not in (None, (), 0.0) for value in values) and _matters(view, name):
            rows.append([html.join([parameter.label, " (", html.name(name), ")"]), *map(_value, values)])
    patterns = view.release.patterns.values()
    if any(patterns):
        rows.append(["donors within the pattern of missing values of", *map(_value, patterns)])
    return rows


def _matters(view: ReleaseView, name: str) -> bool:
    """Whether a parameter does anything beside the others."""
    schemes = view.schemes.values()
    if name == "small_strata":
        return bool(view.strata)
    if name == "missing_as":
        return any(scheme.missing for scheme in schemes)
    if name == "scale":
        return view.reverse_mapping
    return name != "donors" or not view.reverse_mapping


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


def mean_sentence(view: ReleaseView, name: str) -> Html | None:
    """How reliable the mean of a column is; None where it cannot be estimated."""
    mean = view.estimates(name, "population", correlations=False).get("mean")
    if mean is None:
        return None
    reach = 0.5 * float(mean.high - mean.low)
    figures = (number_text(value, mean.standard_error) for value in (mean.estimate, reach))
    value, within = (view.with_unit(name, figure) for figure in figures)
    return html.join([
        "the mean of ", html.name(name), f" is {value}, to within \u00b1{within} (95% confidence)."
    ])  # fmt: skip


def distribution_section(view: ReleaseView, name: str) -> Html:
    """What the release tells of one column of the original."""
    masked = None if view.reverse_mapping else present(view.masked(name))  # that stand as they are
    picture = view.picture(
        name, lambda estimate: charts.distributions(estimate, masked, None, "population", view.axis(name))
    )
    wrong = " The dashed line takes the masked values as if they were true, which is wrong."
    caption = html.join([
        "Estimated distribution of ", html.name(name), in_units(view, name),
        ", with the band that holds all of it in 95 of 100 files.",
        "" if view.reverse_mapping else wrong,
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
    caption = html.join([
        "Estimates of ", html.name(name), in_units(view, name), " in the population, from the release"
    ])  # fmt: skip
    return html.table(caption, ["", "estimate", "standard error", "95% from", "to"], rows)


def in_units(view: ReleaseView, name: str) -> Html:
    """What a column is counted in, after its name."""
    unit = view.unit(name)
    return html.join([" (", unit, ")"]) if unit else Html("")


def statistic_name(statistic: str) -> Html:
    """The name of a statistic for readers."""
    names = {"mean": "mean", "s.d.": "standard deviation", "quantile 0.5": "median"}
    before, correlation, other = statistic.partition(CORRELATION)
    if correlation and not before:
        return html.join([correlation, html.name(other)])
    if statistic.startswith("quantile ") and statistic not in names:
        share = 100.0 * float(statistic.removeprefix("quantile "))
        return html.text(f"{share:g}% lie at or below")
    return html.text(names.get(statistic, statistic))


def notes(view: ReleaseView) -> Html:
    """The warnings of the estimates."""
    if not view.warnings:
        return Html("")
    return section("Notes", html.items(tag("span", warning, class_="note") for warning in view.warnings))


def share(value: float) -> str:
    """A share in percent."""
    return "none" if value != value else f"{100.0 * value:.1f}%"


def present(values: np.ndarray) -> np.ndarray:
    """The values that are not missing."""
    return np.asarray(values[~np.isnan(values)])
