"""Mask by data shuffling (Muralidhar and Sarathy, 2006): redistribute values by simulated
ranks."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask._randomness import Randomness
from condmask.correlations import ranks
from condmask.errors import ArgumentError
from condmask.marks import refuse_marked
from condmask.masking.scheme import Columns, Scheme
from condmask.row_labels import labels_of_rows, refuse_other_order


@dataclass(frozen=True)
class DataShuffling(Scheme):
    """Reorder the values so that they keep their rank correlation with columns that are not
    masked.

    All columns are turned into normal scores. Scores of the sensitive column are simulated given
    the others, under a normal copula; the true values are then put in the order of the simulated
    scores [1]_.

    References
    ----------
    .. [1] K. Muralidhar and R. Sarathy, "Data shuffling: a new masking approach for numerical
           data", Manag. Sci. 52 (2006) 658-670, https://doi.org/10.1287/mnsc.1050.0503.
    """

    method: ClassVar[str] = "DataShuffling"

    def mask(self, x: ArrayLike, *, given: ArrayLike, rng: Randomness = None) -> Any:  # type: ignore[override]
        """Shuffle a column without missing values.

        Parameters
        ----------
        x : array_like or series of shape (n,)
        given : array_like of shape (n,) or (n, columns)
            Columns that are published unmasked beside it.
        rng : as for `ConditionalMasking.mask`

        Returns
        -------
        same container as `x`
        """
        refuse_marked(x, "x")
        refuse_other_order({"given": given}, labels_of_rows(x, "x"))
        column = frames.column(x, "x")
        others = np.atleast_2d(_checks.column(given, "given", dimensions=(1, 2), least=1).T)
        _checks.complete(others, "given")
        if not len(others):
            raise ArgumentError("given must have at least one column, got none")
        _checks.same_length(others[0], "given", column.array.size, "x")
        return self._masked(column, rng, tuple(others))

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own, given the same row of the others."""
        if not others:
            raise ArgumentError(
                "others must have the unmasked columns that DataShuffling uses, got none"
            )
        z = np.empty_like(x)
        for row in range(len(x)):
            given = np.array([_scores(column[row]) for column in others])
            scores = _scores(x[row])
            weights = np.linalg.lstsq(given.T, scores)[0]
            fitted = weights @ given
            # noise parts the ties of `given`; where there is none, records that tie have equal
            # values
            simulated = fitted + np.std(scores - fitted) * stream.standard_normal(scores.size)
            z[row, np.argsort(simulated)] = np.sort(x[row])
        return z


def _scores(values: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks about their mean; equal values have equal scores."""
    from scipy.special import ndtri

    scores = ndtri(ranks(values) / (values.size + 1))
    return np.asarray(scores - scores.mean())
