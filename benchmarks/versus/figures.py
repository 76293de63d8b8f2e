"""Estimates and intervals against those of another commit, figure by figure.

``python benchmarks/versus/figures.py --write FILE.npz`` writes the figures of a grid of cases by
the code that it imports; ``--before FILE.npz`` compares with such a file. Each figure is written
with how far it may move: what rounding leaves, a step of the grid, or a share of its standard
error (ends of intervals .2, and half of them .05 at most, so that a median is .25 or less).
Samples are masked here, by eq. (1) in NumPy, so that they are the same whatever the code does.
``--only TEXT`` takes the cases whose name contains a text, ``--long`` prints each figure that
moved too far.
"""

import argparse
import warnings
from functools import partial
from itertools import product

import numpy as np

import condmask as cm

SIGMA = 6000.0
STEPS = {"default": 4.0, "cents": 0.01, "sigma/3": 2000.0, "sigma": 6000.0, "none": 0.0}
Q = np.array([0.01, 0.04, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
EXACT = 1e-11
CLOSE = 1e-9
PARTS = 0.2  # in T, in standard errors, and where the path is another
ROUNDED = 1e-7  # in roots of sums that are nearly 0
ENDS = ("low", "high", "standard_error")
ESTIMATES = {"linear": CLOSE, "E g": 0.002, "gini": 0.01, "lorenz": 0.01}  # in standard errors
SHAPES = {
    "normal": lambda rng, n: rng.normal(4.0, 1.5, n),
    "wide": lambda rng, n: rng.lognormal(1.0, 1.4, n),
    "heaps": lambda rng, n: np.where(
        rng.random(n) < 0.8, 3.0 * rng.poisson(2.0, n), rng.gamma(2.0, 2.0, n)
    ),
    "clusters": lambda rng, n: rng.normal(2.0, 0.5, n) + 100.0 * (rng.random(n) < 0.3),
    "equal": lambda rng, n: np.full(n, 2.5),
}


def masked(rng, x, noise, donors, p, step, pools, *, mapped):
    """Masked values by eq. (1), on the grid."""
    swapped = rng.random(x.size) < p
    scale = SIGMA if noise == "normal" else SIGMA / np.sqrt(2.0)
    z = x + rounded(getattr(rng, noise)(0.0, scale, x.size), step)
    for label in np.unique(pools):
        pool = np.flatnonzero(pools == label)
        taken = pool[swapped[pool]]
        if donors == "sample":
            place = np.searchsorted(pool, taken) + rng.integers(1, pool.size, taken.size)
            z[taken] = x[pool[place % pool.size]]
        else:
            cycle = rng.permutation(taken)
            z[cycle] = x[np.roll(cycle, 1)]
    if mapped:
        kept = np.flatnonzero(~swapped)
        z[kept[np.argsort(z[kept], kind="stable")]] = np.sort(x[kept])
    return rounded(z, step)


def rounded(values, step):
    """Values on the grid; those in cents are the nearest to a decimal."""
    whole = np.floor(values / step + 0.5) if step else values
    return whole / 100.0 if step == 0.01 else whole * (step or 1.0)


def cases():
    """(name, estimate, points, groups, another column, step): few of all combinations."""
    shapes = list(SHAPES)
    p = (0.05, 0.3, 0.6, 0.9)
    for k, (*law, step) in enumerate(
        product(("normal", "laplace"), ("permutation", "sample"), p, STEPS)
    ):
        yield case(k, *law, step, shapes[(k // 5 + k) % 5], 200)
        if k % 3 == k // 20 % 3:
            yield case(k, *law, step, shapes[(k // 5 + 3 * k + 2) % 5], 20_000)
    yield case(100, "normal", "permutation", 0.6, "none", "wide", 2000, "mapped")
    yield case(101, "laplace", "permutation", 0.3, "none", "normal", 200, "mapped")
    yield case(102, "normal", "permutation", 0.6, "default", "wide", 2000, "strata")
    yield case(103, "laplace", "permutation", 0.3, "cents", "heaps", 2000, "strata")
    yield case(104, "normal", "permutation", 0.6, "default", "normal", 200, "batch")
    yield case(105, "normal", "sample", 0.3, "none", "heaps", 200, "batch")


def case(seed, noise, donors, p, name, shape, n, kind=""):
    rng = np.random.default_rng(seed)
    step = STEPS[name]
    x = [rounded(SIGMA * SHAPES[shape](rng, n), step) for _ in range(4 if kind == "batch" else 1)]
    groups = rng.integers(0, 3, n)
    other = x[0] / SIGMA + rng.normal(0.0, 1.0, n)
    pools = groups if kind == "strata" else np.zeros(n)
    z = [masked(rng, each, noise, donors, p, step, pools, mapped=kind == "mapped") for each in x]
    options = {"decimals": 2} if name == "cents" else {"step": step}
    if kind == "strata":
        options |= {"strata": "g"}
    if kind == "mapped":
        scheme = cm.ReverseMapping(p, SIGMA, noise=noise)
    else:
        scheme = cm.ConditionalMasking(p, SIGMA, noise=noise, donors=donors, **options)
    estimate = scheme.estimate(
        z if kind == "batch" else z[0], strata=groups if kind == "strata" else None
    )
    ends = z[0].min() - 2.0 * SIGMA, z[0].max() + 2.0 * SIGMA, z[0].min(), z[0].max()
    points = np.concatenate(
        (np.quantile(z[0], Q), np.quantile(z[0], [0.3, 0.6]) + 0.3 * SIGMA, ends)
    )
    name = f"{kind} {noise} {donors} p={p} {name} {shape} n={n}".strip()
    return name, estimate, points, groups, other, step


def asked(e, points, groups, other, step):
    """(kind, call, how far its result may move)."""
    p = e.scheme.p
    near = max(step, SIGMA / 1000.0)
    first = "first"
    placed = "rearranged"
    size = np.abs(points).max()
    sizes = np.abs(other).max()
    smooth = {"bandwidth": 0.3 * SIGMA}
    yield "T_1", partial(e.cdf, points), EXACT / p
    yield "T_b", partial(e.cdf, points, **smooth), EXACT / p
    yield "T_b", partial(e.pdf, points), 10.0 * EXACT / (p * SIGMA)
    yield "monotone", partial(e.cdf, points, monotone=True), partial(rise, e, points, near)
    yield "first", partial(e.quantile, Q, crossing=first), CLOSE * SIGMA
    yield "first b", partial(e.quantile, Q, crossing=first, **smooth), 1e-6 * SIGMA
    yield placed, partial(e.quantile, Q, crossing=placed), near
    yield "rearranged b", partial(e.quantile, Q, crossing=placed, **smooth), near
    for order in (1, 2, 3):
        yield "moments", partial(e.moment, order), size**order * EXACT / p
    yield "moments", e.std, size * EXACT / p
    yield "pairs", partial(e.covariance, other), size * sizes * EXACT / p
    yield "pairs", partial(e.correlation, other), EXACT / p
    few = step != 0.01 or (e.scheme.donors == "permutation" and p in (0.3, 0.6) and e.n < 20_000)
    for to in ({"target": "population"}, {"target": "file"}):
        yield "moment intervals", partial(e.mean_interval, **to), CLOSE
        yield "moment intervals", partial(e.std_interval, **to), CLOSE
        yield "pair intervals", partial(e.covariance_interval, other, **to), CLOSE
        yield "pair intervals", partial(e.correlation_interval, other, **to), CLOSE
        yield "linear", partial(e.group_means, groups, **to), CLOSE
        yield "linear", partial(e.weighted_mean, 1.0 + groups, **to), CLOSE
        yield "linear", partial(e.regress, other, **to), CLOSE
        yield "cdf intervals", partial(e.cdf_interval, points, **to), PARTS
        yield "quantile intervals", partial(e.quantile_interval, Q, **to), PARTS
        if few:
            yield "E g", partial(e.expectation_interval, log, **to), PARTS
            yield "E g", partial(e.expectation_interval, lambda x: x < 2.0 * SIGMA, **to), PARTS
            yield "gini", partial(e.gini_interval, **to), PARTS
            yield "lorenz", partial(e.lorenz_interval, Q, **to), PARTS


def log(x):
    """The logarithm, with a floor."""
    return np.log(np.maximum(x, 0.1 * SIGMA))


def rise(e, points, near):
    """By how much the rearranged T rises around points."""
    low, high = (e.cdf(points + apart, monotone=True) for apart in (-near, near))
    return EXACT / e.scheme.p + np.abs(high - low)


def figures(only):
    """Values and how far they may move, by kind and case; or what is raised in their place."""
    found = {}
    for name, estimate, *given in cases():
        for k, (kind, call, may) in enumerate(asked(estimate, *given) if only in name else ()):
            key = f"{kind}|{name}|{getattr(call, 'func', call).__name__} {k}"
            try:
                value = call()
                most = may() if callable(may) else may
            except (ValueError, ArithmeticError) as error:
                found[key] = np.array(type(error).__name__)
                continue
            if not hasattr(value, "standard_error"):
                found[key] = with_most(value, most)
                continue
            error = np.where(np.isfinite(value.standard_error), value.standard_error, 1.0)
            least = ROUNDED if most == PARTS else EXACT
            for end in ENDS:
                found[f"{key} {end}"] = with_most(getattr(value, end), most * error, least)
            if kind in ESTIMATES:
                exact = kind == "E g" and not 0.0 < given[-1] < SIGMA / 4096.0
                most = (CLOSE if exact else ESTIMATES[kind]) * error
                found[f"{kind} estimates|{key.partition('|')[2]}"] = with_most(
                    value.estimate, most, EXACT
                )
    return found


def with_most(value, most, least=0.0):
    """A figure and how far it may move, at least so much of its size: standard errors may be 0."""
    value = np.asarray(value, dtype=np.float64)
    least = least * np.maximum(np.nan_to_num(np.abs(value), posinf=0.0), 1.0)
    return np.array([value, np.broadcast_to(np.maximum(most, least), value.shape)])


def compare(before, now, *, long):
    """Print by kind how many figures moved, how many too far, and how far in what each may
    move."""
    found = {}
    for key, new in now.items():
        old = before[key]
        if old.dtype.kind == "U" or old.shape != new.shape:
            far = np.array([0.0 if np.array_equal(old, new) else np.inf])
        else:
            same = (old[0] == new[0]) | (np.isnan(old[0]) & np.isnan(new[0]))
            with np.errstate(invalid="ignore"):
                far = np.where(
                    same, 0.0, np.nan_to_num(np.abs(new[0] - old[0]), nan=np.inf) / old[1]
                )
        found.setdefault(key.partition("|")[0], {})[key] = far.ravel()
    print(f"{'':20}{'figures':>9}{'moved':>9}{'too far':>9}{'median':>10}{'worst':>10}")
    for kind, by_key in found.items():
        far = np.concatenate(list(by_key.values()))
        worst = max(by_key, key=lambda key: by_key[key].max())
        counts = f"{far.size:9}{np.count_nonzero(far):9}{np.count_nonzero(far > 1.0):9}"
        print(f"{kind:20}{counts}{np.median(far):10.2g}{far.max():10.2g}  {worst}")
        for key in by_key if long else ():
            if (by_key[key] > 1.0).any():
                print(f"    {by_key[key].max():.3g}  {key}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--write", "--before", "--only"):
        parser.add_argument(name, default="")
    parser.add_argument("--long", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    now = figures(args.only)
    if args.write:
        np.savez_compressed(args.write, **now)
    if args.before:
        with np.load(args.before) as before:
            compare(before, now, long=args.long)


if __name__ == "__main__":
    main()
