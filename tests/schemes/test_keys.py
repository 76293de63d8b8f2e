"""What is released under one seed or Key shares no randomness, unless it is the same release.

Oracle: the words themselves, at the one place where streams begin. Kept records of two releases that shared
coins and noise, the second with twice the sigma, would give x = 2 z1 - z2.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from releases import generic

import condmask as cm
from condmask._randomness import Key, words

pytestmark = pytest.mark.usefixtures("unaudited")

SEED, KEY = 5, Key(bytes(range(16)))
N = 60
X, OTHER = np.rint(generic(N) * 4) / 4, np.rint(generic(N, 1) * 4) / 4
LABELS = np.repeat(["north", "south"], N // 2)
BASE = {"p": 0.6, "sigma": 1000.0, "step": 0.25}


def series(name="income", x=X):
    return pd.Series(x, name=name)


def column(**options):
    within = options.pop("within", None)
    return lambda rng: cm.ConditionalMasking(**{**BASE, **options}).mask(series(), rng=rng, strata=within)


def table(*names, **options):
    frame = pd.DataFrame({"income": X, "bonus": OTHER, "region": LABELS})
    schemes = {name: cm.ConditionalMasking(**BASE) for name in names}
    return lambda rng: cm.mask_table(frame, schemes, rng=rng, **options)


def study(scheme):
    population = cm.Resampled(X)
    return lambda rng: cm.simulate(population, {"a": scheme}, n=N, replications=2, rng=rng)


CONDITIONAL = {
    "as it is": column(),
    "another p": column(p=0.5),
    "another sigma": column(sigma=2000.0),
    "another noise": column(noise="laplace"),
    "other donors": column(donors="sample"),
    "another step": column(step=0.125),
    "no step": column(step=0),
    "strata": column(strata="region", within=LABELS),
    "other records in the strata": column(strata="region", within=np.roll(LABELS, 7)),
    "strata of another name": column(strata="county", within=LABELS),
    "crossed strata": column(strata=["region", "sex"], within=[LABELS, np.tile([0, 1, 1], 20)]),
    "small strata merged": column(strata="region", small_strata="merge", within=LABELS),
    "another name": lambda rng: cm.ConditionalMasking(**BASE).mask(series("bonus"), rng=rng),
    "without a name": lambda rng: cm.ConditionalMasking(**BASE).mask(X, rng=rng),
    "other data": lambda rng: cm.ConditionalMasking(**BASE).mask(series(x=OTHER), rng=rng),
    "together": table("income", "bonus"),
    "together in another order": table("bonus", "income"),
    "together within strata": table("income", "bonus", strata="region"),
}
OTHERS = {
    "added": lambda rng: cm.AdditiveNoise(1000.0).mask(series(), rng=rng),
    "twice as much added": lambda rng: cm.AdditiveNoise(2000.0).mask(series(), rng=rng),
    "normal noise added": lambda rng: cm.AdditiveNoise(1000.0, noise="normal").mask(series(), rng=rng),
    "swapped": lambda rng: cm.DataSwapping().mask(series(), rng=rng),
    "rank swapped": lambda rng: cm.RankSwapping(5.0).mask(series(), rng=rng),
    "rank swapped farther": lambda rng: cm.RankSwapping(10.0).mask(series(), rng=rng),
    "shuffled": lambda rng: cm.DataShuffling().mask(series(), given=OTHER, rng=rng),
    "shuffled by another column": lambda rng: cm.DataShuffling().mask(series(), given=OTHER**2, rng=rng),
}
STUDIES = {"study": study(cm.ConditionalMasking(**BASE))}


def drawn(use, rng, monkeypatch):
    """The first words of every stream that a use begins."""
    begin, seen = Key.stream, []

    def stream(self, *where):
        seen.append(words(begin(self, *where), 200))
        return begin(self, *where)

    with monkeypatch.context() as patch:
        patch.setattr(Key, "stream", stream)
        use(rng)
    assert seen
    return np.unique(seen)


@pytest.mark.parametrize(
    "rng", [SEED, KEY, np.random.SeedSequence(SEED)], ids=["seed", "Key", "SeedSequence"]
)
def test_no_two_uses_share_a_word(rng, monkeypatch):
    uses = {**CONDITIONAL, **OTHERS, **(STUDIES if rng is SEED else {})}

    found = {name: drawn(use, rng, monkeypatch) for name, use in uses.items()}

    # some 2e4 words: two are equal by chance with probability 1e-11 over keys
    shared = [pair for pair in combinations(found, 2) if np.intersect1d(*map(found.get, pair)).size]
    assert shared == []
    assert np.array_equal(found["as it is"], drawn(uses["as it is"], rng, monkeypatch))


@pytest.mark.parametrize("scheme", [cm.ConditionalMasking(**BASE), cm.AdditiveNoise(3.0), cm.DataSwapping()])
def test_a_column_is_masked_alike_in_memory_in_a_table_and_in_a_file(tmp_path, scheme):
    frame = pd.DataFrame({"income": X, "region": LABELS})
    frame.to_parquet(tmp_path / "a.parquet")

    alone = scheme.mask(frame["income"], rng=KEY)
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": scheme}, rng=KEY)

    assert np.array_equal(cm.read_column(tmp_path / "b.parquet", "income"), alone)
    if isinstance(scheme, cm.ConditionalMasking):
        data = cm.mask_table(frame, {"income": scheme}, rng=KEY).data
        assert np.array_equal(data["income"], alone)
