"""How often do intervals of regressions with masked columns cover, and how often are they unbounded?

    python -m benchmarks.masked_regression FOLDER --write docs/measured/masked_regression.rst

Cells are named design-law-scheme-p-n: "one" has a masked regressor, "two" one that is masked together with
the outcome, "three" two regressors and the outcome. Noise is half a standard deviation of x. Each cell is
kept in FOLDER when it is done and not computed again: ``--only lognormal`` takes some, ``--replications 0``
writes the table of those that are there.
"""

import itertools
import math
import warnings
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import command, row

TRUTH = np.array([0.8, -0.5, 0.4])  # of x, of w in clear, of v
MASKED = {"one": ["x"], "two": ["x", "y"], "three": ["x", "v", "y"]}
SCHEMES = {"additive": {}, "drawn anew": {"donors": "sample"}, "reverse": {"reverse_mapping": True}}
SIGMA = 0.5  # of the noise, in standard deviations
TARGETS = ("population", "file")
LAWS = ("normal", "lognormal", "heaped", "zeros")
FILES = 2_000


def cells():
    """(name, design, law, scheme, p, n) of all of them."""
    single = itertools.product(("one",), LAWS, ("additive", "reverse"), (0.3, 0.6), (200, 1_000, 10_000))
    several = itertools.product(("two", "three"), LAWS, ("additive",), (0.3, 0.6), (2_000, 10_000))
    anew = itertools.product(("one",), ("normal",), ("drawn anew",), (0.3,), (1_000,))
    return [("-".join(map(str, cell)), *cell) for cell in (*single, *several, *anew)]


def drawn(law, rng, shape):
    """Values of a law of unit variance: heaped ones are rounded to quarters, a quarter of others is 0."""
    if law == "normal":
        return rng.standard_normal(shape)
    x = rng.lognormal(0.0, 0.6, shape)
    if law == "heaped":
        x = np.round(4.0 * x) / 4.0
    if law == "zeros":
        x = np.where(rng.random(shape) < 0.25, 0.0, x)
    return x / {"lognormal": 0.7884, "heaped": 0.7917, "zeros": 0.857}[law]


def file_of(law, rng, n):
    """Columns: w goes with x, and the errors of y grow with it."""
    x, own = drawn(law, rng, (2, n))
    w, v = 0.5 * x + math.sqrt(0.75) * own, rng.standard_normal(n)
    y = TRUTH @ [x, w, v] + (0.5 + 0.3 * np.abs(x)) * rng.standard_normal(n)
    return {"x": x, "w": w, "v": v, "y": y}


def run(cell, replications, seed):
    """Shares of files whose intervals cover, and of those without bounds, by target and regressor."""
    name, design, law, scheme, p, n = cell
    rng, found = np.random.default_rng([zlib.crc32(name.encode()), seed]), []
    masking = cm.ConditionalMasking(p, SIGMA, **SCHEMES[scheme])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(replications):
            columns = file_of(law, rng, n)
            schemes = dict.fromkeys(MASKED[design], masking)
            key = int(rng.integers(2**63))
            release = cm.mask_table(columns, schemes, rng=key, accept_visible_coins=True)
            design_of_file = np.column_stack([np.ones(n), *(columns[k] for k in "xwv")])
            of_file = np.linalg.lstsq(design_of_file, columns["y"], rcond=None)[0][1:]
            for target, truth in zip(TARGETS, (TRUTH, of_file), strict=True):
                line = release.regress("y", on=["x", "w", "v"], target=target)
                low, high = line.low[1:], line.high[1:]
                found.append([(low <= truth) & (truth <= high), np.isinf(low)])
    shares = np.mean(np.reshape(found, (replications, len(TARGETS), 2, TRUTH.size)), axis=0)
    return {"cell": cell, "replications": replications, "seed": seed, "found": shares.tolist()}


def table(results):
    """reStructuredText: a row for each cell; of each target the coverage, and the share without bounds."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.3f} of {count:,}" for count in counts)
    lines = [
        "Coverage of the coefficients of x, w and v, in brackets the share of files in which that of x has",
        f"no bounds. Monte Carlo standard errors of a share of .95: {errors} files.",
        "", ".. list-table::", "   :header-rows: 1", "",
        *row(["masked", "law", "scheme", "p", "n", *TARGETS]),
    ]  # fmt: skip
    for result in results:
        _, design, *fields = result["cell"]
        lines += row([", ".join(MASKED[design]), *fields, *(_shown(*own) for own in result["found"])])
    return "\n".join(lines) + "\n"


def _shown(covers, unbounded):
    shares = " ".join(f"{share:.3f}".removeprefix("0") for share in covers)
    return f"{shares} ({unbounded[0]:.2f})".replace("0.", ".")


if __name__ == "__main__":
    command(__doc__, cells(), run, table, FILES)
