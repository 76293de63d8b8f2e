"""What masking never changes in a record: the class that a masked value shows of itself.

With heaps, the level of a value (its number of trailing zeros, up to that of the coarsest heap) and all
digits below it: noise moves a value of level l by multiples of 10^(l+1) steps, of the coarsest heap where it
is a multiple of that. On the log scale, the sign, and zero.

Within a class noise of one law is added to a whole number, and a masked value of the class is another one's
original with probability p, else its own plus noise: classes are strata that the values themselves name.
"""

import numpy as np

from condmask._grid import Grid
from condmask._log_grid import SHIFT
from condmask.law import Law


def level_of(units: np.ndarray, heaps: int) -> np.ndarray:
    """The number of trailing zeros, at most that of `heaps`, a power of ten."""
    level, unit = np.zeros(units.shape, dtype=np.int64), 10
    while unit <= heaps:
        level += units == unit * np.floor(units / unit)
        unit *= 10
    return level


def noise_units(heaps: int) -> list[int]:
    """Of what multiple, in steps, the noise of each level is."""
    units = [10]
    while units[-1] < heaps:
        units.append(units[-1] * 10)
    return [*units, heaps] if heaps > 1 else [1]


def classes(units: np.ndarray, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """The code of each value's class, and the whole number to which noise is added; no values are missing.

    With heaps a code is ``10 * level + digit``, the digit before the trailing zeros (0 at the top level);
    on the log scale 0, 1, 2 for negative amounts, zero and positive ones.
    """
    if law.scale == "log":
        sign = np.sign(units)
        return sign.astype(np.int64) + 1, np.where(sign == 0.0, 0.0, np.abs(units) - SHIFT)
    if law.heaps == 1:
        return np.zeros(units.shape, dtype=np.int64), units
    level = level_of(units, law.heaps)
    unit = np.array(noise_units(law.heaps), dtype=np.float64)[level]
    at = np.floor(units / unit)
    digit = np.rint(10.0 * (units - at * unit) / unit)
    return 10 * level + digit.astype(np.int64), at


def class_law(code: int, law: Law) -> Law | None:
    """The law within a class, on the grid whose steps are counted there; None where nothing is added."""
    if law.scale == "log":
        return None if code == 1 else law.additive
    if law.heaps == 1:
        return law
    return level_laws(law)[code // 10]


def class_units(code: int, at: np.ndarray, law: Law) -> np.ndarray:
    """The values of a class in units, from what noise is added to: the inverse of `classes`."""
    if law.scale == "log":
        return np.asarray((code - 1.0) * (at + SHIFT))
    if law.heaps == 1:
        return at
    unit = noise_units(law.heaps)[code // 10]
    return np.asarray(at * unit + code % 10 * (unit // 10))


def level_laws(law: Law) -> list[Law]:
    """The plain law of each level."""
    assert isinstance(law.grid, Grid)
    grid = law.grid
    return [law._replace(grid=grid.times(unit), heaps=1) for unit in noise_units(law.heaps)]


def variances(units: np.ndarray, law: Law, scale: float) -> np.ndarray:
    """The variance of the noise of each value in units of `scale` squared, as its level tells."""
    own = np.array([each.noise_moments(2, scale)[2] for each in level_laws(law)])
    return np.asarray(own[level_of(units, law.heaps)])


def mean_variance(units: np.ndarray, counts: np.ndarray, law: Law, scale: float) -> float:
    """Its average over records, so many of each value."""
    if law.heaps == 1:
        return float(law.noise_moments(2, scale)[2])
    return float(counts @ variances(units, law, scale) / counts.sum())
