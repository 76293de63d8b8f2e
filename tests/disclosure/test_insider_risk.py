"""Insiders.

Oracles: all assignments of hidden values weighed by enumeration of coins, in a pool so small that this can be
done; the figures of a study that shares no code; chains followed by loops.
"""

from itertools import product

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import insider_risk, simulated_maps

NORMAL = np.random.default_rng(1).normal(0.0, 1.0, 200)


def scheme_of(p=0.6, sigma=0.3, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


@pytest.fixture
def few_releases(monkeypatch):
    """For what holds of any draws."""
    monkeypatch.setattr(insider_risk, "MOST", 40)


def test_what_insiders_read_is_what_another_study_found():
    found = cm.insider_risk(NORMAL, scheme_of(), d=0.1)

    # there .80 .53 .25 for k = 2, 5, 20 of 200, within .1 s.d. .72 .43 for the last two, with some other
    # attacker; standard errors here: .03 at k = 2, less after; .05 of the windows for another rule
    assert found.unknown == (1, 2, 5, 20, 100)
    assert found.exact[:4] == pytest.approx([1.0, 0.80, 0.53, 0.25], abs=0.05)
    assert found.within[2:4, 0] == pytest.approx([0.68, 0.43], abs=0.06)
    # additive noise: who is swapped is read surely where he is the only one, and along one cycle of two
    assert found.additive_exact[:2] == pytest.approx([0.6, 0.6], abs=0.1)
    assert (found.exact > found.additive_exact).all()
    assert (found.within >= found.exact[:, None]).all()


def test_the_last_unknown_value_is_known():
    found = cm.insider_risk(NORMAL[:80], scheme_of(0.3), d=[0.1, 0.5])

    assert found.exact[0] == 1.0
    assert found.within[0].tolist() == [1.0, 1.0]
    assert found.additive_exact[0] == pytest.approx(0.3, abs=0.13)  # 200 releases: .032, four of them


def exact_share(x, scheme, releases):
    """Read of 2 hidden values by who weighs both assignments by all coins: M by the map of few records."""
    stream = np.random.default_rng(5)
    n, p, right = x.size, scheme.p, 0.0
    kept_law = {}
    for coins in product([0, 1], repeat=n):  # of each set of kept ones the law of its map, by simulation
        kept = np.flatnonzero(np.array(coins) == 0)
        counts = {}
        for _ in range(400):
            order = tuple(np.argsort(x[kept] + scheme.sigma * stream.standard_normal(kept.size)))
            counts[order] = counts.get(order, 0) + 1
        kept_law[coins] = kept, counts

    def likelihood(source):
        total = 0.0
        for coins, (kept, counts) in kept_law.items():
            swapped = [i for i in range(n) if coins[i]]
            if {int(source[i]) for i in swapped} != set(swapped):
                continue
            place = {int(r): k for k, r in enumerate(kept)}
            order = [0] * kept.size
            for k, r in enumerate(kept):  # the record that gets the value of kept[i] stands i-th
                order[place[int(source[r])]] = k
            share = counts.get(tuple(order), 0) / 400
            total += (
                p ** len(swapped) * (1 - p) ** kept.size * share / np.prod(np.arange(1.0, len(swapped) + 1))
            )
        return total

    for _ in range(releases):
        source = simulated_maps.release(x, scheme, stream)
        a, b = stream.permutation(n)[:2]
        # the same release, told of records whose originals are the other way round
        right += likelihood(source) >= likelihood(swapped_names(source, a, b))
    return right / releases


def swapped_names(source, a, b):
    """The sources where the originals of records a and b are the other way round."""
    found = source.copy()
    found[source == a], found[source == b] = b, a
    return found


@pytest.mark.slow
def test_two_of_six_are_read_about_as_often_as_enumeration_allows():
    x = np.array([0.0, 0.5, 1.1, 1.4, 2.2, 3.0])
    best = exact_share(x, scheme_of(0.5, 0.5), 400)
    found = cm.insider_risk(x, scheme_of(0.5, 0.5), d=0.1).exact[1]

    # 400 and 200 releases: .022 and .03; nobody does better than enumeration
    assert found < best + 0.11
    assert found > best - 0.15


def test_chains_go_on_to_the_next_hidden_record():
    rng = np.random.default_rng(2)
    owner, told = rng.permutation(60), rng.normal(size=60)
    hidden = np.array([3, 17, 18, 44])
    end, total = insider_risk.followed(owner, hidden, told)

    for k, row in enumerate(hidden):
        at, expected = owner[row], 0.0
        while at not in hidden:
            expected, at = expected + told[at], owner[at]
        assert end[k] == at
        assert total[k] == pytest.approx(expected, abs=1e-12)
    assert sorted(end) == hidden.tolist()


@pytest.mark.usefixtures("few_releases")
@pytest.mark.parametrize("options", [{"scale": "log"}, {"noise": "laplace"}, {"aggregate_ends": 3}])
def test_heaped_values_and_other_laws_have_shares(options):
    x = np.round(np.exp(NORMAL), 1)
    found = cm.insider_risk(x, scheme_of(**options), d=[0.05, 0.6])

    assert (found.exact <= found.within[:, 0] + 1e-12).all()  # the next value is .1 away
    assert (np.diff(found.within, axis=1) > -0.02).all()
    assert (found.within <= 1.0).all()
    assert found.exact[0] == 1.0


@pytest.mark.usefixtures("few_releases")
def test_the_smallest_pool_counts():
    group = np.repeat(["a", "b"], [140, 60])
    found = cm.insider_risk(NORMAL, scheme_of(strata="g"), d=0.1, strata=group)

    assert found.n == 60
    assert found.to_dict() == cm.insider_risk(NORMAL[140:], scheme_of(), d=0.1).to_dict()


@pytest.mark.usefixtures("few_releases")
def test_a_large_pool_is_stood_for_by_some_of_its_records(monkeypatch):
    monkeypatch.setattr(insider_risk, "SIMULATED", 100)
    found = cm.insider_risk(NORMAL, scheme_of(), d=0.1)

    assert found.unknown == (1, 2, 5, 20, 100)
    half = cm.insider_risk(np.sort(NORMAL)[::2], scheme_of(), d=0.1)
    assert half.unknown[-1] == 50
    assert found.exact[4] == pytest.approx(half.exact[-1], abs=0.04)  # 2,000 records each: .01 or less


@pytest.mark.usefixtures("few_releases")
def test_it_is_a_table():
    found = cm.insider_risk(NORMAL[:60], scheme_of(), d=[0.1, 0.5])

    text = str(found).splitlines()
    assert "all others of a pool of 60;" in text[0]
    assert text[1].split() == ["unknown", "exactly", "closer", "than", "0.1", "closer", "than", "0.5"]
    assert len(text) == 2 + len(found.unknown) == 2 + len(found.to_frame())
    assert repr(found) == "InsiderRisk(n=60, d=(0.1, 0.5), unknown=(1, 2, 5, 6, 20, 30))"
