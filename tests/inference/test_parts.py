"""Sums part by part: the same as of all records together, and the same bits from memory and from files."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.engines import counting
from condmask.inference import parts
from condmask.inference.parts import CompleteRows, Rows, add, frame_of, numbered

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def test_rows_that_miss_something_are_left_out_each_time(monkeypatch):
    monkeypatch.setattr(parts, "CHUNK", 3)
    z = np.array([1.0, np.nan, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, np.nan, 10.0])
    code = np.array([0, 1, 2, 0, 1, 2, -1, -1, 0, 1], dtype=np.int32)
    rows = CompleteRows(z, None, code)

    for _ in range(2):
        assert np.concatenate([own.of(z) for own in rows]).tolist() == [1.0, 3.0, 4.0, 5.0, 6.0, 10.0]
        assert [own.size for own in rows] == [2, 3, 1]  # of the third part no row is left
    assert Rows(slice(3, 6), None).of(code).tolist() == [0, 1, 2]
    assert frame_of(z, CompleteRows(z)) == (1.0, 9.0, 8)
    assert frame_of(-z, CompleteRows(z)) == (-1.0, 9.0, 8)
    assert frame_of(z[:1], CompleteRows(z[:1]))[1] == 1.0


@pytest.mark.parametrize("size", [3, 1000])
def test_sums_by_code_whether_these_are_few_or_many(size):
    code, values = np.array([2, 0, 2, 2]), np.array([[1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 0.5, 1.0]])
    sums, counts = np.ones((2, size)), np.zeros(size, dtype=np.int64)

    add(sums, code, values)
    add(counts, code)

    assert sums[:, :3].tolist() == [[3.0, 1.0, 9.0], [1.5, 1.0, 3.0]]
    assert counts[:3].tolist() == [1, 0, 3]
    assert sums[:, 3:].min(initial=1.0) == 1.0


@pytest.mark.parametrize("most", [100, 10**15])
def test_codes_that_occur_are_numbered(most, monkeypatch):
    monkeypatch.setattr(counting, "MERGED", 2)
    code = np.random.default_rng(1).integers(0, 100, 60)

    distinct, number = numbered(CompleteRows(code), lambda rows: rows.of(code), most, code.size)

    assert distinct.tolist() == np.unique(code).tolist()
    assert number(code).tolist() == np.unique(code, return_inverse=True)[1].tolist()


# --- all that is linear ---------------------------------------------------------------------------------

N = 240
RNG = np.random.default_rng(3)
REGION = np.repeat(["a", "b"], N // 2)
CLUSTER = [None if k % 31 == 0 else f"c{k % 17}" for k in range(N)]
W = RNG.normal(size=(N, 3))
WEIGHTS = RNG.gamma(1.0, 1.0, N)
X = np.exp(0.4 * (W[:, 0] + RNG.normal(size=N))) + 0.5 * (REGION == "b")
GROUP = np.where(RNG.random(N) < 0.2, None, np.where(RNG.random(N) < 0.5, "x", "y"))
W[::19, 1], WEIGHTS[::23] = np.nan, np.nan
KINDS = {
    "sample": {},
    "permutation": {"donors": "permutation"},
    "strata": {"strata": "region"},
    "permutation in strata": {"donors": "permutation", "strata": "region"},
    "reverse": {"reverse_mapping": True},
    "reverse in strata": {"reverse_mapping": True, "strata": "region"},
    "reverse on the log scale": {"reverse_mapping": True, "scale": "log"},
}


def estimate_of(kind):
    """That of a release with gaps."""
    scheme = cm.ConditionalMasking(0.5, 0.3, **KINDS[kind])
    strata = REGION if scheme.strata else None
    z = scheme.mask(X, rng=5, strata=strata)
    z[::29] = np.nan
    return scheme.estimate(z, strata=strata)


def figures(estimate):
    """Everything linear, and pairs; estimates with both ends of their intervals."""
    found = []
    for options in (
        {"target": "file"}, {"population_size": 1_000}, {"clusters": CLUSTER}
    ):  # fmt: skip
        for each in (
            estimate.group_means(GROUP, **options),
            estimate.weighted_mean(WEIGHTS, **options),
            estimate.total(**options),
            estimate.total(WEIGHTS - 1.0, **options),
            estimate.regress(W, **options),
            estimate.regress(np.column_stack([W[:, 0], W[:, 0] + 1e-3 * W[:, 1]]), **options),
            estimate.regress(W, intercept=False, **options),
        ):
            found += [each.estimate, each.standard_error]
    for target in ("file", "population"):
        for interval in (estimate.covariance_interval, estimate.correlation_interval):
            each = interval(W[:, 1], target=target)
            found += [each.estimate, each.standard_error, each.high]
    found += [estimate.covariance(W[:, 1]), estimate.correlation(W[:, 1])]
    return np.hstack([*found, estimate.pseudo_values()])


@pytest.mark.parametrize("kind", KINDS)
def test_in_parts_all_is_as_together(kind, monkeypatch):
    estimate = estimate_of(kind)
    together = figures(estimate)

    for chunk in (7, N):
        monkeypatch.setattr(parts, "CHUNK", chunk)
        estimate = estimate_of(kind)
        np.testing.assert_allclose(figures(estimate), together, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("strata", [None, "region"])
@pytest.mark.parametrize("reverse_mapping", [False, True])
def test_columns_masked_together_in_parts(reverse_mapping, strata, monkeypatch):
    frame = pd.DataFrame({"x": X, "y": X + np.exp(RNG.normal(size=N)), "region": REGION})
    scheme = cm.ConditionalMasking(0.5, 0.3, reverse_mapping=reverse_mapping, strata=strata)
    release = cm.mask_table(frame, {"x": scheme, "y": scheme}, rng=4, accept_visible_coins=True)

    def found():
        release._estimates.clear()
        one, two = release["x"], release["y"]
        ask = () if reverse_mapping else (one.covariance_interval, one.correlation_interval)
        return [one.covariance(two), one.correlation(two), *(each(two).standard_error for each in ask)]

    together = found()
    monkeypatch.setattr(parts, "CHUNK", 7)

    np.testing.assert_allclose(found(), together, rtol=1e-9)


@pytest.mark.parametrize("reverse_mapping", [False, True])
def test_a_release_on_disk_gives_the_bits_of_the_same_one_in_memory(reverse_mapping, tmp_path):
    present = pd.Series(GROUP, dtype="object").where(pd.notna(GROUP), None)
    frame = pd.DataFrame({"x": X, "a": W[:, 0], "b": W[:, 1], "weight": WEIGHTS, "group": present})
    frame["cluster"], frame["region"] = CLUSTER, REGION
    frame.loc[::29, "x"] = np.nan
    scheme = cm.ConditionalMasking(0.5, 0.3, reverse_mapping=reverse_mapping, strata="region")
    release = cm.mask_table(frame, {"x": scheme}, rng=5, nan_policy="omit", accept_visible_coins=True)
    release.write(tmp_path / "a.parquet", log=False)

    def found(estimate):
        return [
            figure
            for each in (
                estimate.group_means("group"), estimate.group_means("group", clusters="cluster"),
                estimate.regress(["a", "b"]), estimate.regress("a", clusters="cluster"),
                estimate.total("weight"), estimate.weighted_mean("weight"),
                estimate.correlation_interval("b"),
            )
            for figure in np.ravel([each.low, each.high, each.estimate])
        ]  # fmt: skip

    expected = found(release["x"])
    assert found(cm.read_release(tmp_path / "a.parquet")["x"]) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_weight_varies_as_what_weighs_nothing(kind):
    estimate, some = estimate_of(kind), np.arange(N) % 3 == 0
    nothing, missing = (np.where(some, 1.0, none) for none in (0.0, np.nan))

    found, expected = (estimate.total(weights, target="file") for weights in (missing, nothing))

    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
