r"""The attacker who knows every other column of a record: those in clear, and the originals of those masked.

Columns that are masked together share their swap status. Anyone who knows the original w of another column
sees whether its released value v lies near w, as in a kept record, or anywhere, as in a swapped one. With the
noise of that column, phi, and the law f of its values, the chance that the record was swapped becomes

    p prod f(v) / { p prod f(v) + (1 - p) prod phi(v - w) },

the products being over the other columns. The rest is the attack by neighbours, in all columns, with this
chance in place of p. Densities are approximate, which makes the attacker weaker: hits are counted.
"""

from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure import baselines, neighbours
from condmask.disclosure.pools import pools_of

TRIED, FEWEST = 1 << 12, 1 << 6  # records of the file, and of a pool, on half of which the attacker is tried
WINDOW = 0.25  # of the noise's s.d., to either side, in which originals are counted
LEAST = 1e-12  # of a density


def swap_evidence(x: np.ndarray, z: np.ndarray, scheme: Any, strata: np.ndarray | None) -> np.ndarray:
    """How much likelier one column makes it that each record was swapped: the logarithm of f(v) / phi(v - w).

    `x` are the originals, `z` the released values, none missing.
    """
    _, law, pools = pools_of(x, scheme, strata, "risk")
    released, evidence = law.to_units(z), np.empty(x.size)
    for rows, pool in pools:
        width = pool.noise_width
        at, shown = pool.positions(np.arange(pool.n)), pool.released_positions(released[rows])
        ordered, reach = np.sort(at), WINDOW * width
        near = np.searchsorted(ordered, shown + reach, side="right") - np.searchsorted(ordered, shown - reach)
        swapped = near / (pool.n * 2.0 * reach)
        kept = np.exp(-0.5 * ((shown - at) / width) ** 2) / (np.sqrt(2.0 * np.pi) * width)
        evidence[rows] = np.log(np.maximum(swapped * width, LEAST)) - np.log(np.maximum(kept * width, LEAST))
    return evidence


def by_all_columns(
    x: np.ndarray, z: np.ndarray, scheme: Any, d: np.ndarray, known: list[np.ndarray], evidence: np.ndarray,
    strata: np.ndarray | None,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The share of originals that the attacker comes nearer than each distance, and of how many that is.

    `known` are the other columns, NaN where a value is missing; `evidence` is that of the masked ones whose
    originals are among them, added up.
    """
    _, law, pools = pools_of(x, scheme, strata, "risk")
    released, shares, tried = law.to_units(z), np.zeros(d.size), 0
    for rows, pool in pools:
        some = evenly_spaced(pool.n, max(FEWEST, TRIED * pool.n // x.size))
        shown = released[rows][some]
        posteriors = pool.posteriors(shown, some, d, baselines.by_constant(pool, d))
        odds = np.log(law.p / (1.0 - law.p)) + evidence[rows][some]
        swapped = 1.0 / (1.0 + np.exp(-np.clip(odds, -40.0, 40.0)))
        share, records = neighbours.by_neighbours(
            pool, shown, some, [column[rows] for column in known], posteriors, d, swapped
        )
        shares += share * (pool.n / x.size)
        tried += records
    return shares, tried
