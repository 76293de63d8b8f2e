"""Undoes masking record by record; each estimate chooses its estimator once, by its scheme.

Conditional masking is undone by Theorem 2.1 (linear/pseudo_values.py) and Theorem 2.5 (pairs/) of
Ghatak & Roy, reverse mapping by its inverse (reverse_mapping/).
"""

from functools import cached_property

import numpy as np

from condmask.errors import ArgumentError
from condmask.estimates.sample import law_of
from condmask.law import EXACT, Law
from condmask.linear.chunks import Chunks
from condmask.linear.pseudo_values import ConditionalPseudoValues, PseudoValues
from condmask.linear.records import Named, Records
from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.masking.scheme import Scheme
from condmask.pairs.pair_variance import Pair, conditional_pair, linear_covariance
from condmask.pairs.theorem_2_5 import moments_of_columns
from condmask.reverse_mapping import pairs
from condmask.reverse_mapping.pseudo_values import ReverseMapped


class ConditionalEstimator:
    """Undoes conditional masking, or added noise.

    Parameters
    ----------
    scheme : Scheme
    records : Records
        The masked values and their donor pools.

    Attributes
    ----------
    law : Law
    p : float
        The share of swapped records.
    """

    law: Law
    p: float

    def __init__(self, scheme: Scheme, records: Records) -> None:
        self.scheme = scheme
        self.records = records
        self.law = law_of(scheme)
        self.p = self.law.p

    @cached_property
    def pseudo_values(self) -> PseudoValues:
        """Return the pseudo-values of the records, which are computed once."""
        cycle = not self.scheme.shared_donors
        return ConditionalPseudoValues(Chunks(self.records), self.law, cycle=cycle)

    def linear(self) -> PseudoValues:
        """Return the pseudo-values for statistics that are linear in the original."""
        return self.pseudo_values

    @property
    def variation(self) -> float:
        """Refuse to give N, which only reverse mapping has."""
        raise ArgumentError(f"scheme must be one with reverse_mapping for N, got {self.scheme!r}")

    def pair(self, w: np.ndarray | Named, other: "Estimator | None") -> Pair:
        """Return the pair of the column and another one.

        Parameters
        ----------
        w : ndarray of shape (n,) or Named
            The released values of the other column.
        other : Estimator, optional
            The estimator of the other column, if it was masked together with this one.
        """
        moments = moments_of_columns(self.records, w)
        law_of_w = None if other is None else other.law
        pair = conditional_pair(
            moments, self.law, law_of_w, shared_donors=self.scheme.shared_donors
        )
        if other is not None:
            return pair
        return pair._replace(
            linear=lambda: linear_covariance(self.linear(), self.records, w, moments)[1:]
        )


class ReverseMappedEstimator:
    """Undoes reverse mapping.

    Parameters and attributes are those of `ConditionalEstimator`. The law is that of values that
    were released in another order.
    """

    law: Law = EXACT
    p: float

    def __init__(self, scheme: ReverseMappingScheme, records: Records) -> None:
        self.scheme = scheme
        self.records = records
        self.p = float(scheme.p)

    @cached_property
    def pseudo_values(self) -> ReverseMapped:
        """Return the pseudo-values of the records; computed once, since they take longest."""
        return ReverseMapped(self.records, self.scheme)

    def linear(self) -> ReverseMapped:
        """Return the pseudo-values for linear statistics, with a warning where they vary much."""
        self.pseudo_values.warn_of_variation()
        return self.pseudo_values

    @property
    def variation(self) -> float:
        """Return N, the factor by which pseudo-values vary more than originals."""
        return float(self.pseudo_values.variation)

    def pair(self, w: np.ndarray | Named, other: "Estimator | None") -> Pair:
        """Return the pair of the column and another one: see `ConditionalEstimator`."""
        mapped = self.linear()
        if isinstance(other, ReverseMappedEstimator):
            return pairs.joint(mapped, other.pseudo_values)
        return pairs.pair_with_unmasked(mapped, w)


Estimator = ConditionalEstimator | ReverseMappedEstimator


def estimator_of(scheme: Scheme, records: Records) -> Estimator:
    """Return the estimator that undoes the masking of records under this scheme."""
    if isinstance(scheme, ReverseMappingScheme):
        return ReverseMappedEstimator(scheme, records)
    return ConditionalEstimator(scheme, records)
