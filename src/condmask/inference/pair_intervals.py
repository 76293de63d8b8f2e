"""Intervals of the covariance and the correlation of the originals of two columns."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from condmask.errors import warn
from condmask.inference import bounded, heavy_tails, reverse_pairs
from condmask.inference.covariance import PairSums, covariance_error
from condmask.inference.influence import Weights
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import EstimateWarning, Interval, interval, multiplier
from condmask.inference.pair_variance import DEGREE, pair_variance
from condmask.inference.reverse_mapped import ReverseMapped
from condmask.law import Law

TARGETS = ("file", "population")  # in the order of `pair_variances`
RHO = (-1.0, 0.0, 1.0)  # hypotheses of a correlation
ENOUGH = 10.0  # unmasked records, whose correlation is known to some .3


@dataclass(frozen=True)
class Pair:
    """A column of masked values and another one.

    Attributes
    ----------
    sums : PairSums
        Sums over the records that have both values.
    law, law_of_w : Law
        What masked them; None of a plain column, which was not masked.
    shared_donors : bool
        Whether several records may share a donor.
    share : float
        One masked record says as much about a correlation with an unmasked column as this many unmasked ones.
    """

    sums: PairSums
    law: Law
    law_of_w: Law | None
    shared_donors: bool
    share: float

    def variance_kept(self, variances: tuple[float, float]) -> list[float]:
        """What part of the variance of each masked column is that of its original."""
        released = self.sums.squares.tolist()[: 1 if self.law_of_w is None else 2]
        return [
            variance / masked if masked > 0.0 else 1.0
            for variance, masked in zip(variances, released, strict=False)
        ]


def covariance_interval(pair: Pair, options: IntervalOptions) -> Interval:
    """The interval of the covariance."""
    estimate, _, unit = pair.sums.product
    if pair.law_of_w is None:
        error = covariance_error(pair.sums, options)
    else:
        variances = pair_variances(pair, [Weights(1.0)])[TARGETS.index(options.target)]
        error = float(np.sqrt(variances[0]))
    _warn_of_heavy_tails(pair, "covariances")
    return interval(estimate * unit, error * unit, options.level, options.target, "covariance")


def pair_variances(pair: Pair, weights: list[Weights]) -> np.ndarray:
    """The variances of functions of the covariance and the variances, in safe units.

    Returns
    -------
    ndarray of shape (2, functions)
        About the file, and about the population.
    """
    sums, pseudo = pair.sums, pair.sums.pseudo
    if isinstance(pseudo, ReverseMapped):
        return reverse_pairs.pair_variances(sums, pseudo, weights)
    file, sample = pair_variance(
        sums.moments.size, sums.moments.released, pseudo.factor, weights,
        pair.law.noise_moments(DEGREE, pseudo.unit),
        None if pair.law_of_w is None else pair.law_of_w.noise_moments(DEGREE, sums.unit),
        pair.law.p, shared_donors=pair.shared_donors,
    )  # fmt: skip
    return np.asarray(np.array([file, file + sample]) / sums.n)


def correlation_interval(pair: Pair, options: IntervalOptions) -> Interval:
    """The interval of the correlation: all values from -1 to 1 that the test does not reject."""
    value, variances, _ = pair.sums.product
    first, second = variances
    lone = [Weights(0.0, 1.0, 0.0), Weights(0.0, 0.0, 1.0)][: 1 if pair.law_of_w is None else 2]
    if min(variances) <= 0.0:
        little = _hidden(pair, variances, np.sqrt(pair_variances(pair, lone)[0]), options.level)
        found = interval(np.nan, np.nan, options.level, options.target, "correlation", ends=(-1.0, 1.0))
        found = found._replace(about=f"{found.about}; a variance is estimated negative or zero")
    else:
        size = float(np.sqrt(first) * np.sqrt(second))
        r = value / size
        # r - rho, the estimate less a hypothesis, is linear in rho, and so its variance is a quadratic
        weights = [Weights(1.0 / size, -0.5 * rho / first, -0.5 * rho / second) for rho in RHO]
        squares = pair_variances(pair, [*weights, *lone])
        square = quadratic(squares[TARGETS.index(options.target), :3])
        nearest = float(np.clip(r, -1.0, 1.0))
        little = _hidden(pair, variances, np.sqrt(squares[0, 3:]), options.level)
        ends = -1.0, 1.0
        if not little:
            low, high = bounded.interval(np.array([r]), square[None], options.level)
            ends = low.item(), high.item()
        little = little or _few(pair, variances)
        standard_error = float(np.sqrt(max(square @ nearest ** np.arange(3), 0.0)))
        found = interval(nearest, standard_error, options.level, options.target, "correlation", ends=ends)
        if r != nearest:
            outside = f"the estimate, {r:.4g}, lies outside [-1, 1], and the nearest end is given"
            found = found._replace(about=f"{found.about}; {outside}")
    if little:
        warn(f"correlation: {little}", EstimateWarning)
    else:
        _warn_of_heavy_tails(pair, "correlations")
    return found


def quadratic(squares: np.ndarray) -> np.ndarray:
    """The factors of 1, rho and rho^2 in what has these values at `RHO`, along the last axis."""
    low, middle, high = np.moveaxis(squares, -1, 0)
    return np.stack([middle, 0.5 * (high - low), 0.5 * (high + low) - middle], axis=-1)


def _hidden(pair: Pair, variances: tuple[float, float], errors: np.ndarray, level: float) -> str:
    """The message where the noise hides whether a column varies at all, and how many records are needed.

    Nothing is known about a correlation then. `errors` are the standard errors of the variances of masked
    columns. With a variance at the upper end of its own interval, so many records make the lower end positive
    as are needed for half the length.
    """
    share = 0.0
    reaches = multiplier(level)[1] * errors
    for variance, reach, kept in zip(variances, reaches, pair.variance_kept(variances), strict=False):
        # with less noise than that a variance is not small, but heavy tails leave it uncertain
        if variance <= reach and kept < 0.5:
            upper = variance + reach
            share = max(share, (2.0 * reach / upper) ** 2 if upper > 0.0 else np.inf)
    if share == 0.0:
        return ""
    enough = share * pair.sums.n
    some = (
        f"it takes at least {ceil(enough):,} records" if np.isfinite(enough) else "it takes far more records"
    )
    return f"it may be anything, since so much noise hides whether the original varies at all; {some}"


def _few(pair: Pair, variances: tuple[float, float]) -> str:
    """The message where the records say little, and how many are needed.

    If two columns are independent, n masked pairs say as much about their correlation as
    n (1-p)^2 Var X / Var Z unmasked ones; for columns masked together, which keep their pairs when they are
    swapped, as n (Var X / Var Z) (Var X' / Var Z').
    """
    share = 1.0 if pair.law_of_w is not None else pair.share
    share *= float(np.prod(np.minimum(pair.variance_kept(variances), 1.0)))
    n = pair.sums.n
    if n * share >= ENOUGH:
        return ""
    return (
        f"{n} masked records say as much about it as {n * share:.2g} unmasked ones; {ceil(ENOUGH / share):,} "
        f"would say as much as {ENOUGH:.0f}"
    )


def _warn_of_heavy_tails(pair: Pair, quantities: str) -> None:
    """Warn if the tails of either column are heavy."""
    heavy_tails.warn_of_heavy_tails(pair.sums.kurtoses, pair.sums.w.size, quantities)
