"""What columns masked together tell of each other, against attacks on releases whose coins are known."""

import json

import numpy as np
import pandas as pd
import pytest
from audited import KEY, OTHER, N, P, U, X, cause_of, scheme
from scipy.stats import norm

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import joint_attack, relations
from condmask.disclosure.audit import check
from condmask.disclosure.coin_classes import CoinClasses
from condmask.draws import coins, mask_columns

WHOLE = np.rint(X)


def released(columns, schemes):
    """Columns masked together, as arrays, and the coins."""
    laws = [used.law for used in schemes.values()]
    units = [used.law.to_units(columns[name]) for name, used in schemes.items()]
    z = mask_columns(units, laws, KEY)
    swapped = np.zeros(N, dtype=bool)
    swapped[coins(KEY, P, 0, N)[0]] = True
    return dict(zip(schemes, z, strict=True)), swapped


A, B = WHOLE, np.rint(OTHER)
IDENTITIES = {
    "'total' = 'a' + 'b'": {"a": A, "b": B, "total": A + B},
    "'b' = 'a'": {"b": np.where(U < 0.7, A, B), "a": A},
    "'year' = 12 'a'": {"a": A, "year": 12 * A},
    "'d' = 'a' + 'b' + 'c'": {"a": A, "b": B, "c": B[::-1], "d": A + B + B[::-1]},
}


@pytest.mark.parametrize("said", IDENTITIES)
def test_identities_tell_what_they_tell_of_a_release(said):
    columns = IDENTITIES[said]
    schemes = {name: scheme(step=12 if name == "year" else 1) for name in columns}
    found = cm.audit(columns, schemes)
    cause = cause_of(found, "identity")
    z, swapped = released(columns, schemes)

    (identity,) = relations.identities(columns, set(columns))
    holds = identity.holds(z, dict.fromkeys(columns, 1.0))
    votes = np.bincount(holds, swapped, 2), np.bincount(holds, ~swapped, 2)

    assert {str(identity), said} == {said} or sorted(identity.names) == sorted(columns)
    # how far off it is tells a little more than whether it holds
    assert cause.share >= np.maximum(*votes).sum() / N - P - 0.02
    assert found.visible
    assert "identity" not in found.remedy
    assert "drop" in found.refusal


def test_columns_that_hang_together_tell_coins_that_none_tells_alone():
    columns = {"a": X, "b": 0.8 * X * np.random.default_rng(3).lognormal(0.0, 0.02, N)}
    schemes = {"a": scheme(), "b": scheme()}

    found = cm.audit(columns, schemes)

    cause = cause_of(found, "relation")
    z, swapped = released(columns, schemes)
    near = np.abs(z["b"] / z["a"] - 0.8) < 0.05  # what a simple attacker may look at
    votes = np.bincount(near, swapped), np.bincount(near, ~swapped)
    assert cause.share > np.maximum(*votes).sum() / N - P - 0.02
    assert found.visible
    assert max(cm.audit(x, scheme()).guessed for x in columns.values()) < P + 0.02
    kinds = dict.fromkeys(columns, "float64")
    assert check(AuditInput(columns, kinds, {}, None), schemes).visible
    apart = {"a": X, "b": OTHER[::-1]}
    assert check(AuditInput(apart, kinds, {}, None), {"a": scheme(100.0), "b": scheme(50.0)}) is None


def test_one_bad_column_betrays_the_coins_of_all():
    columns = {"a": X, "b": np.rint(OTHER / 100) * 100}
    schemes = {"a": scheme(), "b": scheme(decimals=0)}

    found = cm.audit(columns, schemes)

    assert found.guessed > 0.98
    assert cause_of(found, "grid").column == "b"
    reverse, coarser = found.proposals
    assert reverse.remedy.startswith("pass reverse_mapping=True")
    assert {each.reverse_mapping for each in reverse.scheme.values()} == {True}
    assert coarser.remedy == "pass step=100 for 'b'"
    assert coarser.scheme["a"] == schemes["a"]
    assert not coarser.audit.visible
    assert json.dumps(found.to_dict())
    assert "b: ConditionalMasking" in str(found)


def test_columns_that_each_tell_a_little_tell_more_together():
    columns = {name: np.random.default_rng(k).exponential(1_000.0, N) for k, name in enumerate("abcd")}
    schemes = {name: scheme(600.0) for name in columns}
    alone = cm.audit(columns["a"], scheme(600.0)).guessed

    found = cm.audit(columns, schemes)

    z, swapped = released(columns, schemes)
    says = ~np.any([z[name] < 0.0 for name in z], axis=0)
    assert found.guessed > alone + 0.05
    assert found.guessed > np.mean(says == swapped) - 0.02
    assert cause_of(found, "joint").share == pytest.approx(found.guessed - alone, abs=0.02)


# --- beside columns in clear ---


def known_coins(columns, schemes):
    """Masked columns and their coins, of any number of records."""
    laws = [used.law for used in schemes.values()]
    n = next(iter(columns.values())).size
    z = mask_columns(
        [law.to_units(columns[name]) for law, name in zip(laws, schemes, strict=True)], laws, KEY
    )
    swapped = np.zeros(n, dtype=bool)
    swapped[coins(KEY, P, 0, n)[0]] = True
    return dict(zip(schemes, z, strict=True)), swapped


STREAM = np.random.default_rng(21)
HEIGHT = STREAM.normal(172.0, 9.0, N)
WEIGHT = np.maximum(STREAM.normal(1.1 * (HEIGHT - 100.0), 13.0), 40.0)


def test_a_weight_is_told_by_height_and_bmi_in_clear():
    frame = {"weight": WEIGHT, "height": HEIGHT, "bmi": WEIGHT / (HEIGHT / 100.0) ** 2}
    schemes = {"weight": scheme(4.0)}

    found = cm.audit(frame, schemes)

    z, swapped = known_coins(frame, schemes)
    near = np.abs(z["weight"] - frame["bmi"] * (HEIGHT / 100.0) ** 2) < 2.5 * 4.0
    assert np.mean(near != swapped) > 0.75
    assert found.guessed > np.mean(near != swapped) - 0.02
    assert found.visible


@pytest.mark.parametrize("r", [0.5, 0.7, 0.9])
def test_a_column_in_clear_tells_what_its_correlation_tells(r):
    """Normal columns, of which the attacker knows the law."""
    a, b = STREAM.normal(size=(2, N))
    u, sigma = r * a + np.sqrt(1.0 - r * r) * b, 0.5
    schemes = {"a": scheme(sigma)}

    found = cm.audit({"a": a, "u": u}, schemes)

    z, swapped = known_coins({"a": a}, schemes)
    kept = norm.logpdf(z["a"], r * u, np.sqrt(1.0 - r * r + sigma**2))
    says = norm.logpdf(z["a"]) + np.log(P / (1.0 - P)) >= kept
    assert found.guessed == pytest.approx(np.mean(says == swapped), abs=0.018)  # five standard errors
    assert r == 0.9 or not found.visible


def test_where_a_column_in_clear_is_missing_tells_as_much_as_a_value():
    """No job where there is no income, as in many a survey; the zeros are few enough by themselves."""
    income = np.where(U < 0.06, 0.0, X)
    job = np.where(income == 0.0, np.nan, STREAM.normal(size=N))
    schemes = {"income": scheme(200.0)}

    alone = cm.audit(income, schemes["income"])
    found = cm.audit({"income": income, "job": job}, schemes)

    z, swapped = known_coins({"income": income}, schemes)
    far = np.isnan(job) & (np.abs(z["income"]) > 600.0)
    assert np.mean(swapped[far]) > 0.95
    assert found.certain > alone.certain + np.mean(far) - 0.01


def test_labels_tell_what_group_a_value_is_of():
    group = STREAM.integers(0, 4, N)
    x = 40.0 * group + 8.0 * STREAM.normal(size=N)
    schemes = {"x": scheme(5.0)}
    frame = pd.DataFrame({"x": x, "group": np.array(list("abcd"))[group]})

    found = cm.audit(frame, schemes)

    z, swapped = known_coins({"x": x}, schemes)
    says = np.abs(z["x"] - 40.0 * group) > 22.0
    assert np.mean(says == swapped) > 0.8
    assert found.guessed > np.mean(says == swapped) - 0.02
    assert "'group'" in cause_of(found, "relation").text


def test_columns_that_say_nothing_lower_no_figure():
    noise = {f"u{k}": x for k, x in enumerate(STREAM.normal(size=(25, N)))}
    frame = {"weight": WEIGHT, "height": HEIGHT, "bmi": WEIGHT / (HEIGHT / 100.0) ** 2}

    alone, among = cm.audit(frame, {"weight": scheme(4.0)}), cm.audit(frame | noise, {"weight": scheme(4.0)})

    assert among.guessed > alone.guessed - 0.01
    assert among.certain > alone.certain - 0.02
    quiet = cm.audit({"weight": WEIGHT} | noise, {"weight": scheme(4.0)})
    assert quiet.guessed < cm.audit(WEIGHT, scheme(4.0)).guessed + 0.01


# --- beside other records ---

FIRMS = 1_600
FIRM = np.repeat(np.arange(FIRMS), 12)
PROFIT = np.repeat(STREAM.lognormal(8.0, 0.8, FIRMS), 12) * np.exp(0.03 * STREAM.normal(size=FIRM.size))
ORDER = STREAM.permutation(FIRM.size)


def alike(z, sigma):
    """Where two others of the months of a firm are near: a simple attacker says these were kept."""
    months = z.reshape(FIRMS, 12)
    near = np.abs(months[:, :, None] - months[:, None, :]) < 3.0 * sigma
    return (near.sum(axis=2) >= 3).ravel()


@pytest.mark.parametrize("text", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_months_of_a_firm_tell_each_other(text):
    sigma, schemes = 150.0, {"profit": scheme(150.0)}
    name = FIRM[ORDER].astype(str).tolist() if text else FIRM[ORDER] + 17
    frame = pd.DataFrame({"profit": PROFIT[ORDER], "firm": name})

    found = cm.audit(frame, schemes)

    z, swapped = known_coins({"profit": PROFIT}, schemes)
    says = ~alike(z["profit"], sigma)
    assert np.mean(says == swapped) > 0.78
    assert found.guessed > np.mean(says == swapped)
    assert found.certain > 0.25
    cause = cause_of(found, "units")
    assert "'firm'" in cause.text
    assert "one record per 'firm'" in cause.remedy
    with pytest.raises(cm.ReleaseError, match="'firm'"):
        cm.mask_table(frame, schemes)
    with pytest.warns(cm.ReleaseWarning, match="firm: a different value in every record"):
        own = cm.mask_table(frame.groupby("firm").head(1), schemes, rng=1)  # as the remedy says
    assert len(own.data["profit"]) == FIRMS


def test_rows_beside_each_other_tell_what_the_number_of_the_firm_would():
    profit = PROFIT[: 12 * 500]

    found = cm.audit({"profit": profit}, {"profit": scheme(150.0)})

    assert found.guessed > 0.75
    assert found.visible
    assert "shuffle the rows" in found.refusal
    assert not cm.audit({"profit": STREAM.permutation(profit)}, {"profit": scheme(150.0)}).visible


def test_donors_of_the_firm_itself_hide_who_was_swapped():
    """As the remedy says: within units that have records enough."""
    firm = np.repeat(np.arange(200), 60)
    x = np.repeat(STREAM.lognormal(8.0, 0.8, 200), 60) + 300.0 * STREAM.normal(size=firm.size)
    order = STREAM.permutation(firm.size)
    frame = pd.DataFrame({"x": x[order], "firm": firm[order]})

    assert cm.audit(frame, {"x": scheme(150.0)}).visible
    assert not cm.audit(frame, {"x": scheme(150.0, strata="firm")}).visible


# --- its features, each by itself ---


def test_records_that_agree_are_counted_without_the_record_itself():
    """Large numbers: the mean of a Poisson law is seen. Of 2 values, in 2 strata."""
    n, p, scale = 4_000, 0.7, 3.0
    stratum = np.arange(n) % 2
    values = {"a": np.stack((np.where(np.arange(n) < 1_200, 1.0, 2.0), np.arange(n) * 10.0 + 5.0))}

    ties = joint_attack._agreeing(values, stratum, p, scale, np.random.default_rng(1))

    swapped, kept = ties
    # 600 of each stratum show 1
    assert swapped[:1_200].mean() == pytest.approx(p * (1.0 + scale * 599.0), rel=0.005)
    assert np.abs(kept).max() == 0.0  # each by itself: no others
    alone = np.stack((np.arange(n) * 10.0, np.full(n, 5.0)))
    _, kept = joint_attack._agreeing({"a": alone}, stratum, p, scale, np.random.default_rng(1))
    assert kept.mean() == pytest.approx((1.0 - p) * scale * (0.5 * n - 1.0), rel=0.005)
    few = np.stack((np.arange(n) * 10.0, np.arange(n) // 4 * 10.0 + 5.0))  # one other in each stratum
    _, kept = joint_attack._agreeing({"a": few}, stratum, p, scale, np.random.default_rng(1))
    assert kept.mean() == pytest.approx((1.0 - p) * scale, abs=0.08)  # five standard errors


def test_rows_beside_each_other_are_cut_in_two_ways():
    rows = np.concatenate((np.arange(40), np.arange(100, 140)))

    ways = joint_attack._beside(rows)

    together = [
        {(int(rows[k]), int(rows[k + 1])) for k in range(79) if codes[k] == codes[k + 1]} for codes in ways
    ]
    assert together[0] | together[1] == {(k, k + 1) for k in (*range(39), *range(100, 139))}
    assert all(np.bincount(np.unique(codes, return_inverse=True)[1]).max() == 8 for codes in ways)


A1, B1, NOISE = np.random.default_rng(31).normal(size=(3, N))
LEARNED = CoinClasses.of(P, N).learned


def test_residuals_are_those_of_the_regression_where_columns_go_together():
    together, apart = np.stack((A1, NOISE)), np.stack((0.8 * A1 + 0.6 * B1, B1))

    for a, b in ((apart, together), (apart[::-1], together[::-1])):
        residual = joint_attack._residual_scores(a, b)
        assert np.abs(residual - (a - 0.8 * b)).max() < 0.1
    tables = ({"a": A1, "b": 3.0 * A1 + B1}, {"a": A1, "b": NOISE})
    less, ratio = joint_attack._residuals(tables, "a", "b", LEARNED)
    assert np.abs(less - np.stack((B1, NOISE - 3.0 * A1))).max() < 0.2
    assert np.allclose(ratio, np.stack((3.0 + B1 / A1, NOISE / A1)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("way", [0, 1])
def test_a_regression_is_learned_in_its_own_records_alone(way):
    y, others = np.full((2, N), 9.0), [np.stack((A1, A1)), np.stack((B1, B1))]
    y[way] = np.where(LEARNED, A1 + B1, 9.0)  # the rest is not learned from

    expected = joint_attack._expected(y, others, LEARNED, way)

    assert np.abs(expected - (A1 + B1)).max() < 0.02


def test_regressions_are_learned_where_columns_go_together(monkeypatch):
    ways = []

    def expected(y, others, learned, way):
        ways.append((len(others), way))
        return np.zeros_like(y)

    monkeypatch.setattr(joint_attack, "_expected", expected)
    scores = {name: np.zeros((2, N)) for name in "abcuv"}
    _ = [*joint_attack._of_regressions(CoinClasses.of(P, N), scores, list("abc"), list("uv"))]

    assert ways == [(2, 0), (2, 1)] * 3  # other masked ones in swapped records, those in clear in kept ones


def test_pairs_that_go_together_most_are_looked_at(monkeypatch):
    monkeypatch.setattr(joint_attack, "MOST_PAIRS", 2)
    scores = {"a": np.stack((A1, A1)), "b": np.stack((B1, B1))}
    scores |= {f"u{r}": np.stack(2 * [0.1 * r * A1 + np.sqrt(1 - 0.01 * r * r) * NOISE]) for r in (4, 6, 8)}

    assert joint_attack._close(scores, ["a", "b"], ["u4", "u6", "u8"]) == [("a", "u8"), ("a", "u6")]


def test_gaps_of_a_column_in_clear_are_a_class():
    attack, gaps = CoinClasses.of(P, N), U < 0.1

    for x in (A1, np.rint(A1)):
        given = joint_attack._given(attack, np.stack(2 * [np.where(gaps, np.nan, x)]))
        (number,) = np.unique(given[:, gaps])
        assert number > given[:, ~gaps].max()
        assert given.min() == 1


def test_where_a_relation_holds_is_a_class_by_itself():
    (relation,) = relations.identities({"a": A, "b": 2.0 * A}, {"a", "b"})
    tables = ({"a": A, "b": 2.0 * A}, {"a": A, "b": 2.0 * A + np.where(U < 0.5, 1.0 + U, 0.0)})

    place = joint_attack._of_relation(CoinClasses.of(P, N), tables, relation, {})

    (holding,) = np.unique(place[0])
    assert holding > 0  # 0 tells nothing
    assert np.array_equal(place[1] == holding, U >= 0.5)


def test_others_of_a_unit_are_swapped_themselves(monkeypatch):
    """What they show has the law of a release: swapped with probability p, else as in another one."""
    shown = []

    def log_ratios(p, released, alone, both, kept, codes):
        shown.append((released, both, kept))
        return np.full(both.shape, np.nan)

    monkeypatch.setattr(joint_attack.units, "log_ratios", log_ratios)
    frame = pd.DataFrame({"profit": PROFIT, "firm": FIRM})

    cm.audit(frame, {"profit": scheme(150.0)})

    released, both, kept = shown[-1]
    assert np.mean(np.abs(released - PROFIT) > 1_000.0) == pytest.approx(
        P * np.mean(np.abs(both[0] - PROFIT) > 1_000.0), abs=0.02
    )
    assert np.abs(np.corrcoef(kept - PROFIT, both[1] - PROFIT)[0, 1]) < 0.05  # noise of its own
    assert np.corrcoef(kept, both[1])[0, 1] > 0.95
