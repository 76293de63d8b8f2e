"""Predict the risk of one scheme for one file, and the standard errors of estimates under it.

Standard errors come from the variance formulas of the estimators (`pairs.pair_variance`,
`distribution.cdf_variance`). Analysts apply them to released values; here they get the moments,
and the distribution, that released values are expected to have, so nothing is simulated. Relations
are functions of a covariance and two variances; the difference between two halves is the slope on
their indicator.

By reverse mapping, statistics of the column are those of the file, and pseudo-values vary by V(x),
as of independent draws; that is up to 15% too large in a standard error where noise is wider than
the column (docs/inference.rst).

Quantiles are off by what T is off by, moved through the quantiles of the file: values that many
records share are the quantiles of many probabilities. Where they are those of T*, its variance is
that of intervals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask._blocks import evenly_spaced
from condmask.closed_form_risk import chance_of_near
from condmask.disclosure.column.alone import CELLS
from condmask.disclosure.column.joint_law import JointLaw
from condmask.disclosure.column.rare_values import most_exposed, with_ends
from condmask.disclosure.risk import attackers_of_pool
from condmask.disclosure.risk_result import BEST_ATTACKER, BEST_CONSTANT
from condmask.disclosure.unmasked import MAX_EXAMINED_ROWS, Table
from condmask.distribution.bandwidth import masking
from condmask.distribution.cdf_variance import CdfSums
from condmask.distribution.counting import by_value
from condmask.distribution.quantile_interval import kept_variance
from condmask.distribution.quantiles import crossing_of
from condmask.errors import collect_warnings
from condmask.inference.interval import UndefinedError
from condmask.inference.theorem import Variance
from condmask.labels import Labels
from condmask.law import EXACT, Law
from condmask.linear.records import Records
from condmask.masking.ends import aggregate
from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.masking.swap_scheme import SwapScheme
from condmask.moments.moment_interval import Sampled, moment_variance
from condmask.moments.theorem_2_1 import Powers, noise_matrix
from condmask.pairs.pair_variance import conditional_pair
from condmask.pairs.theorem_2_5 import DEGREE, PairMoments, pair_moments
from condmask.publish.prepare import prepare
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.strata import values_by_pool
from condmask.studies.populations import upper_half_bound

DECILE_PROBABILITIES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILE_PROBABILITIES)
RELATIONS = ("correlation", "slope", "difference")
T_AT_DECILES = "T at the deciles"
NO_NOISE = Law(0.0, "normal", 0.0)  # swaps nothing and adds nothing
MAX_REPRESENTED_RECORDS = 8_192
ERROR_NODES = 201
PARAMETERS = ("p", "sigma", "reverse_mapping", "scale", "aggregate_ends")


class Candidate(NamedTuple):
    """A scheme with its predicted risks and errors.

    Attributes
    ----------
    scheme : SwapScheme
    risk : ndarray of shape (distances,)
        The risk by the best attacker.
    constant : ndarray of shape (distances,)
        The risk of always guessing the best constant of a donor pool, without any release.
    record_risk : ndarray of shape (distances,)
        The greatest chance for any record that its released value lies nearer than d to its
        original.
    file, population : dict of str to float
        Standard errors of the estimates of "mean", "std", "quantile 0.1" ..., and with a column in
        clear "correlation", "slope", "difference" (between the means of the records above its
        median and of the rest), about the values in the original file and in the population from
        which it is a sample.
    loss : float
        How many times as long intervals for the population are as without masking. It is the mean
        of two averages: over statistics of the column alone (mean, standard deviation,
        distribution function at the deciles), and over those relating it to the column in clear,
        or to an unrelated one if none is given.
    """

    scheme: SwapScheme
    risk: np.ndarray
    constant: np.ndarray
    record_risk: np.ndarray
    file: dict[str, float]
    population: dict[str, float]
    loss: float

    def row(self, d: tuple[float, ...], target: str) -> dict[str, Any]:
        """Return the parameters, risks and errors of the scheme by column of a table."""
        row = {name: getattr(self.scheme, name) for name in PARAMETERS}
        for name, risks in (("risk", self.risk), ("record risk", self.record_risk)):
            row |= {
                f"{name} {near:.15g}": risk for near, risk in zip(d, risks.tolist(), strict=True)
            }
        errors = {f"error of {name}": error for name, error in getattr(self, target).items()}
        return row | {"loss": self.loss} | errors


class PlannedColumn(NamedTuple):
    """The data for which schemes are compared.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Values that are not missing, ascending.
    beside : ndarray of shape (n,)
        The column in clear, in the same order; if none is given, one unrelated to x.
    related : bool
        Whether a column in clear is given.
    code : ndarray of shape (n,) or None
        The donor pool of each value; None if there is one pool.
    table : Table
        The column with its gaps, without codes, in the order of the file.
    labels : list of Labels
        The strata.
    name : str
        The name of the column.
    whole : frames.Column
        The column as in `table`, with the data type of the original.
    refusals : dict of scheme to str
        Why masking refuses the column, by scheme; schemes that were not checked are not in it.
    """

    x: np.ndarray
    beside: np.ndarray
    related: bool
    code: np.ndarray | None
    table: Table
    labels: list[Labels]
    name: str
    whole: frames.Column
    refusals: dict[SwapScheme, str]

    def accepts(self, scheme: SwapScheme) -> bool:
        """Return whether masking accepts the column under a scheme, and note a refusal."""
        try:
            with collect_warnings():  # a warning is no refusal
                prepare(
                    {self.name: scheme},
                    {self.name: self.whole},
                    labels=self.labels,
                    nan_policy="omit",
                )
        except ValueError as error:
            self.refusals[scheme] = str(error)
        return scheme not in self.refusals


def evaluate(column: PlannedColumn, plain: SwapScheme, d: np.ndarray) -> Candidate:
    """Return a scheme with its risks and standard errors.

    Reverse mapping, which has no law of noise, gets means at its ends if that keeps rare values
    from coming back to their records.
    """
    scheme = plain
    x = column.x
    n = column.x.size
    if plain.law is None:
        scheme = with_ends(column.table, column.name, plain)
    else:  # the values that are masked lie on the grid
        x = plain.law.from_units(plain.canonical(x, column.name, column.whole.kind))
    parts = [values for _, values in values_by_pool(x, column.code)]
    risks = np.array([risks_of_pool(part, scheme, d) for part in parts])
    risk, constant, _ = np.average(risks, axis=0, weights=[part.size for part in parts])
    found = predicted_variances(x, column.beside, column.code, scheme)
    if scheme.aggregate_ends:  # which change the standard deviation
        released = x.copy()
        aggregate(released, column.code, scheme.aggregate_ends)
        found["std"] = found["std"]._replace(file=n * np.square(released.std() - x.std()))
    averages = [
        _relative_lengths(found, names) for names in ((T_AT_DECILES, "mean", "std"), RELATIONS)
    ]
    loss = float(np.mean([ratios.mean() for ratios in averages if ratios.size]))
    names = ("mean", "std", *(RELATIONS if column.related else ()), *QUANTILES)
    file, population = (
        {name: float(found[name].standard_error(n, target)) for name in names}
        for target in ("file", "population")
    )
    return Candidate(scheme, risk, constant, risks[:, 2].max(axis=0), file, population, loss)


def _relative_lengths(found: dict[str, Variance], names: tuple[str, ...]) -> np.ndarray:
    """Return the lengths of intervals for the population over their lengths without masking.

    Statistics without sampling variance, such as T where it is 1, are left out.
    """
    file, sample = (np.hstack([found[name][k] for name in names]) for k in (0, 1))
    return np.asarray(np.sqrt(1.0 + file[sample > 0.0] / sample[sample > 0.0]))


def risks_of_pool(
    x: np.ndarray, scheme: SwapScheme, d: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the risks of ascending values, by distance: by the best attacker, by the best
    constant, and of the most exposed record."""
    joint = JointLaw.of(x[evenly_spaced(x.size, MAX_EXAMINED_ROWS)], scheme, CELLS)
    found = attackers_of_pool(joint, x, scheme, d.tolist())
    law = scheme.law
    if law is None:
        exposed = np.array([most_exposed(x, scheme, joint, near) for near in d.tolist()])
        return found[BEST_ATTACKER], found[BEST_CONSTANT], exposed
    # on a grid in whole steps, so that differences are not rounded
    rows = law.to_units(x)
    apart = d if law.grid is None else law.grid.above(d)
    ends = (
        (np.searchsorted(rows, rows - far, "right"), np.searchsorted(rows, rows + far))
        for far in apart
    )
    most = np.array([np.max(last - first) - 1.0 for first, last in ends])
    return found[BEST_ATTACKER], found[BEST_CONSTANT], chance_of_near(most, x.size - 1.0, d, law)


def frontier(
    candidates: list[Candidate], accepts: Callable[[SwapScheme], bool] = lambda _: True
) -> list[Candidate]:
    """Return the accepted candidates that no other beats in both mean risk and loss, the cheapest
    first."""
    front = list[Candidate]()
    for each in sorted(candidates, key=lambda each: (each.loss, each.risk.mean())):
        safer = not front or each.risk.mean() < front[-1].risk.mean()
        if safer and accepts(each.scheme):
            front.append(each)
    return front


# --- how far estimates will lie from their targets ---


def predicted_variances(
    x: np.ndarray, other: np.ndarray, code: np.ndarray | None, scheme: SwapScheme
) -> dict[str, Variance]:
    """Return n times the predicted variances of the estimates of all statistics, by name."""
    v = np.zeros(x.size)
    halves = (other > upper_half_bound(other)).astype(np.float64)
    if isinstance(scheme, ReverseMappingScheme):
        for rows, values in values_by_pool(x, code):
            v[rows] = pseudo_value_variances(values, scheme)
    with np.errstate(all="ignore"):  # of constant columns
        found = moment_variances(x, other, code, scheme, v)
        found["difference"] = moment_variances(x, halves, code, scheme, v)["slope"]
    t = found[T_AT_DECILES] = cdf_variances(x, scheme)
    return found | dict(
        zip(QUANTILES, map(Variance, *quantile_variances(x, scheme, t)), strict=True)
    )


def moment_variances(
    x: np.ndarray, other: np.ndarray, code: np.ndarray | None, scheme: SwapScheme, v: np.ndarray
) -> dict[str, Variance]:
    """Return n times the variances of the mean, the standard deviation, and the correlation with
    and slope on another column."""
    originals = pair_moments(x, other, code)
    law = scheme.law or NO_NOISE
    shared = scheme.shared_donors
    released = released_moments(originals, law)
    (unit, unit_of_w) = originals.unit
    column = Sampled(x.size, scheme.law or EXACT, shared, Powers(0.0, unit, released.means[:, 0]))
    mean = unit**2 * np.array(moment_variance(column, 1, central=False))
    functions = derivatives(originals.means, unit, unit_of_w)
    weights = np.array(list(functions.values()))
    file, both = x.size * conditional_pair(released, law, None, shared_donors=shared).variances(
        weights
    )
    sample = both - file
    if scheme.law is None:
        pool = np.zeros(x.size, dtype=np.int64) if code is None else code
        # as sums over pools are fixed
        about = other - (np.bincount(pool, other) / np.bincount(pool))[pool]
        related = (weights[:, 0] / (unit * unit_of_w)) ** 2 * np.mean(v * about**2)
        file = np.where(weights[:, 0] == 0.0, 0.0, related)  # what is of the column alone is kept
    return {"mean": Variance(*mean)} | dict(
        zip(functions, map(Variance, file, sample), strict=True)
    )


def derivatives(
    means: np.ndarray, unit: float, unit_of_w: float
) -> dict[str, tuple[float, float, float]]:
    """Return the derivatives of statistics, in units of the data, by moments about the means."""
    first = means[2, 0]
    second = means[0, 2]
    size = np.sqrt(first * second)
    slope = means[1, 1] / second
    r = means[1, 1] / size
    ratio = unit / unit_of_w
    return {
        "std": (0.0, 0.5 * unit / np.sqrt(first), 0.0),
        "correlation": (1.0 / size, -0.5 * r / first, -0.5 * r / second),
        "slope": (ratio / second, 0.0, -ratio * slope / second),
    }


def released_moments(originals: PairMoments, law: Law) -> PairMoments:
    """Return the expected moments of released values with an unmasked column."""
    means = originals.by_pool
    noise = noise_matrix(law.noise_moments(DEGREE, originals.unit[0]))
    swapped = means[..., :, :1] * means[..., :1, :]
    sums = originals.sums[:, :1, :1] * (law.p * swapped + (1.0 - law.p) * (noise @ means))
    return originals._replace(sums=sums, alone=sums[:, :3, 0])


def pseudo_value_variances(x: np.ndarray, scheme: ReverseMappingScheme) -> np.ndarray:
    """Return the variance V(x) of pseudo-values after reverse mapping, for ascending x.

    It is infinite where the estimators refuse. In long files it is computed for evenly spaced
    records and interpolated, since it depends on the value alone.
    """
    p = scheme.p
    some = x[evenly_spaced(x.size, MAX_REPRESENTED_RECORDS)]
    try:
        file = ReverseMapped(Records(some), scheme)
        h = file.unit * (file.undone[0] - file.middle)
        mapping = file.pools[0][0]
    except UndefinedError:
        return np.full(x.size, np.inf)
    first, second = (
        p * (mapping.share @ power) + (1.0 - p) * mapping.apply(power) for power in (h, h * h)
    )
    return np.asarray(np.interp(x, some, (second - first**2)[file.cell]))


def cdf_variances(x: np.ndarray, scheme: SwapScheme) -> Variance:
    """Return n times the variances of T at the deciles, which donor pools do not change."""
    points = lower_quantiles(x, DECILE_PROBABILITIES)
    law = scheme.law
    at = np.searchsorted(x, points, side="right") / x.size
    file = np.zeros(points.size)
    if law is not None:
        counted = by_value(law.to_units(x))._replace(unit=law.sigma)  # of values without steps
        sums = CdfSums(
            counted, masking(law, None), shared_donors=scheme.shared_donors, expected=True
        )
        file = sums.variance(law.to_units(points)).file
    return Variance(file, at * (1.0 - at))


def quantile_variances(x: np.ndarray, scheme: SwapScheme, t: Variance) -> np.ndarray:
    """Return n times the variances of the estimated deciles, in two rows.

    The first row is the variance about the file, the second what sampling from a population adds.
    T has normal errors with the variances `t` at the deciles; with small p and n the estimates are
    quantiles of T*, whose errors these are then.
    """
    from scipy.special import ndtri  # takes .1 s to import

    n = x.size
    p = scheme.p
    law = scheme.law
    nodes = ndtri((np.arange(ERROR_NODES) + 0.5) / ERROR_NODES)
    error = np.array([t.standard_error(n, target) for target in ("file", "population")])
    if law is not None and crossing_of(p, n) == "rearranged":
        ends = lower_quantiles(
            x, DECILE_PROBABILITIES + error * np.reshape([-1.0, 0.0, 1.0], (3, 1, 1))
        )
        apart = ends[..., None] - x[evenly_spaced(n, MAX_REPRESENTED_RECORDS)]
        noise = 0.5 * (1.0 + np.sign(apart) * law.noise_within(np.abs(apart)))
        released = (p * (apart >= 0.0) + (1.0 - p) * noise).mean(axis=-1)  # the share up to there
        k = np.array([[0], [1]]) - (not scheme.shared_donors)
        error *= np.sqrt(kept_variance(n, p, np.diff(released, axis=0), error, n * error**2, k))
    found = lower_quantiles(
        x, DECILE_PROBABILITIES[:, None] + error[..., None] * (nodes / nodes.std())
    )
    return np.diff(
        n * (found - found[..., ERROR_NODES // 2, None]).var(axis=-1), axis=0, prepend=0.0
    )


def lower_quantiles(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the smallest of ascending values at which the distribution function is at least q."""
    return x[np.clip(np.ceil(q * x.size - 1e-9), 1, x.size).astype(np.int64) - 1]
