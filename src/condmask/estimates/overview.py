"""The most asked of a release in one table, each number with its interval."""

from dataclasses import replace
from typing import Any

import numpy as np

from condmask import _checks
from condmask.estimates.base import Shared
from condmask.estimates.results import Intervals
from condmask.inference.intervals import Interval, check_target

DECILES = tuple(k / 10 for k in range(1, 10))


class Overview(Shared):
    """What analysts ask first."""

    def summary(
        self,
        quantiles: Any = DECILES,
        *,
        points: Any = (),
        bandwidth: Any = None,
        confidence_level: float = 0.95,
        target: str = "population",
    ) -> Intervals:
        """Mean, standard deviation, quantiles and distribution function with standard errors and intervals.

        Parameters
        ----------
        quantiles : array_like
            Probabilities.
        points : array_like
            Where the distribution function is asked for, in the units of the data.
        bandwidth
            As for `cdf`: with one, quantiles and the distribution function are smoothed, and so is what their
            intervals are about.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Intervals
            By name: "mean", "s.d.", "quantile 0.5", "cdf at 1000"; printed, a table. Estimates lie within
            their intervals: where `cdf` leaves [0, 1], the nearer end stands for it.

        Raises
        ------
        ValueError
            If the estimate is of a batch.

        Notes
        -----
        After reverse mapping `about` says N, by which statistics with other columns vary more (`spreads`).

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(2).normal(100.0, 15.0, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).summary([0.5])
        >>> list(found)
        ['mean', 's.d.', 'quantile 0.5']
        >>> bool(found["mean"].low < 100.0 < found["mean"].high)
        True
        """
        if self._batch:
            raise ValueError("z must be 1-D for a summary, got a batch; estimate its rows one by one")
        level = _checks.probability(confidence_level, "confidence_level")
        options: dict[str, Any] = {"confidence_level": level, "target": check_target(target)}
        q = _checks.probabilities(quantiles, "quantiles").ravel() if np.size(quantiles) else np.empty(0)
        t = _checks.reals(points, "points").ravel() if np.size(points) else np.empty(0)
        own: Any = self
        found = {
            "mean": own.mean_interval(**options),
            "s.d.": own.std_interval(**options),
        }
        if q.size:
            asked = own.quantile_interval(q, bandwidth=bandwidth, **options)
            found |= {f"quantile {each:g}": _part(asked, k) for k, each in enumerate(q)}
        if t.size:
            asked = own.cdf_interval(t, bandwidth=bandwidth, **options)
            asked = asked._replace(estimate=np.clip(asked.estimate, asked.low, asked.high))
            found |= {f"cdf at {each:g}": _part(asked, k) for k, each in enumerate(t)}
        exact = _known(self.scheme) if self.scheme.reverse_mapping else None
        table = collected(found, self._sources[0].n, exact=exact)
        if not self.scheme.reverse_mapping:
            return table
        try:
            ratio = max(each.N for each in own.spreads().values())
        except ValueError:  # pools that are not known, or small
            return table
        return replace(table, about=f"{table.about}; for other columns N = {ratio:.2f}")


def collected(found: dict[str, Interval], n: int, *, exact: str | None) -> Intervals:
    """Intervals of one release together; `exact` says how well it is the original, in another order."""
    columns = {
        name: np.array([float(getattr(each, name)) for each in found.values()])
        for name in ("estimate", "standard_error", "low", "high")
    }
    first = next(iter(found.values()))
    where = "the population" if first.target == "population" else "the original file"
    known = exact if exact is not None and first.target == "file" else "estimated"
    return Intervals(
        list(found), **columns, records=np.full(len(found), n),
        confidence_level=first.confidence_level, target=first.target, about=f"{where}, {known}",
    )  # fmt: skip


def _part(interval: Interval, k: int) -> Interval:
    return interval._replace(
        low=interval.low[k], high=interval.high[k], estimate=interval.estimate[k],
        standard_error=interval.standard_error[k],
    )  # fmt: skip


def _known(scheme: Any) -> str:
    """How well the released values are those of the original."""
    return "exact but for the ends, which are means" if scheme.aggregate_ends else "exact"
