"""What is refused before it is released, and what is warned of."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from columns import GAPS, GENERIC
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask import frames
from condmask.disclosure.release_check import GO_ON
from condmask.visible_grid import shown_digits


def shown(scheme, x):
    """What the digits of a column show, by themselves."""
    column = frames.column(x, "x")
    return shown_digits(scheme, column.array, "x", column.kind)


# --- digits ---

CONTINUOUS = np.random.default_rng(2).lognormal(10.0, 0.5, 3_000)
OWN_GRID = {
    "whole": CONTINUOUS.round(),
    "integers": CONTINUOUS.astype(int),
    "cents": CONTINUOUS.round(2),
    "twentieths": np.round(CONTINUOUS * 20) / 20,
    "thirds": np.round(CONTINUOUS * 3) / 3,
    "hundreds": CONTINUOUS.round(-2),
    "float32": (GENERIC * 100).round(1).astype(np.float32),
    "gaps": np.where(np.isnan(GAPS), np.nan, GENERIC.round(1)),
    "two": np.array([1.5, 2.5]),
    "zeros and two": np.array([0.0] * 9 + [3.0, 6.0]),
}
NO_GRID = {
    "generic": GENERIC,
    "15 digits": np.array([float(f"{v:.15g}") for v in CONTINUOUS.tolist()]),
    "one value off": np.append(CONTINUOUS.round(2), 0.123456789),
    "zeros": np.zeros(10),
    "float32 widened": GENERIC.astype(np.float32).astype(float),
}


def refused_step(scheme, x):
    """The step that a refusal names, and whether the data are to be rounded to it."""
    with pytest.raises(
        cm.ReleaseError, match=rf"pass step=\S+( and round=True)?{re.escape(GO_ON)}$"
    ) as caught:
        scheme.mask(x, rng=1, nan_policy="omit")
    return float(re.search(r"pass step=([^\s;]+)", str(caught.value))[1]), "round=True" in str(caught.value)


@pytest.mark.parametrize("sigma", [1.0, 7.3])
@pytest.mark.parametrize("name", OWN_GRID)
def test_data_on_a_grid_of_their_own_are_refused_and_the_step_that_is_named_serves(name, sigma):
    x = OWN_GRID[name]

    step, coarser = refused_step(cm.ConditionalMasking(0.5, sigma), x)
    better = cm.ConditionalMasking(0.5, sigma, step=step)
    z = better.mask(x, rng=1, nan_policy="omit", accept_visible_coins=True)

    assert not coarser
    assert shown(better, x) is None
    assert np.isnan(z).tolist() == np.isnan(x).tolist()


@pytest.mark.parametrize("name", NO_GRID)
def test_data_without_a_grid_are_rounded_to_the_default_one(name):
    x = NO_GRID[name]
    scheme = cm.ConditionalMasking(0.5, 1.0)

    assert shown(scheme, x) is None
    assert (scheme.mask(x, rng=1, accept_visible_coins=True) % scheme.step == 0.0).all()


def test_a_grid_much_finer_than_the_default_step_or_that_it_suits_is_no_hindrance():
    for x, sigma in (
        (CONTINUOUS.round(2), 5e3),
        (CONTINUOUS.round(), 3e3),
        (np.round(CONTINUOUS * 8) / 8, 1e3),
    ):
        scheme = cm.ConditionalMasking(0.5, sigma)
        assert shown(scheme, x) is None
        assert (scheme.mask(x, rng=1) % scheme.step == 0.0).all()


@given(
    seed=st.integers(0, 2**32), n=st.integers(2, 50), sigma=st.floats(1e-3, 1e6), size=st.floats(1e-3, 1e8)
)
def test_continuous_data_show_no_digits(seed, n, sigma, size):
    x = np.random.default_rng(seed).normal(0, size, n)

    assert shown(cm.ConditionalMasking(0.5, sigma), x) is None


@pytest.mark.parametrize("option", [{"decimals": 2}, {"step": 0.01}, {"step": 1 / 3}])
def test_a_grid_that_is_given_and_finer_than_that_of_the_data_is_refused(option):
    with pytest.raises(cm.ReleaseError, match=r"^x holds multiples of 5, .*; pass step=5;"):
        cm.ConditionalMasking(0.5, 100.0, **option).mask(np.arange(0.0, 5e3, 5.0), rng=1)


def test_a_release_has_a_grid():
    scheme, x = cm.ConditionalMasking(0.6, 1.0, step=0), np.random.default_rng(1).normal(size=200)

    with pytest.raises(cm.ReleaseError, match=r"^step must be positive for a release, got 0"):
        scheme.mask(x)
    assert scheme.mask(x, accept_visible_coins=True).shape == x.shape


@pytest.mark.parametrize("size", [10.0, 1e5])
def test_float32_values_held_as_float64_are_refused_where_their_spacing_shows(size):
    x = np.random.default_rng(3).normal(0, size, 500).astype(np.float32).astype(float)
    x[7] = np.nan
    scheme = cm.ConditionalMasking(0.5, 1e-4 * size)  # steps of 2^-24 of the data's size

    step, coarser = refused_step(scheme, x)
    rounded = np.round(x / step) * step
    better = cm.ConditionalMasking(0.5, scheme.sigma, step=step)
    z = better.mask(rounded, rng=1, nan_policy="omit", accept_visible_coins=True)

    assert coarser
    assert np.nanmax(np.abs(x)) <= 2.0**24 * step < 2 * np.nanmax(np.abs(x))
    assert np.isnan(z).sum() == 1
    assert shown(better, rounded) is None
    one_is_not = x.copy()
    one_is_not[-1] += 1e-9 * size
    assert shown(scheme, one_is_not) is None


# --- the audit at the door ---


def incomes(n=5_000):
    """Whole incomes, most of them round."""
    random = np.random.default_rng(4)
    exact, heaps = random.lognormal(7.5, 0.6, n), random.choice([1, 10, 100], n, p=[0.1, 0.3, 0.6])
    return heaps * np.rint(exact / heaps)


def test_round_numbers_are_refused_with_the_scheme_that_hides_them():
    x = incomes()

    with pytest.raises(
        cm.ReleaseError, match=r"% of the records guessed right .*; or pass step=50 and round"
    ) as caught:
        cm.ConditionalMasking(0.6, 500.0, decimals=0).mask(x)

    assert str(caught.value).endswith(GO_ON)
    assert "; pass reverse_mapping=True" in str(caught.value)
    cm.ConditionalMasking(0.6, 500.0, step=50).mask(50 * np.rint(x / 50))  # warnings are errors


def test_donors_that_are_shared_are_refused_within_pools():
    x, strata = np.random.default_rng(1).normal(0.0, 9.0, 400).round(1), np.repeat([0, 1], 200)
    gaps = np.where(strata == 1, np.nan, x)
    one = cm.ConditionalMasking(0.6, 5.0, decimals=1, donors="sample")
    within, table = replace(one, strata="s"), pd.DataFrame({"x": x, "gaps": gaps})
    says = "^donors must be 'permutation' with strata or patterns of gaps, got 'sample'"

    with pytest.raises(cm.ReleaseError, match=says):
        within.mask(x, strata=strata)
    with pytest.raises(cm.ReleaseError, match=says):
        cm.mask_table(table, {"x": one, "gaps": one}, nan_policy="omit")
    assert within.mask(x, strata=strata, accept_visible_coins=True).size == 400
    assert np.isnan(one.mask(gaps, nan_policy="omit")).sum() == 200  # one pool


def test_who_accepts_visible_coins_gets_the_release():
    x, scheme = incomes(), cm.ConditionalMasking(0.6, 500.0, decimals=0)

    assert scheme.mask(x, accept_visible_coins=True).shape == x.shape


def test_a_table_is_refused_for_one_bad_column_of_two():
    random = np.random.default_rng(5)
    table = pd.DataFrame({"income": incomes(), "age": random.normal(40.0, 12.0, 5_000)})
    bad, good = cm.ConditionalMasking(0.6, 500.0, decimals=0), cm.ConditionalMasking(0.6, 500.0, step=50)
    age = cm.ConditionalMasking(0.6, 8.0)

    with pytest.raises(cm.ReleaseError, match=r"^income and age must not .* pass step=50 .* for 'income'"):
        cm.mask_table(table, {"income": bad, "age": age})
    table["income"] = 50 * np.rint(table["income"] / 50)
    assert set(cm.mask_table(table, {"income": good, "age": age}).data) == {"income", "age"}


@pytest.mark.parametrize(
    ("x", "scheme", "says"),
    [
        (np.sort(np.random.default_rng(1).normal(size=2_000)), cm.ConditionalMasking(0.6, 0.5), "shuffle"),
        (
            np.random.default_rng(1).permutation(2_000) * 1.0,
            cm.ConditionalMasking(0.6, 0.1, step=1),
            "released with their own value",
        ),
        (np.random.default_rng(1).normal(size=2_000), cm.ConditionalMasking(0.99, 0.5), "p"),
    ],
    ids=["sorted", "unchanged", "p near 1"],
)
def test_what_is_not_refused_brings_a_warning_that_says_what_is_read(x, scheme, says):
    with pytest.warns(cm.ReleaseWarning, match=says) as caught:
        scheme.mask(x)

    assert caught[0].filename == __file__


def test_a_column_in_clear_that_goes_closely_with_a_masked_one_is_refused_and_so_is_a_copy():
    x, noise = np.random.default_rng(1).normal(size=(2, 2_000))
    table = pd.DataFrame({"income": x, "net": 0.7 * x + 1.0 + 0.1 * noise})
    scheme = cm.ConditionalMasking(0.6, 0.5)

    with pytest.raises(cm.ReleaseError, match="'net' is left in clear"):
        cm.mask_table(table, {"income": scheme})
    for copy in (0.7 * x + 1.0, np.where(np.arange(2_000) % 20 < 9, x, noise)):
        with pytest.raises(
            cm.ReleaseError, match=r"can be computed from the others; leave 'net' out; --accept"
        ):
            cm.mask_table(table.assign(net=copy), {"income": scheme})


FEW = "records are too few to judge how well an attacker can guess which were swapped"


@pytest.mark.parametrize(("n", "gaps"), [(99, 0), (100, 0), (120, 21), (120, 20)])
def test_fewer_than_a_hundred_records_are_masked_with_a_warning(n, gaps):
    x = np.random.default_rng(1).normal(size=n)
    x[:gaps] = np.nan

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cm.ConditionalMasking(0.6, 0.5).mask(x, nan_policy="omit")

    assert [str(warning.message) for warning in caught] == ([f"99 {FEW}"] if n - gaps < 100 else [])


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_fewer_than_a_hundred_records_go_into_no_file(tmp_path, kind):
    frame = pd.DataFrame({"x": np.random.default_rng(1).uniform(5.0, 7.0, 99)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 0.5)

    def release(scheme, target, **options):
        if kind == "file":
            cm.mask_file(tmp_path / "a.csv", target, {"x": scheme}, log=False, **options)
        else:
            cm.mask_table(frame, {"x": scheme}, **options).write(target, log=False)

    with pytest.raises(cm.ReleaseError, match=f"^99 {FEW}, and a file must have at least 100") as error:
        release(scheme, tmp_path / "b.csv")
    assert str(error.value).endswith(GO_ON)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    release(scheme, tmp_path / "c.csv", accept_visible_coins=True)
    mapped = cm.ConditionalMasking(0.6, 0.5, reverse_mapping=True)
    with pytest.warns(cm.ReleaseWarning, match="a donor pool has 99 records"):  # rails of its own
        release(mapped, tmp_path / "d.csv")


# --- what columns in clear make up ---

ROWS = 3_000
AMOUNTS = np.random.default_rng(6).lognormal(7.0, 0.8, (10, ROWS)).round()
NOISY = cm.ConditionalMasking(0.6, 400.0, step=1)
REVERSED = cm.ConditionalMasking(0.6, 1_500.0, reverse_mapping=True, aggregate_ends=5)


def in_part(share, x, other):
    return np.where(np.random.default_rng(7).random(ROWS) < share, x, other)


def people():
    stream = np.random.default_rng(8)
    height, weight = stream.normal(1.72, 0.09, ROWS).round(2), np.exp(stream.normal(4.3, 0.18, ROWS)).round(1)
    return {"height": height, "weight": weight, "bmi": (weight / height**2).round(1)}


A, B, C, D, *REST = AMOUNTS
COMPUTED = {
    "a total of four parts": (
        {"total": A + B + C + D, "a": A, "b": B, "c": C, "d": D, "age": (REST[0] % 50).round()}, "total",
        "leave 'total' out and mask 'a', 'b', 'c' and 'd' instead: analysts add the masked parts",
    ),
    "a part": ({"part": A, "other": B, "total": A + B}, "part", "leave 'total' out"),
    "a copy in 45% of the rows": ({"x": A, "y": in_part(0.45, A, B)}, "x", "leave 'y' out"),
    "a copy behind 66 columns": (
        {f"n{k}": column for k, column in enumerate(np.random.default_rng(9).normal(size=(66, ROWS)))}
        | {"x": A, "y": A}, "x", "leave 'y' out",
    ),
    "weight, by bmi and height": (
        people(), "weight",
        "leave 'weight' out and mask 'height' and 'bmi' instead: analysts compute it from the masked columns",
    ),
}  # fmt: skip


@pytest.mark.parametrize("scheme", [NOISY, REVERSED], ids=["noise", "reverse"])
@pytest.mark.parametrize("kind", COMPUTED)
def test_a_column_that_those_in_clear_make_up_is_refused(kind, scheme):
    table, name, remedy = COMPUTED[kind]
    if name == "weight":
        scheme = replace(scheme, sigma=8.0, step=None if scheme.reverse_mapping else 0.1)

    with pytest.raises(
        cm.ReleaseError, match=r"can be computed from the others; |the order of 'x' can be read"
    ) as caught:
        cm.mask_table(pd.DataFrame(table), {name: scheme})

    if "can be computed" in str(caught.value):
        assert str(caught.value).endswith(f"{remedy}{GO_ON}")
        assert f"only {name!r} is masked" in str(caught.value)


def test_a_copy_in_a_tenth_of_the_rows_by_chance_is_not_refused():
    table = {"x": A, "y": in_part(0.08, A, B)}

    assert set(cm.mask_table(pd.DataFrame(table), {"x": NOISY}, rng=1).data) == {"x", "y"}


def test_what_a_refusal_says_can_be_done():
    table = pd.DataFrame(COMPUTED["a total of four parts"][0])
    parts = list("abcd")

    release = cm.mask_table(table.drop(columns="total"), dict.fromkeys(parts, NOISY), rng=1)

    # the sum of masked parts is the total masked with noise of their root sum of squares
    total = release.data[parts].sum(axis=1).to_numpy()
    error = np.sqrt(4.0) * NOISY.sigma / np.sqrt(ROWS) + np.sqrt(2.0) * table["total"].std() / np.sqrt(ROWS)
    assert total.mean() == pytest.approx(table["total"].mean(), abs=4.0 * error)
    cm.mask_table(pd.DataFrame(COMPUTED["a part"][0]).drop(columns="total"), {"part": NOISY}, rng=1)


TOTALS = {f"r{k}": x for k, x in enumerate(AMOUNTS[:4])} | {f"s{k}": x for k, x in enumerate(AMOUNTS[4:8])}
TOTALS |= {
    "revenue": in_part(0.995, AMOUNTS[:4].sum(axis=0), REST[4]),
    "sales": in_part(0.995, AMOUNTS[4:8].sum(axis=0), REST[5]),
}


@pytest.mark.parametrize(
    ("table", "sigma", "step", "relation"),
    [
        (
            people(), {"height": 0.05, "weight": 8.0, "bmi": 2.0},
            {"height": 0.01, "weight": 0.1, "bmi": 0.1}, "'height'^2 * 'bmi'",
        ),
        pytest.param(
            TOTALS, dict.fromkeys(TOTALS, 400.0), dict.fromkeys(TOTALS, 1.0), "'revenue' = 'r0' + 'r1' +",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            TOTALS | {"other": np.random.default_rng(10).lognormal(7.0, 0.8, ROWS).round()},
            dict.fromkeys([*TOTALS, "other"], 400.0), dict.fromkeys([*TOTALS, "other"], 1.0), "'sales' = ",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["bmi", "ten columns", "eleven columns"],
)  # fmt: skip
def test_relations_of_columns_masked_together_show_who_was_swapped(table, sigma, step, relation):
    schemes = {name: cm.ConditionalMasking(0.6, sigma[name], step=step[name]) for name in table}

    found = cm.audit(table, schemes)

    assert found.visible
    assert found.guessed > 0.9
    assert any(cause.name == "identity" and relation in cause.text for cause in found.causes)


@pytest.mark.parametrize("level", ["pay", None, "age"])
def test_an_index_is_looked_at_as_columns_in_clear_are(level):
    x, age = np.random.default_rng(1).lognormal(8.0, 0.5, (2, 500)).round()
    table = pd.DataFrame({"income": x, "age": age}, index=pd.Index(x, name=level))
    schemes = {"income": cm.ConditionalMasking(0.6, 900.0, decimals=0)}

    with pytest.raises(cm.ReleaseError, match=r"'income' = '(pay|index|age \(level 0\))' in 100%"):
        cm.mask_table(table, schemes)
    assert cm.audit(table, schemes).computed
    in_order = table[x > 2_000].reset_index(drop=True)
    assert cm.mask_table(in_order[["income"]], schemes).data.index.equals(in_order.index)
    assert cm.audit(in_order, schemes).columns == 2
    assert cm.audit(table.set_index("age", append=True), schemes).columns == 3


def test_columns_that_may_name_persons_are_a_warning(tmp_path):
    random = np.random.default_rng(4)
    x, number = random.lognormal(8.0, 0.5, 2_000).round(2), random.permutation(10**6)[:2_000]
    table = pd.DataFrame({"income": x, "number": number, "row": np.arange(2_000), "sex": number % 2})
    named = table.assign(name=[f"P. {k}" for k in number])
    for scheme in (
        cm.ConditionalMasking(0.6, 900.0, decimals=2),
        cm.ConditionalMasking(0.6, 900.0, reverse_mapping=True, aggregate_ends=3),
    ):
        with pytest.warns(cm.ReleaseWarning, match="^number: a different value .*; drop what identifies"):
            cm.mask_table(table, {"income": scheme})
        with pytest.warns(cm.ReleaseWarning, match="^number, name: "):
            cm.mask_table(named, {"income": scheme})
        cm.mask_table(table.drop(columns="number"), {"income": scheme})
    for suffix in ("csv", "parquet"):
        source = tmp_path / f"in.{suffix}"
        getattr(named, f"to_{suffix}")(source, index=False)
        with pytest.warns(cm.ReleaseWarning, match="^number, name: "):
            cm.mask_file(source, tmp_path / f"out.{suffix}", {"income": scheme}, log=False)
