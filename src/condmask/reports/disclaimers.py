"""What may be computed from a release and what it does not promise, in words that hold for every one."""

from condmask.reports.html import Html, items, join, name, names, paragraph, section, tag

ALWAYS = (
    "This is not differential privacy. No bound holds whatever an attacker knows. What attackers learn "
    "depends on the data, and is measured for some attackers, not for all.",
    "Swapped values are true values of someone. If somebody is known to have a very large income, say, its "
    "appearance in the release shows that this person is in the file.",
    "Columns that were not masked are unchanged. Where they identify a person, only the masked columns of "
    "that record are protected.",
    "Never publish two maskings of one file, or of a file and a part of it. Where both show nearly the same "
    "value it is most likely the true one, and noise averages out.",
    "Intervals have their stated level for large files. They cover sampling and masking only, and no "
    "errors in the original.",
    "The key of the masking would undo it. The operating system made it, and nothing keeps it. A release "
    "that was made with a seed is as secret as the seed.",
)

NOISED = (
    "A value that was not swapped is near the true one: as near as the noise is small. Noise hides little "
    "of a very large value.",
    "Do not read a masked value as that of its record. Results that are computed from a masked column as "
    "if it were the original are wrong.",
)
MAPPED = (
    "Every value of the original is in the release, except any at the ends that were replaced by means. "
    "Anyone who knows all but a few values of a group can work out the others, and often whose they are.",
    "A record that was not swapped has the value of a similar record. If none is similar, it has its own.",
    "Do not read a masked value as that of its record. Correlations, means of groups and regressions that "
    "are computed from a masked column as if it were the original are wrong: they are too close to zero.",
)

ONE_RECORD = "anything about one record or one person"
PARTS = (
    "results for records that were cut out of the file: keep all records in their order, and mark groups "
    "by a label"
)
AS_IF_TRUE = (
    "anything from masked values read as if they were true, by software that does not know the method"
)


def not_promised(*, reverse_mapping: bool) -> Html:
    """A section of the page, for reverse mapping or noise."""
    return section(
        "What this release does not promise", items([*ALWAYS, *(MAPPED if reverse_mapping else NOISED)])
    )


def what_can_be_computed(file: str, column: str, *, reverse_mapping: bool) -> Html:
    """What analysts can and cannot compute with the release alone, and how."""
    can = tag("h3", "This can be computed"), items(_can(reverse_mapping))
    cannot = tag("h3", "This cannot be computed"), items(_cannot(reverse_mapping))
    how = tag("h3", "How"), tag("pre", tag("code", _code(file, column, reverse_mapping)))
    return section("What can be computed, and what cannot", *can, *cannot, *how)


def _can(reverse_mapping: bool) -> list[str]:
    if not reverse_mapping:
        return [
            "means, totals, standard deviations and other moments;",
            "distribution functions, quantiles and the Gini coefficient;",
            "correlations, means of groups and regressions;",
            "each with its standard error and interval, from the masked columns and the parameters below.",
        ]
    return [
        "with any software, straight from one masked column: mean, total, standard deviation, quantiles, "
        "distribution function, Gini coefficient. They are exact for the original file, and have the usual "
        "sampling errors for the population. The same holds within whole strata;",
        "with the functions below: correlations, means of groups and regressions on other columns, with "
        "standard errors and intervals.",
    ]


def _cannot(reverse_mapping: bool) -> list[str]:
    if reverse_mapping:
        return [ONE_RECORD + ";", PARTS + ";", "results on several columns, straight from the masked values."]
    return [ONE_RECORD + ";", "the smallest and the largest value;", PARTS + ";", AS_IF_TRUE + "."]


def _code(file: str, column: str, reverse_mapping: bool) -> str:
    variable = column if column.isidentifier() else "masked"
    lines = [f"{variable} = cm.read_release({file!r}, {column!r})"]
    if reverse_mapping:
        lines.append(f'print({variable}.summary(target="file"))  # of the original file itself')
        lines.append(f"print({variable}.summary())               # of the population, with standard errors")
    else:
        lines.append(
            f"print({variable}.summary())              # mean, s.d. and deciles, with standard errors"
        )
        lines.append(f"print({variable}.quantile_interval(0.5)) # the median, with its 95% interval")
    lines.append(f'{variable}.correlation("another column")')
    lines.append(f'{variable}.group_means("a column of labels")')
    return "import condmask as cm\n\n" + "\n".join(lines)


def internal_notice() -> Html:
    """Who may read on."""
    notice = (
        "Internal: do not publish. This report holds figures of the original, its hash, and record numbers."
    )
    return tag("p", notice, class_="internal")


def public_notice(file: str) -> Html:
    """Where everything in a public report comes from."""
    return paragraph(
        join(["Every figure and picture here comes from the release ", name(file), " alone. Anyone who has "
        "it ",
              "can compute them again."])
    )  # fmt: skip


def public_opening(columns: list[str], means: list[Html], *, reverse_mapping: bool, exact: bool) -> Html:
    """The first sentences of a public report: what the values are, and how reliable averages are.

    `means` says of each column how reliable its mean is; `exact` is whether it is that of the file.
    """
    listed = names(columns)
    if reverse_mapping:
        rows = join([
            "Individual values here are not real: the values of ", listed, " were moved between records. ",
            "The value in a row is usually that of another record.",
        ])  # fmt: skip
        averages = "Averages are reliable. " + (
            "The mean of a masked column is exactly that of the original file." if exact else
            "The mean of a masked column is that of the original file, but for rounding."
        )  # fmt: skip
    else:
        rows = join([
            "Individual values here are not real: in ", listed, " each record shows another record's value, "
            "or its own value with random noise. The file does not say which.",
        ])  # fmt: skip
        averages = "Averages are reliable, if they are computed as described below."
    return join([
        tag("p", tag("strong", rows), class_="verdict"),
        paragraph(averages, " For the population that the file is a sample of:"),
        items(means),
        paragraph("Do not use this file to find out anything about one person. All other columns are "
        "unchanged."),
    ])  # fmt: skip
