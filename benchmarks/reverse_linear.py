"""How often do intervals with other columns cover after reverse mapping, and how far are small pools off?

    python -m benchmarks.reverse_linear FOLDER --write docs/measured/reverse_linear.rst

Cells are named coverage-data-p-n, of so many files each masked once, and bias-data-p-n, of one file masked
twenty times as often. Each is kept in FOLDER when it is done and not computed again; ``--only coverage``
takes some, ``--replications 0`` writes the table of those that are there.
"""

import itertools
import warnings
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import command, row

SIGMA = 0.3  # of the standard deviation, on the log scale of the logarithm
STATISTICS = ("slope", "intercept", "group", "weighted mean", "covariance", "correlation")
TARGETS = ("population", "file")
AIM = 0.5  # correlation with the column in clear


def drawn(data, rng, n):
    """A column and one in clear, with correlation AIM between the normal scores."""
    score = rng.standard_normal(n)
    w = AIM * score + np.sqrt(1.0 - AIM**2) * rng.standard_normal(n)
    if data == "normal":
        return score, w
    x = np.exp(0.6 * score)
    if data == "heaped":
        x = np.round(4.0 * x) / 4.0
    if data == "zeros":
        x = np.where(rng.random(n) < 0.3, 0.0, x)
    if data == "ties":
        x = np.floor(2.0 * x)
    return x, w


def scheme_of(data, x, p):
    if data == "log":
        return cm.ConditionalMasking(p, SIGMA, scale="log", reverse_mapping=True)
    return cm.ConditionalMasking(p, SIGMA * float(x.std()), reverse_mapping=True)


def masked(x, scheme, count, rng):
    """The scheme as it is written, `count` times: rows of one file, all in one pool; and the coins."""
    n, shape = x.size, (count, x.size)
    swapped = rng.random(shape) < scheme.p
    noise = rng.standard_normal(shape) if scheme.noise == "normal" else rng.laplace(0.0, np.sqrt(0.5), shape)
    keys = x + scheme.sigma * noise if scheme.scale == "linear" else x * np.exp(scheme.sigma * noise)
    order = np.lexsort((rng.random(shape), np.where(swapped, np.inf, keys)))  # the kept first, ties at random
    z = np.empty(shape)
    np.put_along_axis(z, order, np.sort(np.where(swapped, np.inf, x), axis=1), axis=1)
    hat = np.argsort(np.where(swapped, rng.random(shape), 2.0), axis=1)
    rows = np.argsort(np.where(swapped, np.arange(n), n), axis=1, kind="stable")
    own = np.arange(n) < swapped.sum(axis=1, keepdims=True)
    moved = np.where(own, x[hat], np.take_along_axis(z, rows, axis=1))
    np.put_along_axis(z, rows, moved, axis=1)
    return z


def true(data):
    """The statistics of a large population."""
    x, w = drawn(data, np.random.default_rng(0), 10_000_000)
    return of_file(x, w)


def of_file(x, w):
    slope, intercept = np.polyfit(w, x, 1)
    weight = np.exp(0.3 * w)
    covariance = np.cov(x, w)[0, 1]
    return np.array([
        slope, intercept, x[w > 1.0].mean(), weight @ x / weight.sum(), covariance,
        covariance / x.std(ddof=1) / w.std(ddof=1),
    ])  # fmt: skip


def intervals(estimate, w, target):
    line = estimate.regress(w, target=target)
    found = [
        line["w1"], line["intercept"], estimate.group_means(w > 1.0, target=target)[True],
        estimate.weighted_mean(np.exp(0.3 * w), target=target),
        estimate.covariance_interval(w, target=target), estimate.correlation_interval(w, target=target),
    ]  # fmt: skip
    return np.array([[each.low, each.high, each.standard_error] for each in found]).T


def coverage(data, p, n, replications, rng):
    aims, found = {"population": true(data)}, []
    for _ in range(replications):
        x, w = drawn(data, rng, n)
        scheme, aims["file"] = scheme_of(data, x, p), of_file(x, w)
        z = scheme.mask(x, rng=int(rng.integers(1 << 62)), accept_visible_coins=True)
        estimate = scheme.estimate(z)
        ends = [(intervals(estimate, w, target), aims[target]) for target in TARGETS]
        found.append([(low <= aim) & (aim <= high) for (low, high, _), aim in ends])
    return np.mean(found, axis=0).tolist()


def bias(data, p, n, replications, rng):
    """How far sums are off, in standard errors about the file; weights rise with x, log x, at quantiles."""
    x, _ = drawn(data, rng, n)
    scheme = scheme_of(data, x, p)
    about = [x, np.log1p(np.abs(x)), x > np.median(x), x > np.quantile(x, 0.9), rng.standard_normal(n)]
    weights = np.array([each - np.mean(each) for each in about])
    values = scheme.estimate(x).pseudo_values()
    order = np.argsort(x)
    sums = []
    for _ in range(replications):
        z = masked(x, scheme, 20, rng)
        sums.append(values[order][np.searchsorted(x[order], z)] @ weights.T)
    sums = np.concatenate(sums)
    return ((sums.mean(axis=0) - weights @ x) / sums.std(axis=0)).tolist()


def run(cell, replications, seed):
    name, kind, data, p, n = cell
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"coverage": coverage, "bias": bias}[kind](data, p, n, replications, rng)
    return {"cell": cell, "replications": replications, "seed": seed, "found": found}


def cells():
    found = [
        ("coverage", data, p, n)
        for n in (200, 2_000)
        for data, p in itertools.product(("normal", "log", "heaped"), (0.3, 0.6))
    ]
    found += [
        ("bias", data, p, n)
        for n in (50, 100, 200, 1_000)
        for data in ("normal", "log", "heaped", "zeros", "ties")
        for p in (0.3, 0.6)
    ]
    return [("-".join(map(str, cell)), *cell) for cell in found]


def table(found):
    """Two tables: shares that cover, population and file; the largest bias of any sum."""
    lines = []
    covered = [each for each in found if each["cell"][1] == "coverage"]
    if covered:
        lines += [".. list-table::", "   :header-rows: 1", "", *row(["", *STATISTICS])]
        for each in covered:
            population, file = each["found"]
            shares = [f"{a:.3f}, {b:.3f}" for a, b in zip(population, file, strict=True)]
            lines += row([" ".join(map(str, each["cell"][2:])), *shares])
    off = {}
    for each in found:
        if each["cell"][1] == "bias":
            _, _, data, _, n = each["cell"]
            off.setdefault((data, n), []).append(np.abs(each["found"]).max())
    if off:
        sizes = sorted({n for _, n in off})
        lines += ["", ".. list-table::", "   :header-rows: 1", "", *row(["records", *map(str, sizes)])]
        for data in dict.fromkeys(data for data, _ in off):
            lines += row([data, *(f"{max(off[data, n]):.3f}" if (data, n) in off else "" for n in sizes)])
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 600)
