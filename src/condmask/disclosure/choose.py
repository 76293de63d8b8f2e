"""A scheme for columns of which nothing is known but their names: reverse mapping, by a few
constants.

p = .6 and noise of .3 of the spread, the log scale where the upper half of amounts spreads more
than twice as far as the lower one. Where rare values would come back too often, means take the
place of the ends, then noise is wider as long as relations stay nearly as precise, and at last p
is .7.

All this follows from the sorted column alone, which reverse mapping releases but for its ends. So
the choice tells nothing that the release does not (docs/reverse_mapping.rst). Noise is wider, too,
where an attacker who knows every coin gains too much from columns masked together or from records
of one unit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure.column.rare_values import too_often
from condmask.disclosure.limits import Case, widened
from condmask.disclosure.scale import spread, two_digits
from condmask.disclosure.table.attack import attack_on
from condmask.disclosure.unmasked import Table
from condmask.inference.interval import UndefinedError
from condmask.linear.records import Records
from condmask.reverse_mapping.pseudo_values import ReverseMapped

TRIES = ((0.6, 0.3, 0), (0.6, 0.3, 3), (0.6, 0.3, 5), (0.6, 0.5, 5), (0.6, 1.0, 5), (0.7, 0.3, 3))
SKEWED = 2.0
MAX_ZEROS_OF_AMOUNTS = 1.0 / 3.0
LOWEST = 5
NARROW_NOISE_SHARE = 0.3
PRECISE = 1.25  # of the spread: noise that costs little; N of wider noise, at most
# times sigma: to .5 of the spread, all of it, and beyond
FALLBACK_FACTORS = (1.0, 5.0 / 3.0, 10.0 / 3.0, 5.0, 10.0)
MAX_UNDONE_RECORDS = 8_192  # from which N is found
NO_INTERVAL = (
    "masked together, so relations with {} have estimates without intervals, while group "
    "means, and correlations with columns in clear and regressions on these, have intervals"
)


class Choice(NamedTuple):
    """A scheme, and why it was chosen."""

    scheme: Any
    why: str

    def __str__(self) -> str:
        return f"{self.scheme!r}: {self.why}"


def choose(table: Table, columns: Sequence[str], of: Callable[..., Any]) -> dict[str, Choice]:
    """A scheme for each column, which rests on the sorted columns and their donor pools alone.

    Parameters
    ----------
    table : Table
    columns : sequence of str
    of : callable
        Makes a scheme from p, sigma and options.
    """
    found = {name: list(_passing(table, name, of)) for name in columns}
    p = max(choices[0].scheme.p for choices in found.values())  # one coin for all
    picked = {
        name: next(each for each in tries if each.scheme.p == p) for name, tries in found.items()
    }
    for name, choice in picked.items() if len(picked) > 1 else ():
        others = ", ".join(other for other in picked if other != name)
        picked[name] = choice._replace(why=f"{choice.why}; {NO_INTERVAL.format(others)}")
    return picked


def with_wider_noise(table: Table, chosen: dict[str, Choice]) -> dict[str, Choice]:
    """The first with wider noise under which an attacker who knows every coin gains at most the
    limit."""
    schemes = {name: choice.scheme for name, choice in chosen.items()}
    wider, _ = widened(Case(attack_on(table, schemes), schemes), schemes, FALLBACK_FACTORS)
    found = dict(chosen)
    for name, choice in chosen.items():
        times = wider[name].sigma / choice.scheme.sigma
        if times > 1.0:
            why = (
                f"noise is {times:.2g} times as wide, since records or columns tell of each other"
            )
            found[name] = Choice(wider[name], f"{choice.why}; {why}")
    return found


def _passing(table: Table, name: str, of: Callable[..., Any]) -> Iterator[Choice]:
    """The tries under which no rare value comes back too often, and noise leaves relations
    precise."""
    x = np.sort(table.values[name])
    x = x[~np.isnan(x)]
    log = is_skewed(x)
    unit = 1.0 if log else spread(x)
    for p, share, ends in TRIES:
        sigma = two_digits(share * unit)
        scale = "log" if log else "linear"
        scheme = of(p, sigma, scale=scale, aggregate_ends=ends)
        if (share <= NARROW_NOISE_SHARE or _varies(x, scheme) <= PRECISE) and not too_often(
            table, name, scheme
        ).size:
            yield Choice(scheme, _why(share, ends, log=log, p=p))


def is_skewed(x: np.ndarray) -> bool:
    """Whether a column holds amounts whose upper half spreads much further than the lower one.

    The lowest values count by their mean, as which the ends may be released.
    """
    positive = x[x > 0.0]
    lowest = np.sort(x)[:LOWEST][-1]
    if x[x <= lowest].mean() < 0.0 or positive.size <= (1.0 - MAX_ZEROS_OF_AMOUNTS) * x.size:
        return False
    low, middle, high = np.quantile(positive, (0.1, 0.5, 0.9))
    return bool(high - middle > SKEWED * (middle - low))


def _varies(x: np.ndarray, scheme: Any) -> float:
    """N, by how much undoing makes values vary; infinite where it fails."""
    try:
        return ReverseMapped(
            Records(x[evenly_spaced(x.size, MAX_UNDONE_RECORDS)]), scheme
        ).variation
    except UndefinedError:
        return np.inf


def _why(share: float, ends: int, *, log: bool, p: float) -> str:
    reasons = [
        f"noise of {share:g} {'on the log scale, for skewed amounts' if log else 'of the spread'}"
    ]
    if ends:
        reasons.append(f"the {ends} smallest and largest values are released as their means")
    if ends or share > NARROW_NOISE_SHARE:
        reasons.append("since rare values came back to their records too often")
    if p > TRIES[0][0]:
        reasons.append(f"p={p:g} for the same reason")
    return ", ".join(reasons)
