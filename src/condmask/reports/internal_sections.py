"""The parts of a report that need the original; they stand in an internal one alone."""

from typing import Any

import numpy as np

from condmask.disclosure.audit_result import Audit
from condmask.disclosure.insider_risk import InsiderRisk
from condmask.disclosure.risk_result import CONSTANT
from condmask.reports import alarms, attacker_names, charts, html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.original import FAR, Compared, Original, OriginalColumn
from condmask.reports.public_sections import in_units, present, share, statistic_name
from condmask.reports.release_view import CORRELATION, ReleaseView, number_text
from condmask.reports.verdict import guessable

SHOWN = 10  # most exposed records
QUANTILE = "quantile "
NO_CHANCE = 0.02  # of the swap status of values that recur: less than this beyond p says nothing


def facts(original: Original) -> dict[str, Any]:
    return {
        "Original": html.name(original.path.name),
        "SHA-256 of the original": tag("code", original.sha256),
    }


def utility(view: ReleaseView, name: str, compared: list[Compared], original: OriginalColumn) -> Html:
    """The estimates beside the statistics of the original; exact ones in a sentence."""
    exact = [each for each in compared if each.exact and not each.statistic.startswith(CORRELATION)]
    if not view.reverse_mapping:
        exact = []
    rows = []
    for each in (row for row in compared if row not in exact):
        shown = (each.actual, each.masked, each.estimate, each.predicted_error, each.error)
        rows.append([
            statistic_name(each.statistic), *(number_text(value, each.predicted_error) for value in shown),
            number_text(round(each.times, 1)) if np.isfinite(each.times) else "",
        ])  # fmt: skip
    head = ["", "original", "as masked", "estimate", "predicted error", "actual error", "actual / predicted"]
    caption = html.join(["Estimates of ", html.name(name), in_units(view, name), " beside the original file"])
    how = (
        "The predicted error is the standard error for this file. The actual error is the estimate less "
        "the original: in one of twenty rows it is more than twice the predicted one. \u201cAs "
        "masked\u201d is what readers find who take masked values for true ones."
    )
    ends = view.schemes[name].aggregate_ends
    if ends and any(each.predicted_error == 0.0 and each.error != 0.0 for each in compared):
        how += (
            f" Where none is predicted, the means that stand for the {ends} smallest and the "
            f"{ends} largest values make the difference."
        )
    far = html.join([statistic_name(each.statistic) for each in compared if each.far], ", ")
    picture = view.picture(
        name,
        lambda estimate: charts.distributions(
            estimate,
            None if view.reverse_mapping else present(view.masked(name)),
            original.values,
            "file",
            view.axis(name),
        ),
    )
    lines = (
        "original and estimate"
        if view.reverse_mapping
        else (
            "original, masked values as if they were true, and the estimate with the band that holds all "
            "of it in 95 of 100 releases"
        )
    )
    picture_caption = html.join([
        "Distribution of ", html.name(name), in_units(view, name), f" in the file: {lines}."
    ])  # fmt: skip
    listed = html.join(_named([each.statistic for each in exact]), ", ")
    return html.join([
        paragraph("Exactly as in the original: ", listed, ".") if exact else Html(""),
        html.table(caption, head, rows) if rows else Html(""),
        paragraph(how) if rows else Html(""),
        tag("p", f"More than {FAR:g} predicted errors off: ", far, ".", class_="note") if far else Html(""),
        Html("") if picture is None else html.figure(picture, picture_caption),
    ])  # fmt: skip


def risk_section(view: ReleaseView, name: str, original: OriginalColumn) -> Html:
    """What attackers learn of one column."""
    risk, records = original.risk, original.records
    labels = attacker_names.short_names(risk)
    masked = [other for other in view.schemes if other != name]
    distances = [view.with_unit(name, number_text(d)) for d in risk.d]
    shares, lifts = [], []
    for attacker, label in labels.items():
        low, high = risk.interval(attacker)
        near = risk.attackers[attacker]
        shares.append([label, *(
            f"{share(value)} ({share(a)}\u2013{share(b)})"
            for value, a, b in zip(near, low, high, strict=True)
        )])  # fmt: skip
        if attacker != CONSTANT:
            lifts.append([label, *(f"{value:.2f}" for value in risk.lift[attacker])])
    if risk.most_exposed is not None:
        shares.append(["the masked value of the most exposed record", *map(share, risk.most_exposed)])
    head = ["attacker", *(f"closer than {distance}" for distance in distances)]
    caption = html.join([
        "Share of the records whose ", html.name(name),
        " an attacker guesses closer than a distance, with its 95% interval",
    ])  # fmt: skip
    times = html.join([
        "How many times as many values of ", html.name(name), " as by one guess for all records, without a "
        "release"
    ])  # fmt: skip
    figures = records.to_dict()
    at = view.with_unit(name, number_text(records.d))
    sure = f"for {share(figures['surest'])}" if figures["surest"] > 0.0 else "for none"
    counted = (
        f"Of {figures['n']:,} records that were looked at one by one, the best guess from the masked value "
        f"is nine tenths sure {sure}, closer than {at}."
    )
    return html.join([
        paragraph("Every attacker wants the value of one record, and guesses it as well as possible:"),
        attacker_names.explained(risk, [*view.known, *view.strata], masked),
        html.figure(
            charts.attackers(risk, labels, distances, name),
            html.join([
                "How many records each attacker guesses closer than ", ", ".join(distances), " of the true ",
                html.name(name), ", with 95% intervals. The dashed line needs no release.",
            ]),
        ),
        html.table(caption, head, shares),
        html.table(times, head, lifts),
        Html("") if original.insiders is None else insider_table(view, name, original.insiders),
        *map(paragraph, _verbatim(view, name, risk)),
        paragraph(counted),
        _exposed(view, name, original),
    ])  # fmt: skip


def _named(statistics: list[str]) -> list[Html]:
    """Statistics by name, quantiles together."""
    quantiles = [each for each in statistics if each.startswith(QUANTILE)]
    named = [statistic_name(each) for each in statistics if each not in quantiles]
    shares = [f"{100.0 * float(each.removeprefix(QUANTILE)):g}%" for each in quantiles]
    return [*named, *([html.text(f"quantiles at {', '.join(shares)}")] if shares else [])]


def _verbatim(view: ReleaseView, name: str, risk: Any) -> list[str]:
    """What is released as it is, and what equal values tell, where that says anything."""
    if risk.verbatim is None or view.reverse_mapping:
        return []
    printed, p = risk.verbatim, view.schemes[name].p
    lines = [
        f"{share(printed.share)} of the original values stand somewhere in the release, most of them in "
        "other records."
    ]
    tells = [
        f"{share(swapped)} of those whose value {which} were swapped"
        for swapped, which in (
            (printed.swapped_if_tied, "occurs more than once"), (printed.swapped_if_untied, "occurs once")
        )
        if abs(swapped - p) > NO_CHANCE
    ]  # fmt: skip
    if tells:
        lines.append(
            f"{share(printed.tied)} of the released values occur more than once. Of all records {share(p)} "
            f"were swapped; {' and '.join(tells)}."
        )
    return lines


def _exposed(view: ReleaseView, name: str, original: OriginalColumn) -> Html:
    """The records that the attacker is right about, and surest of."""
    records = original.records
    order = {int(row): k for k, row in enumerate(records.rows)}
    exposed = [
        [f"{row + 1:,}", share(float(records.posterior[order[int(row)]]))] for row in records.exposed(SHOWN)
    ]
    caption = html.join([
        "Most exposed records: guessed rightly, closer than ",
        view.with_unit(name, number_text(records.d)),
        ", by their place in the file, and how sure the attacker is",
    ])  # fmt: skip
    return html.table(caption, ["record", "sure"], exposed) if exposed else Html("")


def insider_table(view: ReleaseView, name: str, insiders: InsiderRisk) -> Html:
    """What is read off by an attacker who knows nearly all originals of a donor pool."""
    rows = [
        [f"all but {row['unknown']:,}", *(
            f"{share(reversed_)} ({share(additive)})"
            for reversed_, additive in zip(
                (row["exact"], *row["within"]), (row["additive_exact"], *row["additive_within"]), strict=True
            )
        )]
        for row in insiders.rows()
    ]  # fmt: skip
    caption = html.join([
        "Insiders: share of the unknown values of ", html.name(name), " that are read by an attacker who "
        f"knows most values of a group of {insiders.n:,} records; in brackets, had noise been released "
        "instead",
    ])  # fmt: skip
    head = ["knows", "exactly", *(f"closer than {view.with_unit(name, number_text(d))}" for d in insiders.d)]
    return html.table(caption, head, rows)


def audit_section(audit: Audit, view: ReleaseView, original: Original) -> Html:
    """How well an attacker could tell which records were swapped, and what each alarm means."""
    figures = [
        ["blind guesses", share(audit.blind)],
        ["best attacker", share(audit.guessed)],
        *([["best attacker, in the worst tenth of the records", share(audit.worst)]]
          if audit.worst > audit.guessed else []),
        *([] if audit.trained is None else [["trained attacker", share(audit.trained)]]),
    ]  # fmt: skip
    certain = (
        f"The attacker is certain of the swap status of {share(audit.certain)} of the records. "
        f"{share(audit.unchanged)} of the records that were not swapped show their own value."
    )
    answer = "Yes, too often." if guessable(audit) else "Hardly better than by blind guesses."
    if audit.visible and not guessable(audit):
        answer += " But masking would refuse this release for another reason:"
    return section(
        "Can anyone tell which records were swapped?",
        paragraph(tag("strong", answer)),
        html.table("Share of the records whose swap status is guessed rightly", ["", "share"], figures),
        paragraph(certain),
        Html("") if view.reverse_mapping else paragraph(" ".join(audit.basis)),
        *(
            [
                tag(
                    "h3",
                    "What shows it, and what would help" if audit.visible else "What shows something of it",
                )
            ]
            if audit.causes
            else []
        ),
        alarms.explained(audit, view, original),
    )


def linkage_section(original: Original) -> Html:
    """Records found again, and those that are the only ones of their kind."""
    rows = []
    for how, linkage in original.linkage().items():
        low, high = linkage.interval()
        rows += [
            [
                f"compared by {how}: it is {'the nearest' if k == 1 else f'among the {k} nearest'}",
                share(part),
                f"{share(a)}\u2013{share(b)}",
                share(chance),
            ]
            for k, part, a, b, chance in zip(linkage.k, linkage.linked, low, high, linkage.blind, strict=True)
        ]
    parts = [
        paragraph(
            "Somebody has the original records, and looks for the original of each released record among "
            "those that are nearest."
        ),
        html.table(
            "Share of the released records whose original is found",
            ["where it is found", "share", "95% interval", "by blind guesses"],
            rows,
        ),
    ]
    uniques = original.uniques()
    if uniques is not None:
        parts.append(paragraph(
            f"{share(uniques.unique)} of the records are the only ones with their values in the columns that "
            f"were masked together. Of all records, {share(uniques.verbatim)} are such ones whose values are "
            "released together, in some row: anyone who knows them knows that this record is in the file."
        ))  # fmt: skip
    return section("Can a record be found again?", *parts)
