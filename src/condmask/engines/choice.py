"""Which engine evaluates ``T(x) = (1/n) sum_j K((x - z_j) / sigma)``.

"series"        K term by term at every pair; closed form for Laplace noise. The definition.
"interpolant"   K from a certified table at every pair.
"lattice"       one pass over the sorted records, then any x at once.

All differ from the exact sum by at most ``tol``.
"""

from condmask.weights import series
from condmask.weights.table import smallest_tol
from condmask.weights.weight import Masking

METHODS = ("auto", "series", "interpolant", "lattice")


# Building a table costs as much as summing the series at about this many pairs.
FEW_PAIRS = 20_000


# One pass of the lattice costs as much as this many pairs, and sorting as much as this many points.
MANY_PAIRS, FEW_POINTS = 200_000, 4


def check_tol(masking: Masking, tol: float) -> None:
    """Refuse a tolerance below the rounding error of a weight."""
    least = smallest_tol(masking.p)
    if tol < least:
        raise ValueError(f"tol must be at least {least:.1e} at p={masking.p} (rounding), got {tol!r}")


def choose(masking: Masking, n: int, points: int, tol: float, method: str) -> str:
    """The engine that serves a request; what cannot be done is said, never replaced."""
    check_tol(masking, tol)
    laplace, pairs = masking.noise == "laplace", n * points
    summable = masking.delta == 0.0 and (laplace or series.coefficients(masking.p, tol) is not None)
    if method == "series" and not summable:
        why = "rounded data" if masking.delta else f"tol={tol!r} at p={masking.p}"
        raise ValueError(f"method must be 'auto', 'interpolant' or 'lattice' for {why}, got 'series'")
    if method != "auto":
        return method
    if points >= FEW_POINTS and pairs > MANY_PAIRS:
        return "lattice"
    return "series" if summable and not laplace and masking.p > 0.5 and pairs <= FEW_PAIRS else "interpolant"
