"""Parts of a release. Oracle: a stratum is a release of its own; the texts of what cannot be had."""

import re
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


@pytest.fixture(scope="module")
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


def test_missing_values_and_batches_and_added_noise():
    gaps = np.where(np.arange(900) % 7 == 0, np.nan, Z)
    estimate = SCHEME.estimate(gaps, strata=REGION)
    kept = ROWS & ~np.isnan(gaps)
    assert estimate.part(ROWS).cdf(5.0) == SCHEME.estimate(gaps[kept], strata=REGION[kept]).cdf(5.0)

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

    assert part.n == np.count_nonzero(rows)
    assert part.mean() == estimate.part(rows).mean()
    assert estimate.part({"sex": "m"}).n == 450
    with pytest.raises(
        ValueError, match=r"^rows must be labels that occur, got 'x' for 'sex', which has 'f', 'm'$"
    ):
        estimate.part({"sex": "x"})


SMALL = SCHEME.estimate(Z[:10], strata=[0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
HALF = np.arange(10) < 5
CANNOT = (
    ": swapped records show values from anywhere in their stratum, and the noise of the others cannot be "
    "undone. For such parts only means are available: group_means, weighted_mean, regress"
)
NO_PAIRS = "z must be masked values for statistics of two columns, got Counts, which keep no pairs"


def summary():
    scheme = cm.ConditionalMasking(0.6, 3.0, decimals=1)
    found = cm.Counts(scheme)
    found.update(Z)
    return scheme.estimate(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SMALL.part(HALF),
            "rows must be whole strata, within which donors were drawn, got parts of 1 of them" + CANNOT,
        ),
        (
            lambda: cm.ConditionalMasking(0.6, 3.0, decimals=1).estimate(Z[:10]).part(HALF),
            "rows must be whole strata, within which donors were drawn, got parts of 1 of them" + CANNOT,
        ),
        (
            lambda: SCHEME.estimate(Z[:10]).part(HALF),
            "strata must be given: donors were drawn within 'region', so pass that column to estimate()",
        ),
        (
            lambda: SMALL.part([0, 1]),
            "rows must be True or False for each record, 10 in all, or labels by column, got [0, 1]",
        ),
        (
            lambda: SMALL.part({"region": 1}),
            "rows must be a column, got 'region': only the estimates of a Release know columns by name",
        ),
        (lambda: SMALL.part(np.zeros(10, dtype=bool)), "rows must have at least 2 values, got 0"),
        (
            lambda: summary().part(ROWS),
            "z must be masked values for a part of them, got Counts, which keep no records",
        ),
        (
            lambda: summary().correlation_interval(),
            NO_PAIRS,
        ),
        (
            lambda: summary().covariance_interval(),
            NO_PAIRS,
        ),
        (
            lambda: cm.AdditiveNoise(3.0).estimate(Z).cdf_interval(0.0),
            "intervals are available only for conditionally masked values, got values with added noise, "
            "whose distribution can only be estimated smoothed",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_refused_with_the_reason(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize("whole", [0, 6])
@pytest.mark.parametrize("inside", range(1, 4))
def test_a_stratum_of_which_any_number_but_all_is_chosen_is_refused(whole, inside):
    # of six and four records: one, two or three of the four, beside none or all of the six
    rows = (np.arange(10) < whole) | ((np.arange(10) >= 6) & (np.arange(10) < 6 + inside))

    with pytest.raises(ValueError, match=r"^rows must be whole strata, .* got parts of 1 of them: "):
        SMALL.part(rows)
    assert SMALL.part(np.arange(10) >= 6).n == 4


def test_all_strata_of_which_parts_are_chosen_are_counted():
    with pytest.raises(ValueError, match=r", got parts of 2 of them: "):
        SMALL.part(np.isin(np.arange(10), [5, 6]))


@pytest.mark.parametrize("target", ["population", "file"])
def test_a_summary_has_the_intervals_of_its_values(target):
    plain = cm.ConditionalMasking(0.6, 3.0, decimals=1)
    whole, cells = plain.estimate(Z), summary()
    options = {"target": target, "confidence_level": 0.9}

    for of in (
        lambda e: e.cdf_interval([0.0, 12.0], **options), lambda e: e.mean_interval(**options),
        lambda e: e.variance_interval(**options), lambda e: e.std_interval(**options),
        lambda e: e.moment_interval(3, **options), lambda e: e.quantile_interval([0.1, 0.5], **options),
        lambda e: e.gini_interval(**options),
    ):  # fmt: skip
        np.testing.assert_allclose(of(cells)[:4], of(whole)[:4], rtol=1e-12)  # sums in another order
    assert cells.cdf_band(rng=1, target=target).half_width == whole.cdf_band(rng=1, target=target).half_width
