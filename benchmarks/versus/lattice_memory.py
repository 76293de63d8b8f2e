"""Peak memory of a whole analysis of difficult data: ``python benchmarks/versus/lattice_memory.py [rows]``.

What Python and NumPy allocate beyond the masked values themselves; allowed are 64 bytes a record and 64 MB.
"""

import sys
import tracemalloc

import numpy as np

import condmask as cm

DECILES = np.arange(1, 10) / 10


def data(n):
    rng = np.random.default_rng(3)
    return {
        "Laplace": rng.laplace(0, 1, n),
        "Cauchy": rng.standard_cauchy(n),
        "Pareto, index 0.5": rng.pareto(0.5, n),
        "outlier at 1e15 sigma": np.append(rng.normal(size=n - 1), 1e15),
        "all equal": np.zeros(n),
        "two far clusters": np.append(rng.normal(size=n // 2), 1e9 + rng.normal(size=n - n // 2)),
        "isolated": np.arange(n) * 1e3,
        "sigma tiny": 1e6 * rng.normal(size=n),
        "sigma huge": 1e-6 * rng.normal(size=n),
    }


def main(n):
    allowed = 64 * n + 64 * 2**20
    print(f"n = {n:,}; allowed {allowed / 2**20:.0f} MB")
    for name, z in data(n).items():
        for noise, bandwidth in (
            ("normal", None),
            ("normal", 1e-4),
            ("normal", 0.1),
            ("laplace", None),
            ("laplace", 0.1),
        ):
            scheme = cm.ConditionalMasking(0.6, 1.0, noise=noise)
            tracemalloc.start()
            estimate = scheme.estimate(z)
            estimate.cdf(z[:: max(1, n // 1000)], bandwidth=bandwidth, method="lattice")
            estimate.quantile(DECILES, bandwidth=bandwidth)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"{name:22} {noise:8} b={bandwidth!s:7} {peak / 2**20:8.1f} MB")
            assert peak < allowed


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
