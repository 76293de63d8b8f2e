"""Which crossing of T is the quantile where nobody says: the one with the smaller error.

The monotone rearrangement takes out the ups and downs of T, of which the first crossing makes a bias towards
small values. They grow as p and n fall, so rearranging pays, by 2% of the RMSE of the quantiles .05 and .95
and more, below a p that falls with n; beyond it the two differ by less (docs/inference_distribution.rst,
"Rearranging").
"""

from math import log

FEW, MANY = 100, 2_000  # records: where rearranging pays
P_OF_FEW, P_OF_MANY = 0.77, 0.5  # below these p


def crossing_of(p: float, n: int) -> str:
    """ "rearranged" or "first", for T of so many records; between `FEW` and `MANY` it goes by log n."""
    share = min(max(log(MANY / max(n, 1)) / log(MANY / FEW), 0.0), 1.0)
    return "rearranged" if 0.0 < p < P_OF_MANY + share * (P_OF_FEW - P_OF_MANY) else "first"
