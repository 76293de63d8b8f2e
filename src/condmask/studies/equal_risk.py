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

LEAST, MOST = 1e-2, 1e2  # of a parameter: standard deviations of the file, factors, or percent
CLOSE = 0.005  # of the logarithm of a parameter


def families(scheme: ConditionalMasking, x: np.ndarray) -> dict[str, Callable[[float], Scheme]]:
    """By method the scheme for a parameter."""
    p, noise, donors, spread = scheme.p, scheme.noise, scheme.donors, float(x.std())
    return {
        "conditional masking": lambda s: ConditionalMasking(p, s * spread, noise=noise, donors=donors),
        "reverse mapping": lambda s: ConditionalMasking(p, s * spread, noise=noise, reverse_mapping=True),
        "Laplace noise": lambda s: AdditiveNoise(s * spread, noise="laplace"),
        "normal noise": lambda s: AdditiveNoise(s * spread, noise="normal"),
        "multiplicative noise": MultiplicativeNoise,
        "rank swapping": lambda percent: RankSwapping(min(max(percent, 100.0 / x.size), 100.0)),
    }


def tuned(make: Callable[[float], Scheme], risk: float, attacker: FittedAttacker, seed: int) -> Scheme | None:
    """The scheme of a family with this risk; None if there is none."""

    def excess(logarithm: float) -> float:
        stream = seeded_key(seed, b"equal").stream(0, 0)
        return attacker.risk(make(float(np.exp(logarithm))), stream) - risk

    ends = np.log(LEAST), np.log(MOST)
    if excess(ends[0]) < 0.0 or excess(ends[1]) > 0.0:
        return None
    return make(float(np.exp(brentq(excess, *ends, xtol=CLOSE))))
