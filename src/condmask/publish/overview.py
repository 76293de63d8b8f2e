"""Tables of all masked columns of a release: summaries and correlations."""

from collections.abc import Mapping, Sequence

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.estimates.estimate import Estimate
from condmask.estimates.results import Intervals
from condmask.inference.interval import (
    TARGETS,
    Interval,
    Target,
    check_interval_options,
)

QUARTILES = (0.25, 0.5, 0.75)


class Overview(Mapping[str, Estimate]):
    """Makes tables of all masked columns of a release."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        raise NotImplementedError

    def summary(
        self,
        quantiles: Sequence[float] = QUARTILES,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Estimate mean, standard deviation and quantiles of each masked column.

        Parameters
        ----------
        quantiles : sequence of float
            Probabilities.
        confidence_level, target
            As for `Estimate.summary`.

        Returns
        -------
        Intervals
            By column and statistic: ``release.summary()["income", "mean"]``.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> import condmask as cm
        >>> frame = pd.DataFrame({"x": np.random.default_rng(1).normal(100.0, 15.0, 5_000)})
        >>> release = cm.mask_table(frame, {"x": cm.ConditionalMasking(0.6, 10.0)}, rng=2)
        >>> list(release.summary([0.5]))
        [('x', 'mean'), ('x', 's.d.'), ('x', 'quantile 0.5')]
        """
        level, target = check_interval_options(confidence_level, target)
        return summary_of(self, quantiles, level, target)

    def describe(self) -> Intervals:
        """Return mean, standard deviation and quartiles of each masked column: `summary` under the
        name of data frames."""
        return self.summary()

    def correlations(
        self,
        others: str | Sequence[str] = (),
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Estimate the correlations of masked columns with each other and with columns in clear.

        Parameters
        ----------
        others : str or sequence of str
            The columns in clear.
        confidence_level, target
            As for `Estimate.correlation_interval`.

        Returns
        -------
        Intervals
            By pair of columns: ``release.correlations("age")["income", "age"]``. Of columns that
            were masked together by reverse mapping the ends are not known.

        Raises
        ------
        ValueError
            If there is no pair, or the release lacks a column.

        Warns
        -----
        EstimateWarning
            As for `Estimate.correlation_interval`.
        """
        level, target = check_interval_options(confidence_level, target)
        names = checked_others(others, self.columns)
        return correlations_of(self, names, level, target)


def summary_of(
    release: Mapping[str, Estimate], quantiles: Sequence[float], level: float, target: Target
) -> Intervals:
    """Return mean, standard deviation and quantiles of each masked column."""
    names: list[tuple[str, str]] = []
    found: list[Interval] = []
    records: list[int] = []
    for column, estimate in release.items():
        of_column = estimate.summary(quantiles, confidence_level=level, target=target)
        for statistic, interval in of_column.items():
            names.append((column, statistic))
            found.append(interval)
            records.append(estimate.n)
    return _table(names, found, records, "statistics", ("column", "statistic"), level, target)


def correlations_of(
    release: Mapping[str, Estimate], others: Sequence[str], level: float, target: Target
) -> Intervals:
    """Return the correlations of masked columns with each other and with others in clear."""
    masked = list(release)
    pairs = [(one, two) for k, one in enumerate(masked) for two in masked[k + 1 :]]
    pairs += [(one, other) for one in masked for other in others if other not in release]
    if not pairs:
        raise ArgumentError(
            "others must name columns in clear where one column is masked, got none"
        )
    found = []
    records = []
    for one, two in pairs:
        other = release.get(two, two)
        found.append(
            release[one].correlation_interval(other, confidence_level=level, target=target)
        )
        records.append(release[one].n)
    return _table(pairs, found, records, "correlations", ("column", "other"), level, target)


def checked_others(others: str | Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the names of other columns; refuse those that the release does not have."""
    names = list(_checks.names([others] if isinstance(others, str) else others, "others"))
    for name in names:
        rule = f"others must be columns of the release, {_checks.listed(columns)}"
        _checks.require(name in columns, rule, name)
    return names


def _table(
    names: list[tuple[str, str]],
    found: list[Interval],
    records: list[int],
    quantity: str,
    by: tuple[str, str],
    level: float,
    target: Target,
) -> Intervals:
    low, high, error, estimate = (
        np.array([getattr(one, field) for one in found], dtype=np.float64)
        for field in ("low", "high", "standard_error", "estimate")
    )
    notes = np.array([str(one.note) for one in found], dtype=object)
    about = f"{quantity} {TARGETS[target]}"
    counts = np.array(records)
    return Intervals(names, low, high, error, estimate, level, target, about, counts, by, notes)
