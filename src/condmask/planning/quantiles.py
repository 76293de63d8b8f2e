r"""How far estimated quantiles will lie from their targets, from the originals alone.

At a point x the variance of T is known given the law of the originals: with psi = K((x - Z)/sigma) and
r = 1{X <= x} - p psi, n Var T is E psi^2 - F^2 less Var r about the file, and more by F (1 - F) about the
population (`engines.covariances` sums both under any law). A quantile then lies between those of the
probabilities that are one standard error of T to either side, and in proportion where it is another one.
"""

import numpy as np

from condmask.engines import covariances
from condmask.estimates.interval import over_file
from condmask.estimates.spread import masking
from condmask.law import Law
from condmask.levels import class_law, class_units, classes
from condmask.planning.moments import Variances
from condmask.weights.weight import Masking

BEYOND = 50.0  # sigma; where all of a class lies on one side


class Ordered:
    """A file by class, sorted, for any number of schemes on its grid."""

    def __init__(self, values: np.ndarray, units: np.ndarray, law: Law) -> None:
        self.values, self.n = _ascending(values), values.size
        code, at = classes(units, law)
        if law.is_plain:
            self.classes = {0: _ascending(at)}
        else:
            self.classes = {int(each): _ascending(at[code == each]) for each in np.unique(code)}

    def quantile(self, q: np.ndarray) -> np.ndarray:
        """The least values whose distribution function reaches q."""
        place = np.ceil(q * self.n - 1e-9).astype(np.int64) - 1
        return self.values[np.clip(place, 0, self.n - 1)]

    def between(self, q: np.ndarray) -> np.ndarray:
        """The same, linear between neighbours: of probabilities that are no multiples of 1/n."""
        return np.asarray(np.interp(q, (np.arange(self.n) + 0.5) / self.n, self.values))


def errors(file: Ordered, law: Law, q: np.ndarray, n: int, *, shared_donors: bool) -> list[Variances]:
    """n times the variances of the quantiles at q, of n records distributed like these."""
    x = file.quantile(q)
    psi, squares, rest, rest_squares = np.zeros((4, q.size))
    for code, at in file.classes.items():
        own = class_law(code, law)
        points = _points(x, code, law, own)
        if own is None:
            held = np.searchsorted(at, points, side="right").astype(np.float64)
            found = covariances.without_noise(held, law.p)
        else:
            steps = at if not (law.scale == "log" and code == 0) else -at[::-1]
            beyond = BEYOND * own.sigma / own.step
            points = np.rint(np.clip(points, steps[0] - beyond, steps[-1] + beyond))
            found = _products(steps, masking(own, None), points)
        psi += found.psi
        rest += found.rest
        squares += np.diag(found.psi_products)
        rest_squares += np.diag(found.rest_products)
    psi, squares, rest, rest_squares = (each / file.n for each in (psi, squares, rest, rest_squares))
    sample = np.maximum(psi * (1.0 - psi), 0.0)
    about = over_file(
        squares - psi**2, rest_squares - rest**2, sample, 0.0, shared_donors=shared_donors, p=law.p
    )
    error = np.sqrt((about + sample) / n)
    low, high = np.maximum(q - error, 0.0), np.minimum(q + error, 1.0)
    slope = (file.between(high) - file.between(low)) / (high - low)
    found = np.stack([about, about + sample, sample]) * slope**2
    return [Variances(*each) for each in found.T.tolist()]


def _ascending(values: np.ndarray) -> np.ndarray:
    """In ascending order, as those mostly are that come here."""
    return values if (values[1:] >= values[:-1]).all() else np.sort(values)


def _products(steps: np.ndarray, own: Masking, points: np.ndarray) -> covariances.Products:
    """Of originals at ascending whole steps of their class."""

    def share(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.searchsorted(steps, at, side="right") / steps.size)

    order = np.argsort(points, kind="stable")
    found = covariances.products_under(share, steps.size, own, points[order])
    back = np.empty(order.size, dtype=np.int64)
    back[order] = np.arange(order.size)
    return covariances.Products(
        found.psi[back], found.psi_products[np.ix_(back, back)],
        found.rest[back], found.rest_products[np.ix_(back, back)],
    )  # fmt: skip


def _points(x: np.ndarray, code: int, law: Law, own: Law | None) -> np.ndarray:
    """Points x in steps of a class, at or below; those of negative amounts with the sign turned."""
    if law.scale == "log":
        if own is None:
            return np.where(x >= 0.0, 0.0, -1.0)
        sign = 1.0 if code == 2 else -1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(np.maximum(sign * x, 0.0)) / own.step
        inside = np.floor(sign * size + 1e-9)
        return np.asarray(np.where(sign * x > 0.0, inside, -np.inf if code == 2 else np.inf))
    offset, step = class_units(code, np.array([0.0, 1.0]), law)
    return np.asarray(np.floor((law.to_units(x) - offset) / (step - offset)))
