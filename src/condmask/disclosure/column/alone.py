"""Return the figures of a column with nothing beside it, by the joint law of each donor pool."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure.column.joint_law import JointLaw
from condmask.disclosure.figures import Figures
from condmask.disclosure.scale import D, line_of
from condmask.strata import values_by_pool

CELLS = 512  # of one column by itself
MAX_VALUES = 16_384  # of a pool


def figures_alone(
    x: np.ndarray, pool: np.ndarray | None, scheme: Any, distances: Sequence[float] = ()
) -> list[Figures]:
    """Return the figures of a column at distances in the units of the data, or at a tenth of the
    spread on the scale on which noise is added.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Originals, NaN where one is missing.
    pool : ndarray of shape (n,) or None
        The donor pool of each record, which all know; below 0 for none.
    scheme : ConditionalMasking or ReverseMapping
    distances : sequence of float
    """
    rows = []
    sizes = []
    to_line = np.asarray if distances else line_of(x, scheme).to
    near = list(distances) or [D]
    for _, values in values_by_pool(x, pool):
        some = np.sort(values)[evenly_spaced(values.size, MAX_VALUES)]
        law = JointLaw.of(some, scheme, CELLS)
        law = law._replace(values=to_line(law.values))
        rows.append([(law.constant(d), law.best(d), law.best(d, known_coins=True)) for d in near])
        sizes.append(values.size)
    means = np.average(rows, axis=0, weights=sizes).tolist()
    return [
        Figures(d, constant, constant, expected, worst, outsider=expected, lift=worst - constant)
        for d, (constant, expected, worst) in zip(near, means, strict=True)
    ]
