"""Methods at equal risk. Oracles: measured risks, plain formulas, and what theory says of each
method."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from compared import AGE, SCHEME, D, X
from scheme_classes import conditional_or_mapped
from scipy.special import ndtr
from scipy.stats import expon, gamma, laplace, norm

import condmask as cm
from condmask._randomness import seeded_key
from condmask.studies import attacker, compare, paper, populations

pytestmark = pytest.mark.usefixtures("quick")


def of(found, method, estimator=None):
    (row, *_) = [
        row
        for row in found.rows
        if row["method"] == method and estimator in (None, row["estimator"])
    ]
    return row


def test_all_that_can_be_tuned_have_one_risk(found):
    free = {"data swapping", "data shuffling"}
    assert found.missing == {}
    assert len({row["method"] for row in found.rows}) == 8
    for row in found.rows:
        # scored on 60,000 records, twice: standard error .0028; swapping leaves the constant guess
        if row["method"] not in free:
            assert abs(row["risk"] - found.risk) < 0.01, row["method"]
        else:
            assert row["risk"] < found.risk


def test_who_takes_the_masked_value_is_shown_beside_the_best_attacker(found):
    for method, scheme in found.schemes.items():
        row = of(found, method)
        assert row["masked value"] < row["risk"] + 0.01
        if scheme.law is not None:  # 40 maskings of 1,500 records: standard error .002
            assert row["masked value"] == pytest.approx(scheme.risk(X, D), abs=0.008)
    # that attacker took noise to be twice as safe as conditional masking
    assert (
        of(found, "Laplace noise")["masked value"]
        < 0.7 * of(found, "conditional masking")["masked value"]
    )


def test_the_same_methods_are_compared_at_the_risk_of_reverse_mapping(rough):
    scheme = cm.ReverseMapping(0.4, 300.0, noise="laplace", missing=-8)
    coded = np.append(X, [-8.0, -8.0])
    found = cm.compare(
        coded, scheme, d=D, other=np.append(AGE, [1.0, 2.0]), replications=20, rng=1
    )

    assert found.records == X.size
    own = found.schemes["reverse mapping"]
    assert own == cm.ReverseMapping(0.4, 300.0, noise="laplace")
    added = found.schemes["conditional masking"]
    assert (added.p, added.noise, added.reverse_mapping) == (0.4, "laplace", False)
    row = of(found, "reverse mapping")
    assert (row["mean"], row["s.d."], row["deciles"]) == (0.0, 0.0, 0.0)  # exactly
    assert 0.0 < row["correlation"] < 0.15
    # the difference of the means of two halves varies as a correlation does: 1 / sqrt(n) against 2
    # / sqrt(n)
    assert row["difference"] / X.std() == pytest.approx(2.0 * row["correlation"], rel=0.35)


def test_what_theory_says_of_each_method(found):
    # values in another order keep margins to the last digit, and swapping loses the correlation
    for method in ("reverse mapping", "rank swapping", "data swapping", "data shuffling"):
        assert (of(found, method)["mean"], of(found, method)["deciles"]) == (0.0, 0.0)
    correlation = np.corrcoef(X, AGE)[0, 1]
    assert of(found, "data swapping")["correlation"] == pytest.approx(correlation, abs=0.03)
    # the mean of additive noise: sigma / sqrt(n), 40 replicates have a relative error of 1 /
    # sqrt(80)
    sigma = found.schemes["normal noise"].sigma
    assert of(found, "normal noise")["mean"] == pytest.approx(
        sigma / np.sqrt(X.size), rel=4 / np.sqrt(80)
    )
    assert np.isnan(of(found, "normal noise")["deciles"])
    assert (
        of(found, "conditional masking", "T_1")["deciles"] < of(found, "Laplace noise")["deciles"]
    )


def test_the_result_is_shown_and_kept(found, tmp_path):
    assert "rank swapping" in str(found)
    assert found.to_frame().shape == (len(found.rows), len(found.rows[0]))
    # without a decile under normal noise
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert kept["schemes"].keys() == found.schemes.keys()
    assert len(found.plot(tmp_path / "a.png")) == 5


def test_gaps_are_left_out_and_shuffling_needs_another_column(rough):
    gaps = np.where(np.arange(X.size) % 7 == 0, np.nan, X)
    found = cm.compare(pd.Series(gaps, name="income"), SCHEME, d=D, replications=10, rng=1)

    assert found.records == np.sum(~np.isnan(gaps))
    assert found.missing == {"data shuffling": "it needs another column"}
    assert "correlation" not in found.rows[0]
    assert found.column == "income"


def test_codes_are_left_out_of_both_columns_or_asked_about(rough):
    x = np.append(X, [-8.0] * 30)
    age = np.append(AGE, [40.0] * 30)
    age[:20] = -8.0
    coded = replace(SCHEME, missing=-8, missing_as="null")

    found = cm.compare(x, coded, d=D, other=age, replications=10, rng=1)
    plain = cm.compare(X[20:], SCHEME, d=D, other=AGE[20:], replications=10, rng=1)

    assert str(found) == str(plain)
    with pytest.raises(ValueError, match=r"missing must say whether -8 in x \(30 records"):
        cm.compare(x, SCHEME, d=D, replications=10)
    with pytest.raises(ValueError, match=r"missing must say whether -8 in other \(20 records"):
        cm.compare(X, SCHEME, d=D, other=age[: X.size], replications=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 0.0}, "d must be positive and finite, got 0.0"),
        (
            {"d": 1e9},
            r"d must leave a risk below 1, got 1e\+09: one guess is that near to every value",
        ),
        ({"d": 1.0, "other": AGE[:9]}, "other must be as long as x, 1500 values, got 9"),
        ({"d": 1.0, "replications": 2}, "replications must be a whole number of at least 10"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        cm.compare(X, SCHEME, **options)


@pytest.mark.parametrize(
    "option", [{"strata": "g"}, {"reverse_mapping": True, "aggregate_ends": "auto"}]
)
def test_schemes_that_samples_cannot_have_are_refused_before_others_are_tuned(option):
    with pytest.raises(ValueError, match="no strata and no open ends, since samples have none"):
        cm.compare(X, conditional_or_mapped(0.6, 500.0, **option), d=D, replications=10)


@pytest.mark.parametrize("risk", [0.4, 0.6])
def test_a_parameter_is_found_that_leaves_the_risk(risk):
    who = attacker.FittedAttacker(X, [], D)
    families = compare.families(SCHEME, X)
    found = compare.tuned(families["normal noise"], risk, who, 1)

    # .005 of the logarithm of sigma is less than .002 of the risk
    assert who.risk(found, seeded_key(1, b"equal").stream(0, 0)) == pytest.approx(risk, abs=0.003)


def test_what_cannot_be_tuned_is_none_and_said():
    make = compare.families(SCHEME, X)["rank swapping"]
    who = attacker.FittedAttacker(X, [], D)
    assert compare.tuned(make, 0.9 * who.constant(), who, 1) is None  # below what all reach
    assert compare.tuned(make, 1.0, who, 1) is None  # neighbours in rank are not enough


POPULATION = cm.paper_population()


@pytest.mark.parametrize(
    "margin", [laplace(10.0, 1e3), laplace(3.0), norm(5.0, 2.0), norm(scale=2.0), expon()]
)
def test_margins_have_the_ranks_of_normal_values(margin):
    normal = np.linspace(-4.0, 4.0, 41)

    np.testing.assert_allclose(
        populations._from_normal(margin, normal), margin.ppf(ndtr(normal)), rtol=1e-9
    )


def test_margins_are_exact_in_both_tails():
    margin = gamma(2.0)
    normal = np.array([-9.0, -3.0, 0.0, 3.0, 9.0, 20.0])

    found = populations._from_normal(margin, normal)

    # P(X > x) = (1 + x) e^-x against the normal law's own upper tail, down to 3e-89
    upper = (1.0 + found[3:]) * np.exp(-found[3:])
    assert upper == pytest.approx(ndtr(-normal[3:]), rel=1e-10)
    assert margin.cdf(found[:3]) == pytest.approx(ndtr(normal[:3]), rel=1e-10)


def test_populations_know_their_truth():
    x, w = POPULATION(np.random.default_rng(1), 20, 20_000)
    assert x.shape == w.shape == (20, 20_000)
    assert POPULATION.correlation() == pytest.approx(-0.68645, abs=1e-5)
    # six standard errors of a correlation at n = 400,000, heavy tails included
    assert np.corrcoef(x.ravel(), w.ravel())[0, 1] == pytest.approx(
        POPULATION.correlation(), abs=0.02
    )
    assert POPULATION.quantile(np.array([0.3])) == pytest.approx(laplace(10, 1000).ppf([0.3]))
    assert np.quantile(x, 0.3) == pytest.approx(laplace(10, 1000).ppf(0.3), abs=15)
    real = cm.Resampled([1.0, 2.0, 3.0, 9.0], [2.0, 1.0, 4.0, 8.0])
    a, b = real(np.random.default_rng(1), 2, 50)
    assert set(zip(a.ravel(), b.ravel(), strict=True)) <= {(1, 2), (2, 1), (3, 4), (9, 8)}


@pytest.mark.parametrize(
    ("other", "above"), [([4.0, 1.0, 2.0, 3.0], 2), ([0.0, 1.0, 1.0, 1.0], 3)]
)
def test_the_upper_half_of_the_other_column_is_never_empty(other, above):
    assert (
        np.count_nonzero(np.array(other) > populations.upper_half_bound(np.array(other))) == above
    )


def test_the_paper_agrees_where_it_is_no_misprint():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = paper.run(400, rng=7, sizes=(2000,))
    honest = [line for line in result.lines if not line["remark"]]
    # 24 cells within 4.5 joint standard errors: false alarm below 24 * 7e-6
    assert len(honest) == 24
    assert max(abs(line["z"]) for line in honest) < 4.5
    assert min(abs(line["z"]) for line in result.lines if line["remark"]) > 20
    text = paper.show(result)

    assert "misprint: scored against 1000" in text
    assert "-0.68645" in text
