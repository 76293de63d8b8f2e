"""One scheme for one file: what attackers learn under it, and what analysts lose."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.closed_form_risk import chance_of_near
from condmask.disclosure.joint_law import JointLaw
from condmask.disclosure.known_coins import CELLS
from condmask.disclosure.rare_values import aggregate, most_exposed, with_ends
from condmask.disclosure.risk import attackers_of_pool
from condmask.disclosure.risk_result import BEST, CONSTANT
from condmask.disclosure.table import ROWS, Table
from condmask.errors import heard
from condmask.labels import Labels
from condmask.planning.predicted import CDF, QUANTILES, RELATED, predicted
from condmask.schemes.prepare import prepare
from condmask.strata import values_by_pool
from condmask.variance.theorem import Variance

PARAMETERS = ("p", "sigma", "reverse_mapping", "scale", "aggregate_ends")


class Candidate(NamedTuple):
    """A scheme with its predicted risks and errors.

    Attributes
    ----------
    scheme : ConditionalMasking
    risk : ndarray of shape (distances,)
        The risk by the best attacker.
    constant : ndarray of shape (distances,)
        The risk of always guessing the best constant of a donor pool, without any release.
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
    constant: np.ndarray
    record_risk: np.ndarray
    file: dict[str, float]
    population: dict[str, float]
    loss: float

    def row(self, d: tuple[float, ...], target: str) -> dict[str, Any]:
        """The scheme's parameters, risks and errors by the names that columns of a table have."""
        row = {name: getattr(self.scheme, name) for name in PARAMETERS}
        for name, risks in (("risk", self.risk), ("record risk", self.record_risk)):
            row |= {f"{name} {near:.15g}": risk for near, risk in zip(d, risks.tolist(), strict=True)}
        errors = {f"error of {name}": error for name, error in getattr(self, target).items()}
        return row | {"loss": self.loss} | errors


class Column(NamedTuple):
    """The data planned for.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Values that are present, ascending.
    beside : ndarray of shape (n,)
        The column in clear, in the same order; one that tells nothing of x where none is given.
    related : bool
        Whether one is given.
    code : ndarray of shape (n,) or None
        The donor pool of each value; None where all are one.
    table : Table
        The column with its gaps, without codes, in the order of the file.
    labels : list of Labels
        The strata.
    name, kind : str
        What the column is called, and the data type that it had.
    """

    x: np.ndarray
    beside: np.ndarray
    related: bool
    code: np.ndarray | None
    table: Table
    labels: list[Labels]
    name: str
    kind: str

    def refusal(self, scheme: Any) -> str:
        """Why masking refuses the column under a scheme; empty if it accepts."""
        try:
            with heard():  # a warning is no refusal
                kinds, values = {self.name: self.kind}, self.table.values
                prepare({self.name: scheme}, values, kinds, labels=self.labels, nan_policy="omit")
        except ValueError as error:
            return str(error)
        return ""


def evaluate(column: Column, plain: Any, d: np.ndarray) -> Candidate:
    """A scheme with its risks and errors; by reverse mapping with means at the ends where that helps."""
    scheme = with_ends(column.table, column.name, plain) if plain.reverse_mapping else plain
    x, n = column.x, column.x.size
    if not scheme.reverse_mapping:  # as they are masked, on the grid
        x = scheme.law.from_units(scheme.canonical(x, column.name, column.kind))
    parts = [values for _, values in values_by_pool(x, column.code)]
    risks = np.array([risks_of_pool(part, scheme, d) for part in parts])
    risk, constant, _ = np.average(risks, axis=0, weights=[part.size for part in parts])
    found = predicted(x, column.beside, column.code, scheme)
    if scheme.aggregate_ends:  # which change the standard deviation
        released = x.copy()
        aggregate(released, column.code, scheme.aggregate_ends)
        found["std"] = found["std"]._replace(file=n * np.square(released.std() - x.std()))
    averages = [_longer(found, names) for names in ((CDF, "mean", "std"), RELATED)]
    loss = float(np.mean([ratios.mean() for ratios in averages if ratios.size]))
    names = ("mean", "std", *(RELATED if column.related else ()), *QUANTILES)
    file, population = (
        {name: float(found[name].standard_error(n, target)) for name in names}
        for target in ("file", "population")
    )
    return Candidate(scheme, risk, constant, risks[:, 2].max(axis=0), file, population, loss)


def _longer(found: dict[str, Variance], names: tuple[str, ...]) -> np.ndarray:
    """How many times as long intervals for the population are as without masking; those that have a length
    without it, as T has none where it is 1."""
    file, sample = (np.hstack([found[name][k] for name in names]) for k in (0, 1))
    return np.asarray(np.sqrt(1.0 + file[sample > 0.0] / sample[sample > 0.0]))


def risks_of_pool(x: np.ndarray, scheme: Any, d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The risks by the best attacker, by a constant, and of the most exposed record, of ascending values."""
    joint = JointLaw.of(x[evenly_spaced(x.size, ROWS)], scheme, CELLS)
    found = attackers_of_pool(joint, x, scheme, d.tolist())
    if scheme.reverse_mapping:
        exposed = np.array([most_exposed(x, scheme, joint, near) for near in d.tolist()])
        return found[BEST], found[CONSTANT], exposed
    law = scheme.law  # on a grid in whole steps, so that differences are not rounded
    rows, apart = law.to_units(x), d if law.grid is None else law.grid.above(d)
    ends = ((np.searchsorted(rows, rows - far, "right"), np.searchsorted(rows, rows + far)) for far in apart)
    most = np.array([np.max(last - first) - 1.0 for first, last in ends])
    return found[BEST], found[CONSTANT], chance_of_near(most, x.size - 1.0, d, law)


def frontier(
    candidates: list[Candidate], refusal: Callable[[Any], str] = lambda _: ""
) -> tuple[list[Candidate], dict[Any, str]]:
    """Those that no other of these beats in both mean risk and loss, from the cheapest on; and which schemes
    are refused on the way, and why."""
    found, refusals = list[Candidate](), dict[Any, str]()
    for each in sorted(candidates, key=lambda each: (each.loss, each.risk.mean())):
        if not found or each.risk.mean() < found[-1].risk.mean():
            if why := refusal(each.scheme):
                refusals[each.scheme] = why
            else:
                found.append(each)
    return found, refusals
