"""Reads the arguments of statistics of groups, and makes the groups of the records."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.domains.basis import Basis
from condmask.domains.domains import Domains, Group
from condmask.domains.mapped_basis import MappedBasis
from condmask.domains.noise_basis import NoiseBasis
from condmask.errors import ArgumentError
from condmask.estimates.linear_arguments import LinearArguments
from condmask.grid import default_step, grid_of
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Target, UndefinedError
from condmask.labels import groups
from condmask.linear.groups import cross_groups
from condmask.linear.variance import IntervalOptions
from condmask.strata import values_by_pool

WHOLE = 1e-12  # of a share, by which a whole pool may miss 1


class Request(NamedTuple):
    """Groups of records, and how their statistics are to be given.

    Attributes
    ----------
    domains : Domains
    names : list
        The labels of the groups.
    groups : list of Group or None
        None where a group has no record or no weight.
    everyone : Group
        All records, by the same weights.
    options : IntervalOptions
    columns : tuple of str
        The names of the columns of labels.
    records : ndarray of shape (groups,)
        The number of records behind each group.
    code : ndarray of shape (rows,)
        The group of each record, -1 for none.
    plain : bool
        Whether records have equal weights, and were sampled one by one.
    left_out : str
        How many records miss something, in words.
    """

    domains: Domains
    names: list[Any]
    groups: list[Group | None]
    everyone: Group
    options: IntervalOptions
    columns: tuple[str, ...]
    records: np.ndarray
    code: np.ndarray
    plain: bool
    left_out: str

    def degrees(self, group: Group) -> float:
        """Return the degrees of freedom about the population."""
        clusters = self.domains.clusters
        if clusters is None:
            return group.records - 1.0
        return clusters.number(group.coefficients) - 1.0

    def is_whole(self, group: Group) -> bool:
        """Return whether a group consists of whole donor pools."""
        parts = [
            float(group.coefficients @ pool.total) / (group.coefficients.max() * pool.total.sum())
            for pool in self.domains.pools
        ]
        return self.plain and all(part < WHOLE or part > 1.0 - WHOLE for part in parts)


class DomainArguments(LinearArguments):
    """Makes groups of records, for distributions and not only for means."""

    @cached_property
    def _bases(self) -> list[tuple[Basis, np.ndarray]]:
        """Return the basis of each donor pool with the rows of its records; kept."""
        self._refuse_additive()
        records = self.records
        z = records.z
        if self.scheme.reverse_mapping:
            mapped: Any = self.estimator.pseudo_values  # of a `ReverseMappedEstimator`
            return [self._mapped_basis(mapped, number, z) for number in range(len(mapped.pools))]
        _, masking, law = self.gridded
        grid = law.grid or grid_of(default_step(law.sigma))
        found: list[tuple[Basis, np.ndarray]] = []
        for rows, values in values_by_pool(z, records.pools()):
            at = np.arange(z.size)[rows]
            found.append((NoiseBasis(grid.units(values), grid, masking), at))
        return found

    def _mapped_basis(self, mapped: Any, number: int, z: np.ndarray) -> tuple[Basis, np.ndarray]:
        mapping, cells, _ = mapped.pools[number]
        rows = np.flatnonzero((mapped.cell >= cells.start) & (mapped.cell < cells.stop))
        values = mapped.origin + mapped.unit * mapped.means[cells]
        if np.any(np.diff(mapped.means[cells]) < 0.0):
            raise ArgumentError(
                "distributions of groups need an increasing function of the column, got one that "
                "falls somewhere: estimate those of the column itself, or means of the function "
                "by group_means"
            )
        cell = mapped.cell[rows] - cells.start
        basis = MappedBasis(z[rows], cell, values, mapped.counts[cells], mapping, mapped.p)
        return basis, rows

    def _request(
        self,
        labels: ColumnsLike | None,
        weights: ArrayLike | None,
        clusters: ArrayLike | None,
        target: Target,
        confidence_level: float,
        population_size: float | None,
    ) -> Request:
        """Return the groups that arguments describe; None for labels is one group of all."""
        given = {"labels": labels, "weights": weights, "clusters": clusters}
        self._refuse_other_order(**{name: one for name, one in given.items() if one is not None})
        options = self._options(confidence_level, target, clusters, population_size)
        size = self.records.size
        if options.population_size < size:
            rule = f"population_size must be at least the number of records, {size}"
            raise ArgumentError(f"{rule}, got {options.population_size:g}")
        code, names, columns = self._coded(labels, size)
        w = None if weights is None else self._sampling_weights(weights)
        missing = np.zeros(size, bool) if w is None else np.isnan(w)
        if options.clusters is not None:
            missing |= options.clusters < 0
        if missing.any():  # such records still are donors of others
            w = np.where(missing, 0.0, 1.0 if w is None else w)
        code = np.where(missing | np.isnan(self.records.z), -1, code)
        return self._grouped(code, names, columns, w, options)

    def _grouped(
        self,
        code: np.ndarray,
        names: list[Any],
        columns: tuple[str, ...],
        w: np.ndarray | None,
        options: IntervalOptions,
    ) -> Request:
        count = len(names)
        domains = Domains(
            self._bases,
            np.where(code < 0, count, code),  # the last one has no group
            count + 1,
            w,
            shared_donors=self.scheme.shared_donors,
            clusters=_without_gaps(options),
        )
        records = np.bincount(code[code >= 0], minlength=count)
        total = np.sum([pool.total for pool in domains.pools], axis=0)[:count]
        if not total.sum() > 0.0:
            none = "weights must not all be 0" if records.any() else "labels must not be missing"
            raise ArgumentError(f"{none} where z has a value")
        return Request(
            domains,
            names,
            [domains.group(k) if total[k] > 0.0 else None for k in range(count)],
            domains.group(np.arange(count + 1)),
            options,
            columns,
            records,
            code,
            w is None and options.clusters is None and np.isinf(options.population_size),
            self._left_out(int(records.sum())),
        )

    def _coded(
        self, labels: ColumnsLike | None, size: int
    ) -> tuple[np.ndarray, list[Any], tuple[str, ...]]:
        """Return the group of each record, the labels of the groups, and the names of columns."""
        if labels is None:
            return np.zeros(size, np.int64), [""], ()
        columns = self._label_columns(labels)
        coded = [groups(column, "labels", size) for column in columns.values()]
        code, names = coded[0] if len(coded) == 1 else cross_groups(coded)
        if not names:
            raise ArgumentError("labels must give at least one record a group, got none")
        return np.asarray(code), list(names), tuple(columns)

    def _sampling_weights(self, weights: ArrayLike) -> np.ndarray:
        """Return weights as numbers, none negative."""
        given = self._by_name(weights, "weights")
        w = frames.column(given, "weights").array.astype(np.float64)
        _checks.same_length(w, "weights", self.records.size, "z")
        if np.nanmin(w, initial=0.0) < 0.0:
            raise ArgumentError(f"weights must not be negative, got {np.nanmin(w):g}")
        return np.asarray(w)


def _without_gaps(options: IntervalOptions) -> np.ndarray | None:
    """Return the clusters of records; one whose cluster is missing, which has no weight, is one by
    itself."""
    code = options.clusters
    if code is None:
        return None
    return np.asarray(np.where(code < 0, options.cluster_count + np.arange(code.size), code))


def nothing_known(request: Request, notes: list[str]) -> UndefinedError:
    """Return the error of a call in which no group has an estimate."""
    why = ", ".join(dict.fromkeys(notes))
    subject = "labels must make groups" if request.columns else "z must have records"
    count = f"{len(notes)} groups" if len(notes) > 1 else "1 group"
    return UndefinedError(f"{subject} that say more: no estimate of {count}, for each is {why}")
