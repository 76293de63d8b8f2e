"""Estimates from Dask frames against those of the same release on one machine, and of 40 digits."""

import pickle
import warnings

import dask
import numpy as np
import pandas as pd
import partitioned
import pytest
import reference
from partitioned import cut

import condmask as cm
from condmask.dask import estimate
from condmask.inference import parts

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]

N = 1_200
CUTS = [0, 90, 90, 91, 800, 1_199]  # empty partitions, and some of one row
REVERSE = {"reverse_mapping": True, "aggregate_ends": 3}
# donors or order, strata, whether values are missing, further parameters
KINDS = {
    "permutation": ({}, None, False),
    "sample": ({"donors": "sample"}, None, True),
    "strata": ({"donors": "sample"}, "region", False),
    "crossed": ({"donors": "permutation"}, ("region", "size"), True),
    "small": ({"small_strata": "merge"}, ("region", "rare"), True),
    "codes": ({"missing": -9.0}, "region", True),
    "mapped": (REVERSE, None, False),
    "mapped strata": (REVERSE, "region", True),
    "logarithms": ({**REVERSE, "scale": "log"}, None, True),
}
QUICK = ("codes", "mapped strata")  # the others say the same of other parameters
EACH = [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in KINDS]


def people(gaps):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"age": rng.uniform(20.0, 65.0, N), "tall": rng.random(N) < 0.4})
    frame["income"] = np.abs(1000.0 + 30.0 * frame["age"] + rng.normal(0.0, 200.0, N))
    frame["bonus"] = 0.2 * frame["income"] + rng.normal(0.0, 50.0, N) + 500.0
    frame["weight"] = rng.exponential(size=N)
    frame["region"] = rng.choice(["north", "south"], N)
    frame["size"] = rng.integers(1, 3, N)
    frame["rare"] = np.where(np.arange(N) % 90 == 5, np.arange(N) % 7, 9)
    frame["village"] = rng.integers(0, 40, N)
    frame["job"] = rng.choice(["clerk", "baker", None], N, p=[0.5, 0.4, 0.1])
    frame.loc[::17, "weight"], frame.loc[3::29, "age"] = np.nan, np.nan
    if gaps:
        frame.loc[::5, "income"], frame.loc[4::7, "bonus"] = np.nan, np.nan
    return frame


def releases(kind, **more):
    """The same release on one machine, and of a Dask frame."""
    options, strata, gaps = KINDS[kind]
    frame, options = people(gaps), {**options, **more}
    if "missing" in options:
        frame["income"] = frame["income"].fillna(-9.0)
    sigma = 0.3 if options.get("scale") == "log" else 200.0
    schemes = {
        "income": cm.ConditionalMasking(0.5, sigma, strata=strata, **options),
        "bonus": cm.ConditionalMasking(0.5, min(sigma, 60.0), strata=strata, **options),
    }
    release = cm.mask_table(frame, schemes, rng=3, nan_policy="omit", accept_visible_coins=True)
    return release, estimate(cut(release.data, CUTS), release)


def figures(interval):
    found = (interval.estimate, interval.standard_error, interval.low, interval.high)
    return np.concatenate([np.atleast_1d(np.asarray(each, dtype=float)) for each in found])


def linear(income, target):
    options = {"target": target}
    yield income.group_means("job", **options)
    yield income.group_means(["job", "rare", "region"], **options)
    yield income.group_means("job", weights="weight", **options)
    yield income.weighted_mean("weight", **options)
    yield income.total("weight", **options)
    yield income.regress(["age", "tall"], **options)
    yield income.covariance_interval("age", **options)
    if target == "population":
        yield income.group_means("job", clusters="village", population_size=10_000)
        yield income.total(clusters="village")
        yield income.regress("age", intercept=False, clusters="village")


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("kind", EACH)
def test_linear_statistics_are_those_of_one_machine(kind):
    here, there = releases(kind)

    for target in ("file", "population"):
        pairs = zip(linear(here["income"], target), linear(there["income"], target), strict=True)
        for expected, found in pairs:
            np.testing.assert_allclose(figures(found), figures(expected), rtol=1e-10)
            assert found.about == expected.about


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("kind", EACH)
def test_what_concerns_one_column_has_the_bits_of_one_machine(kind):
    here, there = releases(kind)
    expected, found = here["income"], there["income"]

    assert found.n == expected.n
    assert found.mean() == expected.mean()
    assert found.quantile([0.1, 0.5]).tolist() == expected.quantile([0.1, 0.5]).tolist()
    assert found.cdf([1500.0, 2500.0]).tolist() == expected.cdf([1500.0, 2500.0]).tolist()
    for target in ("file", "population"):
        for name, arguments in (("mean_interval", ()), ("std_interval", ()), ("quantile_interval", (0.3,))):
            one, other = (getattr(each, name)(*arguments, target=target) for each in (found, expected))
            assert figures(one).tolist() == figures(other).tolist()


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("kind", EACH)
def test_pairs_of_columns_are_those_of_one_machine(kind):
    here, there = releases(kind)

    for other in ("age", "bonus"):
        assert there["income"].covariance(other) == pytest.approx(here["income"].covariance(other), rel=1e-10)
        assert there["income"].correlation(other) == pytest.approx(
            here["income"].correlation(other), rel=1e-10
        )
        if other == "age" or not here.schemes["income"].reverse_mapping:
            expected, found = (each["income"].correlation_interval(other) for each in (here, there))
            # ends are looked for in steps of about 1e-8
            np.testing.assert_allclose(figures(found), figures(expected), rtol=1e-10, atol=1e-7)
            assert found.estimate == pytest.approx(expected.estimate, rel=1e-10)


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("kind", ["crossed", "codes", "mapped strata"])
def test_pseudo_values_are_a_series_of_dask(kind):
    here, there = releases(kind)
    series = there["income"].pseudo_values()

    np.testing.assert_allclose(series.compute(), here["income"].pseudo_values(), rtol=1e-10)
    assert (series.name, series.npartitions) == ("income", len(CUTS) + 1)


@pytest.mark.usefixtures("synchronous")
def test_spreads_are_those_of_one_machine():
    here, there = (release["income"].spreads() for release in releases("mapped strata"))

    assert list(there) == list(here)
    for number, spread in here.items():
        assert pytest.approx(spread.N, rel=1e-10) == there[number].N
        np.testing.assert_allclose(there[number].h, spread.h, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("ask", ["regress", "covariance_interval"])
def test_heavy_tails_of_a_column_are_warned_of_as_on_one_machine(ask):
    here, _ = releases("permutation")
    frame = here.data.assign(heavy=np.exp(2.0 * np.random.default_rng(8).normal(size=N)), rare=0.0)
    frame.loc[7, "rare"] = 1.0  # of two values, which have no tails
    alone = cm.Release(here._published, data=frame)["income"]
    there = estimate(cut(frame, CUTS), here)["income"]

    said = []
    for each in (alone, there):
        with pytest.warns(cm.EstimateWarning, match="heavy tails, of kurtosis") as caught:
            getattr(each, ask)("heavy")
        said.append([str(warning.message) for warning in caught])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            getattr(each, ask)("rare")
    assert said[0] == said[1]


@pytest.mark.usefixtures("synchronous")
def test_columns_that_nearly_determine_each_other_are_reflected():
    here, there = releases("strata")
    rng = np.random.default_rng(8)
    frame = here.data.assign(near=here.data["age"] + 1e-6 * rng.normal(size=N))
    alone = cm.Release(here._published, data=frame)

    expected = alone["income"].regress(["age", "near"])
    found = estimate(cut(frame, CUTS), here)["income"].regress(["age", "near"])

    # of a column of which 1e-7 is its own, rounding leaves 1e-9
    np.testing.assert_allclose(figures(found), figures(expected), rtol=1e-6)
    assert there["income"].regress("age")["age"].estimate != found["age"].estimate


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_linear_statistics_are_those_of_40_digits(donors, monkeypatch):
    monkeypatch.setattr(parts, "CHUNK", 7)
    rng, n = np.random.default_rng(7), 40
    pool, cluster, group = rng.integers(0, 2, n), rng.integers(0, 6, n), rng.integers(0, 2, n)
    a, weights = rng.normal(size=n), rng.gamma(1.0, 1.0, n)
    # rounding adds step^2 / 12 to the variance of the noise, 1e-13 of it
    scheme = cm.ConditionalMasking(0.4, 0.7, step=2.0**-20, donors=donors, strata="pool")
    z = np.rint((2.0 * a + rng.gamma(1.0, 1.0, n) + pool) * 2.0**20) / 2.0**20
    frame = pd.DataFrame({
        "z": z, "pool": pool, "cluster": cluster, "group": group, "a": a, "weight": weights
    })  # fmt: skip
    published = cm.mask_table(frame, {"z": scheme}, rng=1, accept_visible_coins=True, round=True)._published
    found = estimate(cut(frame, [3, 3, 20]), cm.Release(published))["z"]

    for target in ("file", "population"):
        exact = reference.LinearReference(z, pool, 0.4, 0.7, donors == "permutation")
        columns = np.array([np.ones(n), a, pool + weights])
        given = estimate(cut(frame.assign(b=pool + weights), [9]), cm.Release(published))["z"]
        coefficients = given.regress(["a", "b"], target=target)
        pairs = [
            *(
                (found.group_means("group", target=target)[k], exact.mean(group == k, target, group=True))
                for k in (0, 1)
            ),
            (found.weighted_mean("weight", target=target), exact.mean(weights, target)),
            (found.total("weight", target=target), exact.total(weights, target)),
            (found.covariance_interval("a", target=target), exact.covariance(a, target)),
            *(
                (coefficients[k], pair)
                for k, pair in zip(
                    coefficients,
                    zip(*exact.regression(columns, np.ones(n, dtype=bool), target), strict=True),
                    strict=True,
                )
            ),
        ]
        for interval, (value, error) in pairs:
            assert abs(float(interval.estimate - value)) < 1e-15 * abs(float(value)) + 1e-8 * float(error)
            assert interval.standard_error == pytest.approx(float(error), rel=1e-8)


def test_workers_give_the_bits_of_one_process(client, synchronous):
    def found():
        _, there = releases("crossed")
        income = there["income"]
        slopes, means = income.regress(["age", "tall"]), income.group_means("job", clusters="village")
        means_weighted = income.group_means("job", weights="weight")
        return [*figures(slopes), *figures(means), *figures(means_weighted), *income.quantile([0.2, 0.8])]

    expected = found()
    with dask.config.set(scheduler=client):
        assert found() == expected


@pytest.mark.usefixtures("synchronous")
def test_no_column_comes_to_the_client(monkeypatch):
    from condmask.dask import columns, counting, tree

    sizes, n = [], 20_000

    def noted(*arguments):
        found = tree.reduced(*arguments)
        sizes.append(len(columns.travelling(found)[0]))
        return found

    for module in (columns, counting):
        monkeypatch.setattr(module, "reduced", noted)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"z": rng.normal(size=n), "age": rng.normal(size=n), "group": rng.integers(0, 5, n)})
    release = cm.mask_table(frame, {"z": cm.ConditionalMasking(0.5, 1.0, decimals=1)}, rng=1, round=True)
    found = estimate(cut(release.data, [0, 5_000]), release)["z"]

    found.regress("age")
    found.group_means("group")
    found.covariance_interval("age")
    found.median()

    assert len(sizes) > 10
    assert max(sizes) < n


@pytest.mark.usefixtures("synchronous")
def test_beyond_most_points_quantiles_are_rounded_and_sums_are_not():
    here, _ = releases("mapped")
    found = estimate(cut(here.data, CUTS), here, most_points=50)["income"]
    width = found._sample._width

    assert width > 1.0
    assert found.median() != here["income"].median()
    assert abs(found.median() - here["income"].median()) <= 0.5 * width
    assert found.covariance("age") == pytest.approx(here["income"].covariance("age"), rel=1e-10)


@pytest.mark.usefixtures("synchronous")
def test_a_release_on_disk_tells_what_was_published(tmp_path):
    here, _ = releases("permutation")
    here.write(tmp_path / "a.parquet", ledger=False)

    found = estimate(cut(here.data, CUTS), tmp_path / "a.parquet")

    assert list(found) == ["income", "bonus"]
    assert found["income"].median() == here["income"].median()


@pytest.mark.usefixtures("synchronous")
def test_what_cannot_be_had_is_refused():
    here, there = releases("strata")
    data, income = cut(here.data, CUTS), there["income"]

    with pytest.raises(TypeError, match="ddf must be a data frame of Dask, got DataFrame"):
        estimate(here.data, here)
    with pytest.raises(TypeError, match="release must be a Release or the path of one, got dict"):
        estimate(data, {})
    with pytest.raises(TypeError, match=r"^path must be a path, got 'a\\x00b'$"):
        estimate(data, "a\0b")
    with pytest.raises(ValueError, match="must have a scheme with a grid, or with reverse mapping"):
        releases("permutation", step=0)[1]["income"]
    with pytest.raises(ValueError, match="z must be in memory or in a file for a part of them, got a frame"):
        income.part(np.ones(N, dtype=bool))
    with pytest.raises(ValueError, match="ddf must have the column 'height', it has"):
        income.covariance("height")
    with pytest.raises(ValueError, match="ddf must have the column 'region', it has"):
        estimate(data[["income", "bonus"]], here)["income"]
    with pytest.raises(TypeError, match="labels must be the name of a column that the frame has, got ndarr"):
        income.group_means(np.zeros(N))
    with pytest.raises(TypeError, match="other must be the name of a column that the frame has, got Series"):
        income.correlation(data["age"])
    with pytest.raises(TypeError, match="W must be the name of a column that the frame has, got Series"):
        income.regress({"age": here.data["age"]})
    with pytest.raises(TypeError, match="W must hold numbers"):
        income.regress(["age", "region"])
    frame = here.data.assign(weight=np.where(np.arange(N) == 650, -9.0, 1.0))
    negative = estimate(cut(frame, CUTS), here)["income"]
    with pytest.raises(ValueError, match="weights must not be negative, got -9"):
        negative.weighted_mean("weight")


@pytest.mark.usefixtures("synchronous")
def test_a_release_of_dask_has_estimates_itself():
    one, many = partitioned.released(partitioned.people(1_000), cuts=[0, 300, 301])

    assert many["income"].median() == one["income"].median()
    assert many["income"].covariance("age") == pytest.approx(one["income"].covariance("age"), rel=1e-10)
    assert list(pickle.loads(pickle.dumps(many))) == ["income", "bonus"]
    with pytest.raises(TypeError, match="estimates of a Dask frame cannot be pickled: make them again with"):
        pickle.dumps(many["income"]._records)


@pytest.mark.usefixtures("synchronous")
def test_a_part_of_the_records_is_warned_of():
    here, _ = releases("permutation")

    with pytest.warns(cm.EstimateWarning, match="income has 600 records, and the release 1200"):
        estimate(cut(here.data.iloc[:600], [200]), here)["income"]
