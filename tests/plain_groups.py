"""Distributions of groups record by record, in plain NumPy: slow, and close to the formulas.

Of one donor pool and disjoint groups. The basis is that of the package; everything that is made of
it is computed anew, with an array entry for each record where the package has sums over cells.
"""

import numpy as np


class Plain:
    """A group with weights that sum to 1, and functions of the original."""

    def __init__(self, basis, member, weights, tables):
        n = basis.n
        of = basis.directions
        weights = np.ones(n) if weights is None else weights
        share = np.where(member, weights, 0.0)
        self.n = n
        self.p = basis.p
        self.exact = basis.exact
        self.weight = n * share / share.sum()  # w
        self.mass = basis.mass[:, None]
        self.lam = of.lam
        self.b = of.b
        self.psi_of_record = of.psi[basis.cell]
        self.means = self.weight @ self.psi_of_record / n
        self.beta = of.b.T @ (self.mass * tables.original) / of.lam[:, None]
        self.psi = self.psi_of_record @ self.beta
        self.of_original = of.b @ self.beta
        self.d = self.means @ self.beta
        released = tables.released[basis.cell]
        self.rest = released - released.mean(axis=0) - self.psi
        centred = tables.original - (self.mass * tables.original).sum(axis=0)
        self.res = centred - self.of_original
        self.undone = tables.undone - (self.mass * tables.undone).sum(axis=0)
        self.value = tables.mean + self.d

    def density(self, square):
        """The ratio of densities that weights or their squares give, at the points."""
        weight = self.weight**2 if square else self.weight
        mean = weight.mean()
        ratio = mean + self.b @ ((weight @ self.psi_of_record / self.n) / self.lam)
        ratio = np.maximum(ratio, 0.0)
        return ratio * mean / (self.mass[:, 0] @ ratio)

    def variances(self, shared_donors):
        """About the file without the part that is missed, about the population, and this part."""
        one = self.density(square=False)[:, None]
        two = self.density(square=True)[:, None]
        off = self.of_original - self.d

        def mean(x):
            return (self.mass * x).sum(axis=0)

        of_h = mean(self.res**2) + 2.0 * mean(one * self.res * off) + mean(two * off**2)

        def deviation(x):
            return mean((two - 2.0 * one + 1.0) * x**2)

        w = self.weight[:, None]
        if self.exact:
            file = ((w - 1.0) ** 2 * self.psi**2).mean(axis=0) - deviation(self.of_original)
            population = file + of_h
        else:
            phi = self.rest + w * (self.psi - self.d)
            population = (phi**2).mean(axis=0)
            if shared_donors:
                with_h = mean(self.undone * (self.res + one * off))
                population = population + 2.0 * self.p * with_h - self.p**2 * mean(self.undone**2)
            file = population - of_h
        return file / self.n, population / self.n, deviation(self.res) / self.n
