"""Functions that undo reverse mapping: h with E[h(Z) | X] as good as a function of the original.

See docs/inference.rst, "Reverse mapping".
"""

import numpy as np

from condmask.reverse_mapping.mapping import Mapping
from condmask.variance.interval import UndefinedError

LARGEST = 5.0  # N, above which is refused
ENOUGH = 0.01  # of the target, may be left
SOME, NOTHING = 0.01, 1e-3  # of the variance about the file: what the rest may add; without more steps
MOST_STEPS = 500
REFUSAL = (
    "z must have more records (in each stratum), or have been masked with a smaller sigma, for statistics "
    f"with other columns: its pseudo-values vary {{}}, and at most {LARGEST:g} times is allowed"
)


def undone(mapping: Mapping, p: float, n: int, target: np.ndarray) -> np.ndarray:
    """h by value, with the mean of `target` and E[h(Z) | X] as good as the target at X, in a pool of n.

    A swapped record gets each other's value with the same chance, and its own with what is left of p. So with
    q = 1 - p the equation is ``{q M + (q - q^n)/(n-1)} h = target`` about the means. Noise makes it
    ill-posed: conjugate gradients on its normal equations first bring the residual down and then blow up h. A
    sum over the n records with weights of unit length varies by |h|^2 at most, by |target|^2 less about the
    file, and what is left of the target adds at most n |residual|^2 to its mean squared error: the step is
    taken where their sum is least.

    Raises
    ------
    UndefinedError
        If the residual does not come down to a hundredth of the target, or to what adds at most a
        tenth to standard errors.
    """
    q, w = 1.0 - p, mapping.share
    remaining = (q - q**n) / (n - 1)
    middle = float(w @ target)
    residual = target - middle
    total = float(w @ residual**2)
    h = best = np.zeros(w.size)
    if total == 0.0:
        return h + middle
    direction, before, least = np.zeros(w.size), np.inf, np.inf
    for _ in range(MOST_STEPS):
        slope = q * mapping.adjoint(residual) + remaining * residual
        norm = float(w @ slope**2)
        direction, before = slope + norm / before * direction, norm
        image = q * mapping.apply(direction) + remaining * direction
        step = norm / float(w @ image**2)
        h, residual = h + step * direction, residual - step * image
        variance, error = float(w @ h**2), float(w @ residual**2)
        masking = (variance - total) / n
        close = error <= max(ENOUGH**2 * total, SOME * masking)
        if close and variance + n * error < least:
            best, least = h, variance + n * error
        if variance >= least or error <= NOTHING * masking:
            break
    if least == np.inf:
        raise UndefinedError(REFUSAL.format("without bound"))
    return np.asarray(best + (middle - w @ best))
