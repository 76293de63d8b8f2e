"""Does rearranging T pay? RMSE of its quantiles over that of the first crossings, by p and n.

    python -m benchmarks.rearranging --workers 2 --write docs/measured/rearranging.rst

Donors are drawn independently, noise is normal with .7 standard deviations of the data, and errors are those
about the quantiles of the population. It takes some twenty minutes of two cores; results do not depend on
workers.
"""

import functools
import itertools
import math
import zlib
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import condmask as cm
from benchmarks.cells import finish, options, row
from benchmarks.coverage import PLAIN, SIGMA

PS = (0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)
SIZES = (100, 200, 500, 1_000, 2_000)
Q = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
GROUPS = {"ends": (0, 6), "between": (1, 2, 3, 4, 5)}  # of Q
CROSSINGS = ("first", "rearranged")
AT_ONCE = 50  # replicates, whose estimates take some megabytes each


def run(cell, replications, seed):
    """Mean squared errors of both crossings at Q, and their mean product: all that a ratio's error needs."""
    data, p, n = cell
    rng = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    scheme, law = cm.ConditionalMasking(p, SIGMA, donors="sample"), PLAIN[data]
    truth, errors = law.ppf(Q), {crossing: [] for crossing in CROSSINGS}
    while replications > 0:
        rows = min(replications, AT_ONCE)
        replications -= rows
        x = scheme.law.from_units(scheme.law.to_units(law.rvs((rows, n), rng)))
        estimate = scheme.estimate(scheme.mask_rows(x, rng, ()))
        for crossing in CROSSINGS:
            errors[crossing].append(estimate.quantile(Q, crossing=crossing) - truth)
    first, rearranged = (np.concatenate(errors[crossing]) for crossing in CROSSINGS)
    return {name: _ratio(first[:, own], rearranged[:, own]) for name, own in GROUPS.items()}


def _ratio(first, rearranged):
    """The mean over quantiles of the ratios of RMSE, and its Monte Carlo standard error."""
    squares = [errors**2 for errors in (rearranged, first)]
    above, below = (each.mean(axis=0) for each in squares)
    ratios = np.sqrt(above / below)
    # each ratio's relative change with one replicate, by the delta method
    by_row = 0.5 * ratios * (squares[0] / above - squares[1] / below)
    return float(ratios.mean()), float(by_row.mean(axis=1).std(ddof=1) / math.sqrt(len(first)))


def table(found, replications):
    """reStructuredText: a row for each group and n, a column for each p."""
    largest = max(error for cell in found.values() for _, error in cell.values())
    lines = [
        f"Means over {', '.join(PLAIN)} data and, below, the largest of the four; {replications:,}",
        f"replications, standard errors at most {largest:.3f} for one kind of data. \"Ends\" are the",
        "quantiles .05 and .95, \"between\" .1, .25, .5, .75 and .9.", "",
        ".. list-table::", "   :header-rows: 1", "",
    ]  # fmt: skip
    lines += row(["quantiles", "n", *(f"p = {p:g}" for p in PS)])
    for name, n in itertools.product(GROUPS, SIZES):
        ratios = np.array([[found[data, p, n][name][0] for data in PLAIN] for p in PS])
        for label, values in (("", ratios.mean(axis=1)), (" (largest)", ratios.max(axis=1))):
            lines += row([name + label, f"{n:,}", *(f"{value:.3f}" for value in values)])
    return "\n".join(lines) + "\n"


def main():
    asked = options(__doc__, 4_000).parse_args()
    cells = list(itertools.product(PLAIN, PS, SIZES))
    work = functools.partial(run, replications=asked.replications, seed=asked.seed)
    with ProcessPoolExecutor(asked.workers) as pool:
        found = dict(zip(cells, pool.map(work, cells), strict=True))
    finish(table(found, asked.replications), asked)


if __name__ == "__main__":
    main()
