r"""How far estimated quantiles will lie from their targets, predicted from the originals.

At a point x the variance of T is known given the law of the originals. With psi = K((x - Z)/sigma) and
r = 1{X <= x} - p psi, n Var T is E psi^2 - F^2 less Var r about the file, and larger by F (1 - F) about the
population (`variance.band.expected` has both under any law). If T is off by an error, which is nearly
normal, the estimated quantile is that of a probability off by as much. This allows for values that many
records share, which are the quantiles of many probabilities.
"""

from collections.abc import Sequence

import numpy as np

from condmask.distribution.symbol import Masking
from condmask.law import Law
from condmask.planning.predicted_moments import Variances
from condmask.variance.band import expected
from condmask.variance.theorem import variance_given_file

NODES = 201  # equally likely errors of T


class Ordered:
    """A file, sorted: values as they are masked, in the units of the data and of the law."""

    def __init__(self, values: np.ndarray, units: np.ndarray) -> None:
        self.values, self.units, self.n = _ascending(values), _ascending(units), values.size

    def quantile(self, q: np.ndarray) -> np.ndarray:
        """The least values at which the distribution function is at least q."""
        place = np.clip(np.ceil(q * self.n - 1e-9), 1, self.n)
        return self.values[place.astype(np.int64) - 1]

    def up_to(self, steps: np.ndarray) -> np.ndarray:
        """The share of the records up to values in the units of the law."""
        return np.searchsorted(self.units, steps, side="right") / self.n


def errors(
    file: Ordered, pools: Sequence[tuple[float, Ordered]], law: Law, q: np.ndarray, n: int, *,
    shared_donors: bool,
) -> tuple[list[Variances], np.ndarray]:  # fmt: skip
    """n times the variances of the quantiles at q of n records distributed like these, and how many times as
    large the standard error of T is there as without masking, in the population.

    `pools` are the donor pools, each with its share of the records.
    """
    x = file.quantile(q)
    at, about = np.zeros(x.size), np.zeros(x.size)
    for share, pool in pools:
        own = Masking(law.noise, law.p, 0.0, law.step / law.sigma)
        psi, squares, rest, rest_squares = expected(pool.up_to, own, law.to_units(x))
        within = np.maximum(psi * (1.0 - psi), 0.0)
        at += share * psi
        about += share * variance_given_file(
            squares - psi**2, rest_squares - rest**2, within, 0.0, shared_donors=shared_donors, p=law.p
        )
    sample = np.maximum(at * (1.0 - at), 0.0)
    variances = (about, about + sample, sample)
    moved = [n * _of_quantiles(file, q, np.sqrt(variance / n)) for variance in variances]
    longer = np.sqrt(1.0 + about / np.where(sample > 0.0, sample, np.nan))
    return [Variances(*three) for three in np.transpose(moved).tolist()], longer


def unmasked(file: Ordered, q: np.ndarray, n: int) -> np.ndarray:
    """n times the variances of the quantiles at q of n records without masking."""
    share = np.searchsorted(file.values, file.quantile(q), side="right") / file.n
    return n * _of_quantiles(file, q, np.sqrt(share * (1.0 - share) / n))


def _of_quantiles(file: Ordered, q: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The variances of quantiles at probabilities with normal errors."""
    from scipy.special import ndtri  # takes .1 s to import

    nodes = ndtri((np.arange(NODES) + 0.5) / NODES)
    places = q[:, None] + error[:, None] * (nodes / nodes.std())
    quantiles = file.quantile(places)
    return np.asarray((quantiles - quantiles[:, NODES // 2 : NODES // 2 + 1]).var(axis=1))


def _ascending(values: np.ndarray) -> np.ndarray:
    """Values in ascending order; most already are."""
    return values if (values[1:] >= values[:-1]).all() else np.sort(values)
