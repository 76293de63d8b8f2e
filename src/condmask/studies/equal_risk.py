"""Methods at the disclosure risk of another: the parameter at which the best attacker does equally well.

Their share of records falls as noise grows, since more noise is noise on top of less, and as ranks are
swapped over a wider window. Every parameter is tried with the same random numbers.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from condmask._randomness import seeded_key
from condmask.scheme import Scheme
from condmask.schemes.additive import AdditiveNoise
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.multiplicative import MultiplicativeNoise
from condmask.schemes.swapping import RankSwapping
from condmask.studies.attacker import FittedAttacker

LEAST, MOST = 1e-2, 1e2  # standard deviations of noise
CLOSE = 0.005  # of the logarithm of a parameter


def families(
    scheme: ConditionalMasking, x: np.ndarray
) -> dict[str, tuple[Callable[[float], Scheme], float, float]]:
    """By method: the scheme for a parameter, and the range to search."""
    p, noise, donors, spread = scheme.p, scheme.noise, scheme.donors, float(x.std())
    noises: dict[str, Callable[[float], Scheme]] = {
        "conditional masking": lambda size: ConditionalMasking(p, size, noise=noise, donors=donors),
        "reverse mapping": lambda size: ConditionalMasking(p, size, noise=noise, reverse_mapping=True),
        "Laplace noise": lambda size: AdditiveNoise(size, noise="laplace"),
        "normal noise": lambda size: AdditiveNoise(size, noise="normal"),
    }
    return {name: (make, LEAST * spread, MOST * spread) for name, make in noises.items()} | {
        "multiplicative noise": (MultiplicativeNoise, LEAST, MOST),
        "rank swapping": (lambda percent: RankSwapping(min(percent, 100.0)), 100.0 / x.size, 100.0),
    }


def tuned(
    make: Callable[[float], Scheme], low: float, high: float, risk: float, attacker: FittedAttacker, seed: int
) -> Scheme | None:
    """The scheme of a family with this risk; None if there is none."""

    def excess(logarithm: float) -> float:
        stream = seeded_key(seed, b"equal").stream(0, 0)
        return attacker.risk(make(float(np.exp(logarithm))), stream) - risk

    ends = np.log(low), np.log(high)
    if excess(ends[0]) < 0.0 or excess(ends[1]) > 0.0:
        return None
    return make(float(np.exp(brentq(excess, *ends, xtol=CLOSE))))
