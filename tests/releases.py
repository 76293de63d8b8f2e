"""What tests of releases share: data whose masked values tell their donors, the reference's,
files."""

from itertools import combinations, permutations, product

import hypothesis
import numpy as np
import reference

import condmask as cm
from condmask._blocks import blocks
from condmask.estimates.origin import Origin
from condmask.masking.draws import coins
from condmask.masking.scheme import release_key
from condmask.strata import labels_of, pools_of

NOISES = ("normal", "laplace")
DONORS = ("sample", "permutation")
# a statistical test has a fixed key and raises a false alarm in at most one key of 10^6
ALARM = 1e-6


def generic(n, seed=0):
    """Values without ties: a masked value tells its donor."""
    return np.random.default_rng(seed).lognormal(10.0, 0.5, n)


def split(x, z):
    """(swapped rows, their donors) of a column without ties, masked with continuous noise."""
    order = np.argsort(x)
    found = order[np.searchsorted(x[order], z).clip(max=x.size - 1)]
    swapped = np.flatnonzero(x[found] == z)
    return swapped, found[swapped]


def in_steps(scheme, x):
    """The column that is hashed into the working key."""
    step = reference.exact_step(scheme.step)
    return x if step is None else [reference.to_steps(v, step) for v in x.tolist()]


def law_of(scheme):
    return scheme.noise, scheme.sigma, reference.exact_step(scheme.step)


def reference_of(scheme, x, seed, strata=None):
    secret = reference.working_secret(
        seed, [("", scheme.to_dict())], [in_steps(scheme, x)], strata
    )
    (z,) = reference.masked(
        secret, scheme.p, [x], [law_of(scheme)], strata=strata, donors=scheme.donors
    )
    return z


def masked(scheme, x, **options):
    """The release; drawn data that happen to have a grid of their own are another test's."""
    try:
        return scheme.mask(x, **options)
    except ValueError as error:
        hypothesis.assume("which a step of" not in str(error))
        raise


def assert_same_bits(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    assert np.array_equal(a, b, equal_nan=True)
    if a.dtype == float:
        assert np.array_equal(np.signbit(a), np.signbit(b)) or np.isnan(a).any()


def coins_of(scheme, x, key, strata=None):
    """Whether each record of a column without a name was swapped; only the key's owner can
    know."""
    pools = None
    if strata is not None:
        labels = labels_of(strata, scheme.strata, x.size, "x", "mask")
        pools, _ = pools_of(scheme, {"x": x}, labels)
    derived = release_key(key, {"": scheme}, [scheme.canonical(x, "x", "float64")], pools)
    swapped = np.zeros(x.size, dtype=bool)
    for block, (start, stop) in enumerate(blocks(x.size)):
        swapped[start + coins(derived, scheme.p, block, stop - start)[0]] = True
    return swapped


def coins_of_table(schemes, table, key):
    """Whether each record of some columns without gaps, masked in one call, was swapped."""
    columns = [schemes[name].canonical(x, name, "float64") for name, x in table.items()]
    derived = release_key(key, schemes, columns, None)
    swapped = np.zeros(columns[0].size, dtype=bool)
    p = next(iter(schemes.values())).p
    for block, (start, stop) in enumerate(blocks(swapped.size)):
        swapped[start + coins(derived, p, block, stop - start)[0]] = True
    return swapped


def masked_rows(scheme, x, rng, strata=None):
    """Rows masked on their own, within each stratum by itself: by eq. (1), as releases are."""
    z = np.array(x, dtype=float)
    for own in [slice(None)] if strata is None else [strata == s for s in np.unique(strata)]:
        z[:, own] = scheme.mask_rows(np.ascontiguousarray(z[:, own]), rng, ())
    return z


def in_group(estimate, group="g"):
    """The estimate, as that of a column which was masked together with others."""
    for each in getattr(estimate, "replicates", [estimate]):
        each.origin = Origin(group)
    return estimate


RNG = np.random.default_rng(1)


FILES = {
    "skewed": RNG.lognormal(0.0, 0.8, 300),
    "heaped": np.round(RNG.lognormal(3.0, 0.5, 300) / 5.0) * 5.0,
    "zeros": np.where(RNG.random(300) < 0.4, 0.0, RNG.lognormal(0.0, 0.8, 300)),
    "ties": RNG.poisson(2.0, 300).astype(float),
    "signs": np.where(RNG.random(300) < 0.1, 0.0, RNG.normal(0.0, 3.0, 300)),
}


def scheme_of(x, p=0.6, noise="normal", scale="linear", **options):
    sigma = 0.3 if scale == "log" else 0.3 * float(x.std())
    return cm.ReverseMapping(p, sigma, noise=noise, scale=scale, **options)


def mapped_rows(x, scheme, count, rng):
    """The scheme as it is written, `count` times: rows of one file, all in one pool; and the
    coins."""
    n = x.size
    shape = (count, x.size)
    swapped = rng.random(shape) < scheme.p
    noise = (
        rng.standard_normal(shape)
        if scheme.noise == "normal"
        else rng.laplace(0.0, np.sqrt(0.5), shape)
    )
    keys = (
        x + scheme.sigma * noise if scheme.scale == "linear" else x * np.exp(scheme.sigma * noise)
    )
    # the kept first, ties at random
    order = np.lexsort((rng.random(shape), np.where(swapped, np.inf, keys)))
    z = np.empty(shape)
    np.put_along_axis(z, order, np.sort(np.where(swapped, np.inf, x), axis=1), axis=1)
    hat = np.argsort(np.where(swapped, rng.random(shape), 2.0), axis=1)
    rows = np.argsort(np.where(swapped, np.arange(n), n), axis=1, kind="stable")
    own = np.arange(n) < swapped.sum(axis=1, keepdims=True)
    moved = np.where(own, x[hat], np.take_along_axis(z, rows, axis=1))
    np.put_along_axis(z, rows, moved, axis=1)
    return z


P = 0.4
CELLS = [(donors, pools) for donors in DONORS for pools in (1, 2)]


def donor_choices(swapped, n, donors):
    """All ways, equally likely, in which these records of a pool take their values."""
    if donors == "sample" or len(swapped) == 1:
        yield from product(*[[j for j in range(n) if j != i] for i in swapped])
    elif swapped:
        first, *others = swapped
        for order in permutations(others):  # one cycle through all of them
            ring = [first, *order]
            following = dict(zip(ring, [*ring[1:], first], strict=True))
            yield tuple(following[i] for i in swapped)
    else:
        yield ()


def outcomes(x, kept, donors):
    """Every masked file of a pool with its probability; `kept` is what noise makes of x on
    average."""
    n = x.size
    for count in range(n + 1):
        for swapped in combinations(range(n), count):
            choices = list(donor_choices(list(swapped), n, donors))
            chance = P**count * (1 - P) ** (n - count) / len(choices)
            for choice in choices:
                z = kept.copy()
                z[list(swapped)] = x[list(choice)]
                yield chance, z


class File:
    """A file in one pool or two, with columns that were not masked and sums of originals that they
    weigh."""

    def __init__(self, donors, pools, n=150):
        rng = np.random.default_rng(5)
        self.n = n
        self.scheme = cm.ConditionalMasking(
            P, 0.7, donors=donors, strata=None if pools == 1 else "region"
        )
        self.strata = np.repeat(np.arange(pools), self.n // pools)
        x = rng.gamma(4.0, 0.5, self.n) + 0.5 * self.strata
        units = self.scheme.canonical(x, "x", "float64")
        self.law = self.scheme.law
        self.x = self.law.from_units(units)
        self.group = rng.random(self.n) < 0.3 + 0.2 * self.strata  # no union of strata
        self.weights = rng.gamma(1.0, 1.0, self.n)
        self.w = rng.normal(size=self.n) + 0.7 * self.strata
        centred = self.w - self.w.mean()
        self.sums = np.array(
            [
                self.group / self.group.sum(),
                self.weights / self.weights.sum(),
                self.weights,
                centred / (centred @ centred),
                1 / self.n - self.w.mean() * centred / (centred @ centred),
            ]
        )

    def releases(self, count, seed):
        rng = np.random.default_rng(seed)
        rows = np.empty((count, self.n))
        for s in np.unique(self.strata):
            own = self.strata == s
            rows[:, own] = self.scheme.mask_rows(np.tile(self.x[own], (count, 1)), rng, ())
        return rows

    def undone(self, rows):
        """Pseudo-values by their definition."""
        found = np.empty_like(rows)
        for s in np.unique(self.strata):
            own = self.strata == s
            n = own.sum()
            f = 1 - P - P / (n - 1)
            mean = rows[:, own].mean(axis=1, keepdims=True)
            found[:, own] = (rows[:, own] - P * n / (n - 1) * mean) / f
        return found

    def estimate(self, z):
        return self.scheme.estimate(z, strata=self.strata if self.scheme.strata else None)

    def intervals(self, z, target):
        """Of the five sums, in their order."""
        e = self.estimate(z)
        about = {"target": target}
        line = e.regress(self.w, **about)
        return [
            e.group_means(self.group, **about)[True],
            e.weighted_mean(self.weights, **about),
            e.total(self.weights, **about),
            line["w1"],
            line["intercept"],
        ]


def ends(interval):
    return [interval.low, interval.high, interval.standard_error, interval.estimate]


def released():
    """A file in two pools, and the estimate of one release of it."""
    file = File("permutation", 2)
    return file, file.estimate(file.releases(1, 11)[0])
