"""In how many files does the warning of heavy tails speak?

    python -m benchmarks.heavy_tails --write docs/measured/heavy_tails.rst

Noise is normal with .7 standard deviations of the data. It takes four minutes.
"""

import itertools
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import finish, options, row
from benchmarks.faults_linear import LAWS
from condmask.variance import heavy_tails

NAMES = {
    "normal": "normal",
    "uniform": "uniform",
    "laplace": "Laplace",
    "t4": "Student's t, 4 degrees of freedom",
    "pareto3": "Pareto, index 3",
}
SIZES, PS, SIGMA, LOWER = (150, 1_000), (0.3, 0.6, 0.8), 0.7, 7.0
DONORS = ("sample", "permutation")


def run(data, n, p, donors, replications, seed):
    """The shares of files with a kurtosis above the limit, and above a lower one."""
    scheme = cm.ConditionalMasking(p, SIGMA, donors=donors)
    rng = np.random.default_rng([zlib.crc32(repr((data, n, p, donors)).encode()), seed])
    found = []
    for _ in range(replications):
        estimate = scheme.estimate(scheme.mask_rows(LAWS[data].rvs((1, n), rng), rng, ())[0])
        found.append(heavy_tails.kurtosis(estimate._sample.moments(4), scheme.law))
    limit = max(heavy_tails.HEAVY, n / heavy_tails.ENOUGH)
    return tuple(float(np.mean(np.array(found) > least)) for least in (limit, LOWER))


def table(found, replications):
    """reStructuredText: a row for each size and limit, a column for each law."""
    lines = [
        f"Shares of {replications:,} files, the smallest and the largest over p = {PS[0]} to {PS[-1]}",
        "and both kinds of donors.",
        "", ".. list-table::", "   :header-rows: 1", "",
        *row(["records", "kurtosis above", *NAMES.values()]),
    ]  # fmt: skip
    for n, which in itertools.product(SIZES, (0, 1)):
        limit = max(heavy_tails.HEAVY, n / heavy_tails.ENOUGH) if which == 0 else LOWER
        label = f"{limit:g}" + (" (no warning)" if which else " (warning)")
        fields = []
        for data in NAMES:
            shares = [found[data, n, p, donors][which] for p in PS for donors in DONORS]
            fields.append("-".join(sorted({f"{end(shares):.2f}" for end in (min, max)})))
        lines += row([f"{n:,}", label, *fields])
    return "\n".join(lines) + "\n"


def main():
    asked = options(__doc__, 1_000).parse_args()
    cells = list(itertools.product(NAMES, SIZES, PS, DONORS))
    found = {cell: run(*cell, asked.replications, asked.seed) for cell in cells}
    finish(table(found, asked.replications), asked)


if __name__ == "__main__":
    main()
