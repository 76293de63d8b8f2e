"""Link released records with originals: by distance, or because their values are unique.

An attacker who has a file of originals with names takes each record of a release for the nearest
of them, or for one of the k nearest; columns count in units of their standard deviation. And a
record that is unique in the columns masked together may show them all, in whosever place.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import evenly_spaced
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentTypeError

MAX_LINKED_RECORDS = 8_192  # masked records that are linked
NORMAL_QUANTILE_975 = 1.959963984540054  # the normal law's quantile for 95%
RELATIVE_TIE_TOLERANCE = 1e-9  # of a distance, within which two are the same


class Linkage(NamedTuple):
    """How many masked records are linked to their originals.

    Attributes
    ----------
    n : int
        Number of records without missing values.
    tried : int
        Number of masked records looked for.
    columns : tuple of str
        The columns compared.
    k : tuple of int
        Numbers of nearest originals.
    linked : tuple of float
        The share of records whose original is among the k nearest; one of several as near is
        picked at random.
    blind : tuple of float
        The share of records that a blind guess links, k / n.
    """

    n: int
    tried: int
    columns: tuple[str, ...]
    k: tuple[int, ...]
    linked: tuple[float, ...]
    blind: tuple[float, ...]

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Wilson's 95% intervals of the shares, as the records tried are a sample."""
        return wilson(np.array(self.linked), self.tried)


def record_linkage(table: Table, released: dict[str, np.ndarray], k: Any) -> Linkage:
    """Return the share of released records whose original is among the k nearest originals.

    At most 8,192 evenly spaced records are looked up, in a k-d tree.
    """
    from scipy.spatial import cKDTree  # takes .1 s to import

    numbers = np.array(
        [_checks.integer(number, "k", least=1) for number in np.atleast_1d(k).tolist()]
    )
    present = np.logical_and.reduce(
        [~np.isnan(x) for x in (*table.values.values(), *released.values())]
    )
    n = int(np.count_nonzero(present))
    _checks.at_least_two(n, "data")
    spread = np.array([x[present].std() or 1.0 for x in table.values.values()])
    original = np.column_stack([x[present] for x in table.values.values()]) / spread
    rows = evenly_spaced(n, MAX_LINKED_RECORDS)
    shown = np.column_stack([released[name][present][rows] for name in table.values]) / spread
    distance = np.sqrt(np.sum((shown - original[rows]) ** 2, axis=1))
    slack = RELATIVE_TIE_TOLERANCE * (distance + 1.0)
    tree = cKDTree(original)
    nearer = tree.query_ball_point(shown, distance - slack, return_length=True)
    nearer = np.where(distance > slack, nearer, 0)
    equal = tree.query_ball_point(shown, distance + slack, return_length=True) - nearer
    among = np.minimum(numbers, n)
    linked = np.clip((among[:, None] - nearer) / np.maximum(equal, 1), 0.0, 1.0).mean(axis=1)
    figures = (tuple(each.tolist()) for each in (numbers, linked, among / n))
    return Linkage(n, rows.size, tuple(table.values), *figures)


class Uniques(NamedTuple):
    """Shares of records, from 0 to 1.

    A swapped record carries all values of its donor, in all columns that were masked together. If
    this combination occurs only once in a population, anyone who knows it knows whose record it
    was. Each original is passed on with the chance p, or 1 - (1 - p/(n-1))^(n-1) where several
    records may take one. If n_1 values occur once in the file and n_2 twice, a match with a unique
    one is right with the chance f n_1 / (f n_1 + 2 (1 - f) n_2), f being the sampling fraction (C.
    J. Skinner and M. J. Elliot, "A measure of disclosure risk for microdata", J. R. Statist. Soc.
    B 64 (2002) 855-867). Reverse mapping releases each value of a single column once; of several
    columns more unique records may appear than swaps pass on.

    Attributes
    ----------
    n : int
        Number of records without missing values.
    unique : float
        The share of records that no other record of the file equals in all masked columns.
    verbatim : float
        The share of records that are unique and whose values are expected to appear together in a
        release.
    correct_match : float
        The chance that a match with a record that is unique in the file is right in the
        population.
    """

    n: int
    unique: float
    verbatim: float
    correct_match: float


def uniques(table: Table, scheme: Any, fraction: float) -> Uniques:
    """Return the shares of records that are unique in the masked columns."""
    rule = "scheme must be one that swaps records, ConditionalMasking or ReverseMapping"
    _checks.require(scheme.shared_coins, rule, scheme, ArgumentTypeError)
    share = float(_checks.positive(fraction, "fraction"))
    _checks.require(share <= 1.0, "fraction must be at most 1", fraction)
    columns = np.column_stack(list(table.values.values()))
    columns = columns[~np.isnan(columns).any(axis=1)]
    n = len(columns)
    _checks.at_least_two(n, "data")
    counts = np.unique(columns, axis=0, return_counts=True)[1]
    once = int(np.sum(counts == 1))
    twice = int(np.sum(counts == 2))
    passed = 1.0 - (1.0 - scheme.p / (n - 1)) ** (n - 1) if scheme.shared_donors else scheme.p
    if scheme.reverse_mapping and len(table.values) == 1:
        passed = 1.0
    right = share * once / (share * once + 2.0 * (1.0 - share) * twice) if once else float("nan")
    return Uniques(n, once / n, passed * once / n, right)


def wilson(share: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's 95% interval of shares of n records."""
    middle = (share + 0.5 * NORMAL_QUANTILE_975 * NORMAL_QUANTILE_975 / n) / (
        1.0 + NORMAL_QUANTILE_975 * NORMAL_QUANTILE_975 / n
    )
    spread = np.sqrt(
        np.maximum(share * (1.0 - share), 0.0) / n
        + 0.25 * NORMAL_QUANTILE_975 * NORMAL_QUANTILE_975 / n**2
    )
    reach = NORMAL_QUANTILE_975 / (1.0 + NORMAL_QUANTILE_975 * NORMAL_QUANTILE_975 / n) * spread
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
