"""Why a column shows which records were swapped: each cause with its share and its remedy.

The share of a cause says how much it tells an attacker who looks at nothing else:

    grid, mixed grid, heaps, last digits
                  coins guessed by the digits alone, beyond the blind guess
    point masses  records that show one of a few common values and were surely swapped
    range         records released with a value outside the range of the data: surely kept
    spread        coins guessed, beyond the blind guess and the range, by an attacker who knows where values
                  lie to within a quarter of sigma: the noise is wide for clusters, gaps and edges of the data
    repeats       coins guessed beyond all of these: values that many records share, and values that none has
    ties          coins guessed, or records certain, beyond all of these, by counting equal values
    unchanged     kept records released with their own value
    p             coins guessed blindly
    row order     rank correlation of the values with the row number, or with the row before
    no grid       all records

and of several columns (relation_causes.py)

    identity, relation
                  coins guessed by it alone, beyond the blind guess
    joint         coins guessed by all columns beyond those that the worst one tells
    computed      records whose masked value can be computed from columns in clear: always refused
    copy          the correlation of a column in clear
"""

from typing import NamedTuple

import numpy as np

from condmask.correlations import pearson, ranks
from condmask.disclosure import digit_causes, swap_posterior
from condmask.disclosure.folds import FoldCounts
from condmask.disclosure.swap_attack import ColumnAttack, Figures
from condmask.disclosure.swap_posterior import Outcomes

NAMED = 0.02  # guessing, or records, from which on a cause is named
COMMON = 0.01  # of the records have a common value
COMPUTED = "computed"
UNCHANGED, ONE_SIDED, IN_ORDER = 0.25, 0.9, 0.95
COMPARED = 128  # rows with the next one: a correlation of .8 passes for .95 with a chance below 1e-15


class Cause(NamedTuple):
    """A reason why a release shows which records were swapped.

    Attributes
    ----------
    name : str
        "grid", "heaps", "range", ...
    share : float
        How much it tells by itself: a share of swap statuses or of records, depending on the name.
    remedy : str
        What to do.
    text : str
        An explanation for the publisher.
    column : str or None
        The column concerned, if several are masked together.
    """

    name: str
    share: float
    remedy: str
    text: str
    column: str | None = None


def tells(guessed: float) -> str:
    """What a share of coins guessed means, for the publisher."""
    return f"this gives away the swap status of {guessed:.0%} of the records"


def tells_more(guessed: float) -> str:
    """What a share of coins guessed beyond others means, for the publisher."""
    return f"this gives away the swap status of {guessed:.0%} more of the records"


def of_column(
    values: np.ndarray, kind: str, column: ColumnAttack, parts: list[Outcomes], figures: Figures
) -> list[Cause]:
    """The causes within one column."""
    p, blind = column.law.p, figures.blind
    outcomes = swap_posterior.concatenate(parts)
    causes = []
    by_digits = _guess(outcomes, p, outcomes.digits) - blind
    if by_digits > NAMED:
        name, remedy, text = digit_causes.described(values, kind, column)
        causes.append(Cause(name, by_digits, remedy, f"{text}: {tells_more(by_digits)}"))
    outside = sum(_outside(attack.folded, part) for attack, part in zip(column.attacks, parts, strict=False))
    if outside > NAMED:
        causes.append(_range(values, outside))
    in_range = max(blind, p + outside)
    spread = _guess(outcomes, p, outcomes.smoothed / outcomes.noised) - in_range
    if spread > NAMED:
        text = f"the noise is too wide for the clusters, gaps and edges of the data: {tells_more(spread)}"
        causes.append(Cause("spread", spread, "pass reverse_mapping=True, or a smaller sigma", text))
    explained = max(in_range + max(spread, 0.0), blind + by_digits)
    common, number = _common(column, parts)
    if common > NAMED and (by_digits <= NAMED or figures.by_value > explained + NAMED):
        text = (
            f"{number} common value{'s' if number > 1 else ''} (in 1 of 100 records or more): "
            f"{common:.0%} of the records show {'one' if number > 1 else 'it'} and were surely swapped"
        )
        causes.append(Cause("point masses", common, COARSER, text))
        explained = max(explained, blind + common)
    rest = figures.by_value - explained
    if rest > NAMED:
        text = f"values that many records share, and values that no record has: {tells_more(rest)}"
        causes.append(Cause("repeats", rest, COARSER, text))
    if figures.ties > NAMED:
        text = (
            "several swapped records may take the same value, so values that occur twice were mostly "
            f"swapped: {tells_more(figures.ties)}"
        )
        causes.append(Cause("ties", figures.ties, 'pass donors="permutation"', text))
    if figures.unchanged > UNCHANGED:
        of_all = (1.0 - p) * figures.unchanged
        text = (
            f"{figures.unchanged:.0%} of the kept records ({of_all:.0%} of all) are released with their own "
            "value, since the noise rounds to 0"
        )
        causes.append(Cause("unchanged", of_all, "pass a larger sigma or a finer step", text))
    return causes


COARSER = "pass reverse_mapping=True, or a coarser step and round=True"


def of_coin(p: float) -> list[Cause]:
    """The cause that p is too near 0 or 1."""
    most = max(p, 1.0 - p)
    if most <= ONE_SIDED:
        return []
    what = "the true value of some record" if p > 0.5 else "the record's own value plus noise"
    text = (
        f"with p={p:g} nearly every released value is {what}: a blind guess of the swap status is right for "
        f"{most:.0%} of the records"
    )
    return [Cause("p", most, "pass a p nearer to 1/2", text)]


def of_order(values: np.ndarray) -> list[Cause]:
    """The cause that rows are in the order of their values, or in blocks of similar rows."""
    first = np.arange(0, values.size - 1, max(1, values.size // COMPARED))
    first = first[~(np.isnan(values[first]) | np.isnan(values[first + 1]))]
    rank, after = ranks(values[first]), ranks(values[first + 1])
    if rank.size < 3:
        return []
    row, beside = abs(pearson(rank, np.arange(rank.size))), pearson(rank, after)
    if max(row, beside) < IN_ORDER:
        return []
    order = "rows are in the order of their values" if row >= IN_ORDER else "neighbouring rows are alike"
    text = f"{order} (rank correlation {max(row, beside):.2f}): the position of a row gives its value away"
    return [Cause("row order", max(row, beside), "shuffle the rows before masking", text)]


def _guess(outcomes: Outcomes, p: float, ratio: np.ndarray) -> float:
    """The share of coins guessed, given the likelihood ratio of swapped and kept records."""
    return swap_posterior.guessed(
        outcomes.swapped, outcomes.kept, swap_posterior.posterior(p, ratio, np.ones(1))
    )


def _outside(folded: FoldCounts, part: Outcomes) -> float:
    least, most = folded.values[[0, -1]]
    return float(part.kept[(part.points < least) | (part.points > most)].sum())


def _range(values: np.ndarray, outside: float) -> Cause:
    where = (
        "below 0 or above all others" if float(np.nanmin(values)) >= 0.0 else "outside the range of the data"
    )
    text = f"{outside:.0%} of the records are released with values {where}: they were surely not swapped"
    return Cause("range", outside, "pass reverse_mapping=True, or a smaller sigma", text)


def _common(column: ColumnAttack, parts: list[Outcomes]) -> tuple[float, int]:
    """The share of records that show a common value and were surely swapped; the number of such values."""
    p, share, number = column.law.p, 0.0, 0
    for attack, part in zip(column.attacks, parts, strict=False):
        common = attack.folded.values[attack.folded.counts > COMMON * column.n]
        surely = 1.0 - swap_posterior.posterior(p, part.law, part.noised) < swap_posterior.doubt(p)
        surely &= np.isin(part.points, common)
        share += float((part.swapped + part.kept)[surely].sum())
        number += np.unique(part.points[surely]).size
    return share, number
