"""Peak memory of a whole analysis of difficult data: ``python benchmarks/versus/analysis_memory.py``.

What Python and NumPy allocate beyond the masked values themselves; allowed are 64 bytes a record and 64 MB.
"""

import tracemalloc

import numpy as np
import tables
from tables import Line

import condmask as cm

N = 1_000_000
DECILES = np.arange(1, 10) / 10
MB = 2.0**20


def data(n):
    """Masked values in units of sigma, by name."""
    rng = np.random.default_rng(3)
    return {
        "Laplace": rng.laplace(0, 1, n),
        "Cauchy": rng.standard_cauchy(n),
        "Pareto, index 0.5": rng.pareto(0.5, n),
        "outlier at 1e12 sigma": np.append(rng.normal(size=n - 1), 1e12),
        "all equal": np.zeros(n),
        "two far clusters": np.append(rng.normal(size=n // 2), 1e9 + rng.normal(size=n - n // 2)),
        "isolated": np.arange(n) * 1e3,
        "sigma tiny": 1e6 * rng.normal(size=n),
        "sigma huge": 1e-6 * rng.normal(size=n),
    }


def peak(scheme, z, bandwidth):
    """Bytes allocated at most by T at 1000 x and nine quantiles."""
    tracemalloc.start()
    estimate = scheme.estimate(z)
    estimate.cdf(z[:: max(1, z.size // 1000)], bandwidth=bandwidth)
    estimate.quantile(DECILES, bandwidth=bandwidth)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def measure(args, n=N):
    allowed = 64 * n + 64 * MB
    lines = []
    for name, z in data(n).items():
        for said, grid in (("on the default grid", {}), ("without a grid", {"step": 0.0})):
            found = []
            for noise in ("normal", "laplace"):
                scheme = cm.ConditionalMasking(0.6, 1.0, noise=noise, **grid)
                values = z if grid else np.rint(z / scheme.step) * scheme.step
                found += [peak(scheme, values, bandwidth) for bandwidth in (None, 0.01, 0.1)]
            lines.append(Line(f"{name}, {said}", max(found) / MB, allowed / MB, unit="MB"))
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
