"""What an internal report says first: whether the release may be published, and why."""

from typing import NamedTuple

from condmask.disclosure.audit_result import CERTAIN, FEWEST, GUESSED, Audit
from condmask.disclosure.risk_result import ALL, BEST, CONSTANT, LINKED, TRAINED, Risk
from condmask.reports import html
from condmask.reports.html import Html, paragraph, section, tag
from condmask.reports.original import FAR, Compared, OriginalColumn
from condmask.reports.public_sections import share, statistic_name
from condmask.reports.release_view import CORRELATION, ReleaseView, number_text

UNTRAINED = (
    "No attacker was trained for this report. With --thorough (thorough=True) one learns from releases of "
    "half of the file, and looks at all columns together."
)
FITTING = ("mean", "s.d.")  # that tell another original: on heaped data quantiles jump
STATUS = (
    "Each record shows either the value of another record (swapped) or a value near its own (not swapped). "
    "Which of the two is its swap status, and it is secret. The protection rests on this secret: anyone "
    "who can tell which records were not swapped knows roughly what their values are."
)


class Verdict(NamedTuple):
    """Whether a release may be published: yes, no, or not known; and why."""

    publish: bool | None
    because: Html


class Finding(NamedTuple):
    """What was found about one column."""

    original: OriginalColumn
    compared: list[Compared]


def verdict_on(audit: Audit, findings: dict[str, Finding], *, reverse_mapping: bool) -> Verdict:
    """The verdict, by the audit and by whether the original fits the release."""
    wrong = [
        html.join([statistic_name(each.statistic), " of ", html.name(name)])
        for name, finding in findings.items()
        for each in finding.compared
        if each.far and each.statistic in FITTING
    ]
    if wrong:
        return Verdict(False, html.join([
            "its figures do not fit the original that was given. More than "
            f"{FAR:g} predicted errors off: ", html.join(wrong, ", "),
            ". Is this the original of the release? Find out before anything else.",
        ]))  # fmt: skip
    limit = f"the limit is {share(min(1.0, audit.blind + GUESSED))}"
    guessed = (
        f"{share(audit.guessed)} of the records ({limit}; blind guesses are right for {share(audit.blind)})"
    )
    if audit.visible:
        tells = f"an attacker guesses the swap status of {guessed}"
        certain = f", and is certain of {share(audit.certain)} (the limit is {share(CERTAIN)})"
        return Verdict(False, html.text(f"{tells}{certain}." if guessable(audit) else _first_cause(audit)))
    if audit.n < FEWEST and not reverse_mapping:
        return Verdict(None, html.text(
            f"{audit.n} records are too few to measure how well an attacker can guess their swap status."
        ))  # fmt: skip
    return Verdict(
        True,
        html.text(
            f"no attacker tried here who sees the release alone guesses the swap status of more than "
            f"{guessed}."
        ),
    )


def guessable(audit: Audit) -> bool:
    """Whether the swap status of too many records is guessed, or certain."""
    return audit.guessed > audit.blind + GUESSED or audit.certain > CERTAIN


def _first_cause(audit: Audit) -> str:
    text = audit.refusal.partition("; ")[0]
    return f"masking would refuse it: {text}."


def verdict_section(
    view: ReleaseView, audit: Audit, findings: dict[str, Finding], told: float | None
) -> Html:
    """The verdict in one sentence, what it means, and what to weigh before signing.

    `told` is the share of records whose swap status is guessed by an attacker who knows the originals of one
    masked column; None where it shares its swap status with no other.
    """
    verdict = verdict_on(audit, findings, reverse_mapping=view.reverse_mapping)
    kind, may = {
        True: ("yes", "This release may be published, as far as this report can tell, because "),
        False: ("no", "This release should not be published, because "),
        None: ("unknown", "This report cannot say whether this release may be published, because "),
    }[verdict.publish]
    weigh = [_begun(sentence) + "." for sentence in audit.warnings]
    weigh += [UNTRAINED] if audit.trained is None else []
    if told is not None:
        weigh.append(
            "The columns were masked together, and share their swap status. Anyone who knows the true "
            f"value of a record in one of them guesses its swap status for up to {share(told)} of the "
            "records, and learns more of the other columns. The limit of the verdict is for those who see "
            "the release alone. The charts below show how much the others learn."
        )
    weigh.append(
        "A report measures the attackers that it lists, and no others. Others may know more. Whoever signs "
        "decides whether the remaining risk is acceptable."
    )
    return section(
        "Verdict",
        tag("p", tag("strong", may, verdict.because), class_=f"verdict {kind}"),
        paragraph(STATUS),
        html.items(
            line for name, finding in findings.items()
            for line in (gained(view, name, finding.original.risk), kept(view, name, finding.compared))
        ),
        tag("h3", "Before you sign"),
        html.items(weigh),
    )  # fmt: skip


def gained(view: ReleaseView, name: str, risk: Risk) -> Html:
    """What the strongest attacker reaches at the middle distance, and what is reached without the release."""
    k = len(risk.d) // 2
    distance = view.with_unit(name, number_text(risk.d[k]))
    who, strongest = max(
        (
            (who, float(risk.attackers[who][k]))
            for who in (BEST, LINKED, ALL, TRAINED)
            if who in risk.attackers
        ),
        key=lambda each: each[1],
    )
    everything = "who also knows all other columns"
    knows = {
        BEST: "who knows the method",
        LINKED: "who also knows the columns in clear" if ALL in risk.attackers else everything,
        ALL: everything,
        TRAINED: "who was trained on examples",
    }[who]
    return html.join([
        tag("strong", "What attackers learn of ", html.name(name), ": "),
        f"an attacker {knows} guesses {share(strongest)} of the values closer than {distance}. Without the "
        f"release, one guess for all records gets {share(float(risk.attackers[CONSTANT][k]))}.",
    ])  # fmt: skip


def kept(view: ReleaseView, name: str, compared: list[Compared]) -> Html:
    """How well analysts come to know the mean, and how many figures are off."""
    head = tag("strong", "What analysts learn of ", html.name(name), ": ")
    if not compared:
        return html.join([head, "nothing can be estimated from so few records."])
    mean = compared[0]
    if mean.exact:
        of_column = [each for each in compared if not each.statistic.startswith(CORRELATION)]
        what, changed = (
            ("mean, standard deviation and quantiles of this column alone are exactly those", "")
            if all(each.exact for each in of_column)
            else ("the mean of this column is exactly that", " The means at its ends change other figures.")
        )
        actual = view.with_unit(name, number_text(mean.actual))
        return html.join([head, f"{what} of the original. The mean is ", actual, f".{changed}"])
    figures = (view.with_unit(name, number_text(value, mean.predicted_error)) for value in (
        mean.estimate, mean.actual
    ))  # fmt: skip
    estimate, actual = figures
    return html.join([
        head, f"they estimate a {mean.statistic} of {estimate}; in the original it is {actual}.",
    ])  # fmt: skip


def approval() -> Html:
    """Who answers for the release; the day is written by hand, so that a report can be made again."""
    rows = "".join(
        tag("tr", tag("th", label, scope="row"), tag("td", value))
        for label, value in (
            ("Decision", "\u2610 publish \u2003 \u2610 do not publish"), ("Name", ""), ("Role", ""),
            ("Date", ""), ("Signature", ""),
        )
    )  # fmt: skip
    return section("Signature", tag("table", tag("tbody", Html(rows)), class_="sign"))


def _begun(sentence: str) -> str:
    """With a capital letter, unless it begins with what somebody would type."""
    return sentence if "=" in sentence.partition(" ")[0] else sentence[:1].upper() + sentence[1:]
