"""The choice of the fastest engine for ``T(x) = (1/n) sum_j K((x - z_j) / sigma)``.

"series"        K term by term at every pair; closed form for Laplace noise. The definition.
"interpolant"   K from a certified table at every pair.
"lattice"       one pass over the sorted records, then any x at once.
"grid"          data on a grid: one Fourier transform of their counts.

All differ from the exact sum by at most ``tol``. The time of each is modelled below, in microseconds, from
what is known in advance: the law, the number of records and of points, the length of a transform. Earlier
requests play no part, so the same request always gives the same bits.

Tables and derivatives belong to one law and tolerance: those of T_1 serve every sample of a scheme and are
not counted, those of T_b are made anew, for other data have another bandwidth.
"""

from math import inf
from typing import NamedTuple

from condmask.deconvolution import series, weight
from condmask.deconvolution.table import smallest_tol
from condmask.deconvolution.weight import Masking
from condmask.engines import grid, lattice
from condmask.engines.counting import ValueCounts
from condmask.errors import ArgumentError

METHODS = ("auto", "grid", "series", "interpolant", "lattice")

# In microseconds, as measured by benchmarks/versus/engines.py.
TERM, PAIR = 0.0075, 0.0038  # an error function of the series; a look-up in a table
TABLE, CLOSED_TABLE = 650.0, 110.0  # of K with a bandwidth; where K is elementary
SORTED = 0.025  # a record; from .012 to .06, by how NumPy sorts
CURVE, CELLS, VALUE = 65.0, 1.0, 0.008  # a lattice; of it two cells, a length of sigma; a value
SMOOTHED_CURVE, STEEPNESS = 900.0, 450.0  # that of T_b; what a search in it needs besides
EXPONENTIALS, EXPONENTIAL = 10.0, 0.017  # sums of exponentials, and a value of these
FEW_STEPS, STEP = 20.0, 0.005  # a coarse grid; a value within reach of a point, each of which is looked up
TRANSFORM, POINT, WAVE = 65.0, 0.017, 0.055  # to T_1; a point of the grid, a frequency that is left
SMOOTHED_TRANSFORM, SMOOTHED_POINT, SMOOTHED_WAVE = 300.0, 0.007, 0.26  # to T_b
AT_CURVE, AT_GRID = 0.03, 0.02  # a value of T where it is known
FIRST, REARRANGED, SMOOTHED = 1.5, 2.0, 15.0  # a search for a crossing: of T_1, the second over p; of T_b
# a point of the grid: for all first crossings; for a rearranged one, and for all of them
RUNNING, BELOW, ASCENDING = 0.0035, 0.0016, 0.045
BISECTED = 1.5  # a crossing of T_b on a grid
USUAL = 12.0  # sigma over which data lie, where that is not known


class Sizes(NamedTuple):
    """How much there is to sum.

    Attributes
    ----------
    records : int
    values : int
        Distinct ones, where the records were counted on a grid; else all, in any order.
    length : float
        The points of the grid within reach of the records; infinite where there is no grid.
    """

    records: int
    values: int
    length: float

    @property
    def gridded(self) -> bool:
        """Whether the records lie on a grid."""
        return self.length < inf

    @property
    def transformable(self) -> bool:
        """Whether they are not spread too widely for a transform."""
        return grid.serves(self.length, self.records)


def sizes_of(counts: ValueCounts, masking: Masking) -> Sizes:
    """The sizes of records on a grid."""
    return Sizes(counts.n, counts.values.size, grid.length(counts, masking))


def check_tol(masking: Masking, tol: float) -> None:
    """Refuse a tolerance below the rounding error of a weight."""
    least = smallest_tol(masking.p)
    if tol < least:
        raise ArgumentError(f"tol must be at least {least:.1e} at p={masking.p} (rounding), got {tol!r}")


def summable(masking: Masking, tol: float) -> bool:
    """Whether K can be summed term by term to `tol`."""
    if masking.noise == "laplace":
        return bool(weight.has_closed_form(masking))
    return series.rounding_bound(masking.p, masking.delta) <= 0.5 * tol and _terms(masking, tol) > 0


def choose(masking: Masking, sizes: Sizes, points: int, tol: float, method: str) -> str:
    """The engine for T, or its density, at this many points; refuses an impossible method."""
    check_tol(masking, tol)
    if method == "grid" and not sizes.transformable:
        raise ArgumentError(
            "method must be 'auto' or 'lattice' for data spread so widely, got 'grid'"
            if sizes.gridded
            else "method must be 'auto', 'series', 'interpolant' or 'lattice' for data without a grid, "
            "got 'grid'"
        )
    if method == "series" and not summable(masking, tol):
        others, step = "'auto', 'interpolant'", ""
        if sizes.gridded:
            others, step = "'auto', 'grid', 'interpolant'", f"a step of {masking.delta:g} sigma and "
        raise ArgumentError(
            f"method must be {others} or 'lattice' for {step}tol={tol!r} at p={masking.p}, got 'series'"
        )
    if method != "auto":
        return method
    pairs = sizes.records * points
    costs = {
        "grid": _transform(masking, sizes) + AT_GRID * points,
        "interpolant": _table(masking) + PAIR * pairs,
        "lattice": _curve(masking, sizes) + _at_curve(masking, sizes, tol) * points,
    }
    if masking.noise == "normal" and masking.beta > 0.0 and summable(masking, tol):
        costs["series"] = TERM * _terms(masking, tol) * pairs
    return min(costs, key=costs.__getitem__)


def choose_for_crossings(
    masking: Masking, sizes: Sizes, probabilities: int, crossing: str, tol: float
) -> str:
    """The engine for so many crossings of T, "grid" or "lattice"."""
    check_tol(masking, tol)
    on_grid, searched = _transform(masking, sizes), _curve(masking, sizes)
    if masking.beta > 0.0:
        on_grid += BISECTED * probabilities
        searched += STEEPNESS + SMOOTHED * probabilities
    elif crossing == "first":
        on_grid += RUNNING * sizes.length
        searched += FIRST * probabilities
    else:
        on_grid += min(BELOW * probabilities, ASCENDING) * sizes.length
        searched += REARRANGED / masking.p * probabilities
    return "grid" if on_grid < searched else "lattice"


def _terms(masking: Masking, tol: float) -> int:
    """How many terms the series has; none where rounding forbids it."""
    found = series.coefficients(masking.p, tol if masking.delta == 0.0 else 0.5 * tol)
    return 0 if found is None else found.size


def _table(masking: Masking) -> float:
    """Until a table of K is made."""
    if masking.beta == 0.0:
        return 0.0
    if masking.noise == "normal":
        return TABLE
    # on a grid the transform of Laplace noise has no end but that of the smoothing
    return CLOSED_TABLE if weight.has_closed_form(masking) else inf


def _transform(masking: Masking, sizes: Sizes) -> float:
    """Until T is known at all points of the grid."""
    if not sizes.transformable:
        return inf
    if masking.beta == 0.0:
        return TRANSFORM + POINT * sizes.length + WAVE * grid.modes_of(masking, int(sizes.length))
    waves = grid.smoothed_modes(masking, int(sizes.length))
    return SMOOTHED_TRANSFORM + SMOOTHED_POINT * sizes.length + SMOOTHED_WAVE * waves


def _curve(masking: Masking, sizes: Sizes) -> float:
    """Until T is known as a curve."""
    ordered = 0.0 if sizes.gridded or masking.beta > 0.0 else SORTED * sizes.records
    if masking.beta == 0.0 and weight.is_discrete(masking):
        return ordered + FEW_STEPS
    if masking.beta == 0.0 and weight.has_closed_form(masking):
        return ordered + EXPONENTIALS + EXPONENTIAL * sizes.values
    extent = USUAL
    if sizes.gridded:
        extent = max(0.0, sizes.length - 2.0 * grid.reach_of(masking)) * masking.delta
    # no more than a lattice has room for, nor than lie close enough to others for one
    most = min(0.5 * lattice.CELLS, 3.0 * sizes.values)
    once = CURVE + CELLS * min(extent, most) + VALUE * sizes.values
    if masking.beta == 0.0:
        return ordered + once
    return once - CURVE + SMOOTHED_CURVE + CELLS * min(extent / masking.beta, most)


def _at_curve(masking: Masking, sizes: Sizes, tol: float) -> float:
    """A value of T where it is known as a curve."""
    if masking.beta == 0.0 and weight.is_discrete(masking):
        return AT_CURVE + STEP * min(sizes.values, 2.0 * weight.reach(masking, tol) / masking.delta)
    return AT_CURVE
