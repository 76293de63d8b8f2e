"""Do bands hold the whole distribution, do tests of it reject as rarely as they say, and what do they find?

    python -m benchmarks.bands FOLDER --workers 2 --write docs/measured/bands.rst

Files of 2000 records and all points of their grid. Every cell is kept in FOLDER when it is done and not
computed again. All take half an hour of two cores, with OPENBLAS_NUM_THREADS=1 in the environment.
"""

import itertools
import math
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import command, row
from benchmarks.coverage import PLAIN, SIGMA
from benchmarks.laws import LAWS

DONORS = ("sample", "permutation")
N, SD = 2_000, 50.0  # records; steps of the grid in a standard deviation of the data
BLOCK = 50  # files that are drawn and masked together
OTHER = cm.ConditionalMasking(0.7, 0.5 * SD, noise="laplace", donors="permutation", decimals=0)
HEADS = {
    "population": "band, population, 95%",
    "file": "band, file, 95%",
    "two 0": "two samples rejected at 5%",
    "two 0.15": "two samples, shifted by .15 s.d.",
}


def cells():
    """(name, data, p, donors) of all of them, the most telling first; "reverse" for reverse mapping."""
    found = itertools.chain(
        itertools.product(("normal", "lognormal", "laplace", "uniform"), (0.6, 0.3, 0.8), DONORS),
        itertools.product(("mixture",), (0.6, 0.3), DONORS),
        itertools.product(("normal", "mixture"), (0.6,), ("reverse",)),
    )
    return [(f"{data}-{donors}-{p}", data, p, donors) for data, p, donors in found]


def scheme_of(p, donors):
    if donors == "reverse":
        return cm.ConditionalMasking(p, SIGMA * SD, reverse_mapping=True)
    return cm.ConditionalMasking(p, SIGMA * SD, donors=donors, decimals=0)


def run(cell, replications, seed):
    """How often bands hold and tests reject."""
    name, data, p, donors = cell
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    law, scheme = PLAIN.get(data) or LAWS[data], scheme_of(p, donors)
    unit = SD / float(law.std())
    low, high = unit * law.ppf([1e-6, 1.0 - 1e-6])
    t = np.arange(math.floor(low) - 5.0 * SD, high + 5.0 * SD)
    truth, counted = law.cdf((t + 0.5) / unit), dict.fromkeys(HEADS, 0)

    def released(own, size, shift=0.0):
        """So many files, and the estimates from their releases."""
        x = np.rint(unit * law.rvs((size, N), rng) + shift * SD)
        z = own.mask_rows(x, np.random.default_rng(rng.integers(0, 2**63, 4)), ())
        return [(row, own.estimate(masked)) for row, masked in zip(x, z, strict=True)]

    for start in range(0, replications, BLOCK):
        size = min(BLOCK, replications - start)
        files = released(scheme, size)
        others = {shift: released(OTHER, size, shift) for shift in (0.0, 0.15)}
        for k, (x, estimate) in enumerate(files):
            whole = estimate.cdf(t, monotone=True)
            of_file = np.searchsorted(np.sort(x), t, side="right") / N
            for target, aim in (("population", truth), ("file", of_file)):
                half = estimate.cdf_band(target=target, rng=start + k).half_width
                counted[target] += int(np.abs(whole - aim).max() <= half)
            for shift, other in others.items():
                found = cm.compare_distributions(estimate, other[k][1], rng=start + k)
                counted[f"two {shift:g}"] += int(found.pvalue <= 0.05)
    return {"cell": name, "seed": seed, "replications": replications, "counted": counted}


def table(results):
    """reStructuredText: a row for each cell."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.4f} of {count:,} replications" for count in counts)
    lines = [
        "Cells are named data-donors-p. After reverse mapping (data-reverse-p) that of the file is known.",
        f"Monte Carlo standard errors of a share of 5% or 95%: {errors}.",
        "", ".. list-table::", "   :header-rows: 1", "",
    ]  # fmt: skip
    rows = [["", *HEADS.values()]]
    for result in results:
        shares = (result["counted"][name] / result["replications"] for name in HEADS)
        rows.append([result["cell"], *(f"{share:.3f}".removeprefix("0") for share in shares)])
    lines += itertools.chain.from_iterable(map(row, rows))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 4_000)
