"""Records that are unique in several columns, and may be recognised in a joint release.

A swapped record carries all values of its donor, in all columns that were masked together. If this
combination occurs only once in a population, anyone who knows it knows whose record it was.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._blocks import blocks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.scheme import Scheme


class Uniques(NamedTuple):
    """Shares of records, from 0 to 1.

    Attributes
    ----------
    n : int
        Number of records without missing values.
    unique : float
        The share of records that no other record of the file equals in all columns.
    verbatim : float
        The share of records that are unique and whose values are expected to appear together in a release
        that swaps with chance p.
    correct_match : float
        The chance that a match with a record that is unique in the file is right in the population; 1 if the
        file is the population.
    """

    n: int
    unique: float
    verbatim: float
    correct_match: float


def uniques(data: Any, scheme: Any, *, fraction: float = 1.0) -> Uniques:
    """How many records are unique in columns masked together, and how many of these a release shows.

    Parameters
    ----------
    data : data frame or dict of columns
        The columns that are masked together, and no others. Records with a missing value are left out.
    scheme : ConditionalMasking
        The scheme of any of the columns, which share p and donors.
    fraction : float
        The sampling fraction, if the file is a simple random sample of a population.

    Returns
    -------
    Uniques

    Raises
    ------
    ValueError
        If `fraction` is outside (0, 1], or there are fewer than two records.

    Notes
    -----
    Each original is passed on with the chance 1 - (1 - p/(n-1))^(n-1), about 1 - e^-p, by eq. (1), and with
    the chance p in a permutation. If n_1 values occur once in the file and n_2 occur twice, a match with a
    unique one is right with the chance f n_1 / (f n_1 + 2 (1 - f) n_2), f being the fraction [1]_.

    References
    ----------
    .. [1] C. J. Skinner and M. J. Elliot, "A measure of disclosure risk for microdata", J. R. Statist. Soc. B
           64 (2002) 855-867, https://doi.org/10.1111/1467-9868.00365.

    Examples
    --------
    >>> import condmask as cm
    >>> people = {"age": [30, 30, 41, 52], "income": [10, 10, 10, 30]}
    >>> found = cm.uniques(people, cm.ConditionalMasking(0.6, 5.0))
    >>> found.unique, round(found.verbatim, 3)
    (0.5, 0.3)
    """
    share = float(_checks.positive(fraction, "fraction"))
    if share > 1.0:
        raise ArgumentError(f"fraction must be at most 1, got {_checks.shown(fraction)}")
    columns = frames.design(data, "data")
    table = _complete(list(columns.values()))
    n = table[0].size
    _checks.at_least_two(n, "data")
    times = np.bincount(_times(table), minlength=3)
    once, twice = int(times[1]), int(times[2])
    p = getattr(scheme, "p", None) if isinstance(scheme, Scheme) else None
    if p is None:
        raise ArgumentTypeError(
            f"scheme must be one that swaps records, ConditionalMasking, got {_checks.shown(scheme)}"
        )
    passed = 1.0 - (1.0 - p / (n - 1)) ** (n - 1) if scheme.shared_donors else p
    right = share * once / (share * once + 2.0 * (1.0 - share) * twice) if once else float("nan")
    return Uniques(n, once / n, passed * once / n, right)


def _complete(columns: list[np.ndarray]) -> list[np.ndarray]:
    """The records that have all values."""
    present = np.ones(columns[0].size, dtype=bool)
    for column in columns:
        present &= ~np.isnan(column)
    return columns if present.all() else [column[present] for column in columns]


def _times(columns: list[np.ndarray]) -> np.ndarray:
    """How many records have each combination of values; more than two count as three."""
    order, n = np.lexsort(columns), columns[0].size
    new = np.ones(n + 1, dtype=bool)  # that the records in order begin; the last one is beyond them
    for start, stop in blocks(n - 1):
        some = order[start : stop + 1]
        new[start + 1 : stop + 1] = np.any([np.diff(column[some]) != 0.0 for column in columns], axis=0)
    return np.minimum(np.diff(np.flatnonzero(new)), 3)
