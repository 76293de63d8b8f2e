"""How exact is K, and what does a value cost? Errors are against the inverse Fourier integral."""

import numpy as np

from condmask.deconvolution import series as host
from condmask.deconvolution import table as weights
from condmask.deconvolution import weight
from condmask.kernels import interpolant, series


class Weight:
    """Worst error of K on [-30, 30] at a tolerance."""

    param_names = ["p", "tol", "method"]
    params = [[0.6, 0.501, 0.9], [1e-6, 1e-10], ["interpolant", "series"]]
    unit = "absolute error"

    def track_error(self, p, tol, method):
        masking = weight.Masking("normal", p)
        u = np.linspace(1e-9, 30.0, 2001)
        exact = 0.5 + weight.half_weight(masking, u)
        if method == "series":
            c = host.coefficients(p, tol)
            rates = host.rates(0.0, c.size)
            found = np.array([series.weight(v, c, rates) for v in u])
        else:
            table = weights.table(masking, tol)
            found = np.array([interpolant.sum_weights(np.zeros(1), v, 1.0, table, 0, 1) for v in u])
        return float(np.abs(found - exact).max())
