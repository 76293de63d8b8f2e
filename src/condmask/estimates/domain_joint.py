"""How estimates of groups vary together, worked out for those that are compared."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.domains.domains import Domains, Functions, Group
from condmask.domains.variance import PoolFunctions, Variances
from condmask.inference.interval import Target


class Row(NamedTuple):
    """An estimate: a sum of means of functions over groups, times coefficients.

    Attributes
    ----------
    parts : list of (Group, Functions, ndarray)
        Groups, functions, and the coefficients of these.
    """

    parts: list[tuple[Group, Functions, np.ndarray]]


class DomainJoint:
    """Computes the covariances of estimates of groups.

    Parameters
    ----------
    domains : Domains
    rows : list of Row
    target : {"population", "file"}
    sampled : float
        1 - n/N, the share of the population that is not in the file.
    """

    def __init__(
        self, domains: Domains, rows: Sequence[Row], target: Target, sampled: float
    ) -> None:
        self.domains = domains
        self.rows = rows
        self.target = target
        self.sampled = sampled

    def __call__(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of the estimates at some places, of shape (places, places)."""
        size = len(places)
        found = np.zeros((size, size))
        for i in range(size):
            for j in range(i + 1):
                one, two = (self.rows[places[k]] for k in (i, j))
                found[i, j] = found[j, i] = self.covariance(one, two)
        return found

    def covariance(self, one: Row, two: Row) -> float:
        """Return the covariance of two estimates."""
        total = 0.0
        for group, functions, factors in one.parts:
            for other, of_other, of_factors in two.parts:
                first = [k for k in range(factors.size) for _ in range(of_factors.size)]
                second = list(range(of_factors.size)) * factors.size
                found = self.domains.covariances(
                    group, _chosen(functions, first), other, _chosen(of_other, second)
                )
                products = factors[first] * of_factors[second]
                total += float(products @ about(found, self.target, self.sampled))
        return total


def _chosen(functions: Functions, columns: list[int]) -> list[PoolFunctions]:
    return [each.chosen(columns) for each in functions]


def about(found: Variances, target: Target, sampled: float) -> np.ndarray:
    """Return covariances about a target, with the allowance for bias."""
    file = found.file + found.missed
    if target == "file":
        return np.asarray(file + found.bias)
    return np.asarray(file + sampled * (found.population - file) + found.bias)


def variance_about(found: Variances, target: Target, sampled: float) -> np.ndarray:
    """Return variances about a target, no part of them negative, with the allowance for bias."""
    file = np.maximum(found.file, 0.0) + np.maximum(found.missed, 0.0)
    bias = np.maximum(found.bias, 0.0)
    if target == "file":
        return np.asarray(file + bias)
    population = np.maximum(found.population, 0.0)
    if sampled == 1.0:
        return np.asarray(population + bias)
    return np.asarray(file + sampled * np.maximum(population - file, 0.0) + bias)
