"""Intervals that did not mean what they said, as they were and as they are.

    python -m benchmarks.faults FOLDER --write docs/measured/interval_faults.rst

Each cell is a law and a size for which an earlier rule failed; what that rule gave stands beside it, from
the same files. Cells are kept in FOLDER when they are done and not computed again: ``--only mixture`` takes
some, ``--replications 0`` writes the table of those that are there.
"""

import numpy as np
from scipy import stats

import condmask as cm
from benchmarks import mended
from benchmarks.cells import command
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


CELLS = {}  # by name: what is estimated, and the trial
AT = (0.05, 0.1, 0.3, 0.5, 0.9)
NAMES = tuple(f"quantile {q:g}" for q in AT)
for _name, _law, _sigma, _sizes in (
    ("mixture", LAWS["mixture"], 12.0, ((150, 0.3), (1_000, 0.3), (1_000, 0.15), (20_000, 0.3))),
    ("zeros", LAWS["zeros"], 7.0, ((150, 0.3), (1_000, 0.3), (20_000, 0.3))),
    ("uniform", UNIFORM, 0.2, ((150, 0.3), (1_000, 0.15))),
    ("t4", LAWS["t4"], 1.0, ((150, 0.3), (1_000, 0.45))),
    ("scores", LAWS["scores"], 3.0, ((150, 0.3),)),
):
    for _n, _p in _sizes:
        CELLS[f"{_name}-quantiles-{_p:g}-{_n}"] = (
            NAMES, quantiles(_law, _sigma, _n, _p, AT, step=STEPS.get(_name))
        )  # fmt: skip
for _donors in ("sample", "permutation"):
    CELLS[f"normal-file-quantiles-{_donors}-0.3-200"] = (
        NAMES, quantiles(NORMAL, 0.7, 200, 0.3, AT, target="file", donors=_donors)
    )  # fmt: skip

# (share that covers, mean length) of the earlier rules: T_b with .7 times the bandwidth "undersmooth" for the
# population, T with its own variance for the file
BEFORE = {
    "mixture-quantiles-0.3-150": (
        (0.546, 16), (0.844, 6.99), (0.850, 17.9), (0.942, 12.9), (0.966, 12.9),
    ),
    "mixture-quantiles-0.3-1000": (
        (0.348, 2.36), (0.777, 1.12), (0.863, 12.4), (0.949, 4.57), (0.944, 5.02),
    ),
    "mixture-quantiles-0.15-1000": (
        (0.709, 8.59), (0.884, 2.1), (0.895, 14.2), (0.954, 6.27), (0.950, 7.67),
    ),
    "mixture-quantiles-0.3-20000": (
        (0.486, 0.257), (0.792, 0.187), (0.922, 6.13), (0.944, 1.06), (0.936, 1.2),
    ),
    "zeros-quantiles-0.3-150": (
        (0.504, 10.8), (0.877, 5.24), (0.921, 3.22), (0.940, 5.37), (0.969, 16.4),
    ),
    "zeros-quantiles-0.3-1000": (
        (0.061, 2.32), (0.816, 0.654), (0.944, 1.33), (0.951, 2.36), (0.960, 6.42),
    ),
    "zeros-quantiles-0.3-20000": (
        (0.000, 0.081), (0.670, 0.0607), (0.930, 0.392), (0.946, 0.555), (0.964, 1.52),
    ),
    "uniform-quantiles-0.3-150": (
        (0.973, 0.294), (0.957, 0.187), (0.958, 0.226), (0.948, 0.238), (0.957, 0.187),
    ),
    "uniform-quantiles-0.15-1000": (
        (0.974, 0.147), (0.948, 0.105), (0.947, 0.127), (0.958, 0.134), (0.955, 0.106),
    ),
    "t4-quantiles-0.3-150": (
        (0.987, 2.75), (0.968, 1.59), (0.947, 0.848), (0.952, 0.748), (0.972, 1.59),
    ),
    "t4-quantiles-0.45-1000": (
        (0.952, 0.857), (0.947, 0.543), (0.949, 0.303), (0.949, 0.267), (0.945, 0.546),
    ),
    "scores-quantiles-0.3-150": (
        (1.000, 5.65), (1.000, 3.46), (0.983, 2.95), (0.980, 3.12), (0.989, 3.48),
    ),
    "normal-file-quantiles-sample-0.3-200": (
        (0.996, 1.22), (0.992, 0.898), (0.977, 0.621), (0.971, 0.568), (0.990, 0.914),
    ),
    "normal-file-quantiles-permutation-0.3-200": (
        (0.993, 1.12), (0.993, 0.82), (0.980, 0.542), (0.976, 0.491), (0.989, 0.821),
    ),
}  # fmt: skip


# --- running ---


def cells():
    return [(name,) for name in CELLS]


def run(cell, replications, seed):
    """Shares and mean lengths of one cell."""
    (name,) = cell
    return mended.run(name, CELLS[name][1], replications, seed)


def table(results):
    """reStructuredText: a row for each statistic of a cell."""
    return mended.table(CELLS, BEFORE, results)


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 2_000)
