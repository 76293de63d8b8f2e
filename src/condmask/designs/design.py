"""Describes how the records of a file were sampled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.designs.replicates import METHODS, Method, check_factors
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.row_labels import refuse_other_order

# the columns of replicate weights: an array or a frame of shape (n, replicates), or their names
ReplicatesLike = ArrayLike | Mapping[str, ArrayLike] | Sequence[str]
COLUMNS = ("weights", "clusters", "strata", "replicate_weights")


@dataclass(frozen=True, eq=False)
class Design:
    """How the records were sampled: weights, clusters, strata, or replicate weights.

    Columns are given by value or, where a file was read, by name. `Estimate.with_design` and
    ``read_release(path, column, design=design)`` give the estimates that take it.

    Parameters
    ----------
    weights : array_like of shape (n,) or str, optional
        How many members of the population each record stands for; not negative, not all 0.
    clusters : array_like of shape (n,) or str, optional
        The unit of the first stage, where clusters and not records were drawn. Clusters are
        nested in strata: the same label in two strata means two clusters.
    strata : array_like of shape (n,) or str, optional
        Within which records or clusters were drawn independently. Each has at least two.
    population_size : float or dict, optional
        How many units of the first stage (clusters where there are any, else records) the
        population has; with strata a dict by label. Without it, draws count as with replacement.
    replicate_weights : array_like or data frame of shape (n, replicates), or list of str, optional
        Complete weights, in place of clusters and strata.
    method : {"bootstrap", "BRR", "Fay", "JK1", "JKn"}, optional
        How these were made. Squared deviations of the replicates are multiplied by 1/R, 1/R,
        1/(R (1 - fay)^2), (R - 1)/R, and 1; R is their number.
    fay : float, optional
        The factor of Fay's method, in (0, 1): halves have the weights times fay and 2 - fay.
    scale : float, optional
        A multiplier in place of that of the method.
    rscales : array_like of shape (replicates,), optional
        A multiplier for each replicate; JKn needs it, (n_h - 1)/n_h for a stratum of n_h clusters.
    mse : bool
        Whether deviations are taken about the estimate with the full weights, and not about the
        mean of the replicates.
    degrees : float, optional
        Degrees of freedom. By default clusters (records) less strata; of replicate weights, their
        rank less 1.

    Raises
    ------
    ValueError
        If options contradict each other, or the indexes of two columns order the rows differently.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> rng = np.random.default_rng(1)
    >>> district = np.repeat(np.arange(200), 20)
    >>> income = rng.normal(100.0, 15.0, 4_000) + rng.normal(0.0, 6.0, 200)[district]
    >>> scheme = cm.ConditionalMasking(0.3, 10.0)
    >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
    >>> design = cm.Design(clusters=district, strata=district % 4)
    >>> found = estimate.with_design(design).mean_interval()
    >>> bool(found.low < 100.0 < found.high)
    True
    >>> bool(found.standard_error > 1.4 * estimate.mean_interval().standard_error)
    True
    """

    weights: ArrayLike | str | None = None
    clusters: ArrayLike | str | None = None
    strata: ArrayLike | str | None = None
    population_size: float | Mapping[Any, float] | None = None
    replicate_weights: ReplicatesLike | None = None
    method: Method | None = None
    fay: float | None = None
    scale: float | None = None
    rscales: ArrayLike | None = None
    mse: bool = True
    degrees: float | None = None

    def __post_init__(self) -> None:
        _checks.boolean(self.mse, "mse")
        if all(getattr(self, name) is None for name in (*COLUMNS, "population_size")):
            raise ArgumentError(f"a design must have one of {', '.join(COLUMNS)}")
        if self.degrees is not None:
            _checks.positive(self.degrees, "degrees")
        given = {name: getattr(self, name) for name in COLUMNS}
        refuse_other_order({name: one for name, one in given.items() if one is not None})
        self._check_population_size()
        if self.replicate_weights is None:
            self._refuse_options_of_replicates()
        else:
            self._check_replicates()

    def __repr__(self) -> str:
        given = []
        for name in (*COLUMNS, "population_size", "method", "fay", "scale"):
            value = getattr(self, name)
            if value is not None:
                given.append(f"{name}={_checks.in_message(value)}")
        return f"Design({', '.join(given)})"

    def _check_population_size(self) -> None:
        size = self.population_size
        if size is None:
            return
        if isinstance(size, Mapping):
            for label, of_stratum in size.items():
                _checks.positive(of_stratum, f"population_size[{label!r}]")
            rule = "population_size must be a number where there are no strata"
            _checks.require(self.strata is not None, rule, size)
            return
        _checks.positive(size, "population_size")
        rule = "population_size must be a dict by stratum where there are strata"
        _checks.require(self.strata is None, rule, size)

    def _refuse_options_of_replicates(self) -> None:
        for name in ("method", "fay", "scale", "rscales"):
            value = getattr(self, name)
            rule = f"{name} must be left out where there are no replicate_weights"
            _checks.require(value is None, rule, value)

    def _check_replicates(self) -> None:
        for name in ("clusters", "strata", "population_size"):
            value = getattr(self, name)
            rule = f"{name} must be left out with replicate_weights, which contain the design"
            _checks.require(value is None, rule, value)
        if isinstance(self.replicate_weights, str):
            raise ArgumentTypeError(
                "replicate_weights must be an array, a data frame or a list of names of columns, "
                f"got {self.replicate_weights!r}"
            )
        if self.weights is None:
            raise ArgumentError("weights must be given with replicate_weights")
        if self.method is None and self.scale is None:
            allowed = ", ".join(map(repr, METHODS))
            raise ArgumentError(
                f"method must be one of {allowed}, or scale be given, with replicate_weights"
            )
        rscales = None
        if self.rscales is not None:
            rscales = np.atleast_1d(_checks.reals(self.rscales, "rscales"))
        check_factors(self.method, self.fay, self.scale, rscales)
