"""Define `ReverseMapping`, with the audit of releases and the estimators."""

from dataclasses import dataclass
from typing import ClassVar

from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.publish.swap_masking import SwapMasking


@dataclass(frozen=True, repr=False)  # so that Python's messages on its arguments name this class
class ReverseMapping(SwapMasking, ReverseMappingScheme):
    """Reverse mapping: release the values of the column in another order.

    With probability `p` a record is swapped: its value goes to another swapped record. The other
    records get their own values back, in the order of these values with noise. The release is the
    column in another order: no value shows which records were swapped, and every statistic of the
    column alone is exact (docs/reverse_mapping.rst).

    A scheme is published with the masked data; nothing in it is secret.

    Parameters
    ----------
    p : float
        Swap probability, at least 2^-64 and below 1.
    sigma : float
        Standard deviation of the noise, in the units of the data, for either law of the noise; on
        the log scale, of the logarithm (.3: some 30%).
    noise : {"normal", "laplace"}
        Law of the noise.
    scale : {"linear", "log"}
        "linear": records that are not swapped are put in the order of X + Y. "log": in the order
        of X exp(Y), for skewed amounts; signs and zeros stay.
    aggregate_ends : int or "auto"
        Release this many of the smallest and of the largest values of each donor pool, and all
        values equal to them, as their means, to the digits of the data. 0 is for none; for "auto"
        `mask_table` and `mask_file` find how many rare values need (0, 3 or 5), and publish it.
    range : (float, float), optional
        Public bounds of the values: (0, 100), or (0, None) for one bound. Originals outside are
        refused; released values are never outside.
    strata : str or sequence of str, optional
        Donors are drawn within the groups of this column; several columns are crossed. `mask` then
        needs the columns, and for covariances so does `estimate`.
    small_strata : {"refuse", "merge"}
        What to do with strata of fewer than 10 records. "merge": they become one, by a rule that
        anyone who has the columns can repeat (docs/theory.rst, "Small strata").
    missing : float or sequence of float and pairs, or None
        Codes in the data that stand for missing values: -8, or (-8, -999). A pair within a
        sequence is a range, [(9990, 9999)] or [-8, (None, -20)] for all numbers up to -20; (9990,
        9999) by itself is two codes. They stay in place, and are left out of estimates. A code
        that masked values could reach is refused, as are data with values that look like codes
        (999, far from all others) until you declare them here, or say with None, alone or after
        the codes, that there are no others.
    missing_as : {"code", "null"}
        "null": release a null, NaN or empty field in place of a code; then any code is allowed.

    Raises
    ------
    ValueError
        If a parameter is outside of its range.

    See Also
    --------
    ConditionalMasking : adds noise on a grid, for measurements with many digits.
    mask_table : several columns of a table, masked together.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, 10_000).round(2)
    >>> scheme = cm.ReverseMapping(p=0.6, sigma=0.3, scale="log", aggregate_ends=3)
    >>> masked = scheme.mask(incomes, rng=2)  # rng is for examples, never for a release
    >>> bool(abs(masked.mean() / incomes.mean() - 1) < 1e-6)
    True
    """

    method: ClassVar[str] = "ReverseMapping"
