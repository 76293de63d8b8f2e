"""Intervals that did not mean what they said, as they were and as they are.

    python -m benchmarks.faults FOLDER --write docs/measured/interval_faults.rst

Each cell is a law and a size for which an earlier rule failed; what that rule gave stands beside it, from
the same files. Cells are kept in FOLDER when they are done and not computed again: ``--only mixture`` takes
some, ``--replications 0`` writes the table of those that are there.
"""

import math
import warnings
import zlib

import numpy as np
from scipy import stats

import condmask as cm
from benchmarks.cells import command, row
from benchmarks.laws import LAWS, STEPS

UNIFORM, NORMAL = stats.uniform(0.0, 1.0), stats.norm(0.0, 1.0)


# --- cells ---
# A trial takes a seeded generator and gives, for one file and each statistic, whether the interval covers,
# how long it is, and whether that for the same statistic of the unmasked file covers (NaN: there is none).


def quantiles(law, sigma, n, p, at, target="population", donors="sample", step=None):
    """A trial of the intervals for quantiles."""
    options = {} if step is None else {"step": step}
    scheme = cm.ConditionalMasking(p, sigma, donors=donors, **options)
    of_population = np.ravel(law.ppf(at))
    below, above = (stats.binom.ppf(share, n, at).astype(int) for share in (0.025, 0.975))

    def trial(rng):
        x = np.sort(scheme.law.from_units(scheme.law.to_units(law.rvs(n, rng))))
        z = scheme.mask_rows(rng.permutation(x)[None], rng, ())[0]
        found = scheme.estimate(z).quantile_interval(at, target=target)
        if target == "file":
            aim = x[np.ceil(np.array(at) * n - 1e-9).astype(int) - 1]
            return _covers(found.low, aim, found.high), found.high - found.low, np.full(len(at), np.nan)
        low = np.where(below >= 1, x[np.maximum(below - 1, 0)], -np.inf)
        high = np.where(above < n, x[np.minimum(above, n - 1)], np.inf)
        unmasked = _covers(low, of_population, high)
        return _covers(found.low, of_population, found.high), found.high - found.low, unmasked

    return trial


def _covers(low, aim, high):
    slack = 1e-9 * (1.0 + np.abs(aim))  # rounding of a point of the grid
    return (low - slack <= aim) & (aim <= high + slack)


def _quantile_cell(law, sigma, n, p, at, before, **options):
    named = tuple(f"quantile {q:g}" for q in at)
    return named, quantiles(law, sigma, n, p, at, **options), before


CELLS = {}  # by name: what is estimated, the trial, and (share that covers, mean length) of the earlier rule
AT = (0.05, 0.1, 0.3, 0.5, 0.9)
for _name, _law, _sigma, _sizes in (
    ("mixture", LAWS["mixture"], 12.0, ((150, 0.3), (1_000, 0.3), (1_000, 0.15), (20_000, 0.3))),
    ("zeros", LAWS["zeros"], 7.0, ((150, 0.3), (1_000, 0.3), (20_000, 0.3))),
    ("uniform", UNIFORM, 0.2, ((150, 0.3), (1_000, 0.15))),
    ("t4", LAWS["t4"], 1.0, ((150, 0.3), (1_000, 0.45))),
    ("scores", LAWS["scores"], 3.0, ((150, 0.3),)),
):
    for _n, _p in _sizes:
        CELLS[f"{_name}-quantiles-{_p:g}-{_n}"] = _quantile_cell(
            _law, _sigma, _n, _p, AT, (), step=STEPS.get(_name)
        )
for _donors in ("sample", "permutation"):
    CELLS[f"normal-file-quantiles-{_donors}-0.3-200"] = _quantile_cell(
        NORMAL, 0.7, 200, 0.3, AT, (), target="file", donors=_donors
    )


# --- running ---


def cells():
    return [(name,) for name in CELLS]


def run(cell, replications, seed):
    """Shares and mean lengths of one cell."""
    (name,) = cell
    trial = CELLS[name][1]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.EstimateWarning)
        for k in range(replications):
            found.append(
                np.array(trial(np.random.default_rng([seed, zlib.crc32(name.encode()), k])), dtype=float)
            )
    covered, length, unmasked = np.mean(found, axis=0).tolist()
    return {"cell": name, "seed": seed, "replications": replications,
            "covered": covered, "length": length, "unmasked": unmasked}  # fmt: skip


HEADS = ("", "files", "", "covered before", "now", "unmasked", "length before", "now")


def table(results):
    """reStructuredText: a row for each statistic of a cell."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.3f} of {count:,}" for count in counts)
    lines = [
        f"Standard errors of a share of .95: {errors} files.",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
    ]
    lines += row(HEADS)
    for result in results:
        statistics, _, before = CELLS[result["cell"]]
        shown = (result["cell"], f"{result['replications']:,}")
        before = before or ((math.nan, math.nan),) * len(statistics)
        own = zip(statistics, before, result["covered"], result["length"], result["unmasked"], strict=True)
        for statistic, (share, long), covered, length, unmasked in own:
            shares = [_text(value) for value in (share, covered, unmasked)]
            lines += row(
                (*shown, statistic, *shares, *("-" if math.isnan(v) else f"{v:.3g}" for v in (long, length)))
            )
            shown = ("", "")
    return "\n".join(lines) + "\n"


def _text(share):
    return "-" if math.isnan(share) else f"{share:.3f}".removeprefix("0")


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 2_000)
