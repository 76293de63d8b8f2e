"""The parts of a report that need the original; they stand in an internal one alone."""

from typing import Any

import numpy as np

from condmask.disclosure.audit_result import Audit
from condmask.disclosure.insider_risk import InsiderRisk
from condmask.disclosure.risk_result import CONSTANT
from condmask.inference.intervals import Interval
from condmask.reports import charts, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.original import Beside, Original
from condmask.reports.public_sections import distances, share, statistic
from condmask.reports.release_view import Told, figure_of

SHOWN = 10  # most exposed records
FAR = 5.0  # standard errors: by chance once in a million
ROUNDED = 1e-9  # of a figure that is exact


def facts(original: Original) -> dict[str, Any]:
    return {
        "Original": html.name(original.path.name),
        "SHA-256 of the original": tag("code", original.sha256),
    }


def compared(told: Told, name: str, found: dict[str, Interval], beside: Beside) -> Html:
    """The estimates beside the figures of the original."""
    rows, far = [], []
    for what, each in found.items():
        actual, error = beside.actual[what], float(each.standard_error)
        off = float(each.estimate) - actual
        exact = told.mapped and not told.schemes[name].aggregate_ends
        times = off / error if error > 0.0 else float("nan")
        if exact and abs(off) > ROUNDED * max(abs(actual), abs(float(each.estimate))):
            times = np.inf
        if abs(times) > FAR:
            far.append(what)
        rows.append([
            statistic(what), *(figure_of(value, error) for value in (
                actual, beside.masked[what], float(each.estimate), error, off
            )), figure_of(round(times, 1)) if np.isfinite(times) else "",
        ])  # fmt: skip
    head = ["", "original", "as masked", "estimate", "predicted error", "actual error", "actual / predicted"]
    caption = html.join([
        "Utility of ", html.name(name), ": what the release tells of the original file, and what is true. "
        "The predicted error is the standard error for this file; as masked is what a reader finds who "
        "takes masked values for true ones",
    ])  # fmt: skip
    drawn = told.picture(
        name,
        lambda estimate: charts.distributions(
            estimate, None if told.mapped else _masked(told, name), beside.values, "file"
        ),
    )
    lines = (
        "original and estimate"
        if told.mapped
        else (
            "original, masked values, and the estimate with the band that holds all of it in 95 of 100 "
            "releases"
        )
    )
    said = html.join(["Distribution function of ", html.name(name), f" in the file: {lines}."])
    warned = paragraph(
        f"More than {FAR:g} predicted errors off: {', '.join(far)}. Is this the original of the release?"
    )
    return html.join([
        html.table(caption, head, rows),
        tag("div", warned, class_="note") if far else Html(""),
        Html("") if drawn is None else html.figure(drawn, said),
    ])  # fmt: skip


def learned(name: str, beside: Beside, known: list[str]) -> Html:
    """What attackers learn of one column."""
    risk, each = beside.risk, beside.records
    shares, lifts = [], []
    for attacker, found in risk.attackers.items():
        low, high = risk.interval(attacker)
        shares.append([attacker, *(
            f"{share(value)} ({share(a)}\u2013{share(b)})"
            for value, a, b in zip(found, low, high, strict=True)
        )])  # fmt: skip
        if attacker != CONSTANT:
            lifts.append([attacker, *(f"{value:.2f}" for value in risk.lift[attacker])])
    head = ["attacker", *distances(list(risk.d))]
    caption = html.join([
        "Share of ", html.name(name), " that an attacker comes nearer than a distance, with its 95% interval"
    ])  # fmt: skip
    where = html.join(["Other columns that one attacker knows: ", html.names(known), "."])
    figures = each.to_dict()
    surest = each.exposed(SHOWN)
    order = {int(row): k for k, row in enumerate(each.rows)}
    exposed = [[f"{row + 1:,}", share(float(each.posterior[order[int(row)]]))] for row in surest]
    counted = (
        f"Of {figures['n']:,} records that were looked at one by one, the best attacker comes nearer than "
        f"{figure_of(each.d)} to {share(figures['hit'])}, expects to do so for "
        f"{share(figures['posterior'])}, "
        f"and is sure to nine in ten of {share(figures['surest'])}."
    )
    if risk.most_exposed is not None:
        shares.append(["a record's released value, at the most", *map(share, risk.most_exposed)])
    printed = [] if risk.verbatim is None else [_capital(line) + "." for line in risk.verbatim.lines()]
    return html.join([
        html.table(caption, head, shares),
        Html("") if beside.insiders is None else insiders(name, beside.insiders),
        html.table("Times as many as the best constant guess", head, lifts),
        paragraph(where),
        html.figure(charts.attackers(risk), "Attackers side by side, with 95% intervals."),
        *map(paragraph, printed),
        paragraph(counted),
        html.table(
            "Most exposed records, by their place in the file, and how sure he is",
            ["record", "sure"], exposed,
        ) if exposed else Html(""),
    ])  # fmt: skip


def insiders(name: str, found: InsiderRisk) -> Html:
    """What is read by who knows most of a pool."""
    rows = [
        [f"all but {row['unknown']:,}", *(
            f"{share(own)} ({share(other)})"
            for own, other in zip(
                (row["exact"], *row["within"]), (row["additive_exact"], *row["additive_within"]), strict=True
            )
        )]
        for row in found.rows()
    ]  # fmt: skip
    caption = html.join([
        "Insiders: share of the values of ", html.name(name), " he does not know that are read by who knows "
        f"all others of a group of {found.n:,}; in brackets, under additive noise of the same p and sigma",
    ])  # fmt: skip
    return html.table(
        caption, ["who knows", "exactly", *(f"within {each}" for each in distances(list(found.d)))], rows
    )


def audited(found: Audit, *, mapped: bool) -> Html:
    """What shows of the coins."""
    figures = [
        ["coins guessed", share(found.guessed)],
        ["without a look", share(found.blind)],
        ["records known for certain", share(found.certain)],
        ["kept records unchanged", share(found.unchanged)],
    ]
    shown = "Masking would refuse it: " if mapped else "Coins are visible: "  # of guard rails, too
    verdict = shown + found.refusal if found.visible else "Coins are hidden."
    causes = [
        html.join([
            cause.name, *([" (", html.name(cause.column), ")"] if cause.column else []),
            f": {cause.text}; {cause.remedy}",
        ])
        for cause in found.causes
    ]  # fmt: skip
    return section(
        "Audit of the coins",
        paragraph("Could somebody tell which records were swapped? ", tag("strong", verdict)),
        html.table("Coins and records, in shares of all", ["", "share"], figures),
        html.join([paragraph("What shows, and what would help:"), html.items(causes)])
        if causes
        else Html(""),
        html.items(found.warnings) if found.warnings else Html(""),
    )


def linked(original: Original) -> Html:
    """Records found again, and those that are the only ones of their kind."""
    rows = []
    for how, found in original.linkage().items():
        low, high = found.interval()
        rows += [
            [f"{how}, among {k} nearest", share(part), f"{share(a)}\u2013{share(b)}", share(chance)]
            for k, part, a, b, chance in zip(found.k, found.linked, low, high, found.blind, strict=True)
        ]
    parts = [
        html.table(
            "Masked records whose original is found again, by distance",
            ["", "linked", "95%", "blindly"],
            rows,
        )
    ]
    once = original.uniques()
    if once is not None:
        parts.append(paragraph(
            f"{share(once.unique)} of the records are the only ones with their values in the columns masked "
            f"together, and {share(once.verbatim)} of all have these values printed together in a release."
        ))  # fmt: skip
    return section("Record linkage", *parts)


def signed() -> Html:
    """Who answers for the release; the day is written by hand, so that a report can be made again."""
    rows = "".join(
        tag("tr", tag("th", each, scope="row"), tag("td", "")) for each in ("Name", "Date", "Signed")
    )
    return section("Approval", tag("table", tag("tbody", Html(rows)), class_="sign"))


def _masked(told: Told, name: str) -> Any:
    values = told.values(name)
    return values[~np.isnan(values)]


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:]
