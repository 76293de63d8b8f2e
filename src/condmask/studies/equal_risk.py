"""Other methods at the disclosure risk of a conditional masking: which parameter gives a method that risk.

The risk is P(abs(Z_i - X_i) < d), the one that every method has, and it falls as more noise is added or as
ranks are swapped over a wider window.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from condmask._randomness import seeded_key
from condmask.schemes.additive import AdditiveNoise
from condmask.schemes.multiplicative import MultiplicativeNoise
from condmask.schemes.scheme import Scheme
from condmask.schemes.swapping import RankSwapping

MASKINGS = 8  # that a simulated risk is the mean of
WIDEST = 1e6  # of a factor's standard deviation, beyond which no more noise is tried


def additive(risk: float, d: float, noise: str) -> AdditiveNoise:
    """The noise that leaves a value within d with this probability."""
    if noise == "normal":
        return AdditiveNoise(d / float(ndtri(0.5 * (1.0 + risk))), noise=noise)
    return AdditiveNoise(-np.sqrt(2.0) * d / float(np.log1p(-risk)), noise=noise)


def multiplicative(x: np.ndarray, risk: float, d: float) -> MultiplicativeNoise | None:
    """The factor that does so on average over a file; None where small values stay near whatever it is."""

    def excess(log_sigma: float) -> float:
        return float(MultiplicativeNoise(float(np.exp(log_sigma))).risk(x, d)) - risk

    low, high = np.log(1e-9), np.log(WIDEST)
    # log-normal factors of mean one crowd near 0 as they spread, so that the risk need not fall for ever
    grid = np.linspace(low, high, 70)
    below = [k for k, at in enumerate(grid) if excess(at) < 0.0]
    if not below or below[0] == 0:
        return None
    return MultiplicativeNoise(float(np.exp(brentq(excess, grid[below[0] - 1], grid[below[0]], xtol=1e-9))))


def rank_swapping(x: np.ndarray, risk: float, d: float, seed: int) -> RankSwapping | None:
    """The window, in steps of a record; None where the widest is not wide enough."""
    measured = simulated(x, d, seed)
    narrow, wide = 1, x.size
    if measured(RankSwapping(100.0)) > risk:
        return None
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        if measured(RankSwapping(100.0 * middle / x.size)) > risk:
            narrow = middle
        else:
            wide = middle
    return RankSwapping(100.0 * wide / x.size)


def simulated(x: np.ndarray, d: float, seed: int, others: Any = ()) -> Callable[[Scheme], float]:
    """The share of records whose masked value lies within d of the true one, with the same random numbers."""

    def measured(scheme: Scheme) -> float:
        stream = seeded_key(seed, b"risk").stream(0, 0)
        found = [
            np.mean(np.abs(scheme.mask_rows(x[None], stream, tuple(o[None] for o in others))[0] - x) < d)
            for _ in range(MASKINGS)
        ]
        return float(np.mean(found))

    return measured
