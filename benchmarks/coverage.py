"""How often do intervals cover? A table by cells: law of the data, noise, donors, p, n.

    python -m benchmarks.coverage FOLDER --workers 2 --write docs/measured/coverage.rst

Replicates are taken block by block, as `simulate` takes them; those of strata and of inequality one by one.
Every cell is kept in FOLDER when it is done and not computed again, so the table may be stopped and gone on
with. All cells take an hour of two cores, with OPENBLAS_NUM_THREADS=1 in the environment: workers that
each start threads for small products wait for one another. ``--only normal-normal-sample 2000 --replications
400`` takes some: cells are named data-noise-donors-p-n, and all words of ``--only`` must be in the name. The
table shows all cells of the folder; ``--replications 0`` computes none. Results do not depend on workers.
"""

import functools
import itertools
import math
import warnings
import zlib
from types import SimpleNamespace

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtri

import condmask as cm
from benchmarks.cells import command
from benchmarks.laws import LAWS, STEPS
from condmask.distribution.bandwidth import masking
from condmask.distribution.counting import Counted
from condmask.distribution.t_1 import T_1
from condmask.studies.coverage import ends

LEVELS = (0.95, 0.9)
TARGETS = ("population", "file")
AT = (0.05, 0.1, 0.5, 0.9, 0.95)
SHARES = (0.1, 0.5, 0.9)
SIGMA = 0.7  # in standard deviations of the data
PLAIN = {  # all with variance 1
    "normal": stats.norm(),
    "laplace": stats.laplace(0.0, math.sqrt(0.5)),
    "uniform": stats.uniform(0.0, math.sqrt(12.0)),
    "lognormal": stats.lognorm(0.6, 0.0, 1.0 / stats.lognorm(0.6).std()),
}
INCOMES = stats.lognorm(0.6, 0.0, 3_000.0)
FLOOR = 1_000.0
CENTERS = 1.5 * np.arange(4)  # of strata, a quarter of the records each
OTHERS = ("inequality", "strata")
CORRELATION = 0.6  # with a column in clear
BLOCK = 1 << 18  # records of a block


# --- cells ---


def cells():
    """(name, data, noise, donors, p, n) of all of them, the short ones first."""
    rules = itertools.product(("normal", "laplace"), ("sample", "permutation"))
    found = []
    for noise, donors in rules:
        found += [
            (data, noise, donors, p, n)
            for n in (200, 2_000, 20_000)
            for data in PLAIN
            for p in (0.3, 0.55, 0.6, 0.8)
        ]
        found += [(data, noise, donors, p, n) for n in (200, 2_000) for data in LAWS for p in (0.3, 0.6)]
        found += [
            (data, noise, donors, p, 2_000)
            for data in OTHERS
            for p in (0.3, 0.6)
            if (data, donors) != ("strata", "sample")  # which are refused
        ]
    found += [
        (data, "normal", "reverse", p, n)
        for n in (200, 2_000)
        for data in ("normal", "lognormal", "mixture", "zeros")
        for p in (0.3, 0.6)
    ]
    return [("-".join(map(str, cell)), *cell) for cell in sorted(found, key=lambda cell: cell[-1])]


def scheme_of(data, noise, donors, p):
    if donors == "reverse":
        return cm.ConditionalMasking(p, SIGMA * float(_law(data).std()), noise=noise, reverse_mapping=True)
    options = {"noise": noise, "donors": donors}
    if data == "strata":
        return cm.ConditionalMasking(p, SIGMA, strata="region", **options)
    if data in LAWS:
        sigma = SIGMA * float(LAWS[data].std())
        return cm.ConditionalMasking(p, sigma, step=STEPS.get(data), **options)
    return cm.ConditionalMasking(p, 1_500.0 if data == "inequality" else SIGMA, **options)


def _law(data):
    return PLAIN.get(data) or LAWS.get(data) or INCOMES


def drawn(data, rng, n):
    """A sample, and the strata of its records."""
    if data == "strata":
        region = rng.integers(0, 4, n)
        return rng.normal(CENTERS[region]), region
    return _law(data).rvs(n, rng), None


@functools.cache
def truth_of(data):
    """Points, and the statistics of the population."""
    if data == "strata":
        cdf = lambda t: float(np.mean(stats.norm.cdf(t - CENTERS)))  # noqa: E731
        points = [brentq(lambda t, a=a: cdf(t) - a, -9.0, 15.0, xtol=1e-13) for a in AT]
        return points, {**_named("cdf", AT), **_named("quantile", points), "mean": 2.25,
                        "s.d.": math.sqrt(1.0 + CENTERS.var())}  # fmt: skip
    law = _law(data)
    points = [float(point) for point in law.ppf(AT)]
    found = {**_named("cdf", law.cdf(points)), **_named("quantile", points), "mean": float(law.mean())}
    if data == "inequality":
        s = 0.6
        found["Gini"] = 2.0 * stats.norm.cdf(s / math.sqrt(2.0)) - 1.0
        found |= {f"Lorenz {q:g}": float(stats.norm.cdf(ndtri(q) - s)) for q in SHARES}
        cut = (math.log(FLOOR) - math.log(3_000.0)) / s  # E max(log X, log FLOOR)
        middle = math.log(3_000.0) * stats.norm.sf(cut) + s * stats.norm.pdf(cut)
        found["E log"] = float(math.log(FLOOR) * stats.norm.cdf(cut) + middle)
    else:
        found |= {"s.d.": float(law.std()), "correlation": CORRELATION}
    return points, found


def _named(what, values):
    return {f"{what} {a:g}": float(v) for a, v in zip(AT, values, strict=True)}


def statistics(x, points):
    """Those of a file."""
    ordered, n = np.sort(x), x.size
    found = {
        **_named("cdf", [np.mean(x <= t) for t in points]),
        **_named("quantile", [ordered[math.ceil(a * n - 1e-9) - 1] for a in AT]),
        "mean": x.mean(),
        "s.d.": x.std(ddof=1),
    }
    if (x > 0.0).all():
        mean, rank = x.mean(), np.arange(1, n + 1)
        found["Gini"] = float((2.0 * rank - n - 1.0) @ ordered / (n * n * mean))
        sums = np.append(0.0, np.cumsum(ordered)) / (n * mean)
        found |= {f"Lorenz {q:g}": float(np.interp(q * n, np.arange(n + 1), sums)) for q in SHARES}
        found["E log"] = float(np.log(np.maximum(x, FLOOR)).mean())
    return found


# --- intervals ---


def intervals(estimate, data, points, options):
    """Of every statistic, by its name."""
    found = {}
    if data == "inequality":
        lorenz = estimate.lorenz_interval(SHARES, **options)
        found |= {f"Lorenz {q:g}": ends for q, ends in zip(SHARES, _pairs(lorenz), strict=True)}
        found["Gini"] = _pairs(estimate.gini_interval(**options))[0]
        found["E log"] = _pairs(estimate.expectation_interval(np.log, floor=FLOOR, **options))[0]
        return found
    found |= dict(zip(_named("cdf", AT), _pairs(estimate.cdf_interval(points, **options)), strict=True))
    quantiles = _pairs(estimate.quantile_interval(AT, **options))
    found |= dict(zip(_named("quantile", AT), quantiles, strict=True))
    found["mean"] = _pairs(estimate.mean_interval(**options))[0]
    found["s.d."] = _pairs(estimate.std_interval(**options))[0]
    return found


def _pairs(interval):
    return list(zip(np.ravel(interval.low).tolist(), np.ravel(interval.high).tolist(), strict=True))


# --- what else there is ---


def naive(law, points):
    """What gives T, the mean and their standard errors as if masked values were the sample: sqrt(V/n)."""
    one = Counted(np.zeros(1), np.ones(1, np.int64), law.sigma / law.step)
    weight, steps = T_1(one, masking(law, None)), law.grid.below(np.array(points)).tolist()

    def errors(z):
        found, n = {}, z.shape[1]
        for a, step in zip(AT, steps, strict=True):
            k = weight.at((step - law.to_units(z)).ravel()).reshape(z.shape)
            found[f"cdf {a:g}"] = k.mean(axis=1), k.std(axis=1) / math.sqrt(n)
        found["mean"] = z.mean(axis=1), z.std(axis=1, ddof=1) / math.sqrt(n)
        return found

    return errors


def of_level(errors, level):
    """The normal intervals of estimates with these standard errors."""
    normal = float(ndtri(0.5 + 0.5 * level))
    return {name: _about(value, normal * error) for name, (value, error) in errors.items()}


def unmasked(x, w, points):
    """Wilson's, of two order statistics, Student's, Fisher's and the normal one of the s.d., on originals.

    Gives the intervals of a level.
    """
    n, beyond = x.shape[1], np.full((len(x), 1), math.inf)
    ordered = np.concatenate((-beyond, np.sort(x, axis=1), beyond), axis=1)
    shares = [np.mean(x <= t, axis=1) for t in points]
    mean, deviation = x.mean(axis=1), x.std(axis=1, ddof=1)
    square = (x - mean[:, None]) ** 2
    fourth = np.einsum("ij,ij->i", square, square) / n / deviation**4
    along = np.sqrt(np.maximum(fourth - 1.0, 0.0) / (4 * n))
    r = None if w is None else _correlations(x, w)

    def intervals_of(level):
        normal, found = float(ndtri(0.5 + 0.5 * level)), {}
        c = normal**2 / n
        for a, share in zip(AT, shares, strict=True):
            half = np.sqrt(c * share * (1.0 - share) + 0.25 * c * c)
            low, high = (share + 0.5 * c - half) / (1.0 + c), (share + 0.5 * c + half) / (1.0 + c)
            found[f"cdf {a:g}"] = np.where(share > 0.0, low, 0.0), np.where(share < 1.0, high, 1.0)
            below, above = _ranks(level, n, a)
            found[f"quantile {a:g}"] = ordered[:, below], ordered[:, above + 1]
        found["mean"] = _about(mean, _student(level, n) * deviation / math.sqrt(n))
        found["s.d."] = deviation / np.exp(normal * along), deviation * np.exp(normal * along)
        if r is not None:
            low, high = _about(np.arctanh(r), normal / math.sqrt(n - 3))
            found["correlation"] = np.tanh(low), np.tanh(high)
        return found

    return intervals_of


def _about(value, half):
    return value - half, value + half


def _correlations(x, w):
    a, b = (each - each.mean(axis=1)[:, None] for each in (x, w))
    return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))


@functools.cache
def _ranks(level, n, a):
    return stats.binom.ppf((0.5 - 0.5 * level, 0.5 + 0.5 * level), n, a).astype(int)


@functools.cache
def _student(level, n):
    return float(stats.t.ppf(0.5 + 0.5 * level, n - 1))


# --- running ---


def tried(sums, kind, target, level, found, aims):
    """Count how often intervals covered, and how long they were."""
    for statistic, (low, high) in found.items():
        if statistic not in aims:
            continue
        low, high, aim = np.broadcast_arrays(low, high, aims[statistic])
        known = ~np.isnan(low) & ~np.isnan(high)
        low, high, aim = low[known], high[known], aim[known]
        with np.errstate(invalid="ignore"):
            length = high - low
        finite = np.isfinite(length)
        covers = (low <= aim) & (aim <= high)
        # what is exact may differ from its target in rounding
        slight = 1e-9 * np.abs(aim)
        covers |= (length <= slight) & (np.abs(low - aim) <= slight)
        own = sums.setdefault(f"{kind}|{target}|{level:g}|{statistic}", [0, 0, 0, 0.0])
        every = known.sum(), covers.sum(), finite.sum(), length[finite].sum()
        for k, one in enumerate(every):
            own[k] += one.item()


def run(cell, replications, seed):
    """Shares that cover, and mean lengths, of one cell."""
    name, data, noise, donors, p, n = cell
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    sums, scheme = {}, scheme_of(data, noise, donors, p)
    if data in OTHERS:
        for _ in range(replications):
            one_by_one(sums, scheme, data, rng, n)
    else:
        size = max(1, min(BLOCK // n, 32))
        for start in range(0, replications, size):
            together(sums, scheme, data, rng, min(size, replications - start), n)
    return {"cell": name, "seed": seed, "replications": replications, "sums": sums}


def together(sums, scheme, data, rng, rows, n):
    """A block of replicates."""
    points, truth = truth_of(data)
    law, original = scheme.law, _law(data)
    x = np.array([original.rvs(n, rng) for _ in range(rows)])
    if law is not None:
        x = law.from_units(law.to_units(x))
    w = CORRELATION * (x - float(original.mean())) / float(original.std())
    w += math.sqrt(1.0 - CORRELATION**2) * rng.normal(size=x.shape)
    z = scheme.mask_rows(x, np.random.default_rng(rng.integers(0, 2**63, 4)), (w,))
    design = SimpleNamespace(quantiles=np.array(AT), moments=(), points=np.array(points))
    low, high = ends(scheme, z, w, design, LEVELS)
    named = [*_named("quantile", AT), "mean", "s.d.", *_named("cdf", AT), "correlation"]
    each = [statistics(row, points) for row in x]
    of_file = {key: np.array([own[key] for own in each]) for key in named if key != "correlation"}
    of_file["correlation"] = _correlations(x, w)
    aims = {"population": truth, "file": of_file}
    plain, original_intervals = {} if law is None else naive(law, points)(z), unmasked(x, w, points)
    for level, own_low, own_high in zip(LEVELS, low, high, strict=True):
        for target, *both in zip(TARGETS, own_low, own_high, strict=True):
            found = dict(zip(named, zip(*both, strict=True), strict=True))
            tried(sums, "masked", target, level, found, aims[target])
        tried(sums, "naive", "population", level, of_level(plain, level), truth)
        tried(sums, "unmasked", "population", level, original_intervals(level), truth)


def one_by_one(sums, scheme, data, rng, n):
    """A replicate with strata, or of inequality."""
    points, truth = truth_of(data)
    law = scheme.law
    x, region = drawn(data, rng, n)
    x = law.from_units(law.to_units(x))
    stream = np.random.default_rng(rng.integers(0, 2**63, 4))
    if region is None:
        z = scheme.mask_rows(x[None], stream, ())[0]
        estimate = scheme.estimate(z)
    else:
        z = scheme.mask(x, strata=region, rng=stream, accept_visible_coins=True)
        estimate = scheme.estimate(z, strata=region)
    aims = {"population": truth, "file": statistics(x, points)}
    for level in LEVELS:
        for target in TARGETS:
            options = {"confidence_level": level, "target": target}
            tried(sums, "masked", target, level, intervals(estimate, data, points, options), aims[target])
        if data == "strata":
            tried(sums, "naive", "population", level, of_level(naive(law, points)(z[None]), level), truth)
            tried(sums, "unmasked", "population", level, unmasked(x[None], None, points)(level), truth)


def quietly(cell, replications, seed):
    """`run`, where a variance that is estimated negative needs no word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.EstimateWarning)
        return run(cell, replications, seed)


# --- the table ---

GROUPS = {
    "distribution function, ends": ("cdf 0.05", "cdf 0.95"),
    "distribution function": ("cdf 0.1", "cdf 0.5", "cdf 0.9"),
    "quantiles, ends": ("quantile 0.05", "quantile 0.95"),
    "quantiles": ("quantile 0.1", "quantile 0.5", "quantile 0.9"),
    "mean": ("mean",),
    "standard deviation": ("s.d.",),
    "correlation": ("correlation",),
    "Gini": ("Gini",),
    "Lorenz curve": tuple(f"Lorenz {q:g}" for q in SHARES),
    "mean of log X": ("E log",),
}
COLUMNS = (
    ("masked", "population", 0.95), ("masked", "population", 0.9), ("masked", "file", 0.95),
    ("masked", "file", 0.9), ("naive", "population", 0.95), ("unmasked", "population", 0.95),
)  # fmt: skip
HEADS = (
    "", "replications", "", "population, 95%", "90%", "file, 95%", "90%", "naive, population, 95%",
    "unmasked, population, 95%", "length to unmasked", "why",
)  # fmt: skip
INSIDE = 0.94, 0.96  # shares at 95% that need no explanation
HEAPED, TAILED = ("zeros", "scores"), ("laplace", "lognormal", "t4", "zeros")
WHY = {
    "a": "Reverse mapping releases the values of the file, so every statistic of the column alone is known.",
    "b": "Heaps: an interval for a quantile begins and ends at values that occur in the data. The largest "
    "score is 10, where the distribution function is 1.",
    "c": "An interval for a quantile goes from one value of T* to another, as an unmasked interval goes "
    "between order statistics. With 200 records these are far apart; at p = .3 T rises and falls between "
    "them, and the interval includes all of it.",
    "d": "The tails are too heavy for second moments of so few records, masked or not.",
    "e": "A skewed distribution, whose mean is not yet normal, masked or not.",
    "f": "Only ten of 200 records lie beyond the point: the error of T given the file is not yet normal.",
    "g": "With 200 records the estimated variance, that of the masked values less that of the noise, is not "
    "yet normal on the log scale, least of all with Laplace noise.",
    "x": "The share is within two Monte Carlo standard errors of the limit.",
}


def why(cell, group, shares, replications=4_000):
    """What explains that shares at 95%, of the population and of the file, are not between the limits."""
    _, data, _, donors, p, n = cell
    below = any(share < INSIDE[0] for share in shares)
    if all(INSIDE[0] <= share <= INSIDE[1] for share in shares):
        return ""
    if donors == "reverse" and group != "correlation":
        known = shares[1] > INSIDE[1]
        rest = why((*cell[:3], "", *cell[4:]), group, (shares[0], 0.95), replications)
        return "a" * known + rest
    if group.startswith("quantiles") and not below:
        if data in HEAPED:
            return "b"
        if n == 200 or p == 0.3:
            return "c"
    if data == "scores" and group == "distribution function, ends" and not below:
        return "b"
    if group in ("standard deviation", "correlation") and data in TAILED and below:
        return "d"
    if group == "standard deviation" and n == 200:
        return "g"
    if group == "mean" and data == "lognormal" and n == 200:
        return "e"
    if group == "distribution function, ends" and n == 200:
        return "f"
    error = 2.0 * math.sqrt(0.0475 / replications)
    near = all(INSIDE[0] - error <= share <= INSIDE[1] + error for share in shares)
    return "x" if near else "?"


def table(results):
    """reStructuredText: shares pooled over the statistics of a group, a row for each cell and group."""
    by_name, letters, rows = {cell[0]: cell for cell in cells()}, set(), []
    counts = sorted({result["replications"] for result in results})
    errors = [
        f"{math.sqrt(0.0475 / count):.3f} ({math.sqrt(0.09 / count):.3f}) of {count:,}" for count in counts
    ]
    for result in results:
        shown = (result["cell"], f"{result['replications']:,}")
        for group, names in GROUPS.items():
            values = [_shared(result["sums"], names, column, 1, 0) for column in COLUMNS]
            if math.isnan(values[0]):
                continue
            here, there = (
                _shared(result["sums"], names, (kind, "population", 0.95), 3, 2)
                for kind in ("masked", "unmasked")
            )
            length = _text(here / there if there else math.nan, 2)
            reason = why(by_name[result["cell"]], group, (values[0], values[2]), result["replications"])
            letters |= set(reason)
            texts = (_text(value, 3) for value in values)
            rows.append(f"   {_csv((*shown, group, *texts, length, reason))}")
            shown = ("", "")
    lines = [
        "Cells are named data-noise-donors-p-n. The Monte Carlo standard error of one share at 95% (90%) is",
        f"{', '.join(errors)} replications; rows of several statistics, such as both ends, show the mean.",
        f"Reasons why a share at 95% is not between {_text(INSIDE[0], 2)} and {_text(INSIDE[1], 2)}:", "",
        *(f"* *{letter}*: {WHY.get(letter, 'not known.')}" for letter in sorted(letters)),
        "", ".. csv-table::", f"   :header: {_csv(HEADS)}", "", *rows,
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _csv(fields):
    """A row of a csv-table."""
    return ", ".join(f'"{field}"' for field in fields)


def _shared(sums, names, column, top, bottom):
    kind, target, level = column
    own = [sums[key] for name in names if (key := f"{kind}|{target}|{level:g}|{name}") in sums]
    below = sum(each[bottom] for each in own)
    return sum(each[top] for each in own) / below if below else math.nan


def _text(value, digits):
    return "-" if math.isnan(value) else f"{value:.{digits}f}".removeprefix("0")


if __name__ == "__main__":
    command(__doc__, cells(), quietly, table, 4_000)
