"""How long does it take to mask n records?"""

import condmask as cm
from benchmarks import data


class Mask:
    """One column on the default grid, or without one, keyed by the operating system."""

    param_names = ["n", "noise", "donors", "step", "workers"]
    params = [
        [10_000, 1_000_000],
        ["normal", "laplace"],
        ["sample", "permutation"],
        [None, 0.0],
        [1, 2],
    ]

    def setup(self, n, noise, donors, step, workers):
        self.scheme = cm.ConditionalMasking(0.6, data.SIGMA, noise=noise, donors=donors, step=step)
        self.x = data.original(n)
        self.time_mask(n, noise, donors, step, workers)

    def time_mask(self, n, noise, donors, step, workers):
        self.scheme.mask(self.x, workers=workers, accept="all" if step == 0.0 else ())

    peakmem_mask = time_mask
