"""Intervals before and after they were mended: shares and lengths of cells, and their table."""

import math
import warnings
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import row

HEADS = ("", "files", "", "covered before", "now", "unmasked", "length before", "now")


def run(name, trial, replications, seed):
    """Shares and mean lengths of one cell; of those files that have an interval."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.EstimateWarning)
        for k in range(replications):
            rng = np.random.default_rng([seed, zlib.crc32(name.encode()), k])
            found.append(np.array(trial(rng), dtype=float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a statistic without an unmasked interval
        covered, length, unmasked = np.nanmean(found, axis=0).tolist()
    return {"cell": name, "seed": seed, "replications": replications,
            "covered": covered, "length": length, "unmasked": unmasked}  # fmt: skip


def table(cells, known, results):
    """reStructuredText: a row for each statistic of a cell; `known` are shares and lengths before."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.3f} of {count:,}" for count in counts)
    lines = [f"Monte Carlo standard errors of a share of .95: {errors} files.", "", ".. list-table::",
             "   :header-rows: 1", ""]  # fmt: skip
    lines += row(HEADS)
    for result in results:
        statistics = cells[result["cell"]][0]
        before = known.get(result["cell"], ((math.nan, math.nan),) * len(statistics))
        shown = (result["cell"], f"{result['replications']:,}")
        own = zip(statistics, before, result["covered"], result["length"], result["unmasked"], strict=True)
        for statistic, (share, long), covered, length, unmasked in own:
            lines += row(
                (*shown, statistic, *map(_share, (share, covered, unmasked)), *map(_long, (long, length)))
            )
            shown = ("", "")
    return "\n".join(lines) + "\n"


def _share(value):
    return "-" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def _long(value):
    return "-" if math.isnan(value) else f"{value:.3g}"
