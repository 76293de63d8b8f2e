"""Regressions by a formula.

Oracles: `Estimate.regress` and `Release.regress` of columns that the test makes itself; with
hardly any masking, least squares by NumPy; formulaic's own names. Fixed seeds.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import condmask as cm

pytest.importorskip("formulaic")
pytestmark = pytest.mark.filterwarnings(
    "ignore:heavy tails:condmask.EstimateWarning",
    "ignore:pseudo-values vary:condmask.EstimateWarning",
    "ignore::condmask.ReleaseWarning",
)
N = 1_000
RNG = np.random.default_rng(1)
AGE = RNG.integers(20, 65, N)
REGION = RNG.choice(["north", "south", "west"], N)
SEX = RNG.choice(["f", "m"], N)
INCOME = np.exp(6.0 + 0.02 * AGE + 0.2 * (SEX == "m") + RNG.normal(0.0, 0.4, N))
SPENDING = 100.0 + 0.5 * INCOME + RNG.normal(0.0, 100.0, N)
TABLE = pd.DataFrame(
    {"income": INCOME, "age": AGE, "region": REGION, "sex": SEX, "spending": SPENDING}
)
REVERSE = cm.ReverseMapping(0.5, 0.3, scale="log")
NOISE = cm.ConditionalMasking(0.5, 200.0)


def release_of(table, scheme=REVERSE, **options):
    return cm.mask_table(table, {"income": scheme}, rng=2, accept="all", **options)


@pytest.mark.parametrize("scheme", [REVERSE, NOISE], ids=["reverse", "noise"])
@pytest.mark.parametrize("target", ["population", "file"])
def test_a_formula_is_the_regression_on_its_columns(scheme, target):
    release = release_of(TABLE, scheme)
    south, west, male = REGION == "south", REGION == "west", SEX == "m"
    by_hand = {
        "C(region)[T.south]": south,
        "C(region)[T.west]": west,
        "sex[T.m]": male,
        "age": AGE,
        "C(region)[T.south]:sex[T.m]": south & male,
        "C(region)[T.west]:sex[T.m]": west & male,
    }
    expected = release["income"].regress(by_hand, target=target)
    found = release.regress("income ~ C(region) * sex + age", target=target)
    assert {*found} == {*expected}
    for name in expected:
        assert found[name].estimate == pytest.approx(expected[name].estimate, rel=1e-9)
        assert found[name].standard_error == pytest.approx(expected[name].standard_error, rel=1e-7)


def test_the_logarithm_of_a_masked_outcome():
    release = release_of(TABLE)
    expected = release["income"].map(np.log).regress({"age": AGE})
    for text in ("log(income) ~ age", "np.log(income) ~ age"):
        assert release.regress(text)["age"].estimate == pytest.approx(expected["age"].estimate)
    with pytest.raises(ValueError, match="needs reverse mapping"):
        release_of(TABLE, NOISE).regress("log(income) ~ age")


def test_a_masked_regressor_and_a_function_of_it():
    release = release_of(TABLE)
    expected = release.regress("spending", on=["income", "age"])
    found = release.regress("spending ~ income + age")
    for name in ("intercept", "income", "age"):
        assert found[name].estimate == pytest.approx(expected[name].estimate, rel=1e-9)
        assert found[name].low == pytest.approx(expected[name].low, rel=1e-6)
    # hardly any masking: the least squares of the originals
    weak = release_of(TABLE, cm.ReverseMapping(0.05, 1e-4, scale="log"))
    slopes = weak.regress("log(spending) ~ log(income) + age", target="file")
    columns = np.column_stack([np.ones(N), np.log(INCOME), AGE])
    exact = np.linalg.lstsq(columns, np.log(SPENDING), rcond=None)[0]
    for name, truth in zip(["intercept", "log(income)", "age"], exact, strict=True):
        assert slopes[name].low < truth < slopes[name].high


def test_small_integers_do_not_wrap():
    """100 times 100 is 16 in 8 bits."""
    small = TABLE.assign(a=np.int8(100), b=AGE.astype(np.int8))
    small["a"] = np.where(SEX == "m", 100, 90).astype(np.int8)
    release = release_of(small)
    product = small["a"].astype(float) * small["b"].astype(float)
    expected = release["income"].regress({"a:b": product})
    assert release.regress("income ~ a:b")["a:b"].estimate == pytest.approx(
        expected["a:b"].estimate
    )


@pytest.mark.parametrize("container", ["pandas", "polars", "file"])
def test_gaps_leave_records_out_wherever_they_are(container, tmp_path):
    region = REGION.astype(object)
    region[::7] = None
    age = AGE.astype(float)
    age[::11] = np.nan
    table = TABLE.assign(region=region, age=age)
    if container == "polars":
        table = pl.from_pandas(table).with_columns(
            pl.when(pl.int_range(pl.len()) % 13 == 0)
            .then(None)
            .otherwise(pl.col("age"))
            .alias("age")
        )
        age[::13] = np.nan
    release = release_of(table)
    if container == "file":
        release.write(tmp_path / "released.parquet", log=False)
        release = cm.read_release(tmp_path / "released.parquet")
    kept = ~np.isnan(age) & (region != None)  # noqa: E711 - elementwise
    scaled = (age - age[kept].mean()) / age[kept].std(ddof=1)
    south = np.where(kept, region == "south", np.nan)
    west = np.where(kept, region == "west", np.nan)
    expected = release["income"].regress({"s": scaled, "south": south, "west": west})
    found = release.regress("income ~ scale(age) + region")
    pairs = {"scale(age)": "s", "region[T.south]": "south", "region[T.west]": "west"}
    for name, own in pairs.items():
        assert found[name].estimate == pytest.approx(expected[own].estimate, rel=1e-9)
        assert found.records[0] == kept.sum()


def test_decimals_are_numbers_and_categories_keep_their_order():
    order = pd.CategoricalDtype(["west", "north", "south"])
    table = TABLE.assign(
        price=[Decimal(int(a)) / 10 for a in AGE], region=pd.Series(REGION, dtype=order)
    )
    release = release_of(table)
    assert release.regress("income ~ price").names == ["intercept", "price"]
    names = release.regress("income ~ region").names
    assert names == ["intercept", "region[T.north]", "region[T.south]"]
    whole = release.regress("income ~ C(age20)", data={"age20": AGE // 20})
    assert whole.names == ["intercept", "C(age20)[T.2]", "C(age20)[T.3]"]


def test_the_constant_and_weights():
    release = release_of(TABLE)
    without = release.regress("income ~ 0 + sex")
    assert without.names == ["sex[f]", "sex[m]"]
    means = release["income"].group_means(SEX)
    assert without["sex[m]"].estimate == pytest.approx(means["m"].estimate, rel=1e-6)
    weights = np.where(SEX == "m", 1.0, 3.0)
    village = np.arange(N) // 5
    weighted = release.regress("income ~ age", weights=weights, clusters=village)
    design = cm.Design(weights=weights, clusters=village)
    expected = release["income"].with_design(design).regress({"age": AGE})
    assert weighted["age"].estimate == pytest.approx(expected["age"].estimate)
    assert weighted["age"].standard_error == pytest.approx(expected["age"].standard_error)
    clustered = release.regress("income ~ age", clusters=village)["age"].standard_error
    expected = release["income"].regress({"age": AGE}, clusters=village)
    assert clustered == pytest.approx(expected["age"].standard_error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("income ~ income", "once, got 'income' twice"),
        ("income ~ age + log(income)", "once, got 'income' twice"),
        ("spending ~ income:age", "a term by itself"),
        ("spending ~ 0 + income", "must have a constant"),
        ("spending ~ scale(income)", "each value by itself"),
        ("spending ~ age", "must have a masked column"),
        ("income ~ 1", "mean_interval"),
        ("income + age ~ sex", "one outcome"),
        ("income ~ (", "one of formulaic"),
        ("income ~ nothing", "nothing"),
        ("income ~ log(age - 20)", r"log\(age - 20\) must be finite, got \d+ of 1,000"),
        ("region ~ income", "outcome of numbers"),
        ("income ~ age + I(2 * age)", "determined by"),
    ],
)
def test_formulas_without_an_answer_are_refused(text, message):
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        release_of(TABLE).regress(text)


def test_other_arguments_fit_the_formula():
    release = release_of(TABLE)
    with pytest.raises(ValueError, match="weights must be left out"):
        release.regress("spending ~ income", weights=np.ones(N))
    with pytest.raises(ValueError, match="left out without a formula"):
        release.regress("spending", on="income", weights=np.ones(N))
    with pytest.raises(ValueError, match="q must be as long as the release, 1000 values, got 3"):
        release.regress("income ~ q", data={"q": np.ones(3)})


def test_matrices_of_formulas_are_taken_with_their_names():
    """Two-sided, sparse and patsy's; their constant is the one that the regression has."""
    formulaic = pytest.importorskip("formulaic")
    income = release_of(TABLE)["income"]
    south, west = REGION == "south", REGION == "west"
    expected = income.regress({"region[T.south]": south, "region[T.west]": west, "age": AGE})
    right = formulaic.model_matrix("region + age", TABLE)
    two = formulaic.model_matrix("spending ~ region + age", TABLE)
    sparse = formulaic.model_matrix("region + age", TABLE, output="sparse")
    for matrix in (right, two, sparse):
        found = income.regress(matrix)
        assert {*found} == {*expected}
        for name in expected:
            assert found[name].estimate == pytest.approx(expected[name].estimate, rel=1e-9)
    without = income.regress(formulaic.model_matrix("0 + sex", TABLE), intercept=False)
    assert without.names == ["sex[f]", "sex[m]"]
    patsy = pytest.importorskip("patsy")
    for matrix in (patsy.dmatrix("region + age", TABLE), patsy.dmatrices("spending ~ age", TABLE)):
        names = income.regress(matrix).names
        assert names in (["intercept", "age"], [*expected])
