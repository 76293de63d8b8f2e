"""One scheme for one file: what attackers learn under it, and what analysts lose."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.closed_form_risk import chance_of_near, interval_risk
from condmask.disclosure.aggregated_ends import aggregate
from condmask.disclosure.audit import DEFAULT
from condmask.disclosure.joint_law import JointLaw
from condmask.disclosure.known_coins import CELLS, alone
from condmask.disclosure.rare_values import most_exposed
from condmask.disclosure.table import ROWS
from condmask.errors import heard
from condmask.frames import Labels
from condmask.planning.predicted import CDF, QUANTILES, RELATED, UNRELATED, predicted
from condmask.schemes.prepare import prepare
from condmask.strata import values_by_pool

NARROW = "the noise is too narrow: an attacker who knows which records were swapped learns too much"


class Candidate(NamedTuple):
    """A scheme with its predicted risks and errors.

    Attributes
    ----------
    scheme : ConditionalMasking
    risk : ndarray of shape (distances,)
        The risk by the best attacker.
    record_risk : ndarray of shape (distances,)
        The greatest chance for any record that its released value lies nearer than d to its original.
    file, population : dict of str to float
        Standard errors of the estimates of "mean", "std", "quantile 0.1" ..., and with a column in clear
        "correlation", "slope", "difference" (between the means of the records above its median and of the
        rest), about the values in the original file and in the population from which it is a sample.
    loss : float
        How many times as long intervals for the population are as without masking. It is the mean of two
        averages: over statistics of the column alone (mean, standard deviation, distribution function at the
        deciles), and over those relating it to the column in clear, or to an unrelated one if none is given.
    """

    scheme: Any
    risk: np.ndarray
    record_risk: np.ndarray
    file: dict[str, float]
    population: dict[str, float]
    loss: float


@dataclass(frozen=True, eq=False)
class Column:
    """The data planned for.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Values that are present, ascending.
    beside : ndarray of shape (n,) or None
        The column in clear, in the same order.
    code : ndarray of shape (n,) or None
        The donor pool of each value; None where all are one.
    given, kind, labels, name
        What is masked: with gaps and codes, and the strata.
    """

    x: np.ndarray
    beside: np.ndarray | None
    code: np.ndarray | None
    given: np.ndarray
    kind: str
    labels: list[Labels] = field(default_factory=list)
    name: str = ""
    asked: dict[Any, str] = field(default_factory=dict)

    @cached_property
    def pools(self) -> list[Any]:
        """The rows of each donor pool."""
        return [rows for rows, _ in values_by_pool(self.x, self.code)]

    def masked(self, scheme: Any) -> np.ndarray:
        """The values as the scheme masks them, on its grid."""
        if scheme.reverse_mapping:
            return self.x
        return np.asarray(scheme.law.from_units(scheme.canonical(self.x, "x", self.kind)))

    def refusal(self, scheme: Any) -> str:
        """Why masking refuses the column under a scheme; empty if it accepts."""
        if scheme not in self.asked:
            self.asked[scheme] = self._refusal(scheme)
        return self.asked[scheme]

    def _refusal(self, scheme: Any) -> str:
        if alone(self.x, scheme)[0].lift > DEFAULT.lift:
            return NARROW  # which masking finds out later, with what helps
        try:
            with heard():  # a warning is no refusal
                columns, kinds = {"x": self.given}, {"x": self.kind}
                prepare({"x": scheme}, columns, kinds, labels=self.labels, nan_policy="omit")
        except ValueError as error:
            return str(error)
        return ""


def evaluate(column: Column, scheme: Any, d: np.ndarray) -> Candidate:
    """A scheme with its risks and errors."""
    x, n = column.masked(scheme), column.x.size
    parts = [x[rows] for rows in column.pools]
    risks, exposed = zip(*(risks_of_pool(part, scheme, d) for part in parts), strict=True)
    risk = np.average(risks, axis=0, weights=[part.size for part in parts])
    found = predicted(x, column.beside, column.pools, scheme)
    if scheme.aggregate_ends:
        found["std"] = found["std"]._replace(file=np.asarray(n * _moved(column, scheme) ** 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        longer = {name: np.sqrt(1.0 + each.file / each.sample) for name, each in found.items()}
    own = np.append(longer[CDF], [longer["mean"], longer["std"]])
    related = np.array([longer[name] for name in (*RELATED, UNRELATED) if name in longer])
    loss = [part[~np.isnan(part)].mean() for part in (own, related) if not np.isnan(part).all()]
    names = [name for name in ("mean", "std", *RELATED, *QUANTILES) if name in found]
    file, population = (
        {name: float(found[name].standard_error(n, target)) for name in names}
        for target in ("file", "population")
    )
    mean = float(np.mean(loss)) if loss else np.nan
    return Candidate(scheme, risk, np.max(exposed, axis=0), file, population, mean)


def risks_of_pool(x: np.ndarray, scheme: Any, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The risk by the best attacker, and that of the most exposed record, of ascending values."""
    joint = JointLaw.of(x[evenly_spaced(x.size, ROWS)], scheme, CELLS)
    best = [max(joint.best(near, known_coins=False), joint.constant(near)) for near in d.tolist()]
    if scheme.reverse_mapping:
        shown = np.array([joint.shares @ joint.shown(near) for near in d.tolist()])
        exposed = [most_exposed(x, scheme, joint, near) for near in d.tolist()]
        return np.maximum(best, shown), np.array(exposed)
    law, rows, apart = scheme.law, x, d
    if law.grid is not None:  # in whole steps, so that differences are not rounded
        rows, apart = law.grid.units(x), law.grid.above(d)
    others = [
        np.searchsorted(rows, rows + far) - np.searchsorted(rows, rows - far, side="right") for far in apart
    ]
    most = np.max(others, axis=1) - 1.0
    return np.maximum(best, interval_risk(x, d, law)), chance_of_near(most, x.size - 1.0, d, law)


def frontier(candidates: list[Candidate]) -> np.ndarray:
    """Which schemes no other beats in both mean risk and loss."""
    risk, loss = np.array([(each.risk.mean(), each.loss) for each in candidates]).T
    order = np.lexsort((risk, loss))
    least = np.minimum.accumulate(np.append(np.inf, risk[order]))[:-1]
    on = np.zeros(risk.size, dtype=bool)
    on[order] = risk[order] < least
    return on


def constant_guess(column: Column, d: np.ndarray) -> np.ndarray:
    """The share of records nearer than d to the best constant of each pool."""
    parts = [np.sort(column.x[rows]) for rows in column.pools]
    shares = [
        [np.max(np.searchsorted(x, x + 2.0 * near) - np.arange(x.size)) / x.size for near in d.tolist()]
        for x in parts
    ]
    return np.asarray(np.average(shares, axis=0, weights=[part.size for part in parts]))


def _moved(column: Column, scheme: Any) -> float:
    """By how much means at the ends change the standard deviation."""
    released = column.x.copy()
    aggregate(released, column.code, scheme.aggregate_ends)
    return float(released.std() - column.x.std())
