"""What is proposed first: reverse mapping, on the scale and with the ends for which its guard rails hold."""

import numpy as np
import pytest

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import guard_rails
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.remedies import reverse_mapping, with_proposals

RNG = np.random.default_rng(1)
NORMAL = RNG.normal(size=2_000)
SCHEME = cm.ConditionalMasking(0.6, 30.0, decimals=0, strata="region")


def data_of(columns, strata=None, clear=None):
    return AuditInput(columns, dict.fromkeys(columns, "float64"), clear or {}, strata)


def proposed(x, scheme=SCHEME):
    found = reverse_mapping(data_of({"x": x}), {"x": scheme})
    return None if found is None else found.scheme["x"]


@pytest.mark.parametrize(
    ("x", "scale"),
    [
        (np.clip(100.0 + 15.0 * NORMAL, 40.0, 160.0), "linear"),
        (np.clip(15.0 * NORMAL, -60.0, 60.0), "linear"),  # some are negative
        # 3.2 times as far from the median, exp(1.28 * .9)
        (np.exp(4.0 + 0.9 * np.clip(NORMAL, -1.5, 1.5)), "log"),
        (np.where(np.arange(2_000) % 3 == 0, 0.0, np.exp(4.0 + 0.9 * np.clip(NORMAL, -3.0, 3.0))), "log"),
    ],
    ids=["symmetric", "both signs", "skewed", "skewed with zeros"],
)
def test_skewed_amounts_are_put_in_order_on_the_log_scale(x, scale):
    found = proposed(x)

    assert found.scale == scale
    assert (found.p, found.noise, found.strata) == (SCHEME.p, SCHEME.noise, SCHEME.strata)
    # noise at the median is as large as it was
    sigma = 30.0 if scale == "linear" else 30.0 / np.median(x[x > 0.0])
    assert found.sigma == pytest.approx(min(sigma, 1.0) if scale == "log" else sigma, abs=5e-4)


def test_what_is_proposed_keeps_the_guard_rails_and_ends_are_aggregated_where_they_need_be():
    tail = np.append(100.0 + 15.0 * NORMAL, [900.0, 901.0, -700.0])
    assert guard_rails.review(
        data_of({"x": tail}), {"x": cm.ConditionalMasking(0.6, 30.0, reverse_mapping=True)}
    )[0]

    found = proposed(tail)

    assert found.aggregate_ends == 3
    assert guard_rails.review(data_of({"x": tail}), {"x": found}).refusals == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (data_of({"x": 10.0 * NORMAL[:49]}), "pool"),
        (data_of({"x": np.sort(NORMAL)}), "order"),
        (data_of({"x": NORMAL}, clear={"copy": 2.0 * NORMAL}), "copy"),
        (data_of({"x": NORMAL}, strata=np.arange(2_000) // 40), "strata"),
    ],
)
def test_where_guard_rails_do_not_hold_it_is_not_proposed(data, why):
    assert reverse_mapping(data, {"x": SCHEME}) is None, why


def test_columns_of_a_table_are_all_reverse_mapped_and_told_apart():
    skewed = np.exp(4.0 + 0.9 * np.clip(RNG.permutation(NORMAL), -3.0, 3.0))
    found = reverse_mapping(
        data_of({"a": np.clip(100.0 + 15.0 * NORMAL, 40.0, 160.0), "b": skewed}), {"a": SCHEME, "b": SCHEME}
    )

    assert {each.reverse_mapping for each in found.scheme.values()} == {True}
    assert [each.scale for each in found.scheme.values()] == ["linear", "log"]
    sigma = found.scheme["b"].sigma
    assert found.remedy == f"pass reverse_mapping=True, scale=\"log\", sigma={sigma:g} for 'b'"


def test_reverse_mapping_comes_before_a_coarser_step():
    x = 300.0 + 60.0 * NORMAL
    x = np.where(np.arange(2_000) % 5 > 0, 10.0 * np.rint(x / 10.0), np.rint(x))
    shown = Audit(2_000, 0.6, 0.9, 0.3, 0.0, causes=(), scheme={"x": SCHEME})

    reverse, coarser = with_proposals(shown, data_of({"x": x}), {"x": SCHEME}).proposals

    assert reverse.scheme["x"].reverse_mapping
    assert reverse.hides
    assert coarser.scheme["x"].step == 10.0
    assert coarser.round
    assert coarser.remedy == "pass step=10 and round=True"
