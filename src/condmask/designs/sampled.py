"""Holds a checked design as arrays by record, and computes how sums over its units vary.

Units are the clusters, or the records where there are no clusters. With a_h units in stratum h, of
which N_h are in the population, and T_c the sum of the contributions of unit c, a sum varies over
samples by

    sum_h (1 - a_h/N_h) a_h/(a_h - 1) sum_c (T_c - Tbar_h)^2
  = sum_c g_c T_c^2 - sum_h g_h (sum_c T_c)^2 / a_h,        g_h = (1 - a_h/N_h) a_h/(a_h - 1).

See docs/designs.rst.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.designs.design import Design
from condmask.designs.replicates import check_replicates, factors_of, rank_less_one
from condmask.errors import ArgumentError
from condmask.labels import groups

MAX_LISTED_STRATA = 5  # in a message
Read = Callable[[Any, str, bool], Any]  # a column by value or name, its argument, whether labels


@dataclass(frozen=True, eq=False)
class SampledRecords:
    """How the n records of a file were sampled.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        1 for each where there are none; NaN where one is missing.
    present : ndarray of int8 of shape (n,)
        0 where the design is known, -1 where something is missing.
    unit : ndarray of int of shape (n,) or None
        The number of each record's cluster; None where records were drawn one by one.
    stratum : ndarray of int of shape (n,)
        Of each record; 0 where one is missing.
    stratum_of_unit : ndarray of int of shape (units,) or None
        None where records are units.
    units : ndarray of int of shape (strata,)
        The number of units in each stratum.
    fraction : ndarray of shape (strata,)
        The share of the population's units that was drawn.
    replicates : ndarray of shape (n, replicates) or None
        Replicate weights; 0 where a weight is missing.
    factors : ndarray of shape (replicates,)
        By which squared deviations of replicates are multiplied; those that are 0 do not count.
    mse : bool
    degrees : float or None
        Of freedom; None where units less strata are to be counted.
    weighted : bool
        Whether weights were given.
    """

    weights: np.ndarray
    present: np.ndarray
    unit: np.ndarray | None
    stratum: np.ndarray
    stratum_of_unit: np.ndarray | None
    units: np.ndarray
    fraction: np.ndarray
    replicates: np.ndarray | None
    factors: np.ndarray
    mse: bool
    degrees: float | None
    weighted: bool

    @property
    def factor_of_stratum(self) -> np.ndarray:
        """Return g_h by stratum."""
        rest = np.maximum(self.units - 1.0, 1.0)
        return np.asarray((1.0 - self.fraction) * self.units / rest)


def sampled_records(design: Design, n: int, read: Read) -> SampledRecords:
    """Return a design as arrays of n records; refuse columns that do not fit.

    Parameters
    ----------
    design : Design
    n : int
        The number of records of the file.
    read : callable (given, argument, labels)
        Returns a column that is given by value or by name.
    """
    weights = np.ones(n)
    if design.weights is not None:
        weights = _numbers(read(design.weights, "weights", False), "weights", n)
        _check_weights(weights)
    present = ~np.isnan(weights)
    stratum, strata = _labels(design.strata, "strata", n, read)
    cluster, clusters = _labels(design.clusters, "clusters", n, read)
    present &= (stratum >= 0) & (cluster >= 0)
    if not present.any():
        raise ArgumentError("a design must be known for some records, but each misses something")
    stratum = np.where(present, stratum, 0)
    unit = stratum_of_unit = None
    if design.clusters is None:
        units = np.bincount(stratum[present], minlength=len(strata))
    else:
        pair = np.where(present, stratum * np.int64(len(clusters)) + cluster, -1)
        distinct, unit = np.unique(pair[present], return_inverse=True)
        stratum_of_unit = distinct // len(clusters)
        units = np.bincount(stratum_of_unit, minlength=len(strata))
        of_all = np.full(n, -1, dtype=np.int64)
        of_all[present] = unit
        unit = of_all
    fraction = _fractions(design.population_size, strata, units)
    _refuse_single_units(strata, units, fraction, design)
    replicates, factors = _replicates(design, weights, n, read)
    degrees = design.degrees
    if degrees is None and replicates is not None:
        degrees = rank_less_one(replicates)
    return SampledRecords(
        weights,
        np.where(present, 0, -1).astype(np.int8),
        unit,
        stratum,
        stratum_of_unit,
        units,
        fraction,
        replicates,
        factors,
        design.mse,
        degrees,
        design.weights is not None,
    )


def _numbers(given: ArrayLike, argument: str, n: int) -> np.ndarray:
    """Return a column of numbers of the records."""
    column = np.asarray(frames.column(given, argument).array, dtype=np.float64)
    _checks.same_length(column, argument, n, "z")
    return column


def _check_weights(weights: np.ndarray) -> None:
    negative = np.count_nonzero(weights < 0.0)
    if negative:
        raise ArgumentError(f"weights must not be negative, got {negative} that are")
    if not (weights > 0.0).any():
        raise ArgumentError("weights must not all be 0")


def _labels(
    given: ArrayLike | None, argument: str, n: int, read: Read
) -> tuple[np.ndarray, list[Any]]:
    """Return the number of each record's label, -1 for none, and the labels; one without any."""
    if given is None:
        return np.zeros(n, dtype=np.int64), [""]
    code, names = groups(read(given, argument, True), argument, n)
    if not names:
        raise ArgumentError(f"{argument} must not be missing in all records")
    return np.asarray(code, dtype=np.int64), list(names)


def _fractions(
    size: float | Mapping[Any, float] | None, strata: Sequence[Hashable], units: np.ndarray
) -> np.ndarray:
    """Return the share of the population's units that was drawn, by stratum."""
    if size is None:
        return np.zeros(units.size)
    if isinstance(size, Mapping):
        lost = [label for label in strata if label not in size]
        rule = "population_size must have the size of each stratum"
        if lost:
            raise ArgumentError(f"{rule}, it lacks {_listed(lost)}")
        sizes = np.array([float(size[label]) for label in strata])
    else:
        sizes = np.array([float(size)])
    few = [k for k in range(units.size) if units[k] > sizes[k]]
    if few:
        k = few[0]
        where = f" in stratum {strata[k]!r}" if isinstance(size, Mapping) else ""
        raise ArgumentError(
            f"population_size must be at least the number of sampled units{where}, {units[k]}, "
            f"got {sizes[k]:g}"
        )
    return np.asarray(units / sizes)


def _refuse_single_units(
    strata: Sequence[Hashable], units: np.ndarray, fraction: np.ndarray, design: Design
) -> None:
    """Refuse strata with one unit, which do not say how units vary, unless it was drawn for
    sure."""
    one = (units == 1) & (fraction < 1.0)
    single = [strata[k] for k in np.flatnonzero(one).tolist()]
    if not single or design.replicate_weights is not None:
        return
    kind = "clusters" if design.clusters is not None else "records"
    if design.strata is None:
        raise ArgumentError(f"a design must have at least two {kind}, got one")
    raise ArgumentError(
        f"strata must have at least two {kind} each, got one in {_listed(single)}: join such a "
        "stratum with a similar one"
    )


def _listed(labels: Sequence[Hashable]) -> str:
    shown = ", ".join(map(repr, labels[:MAX_LISTED_STRATA]))
    more = len(labels) - MAX_LISTED_STRATA
    return shown + (f" and {more} more" if more > 0 else "")


def _replicates(
    design: Design, weights: np.ndarray, n: int, read: Read
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return replicate weights of shape (n, replicates) and their factors; None without any."""
    given: Any = design.replicate_weights
    if given is None:
        return None, np.zeros(0)
    argument = "replicate_weights"
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        columns = [_numbers(read(name, argument, False), argument, n) for name in given]
    elif isinstance(given, dict) or frames.is_frame(given):
        names = frames.column_names(given)
        columns = [_numbers(frames.table_column(given, name), name, n) for name in names]
    else:
        columns = _columns_of_array(given, n)
    if len(columns) < 2:
        raise ArgumentError(f"{argument} must have at least two columns, got {len(columns)}")
    replicates = np.column_stack(columns)
    check_replicates(weights, replicates, design.method)
    rscales = None if design.rscales is None else _checks.reals(design.rscales, "rscales").ravel()
    factors = factors_of(design.method, design.fay, design.scale, rscales, len(columns))
    return np.where(np.isnan(weights)[:, None], 0.0, replicates), factors


def _columns_of_array(given: ArrayLike, n: int) -> list[np.ndarray]:
    array = _checks.column(given, "replicate_weights", dimensions=(2,), least=0)
    if len(array) != n:
        raise ArgumentError(
            f"replicate_weights must have a row for each of the {n} records, got {len(array)} rows"
        )
    return list(array.T)
