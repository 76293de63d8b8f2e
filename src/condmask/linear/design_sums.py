r"""Computes how weighted sums and fits of pseudo-values vary under a sampling design.

A statistic is ``sum l_i Zt_i``, with l_i = w_i for totals and, for means and regressions on rows
x_i, ``l_i = C (sum w x x')^-1 x_i w_i``; a mean has the row 1. Its variance about the file, F, is
the masking's alone. Over samples it varies by Q, the variance of sums of units of the
contributions ``u_i = l_i r_i``, r_i the residuals. Pseudo-values carry the masking of their
records, independent between these, so Q holds ``M = sum (1 - f_h) l_i^2 v_i / f^2`` of it besides
the sampling of originals, and F already counts the masking once:

    variance about the population = F + (Q - M).

With replicate weights the statistic of replicate r less that of the full weights is ``sum d_ri
Zt_i``, which is known, and Q = sum_r c_r (sum_i d_ri Zt_i)^2 holds M = sum_r c_r sum_i d_ri^2 v_i
/ f^2. Since Q - M has the error of both, it is taken as at least e + min(e, the same for records),
e = sqrt(2/degrees) (M - F), where units are not the records: without masking this bound is 0.

See docs/designs.rst.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from condmask.designs.sampled import SampledRecords
from condmask.errors import ArgumentError
from condmask.linear.chunks import Chunk, Chunks, summed
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.variance import variances_of_sums

Kind = Literal["fit", "groups", "total"]


class Statistics(NamedTuple):
    """Describes sums or fits of the pseudo-values.

    Attributes
    ----------
    rows : callable
        Returns x of the records of a chunk, of shape (p, m).
    combined : ndarray of shape (statistics, p)
        By which coefficients are combined to statistics.
    shift : float
        Is added to the pseudo-values.
    kind : {"fit", "groups", "total"}
        Of groups, each record has one entry of x that is not 0; a total is not divided.
    """

    rows: Callable[[Chunk], np.ndarray]
    combined: np.ndarray
    shift: float
    kind: Kind


class DesignVariances(NamedTuple):
    """Holds estimates with their variances, of shape (statistics,) each, in units of the
    pseudo-values.

    Attributes
    ----------
    estimate : ndarray
    file : ndarray
        The variance about the file.
    sampled : ndarray
        What sampling adds to it about the population.
    degrees : ndarray
        Degrees of freedom about the population.
    """

    estimate: np.ndarray
    file: np.ndarray
    sampled: np.ndarray
    degrees: np.ndarray


class DesignSums:
    """Computes statistics with the full weights and with replicate weights.

    Parameters
    ----------
    pseudo : PseudoValues
    chunks : Chunks
        The records that are used.
    design : SampledRecords
    statistics : Statistics
    """

    def __init__(
        self,
        pseudo: PseudoValues,
        chunks: Chunks,
        design: SampledRecords,
        statistics: Statistics,
    ) -> None:
        self._pseudo = pseudo
        self._chunks = chunks
        self._design = design
        self._statistics = statistics
        products, along, of_pools = chunks.fold(self._products)
        inverse = self._inverses(products)
        self._known = np.ones((1 + design.factors.size, len(statistics.combined)), dtype=bool)
        if statistics.kind == "groups":  # those without a weight have no mean
            uses = statistics.combined != 0.0
            self._known = ~((products <= 0.0) @ uses.T)
        self._coefficients = np.einsum("rij,rj->ri", inverse, along)
        self._turned = np.einsum("sp,rpq->rsq", statistics.combined, inverse)
        self._of_pools = self._turned[0] @ of_pools

    def variances(self) -> DesignVariances:
        """Return the estimates with their variances."""
        (file, _), _ = variances_of_sums(
            self._pseudo, self._chunks, self._of_pools, self._weights_alone
        )
        by_records = self._by_records()
        found = by_records
        if self._design.replicates is not None:
            found = self._by_replicates()
        elif self._design.unit is not None:
            found = self._by_units(by_records.masked)
        sampled = np.maximum(found.squares - found.masked, 0.0)
        if found is not by_records:
            of_records = np.maximum(by_records.squares - by_records.masked, 0.0)
            error = np.sqrt(2.0 / np.maximum(found.degrees, 1.0))
            error = error * np.maximum(found.masked - file, 0.0)
            sampled = np.maximum(sampled, error + np.minimum(error, of_records))
        estimate = self._statistics.combined @ self._coefficients[0]
        estimate = np.where(self._known[0], estimate, np.nan)
        sampled = np.where(self._known.all(axis=0), sampled, np.nan)
        return DesignVariances(estimate, file, sampled, self._lowered(found.degrees))

    # --- private ---

    def _lowered(self, degrees: np.ndarray) -> np.ndarray:
        """Return degrees of freedom less the number of further coefficients of a fit."""
        if self._statistics.kind != "fit":
            return degrees
        return np.asarray(np.maximum(degrees + 1.0 - self._coefficients.shape[1], 0.0))

    def _all_weights(self, chunk: Chunk) -> np.ndarray:
        """Return the full and the replicate weights of a chunk, of shape (1 + replicates, m)."""
        design = self._design
        full = design.weights[chunk.rows][None]
        if design.replicates is None:
            return full
        return np.concatenate([full, design.replicates[chunk.rows].T])

    def _products(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, of all weights, the sums of w x x' and w x Zt; and w x by pool of the full
        ones."""
        x = self._statistics.rows(chunk)
        weights = self._all_weights(chunk)
        weighted = weights[:, None, :] * x
        along = weighted @ self._values(chunk)
        of_pools = chunk.by_pool(weighted[0], self._pseudo.size.size)
        if self._statistics.kind == "total":
            return np.zeros(()), along, of_pools
        if self._statistics.kind == "groups":
            return weighted.sum(axis=-1), along, of_pools
        return weighted @ x.T, along, of_pools

    def _inverses(self, products: np.ndarray) -> np.ndarray:
        """Return for all weights the matrix that turns sums into coefficients, (r, p, p)."""
        count = 1 + self._design.factors.size
        size = self._statistics.combined.shape[1]
        if self._statistics.kind == "total":
            return np.asarray(np.broadcast_to(np.eye(size), (count, size, size)))
        if self._statistics.kind == "groups":
            parts = np.divide(1.0, products, out=np.zeros(products.shape), where=products > 0.0)
            inverse = np.zeros((count, size, size))
            inverse[:, range(size), range(size)] = parts
            return inverse
        try:
            return np.asarray(np.linalg.inv(products))
        except np.linalg.LinAlgError:
            raise ArgumentError(
                "W must have no column that is determined by the others with any of the weights"
            ) from None

    def _values(self, chunk: Chunk) -> np.ndarray:
        return np.asarray(self._pseudo.values(chunk) + self._statistics.shift)

    def _factors(self, chunk: Chunk, replicate: int = 0) -> np.ndarray:
        """Return the factors l of the pseudo-values, of shape (statistics, m)."""
        x = self._statistics.rows(chunk)
        if replicate:
            replicates = self._design.replicates
            assert replicates is not None
            weights = replicates[chunk.rows, replicate - 1]
        else:
            weights = self._design.weights[chunk.rows]
        return np.asarray((self._turned[replicate] @ x) * weights)

    def _weights_alone(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        factors = self._factors(chunk)
        return factors, np.zeros(factors.shape)

    def _contributions(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors l, and these times the residuals."""
        factors = self._factors(chunk)
        residual = self._values(chunk)
        if self._statistics.kind != "total":
            residual = residual - self._coefficients[0] @ self._statistics.rows(chunk)
        return factors, factors * residual

    def _masked(self, chunk: Chunk, factors: np.ndarray) -> np.ndarray:
        """Return the sums of squared factors times the variances of pseudo-values."""
        v, _ = self._pseudo.spread(chunk)
        return np.asarray(factors**2 @ (v / chunk.of_pool(self._pseudo.factor) ** 2))

    def _by_records(self) -> "Sampling":
        """Return how the statistics vary if records were drawn one by one within strata."""
        design = self._design
        strata = design.units.size

        def step(chunk: Chunk) -> tuple[np.ndarray, ...]:
            factors, contributions = self._contributions(chunk)
            stratum = design.stratum[chunk.rows]
            in_population = np.sqrt(1.0 - design.fraction[stratum])
            return (
                summed(contributions**2, stratum, strata),
                summed(contributions, stratum, strata),
                summed((factors != 0.0).astype(np.float64), stratum, strata),
                self._masked(chunk, factors * in_population),
            )

        squares, sums, used, masked = self._chunks.fold(step, cells=strata)
        size = np.maximum(used if design.unit is not None else design.units, 2.0)
        factor = (1.0 - design.fraction) * size / (size - 1.0)
        found = (factor * (squares - sums**2 / size)).sum(axis=1)
        return Sampling(found, masked, self._degrees(used))

    def _by_units(self, masked: np.ndarray) -> "Sampling":
        """Return how the statistics vary where clusters were drawn within strata."""
        design = self._design
        unit = design.unit
        of_unit = design.stratum_of_unit
        assert unit is not None
        assert of_unit is not None

        def step(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
            factors, contributions = self._contributions(chunk)
            code = unit[chunk.rows]
            used = summed((factors != 0.0).astype(np.float64), code, of_unit.size)
            return summed(contributions, code, of_unit.size), used

        sums, used = self._chunks.fold(step, cells=of_unit.size)
        factor = design.factor_of_stratum
        strata = design.units.size
        of_strata = summed(sums, of_unit, strata)
        squares = sums**2 @ factor[of_unit] - of_strata**2 @ (factor / np.maximum(design.units, 1))
        occurs = summed((used > 0.0).astype(np.float64), of_unit, strata)
        return Sampling(squares, masked, self._degrees(occurs))

    def _by_replicates(self) -> "Sampling":
        """Return how the statistics vary between replicates."""
        design = self._design
        counted = np.flatnonzero(design.factors > 0.0)
        by_replicate = self._coefficients @ self._statistics.combined.T
        middle = by_replicate[0] if design.mse else by_replicate[1 + counted].mean(axis=0)
        factors = design.factors[counted]
        squares = factors @ (by_replicate[1 + counted] - middle) ** 2

        def step(chunk: Chunk) -> tuple[np.ndarray]:
            of_replicates = [self._factors(chunk, 1 + r) for r in counted.tolist()]
            about = self._factors(chunk) if design.mse else np.mean(of_replicates, axis=0)
            sums = [self._masked(chunk, each - about) for each in of_replicates]
            return (factors @ np.array(sums),)

        (masked,) = self._chunks.fold(step)
        return Sampling(squares, masked, np.full(squares.size, design.degrees))

    def _degrees(self, used: np.ndarray) -> np.ndarray:
        """Return the units that a statistic uses less their strata, given their numbers by stratum
        in rows; or the known degrees of freedom."""
        known = self._design.degrees
        if known is not None:
            return np.full(len(used), known)
        return np.asarray(used.sum(axis=-1) - np.count_nonzero(used, axis=-1), dtype=np.float64)


class Sampling(NamedTuple):
    """Holds how statistics vary over samples, masking included.

    Attributes
    ----------
    squares : ndarray of shape (statistics,)
        Their variance over samples.
    masked : ndarray
        The part of it that masking makes.
    degrees : ndarray
        Of freedom.
    """

    squares: np.ndarray
    masked: np.ndarray
    degrees: np.ndarray
