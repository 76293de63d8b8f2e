"""Records that are the only ones with their values in several columns: what a joint release may name.

A swapped record carries all values of its donor, in all columns that were masked together. Where these values
together are found once in a population, whoever knows them knows whose record it was.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError, ArgumentTypeError


class Uniques(NamedTuple):
    """Shares of records, from 0 to 1.

    Attributes
    ----------
    n : int
        Records with all values.
    unique : float
        Those that no other record of the file equals in all columns.
    verbatim : float
        Those whose values are in the release together, as expected of one that swaps with chance p.
    correct_match : float
        The chance that a record that is unique in the file and matched is the right one in the population; 1
        where the file is the population.
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
        Of any of the columns, which share p and donors.
    fraction : float
        The share of the population that the file is a simple random sample of.

    Returns
    -------
    Uniques

    Raises
    ------
    ValueError
        If `fraction` is outside (0, 1], or there are fewer than two records.

    Notes
    -----
    Each original is passed on by eq. (1) with the chance 1 - (1 - p/(n-1))^(n-1), about 1 - e^-p, and in a
    permutation with the chance p. With n_1 values found once in the file and n_2 found twice, a match with
    one found once is right with the chance f n_1 / (f n_1 + 2 (1 - f) n_2), f the fraction [1]_.

    References
    ----------
    .. [1] C. J. Skinner and M. J. Elliot, "A measure of disclosure risk for microdata", J. R. Statist. Soc. B
           64 (2002).

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
        raise ArgumentError(f"fraction must be at most 1, got {fraction!r}")
    columns = frames.design(data, "data")
    table = np.column_stack(list(columns.values()))
    table = table[~np.isnan(table).any(axis=1)]
    _checks.at_least_two(len(table), "data")
    _, counts = np.unique(table, axis=0, return_counts=True)
    once, twice, n = int(np.sum(counts == 1)), int(np.sum(counts == 2)), len(table)
    p = getattr(scheme, "p", None)
    if p is None:
        raise ArgumentTypeError(f"scheme must be one that swaps records, ConditionalMasking, got {scheme!r}")
    passed = 1.0 - (1.0 - p / (n - 1)) ** (n - 1) if scheme.shared_donors else p
    right = share * once / (share * once + 2.0 * (1.0 - share) * twice) if once else float("nan")
    return Uniques(n, once / n, passed * once / n, right)
