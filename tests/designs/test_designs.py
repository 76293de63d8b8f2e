"""Designs give the errors of textbooks where nothing is masked, and count masking once.

Oracles: plain loops over strata, clusters and replicates; and averages over many maskings of one
file, whose sampling error is known from the unmasked file.
"""

import numpy as np
import pandas as pd
import pytest

import condmask as cm

RNG = np.random.default_rng(5)
N = 600
STRATUM = RNG.integers(0, 3, N)
CLUSTER = RNG.integers(0, 6, N)  # numbered within strata
UNIT = STRATUM * 6 + CLUSTER
WEIGHT = RNG.uniform(1.0, 4.0, N)
AGE = RNG.normal(40.0, 10.0, N)
X = 0.5 * AGE + 5.0 * STRATUM + RNG.normal(0.0, 4.0, 18)[UNIT] + RNG.normal(0.0, 8.0, N)
GROUP = RNG.integers(0, 2, N)
OPEN = cm.ConditionalMasking(1e-9, 1e-6, step=0)  # masks nothing to speak of
ESTIMATE = OPEN.estimate(X)
STRATIFIED = cm.Design(weights=WEIGHT, clusters=CLUSTER, strata=STRATUM)


def linearised(contribution, fractions=(0.0, 0.0, 0.0)):
    """The variance of a total of contributions: clusters within strata, by loops."""
    variance = 0.0
    for h in range(3):
        sums = [contribution[6 * h + c == UNIT].sum() for c in range(6)]
        variance += (1.0 - fractions[h]) * 6.0 * np.var(sums, ddof=1)
    return variance


def of_mean(member=None):
    member = np.ones(N) if member is None else member
    share = WEIGHT * member / (WEIGHT @ member)
    return share * (X - share @ X)


def of_slopes():
    rows = np.column_stack([np.ones(N), AGE])
    inverse = np.linalg.inv((rows * WEIGHT[:, None]).T @ rows)
    coefficients = inverse @ rows.T @ (WEIGHT * X)
    residual = WEIGHT * (X - rows @ coefficients)
    return coefficients, (rows * residual[:, None]) @ inverse


def test_linearised_errors_are_those_of_textbooks():
    survey = ESTIMATE.with_design(STRATIFIED)
    mean = survey.mean_interval()
    groups = survey.group_means(GROUP)
    coefficients, contributions = of_slopes()
    fit = survey.regress({"age": AGE})

    assert mean.estimate == pytest.approx(np.average(X, weights=WEIGHT))
    assert mean.standard_error**2 == pytest.approx(linearised(of_mean()), rel=1e-5)
    assert survey.total().standard_error ** 2 == pytest.approx(linearised(WEIGHT * X), rel=1e-5)
    for group in (0, 1):
        expected = linearised(of_mean(group == GROUP))
        assert groups[group].standard_error ** 2 == pytest.approx(expected, rel=1e-5)
    assert fit.estimate == pytest.approx(coefficients)
    expected = [linearised(column) for column in contributions.T]
    assert fit.standard_error**2 == pytest.approx(expected, rel=1e-5)


def test_degrees_of_freedom_are_clusters_less_strata():
    from scipy.stats import t

    survey = ESTIMATE.with_design(STRATIFIED)
    mean = survey.mean_interval()
    slope = survey.regress({"age": AGE})["age"]

    assert mean.high - mean.estimate == pytest.approx(t.ppf(0.975, 15) * mean.standard_error)
    assert slope.high - slope.estimate == pytest.approx(t.ppf(0.975, 14) * slope.standard_error)


def test_a_finite_population_by_stratum():
    sizes = {0: 12, 1: 6, 2: 60}
    design = cm.Design(weights=WEIGHT, clusters=CLUSTER, strata=STRATUM, population_size=sizes)

    found = ESTIMATE.with_design(design).mean_interval()

    expected = linearised(of_mean(), (0.5, 1.0, 0.1))
    assert found.standard_error**2 == pytest.approx(expected, rel=1e-5)


def test_records_within_strata():
    design = cm.Design(weights=WEIGHT, strata=STRATUM)
    contribution = of_mean()
    expected = sum(
        np.count_nonzero(h == STRATUM) * np.var(contribution[h == STRATUM], ddof=1)
        for h in range(3)
    )

    found = ESTIMATE.with_design(design).mean_interval()

    assert found.standard_error**2 == pytest.approx(expected, rel=1e-5)


def replicates(kind):
    """Replicate weights, the options of a design, and the factor of each replicate."""
    rng = np.random.default_rng(8)
    if kind == "bootstrap":
        drawn = np.array([np.bincount(rng.integers(0, 18, 18), minlength=18) for _ in range(30)])
        return WEIGHT[:, None] * drawn.T[UNIT], {"method": kind}, np.full(30, 1 / 30)
    if kind == "JK1":
        kept = np.where(UNIT[:, None] == np.arange(18), 0.0, 18 / 17)
        return WEIGHT[:, None] * kept, {"method": kind}, np.full(18, 17 / 18)
    if kind == "JKn":
        same = np.arange(18) // 6 == STRATUM[:, None]
        kept = np.where(same, 6 / 5, 1.0) * (UNIT[:, None] != np.arange(18))
        options = {"method": kind, "rscales": np.full(18, 5 / 6)}
        return WEIGHT[:, None] * kept, options, np.full(18, 5 / 6)
    half = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    first = np.where(CLUSTER < 3, 1, -1)[:, None]
    reach, options = (1.0, {}) if kind == "BRR" else (0.7, {"fay": 0.3})
    factors = 1.0 + reach * half[:, STRATUM].T * first
    return WEIGHT[:, None] * factors, {"method": kind} | options, np.full(4, 0.25 / reach**2)


@pytest.mark.parametrize("mse", [True, False])
@pytest.mark.parametrize("kind", ["bootstrap", "JK1", "JKn", "BRR", "Fay"])
def test_replicates_give_their_own_variance(kind, mse):
    weights, options, factors = replicates(kind)
    design = cm.Design(weights=WEIGHT, replicate_weights=weights, mse=mse, **options)
    survey = ESTIMATE.with_design(design)
    by_replicate = {
        "mean": [np.average(X, weights=w) for w in weights.T],
        "total": [w @ X for w in weights.T],
        "slope": [np.polyfit(AGE, X, 1, w=np.sqrt(w))[0] for w in weights.T],
    }
    full = {"mean": survey.mean_interval(), "total": survey.total()}
    full["slope"] = survey.regress({"age": AGE})["age"]

    for name, interval in full.items():
        middle = interval.estimate if mse else np.mean(by_replicate[name])
        expected = factors @ (np.array(by_replicate[name]) - middle) ** 2
        assert interval.standard_error**2 == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("kind", ["strata", "bootstrap", "JKn"])
def test_masking_is_counted_once(kind, donors):
    """The average of the variance about the population less that about the file is the variance of
    sampling, which the unmasked file gives. A false alarm in 10,000 runs of other seeds."""
    if kind == "strata":
        design = cm.Design(weights=WEIGHT, strata=STRATUM)
    else:
        weights, options, _ = replicates(kind)
        design = cm.Design(weights=WEIGHT, replicate_weights=weights, **options)
    scheme = cm.ConditionalMasking(0.1, 3.0, step=0, donors=donors)
    expected = ESTIMATE.with_design(design).mean_interval().standard_error ** 2
    rng = np.random.default_rng(3)
    sampled = []
    for _ in range(60):
        survey = scheme.estimate(scheme.mask(X, rng=rng, accept="all")).with_design(design)
        about = [survey.mean_interval(target=target) for target in ("population", "file")]
        sampled.append(about[0].standard_error ** 2 - about[1].standard_error ** 2)

    error = np.std(sampled, ddof=1) / np.sqrt(60)
    assert error < 0.1 * expected
    assert abs(np.mean(sampled) - expected) < 3.9 * error


def test_masked_values_are_no_sample_of_the_design():
    """What a package for surveys gives of the masked values is much too long, or too short."""
    weights, options, factors = replicates("bootstrap")
    design = cm.Design(weights=WEIGHT, replicate_weights=weights, **options)
    scheme = cm.ConditionalMasking(0.6, 4.0, step=0)
    z = scheme.mask(X, rng=np.random.default_rng(1), accept="all")
    estimate = scheme.estimate(z)
    pseudo = estimate.pseudo_values()
    naive = [np.average(pseudo, weights=w) for w in weights.T]
    error = np.sqrt(factors @ (naive - np.average(pseudo, weights=WEIGHT)) ** 2)

    found = estimate.with_design(design).mean_interval()

    assert found.standard_error < 0.8 * error
    file = estimate.with_design(design).mean_interval(target="file")
    assert file.standard_error < found.standard_error


def test_columns_by_name_of_a_file(tmp_path):
    frame = pd.DataFrame({"x": X, "w": WEIGHT, "psu": CLUSTER, "stratum": STRATUM, "age": AGE})
    weights, *_ = replicates("JK1")
    names = [f"rep{k}" for k in range(18)]
    frame = pd.concat([frame, pd.DataFrame(weights, columns=names)], axis=1)
    scheme = cm.ConditionalMasking(0.3, 4.0, step=0)
    release = cm.mask_table(frame, {"x": scheme}, rng=1, accept="all")
    release.write(tmp_path / "released.parquet", log=False)
    design = cm.Design(weights="w", clusters="psu", strata="stratum")
    again = cm.read_release(tmp_path / "released.parquet", design=design)
    of_replicates = cm.Design(weights="w", replicate_weights=names, method="JK1")
    by_name = cm.read_release(tmp_path / "released.parquet", "x", design=of_replicates)

    expected = release["x"].with_design(STRATIFIED)
    assert list(again) == ["x"]
    assert again["x"].mean_interval() == expected.mean_interval()
    assert again["x"].regress("age")["age"] == expected.regress({"age": AGE})["age"]
    same = cm.Design(weights=WEIGHT, replicate_weights=frame[names], method="JK1")
    assert by_name.total() == release["x"].with_design(same).total()


def test_records_that_miss_something_are_left_out():
    weights = WEIGHT.copy()
    weights[:7] = np.nan
    design = cm.Design(weights=weights, clusters=CLUSTER, strata=STRATUM)

    found = ESTIMATE.with_design(design).mean_interval()

    assert "7 of 600 records left out" in found.about
    assert found.estimate == pytest.approx(np.average(X[7:], weights=WEIGHT[7:]))


def test_statistics_without_a_design_are_refused():
    survey = ESTIMATE.with_design(STRATIFIED)

    with pytest.raises(AttributeError, match="gini_interval takes no design"):
        survey.gini_interval()


FRAME = pd.Series(WEIGHT, index=range(N))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a design must have one of weights, clusters, strata, replicate_weights"),
        ({"weights": -WEIGHT}, "weights must not be negative, got 600 that are"),
        ({"weights": np.zeros(N)}, "weights must not all be 0"),
        ({"weights": WEIGHT[1:]}, "weights must be as long as z, 600 values, got 599"),
        ({"clusters": np.zeros(N)}, "a design must have at least two clusters, got one"),
        (
            {"strata": STRATUM, "clusters": np.where(STRATUM == 1, 4, CLUSTER)},
            "strata must have at least two clusters each, got one in 1:",
        ),
        ({"strata": np.arange(N)}, "got one in 0, 1, 2, 3, 4 and 595 more"),
        ({"strata": STRATUM, "population_size": 900}, "population_size must be a dict by stratum"),
        ({"clusters": CLUSTER, "population_size": {1: 9}}, "must be a number where there are no"),
        (
            {"strata": STRATUM, "population_size": {0: 900, 1: 900}},
            "population_size must have the size of each stratum, it lacks 2",
        ),
        ({"clusters": UNIT, "population_size": 5}, "at least the number of sampled units, 18"),
        ({"weights": WEIGHT, "method": "BRR"}, "method must be left out where there are no"),
        ({"replicate_weights": np.ones((N, 4)), "method": "BRR"}, "weights must be given"),
        ({"weights": WEIGHT, "replicate_weights": np.ones((N, 4))}, "method must be one of"),
        (
            {"weights": WEIGHT, "replicate_weights": np.ones((9, 4)), "method": "JK1"},
            "a row for each of the 600 records, got 9 rows",
        ),
        (
            {"weights": WEIGHT, "replicate_weights": replicates("Fay")[0], "method": "BRR"},
            "pass method='Fay', fay=0.3",
        ),
        (
            {"weights": WEIGHT, "replicate_weights": replicates("Fay")[0], "method": "Fay"},
            "fay must be a number in .0, 1. with method='Fay', got None",
        ),
        (
            {"weights": WEIGHT, "replicate_weights": replicates("JKn")[0], "method": "JKn"},
            "rscales must be given with method='JKn'",
        ),
        (
            {
                "weights": WEIGHT,
                "replicate_weights": replicates("JK1")[0],
                "method": "JKn",
                "rscales": [0.5],
            },
            "rscales must have 18 numbers, one a replicate, got 1",
        ),
        (
            {"weights": WEIGHT, "replicate_weights": -np.ones((N, 4)), "method": "JK1"},
            "replicate_weights must not be negative",
        ),
        (
            {"weights": WEIGHT, "replicate_weights": np.zeros((N, 4)), "method": "JK1"},
            "replicate_weights must not be all 0, as in column 1",
        ),
        (
            {
                "weights": WEIGHT,
                "replicate_weights": np.ones((N, 4)),
                "method": "JK1",
                "clusters": UNIT,
            },
            "clusters must be left out with replicate_weights",
        ),
        ({"weights": "w"}, "only the estimates of a Release know columns by name"),
        ({"weights": FRAME, "strata": FRAME[::-1]}, "order"),
    ],
)
def test_bad_designs_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ESTIMATE.with_design(cm.Design(**options))


def test_a_group_without_weight_has_a_note():
    weights = np.where(GROUP == 1, 0.0, WEIGHT)

    found = ESTIMATE.with_design(cm.Design(weights=weights, strata=STRATUM)).group_means(GROUP)

    assert np.isnan(found[1].estimate)
    assert found[1].note == "no weight that is not 0"
    assert np.isfinite(found[0].standard_error)


def test_a_replicate_without_a_group_has_a_note():
    weights, options, _ = replicates("JK1")
    design = cm.Design(weights=WEIGHT, replicate_weights=weights, **options)

    found = ESTIMATE.with_design(design).group_means(UNIT == 3)

    assert found[True].estimate == pytest.approx(
        np.average(X[UNIT == 3], weights=WEIGHT[UNIT == 3])
    )
    assert found[True].note == "a replicate has no weight in it"
    assert np.isfinite(found[False].standard_error)


@pytest.mark.parametrize("kind", ["strata", "bootstrap"])
def test_groups_are_compared_under_the_design(kind):
    design = STRATIFIED
    if kind == "bootstrap":
        weights, options, factors = replicates(kind)
        design = cm.Design(weights=WEIGHT, replicate_weights=weights, **options)
        apart = [
            np.subtract(*(np.average(X[g == GROUP], weights=w[g == GROUP]) for g in (1, 0)))
            for w in [WEIGHT, *weights.T]
        ]
        expected = factors @ (np.array(apart[1:]) - apart[0]) ** 2
    else:
        expected = linearised(of_mean(GROUP == 1) - of_mean(GROUP == 0))
    means = ESTIMATE.with_design(design).group_means(GROUP)

    found = means.difference(1, 0)

    assert found.standard_error**2 == pytest.approx(expected, rel=1e-4)
    assert means.test(1, 0).degrees == {"strata": 15, "bootstrap": 17}[kind]
    fit = ESTIMATE.with_design(design).regress({"group": GROUP})
    assert fit["group"].standard_error == pytest.approx(found.standard_error, rel=1e-4)
    at_mean = fit.predict({"group": [1.0]})
    assert at_mean.standard_error[0] == pytest.approx(means[1].standard_error, rel=1e-4)


def test_distributions_take_weights_and_clusters():
    scheme = cm.ConditionalMasking(0.3, 4.0, step=0)
    estimate = scheme.estimate(scheme.mask(X, rng=1, accept="all"))
    survey = estimate.with_design(cm.Design(weights=WEIGHT, clusters=UNIT))
    given = {"clusters": UNIT}

    found = survey.quantile_interval([0.3, 0.5])
    expected = estimate.weighted_quantile(WEIGHT, [0.3, 0.5], **given)
    assert found.low == pytest.approx(expected.low)
    found = survey.cdf_interval(25.0)
    assert found == estimate.weighted_cdf(WEIGHT, 25.0, **given)
    found = survey.income_statistics("Gini")["Gini"]
    assert found == estimate.income_statistics("Gini", weights=WEIGHT, **given)["Gini"]
    found = survey.group_quantiles(GROUP, target="file")[1]
    assert found == estimate.group_quantiles(GROUP, weights=WEIGHT, target="file")[1]


def test_distributions_under_strata_are_refused():
    with pytest.raises(ValueError, match="cdf_interval must have a design of weights and cluste"):
        ESTIMATE.with_design(STRATIFIED).cdf_interval(20.0)
