"""How much a group's estimated distribution says, and when it is refused or warned of.

Two figures are measured for each group: how many unmasked records would give its median as well
(`worth`), and how much of its membership the values explain (`explained`, R^2). Where R^2 is high
the group nearly ends at some value, and that edge is blurred (docs/theory.rst,
"Groups of records").
"""

from collections.abc import Sequence

import numpy as np

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning

MIN_WORTH = 5.0  # unmasked records; less is refused
ENOUGH_WORTH = 15.0  # below this the ends of the distribution are unsure
MAX_EXPLAINED = 0.5  # above this a group nearly ends at some value
NO_RECORD = "no record with a value"
NO_WEIGHT = "no weight that is not 0"
ONE_RECORD = "one record"
ONE_CLUSTER = "one cluster"
NO_DIRECTION = "masking leaves too little to tell it from the other records"
LITTLE_WORTH = f"worth fewer than {MIN_WORTH:.0f} unmasked records"


def worth(share: float, variance: float) -> float:
    """Return how many unmasked records would know the median as well.

    Parameters
    ----------
    share : float
        The group's distribution function at its estimated median.
    variance : float
        Of the former, about the population.
    """
    inside = float(np.clip(share, 0.0, 1.0))
    return inside * (1.0 - inside) / variance if variance > 0.0 else np.inf


def warn_of_unsure(function: str, worths: np.ndarray, explained: Sequence[float]) -> None:
    """Warn of groups whose distributions are known poorly, by how many they are."""
    count = len(worths)
    few = int(np.count_nonzero((worths >= MIN_WORTH) & (worths < ENOUGH_WORTH)))
    if few:
        warn(
            f"{function}: {few} of {count} groups are worth fewer than {ENOUGH_WORTH:.0f} "
            "unmasked records: the ends of their distributions are unsure",
            EstimateWarning,
        )
    edged = int(np.count_nonzero(np.asarray(explained) > MAX_EXPLAINED))
    if edged:
        warn(
            f"{function}: {edged} of {count} groups nearly end at some value, and that edge "
            "is blurred by masking: trust the middle of their distributions",
            EstimateWarning,
        )
    refused = int(np.count_nonzero(worths < MIN_WORTH))
    if refused:
        warn(
            f"{function}: {refused} of {count} groups are {LITTLE_WORTH}: no estimate is given",
            EstimateWarning,
        )
