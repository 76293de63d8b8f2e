"""Parts of a release, and covariances by donor pools: crossed strata, merged ones, patterns of
gaps.

Oracles: a stratum is a release of its own; the mean of each masked value given the file, by the
pools of tests/reference.py, from which undoing must give back the original.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import reference
from scheme_classes import conditional_or_mapped

import condmask as cm
from condmask.estimates.from_values import estimate_parts
from condmask.linear.records import Records

pytestmark = pytest.mark.usefixtures("unaudited")

POOL = np.random.default_rng(1).integers(0, 3, 900)
X = np.round(np.random.default_rng(2).normal(10.0 * POOL, 4.0), 1)
SCHEME = cm.ConditionalMasking(0.6, 3.0, decimals=1, strata="region")
Z = SCHEME.mask(X, strata=POOL, rng=3, accept="all")
ROWS = POOL != 1


@pytest.fixture(scope="session")
def estimate():
    return SCHEME.estimate(Z, strata=POOL)


def test_whole_strata_are_a_release_of_their_own(estimate):
    part = estimate.part(ROWS)
    alone = SCHEME.estimate(Z[ROWS], strata=POOL[ROWS])
    t = [0.0, 12.0]
    q = [0.2, 0.5]
    w = POOL[ROWS] + 0.1 * X[ROWS]

    assert part.n == np.count_nonzero(ROWS)
    for of in (
        lambda e: e.cdf(t),
        lambda e: e.quantile(q),
        lambda e: e.cdf_interval(t),
        lambda e: e.mean_interval(),
        lambda e: e.correlation_interval(w),
        lambda e: e.cdf_band(rng=1).low,
        lambda e: e.pseudo_values(),
    ):
        found = of(part)
        expected = of(alone)
        if isinstance(expected, tuple):
            assert found.about == expected.about
            found = found[:4]
            expected = expected[:4]
        assert np.array_equal(found, expected)


def test_missing_values_and_single_precision_and_batches_and_added_noise():
    gaps = np.where(np.arange(900) % 7 == 0, np.nan, Z)
    estimate = SCHEME.estimate(gaps, strata=POOL)
    kept = ROWS & ~np.isnan(gaps)
    assert estimate.part(ROWS).cdf(5.0) == SCHEME.estimate(gaps[kept], strata=POOL[kept]).cdf(5.0)

    single = SCHEME.estimate(Z.astype(np.float32), strata=POOL)
    assert single.part(ROWS).quantile(0.5) == SCHEME.estimate(Z, strata=POOL).part(ROWS).quantile(
        0.5
    )

    batch = SCHEME.estimate(np.array([Z, Z[::-1]]), strata=np.zeros(900))
    assert np.array_equal(batch.part(np.ones(900, dtype=bool)).cdf([5.0]), batch.cdf([5.0]))

    noise = cm.AdditiveNoise(3.0)  # has no donors, so that all parts are alike
    first = np.arange(900) < 100
    assert noise.estimate(Z).part(first).mean() == noise.estimate(Z[first]).mean()
    scheme = cm.ConditionalMasking(0.5, 0.3, step=0.0, strata="s")
    assert scheme.estimate(np.exp(Z / 20.0), strata=POOL).part(ROWS).n == np.count_nonzero(ROWS)


@pytest.mark.parametrize("kind", ["memory", "parquet", "csv"])
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_parts_are_named_by_their_labels(kind, tmp_path):
    scheme = replace(SCHEME, strata=("region", "sex"))
    sex = np.where(np.arange(900) % 2 == 0, "f", "m")
    release = cm.mask_table({"x": X, "region": POOL, "sex": sex}, {"x": scheme}, accept="all")
    estimate = release["x"]
    if kind != "memory":
        release.write(tmp_path / f"a.{kind}", log=False)
        estimate = cm.read_release(tmp_path / f"a.{kind}", "x")

    part = estimate.part({"region": 2, "sex": "f"})
    rows = (POOL == 2) & (sex == "f")

    assert (part.n, part.origin) == (np.count_nonzero(rows), estimate.origin)
    with pytest.raises(ValueError, match="other must be another column, got 'x' itself"):
        part.covariance(part)
    assert part.mean() == estimate.part(rows).mean()
    assert estimate.part({"sex": "m"}).n == 450
    assert estimate.part({"region": [1, 2], "sex": ["f", "m"]}).n == np.count_nonzero(
        np.isin(POOL, (1, 2))
    )
    with pytest.raises(ValueError, match=r"^rows must be labels that occur in 'sex', got 'x'$"):
        estimate.part({"sex": "x"})


SMALL = SCHEME.estimate(Z[:10], strata=[0, 0, 0, 0, 0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("whole", [0, 6])
@pytest.mark.parametrize("inside", range(1, 4))
def test_a_stratum_of_which_any_number_but_all_is_chosen_is_refused(whole, inside):
    # of six and four records: one, two or three of the four, beside none or all of the six
    rows = (np.arange(10) < whole) | ((np.arange(10) >= 6) & (np.arange(10) < 6 + inside))

    with pytest.raises(
        ValueError,
        match=r"^rows must select whole strata, .*; 1 of the strata are selected only in part: ",
    ):
        SMALL.part(rows)
    assert SMALL.part(np.arange(10) >= 6).n == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SMALL.part(np.isin(np.arange(10), [5, 6])),
            "rows must select whole strata, .*; 2 of the strata are selected only in part",
        ),
        (
            lambda: SCHEME.estimate(Z[:10]).part(np.arange(10) < 5),
            "strata must be given: the scheme names",
        ),
        (
            lambda: SMALL.part([0, 1] * 5),
            "rows must be True or False for each record, 10 in all, or labels",
        ),
        (
            lambda: SMALL.part({"region": 1}),
            "rows must be a column, got 'region': only the estimates of a",
        ),
        (lambda: SMALL.part(np.zeros(10, dtype=bool)), "z must have at least 2 values, got 0"),
        (lambda: SCHEME.estimate([1.0, np.nan, 2.0], nan_policy="raise"), "z has 1 missing value"),
        (
            lambda: SMALL.moment_interval(86),
            "order must be at most 85, beyond which powers of the noise",
        ),
        (
            lambda: SMALL.cdf(0.0, method="sum"),
            "method must be one of 'auto', 'series', got 'sum'",
        ),
        (
            lambda: SMALL.quantile(0.5, crossing="last"),
            "crossing must be one of 'first', 'rearranged', got",
        ),
        (
            lambda: SCHEME.estimate(Z, strata=Z, patterns={"y": [1.0, 2.0]}),
            "patterns must be as long as z",
        ),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


RNG = np.random.default_rng(51)
N = 300
W = RNG.normal(size=N)
A = 2.0 * W + RNG.normal(size=N)
B = RNG.normal(size=N)
REGION = np.where(W < -0.8, "n", np.where(W < -0.5, "s", "w"))  # pools differ in their means
SEX = np.arange(N) % 3
GAPS = {"a": np.where(W > 1.0, np.nan, A), "b": np.where((W < 0.2) & (W > -0.7), np.nan, B)}


def expected(columns, strata, p):
    """The mean of the masked values of the first column."""
    pool = reference.pools(columns, strata)
    x = columns[0]
    members = {}
    for row, own in enumerate(pool):
        members.setdefault(own, []).append(row)
    found = np.full(N, np.nan)
    for row in np.flatnonzero(~np.isnan(x)):
        others = [x[other] for other in members[pool[row]] if other != row]
        found[row] = (1 - p) * x[row] + p * np.mean(others)
    return found


CROSSED = ("region", "sex")
CASES = [  # without merging only what no mask would refuse
    (names, small, gaps)
    for names in ("region", CROSSED)
    for small in ("refuse", "merge")
    for gaps in (False, True)
    if (names, small, gaps) != (CROSSED, "refuse", True)
]


@pytest.mark.parametrize("p", [0.3, 0.6])
@pytest.mark.parametrize(("names", "small", "gaps"), CASES)
def test_what_masking_leaves_of_a_covariance_is_undone_exactly(names, small, gaps, p):
    columns = [GAPS["a"], GAPS["b"]] if gaps else [A, B]
    labels = (
        REGION.tolist()
        if names == "region"
        else list(zip(REGION.tolist(), SEX.tolist(), strict=True))
    )
    pools = reference.merged_strata(columns, labels) if small == "merge" else labels
    if small == "merge":
        pools = [row if own is None else own for row, own in enumerate(pools)]
        # some are small, but with all gaps where one region is enough
        assert (len(set(pools)) < len(set(reference.pools(columns, labels)))) == (
            names != "region" or gaps
        )
    scheme = cm.ConditionalMasking(p, 1.0, step=0, strata=names, small_strata=small)
    table = {"region": REGION, "sex": SEX}
    patterns = {"a": columns[0], "b": columns[1]} if gaps else None

    estimate = scheme.estimate(expected(columns, pools, p), strata=table, patterns=patterns)

    there = ~np.isnan(columns[0])
    exact = np.cov(columns[0][there], W[there])[0, 1]
    # by rounding alone: 300 terms, divided by f > .2
    assert estimate.covariance(W) == pytest.approx(exact, rel=1e-12)


def test_other_strata_than_those_of_the_donors_would_mislead():
    # the correlation is .258, and .446 where the strata are left out: so they cannot be
    rng = np.random.default_rng(52)
    n = 40_000
    strata = rng.integers(0, 2, n)
    x = rng.normal(size=n) + 2.0 * strata
    w = rng.normal(size=n)
    w += 0.2 * x - 0.02 * strata
    scheme = cm.ConditionalMasking(0.6, 0.5, strata="region")
    z = scheme.mask(x, strata=strata, rng=1)

    right = scheme.estimate(z, strata=strata).correlation(w)

    # its standard error is .009; the seed is fixed
    assert abs(right - np.corrcoef(x, w)[0, 1]) < 0.06
    plain = cm.ConditionalMasking(0.6, 0.5)
    with pytest.raises(ValueError, match=r"^strata must be left out"):
        plain.estimate(z, strata=strata)
    with pytest.raises(ValueError, match=r"^strata must be given"):
        scheme.estimate(z).correlation(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(scheme.estimate(z).quantile(0.5))  # nothing else needs them


@pytest.mark.parametrize("options", [{"step": 0}, {"decimals": 1}, {"reverse_mapping": True}])
def test_values_that_come_part_by_part_are_those_that_come_at_once(options):
    scheme = conditional_or_mapped(0.6, 1.0, **options)
    z = A.round(1)
    z[::7] = np.nan

    found = estimate_parts(
        scheme, lambda: ((part, "float64") for part in np.split(z, 3)), Records(z)
    )

    assert found.n == np.count_nonzero(~np.isnan(z))
    assert str(found.summary()) == str(scheme.estimate(z).summary())
