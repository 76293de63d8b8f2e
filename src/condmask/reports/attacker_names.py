"""The attackers of a report in words: what each knows and does, from the weakest to the strongest."""

from condmask.disclosure.risk_result import ALL, BEST, CONSTANT, LINKED, MEAN, RELEASED, TRAINED, Risk
from condmask.reports import html
from condmask.reports.html import Html

SHORT = {
    CONSTANT: "one guess for all, without a release",
    MEAN: "mean of the masked values",
    RELEASED: "the masked value itself",
    BEST: "best guess from the masked value",
    LINKED: "best guess, knows all other columns",
    ALL: "best guess, knows all other columns",
    TRAINED: "trained on examples",
}
LONG = {
    CONSTANT: "this attacker only knows how the values are distributed, and guesses the same value for every "
    "record. Whatever another attacker reaches beyond this, the release or the other columns gave away.",
    MEAN: "guesses the mean of all masked values for every record.",
    RELEASED: "takes the masked value of a record for its true one.",
    BEST: "knows the method, its parameters and how the values are distributed, and makes the most of the "
    "masked value.",
    LINKED: "guesses in the same way, and knows all other columns of the record: ",
    ALL: "guesses in the same way, and knows all other columns of the record: ",
    TRAINED: "learned from releases of half of the file what gives values away, and looks at all released "
    "columns together.",
}
ONLY_CLEAR = "best guess, knows the columns in clear"


def short_names(risk: Risk) -> dict[str, str]:
    """Names for charts and tables, by those of the API; the one with all other columns is called so."""
    names = {name: label for name, label in SHORT.items() if name in risk.attackers}
    if ALL in names:
        names[LINKED] = ONLY_CLEAR
    return {name: label for name, label in names.items() if name != LINKED or LINKED in risk.attackers}


def explained(risk: Risk, clear: list[str], masked: list[str]) -> Html:
    """A list of the attackers, each with what it knows; `masked` are the other masked columns."""
    entries = []
    for name, label in short_names(risk).items():
        parts = [html.tag("strong", label), ": ", LONG[name]]
        if name == ALL:
            what = html.names([*masked, *clear])
            parts += [what, ", the masked ones with their true values."]
        elif name == LINKED:
            parts = (
                parts if ALL not in risk.attackers else [*parts[:2], "guesses in the same way, and knows "]
            )
            parts += [html.names(clear), ", which the release leaves in clear."]
        entries.append(html.join(parts))
    return html.items(entries)
