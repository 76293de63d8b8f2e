"""The publisher's picture of a release, read back from its axes. Oracle: the original and the
release."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import condmask as cm

SCHEME = cm.ConditionalMasking(0.4, 700.0)


def originals(n=1_000):
    """A column of which nothing is secret."""
    return np.random.default_rng(1).laplace(3_000.0, 1_000.0, n)


@pytest.fixture(autouse=True)
def closed():
    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def masked(frame, scheme=SCHEME, **options):
    return cm.mask_table(frame, {"income": scheme}, rng=2, accept="all", **options)


def lines(panel):
    return {line.get_label(): np.column_stack(line.get_data()) for line in panel.lines}


def share_below(values, at):
    return np.searchsorted(np.sort(values), at, side="right") / len(values)


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame({"income": originals(), "age": 40})


def test_records_and_distributions_are_those_of_original_release_and_estimate(frame, tmp_path):
    release = masked(frame)
    records, shares = cm.plot_release(frame, release, confidence_level=0.5, rng=3)
    found = lines(shares)
    z = release.data["income"]
    half = release["income"].cdf_band(confidence_level=0.5, target="file", rng=3).half_width

    assert np.array_equal(lines(records)["a record"], np.column_stack([frame["income"], z]))
    at = found["original (confidential)"][:, 0]
    for label, wanted in (
        ("original (confidential)", share_below(frame["income"], at)),
        ("released", share_below(z, at)),
        ("estimated from the release", release["income"].cdf(at, monotone=True)),
    ):
        assert np.array_equal(found[label], np.column_stack([at, wanted])), label
    both = np.concatenate([frame["income"], z])
    assert np.array_equal(at, np.linspace(both.min(), both.max(), at.size))
    band = shares.collections[0].get_paths()[0].vertices[:, 1]
    assert np.isin(np.maximum(wanted - half, 0.0), band).all()
    assert records.get_xlabel() == "original income (confidential)"
    release.write(tmp_path / "masked.parquet", log=False)
    release = cm.read_release(tmp_path / "masked.parquet")
    for original in (frame["income"], {"income": frame["income"]}):
        _, axes = pyplot.subplots(1, 2)
        again, _ = cm.plot_release(original, release, path=tmp_path / "a.png", ax=axes)
        assert again is axes[0]
        assert np.array_equal(lines(again)["a record"], lines(records)["a record"])
        assert (tmp_path / "a.png").exists()


def test_of_many_records_a_thousand_are_drawn():
    x = originals(2_500)
    records, _ = cm.plot_release(x, masked({"income": x}), rng=3)

    points = lines(records)["a record (1,000 of 2,500)"]
    assert np.array_equal(points[:, 0], x[(np.arange(1_000) * 2.5).astype(int)])


@pytest.mark.parametrize("missing_as", ["code", "null"])
def test_codes_and_gaps_are_no_values(missing_as):
    x = originals()
    x[::50] = -99_999.0
    x[1::50] = np.nan
    scheme = cm.ConditionalMasking(0.4, 700.0, missing=-99_999, missing_as=missing_as)
    records, _ = cm.plot_release(x, masked({"income": x}, scheme, nan_policy="omit"), rng=3)

    assert np.array_equal(lines(records)["a record"][:, 0], x[(x != -99_999.0) & ~np.isnan(x)])


def test_after_reverse_mapping_all_distributions_are_one_on_the_axes_of_the_scheme():
    x = np.exp(originals() / 2_000.0)
    scheme = cm.ReverseMapping(0.4, 0.3, scale="log")
    records, shares = cm.plot_release(x, masked({"income": x}, scheme), rng=3)

    assert (records.get_xscale(), records.get_yscale(), shares.get_xscale()) == ("log",) * 3
    found = lines(shares)
    at = found["released"][:, 0]
    assert np.array_equal(at, np.geomspace(x.min(), x.max(), at.size))
    assert np.array_equal(found["released"], found["original (confidential)"])
    assert np.allclose(
        found["estimated from the release"], found["original (confidential)"], atol=1e-12
    )
    x[0] = 0.0  # which has no logarithm
    records, _ = cm.plot_release(x, masked({"income": x}, scheme), rng=3)
    assert records.get_xscale() == "linear"


def test_refusals(frame):
    release = masked(frame)
    gap = frame.assign(income=frame["income"].where(frame.index > 0))
    for call, error, message in (
        ((frame, release.data), TypeError, r"^release must be a Release, got DataFrame$"),
        (
            (frame[1:], release),
            ValueError,
            r"^original must be as long as the release, 1000 values, got 999$",
        ),
        (
            (frame[["age"]], release),
            ValueError,
            r"^original must have the column 'income', it has 'age'$",
        ),
        (
            (frame, release, "age"),
            ValueError,
            "column must be one of the masked columns 'income', got 'age'",
        ),
        (
            (gap, release),
            ValueError,
            "income must be missing in the same rows of original and release, got",
        ),
    ):
        with pytest.raises(error, match=message):
            cm.plot_release(*call)
