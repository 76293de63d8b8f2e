"""Checks replicate weights, and gives the factors by which their squared deviations count.

Conventions are those of the R package survey and of svy: Fay's and balanced replicates count
1/(R (1 - fay)^2), deletions of one cluster (R - 1)/R, and bootstrap replicates 1/R.
"""

from typing import Literal

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError

Method = Literal["bootstrap", "BRR", "Fay", "JK1", "JKn"]
METHODS: tuple[Method, ...] = ("bootstrap", "BRR", "Fay", "JK1", "JKn")
RANK_TOLERANCE = 1e-5  # of the largest singular value of replicate weights
MIN_BRR_WEIGHT = 0.05  # of a record's weight, below which it counts as left out of a half


def check_factors(
    method: str | None, fay: float | None, scale: float | None, rscales: np.ndarray | None
) -> None:
    """Refuse options of replicates that contradict each other."""
    if method is not None:
        _checks.choice(method, "method", METHODS)
    if scale is not None:
        _checks.positive(scale, "scale")
    if method == "Fay":
        known = fay is not None and 0.0 < _checks.real(fay, "fay", "a number in (0, 1)") < 1.0
        _checks.require(known, "fay must be a number in (0, 1) with method='Fay'", fay)
    else:
        _checks.require(fay is None, "fay must be left out without method='Fay'", fay)
    if method == "JKn" and rscales is None:
        raise ArgumentError(
            "rscales must be given with method='JKn': for each replicate (n_h - 1)/n_h, n_h the "
            "number of clusters in the stratum from which it leaves one out"
        )
    if rscales is not None and not (np.isfinite(rscales).all() and (rscales >= 0.0).all()):
        raise ArgumentError("rscales must be finite numbers of at least 0")


def factors_of(
    method: str | None,
    fay: float | None,
    scale: float | None,
    rscales: np.ndarray | None,
    count: int,
) -> np.ndarray:
    """Return for each replicate the factor by which its squared deviation counts."""
    each = np.ones(count) if rscales is None else rscales
    if each.size != count:
        raise ArgumentError(f"rscales must have {count} numbers, one a replicate, got {each.size}")
    if scale is not None:
        return each * scale
    if method == "JKn":
        return each
    if method == "JK1":
        return each * (count - 1.0) / count
    kept = 1.0 if fay is None else 1.0 - fay
    return each / (count * kept**2)


def check_replicates(weights: np.ndarray, replicates: np.ndarray, method: str | None) -> None:
    """Refuse replicate weights that are missing, negative or all 0, and those of Fay's method
    under another name.

    Parameters
    ----------
    weights : ndarray of shape (n,)
    replicates : ndarray of shape (n, replicates)
    method : str or None
    """
    used = replicates[~np.isnan(weights)]
    for rule, wrong in (
        ("must not be missing where a weight is given", np.isnan(used)),
        ("must not be negative", used < 0.0),
    ):
        if wrong.any():
            where = f"{np.count_nonzero(wrong)} in column {int(wrong.any(axis=0).argmax()) + 1}"
            raise ArgumentError(f"replicate_weights {rule}, got {where} and maybe later ones")
    empty = ~(used > 0.0).any(axis=0)
    if empty.any():
        raise ArgumentError(
            f"replicate_weights must not be all 0, as in column {int(empty.argmax()) + 1}"
        )
    if method == "BRR":
        _refuse_fay(weights[~np.isnan(weights)], used)


def _refuse_fay(weights: np.ndarray, replicates: np.ndarray) -> None:
    """Refuse balanced replicates that leave no record out, since their factor would be lost."""
    some = weights > 0.0
    least = float((replicates[some].min(axis=1) / weights[some]).min())
    if least > MIN_BRR_WEIGHT:
        raise ArgumentError(
            "replicate_weights must leave out half of the records with method='BRR', but none has "
            f"less than {least:.2g} times its weight: as Fay's method, pass method='Fay', "
            f"fay={least:.2g}"
        )


def rank_less_one(replicates: np.ndarray) -> float:
    """Return the degrees of freedom of replicate weights: their rank less 1."""
    products = replicates.T @ replicates
    values = np.linalg.eigvalsh(products)  # squares of singular values
    rank = np.count_nonzero(values > RANK_TOLERANCE**2 * values[-1])
    return max(float(rank) - 1.0, 1.0)
