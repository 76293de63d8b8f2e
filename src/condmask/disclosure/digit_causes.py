"""How digits show which records were swapped: a grid of the data's own, round numbers, last digits."""

import numpy as np

from condmask.disclosure import digit_classes, swap_attack
from condmask.disclosure.swap_attack import ColumnAttack
from condmask.grid import COARSEST, round_and_pass, shown
from condmask.visible_grid import step_for, suits, visible_grid

MOST_OF = 0.98  # of the values lie on a grid: the others are exceptions
EXCESS = 0.05  # of values that are multiples, beyond the share expected by chance
LISTED = 4  # multiples


def described(values: np.ndarray, kind: str, column: ColumnAttack) -> tuple[str, str, str]:
    """The name of a cause, its remedy and its text."""
    law = column.law
    values = values[~np.isnan(values)]
    coarser = round_and_pass(_coarse(law.sigma))
    grid = visible_grid(values, kind, law.step)
    if grid is not None and not suits(law.step, grid):
        step = step_for(law.step, grid)
        wide = "" if step <= COARSEST * law.sigma else f" and a sigma of at least {2.0 * step:g}"
        text = f"the data are multiples of {grid.step:g}, which a step of {law.step:g} does not keep"
        return "grid", f"pass step={shown(step)}{wide}", text
    shares = _multiples(values, kind, column)
    if not shares:
        return "last digits", coarser, "last digits are unevenly spread"
    most = max((multiple for multiple, share in shares if share >= MOST_OF), default=None)
    if most is not None:
        text = f"{dict(shares)[most]:.1%} of the values are multiples of {most:g}, sums with noise are not"
        return "mixed grid", round_and_pass(most), text
    some = ", ".join(f"{share:.0%} are multiples of {multiple:g}" for multiple, share in shares[:LISTED])
    return "heaps", coarser, f"values are rounded ({some})"


def _coarse(sigma: float) -> float:
    """The power of ten, or 5 times one, at or below half of sigma."""
    power = 10.0 ** np.floor(np.log10(COARSEST * sigma))
    return float(5.0 * power if 5.0 * power <= COARSEST * sigma else power)


def _multiples(values: np.ndarray, kind: str, column: ColumnAttack) -> list[tuple[float, float]]:
    """What more values are multiples of than by chance, and how many are: the chain that shows most."""
    most, best = EXCESS, np.empty((0, 2))
    for folded, *_ in column.attacks:
        assert folded.law.grid is not None
        for classes in digit_classes.candidates(values, kind, folded.law.grid, swap_attack.FULL.lots, 0):
            if classes.modulus > 1:
                continue
            number = digit_classes.classify(classes, folded.values)
            counts = np.bincount(number, folded.counts, digit_classes.class_count(classes))
            share = (counts[::-1].cumsum()[::-1] / folded.n)[1:]
            ratio = classes.above[1:] / classes.below[1:]
            excess = share - 1.0 / ratio
            if excess.max() * folded.n / column.n > most:
                most = excess.max() * folded.n / column.n
                best = np.stack((ratio * folded.law.step, share), axis=1)[excess > EXCESS]
    return [(float(multiple), float(share)) for multiple, share in best]
