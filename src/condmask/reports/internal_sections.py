"""The parts of a report that need the original; they stand in an internal one alone."""

from typing import Any

import numpy as np

from condmask.disclosure.audit_result import Audit
from condmask.disclosure.insider_risk import InsiderRisk
from condmask.disclosure.risk_result import CONSTANT
from condmask.inference.intervals import Interval
from condmask.reports import charts, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.original import Original, OriginalColumn
from condmask.reports.public_sections import distances, present, share, statistic_name
from condmask.reports.release_view import ReleaseView, number_text

SHOWN = 10  # most exposed records
FAR = 5.0  # standard errors: by chance once in a million
ROUNDED = 1e-9  # of a figure that is exact
UNTRAINED = (
    "No attacker was trained on releases of half of the file: --thorough (thorough=True) trains one, who "
    "looks at all columns together."
)


def facts(original: Original) -> dict[str, Any]:
    return {
        "Original": html.name(original.path.name),
        "SHA-256 of the original": tag("code", original.sha256),
    }


def utility(view: ReleaseView, name: str, estimates: dict[str, Interval], original: OriginalColumn) -> Html:
    """The estimates beside the statistics of the original."""
    rows, far = [], []
    exact = view.reverse_mapping and not view.schemes[name].aggregate_ends
    for statistic, interval in estimates.items():
        actual, estimate = original.actual[statistic], float(interval.estimate)
        standard_error, error = float(interval.standard_error), estimate - actual
        times = error / standard_error if standard_error > 0.0 else float("nan")
        if exact and abs(error) > ROUNDED * max(abs(actual), abs(estimate)):
            times = np.inf
        if abs(times) > FAR:
            far.append(statistic)
        rows.append([
            statistic_name(statistic), *(number_text(value, standard_error) for value in (
                actual, original.masked[statistic], estimate, standard_error, error
            )), number_text(round(times, 1)) if np.isfinite(times) else "",
        ])  # fmt: skip
    head = ["", "original", "as masked", "estimate", "predicted error", "actual error", "actual / predicted"]
    caption = html.join([
        "Utility of ", html.name(name), ": what the release tells of the original file, and what is true. "
        "The predicted error is the standard error for this file; as masked is what a reader finds who "
        "takes masked values for true ones",
    ])  # fmt: skip
    picture = view.picture(
        name,
        lambda estimate: charts.distributions(
            estimate, None if view.reverse_mapping else present(view.masked(name)), original.values, "file"
        ),
    )
    lines = (
        "original and estimate"
        if view.reverse_mapping
        else (
            "original, masked values, and the estimate with the band that holds all of it in 95 of 100 "
            "releases"
        )
    )
    picture_caption = html.join(["Distribution function of ", html.name(name), f" in the file: {lines}."])
    warning = paragraph(
        f"More than {FAR:g} predicted errors off: {', '.join(far)}. Is this the original of the release?"
    )
    return html.join([
        html.table(caption, head, rows),
        tag("div", warning, class_="note") if far else Html(""),
        Html("") if picture is None else html.figure(picture, picture_caption),
    ])  # fmt: skip


def risk_section(name: str, original: OriginalColumn, others: list[str]) -> Html:
    """What attackers learn of one column."""
    risk, records = original.risk, original.records
    shares, lifts = [], []
    for attacker, near in risk.attackers.items():
        low, high = risk.interval(attacker)
        shares.append([attacker, *(
            f"{share(value)} ({share(a)}\u2013{share(b)})"
            for value, a, b in zip(near, low, high, strict=True)
        )])  # fmt: skip
        if attacker != CONSTANT:
            lifts.append([attacker, *(f"{value:.2f}" for value in risk.lift[attacker])])
    head = ["attacker", *distances(list(risk.d))]
    caption = html.join([
        "Share of ", html.name(name), " that an attacker comes nearer than a distance, with its 95% interval"
    ])  # fmt: skip
    known_to_one = html.join(["Other columns that one attacker knows: ", html.names(others), "."])
    figures = records.to_dict()
    surest = records.exposed(SHOWN)
    order = {int(row): k for k, row in enumerate(records.rows)}
    exposed = [[f"{row + 1:,}", share(float(records.posterior[order[int(row)]]))] for row in surest]
    counted = (
        f"Of {figures['n']:,} records that were looked at one by one, the best attacker comes nearer than "
        f"{number_text(records.d)} to {share(figures['hit'])}, expects to do so for "
        f"{share(figures['posterior'])}, and is sure to nine in ten of {share(figures['surest'])}."
    )
    if risk.most_exposed is not None:
        shares.append(["a record's released value, at the most", *map(share, risk.most_exposed)])
    printed = [] if risk.verbatim is None else [_capital(line) + "." for line in risk.verbatim.lines()]
    return html.join([
        html.table(caption, head, shares),
        Html("") if original.insiders is None else insider_table(name, original.insiders),
        html.table("Times as many as the best constant guess", head, lifts),
        paragraph(known_to_one),
        html.figure(charts.attackers(risk), "Attackers side by side, with 95% intervals."),
        *map(paragraph, printed),
        paragraph(counted),
        html.table(
            "Most exposed records, by their place in the file, and how sure he is",
            ["record", "sure"], exposed,
        ) if exposed else Html(""),
    ])  # fmt: skip


def insider_table(name: str, insiders: InsiderRisk) -> Html:
    """What is read by who knows most of a pool."""
    rows = [
        [f"all but {row['unknown']:,}", *(
            f"{share(mapped)} ({share(additive)})"
            for mapped, additive in zip(
                (row["exact"], *row["within"]), (row["additive_exact"], *row["additive_within"]), strict=True
            )
        )]
        for row in insiders.rows()
    ]  # fmt: skip
    caption = html.join([
        "Insiders: share of the values of ", html.name(name), " he does not know that are read by who knows "
        f"all others of a group of {insiders.n:,}; in brackets, under additive noise of the same p and sigma",
    ])  # fmt: skip
    return html.table(
        caption, ["who knows", "exactly", *(f"within {d}" for d in distances(list(insiders.d)))], rows
    )


def audit_section(audit: Audit, *, reverse_mapping: bool) -> Html:
    """How well an attacker could tell which records were swapped."""
    figures = [
        ["guessed right", share(audit.guessed)],
        ["in the worst tenth of the records", share(audit.worst)],
        ["blindly", share(audit.blind)],
        *([] if audit.trained is None else [["by a trained attacker", share(audit.trained)]]),
        ["records known for certain", share(audit.certain)],
        ["kept records unchanged", share(audit.unchanged)],
    ]
    refused = "Masking would refuse it: " if reverse_mapping else "Yes: "  # for other reasons, too
    verdict = refused + audit.refusal if audit.visible else "No, as far as this audit looks."
    causes = [
        html.join([
            cause.name, *([" (", html.name(cause.column), ")"] if cause.column else []),
            f": {cause.text}; {cause.remedy}",
        ])
        for cause in audit.causes
    ]  # fmt: skip
    return section(
        "Which records were swapped",
        paragraph("Could somebody tell which records were swapped? ", tag("strong", verdict)),
        html.table(
            "How many an attacker guesses rightly, swapped or kept, in shares of all", ["", "share"], figures
        ),
        Html("") if reverse_mapping else paragraph(" ".join(audit.basis)),
        html.join([paragraph("What shows, and what would help:"), html.items(causes)])
        if causes
        else Html(""),
        html.items(audit.warnings) if audit.warnings else Html(""),
        paragraph(UNTRAINED) if audit.trained is None else Html(""),
    )


def linkage_section(original: Original) -> Html:
    """Records found again, and those that are the only ones of their kind."""
    rows = []
    for how, linkage in original.linkage().items():
        low, high = linkage.interval()
        rows += [
            [f"{how}, among {k} nearest", share(part), f"{share(a)}\u2013{share(b)}", share(chance)]
            for k, part, a, b, chance in zip(linkage.k, linkage.linked, low, high, linkage.blind, strict=True)
        ]
    parts = [
        html.table(
            "Masked records whose original is found again, by distance",
            ["", "linked", "95%", "blindly"],
            rows,
        )
    ]
    uniques = original.uniques()
    if uniques is not None:
        parts.append(paragraph(
            f"{share(uniques.unique)} of the records are the only ones with their values in the columns "
            f"masked together, and {share(uniques.verbatim)} of all have these values printed together in a "
            "release."
        ))  # fmt: skip
    return section("Record linkage", *parts)


def approval() -> Html:
    """Who answers for the release; the day is written by hand, so that a report can be made again."""
    rows = "".join(
        tag("tr", tag("th", label, scope="row"), tag("td", "")) for label in ("Name", "Date", "Signed")
    )
    return section("Approval", tag("table", tag("tbody", Html(rows)), class_="sign"))


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:]
