"""The trained attacker reaches what the theory says of one column, and what a table tells beyond it.

8,192 records and more are attacked: a share has a standard error of at most .0055, and all seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest
from releases import coins_of

import condmask as cm
from condmask._randomness import Key
from condmask.audit_input import AuditInput
from condmask.disclosure import boosting
from condmask.disclosure.coin_classes import chances
from condmask.disclosure.drawn_release import DrawnRelease
from condmask.disclosure.trained_attack import (
    ATTACK,
    CHECK,
    NONE,
    TEACH,
    attack,
    examples,
    figures,
    trained_file,
)
from condmask.disclosure.trained_features import column_attacks, context, features

N, P = 24_000, 0.6
RNG = np.random.default_rng(5)
HEAPS = RNG.choice([1, 10, 100, 500], N, p=[0.05, 0.2, 0.4, 0.35])
COLUMNS = {
    "normal": (RNG.normal(0.0, 1000.0, N), {"sigma": 500.0}),
    "heaped": (HEAPS * np.rint(RNG.lognormal(7.5, 0.6, N) / HEAPS), {"sigma": 500.0, "decimals": 0}),
    "lognormal": (RNG.lognormal(8.0, 0.6, N), {"sigma": 800.0}),
    "integers": (RNG.poisson(40, N).astype(float), {"sigma": 10.0, "decimals": 0}),
}


def alone(x):
    return trained_file(AuditInput({"x": x}, {"x": "float64"}, {}, None))


@pytest.mark.parametrize(
    ("name", "p"), [("normal", P), ("heaped", 0.3), ("lognormal", 0.8), ("integers", 0.3)]
)
@pytest.mark.slow
def test_of_one_column_training_reaches_what_theory_says(name, p):
    x, options = COLUMNS[name]
    scheme = cm.ConditionalMasking(p, **options)
    audit = cm.audit(x, scheme)
    (shown,) = examples(alone(x), {"x": scheme})
    trained = attack(shown, p)

    assert abs(trained.guessed - audit.guessed) < 0.02
    ratio = [look.values for look in shown.looks if look.kind == "column"][2]
    chance = chances(p, ratio[shown.part == ATTACK])
    doubt = np.minimum(chance, 1.0 - chance)  # many are nearly certain: odds may be off by a factor of 2
    assert np.mean(doubt < 0.025) - 0.02 < trained.certain < np.mean(doubt < 0.1) + 0.02


@pytest.mark.slow
def test_digits_tell_without_the_theory():
    x, options = COLUMNS["heaped"]
    scheme = cm.ConditionalMasking(P, **options)
    (shown,) = examples(alone(x), {"x": scheme})
    z, times, ratio, *digits = [look for look in shown.looks if look.kind == "column"]
    assert ratio.values.min() < -2.0

    assert abs(attack(shown, P, [z, times, *digits]).guessed - cm.audit(x, scheme).guessed) < 0.02


@pytest.mark.parametrize("reverse_mapping", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_releases_under_a_key_are_read_as_well_as_those_that_were_drawn(reverse_mapping):
    firm = np.repeat(np.arange(N // 12), 12)
    x = np.repeat(RNG.lognormal(8.0, 1.0, N // 12), 12) * RNG.normal(1.0, 0.05, N)
    scheme = cm.ConditionalMasking(P, 300.0, reverse_mapping=reverse_mapping)
    file = trained_file(AuditInput({"x": x}, {"x": "float64"}, {"firm": firm.astype(float)}, None))
    file.samples[0].units["firm"] = firm
    (shown,) = examples(file, {"x": scheme})
    expected = attack(shown, P)
    assert expected.guessed > P + 0.1

    key = Key(bytes(range(16)))
    z = scheme.mask(x, rng=key, accept_visible_coins=True)
    coins = coins_of(scheme, x, key)
    known = context(
        file.data, {"x": scheme}, file.samples[0], column_attacks(file.data, {"x": scheme}, file.half), []
    )
    looks = features(known, DrawnRelease({"x": z}, coins))
    table, asked = (
        np.column_stack([look.values for look in of_release]) for of_release in (shown.looks, looks)
    )
    learned = [
        rows
        for part in (TEACH, CHECK)
        for rows in (table[shown.part == part], shown.swapped[shown.part == part])
    ]
    chance = boosting.chances(*learned, asked[file.half == 1])
    reached = figures(chance, coins[file.half == 1], P)

    assert abs(reached.guessed - expected.guessed) < 0.02
    assert abs(reached.certain - expected.certain) < 0.05


def test_certain_are_those_of_whom_guesses_are_right_as_often():
    chance = np.repeat([0.98, 0.7, 0.03], 1000)
    swapped = np.concatenate([np.arange(1000) >= 20, np.arange(1000) < 700, np.arange(1000) < 30])
    honest, mistaken = figures(chance, swapped, 0.5), figures(chance, np.roll(swapped, 1000), 0.5)

    assert honest.guessed == pytest.approx((980 + 700 + 970) / 3000)
    assert honest.certain == pytest.approx(2 / 3)
    assert mistaken.certain == 0.0


def bmi():
    height = RNG.normal(170.0, 9.0, N).round(0)
    weight = (np.exp(RNG.normal(np.log(26.0), 0.16, N)) * (height / 100.0) ** 2).round(0)
    table = {"height": height, "weight": weight, "bmi": (weight / (height / 100.0) ** 2).round(1)}
    steps = {"height": (4.0, 0), "weight": (7.0, 0), "bmi": (2.0, 1)}
    return table, {name: cm.ConditionalMasking(P, s, decimals=d) for name, (s, d) in steps.items()}


def totals():
    table = {f"part {k}": RNG.lognormal(8.0, 0.6, N).round(0) for k in range(8)}
    parts = list(table)
    for k in (0, 1):
        off = (RNG.random(N) < 0.005) * RNG.integers(1, 500, N)
        table[f"total {k}"] = sum(table[name] for name in parts[4 * k : 4 * k + 4]) + off
    return table, {name: cm.ConditionalMasking(P, 1000.0, decimals=0) for name in table}


def panel():
    level = np.repeat(RNG.lognormal(9.0, 1.2, N // 12), 12)
    table = {
        "sales": (level * np.exp(RNG.normal(0.0, 0.1, N))).round(0),
        "firm": np.repeat(np.arange(N // 12), 12),
    }
    return table, {"sales": cm.ConditionalMasking(P, 900.0, decimals=0)}


@pytest.mark.parametrize(
    ("made", "guessed", "certain"),
    [(bmi, 0.99, 0.95), (totals, 0.966, 0.9), (panel, 0.8, 0.25)],
)
@pytest.mark.slow
def test_a_table_tells_what_its_columns_do_not(made, guessed, certain):
    table, schemes = made()
    audit = cm.audit(table, schemes, thorough=True)

    assert audit.guessed >= audit.trained > guessed
    assert audit.certain > certain
    assert audit.visible
    if made is panel:  # the table of the fewest columns
        assert cm.audit(table, schemes, thorough=True) == audit


def test_a_thorough_audit_says_what_training_adds():
    """Two columns in clear tell together, neither by itself nor in a sum: trees see it."""
    u, v, noise = np.random.default_rng(17).normal(size=(3, 2_000))
    table = {"x": 1000.0 * np.sign(u * v) + 300.0 * noise, "u": u, "v": v}
    schemes = {"x": cm.ConditionalMasking(P, 200.0)}

    first = cm.audit(table, schemes, thorough=True)

    (cause,) = [cause for cause in first.causes if cause.name == "trained"]
    assert first.guessed == first.trained > cm.audit(table, schemes).guessed + 0.05
    assert first.visible
    assert "the columns in clear" in cause.text
    assert cause.text in first.refusal
    assert f"{first.trained:.1%}" in str(first)
    assert first.to_dict()["trained"] == first.trained


def test_where_nothing_shows_training_adds_nothing():
    x = RNG.normal(0.0, 1000.0, 1500)
    plain = cm.audit(x, cm.ConditionalMasking(P, 400.0))
    audit = cm.audit(x, cm.ConditionalMasking(P, 400.0), thorough=True)

    assert audit.causes == plain.causes
    assert not audit.visible
    # 4,500 records are attacked, three at a time of one original: five standard errors are .063
    assert abs(audit.guessed - plain.guessed) < 0.063


def test_proposals_are_those_that_hold_against_the_trained_attacker_too():
    x, options = COLUMNS["heaped"]
    audit = cm.audit(x[:4000], cm.ConditionalMasking(P, **options), thorough=True)

    assert audit.proposals
    for proposal in audit.proposals:
        assert proposal.audit.trained is not None
        assert proposal.hides


def test_few_records_teach_nothing():
    audit = cm.audit(RNG.normal(size=99), cm.ConditionalMasking(P, 0.5), thorough=True)

    assert audit == replace(audit, trained=None)


def test_records_without_a_value_are_not_attacked():
    x = np.where(np.arange(4000) % 3 == 0, np.nan, RNG.normal(size=4000))
    (shown,) = examples(alone(x), {"x": cm.ConditionalMasking(P, 0.5)})

    z = shown.looks[0].values
    assert np.array_equal(np.isnan(z), shown.part == NONE)
