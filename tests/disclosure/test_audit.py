"""The audit says how near an attacker comes who knows every coin, refuses what it must, and helps.

Oracle: tables made so that what gives the values away is known (disclosure_tables.py), Bayes attackers where
their law is known, and the tool itself, which has to accept the remedies that it names.
"""

import re
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from disclosure_tables import CASES, N, by_hand, correlated, firms, incomes, log, mapped
from scipy.stats import norm

import condmask as cm

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")


def refusal(audit):
    """The first finding that the release is refused for."""
    return next(finding for finding in audit.findings if finding.refuses)


@cache
def audited(table):
    made = table()
    return made, cm.audit(made.table, made.schemes)


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def case(request):
    return audited(request.param)


def without(table, names):
    return {name: column for name, column in table.items() if name not in names}


def test_refused_is_what_gives_values_away(case):
    made, audit = case

    assert audit.refused == bool(made.refused), str(audit)
    assert not made.refused or any(made.refused in finding.text for finding in audit.findings)


def test_the_worst_attacker_reaches_what_one_by_hand_reaches(case):
    made, audit = case
    row = next(iter(audit.figures.values()))

    assert row.worst >= made.reached
    if made.same is not None:
        # who learns from a third of 4,000 records what these mean loses something
        assert row.worst >= by_hand(made) - 0.045


def test_figures_near_a_limit_are_drawn_again_on_either_side_of_it():
    made = correlated()

    def figure(limit):
        (row,) = cm.audit(made.table, made.schemes, max_lift=limit).figures.values()
        return row.lift

    once = figure(0.9)
    assert figure(once - 1e-3) == figure(once + 1e-3) != once


@pytest.mark.parametrize("table", CASES[::6])
def test_masking_refuses_what_the_audit_refuses(table):
    made, audit = audited(table)
    if audit.refused:
        with pytest.raises(cm.ReleaseError, match=re.escape(refusal(audit).text)):
            cm.mask_table(made.table, made.schemes)
    else:
        assert cm.mask_table(made.table, made.schemes).schemes == made.schemes


def test_columns_dropped_as_told_leave_a_table_that_passes_and_no_more_are_named(case):
    made, audit = case
    if made.dropped:
        remedy = refusal(audit).remedy
        assert {name for name in made.table if name in remedy} == {*made.dropped}
        assert not cm.audit(without(made.table, made.dropped), made.schemes).refused


def test_columns_masked_in_the_same_call_as_told_pass():
    made = next(case for case in CASES if case.__name__ == "near_copies")()
    remedy = refusal(cm.audit(made.table, made.schemes)).remedy
    told = re.match(r"mask (\w+) \(sigma=([\d.]+)\) and (\w+) \(sigma=([\d.]+)\) in the same call", remedy)

    assert told is not None
    schemes = {told[1]: log(float(told[2])), told[3]: log(float(told[4]))}
    assert not cm.audit(made.table, {**made.schemes, **schemes}).refused
    gaps = {"income": np.where(np.arange(N) < 12, np.nan, made.table["income"])}  # a pool of 12 records
    scores = {name: np.log(made.table[name]) - 8.0 for name in ("gross", "taxed")}
    assert 'taxed (sigma=0.3, scale="linear")' in refusal(cm.audit(made.table | scores, made.schemes)).remedy
    dates = {"gross": made.table["gross"].astype("M8[m]")}
    for changed in (gaps, dates, {"taxed": dates["gross"].astype(str)}):
        assert refusal(cm.audit(made.table | changed, made.schemes)).remedy.startswith("drop ")


def test_the_sigma_named_passes():
    made = next(case for case in CASES if case.__name__ == "panel")()
    told = re.fullmatch(r"pass sigma=([\d.]+)", refusal(cm.audit(made.table, made.schemes)).remedy)

    assert told is not None
    assert not cm.audit(made.table, {"revenue": log(float(told[1]))}).refused


def test_all_that_is_refused_is_said_at_once():
    firm, _, revenue = firms(np.random.default_rng(0))
    table = {"revenue": np.sort(revenue), "firm": firm, "copy": np.sort(revenue) * 1.1}

    with pytest.raises(cm.ReleaseError, match=r"^2 things must be settled: \(1\).*shuffle.*\(2\).*copy"):
        cm.mask_table(table, {"revenue": log()})


def test_the_figures_are_the_same_each_time():
    made, first = audited(CASES[1])

    assert first.to_dict() == cm.audit(made.table, made.schemes).to_dict()


def within(d, tau):
    return 2.0 * norm.cdf(d / tau) - 1.0


@pytest.mark.parametrize("reverse_mapping", [False, True])
@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_a_normal_column_is_guessed_as_by_bayes(sigma, reverse_mapping):
    # kept: X given Z is normal with variance sigma^2 / (1 + sigma^2), by either scheme; swapped: as blindly
    x = np.random.default_rng(5).normal(0.0, 1.0, 16_000)
    scheme = cm.ConditionalMasking(0.6, sigma, reverse_mapping=reverse_mapping)

    row = cm.audit(x, scheme).figures["x"]

    kept = within(0.1, sigma / np.sqrt(1.0 + sigma**2))
    # the best of all windows of these data, which holds .0021 more or less
    assert within(0.1, 1.0) - 0.001 < row.constant < within(0.1, 1.0) + 0.008
    assert row.worst == pytest.approx(0.6 * row.constant + 0.4 * kept, abs=0.006)


def test_columns_in_clear_tell_as_much_as_their_correlation():
    stream = np.random.default_rng(6)
    x = stream.normal(0.0, 1.0, 16_000)
    w = 0.8 * x + 0.6 * stream.normal(0.0, 1.0, x.size)

    row = cm.audit({"x": x, "w": w}, {"x": mapped(0.5)}).figures["x"]

    # trees learn less than all of it; the error of a share is .003
    assert 0.9 * within(0.1, 0.6) < row.clear < within(0.1, 0.6) + 0.012


@pytest.mark.parametrize("n", [60, 250])
def test_columns_in_the_order_of_the_values_tell_them_in_short_tables_too(n):
    x = np.random.default_rng(n).lognormal(8.0, 0.5, n)
    for beside in (np.log(x), np.argsort(np.argsort(x)).astype(float)):  # a rank tells nothing of the gaps
        assert cm.audit({"x": x, "beside": beside}, {"x": mapped(1_000.0)}).figures["x"].clear > 0.7


def test_few_whole_numbers_in_clear_tell_what_is_usual_for_each():
    # the best guess from the days alone is the middle of the window of the law of costs given these
    rng = np.random.default_rng(3)
    days = rng.geometric(0.2, 6_000)
    table = {"days": days, "cost": (days * rng.lognormal(6.0, 0.16, days.size)).round(2)}
    scheme = cm.ConditionalMasking(0.6, 0.5, reverse_mapping=True, scale="log")

    audit = cm.audit(table, {"cost": scheme})

    spread = np.diff(np.quantile(np.log(table["cost"]), (0.1, 0.9)))[0] / (norm.ppf(0.9) - norm.ppf(0.1))
    best = 2.0 * norm.cdf(0.1 * spread / 0.16) - 1.0
    assert audit.to_dict()["figures"]["cost"]["clear"] > best - 0.05
    assert audit.refused


def test_tables_of_unrelated_columns_add_nothing():
    # false alarm: the lift is that of a column alone to within 4.5 standard errors, of 8 tables
    stream = np.random.default_rng(7)
    for _ in range(8):
        x = incomes(stream)
        table = {"x": x, **{f"w{k}": stream.normal(0.0, 1.0, N).round(2) for k in range(6)}}
        audit = cm.audit(table, {"x": log(0.3)})
        alone = cm.audit(x, log(0.3)).figures["x"]
        assert not audit.refused
        row = audit.figures["x"]
        assert row.worst >= alone.worst - 0.004
        assert row.lift == pytest.approx(alone.lift, abs=0.01 + 4.5 * row.error)


def test_whose_swapped_values_are_is_told_to_who_knows_no_coins():
    # by columns that follow from several masked ones: a swapped record shows both values of one person
    rng = np.random.default_rng(6)
    revenue = rng.lognormal(10.0, 0.8, N).round(1)
    costs = (revenue * rng.lognormal(-0.3, 0.4, N)).round(1)
    table = {"revenue": revenue, "costs": costs, "profit": revenue - costs, "age": rng.integers(18, 80, N)}
    schemes = dict.fromkeys(("revenue", "costs"), log(0.5))

    found = cm.risk(table, schemes, d={"revenue": 2_000.0, "costs": 2_000.0})

    assert found.columns["revenue"].attackers["best attacker"][0] > 0.5


def test_a_column_in_clear_that_varies_in_one_half_alone_is_no_formula():
    rng = np.random.default_rng(4)
    revenue, costs = rng.lognormal(8.0, 0.5, (2, N))
    flags = {f"flag {k}": 1.0 * (np.arange(N) == k) for k in range(3)}
    table = {"revenue": revenue, "costs": costs, "profit": revenue - costs, **flags}

    assert cm.audit(table, dict.fromkeys(("revenue", "costs"), log(0.5))).refused  # as without the flags


def test_strata_are_known_to_attackers_of_a_column_alone():
    rng, region = np.random.default_rng(1), np.repeat(["east", "west"], N // 2)
    x = rng.normal(0.0, 1.0, N) + 100.0 * (region == "west")
    scheme = mapped(0.5, strata="region")

    audit = cm.audit(x, scheme, strata=region)

    assert audit.figures["x"].worst > 0.99  # in units of a spread of which both regions are a hundredth


def test_strata_that_tell_the_values_are_left_out_and_dropped():
    stream = np.random.default_rng(2)
    table = {"region": stream.integers(0, 3, N), "w": stream.normal(size=N)}
    table["x"] = np.exp(table["region"] + stream.normal(0.0, 0.05, N))

    remedy = refusal(cm.audit(table, {"x": log(strata="region")})).remedy
    told = re.fullmatch(r"leave strata out, and drop region; pass sigma=([\d.]+)", remedy)

    assert told is not None
    assert not cm.audit(without(table, {"region"}), {"x": log(float(told[1]))}).refused


def test_columns_in_clear_that_hardly_vary_tell_nothing():
    # early stopping leaves records out: a few yeses may all be among them
    rng, n = np.random.default_rng(28), 1_000  # so that all are among them
    x = incomes(rng, n)
    yes = {f"yes {k}": np.where(rng.random(n) < 0.1, rng.random(n) < 0.03, np.nan) for k in range(6)}

    audit = cm.audit({"x": x, **yes}, {"x": log()})

    assert not audit.refused


@pytest.mark.parametrize(("limits", "refused"), [
    ({}, False), ({"max_lift": 0.02}, True),
    ({"max_risk": {500.0: 0.6}}, False), ({"max_risk": {500.0: 0.2}}, True),
])  # fmt: skip
def test_limits_can_be_given(limits, refused):
    rng = np.random.default_rng(8)
    x, w = incomes(rng), rng.normal(size=N)

    assert cm.audit(x, log(0.3), **limits).refused == refused
    assert cm.audit({"x": x, "w": w}, {"x": log(0.3)}, **limits).refused == refused


def test_a_file_of_parts_is_refused_for_what_a_sample_shows(tmp_path):
    made = next(case for case in CASES if case.__name__ == "total")()
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(made.table), source)

    with pytest.raises(cm.ReleaseError, match="income = total - bonus"):
        cm.mask_file(source, target, made.schemes, part_rows=1_000, log=False)
    assert not target.exists()


def test_firms_of_a_long_file_may_be_categories(tmp_path):
    rng = np.random.default_rng(9)
    firm, order = np.repeat(np.arange(500), 12), rng.permutation(6_000)
    pay = (incomes(rng, 500)[firm] * rng.lognormal(0.0, 0.02, 6_000)).round(2)[order]
    named = pa.array([f"firm {k}" for k in firm[order]]).dictionary_encode()
    pq.write_table(pa.table({"pay": pay, "firm": named}), tmp_path / "in.parquet")

    source, scheme = tmp_path / "in.parquet", cm.ConditionalMasking(0.6, 500.0, decimals=2)
    with pytest.raises(cm.ReleaseError, match="who knows which records were swapped guesses"):
        cm.mask_file(source, tmp_path / "out.parquet", {"pay": scheme}, part_rows=2_000, log=False)


def test_a_scheme_that_swaps_nothing_has_no_audit():
    with pytest.raises(TypeError, match=r"^scheme must be one that swaps records"):
        cm.audit([1.0, 2.0, 3.0], cm.AdditiveNoise(1.0))


def test_the_audit_in_print_and_in_json_has_no_value_of_the_data():
    x = incomes(np.random.default_rng(9)) + 0.123
    audit = cm.audit({"x": x, "w": x * 2.0}, {"x": log()})

    shown = str(audit) + str(audit.to_dict())
    assert "x = 0.5 w" in shown
    assert audit.figures["x"].clear == audit.figures["x"].worst == 1.0
    assert not any(f"{value:.3f}" in shown for value in x[:500])


def test_noise_on_a_few_hundred_records_is_judged():
    audit = cm.audit(incomes(np.random.default_rng(8), 300), cm.ConditionalMasking(0.6, 100.0), max_lift=0.05)

    assert refusal(audit).text.endswith("the noise is too narrow")
