"""The gate of a release looks at a table as the audit does, and says what to do."""

import numpy as np
import pandas as pd
import pytest
from audited import scheme

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import columns_together
from condmask.disclosure.audit import check
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.identity import Identity
from condmask.disclosure.inequalities import Inequality
from condmask.disclosure.joint_attack import Joint
from condmask.disclosure.swap_attack import BRIEF

N = 6_000
STREAM = np.random.default_rng(8)
SIZE = STREAM.lognormal(6.0, 1.5, N)
PROFIT = SIZE * STREAM.standard_t(3, N)  # of both signs, with heavy tails
NEXT = PROFIT * (1.0 + 0.05 * STREAM.standard_t(4, N)) + 0.02 * SIZE * STREAM.normal(size=N)
TABLE = {"profit": PROFIT, "next": NEXT}
SCHEMES = {name: scheme(100.0, p=0.5) for name in TABLE}


def as_table(columns):
    return AuditInput(columns, dict.fromkeys(columns, "float64"), {}, None)


@pytest.mark.parametrize("seed", range(4))
def test_random_halves_of_a_table_are_judged_alike_by_masking_and_audit(seed):
    rows = np.random.default_rng(seed).permutation(N)[: N // 2]
    half = {name: x[rows] for name, x in TABLE.items()}

    audit, gate = cm.audit(half, SCHEMES), check(as_table(half), SCHEMES)

    assert audit.visible
    assert gate is not None
    assert gate.visible
    assert gate.guessed == audit.guessed


def test_reverse_mapping_is_refused_for_what_columns_show_together():
    a, b = STREAM.normal(size=(2, N))
    frame = pd.DataFrame({"a": a, "u": 0.94 * a + 0.34 * b})
    mapped = {"a": scheme(0.3, reverse_mapping=True, aggregate_ends=3)}

    found = cm.audit(frame, mapped)

    assert found.guessed > found.blind + 0.08
    assert found.certain > 0.1
    with pytest.raises(cm.ReleaseError, match="'u' is left in clear") as caught:
        cm.mask_table(frame, mapped, rng=1)
    assert found.refusal in str(caught.value)


def test_what_shows_most_is_said_first_with_what_to_do():
    joint = Joint(0.9, 0.5, {}, {("a", "u"): 0.7}, {("a", "firm"): 0.8, ("a", ""): 0.75}, 0.0)

    why = columns_together.causes_of([joint], {"a": scheme()}, 0.61, in_order=False)
    ordered = columns_together.causes_of([joint], {"a": scheme()}, 0.61, in_order=True)

    assert [cause.name for cause in why] == ["relation", "units", "units"]
    remedies = [cause.remedy for cause in why]
    assert "within strata by 'u', or drop it" in remedies[0]
    assert "strata='firm'" in remedies[1]
    assert remedies[2] == "shuffle the rows before masking"
    assert remedies[2] not in [cause.remedy for cause in ordered]
    assert not columns_together.causes_of([joint], {"a": scheme()}, 0.8, in_order=False)


def test_what_shows_in_any_sample_of_rows_is_said():
    much, little = (Joint(x, 0.0, {}, {("a", "u"): x}, {("a", ""): x}, 0.0) for x in (0.9, 0.6))

    for joints in ([much, little], [little, much]):
        why = columns_together.causes_of(joints, {"a": scheme()}, 0.61, in_order=False)
        assert [cause.name for cause in why] == ["relation", "units"]


def test_what_an_identity_says_is_not_said_again():
    total, apart = Identity("total", (("a", 1.0), ("b", 1.0))), Inequality(("a",), "c")
    inside, schemes = Inequality(("a",), "total"), dict.fromkeys(("a", "b", "c", "total"), scheme())
    relations = {total: 0.9, inside: 0.85, apart: 0.8}

    def said(**pairs):
        pairs = {tuple(key.split("_")): share for key, share in pairs.items()}
        why = columns_together.causes_of(
            [Joint(0.9, 0.5, relations, pairs, {}, 0.0)], schemes, 0.61, in_order=False
        )
        return [cause.text for cause in why if cause.name in ("identity", "relation")]

    assert len(said()) == 2
    assert str(total) in said()[0]
    assert str(apart) in said()[1]
    assert said(a_b=0.8, a_total=0.8) == said()
    (first, pair) = said(a_c=0.8)  # the inequality says no more than that the two go together
    assert str(total) in first
    assert "more closely related" in pair


def test_ties_are_those_of_all_records(monkeypatch):
    ties = []
    monkeypatch.setattr(columns_together.joint_attack, "joint", lambda *_, tied, **__: ties.append(tied))
    data, effort = as_table(TABLE), BRIEF._replace(together=1_000)

    for donors in ("sample", "permutation"):
        schemes = {name: scheme(100.0, donors=donors) for name in TABLE}
        _ = [*columns_together.figures(data, schemes, {}, folded_rows(N, 500), [], effort)]

    assert ties == [N, 0]


# --- false alarms ---


def correlated_table(seed):
    """A table of 3 to 30 columns of all kinds, independent or correlated up to .5, and schemes of some."""
    stream = np.random.default_rng(seed)
    n, k = int(stream.choice([150, 400, 1_000, 3_000, 10_000])), int(stream.integers(3, 31))
    r, common = stream.choice([0.0, 0.2, 0.5]), stream.normal(size=n)
    kinds = [
        lambda z: 100.0 * z,
        lambda z: np.exp(8.0 + 0.6 * z),
        lambda z: np.rint(15.0 * z + 45.0),
        lambda z: np.digitize(z, [-1.0, 0.0, 1.0]).astype(float),
        lambda z: np.where(stream.random(n) < 0.1, np.nan, z),
        lambda z: stream.permutation(n) * 1.0,
    ]
    columns = {
        f"c{j}": kinds[0 if j < 3 else int(stream.integers(len(kinds)))](
            np.sqrt(r) * common + np.sqrt(1.0 - r) * stream.normal(size=n)
        )
        for j in range(k)
    }
    columns |= {f"c{j}": kinds[int(stream.integers(2))](columns[f"c{j}"] / 100.0) for j in range(3)}
    masked = [f"c{j}" for j in range(int(stream.integers(1, 4)))]
    schemes = {
        name: scheme(0.3 * (np.std(columns[name]) if columns[name].min() < 0 else 800.0)) for name in masked
    }
    values, clear = (
        {name: x for name, x in columns.items() if (name in masked) is inside} for inside in (True, False)
    )
    return as_table(values)._replace(clear=clear), schemes


def refused(seeds):
    return [seed for seed in seeds if (audit := check(*correlated_table(seed))) is not None and audit.visible]


def test_columns_that_are_merely_correlated_are_released():
    assert refused(range(4)) == []


@pytest.mark.long
def test_of_two_hundred_tables_at_most_two_in_a_hundred_are_refused():
    assert len(refused(range(200))) <= 4
