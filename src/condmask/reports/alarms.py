"""What each alarm of an audit means to whoever signs, and the values of the original that raise it."""

import numpy as np

from condmask.disclosure.audit_result import RAIL, RAIL_WARNING, WARNED, Audit
from condmask.disclosure.causes import COMMON, COMPUTED, Cause
from condmask.disclosure.guard_rails import OWN
from condmask.disclosure.rare_values import EQUAL, near_values
from condmask.reports import html
from condmask.reports.html import Html, tag
from condmask.reports.original import Original
from condmask.reports.release_view import ReleaseView, number_text

LISTED = 10  # values
ONLY_NOISE = (
    "A released value that the data could not have is a true value plus noise: the record was not swapped."
)
ROUND = "A round value is more likely another record's true value, any other one a true value plus noise."
MEANING = {
    "grid": ("The data lie on coarser steps than the noise", ONLY_NOISE),
    "mixed grid": ("Nearly all data lie on coarser steps than the noise", ONLY_NOISE),
    "no grid": ("Nothing is rounded", "The last digits of a value show whether noise was added."),
    "heaps": ("Round values", ROUND),
    "last digits": (
        "Uneven last digits",
        "Last digits are more likely as in the data if a record was swapped.",
    ),
    "point masses": (
        "Common values",
        "Many records share a value, and noise hardly ever ends exactly there. A record that shows this "
        "value was almost certainly swapped.",
    ),
    "range": (
        "Values that the data do not have",
        "Only noise leads beyond the range of the data. A record released with such a value was not swapped, "
        "and its true value is near.",
    ),
    "spread": (
        "Noise that is wide for the shape of the data",
        "Noise moves values into gaps and beyond edges of the data, where no swapped value can be.",
    ),
    "repeats": (
        "Values that recur, values that none has",
        "A released value that many records share was more likely swapped, one that no record has was not.",
    ),
    "ties": (
        "Equal released values",
        "One record may give its value to several others, so a value that occurs twice was mostly swapped.",
    ),
    "unchanged": (
        "Records that show their own value",
        "A record that was not swapped is released with its true value, or nearly so.",
    ),
    "p": (
        "A swap probability near 0 or 1",
        "Anyone who says the same of every record, swapped or not swapped, is nearly always right.",
    ),
    "row order": (
        "The order of the rows",
        "The place of a row in the file tells roughly what its value is, whatever is released for it.",
    ),
    "identity": (
        "A rule among columns",
        "The columns fulfil a rule. Swapped records still fulfil it, records with noise do not (or the other "
        "way round, where a column of the rule is in clear).",
    ),
    "relation": (
        "Columns that go together",
        "Noise loosens how two columns go together, and swapping loosens it more or less than that. How well "
        "the columns of a record fit together shows what was done to it.",
    ),
    "joint": ("All columns together", "No column alone shows who was swapped, but all of them together do."),
    COMPUTED: (
        "A masked column can be computed",
        "Columns left in clear give the true values away. Masking this column protects nothing.",
    ),
    "copy": (
        "A column in clear gives a masked one away",
        "A column left in clear says nearly the same as a masked one.",
    ),
    "units": (
        "Records that belong together",
        "Records of one person, household or firm are alike. Where one of them differs, it was swapped.",
    ),
    "trained": (
        "What a trained attacker sees",
        "An attacker who learned from examples tells more than the others.",
    ),
    RAIL: (
        "A limit of reverse mapping",
        "Reverse mapping is safe within limits that masking checks. This release is beyond one of them.",
    ),
    RAIL_WARNING: (
        "Worth knowing",
        "This is within the limits of reverse mapping. It still tells more than one might expect.",
    ),
}


def explained(audit: Audit, view: ReleaseView, original: Original) -> Html:
    """Each alarm: what it is, what it means, what was found, and what would help if anything has to."""
    return html.join(
        _explained(cause, view, original, audit.visible or cause.name in WARNED) for cause in audit.causes
    )


def _explained(cause: Cause, view: ReleaseView, original: Original, matters: bool) -> Html:
    title, meaning = MEANING[cause.name]
    columns = list(view.schemes) if cause.column not in view.schemes else [cause.column]
    where = [" (", html.names(columns), ")"] if cause.column or len(columns) == 1 else []
    found = [found_values(cause.name, view, original, column) for column in columns]
    helps = (
        html.paragraph(tag("strong", "What would help: "), cause.remedy, ".") if cause.remedy else Html("")
    )
    no_need = html.paragraph("This is below the limits, and no action is needed.")
    return tag(
        "div",
        tag("h3", title, *where),
        html.paragraph(meaning),
        html.paragraph(tag("strong", "Found: "), cause.text, "."),
        *found, helps if matters else no_need, class_="alarm",
    )  # fmt: skip


def found_values(alarm: str, view: ReleaseView, original: Original, column: str) -> Html:
    """The values behind an alarm, where they are values of one column."""
    if alarm == "point masses":
        return _common(view, original.present(column), column)
    if alarm == "range":
        return _outside(view, original.present(column), column)
    if alarm == RAIL and view.reverse_mapping:
        return _rare(view, original, column)
    return Html("")


def _common(view: ReleaseView, x: np.ndarray, column: str) -> Html:
    values, counts = np.unique(x, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:LISTED]
    rows = [
        [view.with_unit(column, number_text(float(values[k]))), f"{counts[k]:,}", f"{counts[k] / x.size:.1%}"]
        for k in order
        if counts[k] >= COMMON * x.size
    ]
    caption = html.join(["The most common values of ", html.name(column), " in the original"])
    return html.table(caption, ["value", "records", "share"], rows) if rows else Html("")


def _outside(view: ReleaseView, x: np.ndarray, column: str) -> Html:
    z = view.masked(column)
    z = z[~np.isnan(z)]
    outside = np.count_nonzero((z < x.min()) | (z > x.max()))
    ends = [view.with_unit(column, number_text(float(end))) for end in (x.min(), x.max(), z.min(), z.max())]
    return html.paragraph(
        f"The originals lie between {ends[0]} and {ends[1]}, the released values between {ends[2]} and "
        f"{ends[3]}; {outside:,} of these lie outside the range of the originals."
    )


def _rare(view: ReleaseView, original: Original, column: str) -> Html:
    """Rare values that come back to their own records more often than the limit allows."""
    rows = []
    for x, places in original.by_pool(column):
        values = np.unique(x)
        chances = near_values(x, values, view.schemes[column], EQUAL)
        for at, chance in zip(chances.at, chances.rows[:, 0], strict=True):
            if chance + view.schemes[column].p / x.size > OWN:
                record = int(places[np.flatnonzero(x == values[at])[0]])
                rows.append((float(chance), float(values[at]), record))
    rows.sort(reverse=True)
    cells = [
        [view.with_unit(column, number_text(value)), f"{record + 1:,}", f"{chance:.0%}"]
        for chance, value, record in rows[:LISTED]
    ]
    caption = html.join(["Rare values of ", html.name(column), " that their own records get back too often"])
    return html.table(caption, ["value", "record", "chance"], cells) if cells else Html("")
