"""How unequally the original is distributed: Gini coefficient and Lorenz curve, with intervals."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.engines.far_expectations import Function
from condmask.engines.grid import LONGEST, pieces, pieces_length, reach_of
from condmask.estimates.distribution import PLACES, error_of
from condmask.estimates.expectations import sums_of
from condmask.estimates.functionals import Functionals
from condmask.estimates.interval import Interval, check_target, multiplier
from condmask.estimates.sample import Source
from condmask.estimates.spread import Spread, finest_tol, masking, sums_at

MOST_POINTS = 1 << 23  # at which T is looked at
FINEST = 64  # points for each sigma, at which T is integrated where its grid is too long for that
FEW = 1 << 12  # points at which variances are


class _Functional(NamedTuple):
    """An estimate, and how it changes with each record of the original."""

    value: float
    influence: Function


class Inequality(Functionals):
    """Gini coefficient and Lorenz curve."""

    def gini(self) -> Any:
        r"""Gini coefficient of the original, a positive amount.

        Returns
        -------
        float or ndarray of shape (replicates,)

        Raises
        ------
        ValueError
            If the mean is estimated negative or zero.

        Notes
        -----
        :math:`\{\int T (1 - T)\, dx + \int \operatorname{Var} T\, dx\} / \bar Z`; the second takes the
        bias from the first. As an estimate of the original file's, that has the divisor n (n - 1).
        """
        self._refuse_additive()
        return self._result([self._gini(k).value for k in range(len(self._sources))])

    def gini_interval(self, *, confidence_level: float = 0.95, target: str = "population") -> Interval:
        """Confidence interval for the Gini coefficient, by the normal approximation.

        Parameters
        ----------
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where `z` is 2-D.
        """

        def one(k: int) -> tuple[Spread, float]:
            found = self._gini(k)
            return self._spread(k, sums_of(found.influence)), found.value

        return self._wald(one, confidence_level, target, "the Gini coefficient")

    def lorenz(self, q: Any) -> Any:
        r"""Lorenz curve of the original: the share of the total that the lowest have.

        Parameters
        ----------
        q : float or array_like of any shape
            Shares of the records, 0 < q < 1.

        Returns
        -------
        float or ndarray of the shape of `q`
            With a leading axis of replicates where `z` is 2-D.

        Raises
        ------
        ValueError
            If the mean is estimated negative or zero.

        Notes
        -----
        With x the quantile q of the rearranged T, :math:`\{q x - \int_{-\infty}^x T\} / \bar Z`; the integral
        is that of T as it is, without bias.
        """
        shares = _checks.probabilities(q, "q")
        self._refuse_additive()
        found = [np.array([each.value for each in _lorenz(source, shares)]) for source in self._sources]
        return self._shaped(found, shares.shape)

    def lorenz_interval(
        self, q: Any, *, confidence_level: float = 0.95, target: str = "population"
    ) -> Interval:
        """Confidence intervals for ordinates of the Lorenz curve, by the normal approximation.

        Parameters
        ----------
        q
            As for `lorenz`.
        confidence_level, target
            As for `expectation_interval`.

        Returns
        -------
        Interval
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D.
        """
        shares = _checks.probabilities(q, "q")
        self._refuse_additive()
        level, z = multiplier(confidence_level)
        target, values, errors = check_target(target), [], []
        for k, source in enumerate(self._sources):
            found = _lorenz(source, shares)
            around = self._spread(k, sums_of(*(each.influence for each in found)))
            values.append(np.array([each.value for each in found]))
            errors.append(error_of(around, source.n, target))
        value, error = self._shaped(values, shares.shape), self._shaped(errors, shares.shape)
        about = f"the Lorenz curve {PLACES[target]}"
        return Interval(value - z * error, value + z * error, error, value, level, target, about)

    # --- private ---

    def _gini(self, k: int) -> _Functional:
        source = self._sources[k]

        def variances(x: np.ndarray) -> np.ndarray:
            around = self._spread(k, sums_at(x, None))
            return np.asarray((around.file + around.sample) / (source.n - 1))

        return _gini_of(source, variances)


def _gini_of(source: Source, variances: Callable[[np.ndarray], np.ndarray]) -> _Functional:
    """`variances` gives those of T at points."""
    x, t = _whole(source)
    length, mean = np.diff(x), _positive_mean(source)
    few = np.unique(np.linspace(0.0, x.size - 1.0, FEW).astype(np.int64))
    bias = np.interp(np.arange(x.size - 1), few, variances(x[few]))
    value = float(length @ (t * (1.0 - t) + bias)) / mean
    running = np.append(0.0, np.cumsum(length - 2.0 * (length * t)))

    def influence(at: np.ndarray) -> np.ndarray:
        before, beyond = np.minimum(at - x[0], 0.0), np.maximum(at - x[-1], 0.0)
        return np.asarray(-(np.interp(at, x, running) + before - beyond + value * at) / mean)

    return _Functional(value, influence)


def _lorenz(source: Source, q: np.ndarray) -> list[_Functional]:
    x, t = _whole(source)
    length, mean = np.diff(x), _positive_mean(source)
    found = []
    for share, at in zip(
        q.ravel(), source.quantiles(q.ravel(), None, finest_tol(source), "rearranged"), strict=True
    ):
        below = np.clip(at - x[:-1], 0.0, length)  # how much of each stretch lies before the quantile
        value = (x[0] * share + float(below @ (share - t))) / mean

        def influence(values: np.ndarray, at: float = at, value: float = value) -> np.ndarray:
            return np.asarray((np.minimum(values - at, 0.0) - value * values) / mean)

        found.append(_Functional(value, influence))
    return found


def _whole(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Points from where T is 0 to where it is 1, and T from each to the next."""
    stretches, exact, most = [], True, MOST_POINTS
    for part in source.parts():
        if part.law is None:
            stretches.append(part.values(part.counts.values))
            continue
        own, step = masking(part.law, None), 1.0
        reach = reach_of(own)
        if pieces_length(part.counts, reach) > LONGEST:
            exact, step = False, max(1.0, np.floor(1.0 / (FINEST * own.delta)))
        for piece in pieces(part.counts, 2.0 * reach):
            first, last = piece.values[0] - reach, piece.values[-1] + reach
            most -= int((last - first) // step) + 2
            if most < 0:
                raise ValueError(
                    "the data must lie closer together for the Gini coefficient and the Lorenz curve, got "
                    f"values with gaps around which T varies over more than {MOST_POINTS // FINEST:,} times "
                    f"sigma={source.law.sigma:g}; quantile and moment serve there"
                )
            stretches.append(part.values(first + step * np.arange((last - first) // step + 2.0)))
    x = np.concatenate(stretches)
    x = x[np.isfinite(x)]
    if not np.all(x[1:] > x[:-1]):  # several parts, amounts that rounding joins, or negative ones
        x = np.unique(x)
    t = source.values(x, None, finest_tol(source), "auto")
    return x, t[:-1] if exact else 0.5 * (t[:-1] + t[1:])


def _positive_mean(source: Source) -> float:
    center, scale, means = source.moments(1)
    mean = float(center + scale * means[1])
    if not mean > 0.0:
        raise ValueError(f"the mean must be estimated positive for shares of the total, got {mean:g}")
    return mean
