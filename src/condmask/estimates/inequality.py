"""How unequally the original is distributed: Gini coefficient and Lorenz curve, with intervals."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.deconvolution.weight import Masking
from condmask.engines.grid import LONGEST, pieces, pieces_length, reach_of
from condmask.estimates.base import CERTAIN
from condmask.estimates.distribution import error_of
from condmask.estimates.functionals import Functionals
from condmask.inference import bounded
from condmask.inference.far_expectations import Function
from condmask.inference.function_variance import sums_of
from condmask.inference.intervals import TARGETS, Interval, check_target
from condmask.inference.theorem import finest_tol, masking, sums_at
from condmask.samples.noise_class import NoiseClass
from condmask.samples.sample import MaskedSample

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
            With a leading axis of replicates where `z` is 2-D; within [0, 1], where no amount is negative,
            and so is its estimate, which is the nearest end where `gini` lies outside.

        Notes
        -----
        Near 0 and 1 what is surprising is weighed as for `correlation_interval`, so that the interval keeps
        its level there. Amounts are taken to be negative where the share of such ones is estimated more than
        three standard errors above 0; then the coefficient may exceed 1, and nothing is cut.
        """
        self._refuse_additive()
        functionals = [[self._gini(k)] for k in range(len(self._sources))]
        found = self._bounded(functionals, 1.0, confidence_level, target, "the Gini coefficient")
        low, high, error, value = (self._result([own.item() for own in each]) for each in found[:4])
        return Interval(low, high, error, value, *found[4:])

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
            In the shape of `q`, with a leading axis of replicates where `z` is 2-D; within [0, q], where no
            amount is negative, and so are its estimates (`gini_interval`).
        """
        shares = _checks.probabilities(q, "q")
        self._refuse_additive()
        functionals = [_lorenz(source, shares) for source in self._sources]
        found = self._bounded(functionals, shares.ravel(), confidence_level, target, "the Lorenz curve")
        low, high, error, value = (self._shaped(each, shares.shape) for each in found[:4])
        return Interval(low, high, error, value, *found[4:])

    # --- private ---

    def _bounded(
        self,
        functionals: list[list[_Functional]],
        highest: Any,
        confidence_level: Any,
        target: Any,
        about: str,
    ) -> tuple[Any, ...]:
        """Intervals between 0 and `highest`, each part of an `Interval` replicate by replicate."""
        level, target = _checks.probability(confidence_level, "confidence_level"), check_target(target)
        found, outside = [], 0
        for k, own in enumerate(functionals):
            around = self._spread(k, sums_of(*(each.influence for each in own)))
            value = np.array([each.value for each in own])
            error = error_of(around, self._sources[k].n, target)
            share, apart = self._below_zero(k)
            if share > CERTAIN * apart:
                low, high = bounded.placed(value, error, -np.inf, np.inf, level)
            else:
                low, high = bounded.placed(value, error, 0.0, highest, level)
                nearest = np.clip(value, 0.0, highest)
                outside += int(np.count_nonzero(nearest != value))
                value = nearest
            found.append((low, high, error, value))
        about = f"{about} {TARGETS[target]}"
        if outside:
            about += f"; {outside} of the estimates lie outside what can be, and the nearest end is given"
        return *(list(each) for each in zip(*found, strict=True)), level, target, about

    def _gini(self, k: int) -> _Functional:
        source = self._sources[k]

        def variances(x: np.ndarray) -> np.ndarray:
            around = self._spread(k, sums_at(x, None))
            return np.asarray((around.file + around.sample) / (source.n - 1))

        return _gini_of(source, variances)


def _gini_of(source: MaskedSample, variances: Callable[[np.ndarray], np.ndarray]) -> _Functional:
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


def _lorenz(source: MaskedSample, q: np.ndarray) -> list[_Functional]:
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


def _whole(source: MaskedSample) -> tuple[np.ndarray, np.ndarray]:
    """Points from where T is 0 to where it is 1, and T from each to the next."""
    part = source.noise_class()
    if part.law is None:
        x, exact = part.values(part.counts.values), True
    else:
        x, exact = _around(part, masking(part.law, None))
    t = source.values(x, None, finest_tol(source), "auto")
    return x, t[:-1] if exact else 0.5 * (t[:-1] + t[1:])


def _around(part: NoiseClass, own: Masking) -> tuple[np.ndarray, bool]:
    """The points between which T varies, and whether these are all points of the grid."""
    stretches, exact, step, most, reach = [], True, 1.0, MOST_POINTS, reach_of(own)
    if pieces_length(part.counts, reach) > LONGEST:
        exact, step = False, max(1.0, np.floor(1.0 / (FINEST * own.delta)))
    for piece in pieces(part.counts, 2.0 * reach):
        first, last = piece.values[0] - reach, piece.values[-1] + reach
        most -= int((last - first) // step) + 2
        if most < 0:
            assert part.law is not None
            raise ValueError(
                "the data must lie closer together for the Gini coefficient and the Lorenz curve, got values "
                f"with gaps around which T varies over more than {MOST_POINTS // FINEST:,} times "
                f"sigma={part.law.sigma:g}; quantile and moment serve there"
            )
        stretches.append(part.values(first + step * np.arange((last - first) // step + 2.0)))
    return np.concatenate(stretches), exact


def _positive_mean(source: MaskedSample) -> float:
    center, scale, means = source.moments(1)
    mean = float(center + scale * means[1])
    if not mean > 0.0:
        raise ValueError(f"the mean must be estimated positive for shares of the total, got {mean:g}")
    return mean
