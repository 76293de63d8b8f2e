"""Studies that several tests run: schemes, a population, and one described in TOML."""

import condmask as cm

SCHEMES = {
    "CM": cm.ConditionalMasking(0.6, 1000.0),
    "Laplace": cm.ConditionalMasking(0.6, 1000.0, noise="laplace", donors="permutation"),
    "ANM": cm.AdditiveNoise(1400.0),
    "ranks": cm.RankSwapping(5.0),
    "shuffled": cm.DataShuffling(),
    "swapped": cm.DataSwapping(),
}
POPULATION = cm.paper_population()


def run(replications, schemes=None, **options):
    given = {
        "n": 20_000, "rng": 5, "quantiles": [0.2, 0.7], "cdf_points": [0.0], "risk_distances": [500.0],
        **options,
    }  # fmt: skip
    chosen = SCHEMES if schemes is None else schemes
    return cm.simulate(POPULATION, chosen, replications=replications, **given)


STUDY = """
n = 300
replications = 4
quantiles = [0.5]
risk_distances = [100.0]
rng = 3

[schemes.masked]
p = 0.6
sigma = 700.0

[schemes.ranks]
scheme = "RankSwapping"
percent = 10
"""
