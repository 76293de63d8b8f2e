"""Summaries against the estimate from the values, however the values were cut and merged."""

import io
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import condmask as cm

RNG = np.random.default_rng(12)
NOISES = ("normal", "laplace")


def scheme(p=0.6, sigma=1.3, **options):
    return cm.ConditionalMasking(p, sigma, **options)


def summarised(one, *parts, **options):
    summary = cm.Summary(one, **options)
    for part in parts:
        summary.update(part)
    return summary


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.2, 0.6])
def test_a_summary_gives_the_estimates_of_its_values(noise, p):
    one = scheme(p, noise=noise)
    z = RNG.laplace(40, 5, 4_000)
    whole = one.estimate(z)
    summary = summarised(one, z)
    found = one.estimate(summary)
    edges = summary.resolution * np.arange(900, 3_500, 37)
    x = RNG.uniform(0, 80, 50)
    width = (4 if p > 0.5 else 5) * summary.resolution

    assert found.n == whole.n == 4_000
    assert found.mean() == pytest.approx(whole.mean(), rel=1e-13)
    for order in range(2, 8):
        assert found.moment(order) == pytest.approx(whole.moment(order), rel=1e-12)
        assert found.moment(order, central=True) == pytest.approx(
            whole.moment(order, central=True), rel=1e-12, abs=1e-12 * 30.0**order
        )
    assert found.variance() == pytest.approx(whole.variance(), rel=1e-12)
    assert found.cdf(edges, tol=1e-12) == pytest.approx(whole.cdf(edges, tol=1e-12), abs=2e-12)
    assert found.cdf(x, bandwidth=width, tol=1e-12) == pytest.approx(
        whole.cdf(x, bandwidth=width, tol=1e-12), abs=2e-12
    )
    assert found.pdf(x, bandwidth=1.0) == pytest.approx(whole.pdf(x, bandwidth=1.0), abs=2e-10)
    q = np.array([0.1, 0.5, 0.9])
    assert found.quantile(q, bandwidth=0.5) == pytest.approx(
        whole.quantile(q, bandwidth=0.5, crossing="first"), abs=1e-7
    )


@pytest.mark.parametrize("noise", NOISES)
def test_brackets_hold_the_estimate(noise):
    one = scheme(0.7, noise=noise)
    z = RNG.normal(0, 4, 3_000)
    found = one.estimate(summarised(one, z))
    whole = one.estimate(z)
    x = RNG.uniform(-12, 12, 300)
    low, high = found.cdf_bounds(x)
    q = np.linspace(0.05, 0.95, 19)
    left, right = found.quantile_bounds(q)

    truth = whole.cdf(x)
    assert ((low - 1e-9 <= truth) & (truth <= high + 1e-9)).all()
    assert ((low <= found.cdf(x)) & (found.cdf(x) <= high)).all()
    assert (high - low).max() < 0.05
    # T reaches q at the right end at the latest
    assert (whole.quantile(q, crossing="first") <= right + 1e-9).all()
    assert ((left <= found.quantile(q)) & (found.quantile(q) <= right)).all()


@settings(max_examples=40)
@given(
    z=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    order=st.randoms(use_true_random=False),
    most=st.integers(3, 100),
)
def test_cuts_and_the_order_of_merges_leave_no_trace(z, cuts, order, most):
    one = scheme()
    whole = summarised(one, np.array(z), most_cells=most)
    edges = [0, *sorted(min(c, len(z)) for c in cuts), len(z)]
    parts = [
        summarised(one, np.array(z[a:b]), most_cells=most) for a, b in itertools.pairwise(edges) if b > a
    ]
    order.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part if len(z) % 2 else part + total

    assert total.resolution == whole.resolution
    assert np.array_equal(total._index, whole._index)
    assert total._moments == pytest.approx(whole._moments, abs=1e-12 * len(z))
    assert one.estimate(total).mean() == pytest.approx(one.estimate(whole).mean(), rel=1e-12, abs=1e-9)


def test_bytes_give_the_summary_back():
    summary = cm.Summary(scheme(), resolution=0.5)
    summary.update(RNG.normal(size=100), RNG.normal(size=100))

    back = cm.Summary.from_bytes(summary.to_bytes())

    assert back.to_bytes() == summary.to_bytes()
    assert back.scheme == summary.scheme
    assert back.resolution == 0.5
    assert scheme().estimate(back).correlation() == scheme().estimate(summary).correlation()


@pytest.mark.parametrize("read", [cm.Summary.from_bytes, cm.StudyResult.load])
def test_damaged_bytes_are_refused(read, tmp_path):
    whole = summarised(scheme(), RNG.normal(size=100)).to_bytes()
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 255
    missing = io.BytesIO()
    np.savez(missing, described=np.frombuffer(b"{}", dtype=np.uint8), index=0, moments=0, pairs=0, sums=0)
    damaged = [b"", b"nothing", whole[:1000], whole[:-100], bytes(turned), missing.getvalue()]
    for data in damaged:
        given, file = data, tmp_path / "state.npz"
        if read == cm.StudyResult.load:
            file.write_bytes(data)
            given = file
        with pytest.raises(ValueError, match=r"^(data must be the bytes|path must be a saved StudyResult)"):
            read(given)
    with pytest.raises(TypeError, match=r"^data must be the bytes of a Summary, got str$"):
        cm.Summary.from_bytes("text")


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("decimals", [None, 0])
def test_infinite_points_have_the_limits(noise, decimals):
    one = scheme(sigma=8.0, noise=noise, decimals=decimals)
    estimate = one.estimate(summarised(one, np.round(RNG.normal(0, 9, 100))))
    far, limits = [-np.inf, -1e308, 1e308, np.inf], pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-15)

    assert estimate.cdf(far) == limits
    assert estimate.cdf(far, bandwidth=9.0) == limits
    assert estimate.pdf(far, bandwidth=9.0).tolist() == [0.0] * 4
    assert all(bound == limits for bound in estimate.cdf_bounds(far))


def test_memory_is_capped_and_cells_coarsen():
    summary = cm.Summary(scheme(), most_cells=1_000)
    for _ in range(5):
        summary.update(1e3 * RNG.standard_cauchy(5_000))

    assert summary.n == 25_000
    assert summary.nbytes < 90_000
    assert summary.resolution > 100.0
    with pytest.raises(ValueError, match=r"^resolution must be at most 0\.58.* got cells of "):
        scheme().estimate(summary).cdf(0.0)
    assert scheme().estimate(summary).cdf(0.0, bandwidth=100 * summary.resolution) == pytest.approx(
        0.5, abs=0.1
    )


@pytest.mark.parametrize("sigma", [1.0, 40.0])
@pytest.mark.parametrize("noise", NOISES)
def test_rounded_data_are_summarised_without_loss(noise, sigma):
    one = scheme(0.6, sigma, noise=noise, decimals=0)
    z = RNG.normal(30, 20, 2_000).round()
    found, whole = one.estimate(summarised(one, z)), one.estimate(z)
    # the cells' width is a multiple of the step; edges lie half a step to the right of every tenth value
    x = np.arange(-40.0, 100.0) if sigma == 1.0 else None

    if x is not None:
        assert found.cdf(x) == pytest.approx(whole.cdf(x), abs=2e-10)
        q = np.linspace(0.1, 0.9, 9)
        assert found.quantile(q).tolist() == whole.quantile(q, crossing="first").tolist()
    assert found.mean() == pytest.approx(whole.mean(), rel=1e-13)
    assert found.variance() == pytest.approx(whole.variance(), rel=1e-12)


def test_correlations_come_with_the_updates():
    x, w = RNG.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 6_000).T
    one = scheme(0.5, 1.0)
    z = one.mask(x, rng=1)
    w[::7] = np.nan
    parts = [cm.Summary(one), cm.Summary(one)]
    for part, rows in zip(parts, (slice(0, 1_234), slice(1_234, None)), strict=True):
        part.update(z[rows], w[rows])

    found = one.estimate(parts[0] + parts[1])

    assert found.correlation() == pytest.approx(one.estimate(z).correlation(w), rel=1e-11)
    assert found.covariance() == pytest.approx(one.estimate(z).covariance(w), rel=1e-11)


def test_the_binned_rule_is_near_the_rule():
    z = RNG.normal(0, 3, 5_000)
    one = scheme()

    assert one.estimate(summarised(one, z)).bandwidth("scott") == pytest.approx(
        one.estimate(z).bandwidth("scott"), rel=0.01
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: scheme().estimate(cm.Summary(scheme())),
            r"z must hold at least 1 masked value, got an empty Summary",
        ),
        (
            lambda: scheme(0.7).estimate(summarised(scheme(), [1.0])),
            r"z must be a Summary of the scheme .*p=0\.7.*",
        ),
        (lambda: cm.Summary(scheme(), resolution=-1.0), r"resolution must be positive and finite, got -1\.0"),
        (
            lambda: cm.Summary(scheme(decimals=0), resolution=1.5),
            r"resolution must be a whole number of steps .*1\.5",
        ),
        (lambda: summarised(scheme(), [1e30]), r"z must stay within 2\^62 cells of .*"),
        (lambda: cm.Summary.from_bytes(b"nothing"), r"data must be the bytes of a Summary, got 7 .*"),
        (lambda: cm.Summary(scheme()).merge(cm.Summary(scheme(0.7))), r"other must have the scheme .*"),
        (
            lambda: scheme().estimate(summarised(scheme(), [1.0, 2.0])).covariance(),
            r"other must have been given .*",
        ),
        (
            lambda: scheme().estimate(summarised(scheme(), [1.0, 2.0])).cdf(0.0, bandwidth=1e-3),
            r"resolution must be at most .* got cells of .*",
        ),
        (
            lambda: scheme().estimate(summarised(scheme(), [1.0])).cdf(0.0, bandwidth=1.3e30),
            r"bandwidth must be between 1e-20 and 1e\+20 sigma, got 1.3e\+30 with sigma=1.3",
        ),
        (lambda: scheme().estimate(summarised(scheme(), [1.0])).moment(10), r"order must be at most 9 .*"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()


@pytest.mark.parametrize("container", [pd.Series, pl.Series, pa.array, list])
def test_any_container_is_summarised(container):
    z = RNG.normal(size=500)

    assert summarised(scheme(), container(z)).to_bytes() == summarised(scheme(), z).to_bytes()


def test_missing_values_and_empty_parts_are_left_out():
    summary = cm.Summary(scheme())
    summary.update([])
    summary.update([np.nan, 1.0, np.nan])

    assert summary.n == 1
    assert "n=1, cells=1" in repr(summary)
