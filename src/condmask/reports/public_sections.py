"""The parts of a report that the release itself tells; a public report has no others."""

import platform
from importlib.metadata import version
from typing import Any

from condmask._digits import number
from condmask.inference.intervals import Interval
from condmask.reports import charts, formulas, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.release_view import Told, figure_of
from condmask.schemes.parameters import PARAMETERS


def facts(told: Told, more: dict[str, Any] | None = None) -> Html:
    """What was released, and with what."""
    clear = [name for name in told.names if name not in told.schemes]
    software = ", ".join(f"{each} {version(each)}" for each in ("condmask", "numpy", "scipy"))
    return html.facts({
        "Release": html.name(told.path.name),
        "Records": f"{told.rows:,}",
        "Masked columns": html.names(told.schemes),
        "Columns in clear": html.names(clear),
        "SHA-256 of the release": tag("code", told.sha256),
        **(more or {}),
        "Software": f"{software}, Python {platform.python_version()}",
    })  # fmt: skip


def masked(told: Told) -> Html:
    """The scheme in words, in numbers and as an equation."""
    said = html.items(html.join([html.name(name), ": ", told.sentence(name)]) for name in told.schemes)
    table = html.table("Parameters", ["", *map(html.name, told.schemes)], _parameters(told))
    if told.mapped:
        return section("How it was masked", said, *_mapped(told), table)
    parts: list[Html] = [
        said,
        paragraph("Record by record, Z is released, X the original, J another record and Y noise:"),
        formulas.equation_1(),
        paragraph("so that"),
        formulas.moments(),
        paragraph("and the distribution function is estimated by the weight K that undoes the masking:"),
        formulas.distribution(),
    ]
    if len(told.schemes) > 1:
        parts.append(
            paragraph("The columns were masked together: a swapped record has all values of one donor.")
        )
    return section("How it was masked", *parts, table)


def _mapped(told: Told) -> list[Html]:
    """What reverse mapping did, what is exact, and what is printed."""
    parts = [
        paragraph("X being the original, V the value with noise Y by which the kept records are ordered:")
    ]
    parts += [formulas.keys(scale) for scale in dict.fromkeys(each.scale for each in told.schemes.values())]
    parts.append(
        paragraph(
            "The kept record with the smallest V got the smallest value of the kept ones, and so on. No "
            "value of a column shows by itself which records were swapped: given the whole released column "
            "each was swapped with probability p."
        )
    )
    if len(told.schemes) > 1:
        parts.append(
            paragraph(
                "The columns were masked together: a swapped record has all values of one other record. The "
                "kept ones were put back column by column."
            )
        )
    ends = any(scheme.aggregate_ends for scheme in told.schemes.values())
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


def _parameters(told: Told) -> list[list[Any]]:
    """Those that differ from nothing in any column."""
    rows = []
    labels = {name: parameter.label for name, parameter in PARAMETERS.items()}
    for name, label in labels.items():
        values = [getattr(scheme, name) for scheme in told.schemes.values()]
        if any(value not in (None, (), 0.0) for value in values):
            rows.append([html.join([label, " (", html.name(name), ")"]), *map(_value, values)])
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


def estimated(told: Told, name: str) -> Html:
    """What the release tells of one column of the original."""
    masked_values = None if told.mapped else _present(told, name)  # that stand as they are
    drawn = told.picture(name, lambda estimate: charts.distributions(estimate, masked_values))
    wrong = "; dashed, the masked values read as if they were true, which is wrong"
    caption = html.join([
        "Distribution function of ", html.name(name), ": estimated, with the band that holds all of it in 95 "
        f"of 100 files{'' if told.mapped else wrong}.",
    ])  # fmt: skip
    return html.join([
        estimates(told, name), Html("") if drawn is None else html.figure(drawn, caption)
    ])  # fmt: skip


def estimates(told: Told, name: str, *, beside: bool = True) -> Html:
    """Estimates of one column of the population; `beside` as of `Told.summary`."""
    found = told.summary(name, "population", beside=beside)
    if not found:
        return paragraph("Nothing can be estimated from so few records.")
    return table(html.join(["Estimates of ", html.name(name), " in the population, from the release"]), found)


def table(caption: Any, found: dict[str, Interval]) -> Html:
    """Estimates with their intervals."""
    rows = [
        [statistic(what), *(figure_of(value, each.standard_error) for value in (
            each.estimate, each.standard_error, each.low, each.high
        ))]
        for what, each in found.items()
    ]  # fmt: skip
    return html.table(caption, ["", "estimate", "standard error", "95% from", "to"], rows)


def statistic(what: str) -> Html:
    """The name of a statistic."""
    words = {"mean": "mean", "s.d.": "standard deviation", "quantile 0.5": "median"}
    before, found, other = what.partition("correlation with ")
    if found and not before:
        return html.join([found, html.name(other)])
    return html.text(words.get(what, what))


def noted(told: Told) -> Html:
    """What the estimates said of themselves."""
    if not told.warnings:
        return Html("")
    return section("Notes", html.items(tag("span", each, class_="note") for each in told.warnings))


def share(value: float) -> str:
    """In percent."""
    return "none" if value != value else f"{100.0 * value:.1f}%"


def distances(d: list[float]) -> list[str]:
    """As heads of columns."""
    return [number(each) for each in d]


def _present(told: Told, name: str) -> Any:
    values = told.values(name)
    return values[values == values]
