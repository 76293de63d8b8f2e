"""When quantiles are those of the monotone rearrangement T* of T, and how far T* varies.

Which crossing of T is the quantile where nobody says is the one with the smaller error. The monotone
rearrangement takes out the ups and downs of T, of which the first crossing makes a bias towards small
values. They grow as p and n fall, so rearranging pays, by 2% of the RMSE of the quantiles .05 and .95 and
more, below a p that falls with n; beyond it the two differ by less (docs/inference_distribution.rst,
"Rearranging").

How far T* varies: over short distances the error of T is a Brownian motion: its increment over a stretch
with a share m of the masked values, over which the distribution function rises by g, has variance rho/n
with rho = m/p^2 + k g; k is 1 for the population and 0 for the file, less 1 where donors are a permutation.
Along a straight line of that slope T* is T averaged over a stretch of rho/(n g^2) such lengths, so its
variance depends on that of T, S/n, and on

    tau = (rho / g)^2 / (n S)

alone. If the error forgets itself at the rate rho/S, as it does on the scale of sigma, simulation gives
Var T* / Var T = .957 .877 .737 .586 at tau = .1 .3 1 3, and (1 + 2 tau / 3)^(-1/2) is .968 .913 .775 .577
(docs/inference_distribution.rst, "How far T* varies").
"""

from math import log

import numpy as np

FEW, MANY = 100, 2_000  # records: where rearranging pays
P_OF_FEW, P_OF_MANY = 0.77, 0.5  # below these p
GAIN = 2.0 / 3.0
ROOM = 10.0  # T* averages over some 1/(n p^2) of the probability, which must leave room for the curve to bend


def crossing_of(p: float, n: int) -> str:
    """ "rearranged" or "first", for T of so many records; between `FEW` and `MANY` it goes by log n."""
    share = min(max(log(MANY / max(n, 1)) / log(MANY / FEW), 0.0), 1.0)
    return "rearranged" if 0.0 < p < P_OF_MANY + share * (P_OF_FEW - P_OF_MANY) else "first"


def kept_variance(
    rise: np.ndarray, records: np.ndarray, variance: np.ndarray, n: int, p: float, originals: int
) -> np.ndarray:
    """Var T* / Var T, for each of some quantiles.

    Parameters
    ----------
    rise, records, variance : ndarray of shape (2, quantiles)
        To the left and to the right of a quantile: by how much the distribution function rises on the way to
        an end of the quantile's interval, the share of the masked values there, and n Var T at that end.
    originals : int
        k above.

    Notes
    -----
    The steeper side counts: where the curve bends, T* is no average along a straight line, and an average
    over the flat side would be biased at the foot of the steep one.
    """
    known = (rise > 0.0) & (variance > 0.0)
    ratio = records / p**2 / np.where(known, rise, 1.0) + originals
    tau = np.where(known, np.maximum(ratio, 0.0) ** 2 / (n * np.where(known, variance, 1.0)), np.inf)
    return np.asarray(1.0 / np.sqrt(1.0 + GAIN * np.minimum(tau.min(axis=0), n * p**2 / ROOM)))
