"""What stands behind an estimate of data with heaps.

Levels are strata that the masked values themselves name, so every estimate is the sum over levels of what the
records of one give, each under its own plain law.
"""

from functools import cached_property

import numpy as np

from condmask.engines import choice, grid, heaps
from condmask.engines.counting import Counts
from condmask.engines.crossings import FINEST_REARRANGED
from condmask.estimates.interval import UndefinedError
from condmask.estimates.moments import Powers, average, counted_powers, original_moments
from condmask.estimates.parts import Part, shifted
from condmask.estimates.sample import Counted, masking_of
from condmask.levels import class_law, classes, level_laws, level_of, mean_variance, noise_units
from condmask.weights.weight import Masking

TOO_WIDE = (
    "the masked values must spread over less than 2^24 steps of the grid for quantiles of data with heaps, "
    "got more; a masking with a coarser step has them"
)


class Heaped(Counted):
    """Counts on a grid of values whose level the noise left as it was."""

    @cached_property
    def _parts(self) -> list[tuple[Counted, float]]:
        """The records of each class as a sample of its own, and how far it is shifted."""
        code, at = classes(self.counts.values, self.law)
        found = []
        for each in np.unique(code).tolist():
            own, law = code == each, class_law(each, self.law)
            assert law is not None
            digit = self._grid.values(np.array(each % 10 * noise_units(self.law.heaps)[each // 10] / 10.0))
            found.append(
                (Counted(Counts(at[own], self.counts.counts[own]), law, self._workers), float(digit))
            )
        return found

    def moments(self, order: int) -> Powers:
        """Raw moments level by level, about one centre."""
        level = level_of(self.counts.values, self.law.heaps)
        center, scale, found = self.powers(1).center, self.powers(1).scale, []
        for k, law in enumerate(level_laws(self.law)):
            own = level == k
            if own.any():
                part = counted_powers(self._values()[own], self.counts.counts[own], order, law.sigma)
                found.append((int(self.counts.counts[own].sum()), original_moments(part, law)))
        return average(found, center, scale)

    def variance(self) -> tuple[float, float]:
        _, scale, means = self.powers(2)
        noise = mean_variance(self.counts.values, self.counts.counts, self.law, scale)
        spread = (means[2] - means[1] ** 2) * self.n / (self.n - 1)
        return float(spread - (1.0 - self.law.p) * noise), scale

    def engine(self, points: int, width: float | None, tol: float) -> str:
        return self._chosen(self._maskings(width), tol, "auto")

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        maskings = self._maskings(width)
        if self._chosen(maskings, tol, method) == "grid":
            found = self._line_of(maskings, tol, density).at(self._points(x, width))
            return np.asarray(found / self.law.step if density else found)
        total = np.zeros(x.size)
        for part, digit in self._parts:
            own = "auto" if method == "lattice" else method
            total += part.n / self.n * part.values(x - digit, width, tol, own, density=density)
        return total

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        line = self._searched(width, tol)
        found = line.first(q - tol) if crossing == "first" else line.rearranged(q - tol)
        return self.from_steps(found, width)

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        line = self._searched(width, tol)
        return np.asarray(line.rearranged_at(self._points(x, width), max(tol, FINEST_REARRANGED)))

    def line(self, width: float | None, tol: float) -> grid.Steps | grid.Polynomials | None:
        return self._searched(width, tol)

    def parts(self) -> list[Part]:
        return [shifted(part, digit) for counted, digit in self._parts for part in counted.parts()]

    def _maskings(self, width: float | None) -> tuple[Masking, ...]:
        finest = masking_of(self.law, width)  # a bandwidth needs some of the finest steps alone
        return tuple(finest._replace(delta=law.step / law.sigma) for law in level_laws(self.law))

    def _chosen(self, maskings: tuple[Masking, ...], tol: float, method: str) -> str:
        serves = self._kept.get((maskings, "serves"), lambda: heaps.serves(self.counts, maskings))
        return choice.choose_counted(maskings[-1], serves, tol, method)

    def _searched(self, width: float | None, tol: float) -> grid.Steps | grid.Polynomials:
        maskings = self._maskings(width)
        if self._chosen(maskings, tol, "auto") != "grid":
            raise UndefinedError(TOO_WIDE)
        return self._line_of(maskings, tol, False)

    def _line_of(
        self, maskings: tuple[Masking, ...], tol: float, density: bool
    ) -> grid.Steps | grid.Polynomials:
        found: grid.Steps | grid.Polynomials
        if maskings[-1].beta == 0.0:
            found = self._kept.get("T_1", lambda: heaps.steps(self.counts, maskings))
        else:
            unit = self.law.step / self.law.sigma if density else 1.0
            found = self._kept.get(
                (maskings, tol, density),
                lambda: heaps.polynomials(self.counts, maskings, tol * unit, density=density),
            )
        return found
