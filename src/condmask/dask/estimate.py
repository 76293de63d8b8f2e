"""Estimates from released data that Dask holds, with the same methods as on one machine."""

import os
from functools import partial
from typing import Any

import numpy as np
from dask.dataframe import DataFrame

from condmask import _checks
from condmask._blocks import Workers
from condmask.dask.columns import DaskColumn, DaskTable, numbers
from condmask.dask.counting import counts
from condmask.dask.pools import donor_pools
from condmask.engines.counting import ValueCounts, merged
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.constructors import counted_sample
from condmask.estimates.counts import MOST_POINTS
from condmask.estimates.estimate import Estimate
from condmask.files.metadata import Published
from condmask.law import Law
from condmask.missing_codes import released_codes
from condmask.releases.read import published_with
from condmask.releases.release import Release
from condmask.samples.counted import CountedSample
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.records import Records
from condmask.strata import names_of


def estimate(ddf: Any, release: Any, *, most_points: int = MOST_POINTS) -> Release:
    """Estimates from a release whose data are a Dask frame of any length.

    Parameters
    ----------
    ddf : DataFrame of Dask
        The released data, or columns of them, with pandas partitions.
    release : Release or path
        The release as it was made or read, or the path of its file or folder.
    most_points : int
        The most points of the counts by value, from which distribution function, moments and quantiles are
        computed; see `counts`.

    Returns
    -------
    Release
        Its columns work as on one machine: ``estimate(ddf, release)["income"].regress(["age"])``. Other
        columns are given by name; add one that is yet to be computed to the frame first.

    Raises
    ------
    TypeError
        If `ddf` is not a data frame of Dask.
    ValueError
        If the path has no release, or the frame lacks a column.

    Notes
    -----
    No column comes to the client, only counts by value, and sums by donor pool, group and cluster. Each
    statistic goes over the columns it needs a few times; call ``ddf.persist()`` first, so that they are not
    read again. Results do not depend on workers or retries, and on partitions only by rounding.

    A column masked without a grid (``step=0``), or with added noise alone, is not available here: estimate it
    on one machine. Nor is `part`; but a frame of whole strata can be used. Beyond `most_points` points the
    counts are rounded (see `counts`), which affects distribution function, moments and quantiles, but not
    statistics with other columns. `pseudo_values` gives a series of Dask.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> import condmask.dask
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"age": rng.uniform(20, 65, 20_000)})
    >>> frame["income"] = 1000 + 30 * frame["age"] + rng.normal(0, 400, 20_000)
    >>> release = cm.mask_table(frame, {"income": cm.ConditionalMasking(0.6, 300.0)}, rng=2)
    >>> found = cm.dask.estimate(dd.from_pandas(release.data, npartitions=4), release)
    >>> slope = found["income"].regress(["age"])["age"]
    >>> bool(slope.low < 30 < slope.high)
    True
    >>> found["income"].median() == release["income"].median()
    True
    """
    if not isinstance(ddf, DataFrame):
        raise ArgumentTypeError(f"ddf must be a data frame of Dask, got {type(ddf).__name__}")
    if isinstance(release, Release):
        published = release._published
    elif isinstance(release, str | os.PathLike):
        published = published_with(release)
    else:
        raise ArgumentTypeError(f"release must be a Release or the path of one, got {type(release).__name__}")
    points = _checks.whole(most_points, "most_points", least=2)
    return Release(published, columns=DaskColumns(DaskTable(ddf), points))


class DaskColumns:
    """The columns of a Dask frame.

    Parameters
    ----------
    table : DaskTable
    most_points : int
        Of the counts of a masked column.
    """

    def __init__(self, table: DaskTable, most_points: int) -> None:
        self._table, self._most_points = table, most_points

    def numbers(self, name: str) -> DaskColumn:
        """The handle of a column."""
        return self._table.named(name)

    def labels(self, name: str) -> DaskColumn:
        """The handle of a column."""
        return self._table.named(name)

    def estimate(self, name: str, published: Published, workers: Workers) -> tuple[Estimate, int]:
        """The estimate of a masked column, and the number of its records."""
        scheme, origin = published.schemes[name], published.origins[name]
        if not scheme.estimators:
            scheme.estimate(None)  # refuses
        if (scheme.law is None or scheme.law.grid is None) and not scheme.reverse_mapping:
            raise ArgumentError(
                f"{name} must have a scheme with a grid, or with reverse mapping, for estimates from a Dask "
                f"frame, got {scheme!r}; estimate it on one machine"
            )
        z = self._masked(name, published)
        found = counts(self._table.frame[name], scheme, most_points=self._most_points, origin=origin)
        sample = counted_sample(scheme, found, workers)
        patterns = [self._masked(other, published) for other in origin.patterns]
        pool = donor_pools(self._table, scheme, names_of(scheme.strata), z, patterns)
        made = Estimate(scheme, sample, records=DaskRecords(z, pool, self._most_points), origin=origin)
        made._named_alone = True
        return made, z.size

    def _masked(self, name: str, published: Published) -> DaskColumn:
        """A masked column, NaN where it has no value."""
        made = partial(numbers, name, "z", released_codes(published.schemes[name]))
        return self._table.column([name], made)


class DaskRecords(Records):
    """The masked values and donor pools of a Dask frame, as handles."""

    elsewhere = True

    def __init__(self, z: DaskColumn, pool: DaskColumn | None, most_points: int) -> None:
        super().__init__(lambda: z, None if pool is None else lambda _: pool)
        self._most_points = most_points

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentTypeError(
            "estimates of a Dask frame cannot be pickled: make them again with condmask.dask.estimate"
        )

    def samples_by_pool(self, law: Law) -> list[MaskedSample]:
        """The records by pool; none where these are on more points than are counted."""
        z, pool = self.z, self.pool
        found = z.complete([z]).fold(
            partial(_counted, z, pool, law, self._most_points), ({}, True), partial(_both, self._most_points)
        )
        by_pool, counted = found
        return [CountedSample(by_pool[own], law) for own in sorted(by_pool)] if counted else []


_ByPool = tuple[dict[int, ValueCounts], bool]  # and whether all were counted


def _counted(z: DaskColumn, pool: DaskColumn, law: Law, most: int, found: _ByPool, rows: Any) -> _ByPool:
    units, code = law.to_units(rows.of(z)), rows.of(pool)
    own = {
        int(number): ValueCounts(*np.unique(units[code == number], return_counts=True))
        for number in np.unique(code)
    }
    return _both(most, found, (own, True))


def _both(most: int, one: _ByPool, other: _ByPool) -> _ByPool:
    if not (one[1] and other[1]):
        return {}, False
    both = {own: merged([one[0][own], other[0][own]]) for own in one[0].keys() & other[0].keys()}
    counts_by_pool = {**one[0], **other[0], **both}
    if sum(counts.values.size for counts in counts_by_pool.values()) > most:
        return {}, False
    return counts_by_pool, True
