"""Parts of a release. Oracle: a stratum is a release of its own; the texts of what cannot be had."""

from dataclasses import replace

import numpy as np
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

REGION = np.random.default_rng(1).integers(0, 3, 900)
X = np.round(np.random.default_rng(2).normal(10.0 * REGION, 4.0), 1)
SCHEME = cm.ConditionalMasking(0.6, 3.0, decimals=1, strata="region")
Z = SCHEME.mask(X, strata=REGION, rng=3, accept_visible_coins=True)
ROWS = REGION != 1


@pytest.fixture(scope="session")
def estimate():
    return SCHEME.estimate(Z, strata=REGION)


def test_whole_strata_are_a_release_of_their_own(estimate):
    part, alone = estimate.part(ROWS), SCHEME.estimate(Z[ROWS], strata=REGION[ROWS])
    t, q, w = [0.0, 12.0], [0.2, 0.5], REGION[ROWS] + 0.1 * X[ROWS]

    assert part.n == np.count_nonzero(ROWS)
    for of in (
        lambda e: e.cdf(t), lambda e: e.quantile(q), lambda e: e.cdf_interval(t), lambda e: e.mean_interval(),
        lambda e: e.correlation_interval(w), lambda e: e.cdf_band(rng=1).low, lambda e: e.pseudo_values(),
    ):  # fmt: skip
        found, expected = of(part), of(alone)
        if isinstance(expected, tuple):
            assert found.about == expected.about
            found, expected = found[:4], expected[:4]
        assert np.array_equal(found, expected)


def test_missing_values_and_single_precision_and_batches_and_added_noise():
    gaps = np.where(np.arange(900) % 7 == 0, np.nan, Z)
    estimate = SCHEME.estimate(gaps, strata=REGION)
    kept = ROWS & ~np.isnan(gaps)
    assert estimate.part(ROWS).cdf(5.0) == SCHEME.estimate(gaps[kept], strata=REGION[kept]).cdf(5.0)

    single = SCHEME.estimate(Z.astype(np.float32), strata=REGION)
    assert single.part(ROWS).quantile(0.5) == SCHEME.estimate(Z, strata=REGION).part(ROWS).quantile(0.5)

    batch = SCHEME.estimate(np.array([Z, Z[::-1]]), strata=np.zeros(900))
    assert np.array_equal(batch.part(np.ones(900, dtype=bool)).cdf([5.0]), batch.cdf([5.0]))

    noise = cm.AdditiveNoise(3.0)  # has no donors, so that all parts are alike
    first = np.arange(900) < 100
    assert noise.estimate(Z).part(first).mean() == noise.estimate(Z[first]).mean()
    scheme = cm.ConditionalMasking(0.5, 0.3, step=0.0, strata="s")
    assert scheme.estimate(np.exp(Z / 20.0), strata=REGION).part(ROWS).n == np.count_nonzero(ROWS)


@pytest.mark.parametrize("kind", ["memory", "parquet", "csv"])
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_parts_are_named_by_their_labels(kind, tmp_path):
    scheme = replace(SCHEME, strata=("region", "sex"))
    sex = np.where(np.arange(900) % 2 == 0, "f", "m")
    release = cm.mask_table({"x": X, "region": REGION, "sex": sex}, {"x": scheme}, accept_visible_coins=True)
    estimate = release["x"]
    if kind != "memory":
        release.write(tmp_path / f"a.{kind}", log=False)
        estimate = cm.read_release(tmp_path / f"a.{kind}", "x")

    part, rows = estimate.part({"region": 2, "sex": "f"}), (REGION == 2) & (sex == "f")

    assert (part.n, part.origin) == (np.count_nonzero(rows), estimate.origin)
    assert part.mean() == estimate.part(rows).mean()
    assert estimate.part({"sex": "m"}).n == 450
    assert estimate.part({"region": [1, 2], "sex": ["f", "m"]}).n == np.count_nonzero(np.isin(REGION, (1, 2)))
    with pytest.raises(ValueError, match=r"^rows must be labels that occur in 'sex', got 'x'$"):
        estimate.part({"sex": "x"})


SMALL = SCHEME.estimate(Z[:10], strata=[0, 0, 0, 0, 0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("whole", [0, 6])
@pytest.mark.parametrize("inside", range(1, 4))
def test_a_stratum_of_which_any_number_but_all_is_chosen_is_refused(whole, inside):
    # of six and four records: one, two or three of the four, beside none or all of the six
    rows = (np.arange(10) < whole) | ((np.arange(10) >= 6) & (np.arange(10) < 6 + inside))

    with pytest.raises(ValueError, match=r"^rows must be whole strata, .* got parts of 1 of them: "):
        SMALL.part(rows)
    assert SMALL.part(np.arange(10) >= 6).n == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SMALL.part(np.isin(np.arange(10), [5, 6])),
            "rows must be whole strata, .* parts of 2 of them",
        ),
        (lambda: SCHEME.estimate(Z[:10]).part(np.arange(10) < 5), "strata must be given: the scheme names"),
        (lambda: SMALL.part([0, 1] * 5), "rows must be True or False for each record, 10 in all, or labels"),
        (lambda: SMALL.part({"region": 1}), "rows must be a column, got 'region': only the estimates of a"),
        (lambda: SMALL.part(np.zeros(10, dtype=bool)), "z must have at least 2 values, got 0"),
        (lambda: SCHEME.estimate([1.0, np.nan, 2.0], nan_policy="raise"), "z has 1 missing value"),
        (lambda: SMALL.moment_interval(86), "order must be at most 85, beyond which powers of the noise"),
        (lambda: SMALL.cdf(0.0, method="sum"), "method must be one of 'auto', 'series', got 'sum'"),
        (lambda: SMALL.quantile(0.5, crossing="last"), "crossing must be one of 'first', 'rearranged', got"),
        (lambda: SCHEME.estimate(Z, strata=Z, patterns={"y": [1.0, 2.0]}), "patterns must be as long as z"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
