"""Do bands hold the whole distribution, do tests of it reject as rarely as they say, and what do they find?

    python -m benchmarks.bands FOLDER --workers 2 --write docs/measured/bands.rst

Files of 2000 records and all points of their grid. Every cell is kept in FOLDER when it is done and not
computed again. All take an hour of two cores, with OPENBLAS_NUM_THREADS=1 in the environment.
"""

import itertools
import math
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import command, row
from benchmarks.coverage import PLAIN, SIGMA

DONORS = ("sample", "permutation")
N, SD = 2_000, 50.0  # records; steps of the grid in a standard deviation of the data
OTHER = cm.ConditionalMasking(0.7, 0.5 * SD, noise="laplace", donors="permutation", decimals=0)
HEADS = {
    "population": "band, population, 95%",
    "file": "band, file, 95%",
    "one 0": "one sample rejected at 5%",
    "two 0": "two samples rejected at 5%",
    "one 0.1": "one sample, shifted by .1 s.d.",
    "two 0.15": "two samples, shifted by .15 s.d.",
}


def cells():
    """(name, data, p, donors) of all of them, the most telling first."""
    found = itertools.product(("normal", "lognormal", "laplace", "uniform"), (0.6, 0.3, 0.8), DONORS)
    return [(f"{data}-{donors}-{p}", data, p, donors) for data, p, donors in found]


def run(cell, replications, seed):
    """How often bands hold and tests reject."""
    name, data, p, donors = cell
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    law = PLAIN[data]
    scheme = cm.ConditionalMasking(p, SIGMA * SD, donors=donors, decimals=0)
    t = np.arange(math.floor(SD * law.ppf(1e-7)) - 5.0 * SD, SD * law.ppf(1.0 - 1e-7) + 5.0 * SD)
    truth = law.cdf((t + 0.5) / SD)  # of rounded values
    counted = dict.fromkeys(HEADS, 0)

    def released(own, shift=0.0):
        x = np.rint(SD * (law.rvs(N, rng) + shift))
        stream = np.random.default_rng(rng.integers(0, 2**63, 4))
        return x, own.estimate(own.mask_rows(x[None], stream, ())[0])

    for k in range(replications):
        x, estimate = released(scheme)
        whole = estimate.cdf(t, monotone=True)
        of_file = np.searchsorted(np.sort(x), t, side="right") / N
        for target, aim in (("population", truth), ("file", of_file)):
            half = estimate.cdf_band(target=target, rng=k).half_width
            counted[target] += int(np.abs(whole - aim).max() <= half)
        for shift in (0.0, 0.1):
            found = cm.compare_distributions(estimate, lambda at, s=shift: law.cdf(at / SD + s), rng=k)
            counted[f"one {shift:g}"] += int(found.pvalue <= 0.05)
        for shift in (0.0, 0.15):
            found = cm.compare_distributions(estimate, released(OTHER, shift)[1], rng=k)
            counted[f"two {shift:g}"] += int(found.pvalue <= 0.05)
    return {"cell": name, "seed": seed, "replications": replications, "counted": counted}


def table(results):
    """reStructuredText: a row for each cell."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.4f} of {count:,} replications" for count in counts)
    lines = [
        f"Cells are data-donors-p. The Monte Carlo standard error of a share of 5% or 95% is {errors}.",
        "", ".. list-table::", "   :header-rows: 1", "",
    ]  # fmt: skip
    rows = [["", *HEADS.values()]]
    for result in results:
        shares = (result["counted"][name] / result["replications"] for name in HEADS)
        rows.append([result["cell"], *(f"{share:.3f}".removeprefix("0") for share in shares)])
    lines += itertools.chain.from_iterable(map(row, rows))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 2_000)
