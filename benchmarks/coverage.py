"""How often do intervals cover? A table for each of eight studies, a row for each law, scheme, p
and n.

    python -m benchmarks.coverage FOLDER column --workers 2 --write
    docs/measured/coverage_column.rst

The studies are those of `STUDIES`: one column, its standard deviation under noise of any width,
its relations with others, regressions with masked columns, the whole distribution, distributions
of groups, comparisons, and statistics of income. Every cell is kept in FOLDER when it is done, so
a table may be stopped and gone on with;
``--only normal 2000`` takes some cells. Set OPENBLAS_NUM_THREADS=1: workers that each start
threads for small products wait for one another. Results do not depend on workers.
"""

import functools
import itertools
import math
import warnings
import zlib

import numpy as np
from scipy.special import ndtr, ndtri

import condmask as cm
from benchmarks import cells, coverage_columns, coverage_groups
from benchmarks.laws import CORRELATION, LAWS, LOG
from condmask.moments.moment_interval import Sampled
from condmask.moments.theorem_2_1 import powers_of_rows
from condmask.moments.variance_interval import variance_interval

TARGETS = ("population", "file")
SIGMA = 0.7  # in standard deviations of the data
SCHEMES = {
    "permutation": {},
    "sample": {"donors": "sample"},
    "Laplace": {"noise": "laplace"},
    "reverse": {},
}


def scheme_class(kind):
    """The class of the schemes of a kind."""
    return cm.ReverseMapping if kind == "reverse" else cm.ConditionalMasking


def scheme_of(law, kind, p, sigma=SIGMA):
    grid = {} if kind == "reverse" else LAWS[law].grid
    return scheme_class(kind)(p, sigma * LAWS[law].std(), **SCHEMES[kind], **grid)


# --- one column: what condmask.simulate tries by itself ---

AT = (0.05, 0.1, 0.5, 0.9, 0.95)
ENDS = (0.05, 0.95)
MIDDLE = (0.1, 0.5, 0.9)


def column(replications, seed, law, p, n):
    """Of each scheme: shares that cover, and the length relative to that after reverse mapping.

    Reverse mapping keeps the column, so its intervals are those of unmasked data.
    """
    population = LAWS[law]
    p = float(p)
    n = int(n)
    points = dict(zip(AT, population.quantile(AT).tolist(), strict=True))
    groups = {
        "cdf, ends": [f"cdf({points[q]:.15g})" for q in ENDS],
        "cdf": [f"cdf({points[q]:.15g})" for q in MIDDLE],
        "quantiles, ends": [f"quantile {q:g}" for q in ENDS],
        "quantiles": [f"quantile {q:g}" for q in MIDDLE],
        "mean": ["mean"],
        "s.d.": ["s.d."],
        "correlation": ["correlation"],
    }
    found = cm.simulate(
        population,
        {kind: scheme_of(law, kind, p) for kind in SCHEMES},
        n=n,
        replications=replications,
        quantiles=AT,
        cdf_points=list(points.values()),
        confidence_levels=(0.95,),
        rng=seed,
    )

    def mean(kind, target, what, statistics):
        interval = f"0.95 interval, {target}"
        return np.mean(
            [found.value(kind, interval, f"{what} of {each}", "mean") for each in statistics]
        )

    result = {}
    for kind, (group, statistics) in itertools.product(SCHEMES, groups.items()):
        shares = [mean(kind, target, "coverage", statistics) for target in TARGETS]
        lengths = [mean(each, "population", "length", statistics) for each in (kind, "reverse")]
        ratio = [lengths[0] / lengths[1]] if group != "correlation" and lengths[1] > 0.0 else []
        result.setdefault(kind, {})[group] = [float(each) for each in (*shares, *ratio)]
    return result


# --- the standard deviation, from narrow noise to such as hides the data ---

# of the noise's standard deviation to that of the data
RATIOS = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
FILES_AT_ONCE = 500


def spread(replications, seed, law, kind, p, n):
    """Of each ratio: the shares that cover the population's standard deviation and that of the
    file."""
    population = LAWS[law]
    name = f"{law}  {kind}  {p}  {n}"
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    found = {}
    for ratio in RATIOS:
        scheme = scheme_of(law, kind, float(p), ratio)
        held = []
        for start in range(0, replications, FILES_AT_ONCE):
            files = min(FILES_AT_ONCE, replications - start)
            x = scheme.grid.values(scheme.grid.units(population(rng, files, int(n))[0]))
            aims = np.full(files, population.std()), x.std(axis=1, ddof=1)
            held.append(
                [covers_std(scheme, x, rng, *aim) for aim in zip(TARGETS, aims, strict=True)]
            )
        found[f"sigma / s.d. = {ratio:g}"] = np.concatenate(held, axis=1).mean(axis=1).tolist()
    return {"": found}


def covers_std(scheme, x, rng, target, aim):
    """Whether the interval of each file's standard deviation covers; masked anew for each
    target."""
    law = scheme.law
    z = scheme.mask_rows(x, rng, ())
    sampled = Sampled(x.shape[1], law, scheme.shared_donors, powers_of_rows(z, 4, law.sigma))
    interval = variance_interval(sampled, 0.95, target, root=True)
    return (interval.low <= aim) & (aim <= interval.high)


# --- the others, file by file: of each statistic, whether what was to hold did ---


def relations(rng, law, kind, p, n):
    """Of a column with one in clear, with groups and weights, and with one that was masked as
    well."""
    population = LAWS[law]
    n = int(n)
    (x,), (w,) = population(rng, 1, n)
    v = population.related(x, rng)
    group = rng.random(n) < 0.15
    weights = rng.gamma(2.0, 0.5, n)
    own = scheme_of(law, kind, float(p))
    joint = scheme_class(kind)(own.p, SIGMA, **SCHEMES[kind])
    release = masked(rng, {"x": x, "v": v, "w": w}, {"x": own, "v": joint})
    estimate = release["x"]
    slope = CORRELATION * population.std()
    of_file = {
        "slope": np.polyfit(w, x, 1)[0],
        "group": x[group].mean(),
        "weighted": np.average(x, weights=weights),
        "correlation": np.corrcoef(x, w)[0, 1],
        "masked together": np.corrcoef(x, v)[0, 1],
    }
    of_population = {
        "slope": slope,
        "group": population.mean(),
        "weighted": population.mean(),
        "correlation": CORRELATION,
        "masked together": CORRELATION,
    }
    for target, aims in zip(TARGETS, (of_population, of_file), strict=True):
        found = {
            "slope": estimate.regress(w, target=target)["w1"],
            "group": estimate.group_means(group, target=target)[True],
            "weighted": estimate.weighted_mean(weights, target=target),
            "correlation": estimate.correlation_interval(w, target=target),
        }
        if kind != "reverse":  # after which no such interval is known
            found["masked together"] = estimate.correlation_interval(release["v"], target=target)
        for statistic, interval in found.items():
            yield statistic, covers(interval, aims[statistic])


COEFFICIENTS = np.array([0.8, -0.5, 0.4])  # of x, of w in clear, of v
DESIGNS = {  # the scheme, and what is masked by it
    "x": ("permutation", "x"),
    "x and y": ("permutation", "xy"),
    "x, v and y": ("permutation", "xvy"),
    "x, reverse mapping": ("reverse", "x"),
}


def file_of(rng, law, n):
    """Columns: w goes with x, and the errors of y grow with it."""
    x = LAWS[law].law.rvs(n, rng) / LAWS[law].std()
    own, v, e = rng.standard_normal((3, n))
    w = 0.5 * x + math.sqrt(0.75) * own
    return {"x": x, "w": w, "v": v, "y": COEFFICIENTS @ [x, w, v] + (0.5 + 0.3 * np.abs(x)) * e}


def regression(rng, law, design, p, n):
    """Coefficients of y on x, w and v, and whether that of x has bounds."""
    columns = file_of(rng, law, int(n))
    kind, names = DESIGNS[design]
    scheme = scheme_class(kind)(float(p), 0.5, **SCHEMES[kind])
    release = masked(rng, columns, dict.fromkeys(names, scheme))
    x, w, v, y = columns.values()
    of_file = np.linalg.lstsq(np.column_stack([np.ones(x.size), x, w, v]), y, rcond=None)[0][1:]
    for target, aims in zip(TARGETS, (COEFFICIENTS, of_file), strict=True):
        line = release.regress("y", on=["x", "w", "v"], target=target)
        for name, aim in zip("xwv", aims, strict=True):
            yield name, covers(line[name], aim)
        yield "no bounds for x", math.isinf(line["x"].low)


def distribution(rng, law, kind, p, n):
    """The band around all of it, the test of two columns, and, of amounts, inequality."""
    population = LAWS[law]
    n = int(n)
    x, other = population.law.rvs((2, n), rng)
    scheme = scheme_of(law, kind, float(p))
    seed = int(rng.integers(2**63))
    estimate = masked(rng, {"x": x}, {"x": scheme})["x"]
    second = cm.ConditionalMasking(0.7, 0.5 * population.std(), noise="laplace", **population.grid)
    points = population.quantile(np.linspace(0.001, 0.999, 1_000))
    curve = estimate.cdf(points, monotone=True)
    of_file = np.searchsorted(np.sort(x), points, "right") / n
    for target, aim in zip(TARGETS, (population.cdf(points), of_file), strict=True):
        yield (
            "band",
            np.abs(curve - aim).max() <= estimate.cdf_band(target=target, rng=seed).half_width,
        )
    for said, shift in (
        ("equal laws rejected", 0.0),
        ("shifted laws rejected", 0.15 * population.std()),
    ):
        compared = masked(rng, {"x": other + shift}, {"x": second})["x"]
        yield said, cm.compare_distributions(estimate, compared, rng=seed).pvalue <= 0.05
    if law == "lognormal":
        ordered = np.sort(x)
        rank = np.arange(1, n + 1)
        of_file = (
            (2.0 * rank - n - 1.0) @ ordered / ((n - 1) * x.sum()),
            ordered[: n // 2].sum() / x.sum(),
        )
        of_population = 2.0 * ndtr(LOG / math.sqrt(2.0)) - 1.0, ndtr(ndtri(0.5) - LOG)
        for target, (gini, lorenz) in zip(TARGETS, (of_population, of_file), strict=True):
            yield "Gini coefficient", covers(estimate.gini_interval(target=target), gini)
            yield (
                "Lorenz curve at .5",
                covers(estimate.lorenz_interval([0.5], target=target), lorenz),
            )


def masked(rng, columns, schemes):
    """A release of the columns; what an audit would refuse is tried all the same."""
    return cm.mask_table(columns, schemes, rng=int(rng.integers(2**63)), accept="all")


def covers(interval, aim):
    slight = 1e-9 * abs(aim)  # what is exact may differ from its target in rounding
    return bool(np.all((interval.low - slight <= aim) & (aim <= interval.high + slight)))


def file_by_file(study, name, replications, seed):
    """Means over files, of each statistic for the population and for the file."""
    found = {}
    for k in range(replications):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), k])
        for statistic, held in study(rng, *name.split("  ")):
            found.setdefault(statistic, []).append(held)
    shares = {statistic: np.reshape(held, (replications, -1)) for statistic, held in found.items()}
    return {"": {statistic: np.mean(held, axis=0).tolist() for statistic, held in shares.items()}}


# --- all studies ---

FEW = ("normal", "lognormal", "zeros")
SHAPES = ("normal", "uniform", "mixture", "lognormal")
KINDS_OF_NOISE = ("permutation", "sample", "Laplace")
WHOLE_CELLS = ("column", "spread")  # studies of all files of a cell at once
STUDIES = {  # the function, the factors of its cells, and how many files for each
    "column": (column, (LAWS, (0.3, 0.6), (200, 2_000)), 4_000),
    "spread": (spread, (("normal", "lognormal"), KINDS_OF_NOISE, (0.3, 0.6), (100, 1_000)), 2_000),
    "relations": (relations, (FEW, SCHEMES, (0.3, 0.6), (200, 2_000)), 1_000),
    "regression": (regression, (FEW, DESIGNS, (0.3, 0.6), (1_000, 10_000)), 1_000),
    "distribution": (
        distribution,
        (SHAPES, ("permutation", "reverse"), (0.3, 0.6), (2_000,)),
        500,
    ),
    "domains": (
        coverage_groups.domains,
        (("lognormal", "zeros", "mixture"), ("permutation", "reverse"), (0.6,), (500, 2_000)),
        400,
    ),
    "contrasts": (
        coverage_groups.contrasts,
        (("lognormal", "mixture"), ("permutation", "reverse"), (0.6,), (500, 2_000)),
        400,
    ),
    "changes": (
        coverage_columns.changes,
        ((0.1, 0.6), ("permutation", "sample", "reverse"), (0.3, 0.6), (500, 2_000)),
        300,
    ),
    "logarithms": (coverage_columns.logarithms, ((0.3, 0.6), (500, 2_000)), 300),
    "income": (
        coverage_groups.income,
        (("lognormal",), ("permutation", "reverse"), (0.6,), (500, 2_000)),
        400,
    ),
}


def named(study):
    """The cells of a study, by name."""
    return ["  ".join(map(str, factors)) for factors in itertools.product(*STUDIES[study][1])]


def run(study, name, replications, seed):
    """The rows of a cell: by what stands before its name, the figures of each statistic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if study in WHOLE_CELLS:
            return STUDIES[study][0](replications, seed, *name.split("  "))
        return file_by_file(STUDIES[study][0], name, replications, seed)


def table(found):
    """A line for each row of each cell; figures of a statistic stand behind each other."""
    lines = [(name, kind, row) for name, own in found.items() for kind, row in own.items()]
    heads = list(dict.fromkeys(statistic for *_, row in lines for statistic in row))
    shown = [["", *heads]]
    for name, kind, row in lines:
        fields = [" ".join(map(number, row.get(head, ()))) for head in heads]
        shown.append([" ".join([*name.split("  "), kind]).strip(), *fields])
    return cells.rows(shown)


def number(value):
    return f"{value:.2f}" if value > 1.0 else f"{value:.3f}".removeprefix("0")


def main():
    words = cells.parser(__doc__, None)
    words.add_argument("study", choices=STUDIES)
    asked = words.parse_args()
    if asked.replications is None:
        asked.replications = STUDIES[asked.study][2]
    cells.finish(asked, named(asked.study), functools.partial(run, asked.study), table)


if __name__ == "__main__":
    main()
