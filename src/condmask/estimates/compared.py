"""Comparisons of estimates by name: covariances, differences, ratios, contrasts, tests."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask.errors import ArgumentError
from condmask.estimates.contrasts import Combined, EqualityTest
from condmask.inference.interval import MAX_PRINTED, TARGETS, Interval, Target

# gives the covariances of the estimates at some places, of shape (places, places)
Joint = Callable[[Sequence[int]], np.ndarray]
MAX_KEPT = 1000  # names whose covariances go with a result that is pickled


class KnownJoint(NamedTuple):
    """Covariances of estimates that are known."""

    matrix: np.ndarray

    def __call__(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of some estimates."""
        return np.asarray(self.matrix[np.ix_(places, places)])


class Compared(Mapping[Any, Interval]):
    """Compares estimates that have names, and whose covariances are known.

    Attributes are those of `Intervals`.
    """

    names: list[Any]
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray
    estimate: np.ndarray
    confidence_level: float
    target: Target
    about: str
    degrees: np.ndarray | None
    joint: Joint | None
    one_residual: bool

    @cached_property
    def places(self) -> dict[Any, int]:
        """Where names stand, of which there may be tens of thousands."""
        return {name: k for k, name in enumerate(self.names)}

    @property
    def covariance(self) -> Any:
        """The covariances of the estimates, a pandas data frame with the names in rows and
        columns.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> x, sex = rng.normal(100.0, 15.0, 5_000), rng.integers(2, size=5_000)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).group_means(sex)
        >>> bool(np.allclose(np.sqrt(np.diag(found.covariance)), found.standard_error))
        True
        """
        matrix = self._covariances(range(len(self.names)))
        columns = {str(k): matrix[:, k].tolist() for k in range(len(self.names))}
        frame = frames.data_frame(columns).set_axis(self.names, axis=1)
        return frame.set_axis(self.names, axis=0)

    def difference(self, a: Hashable, b: Hashable) -> Interval:
        """Confidence interval for the difference of two estimates, which may depend on each other.

        Parameters
        ----------
        a, b : names
            The estimate of `b` is taken from that of `a`.

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            If a name does not occur, or the covariances are not known.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ConditionalMasking(0.6, 500.0)
        >>> found = scheme.estimate(scheme.mask(income, rng=3)).group_means(male)
        >>> apart = found.difference(True, False)
        >>> bool(apart.low < income[male].mean() - income[~male].mean() < apart.high)
        True
        """
        quantity = f"{shown(a)} less {shown(b)}"
        return self._combined([a, b]).sum(np.array([1.0, -1.0]), self._of(quantity))

    def ratio(self, a: Hashable, b: Hashable) -> Interval:
        """Confidence interval for the ratio of two positive quantities, of `a` to `b`.

        Parameters
        ----------
        a, b : names

        Returns
        -------
        Interval
            Symmetric on the logarithm of the ratio, where the intervals of both are symmetric.

        Raises
        ------
        ValueError
            As for `difference`, and if one is not estimated above 0, `b` by more than its error.
        """
        return self._combined([a, b]).ratio(self._of(f"{shown(a)} over {shown(b)}"))

    def contrast(self, factors: Mapping[Any, float]) -> Interval:
        """Confidence interval for a sum of estimates times factors.

        Parameters
        ----------
        factors : dict
            A number for each name that takes part, as
            ``{"north": 0.5, "south": 0.5, "west": -1}``.

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            As for `difference`.
        """
        if not isinstance(factors, Mapping) or not factors:
            raise ArgumentError(f"factors must be a dict of numbers by name, got {factors!r}")
        numbers = np.array([float(factor) for factor in factors.values()])
        terms = [f"{factor:g} {shown(name)}" for name, factor in factors.items()]
        return self._combined(list(factors)).sum(numbers, self._of(" + ".join(terms)))

    def test(self, a: Hashable, b: Hashable) -> EqualityTest:
        """Test whether two estimates estimate the same, by Student's t.

        Parameters
        ----------
        a, b : names

        Returns
        -------
        EqualityTest
            The difference over its standard error, the degrees of freedom and the two-sided
            p-value.

        Raises
        ------
        ValueError
            As for `difference`.
        """
        about = f"{self.about}: whether {shown(a)} and {shown(b)} are equal"
        return self._combined([a, b]).test(about)

    # --- private ---

    def __getstate__(self) -> dict[str, Any]:
        """Keep the covariances, and not the records from which they are worked out."""
        state = dict(vars(self))
        if self.joint is not None and len(self.names) <= MAX_KEPT:
            state["joint"] = KnownJoint(self._covariances(range(len(self.names))))
        elif self.joint is not None:
            state["joint"] = None
        return state

    def _of(self, quantity: str) -> str:
        """Return a quantity of names in words, without the target, which an interval adds."""
        of_all = self.about.replace(f" {TARGETS[self.target]}", "")
        return f"{of_all}: {quantity}"

    def _known_joint(self) -> Joint:
        if self.joint is None:
            raise ArgumentError(
                "covariances are known for group_means, group_quantiles, group_cdf and other "
                f"statistics of groups, and for regress, of one sample; not for {self.about}"
            )
        return self.joint

    def _combined(self, names: Sequence[Hashable]) -> Combined:
        self._known_joint()
        for name in names:
            if name not in self.places:
                raise ArgumentError(
                    f"a name must be one of {self.names[:MAX_PRINTED]!r}, got {name!r}"
                )
        places = [self.places[name] for name in names]
        degrees = np.inf if self.degrees is None else self.degrees[places]
        return Combined(
            self.estimate[places],
            self.low[places],
            self.high[places],
            np.broadcast_to(degrees, (len(places),)),
            self._covariances(places),
            self.confidence_level,
            self.target,
            self.one_residual,
        )

    def _covariances(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of some estimates, with the squared standard errors they have."""
        joint = self._known_joint()
        error = self.standard_error[list(places)]
        matrix = joint(places)
        scale = np.sqrt(np.diag(matrix))
        unit = np.divide(error, scale, out=np.zeros(scale.size), where=scale > 0.0)
        most = np.outer(error, error)
        found = np.clip(matrix * np.outer(unit, unit), -most, most)
        np.fill_diagonal(found, error**2)
        return np.asarray(found)


def shown(name: Hashable) -> str:
    """Return a name for people; the labels of several columns are a tuple."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
