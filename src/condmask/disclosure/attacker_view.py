"""Hold what an attacker sees of a sample of records: columns in clear, released values, coins."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample

MAX_NUMBERS = 20  # columns of numbers in clear that are used


class AttackerView(NamedTuple):
    """Everything that an attacker of one column can see.

    Attributes
    ----------
    sample : Sample
    released : ndarray of shape (m, masked columns)
        On the lines on which noise is added.
    column : int
        The masked column whose values are guessed.
    twins : list of ndarray of shape (m, k)
        The k records most like each, in the columns in clear and in two of them.
    own : ndarray of bool of shape (m,)
        The records whose released values are taken for their own: those that were kept, or all of
        them where the attacker does not know the coins.
    original, masked : ndarray of shape (m, masked columns)
        In the units of the data; originals are known of the other half.
    noisy : bool
        Whether kept records show their values with noise, and not values of other kept ones.
    line : callable
        Takes values of the column to the line on which noise is added.
    scale : callable
        Takes values of the column to the scale on which guesses must be near: the same line, or
        the units of the data.
    d : ndarray of shape (distances,)
        Distances within which a guess must lie.
    """

    sample: Sample
    released: np.ndarray
    column: int
    twins: list[np.ndarray]
    own: np.ndarray
    original: np.ndarray
    masked: np.ndarray
    noisy: bool
    line: Callable[[np.ndarray], np.ndarray]
    scale: Callable[[np.ndarray], np.ndarray]
    d: np.ndarray

    @property
    def x(self) -> np.ndarray:
        """Return the originals of the column."""
        return self.original[:, self.column]

    @property
    def u(self) -> np.ndarray:
        """Return the originals of the column on the scale on which guesses must be near."""
        return self.scale(self.x)

    @property
    def numbers(self) -> list[np.ndarray]:
        """Return the first columns of numbers in clear, at most `MAX_NUMBERS`."""
        return list(self.sample.clear.numbers.values())[:MAX_NUMBERS]

    @property
    def kept(self) -> np.ndarray:
        """Return the released value of each record taken for its own, NaN for all others."""
        return np.where(self.own, self.released[:, self.column], np.nan)
