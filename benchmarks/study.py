"""How long does a replicate of the paper's study take?"""

import condmask as cm
from benchmarks import data


class Study:
    """T_1, T_b and additive noise; nine quantiles, moments, correlation and risk."""

    param_names = ["n", "replications"]
    params = [[500, 2_000, 10_000], [64, 1_000]]

    def setup(self, n, replications):
        self.schemes = {
            "CM": cm.ConditionalMasking(0.6, data.SIGMA, donors="sample"),
            "ANM": cm.AdditiveNoise(1.414 * data.SIGMA),
        }
        self.time_study(n, 2)

    def time_study(self, n, replications):
        cm.simulate(
            cm.paper_population(),
            self.schemes,
            n=n,
            replications=replications,
            risk_distances=(500.0, 1000.0),
            rng=1,
        )


class StudyOfIntervals:
    """Intervals of nine quantiles, mean, s.d. and correlation at three levels, for both
    targets."""

    param_names = ["n", "scheme"]
    params = [[200, 2_000], ["additive noise", "reverse mapping"]]

    def setup(self, n, scheme):
        mapped = scheme == "reverse mapping"
        method = cm.ReverseMapping if mapped else cm.ConditionalMasking
        self.schemes = [method(0.6, data.SIGMA)]
        self.time_intervals(n, scheme)

    def time_intervals(self, n, scheme):
        cm.simulate(
            cm.paper_population(),
            self.schemes,
            n=n,
            replications=32,
            confidence_levels=(0.9, 0.95, 0.99),
            rng=1,
        )
