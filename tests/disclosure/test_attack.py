"""Attackers who know no trick find what columns give away, and nothing where there is nothing."""

import logging
from functools import cache

import numpy as np
import pytest
from attack_tables import LEAKS

import condmask as cm
from condmask.disclosure.column.alone import figures_alone
from condmask.disclosure.scale import line_of
from condmask.disclosure.table import attack as attacks
from condmask.disclosure.table.release import draw
from condmask.disclosure.unmasked import MAX_EXAMINED_ROWS, Table, clear_of

N = 2_000


def log(sigma=0.3):
    return cm.ReverseMapping(0.6, sigma, scale="log", aggregate_ends=3)


def scheme_for(x):
    if x.min() > 0.0:
        return log()
    return cm.ReverseMapping(0.6, 0.3 * float(x.std()), aggregate_ends=3)


def table_of(columns, masked):
    values = {name: np.asarray(columns[name], dtype=float) for name in masked}
    return Table(values, None, clear_of(columns, values))


def attack_on(columns, *masked, scheme=None):
    table = table_of(columns, masked)
    schemes = {name: scheme or scheme_for(table.values[name]) for name in masked}
    return attacks.Attack(table, schemes)


@cache
def figures_of(leak):
    made = leak()
    (row,) = attack_on(made.table, made.column).figures().values()
    return made, row


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_columns_in_clear_tell_who_knows_others(leak):
    made, row = figures_of(leak)

    assert row.clear >= made.clear
    assert row.outsider >= made.outsider
    assert row.clear == max(row.clear_unit, row.clear_record) <= row.worst


def incomes(stream, n=N):
    return stream.lognormal(8.0, 0.6, n).round()


def unrelated(seed):
    """A masked column and others that tell nothing of it, of all kinds."""
    stream = np.random.default_rng(seed)
    return {
        "income": incomes(stream),
        "age": stream.integers(18, 90, N),
        "region": np.array(["north", "south", "east"])[stream.integers(0, 3, N)],
        "firm": stream.integers(0, N // 8, N),
        "size": stream.lognormal(3.0, 1.0, N).round(1),
        "day": np.datetime64("2020-01-01") + stream.integers(0, 900, N),
        "note": np.array([f"case {k} of {j}" for k, j in stream.integers(0, 99, (N, 2))]),
    }


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_tell_nothing_add_nothing_to_the_law_of_the_column(seed):
    # of 100 such tables worst was .002 above the law of the column on average, .014 at most
    table = unrelated(seed)
    audit = cm.audit(table, {"income": log()})
    row = audit.figures["income"]
    (alone,) = figures_alone(table["income"], None, log())

    assert not audit.refused
    assert not any("guessed" in finding.text for finding in audit.findings)
    assert alone.worst <= row.worst < alone.worst + 0.02
    assert row.worst_unit == ""


def in_order(table, order):
    return {name: np.asarray(column)[order] for name, column in table.items()}


@pytest.mark.parametrize("n", [500, 3_000, MAX_EXAMINED_ROWS + 2_000])
def test_the_same_table_in_another_order_has_the_same_figures(n):
    stream = np.random.default_rng(n)
    firm = np.arange(n) // 5
    table = {
        "revenue": np.exp(stream.normal(8.0, 0.6, n)[firm] + stream.normal(0.0, 0.4, n)).round(2),
        "firm": names_of(firm),
        "staff": stream.integers(1, 400, n),
    }
    orders = [stream.permutation(n) for _ in range(10 if n < 1_000 else 2)]
    quick = [
        attack_on(in_order(table, order), "revenue").clear_figures()["revenue"] for order in orders
    ]

    assert all(numbers_of(row) == numbers_of(quick[0]) for row in quick)


def names_of(codes):
    return np.array([f"firm {code}" for code in codes.tolist()])


def numbers_of(row):
    return row.constant, row.clear, row.clear_unit, row.clear_record


def test_ten_orders_have_one_verdict():
    stream = np.random.default_rng(3)
    firm = np.arange(600) // 6
    table = {
        "pay": np.exp(stream.normal(8.0, 0.5, 600)[firm] + stream.normal(0.0, 0.5, 600)).round(),
        "firm": firm,
        "age": stream.integers(18, 65, 600),
    }
    audits = [
        cm.audit(in_order(table, stream.permutation(600)), {"pay": log()}) for _ in range(10)
    ]

    assert len({str(audit.to_dict()["figures"]) for audit in audits}) == 1
    assert len({audit.refused for audit in audits}) == 1


def test_columns_in_another_order_have_the_same_sample():
    table = unrelated(9)
    one, other = (
        clear_of(columns, {"income": table["income"]})
        for columns in (table, dict(reversed([*table.items()])))
    )

    assert np.array_equal(one.rows, other.rows)


def test_whole_units_of_a_long_table_are_looked_at():
    stream = np.random.default_rng(5)
    n = MAX_EXAMINED_ROWS + 8_000
    firm = np.arange(n) // 8
    x = np.exp(stream.normal(8.0, 0.6, n)[firm] + stream.normal(0.0, 0.1, n)).round(2)
    table = in_order({"x": x, "firm": firm}, stream.permutation(n))

    rows = clear_of(table, {"x": table["x"]}).rows

    _, sizes = np.unique(table["firm"][rows], return_counts=True)
    assert rows.size == MAX_EXAMINED_ROWS
    assert np.mean(sizes == 8) > 0.99


def test_for_another_sigma_nothing_is_learned_again(monkeypatch):
    made = LEAKS[0]()
    attack = attack_on(made.table, made.column)
    attack.figures(quick=True)

    def refuse(*arguments, **options):
        raise AssertionError("learned again")

    monkeypatch.setattr(attacks, "learned", refuse)
    monkeypatch.setattr(attacks, "View", refuse)
    wider = attack.figures({made.column: log(3.0)}, quick=True)[made.column]

    assert wider.worst >= wider.clear


def test_released_values_stand_at_their_place_among_originals_with_noise():
    stream = np.random.default_rng(6)
    x = stream.normal(0.0, 1.0, 20_000)
    scheme = cm.ReverseMapping(0.6, 0.5)
    release = draw({"x": x}, None, {"x": scheme})
    off = release.keys["x"] - line_of(x, scheme).to(x)

    # kept: normal noise to within the step between neighbours
    assert off[release.kept].std() == pytest.approx(release.noise["x"], rel=0.03)
    assert off[release.kept].mean() == pytest.approx(0.0, abs=0.03)
    assert np.mean(release.kept) == pytest.approx(0.4, abs=0.02)


def test_all_masked_columns_of_a_kept_record_are_put_together():
    # five that say the same: with known coins the mean of five noises is left
    stream = np.random.default_rng(7)
    level = stream.normal(8.0, 0.6, N)
    table = {f"y{k}": np.exp(level).round(3) for k in range(5)}
    rows = attack_on(table, *table, scheme=log(0.5)).figures()
    (alone,) = figures_alone(table["y0"], None, log(0.5 / np.sqrt(5.0)))

    assert rows["y0"].worst >= alone.worst - 0.02


def test_totals_of_households_are_shared_out():
    stream = np.random.default_rng(8)
    household = np.arange(N) // 2
    income = incomes(stream)
    total = np.bincount(household, income)[household]
    head = np.arange(N) % 2 == 0
    table = {"income": income, "household": household, "total": np.where(head, total, np.nan)}
    table = in_order(table, stream.permutation(N))
    without = {name: column for name, column in table.items() if name != "total"}
    known, unknown = (
        attack_on(columns, "income").figures()["income"] for columns in (table, without)
    )

    assert known.worst > unknown.worst + 0.05


def panel_without_names(persons=500, waves=5):
    """Each person has a year of birth, a trade and a district that never change, and shows the
    income of the year before."""
    stream = np.random.default_rng(11)
    who = np.repeat(np.arange(persons), waves)
    level = stream.normal(0.0, 0.35, persons)[:, None]
    income = np.exp(7.5 + level + stream.normal(0.0, 0.5, (persons, waves + 1))).round()
    table = {
        "born": stream.integers(1940, 2000, persons)[who],
        "trade": stream.integers(0, 12, persons)[who],
        "district": stream.integers(0, 20, persons)[who],
        "sex": stream.integers(0, 2, persons)[who],
        "year": np.tile(np.arange(2016, 2016 + waves), persons),
        "before": income[:, :-1].ravel(),
        "income": income[:, 1:].ravel(),
    }
    order = stream.permutation(persons * waves)
    return {name: column[order] for name, column in table.items()}


PERSON = ("born", "trade", "district")


def test_columns_that_together_name_a_person_join_her_years():
    # four years of five are told by the year after
    table = panel_without_names()
    (row,) = attack_on(table, "income").figures().values()

    assert row.clear > 0.75


def test_columns_that_together_name_nobody_join_nothing():
    table = panel_without_names()
    stream = np.random.default_rng(12)
    nobody = table | {name: stream.permutation(table[name]) for name in (*PERSON, "sex")}
    attack = attack_on(nobody, "income")
    (row,) = attack.figures().values()

    assert row.clear < row.constant + 0.02
    assert not any(unit.structural for unit in attack.view.columns[0].units)


def transfers(same_reference):
    """Each transfer is booked twice under a reference; the payee's amount is masked, and stands
    in clear at the payer's."""
    stream = np.random.default_rng(13)
    m = N // 2
    amount = np.exp(stream.normal(6.0, 0.8, m)).round(2)
    number = stream.permutation(10**7)[:m]
    of_payee = number if same_reference else stream.permutation(number)
    texts = [f"debit ref TX{k:08d}" for k in number] + [f"credit ref TX{k:08d}" for k in of_payee]
    order = stream.permutation(N)
    other = np.exp(stream.normal(6.0, 0.8, m)).round(2)
    table = {
        "text": np.array(texts),
        "account": stream.integers(1, 300, N),
        "paid": np.concatenate((amount, np.full(m, np.nan))),
        "amount": np.concatenate((other, amount)),
    }
    return {name: column[order] for name, column in table.items()}


def test_a_reference_in_a_text_joins_both_records_that_give_it():
    # half of the amounts stand at the other record, the constant guess has .08 of the rest
    (row,) = attack_on(transfers(True), "amount").figures().values()
    (unrelated,) = attack_on(transfers(False), "amount").figures().values()

    assert row.clear > 0.5
    assert unrelated.clear < unrelated.constant + 0.02


def test_pay_scales_that_everybody_knows_are_no_link_to_a_swapped_value():
    # a hint of the grade narrows pay down to few amounts of the scale, without any release
    stream = np.random.default_rng(15)
    scale = np.sort(np.exp(7.5 + stream.normal(0.0, 0.5, 40))).round()
    grade = stream.integers(0, 40, N)
    hint = np.log(scale)[grade] + stream.normal(0.0, 0.1, N)
    table = {"hint": hint.round(3), "age": stream.integers(18, 66, N), "pay": scale[grade]}
    (row,) = attack_on(table, "pay").figures().values()
    likeliest = np.argmin(np.abs(np.log(scale) - table["hint"][:, None]), axis=1)
    d = 0.1 * np.log(table["pay"]).std()
    by_hand = np.mean(np.abs(np.log(scale[likeliest]) - np.log(table["pay"])) < d)

    assert row.clear > by_hand - 0.03
    assert row.linked < 0.01


def test_the_unit_of_which_most_is_guessed_is_named_without_its_name():
    stream = np.random.default_rng(11)
    branch = stream.choice(40, N)
    pay = incomes(stream)
    fixed = branch == 7
    pay[fixed] = 9_000.0 + stream.integers(0, 3, fixed.sum())
    table = {"pay": pay, "branch": names_of(branch), "age": stream.integers(18, 65, N)}
    row = attack_on(table, "pay").figures()["pay"]

    assert row.worst_unit == f"branch of {fixed.sum()}"
    assert row.worst_unit_rate > 2.5 * row.worst


def test_a_relation_in_some_records_counts_where_it_can_be_told():
    stream = np.random.default_rng(12)
    income = incomes(stream)
    told = stream.random(N) < 0.3
    for mark in (True, False):
        note = np.where(told, income, incomes(stream))
        table = {"income": income, "copy": note}
        if mark:
            table["source"] = np.where(told, "register", "survey")
        (relation, *_) = attack_on(table, "income").relations["income"]
        assert relation.text == "copy"
        assert relation.share == pytest.approx(0.3, abs=0.04)
        assert (relation.identifiable > 0.25) == mark


def test_few_values_that_meet_by_chance_are_no_relation():
    stream = np.random.default_rng(13)
    part = stream.choice([0.0, 10.0, 20.0, 38.5], N)
    hours = np.where(stream.random(N) < 0.3, part + 38.5, stream.integers(30, 80, N) * 1.0)
    table = {"hours": hours, "part time": part, "age": stream.integers(18, 65, N)}

    assert attack_on(table, "hours").relations["hours"] == []


def test_the_log_says_what_is_done_once_it_takes_a_second(monkeypatch, caplog):
    table = unrelated(1)
    with caplog.at_level(logging.INFO, "condmask.disclosure.table.attack"):
        attack_on(table, "income").figures()
        quick = caplog.text
        monkeypatch.setattr(attacks, "SECONDS_OF_SILENCE", 0.0)
        attack_on(table, "income").figures()

    assert "auditing" not in quick or "of 6" in quick
    assert "auditing 6 columns against income: 1 of 6" in caplog.text


# --- bad input ---


def random_texts(stream, n):
    return np.array([f"{k:x}" for k in stream.integers(0, 2**60, n)])


@pytest.mark.parametrize(
    "columns",
    [
        {"same": np.ones(N), "also": np.full(N, "x"), "none": np.full(N, np.nan)},
        {"none": np.full(N, None), "nowhere": np.full(N, "")},
        {"time": np.full(N, np.datetime64("NaT", "D"))},
    ],
)
def test_columns_that_say_nothing_are_no_trouble(columns):
    x = incomes(np.random.default_rng(1))
    audit = cm.audit({"x": x, **columns}, {"x": log()})

    assert not audit.refused
    assert audit.figures["x"].clear == pytest.approx(audit.figures["x"].constant, abs=0.01)


def test_lists_of_unequal_length_are_looked_at():
    stream = np.random.default_rng(2)
    lists = np.empty(N, dtype=object)
    lists[:] = [stream.integers(0, 9, size).tolist() for size in stream.integers(0, 6, N)]
    total = np.array([100.0 + sum(each) for each in lists])
    some = np.where(np.arange(N) == 5, None, lists)

    assert cm.audit({"x": total, "parts": some}, {"x": cm.ReverseMapping(0.6, 3.0)}).refused


def test_amounts_of_which_most_are_zero_are_judged_without_a_grid():
    stream = np.random.default_rng(4)
    x = np.where(stream.random(N) < 0.7, 0.0, stream.lognormal(8.0, 0.5, N))
    audit = cm.audit({"x": x, "w": stream.normal(size=N)}, {"x": cm.ReverseMapping(0.6, 900.0)})

    assert audit.figures["x"].clear == pytest.approx(audit.figures["x"].constant, abs=0.01)


@pytest.mark.slow
def test_many_texts_and_many_columns_are_judged():
    stream = np.random.default_rng(3)
    x = incomes(stream, 50_000)
    assert not cm.audit({"x": x, "name": random_texts(stream, 50_000)}, {"x": log()}).refused
    many = {f"c{k}": stream.normal(size=N).round(3) for k in range(500)}
    audit = cm.audit({"x": x[:N], **many}, {"x": log()})
    assert audit.figures["x"].worst < audit.figures["x"].constant + 0.1


@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_a_few_rows_have_a_verdict(n):
    stream = np.random.default_rng(n)
    table = {"x": incomes(stream, n), "w": stream.normal(size=n), "name": random_texts(stream, n)}

    assert cm.audit(table, {"x": log()}).refused  # the donor pool is too small
