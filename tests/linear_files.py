"""Files of which tests weigh sums, and all maskings of a tiny one."""

from itertools import combinations, permutations, product

import numpy as np

import condmask as cm

DONORS = ("sample", "permutation")
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
    """Every masked file of a pool with its probability; `kept` is what noise makes of x on average."""
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
    """A file in one pool or two, with columns that were not masked and sums of originals that they weigh."""

    def __init__(self, donors, pools, n=150):
        rng = np.random.default_rng(5)
        self.n = n
        self.scheme = cm.ConditionalMasking(P, 0.7, donors=donors, strata=None if pools == 1 else "region")
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
        e, about = self.estimate(z), {"target": target}
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
