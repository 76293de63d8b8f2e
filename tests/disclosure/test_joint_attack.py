"""What columns masked together tell of each other, against attacks on releases whose coins are known."""

import json

import numpy as np
import pytest
from audited import KEY, OTHER, N, P, U, X, cause_of, scheme

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import relations
from condmask.disclosure.audit import check
from condmask.disclosure.coin_classes import CoinClasses
from condmask.draws import MaskedBlocks, coins

WHOLE = np.rint(X)


def released(columns, schemes):
    """Columns masked together, as arrays, and the coins."""
    laws = [used.law for used in schemes.values()]
    units = [used.law.to_units(columns[name]) for name, used in schemes.items()]
    z = MaskedBlocks(units, laws, KEY).masked(1)
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

    (identity,) = relations.identities(columns, dict.fromkeys(columns, 1.0), set(columns))
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


@pytest.mark.parametrize("times", [1.0, 2.0, 4.0, 10.0])
def test_evidence_that_repeats_itself_is_tempered(times):
    rng, known = np.random.default_rng(9), np.arange(N) % 2 == 0
    attack = CoinClasses(P, known, (~known, ~known))
    ratio = np.stack((rng.normal(1.0, 1.0, N), rng.normal(0.0, 1.0, N))) - 0.5  # of two normal laws

    tempered = attack.tempered(times * ratio, known)

    assert tempered == pytest.approx(ratio, rel=1e-9)
