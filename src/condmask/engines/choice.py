"""Which engine evaluates ``T(x) = (1/n) sum_j K((x - z_j) / sigma)``.

"series"        K term by term at every pair; closed form for Laplace noise. The definition.
"interpolant"   K from a certified table at every pair.
"lattice"       one pass over the sorted records, then any x at once.
"grid"          data on a grid: one Fourier transform of their counts.

All differ from the exact sum by at most ``tol``.
"""

from condmask.deconvolution import series, weight
from condmask.deconvolution.table import smallest_tol
from condmask.deconvolution.weight import Masking
from condmask.errors import ArgumentError

METHODS = ("auto", "grid", "series", "interpolant", "lattice")


# Building a table costs as much as summing the series at about this many pairs.
FEW_PAIRS = 20_000


# One pass of the lattice costs as much as this many pairs, and sorting as much as this many points.
MANY_PAIRS, FEW_POINTS = 200_000, 4


def check_tol(masking: Masking, tol: float) -> None:
    """Refuse a tolerance below the rounding error of a weight."""
    least = smallest_tol(masking.p)
    if tol < least:
        raise ArgumentError(f"tol must be at least {least:.1e} at p={masking.p} (rounding), got {tol!r}")


def summable(masking: Masking, tol: float) -> bool:
    """Whether K can be summed term by term to `tol`."""
    if masking.noise == "laplace":
        return bool(weight.has_closed_form(masking))
    share = tol if masking.delta == 0.0 else 0.5 * tol
    return series.rounding_bound(masking.p, masking.delta) <= 0.5 * tol and (
        series.coefficients(masking.p, share) is not None
    )


def choose(masking: Masking, n: int, points: int, tol: float, method: str) -> str:
    """The engine that serves a request; what cannot be done is said, never replaced."""
    check_tol(masking, tol)
    if method == "grid":
        raise ArgumentError(
            "method must be 'auto', 'series', 'interpolant' or 'lattice' for data without a grid, got 'grid'"
        )
    laplace, pairs = masking.noise == "laplace", n * points
    if method == "series" and not summable(masking, tol):
        raise ArgumentError(
            f"method must be 'auto', 'interpolant' or 'lattice' for tol={tol!r} at p={masking.p}, "
            "got 'series'"
        )
    if method != "auto":
        return method
    if points >= FEW_POINTS and pairs > MANY_PAIRS:
        return "lattice"
    return (
        "series"
        if not laplace and summable(masking, tol) and masking.p > 0.5 and pairs <= FEW_PAIRS
        else "interpolant"
    )


def choose_counted(masking: Masking, serves: bool, tol: float, method: str) -> str:
    """The engine for data on a grid; `serves`: whether they are not spread too widely for a transform."""
    check_tol(masking, tol)
    if method == "auto":
        return "grid" if serves else "lattice"
    if method == "grid" and not serves:
        raise ArgumentError("method must be 'auto' or 'lattice' for data spread so widely, got 'grid'")
    if method == "series" and not summable(masking, tol):
        raise ArgumentError(
            "method must be 'auto', 'grid', 'interpolant' or 'lattice' for a step of "
            f"{masking.delta:g} sigma and tol={tol!r} at p={masking.p}, got 'series'"
        )
    return method
