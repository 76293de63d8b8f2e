"""Why coins show in a column: each cause with its share and what mends it.

The share of a cause says how much it tells when it is all that an attacker looks at:

    grid, mixed grid, heaps, last digits
                  coins guessed by the digits alone, beyond the blind guess
    point masses  records that show one of a few common values and were surely swapped
    range         records released with a value outside the range of the data: surely kept
    spread        coins guessed, beyond the blind guess and the range, by who knows where values lie on the
                  scale of a quarter of sigma: the noise is wide for clusters, gaps and edges of the data
    repeats       coins guessed beyond all of these: values that many records share, and those that none has
    ties          coins guessed, or records certain, beyond all of these, by who counts equal values
    unchanged     records that are kept and released as they are
    p             coins guessed blindly
    row order     rank correlation of the values with the row number, or with the row before
    no grid       all records

and of several columns (review.py)

    identity, relation
                  coins guessed by it alone, beyond the blind guess
    together      coins guessed by all columns beyond those that the worst one tells
    copy          records that a column in clear repeats, or its correlation
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import digit_causes, swap_posterior
from condmask.disclosure.folds import FoldCounts
from condmask.disclosure.swap_attack import ColumnAttack, Figures
from condmask.disclosure.swap_posterior import Outcomes

TOLD = 0.02  # guessing, or records, from which on a cause is named
COMMON = 0.01  # of the records have a common value
UNCHANGED, ONE_SIDED, IN_ORDER = 0.25, 0.9, 0.95
COMPARED = 128  # rows with the next one: a correlation of .8 passes for .95 with a chance below 1e-15


class Cause(NamedTuple):
    """A reason why coins show.

    Attributes
    ----------
    name : str
        "grid", "heaps", "range", ...
    share : float
        How much it tells by itself: of coins or of records, by the name.
    remedy : str
        What to do.
    text : str
        What it is, for the publisher.
    column : str or None
        The column it lies in, where several are masked together.
    """

    name: str
    share: float
    remedy: str
    text: str
    column: str | None = None


def of_column(
    values: np.ndarray, kind: str, column: ColumnAttack, parts: list[Outcomes], found: Figures
) -> list[Cause]:
    """The causes within one column."""
    p, blind = column.law.p, found.blind
    every = swap_posterior.concatenate(parts)
    causes = []
    told = _guess(every, p, every.digits) - blind
    if told > TOLD:
        name, remedy, text = digit_causes.described(values, kind, column, told)
        causes.append(Cause(name, told, remedy, text))
    outside = sum(_outside(attack.folded, part) for attack, part in zip(column.attacks, parts, strict=False))
    if outside > TOLD:
        causes.append(_range(values, column, outside))
    in_range = max(blind, p + outside)
    spread = _guess(every, p, every.smoothed / every.noised) - in_range
    if spread > TOLD:
        text = f"the noise is wide for clusters, gaps and edges of the data: {spread:.0%} of coins more"
        causes.append(Cause("spread", spread, "pass reverse_mapping=True, or a smaller sigma", text))
    explained = max(in_range + max(spread, 0.0), blind + told)
    common, number = _common(column, parts)
    if common > TOLD and (told <= TOLD or found.by_value > explained + TOLD):
        text = (
            f"{number} value{'s that are' if number > 1 else ' that is'} common (1 in 100 records or more): "
            f"that tells that {common:.0%} of the records were swapped"
        )
        causes.append(Cause("point masses", common, COARSER, text))
        explained = max(explained, blind + common)
    rest = found.by_value - explained
    if rest > TOLD:
        text = f"values that many records share, and those that none has: {rest:.0%} of coins more"
        causes.append(Cause("repeats", rest, COARSER, text))
    if found.ties > TOLD:
        text = (
            "several swapped records may take one value, so those that occur twice were mostly swapped: "
            f"that tells {found.ties:.0%} more"
        )
        causes.append(Cause("ties", found.ties, 'pass donors="permutation"', text))
    if found.unchanged > UNCHANGED:
        text = (
            f"{found.unchanged:.0%} of the kept records are released as they are, since the noise rounds to 0"
        )
        causes.append(
            Cause("unchanged", (1.0 - p) * found.unchanged, "pass a larger sigma or a finer step", text)
        )
    return causes


COARSER = "pass reverse_mapping=True, or a coarser step and round=True"


def of_coin(p: float) -> list[Cause]:
    """p too near 0 or 1."""
    most = max(p, 1.0 - p)
    if most <= ONE_SIDED:
        return []
    what = "the true value of some record" if p > 0.5 else "its own record's, plus noise"
    text = f"with p={p:g} nearly every released value is {what}: the blind guess is right in {most:.0%}"
    return [Cause("p", most, "pass a p nearer to 1/2", text)]


def of_order(values: np.ndarray) -> list[Cause]:
    """Rows in the order of their values, or in blocks of like rows."""
    first = np.arange(0, values.size - 1, max(1, values.size // COMPARED))
    there = ~(np.isnan(values[first]) | np.isnan(values[first + 1]))
    own, after = ranks(values[first[there]]), ranks(values[first[there] + 1])
    if own.size < 3:
        return []
    row, beside = abs(correlation(own, np.arange(own.size))), correlation(own, after)
    if max(row, beside) < IN_ORDER:
        return []
    said = (
        "rows stand in the order of their values" if row >= IN_ORDER else "rows beside each other are alike"
    )
    text = f"{said} (rank correlation {max(row, beside):.2f}): the place of a row tells its value"
    return [Cause("row order", max(row, beside), "shuffle the rows before masking", text)]


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, the mean one where values tie."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[place])


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Of two columns; 0 where one is constant."""
    a, b = a - a.mean(), b - b.mean()
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b)))
        return float(np.sum(a * b)) / size if 0.0 < size < np.inf else 0.0


def _guess(every: Outcomes, p: float, ratio: np.ndarray) -> float:
    return swap_posterior.guessed(every.swapped, every.kept, swap_posterior.posterior(p, ratio, np.ones(1)))


def _outside(folded: FoldCounts, part: Outcomes) -> float:
    least, most = folded.values[[0, -1]]
    return float(part.kept[(part.points < least) | (part.points > most)].sum())


def _range(values: np.ndarray, column: ColumnAttack, outside: float) -> Cause:
    where = (
        "below 0 or above all others" if float(np.nanmin(values)) >= 0.0 else "outside the range of the data"
    )
    text = f"{outside:.0%} of the records are released with values {where}: they were surely kept"
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
