"""A relation among columns that holds record by record: a sum of multiples, or a product of powers."""

from typing import NamedTuple

import numpy as np

Table = dict[str, np.ndarray]
Steps = dict[str, float]  # to which columns are rounded

SLACK = 1e-9  # relative, besides half a step of every column
MOST = 0.9  # of a value: half a step beside it
NEARLY = 0.995  # of the values


class Identity(NamedTuple):
    """left = constant + sum of factor * column, or left = e^constant * product of column^factor.

    Attributes
    ----------
    left : str
        The column on the left.
    right : tuple of (str, float)
        Columns on the right with their factors, or exponents.
    constant : float
        Added; of a product the logarithm of its factor.
    product : bool
        Whether it is a product of powers.
    rounding : tuple of (str, float)
        Columns whose rounding keeps it from being exact in the data, and their steps.
    hidden : tuple of str
        Columns whose factors are values of other columns, and are not printed: indicators.
    """

    left: str
    right: tuple[tuple[str, float], ...]
    constant: float = 0.0
    product: bool = False
    rounding: tuple[tuple[str, float], ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.left, *(name for name, _ in self.right))

    @property
    def adds_up(self) -> bool:
        """Whether the left side is the sum of the columns on the right."""
        return not self.product and len(self.right) > 1 and all(factor == 1.0 for _, factor in self.right)

    def residual(self, table: Table) -> np.ndarray:
        """The left side less the right one; of a product relative to the sum of their sizes."""
        left, right = table[self.left], self._right(table)
        if not self.product:
            return np.asarray(left - right)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.asarray((left - right) / (np.abs(left) + np.abs(right)))

    def _right(self, table: Table) -> np.ndarray:
        if not self.product:
            return np.asarray(self.constant + sum(factor * table[name] for name, factor in self.right))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            powers = [table[name] ** power for name, power in self.right]
            return np.asarray(np.exp(self.constant) * np.prod(powers, axis=0))

    def slack(self, table: Table, steps: Steps) -> np.ndarray:
        """How far off the residual may be by rounding: of the data, and to steps that are coarser."""
        rounding, terms = dict(self.rounding), ((self.left, 1.0), *self.right)
        slack = np.zeros(table[self.left].shape)
        for name, factor in terms:
            width, step = rounding.get(name, 0.0), steps.get(name, 0.0)
            half = 0.5 * (width + (step if step > width else 0.0))
            if self.product and half > 0.0:
                with np.errstate(divide="ignore"):
                    share = np.minimum(half / np.abs(table[name]), MOST)
                slack += 0.5 * abs(factor) * share / (1.0 - share)
            elif not self.product:
                slack += abs(factor) * (half + SLACK * np.abs(table[name]))
        return np.asarray(slack * (1.0 + SLACK) + SLACK * (1.0 if self.product else abs(self.constant)))

    def holds(self, table: Table, steps: Steps) -> np.ndarray:
        """In which records it holds, for all that the steps to which values are rounded can tell."""
        return np.asarray(np.abs(self.residual(table)) <= self.slack(table, steps))

    def says_something(self, table: Table) -> np.ndarray:
        """In which records it could fail: two values are not 0, or of a product all positive."""
        values = [table[name] for name in self.names]
        if self.product:
            return np.asarray(np.min(values, axis=0) > 0.0)
        two = np.sum([x != 0.0 for x in values], axis=0) >= 2
        return np.asarray(two & ~np.isnan(np.sum(values, axis=0)))

    def computed(self, table: Table, target: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A column, what the relation makes it from the others, and how far off rounding may bring that.

        All three of a product in logarithms.
        """
        factor = 1.0 if target == self.left else -dict(self.right)[target]
        residual, slack = self.residual(table), self.slack(table, {})
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(table[target]) if self.product else table[target]
            if self.product:  # (l - r) / (l + r) is tanh(log(l / r) / 2)
                residual, slack = 2.0 * np.arctanh(residual), 2.0 * slack
            return value, np.asarray(value - residual / factor), np.asarray(slack / abs(factor))

    def __str__(self) -> str:
        return f"{self.left!r} = {self._powers() if self.product else self._terms()}"

    def _terms(self) -> str:
        text = ""
        for name, factor in sorted(self.right, key=lambda term: term[1] < 0.0):
            sign = " - " if factor < 0.0 else " + "
            size = "a multiple of " if name in self.hidden else _shown(abs(factor))
            text += (sign if text else sign.strip(" +")) + f"{size}{name!r}"
        return text + (" + a constant" if self.constant else "")

    def _powers(self) -> str:
        above, below = (
            [
                f"{name!r}{'' if abs(power) == 1.0 else f'^{abs(power):.6g}'}"
                for name, power in self.right
                if (power > 0.0) == positive
            ]
            for positive in (True, False)
        )
        factor = [f"{np.exp(self.constant):.6g}"] if self.constant or not above else []
        text = " * ".join(factor + above)
        return text + "".join(f" / {name}" for name in below)


def _shown(factor: float) -> str:
    return "" if factor == 1.0 else f"{factor:.6g} "


def resolution(x: np.ndarray) -> float:
    """The power of ten of which nearly all values are multiples, or the spacing of float32; else 0."""
    x = x[~np.isnan(x) & (x != 0.0)]
    if not x.size:
        return 0.0
    size = float(np.max(np.abs(x)))
    for power in range(int(np.floor(np.log10(size))), -10, -1):
        step = 10.0**power if power >= 0 else 1.0 / 10.0**-power
        units = x / step
        if size / step > 1e9:
            break
        if np.mean(np.abs(units - np.rint(units)) <= 1e-6) >= NEARLY:
            return step
    single = x.astype(np.float32).astype(float) == x
    return float(np.median(np.abs(x))) * 2.0**-23 if single.all() else 0.0
