r"""How far estimates of moments will lie from their targets, from the originals alone.

Linearised, the estimates of mean, standard deviation and correlation are means of a polynomial of degree two,

    phi(z, w) = A z^2 + B(w) z + C(w)

so all that the theorem of docs/inference.rst asks, V = Var phi(Z, W), D = Var E[phi | X, W], the variance of
the influence function h on the originals and the covariance of phi's margins, follow from the moments
E X^i W^j, i, j up to 4, and those of the noise. Nothing is simulated.

Polynomials are arrays: entry [i, j] is the factor of x^i w^j.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from condmask.inference.theorem import variance_given_file
from condmask.law import Law

DEGREE = 4


class Variances(NamedTuple):
    """n times the variances of an estimate: about the original file, about the population, and of the same
    statistic of records that are not masked."""

    file: float
    population: float
    unmasked: float


class Moments(NamedTuple):
    """The means of x^i w^j over the originals, x about its mean in units of its s.d., w standardised.

    `pair` says whether there is a second column.
    """

    means: np.ndarray
    unit: float
    pair: bool


def moments(x: np.ndarray, other: np.ndarray | None) -> Moments:
    """From values as they are masked, in the units of the data."""
    unit = float(x.std()) or 1.0
    a = (x - x.mean()) / unit
    powers = [np.ones(x.size), a, a * a, a * a * a, (a * a) ** 2]
    means = np.zeros((DEGREE + 1, DEGREE + 1))
    means[:, 0] = [power.mean() for power in powers]
    if other is not None:
        b = (other - other.mean()) / (float(other.std()) or 1.0)
        for j, each in enumerate((b, b * b, b * b * b, (b * b) ** 2), start=1):
            means[:, j] = [float(power @ each) / x.size for power in powers]
    return Moments(means, unit, other is not None)


def errors(own: Moments, law: Law, n: int, *, shared_donors: bool) -> dict[str, Variances]:
    """Of the mean, the standard deviation and, with a column in clear, the correlation."""
    means = own.means
    variance = means[2, 0] - means[1, 0] ** 2
    names = ["mean", "std", *(["correlation"] if own.pair else [])]
    if variance <= 0.0:
        return dict.fromkeys(names, Variances(np.nan, np.nan, np.nan))
    size = float(np.sqrt(variance))
    phi, h = np.zeros((2, len(names), 3, 3))
    phi[0, 1, 0] = h[0, 1, 0] = 1.0
    phi[1, 2, 0] = h[1, 2, 0] = 0.5 / size
    if own.pair:
        r = (means[1, 1] - means[1, 0] * means[0, 1]) / size
        f = 1.0 - law.p - law.p / (n - 1.0)
        phi[2, 1, 1], h[2, 1, 1] = 1.0 / (f * size), 1.0 / size
        phi[2, 2, 0] = h[2, 2, 0] = -0.5 * r / variance
        phi[2, 0, 2] = h[2, 0, 2] = -0.5 * r
    noise = law.noise_moments(DEGREE, own.unit)
    units = [own.unit**2, own.unit**2, 1.0]
    return {
        name: Variances(
            *(unit * each for each in _variances(means, law.p, noise, phi[k], h[k], shared_donors))
        )
        for k, (name, unit) in enumerate(zip(names, units, strict=False))
    }


def _variances(
    means: np.ndarray, p: float, noise: np.ndarray, phi: np.ndarray, h: np.ndarray, shared_donors: bool
) -> tuple[float, float, float]:
    """n times the variances of an estimate, by the theorem."""
    of_x, of_w = means[:, 0], means[0]
    # phi's mean over donors, a polynomial in w; over other records' w, one in x
    a, at = np.zeros((2, 3, 3))
    a[0], at[:, 0] = of_x[:3] @ phi, phi @ of_w[:3]
    given, squared = p * a + (1.0 - p) * _kept(phi, noise), _product(phi, phi)
    mean = _mean(given, means)
    v = p * float(of_x @ squared @ of_w) + (1.0 - p) * _mean(_kept(squared, noise), means) - mean**2
    d = _mean(_product(given, given), means) - mean**2
    inside = _mean(_product(h, h), means) - _mean(h, means) ** 2
    margins = _mean(_product(a, at), means) - _mean(a, means) * _mean(at, means)
    file = variance_given_file(
        np.array(v), np.array(d), np.array(inside), margins, shared_donors=shared_donors, p=p
    )
    return float(file), float(file) + inside, inside


def _kept(polynomial: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The expectation of a polynomial in z, as one in x, of kept records."""
    found = np.zeros_like(polynomial)
    for k in range(len(polynomial)):
        for m in range(0, k + 1, 2):
            found[k - m] += polynomial[k] * (comb(k, m) * noise[m])
    return found


def _mean(polynomial: np.ndarray, means: np.ndarray) -> float:
    rows, columns = polynomial.shape
    return float(np.sum(polynomial * means[:rows, :columns]))


def _product(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Of two polynomials of degree two in each variable."""
    found = np.zeros((DEGREE + 1, DEGREE + 1))
    for i, j in np.argwhere(one):
        found[i : i + 3, j : j + 3] += one[i, j] * two
    return found
