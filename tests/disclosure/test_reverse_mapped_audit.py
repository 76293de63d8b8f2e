"""The audit of releases by reverse mapping.

Oracles: releases whose coins are known, attacked with the laws that the data were drawn from; what masking
says.
N records: a share of coins has a standard error of at most .0036; tolerances are five of them, .018.
"""

import json

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask._randomness import Key
from condmask.disclosure.audit import posterior
from condmask.disclosure.redrawn import redrawn
from condmask.disclosure.release_check import GO_ON
from condmask.draws import coins
from condmask.releases.mask_file import audit_file
from condmask.schemes.reverse_mapping import mask_columns

N, P, BLIND, SIGMA, ERROR = 19_000, 0.6, 0.6, 0.3, 0.018
KEY = Key(bytes(range(16)))
RNG = np.random.default_rng(12)
A, B, C = RNG.normal(size=(3, N))
HEAPS = RNG.choice([1, 10, 100, 500], N, p=[0.05, 0.2, 0.4, 0.35])
HEAPED = HEAPS * np.rint(RNG.lognormal(7.5, 0.6, N) / HEAPS)


def scheme(sigma=SIGMA, **options):
    return cm.ConditionalMasking(**{"p": P, "sigma": sigma, "reverse_mapping": True, **options})


def released(columns, sigma=SIGMA):
    """Columns masked together, and who was swapped."""
    masked = [x.copy() for x in columns]
    mask_columns([scheme(sigma)] * len(columns), masked, KEY, None, 1)
    swapped = np.zeros(N, dtype=bool)
    swapped[coins(KEY, P, 0, N)[0]] = True
    return masked, swapped


def correlated(r):
    return r * A + np.sqrt(1.0 - r * r) * B


def density(a, b, r):
    """The logarithm of a joint normal density beside independent ones."""
    return -0.5 * np.log(1.0 - r * r) - (r * r * (a * a + b * b) - 2.0 * r * a * b) / (2.0 * (1.0 - r * r))


def share_guessed(a, b, swapped, r_swapped, r_kept):
    """Of coins, by who knows the correlations of swapped and of kept records."""
    says = np.log(P / (1.0 - P)) + density(a, b, r_swapped) >= density(a, b, r_kept)
    return float(np.mean(says == swapped))


# --- one column ---


def test_a_column_alone_is_guessed_blindly_and_nothing_is_certain():
    found = cm.audit(HEAPED, scheme(0.5, scale="log", aggregate_ends=5))

    assert (found.guessed, found.blind, found.certain) == (BLIND, BLIND, 0.0)
    assert not found.visible
    assert found.causes == ()


def test_the_attackers_of_additive_noise_guess_blindly_on_a_heaped_column():
    (z,), swapped = released([HEAPED], 500.0)
    additive = cm.ConditionalMasking(P, 500.0, decimals=0)

    chance = posterior(HEAPED, z, additive)

    says = chance >= 0.5
    # it takes round numbers for swapped, and is right with additive noise; here coins are independent of that
    assert cm.audit(HEAPED, additive).guessed > 0.85
    assert 0.05 < np.mean(says) < 0.99
    assert np.mean(says == swapped) == pytest.approx(P * says.mean() + (1 - P) * (1 - says.mean()), abs=ERROR)
    assert np.mean(says == swapped) < BLIND + ERROR


def test_who_learned_from_half_the_coins_guesses_the_others_blindly():
    (z,), swapped = released([HEAPED], 500.0)
    _, place = np.unique(z, return_inverse=True)
    known = np.arange(N) % 2 == 0
    votes = [
        np.bincount(place[known & (swapped == side)], minlength=place.max() + 1) for side in (False, True)
    ]

    says = votes[1][place] + 2.0 * P >= votes[0][place] + 2.0 * (1.0 - P)

    assert np.mean((says == swapped)[~known]) < BLIND + ERROR * np.sqrt(2.0)


def test_the_posterior_of_every_record_is_p():
    x = np.append(HEAPED, np.nan)
    (z,), _ = released([HEAPED], 500.0)

    assert np.array_equal(
        posterior(x, np.append(z, np.nan), scheme(500.0)), [P] * N + [np.nan], equal_nan=True
    )


# --- several ---


@pytest.mark.parametrize(("r", "known"), [(0.9, 0.63), (0.95, 0.66), (0.99, 0.78)])
def test_two_normal_columns_tell_what_their_correlations_tell(r, known):
    columns = {"a": A, "b": correlated(r)}

    found = cm.audit(columns, dict.fromkeys(columns, scheme()))

    (a, b), swapped = released(list(columns.values()))
    best = share_guessed(a, b, swapped, r, r / (1.0 + SIGMA**2))
    assert best == pytest.approx(known, abs=ERROR)
    assert found.guessed == pytest.approx(best, abs=ERROR)


@pytest.mark.parametrize("r", [0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("monotone", [np.positive, np.exp], ids=["normal", "lognormal"])
def test_a_column_in_clear_tells_what_its_correlation_tells(r, monotone):
    u = correlated(r)

    found = cm.audit({"x": A, "u": monotone(u)}, {"x": scheme()})

    (z,), swapped = released([A])
    best = share_guessed(z, u, swapped, 0.0, r / np.sqrt(1.0 + SIGMA**2))
    assert found.guessed == pytest.approx(best, abs=ERROR)
    assert found.guessed > BLIND + 0.015
    (cause,) = [cause for cause in found.causes if cause.name == "relation"]
    assert "'u' is left in clear and is related to 'x'" in cause.text


def test_columns_that_have_nothing_to_do_with_each_other_tell_nothing():
    table = {"a": A, "b": B, "u": C, "digit": np.rint(C), "one": np.ones(N), "id": np.arange(N) * 1.0}

    found = cm.audit(table, {"a": scheme(), "b": scheme()})

    assert found.guessed < BLIND + ERROR
    assert found.certain < 0.01
    assert not [cause for cause in found.causes if cause.name != "guard rail"]


def test_several_columns_in_clear_tell_more_than_each():
    table = {"x": A, "u": correlated(0.7), "v": 0.7 * A + np.sqrt(0.51) * C}

    found = cm.audit(table, {"x": scheme()})

    best = (table["u"] + table["v"]) / np.sqrt(2.0 * 1.49)  # of correlation .7 * 2 / sqrt(2 * 1.49)
    (z,), swapped = released([A])
    told = share_guessed(z, best, swapped, 0.0, 1.4 / np.sqrt(2.0 * 1.49) / np.sqrt(1.0 + SIGMA**2))
    assert found.guessed == pytest.approx(told, abs=ERROR)
    assert {cause.name for cause in found.causes} >= {"relation"}


def test_strata_by_a_column_in_clear_hide_what_it_tells():
    u = np.digitize(correlated(0.8), [-1.0, 0.0, 1.0]).astype(float)
    frame = {"x": A, "u": u}

    assert cm.audit(frame, {"x": scheme()}).guessed > BLIND + 0.02
    assert cm.audit(frame, {"x": scheme(strata="u")}).guessed == pytest.approx(BLIND, abs=0.005)


def test_columns_that_are_mostly_equal_show_most_coins():
    columns = {"a": HEAPED, "b": np.where(RNG.random(N) < 0.94, HEAPED, HEAPED[::-1])}
    schemes = dict.fromkeys(columns, scheme(500.0))

    found = cm.audit(columns, schemes)

    (a, b), swapped = released(list(columns.values()), 500.0)
    assert found.guessed == pytest.approx(np.mean((a == b) == swapped), abs=ERROR)
    assert found.guessed > 0.9
    assert {"guard rail", "identity"} <= {cause.name for cause in found.causes}


def test_a_total_in_clear_is_named_and_shows_the_coins():
    frame = {"a": A + 5.0, "b": B + 5.0, "total": A + B + 10.0}

    one, two = (cm.audit(frame, dict.fromkeys(names, scheme())) for names in (["a"], ["a", "b"]))

    (cause,) = [cause for cause in one.causes if cause.name == "computed"]
    assert "'total' = 'a' + 'b' in 100% of the records" in cause.text
    (a, b), swapped = released([A, B])
    left = np.abs(a + b - A - B)
    near = max(np.mean((left > width) == swapped) for width in np.linspace(0.1, 1.5, 15))
    assert two.guessed > near - ERROR


def test_an_inequality_that_breaks_shows_who_was_kept():
    columns = {"agi": np.exp(A), "taxed": np.exp(A) * (1.0 - 0.2 * RNG.random(N))}

    found = cm.audit(columns, dict.fromkeys(columns, scheme(scale="log")))

    a, b = (x.copy() for x in columns.values())
    mask_columns([scheme(scale="log")] * 2, [a, b], KEY, None, 1)
    swapped = np.isin(np.arange(N), coins(KEY, P, 0, N)[0])
    assert found.guessed > np.mean((a >= b) == swapped) - ERROR


def test_gaps_part_the_pools():
    gaps = np.where(RNG.random(N) < 0.3, np.nan, correlated(0.95))

    found = cm.audit({"a": A, "b": gaps}, {"a": scheme(), "b": scheme()})

    drawn = redrawn(
        {"a": A, "b": gaps},
        {"a": scheme(), "b": scheme()},
        None,
        {},
        np.zeros(N, np.int64),
        np.random.default_rng(0),
    )
    for way in range(2):
        table = {name: both[way] for name, both in drawn.values.items()}
        assert np.array_equal(np.isnan(table["b"]), np.isnan(gaps))
        for name, x in (("a", A), ("b", gaps)):
            for there in (np.isnan(gaps), ~np.isnan(gaps)):
                assert np.array_equal(np.sort(table[name][there]), np.sort(x[there]), equal_nan=True)
    # 70% of the records tell as much as all do without gaps
    assert found.guessed == pytest.approx(BLIND + 0.7 * 0.062, abs=ERROR)


# --- guard rails, and what is said ---

NORMAL = A[:1_000]
RAILS = {
    "a rare value": ({"x": np.append(NORMAL, 1e6)}, 1.0),
    "an order": ({"x": np.sort(NORMAL)}, 3.0),
    "few records": ({"x": NORMAL[:45]}, 9.0),
    "a copy": ({"x": NORMAL, "u": -NORMAL}, 3.0),
}


@pytest.mark.parametrize("name", RAILS)
def test_what_masking_refuses_is_visible_with_the_same_sentence(name):
    table, sigma = RAILS[name]
    schemes = {"x": scheme(sigma)}

    found = cm.audit(table, schemes)

    with pytest.raises(cm.ReleaseError) as caught:
        cm.mask_table(pd.DataFrame(table), schemes, rng=1)
    assert found.refusal + GO_ON in str(caught.value)
    assert found.visible
    assert json.loads(json.dumps(found.to_dict()))["visible"]
    assert found.proposals == ()


def test_what_masking_warns_of_is_told():
    u = A[:150] + 0.2 * B[:150]

    found = cm.audit({"x": A[:150], "u": u}, {"x": scheme(3.0)})

    with pytest.warns(cm.ReleaseWarning) as caught:
        cm.mask_table(pd.DataFrame({"x": A[:150], "u": u}), {"x": scheme(3.0)}, rng=1)
    assert {str(each.message) for each in caught} <= set(found.warnings)
    assert len(caught) == 2
    assert not any("too few to judge" in text for text in cm.audit(A[:70], scheme(3.0, p=0.5)).warnings)


def test_noise_too_small_to_move_anybody_is_told_and_common_values_are_not():
    x = np.clip(np.rint(HEAPED / 1000), 0, 4)

    tiny, wide = (cm.audit(x, scheme(sigma)) for sigma in (0.05, 3.0))

    assert [cause.name for cause in tiny.causes] == ["unchanged"]
    assert tiny.unchanged > 0.98
    assert wide.unchanged < 0.25
    assert wide.causes == ()
    assert [cause.name for cause in cm.audit(x, scheme(3.0, p=0.05)).causes] == ["p"]


def test_what_is_printed_says_why_a_column_alone_tells_nothing():
    text = str(cm.audit(HEAPED, scheme(500.0)))

    assert "With reverse mapping, one column alone does not show who was swapped" in text
    assert f"{'swap status guessed right':32}{'60.0%':>12}" in text
    assert "With reverse mapping" not in str(cm.audit(A, cm.ConditionalMasking(P, 1.0)))


def test_files_and_the_command_line_tell_the_same(tmp_path, capsys):
    from condmask import cli

    frame = pd.DataFrame({"x": A, "u": correlated(0.7), "sex": np.arange(N) % 2})
    frame.to_parquet(tmp_path / "a.parquet")
    options = ["-c", "x", "--p", "0.6", "--sigma", "0.3", "--reverse-mapping", "--aggregate-ends", "3"]
    own = {"x": scheme(aggregate_ends=3, strata="sex")}

    found = audit_file(tmp_path / "a.parquet", own)

    assert found == cm.audit(frame, own)
    assert cli.main(["audit", str(tmp_path / "a.parquet"), *options, "--strata", "sex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guessed"] == found.guessed
    target = str(tmp_path / "b.parquet")
    assert cli.main(["mask", str(tmp_path / "a.parquet"), target, *options, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "With reverse mapping, one column alone does not show" in out
    assert out.endswith("nothing was written\n")


def test_zeros_that_stay_zeros_are_sent_to_the_linear_scale():
    """The remedy works: on the linear scale zeros get other values."""
    rng = np.random.default_rng(1)
    bonus = np.where(rng.random(3_000) < 0.6, 0.0, rng.lognormal(7.0, 1.0, 3_000).round())
    log, linear = (
        cm.audit(
            bonus, cm.ConditionalMasking(0.6, sigma, reverse_mapping=True, scale=scale, aggregate_ends=5)
        )
        for scale, sigma in (("log", 0.5), ("linear", 3_000.0))
    )
    (warning,) = (cause for cause in log.causes if "zero" in cause.text)
    assert warning.remedy.startswith('pass scale="linear"')
    assert not any(cause.name == "unchanged" or "zero" in cause.text for cause in linear.causes)
