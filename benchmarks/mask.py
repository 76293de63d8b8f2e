"""How long does it take to mask n records?"""

import condmask as cm
from benchmarks import data


class Mask:
    """One column, keyed by the operating system."""

    param_names = ["n", "noise", "donors", "workers"]
    params = [[10_000, 1_000_000], ["normal", "laplace"], ["sample", "permutation"], [1, 2]]

    def setup(self, n, noise, donors, workers):
        self.scheme = cm.ConditionalMasking(0.6, data.SIGMA, noise=noise, donors=donors)
        self.x = data.original(n)
        self.time_mask(n, noise, donors, workers)

    def time_mask(self, n, noise, donors, workers):
        self.scheme.mask(self.x, workers=workers)

    def peakmem_mask(self, n, noise, donors, workers):
        self.scheme.mask(self.x, workers=workers)
