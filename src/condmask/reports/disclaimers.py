"""What may be computed from a release and what it does not promise, in words that hold for every one."""

from condmask.reports.html import Html, items, join, name, paragraph, section, tag

ALWAYS = (
    "It is not differential privacy: there is no bound that holds whatever an attacker knows. What attackers "
    "learn depends on the data, and is measured for some attackers and not for all.",
    "Swapped values are true values of someone. Who knows that a value is found once, a very large income, "
    "say, learns from the release that its owner is in the file.",
    "Columns that were not masked are as they were. Where they tell who somebody is, only the masked columns "
    "of that record are in doubt.",
    "Never publish two maskings of one file, nor one of a part of it beside one of the whole: where both "
    "show nearly the same, that is most likely the true value, and the noise averages out.",
    "Intervals hold their level for large files. They are of sampling and masking alone: errors in the "
    "original are not in them.",
    "Whoever has the key, or the seed it was made from, can undo the masking. Neither is in the release nor "
    "in this report.",
)

NOISED = (
    "A value that was kept is near the true one, as near as the noise is small; on a large value it hides "
    "little.",
    "No masked value is to be read as that of its record, and what is computed from a masked column as if it "
    "were the original is wrong.",
)
MAPPED = (
    "Every value of the original is in the release, but for means at the ends: nothing hides that it is "
    "there. Who knows all values of a group but a few has the others, and often whose they are.",
    "A record that was kept has the value of a near one, and where no other is near its own.",
    "No masked value is to be read as that of its record. Correlations, means of groups and regressions "
    "computed from a masked column as if it were the original are wrong: nearer to nothing than they are.",
)


def not_promised(*, reverse_mapping: bool) -> Html:
    """A section of the page, for reverse mapping or noise."""
    return section(
        "What the scheme does not promise", items([*ALWAYS, *(MAPPED if reverse_mapping else NOISED)])
    )


def what_can_be_computed(file: str, column: str, *, reverse_mapping: bool) -> Html:
    """How analysts go on, with the release alone."""
    if reverse_mapping:
        return _read_off(file, column)
    variable = column if column.isidentifier() else "masked"
    code = (
        "import condmask as cm\n\n"
        f"{variable} = cm.read_release({file!r}, {column!r})\n"
        f"print({variable}.summary())              # mean, s.d. and deciles, with standard errors\n"
        f"print({variable}.quantile_interval(0.5)) # the median, with its 95% interval\n"
        f'{variable}.correlation("another column")\n'
        f'{variable}.group_means("a column of labels")'
    )
    explanation = paragraph(
        "From the masked columns and the parameters above, without the original: mean, standard deviation, "
        "moments, distribution function, quantiles, Gini coefficient, correlations, means of groups and "
        "regressions, each with its standard error and interval. Use all records, in their order: groups are "
        "told by a label, and never cut out."
    )
    return section("What can be computed", explanation, tag("pre", tag("code", code)))


def _read_off(file: str, column: str) -> Html:
    """How they go on where the values are those of the original in another order."""
    variable = column if column.isidentifier() else "masked"
    code = (
        "import condmask as cm\n\n"
        f"{variable} = cm.read_release({file!r}, {column!r})\n"
        f'print({variable}.summary(target="file"))  # of the original file itself\n'
        f"print({variable}.summary())               # of the population, with standard errors\n"
        f'{variable}.correlation("another column")\n'
        f'{variable}.group_means("a column of labels")'
    )
    explanation = paragraph(
        "What concerns one column alone is read from its values as they stand, with any software: mean, "
        "total, standard deviation, quantiles, distribution function, Gini coefficient. For the original "
        "file it is exact; for the population it has the errors of a sample that is not masked. The same "
        "holds in whole strata. Correlations, means of groups and regressions on other columns are not read "
        "off: they are estimated as below, with standard errors and intervals."
    )
    return section("What can be computed", explanation, tag("pre", tag("code", code)))


def internal_notice() -> Html:
    """Who must not read on."""
    notice = (
        "Internal: do not publish. This report holds figures of the original, its hash, and record numbers."
    )
    return tag("p", notice, class_="internal")


def public_notice(file: str) -> Html:
    """Where all of it is from."""
    origin = "Every figure and picture here was computed from the release alone, "
    return paragraph(join([origin, name(file), ": anybody who has it can compute them again."]))
