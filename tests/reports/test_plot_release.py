"""The publisher's picture of a release, read back from its axes. Oracle: the original and the release."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from pictures import SCHEME, originals

import condmask as cm


@pytest.fixture(autouse=True)
def closed():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def masked(frame, scheme=SCHEME, **options):
    return cm.mask_table(frame, {"income": scheme}, rng=2, accept_visible_coins=True, **options)


def lines(panel):
    return {line.get_label(): np.column_stack(line.get_data()) for line in panel.lines}


def share_below(values, at):
    return np.searchsorted(np.sort(values), at, side="right") / len(values)


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame({"income": originals(), "age": 40})


def test_records_stand_at_their_original_and_their_released_value(frame):
    release = masked(frame)
    records, _ = cm.plot_release(frame, release, rng=3)

    points = lines(records)["a record"]
    assert np.array_equal(points, np.column_stack([frame["income"], release.data["income"]]))
    on_line = lines(records)["released as it was"]
    assert np.array_equal(on_line[:, 0], on_line[:, 1])


def test_the_three_distributions_are_those_of_original_release_and_estimate(frame):
    release = masked(frame)
    _, shares = cm.plot_release(frame, release, rng=3)
    found = lines(shares)

    at = found["original (confidential)"][:, 0]
    assert (at[0], at[-1]) == (
        min(frame["income"].min(), release.data["income"].min()),
        max(frame["income"].max(), release.data["income"].max()),
    )
    for label, wanted in (
        ("original (confidential)", share_below(frame["income"], at)),
        ("released", share_below(release.data["income"], at)),
        ("estimated from the release", release["income"].cdf(at, monotone=True)),
    ):
        assert np.array_equal(found[label], np.column_stack([at, wanted])), label
    (band,) = shares.collections
    assert band.get_label() == "95% band for the original file"
    assert len({line.get_linestyle() for line in shares.lines}) == 3


def test_what_is_confidential_is_called_so_and_axes_have_the_name_of_the_column(frame):
    records, shares = cm.plot_release(frame, masked(frame), rng=3)

    assert records.get_xlabel() == "original income (confidential)"
    assert records.get_ylabel() == "released income"
    assert shares.get_xlabel() == "income"
    legend = [text.get_text() for text in shares.get_legend().get_texts()]
    assert "original (confidential)" in legend


@pytest.mark.parametrize("kind", ["series", "array", "dict"])
def test_the_original_is_a_table_or_the_column(frame, kind):
    original = {
        "series": frame["income"], "array": frame["income"].to_numpy(), "dict": frame.to_dict("list"),
    }[kind]  # fmt: skip
    records, _ = cm.plot_release(original, masked(frame), "income", rng=3)

    assert np.array_equal(lines(records)["a record"][:, 0], frame["income"])


def test_a_release_in_a_file_is_drawn_too(frame, tmp_path):
    frame.to_parquet(tmp_path / "people.parquet")
    release = cm.mask_file(
        tmp_path / "people.parquet", tmp_path / "masked.parquet", {"income": SCHEME}, log=False
    )
    records, _ = cm.plot_release(frame, cm.read_release(tmp_path / "masked.parquet"), rng=3)

    released = pd.read_parquet(tmp_path / "masked.parquet")["income"]
    assert np.array_equal(lines(records)["a record"][:, 1], released)
    again, _ = cm.plot_release(frame, release, rng=3)
    assert np.array_equal(lines(again)["a record"], lines(records)["a record"])


def test_of_many_records_a_thousand_are_drawn():
    x = originals(2_500)
    records, _ = cm.plot_release(x, masked({"income": x}), rng=3)

    points = lines(records)["a record (1,000 of 2,500)"]
    assert np.array_equal(points[:, 0], x[(np.arange(1_000) * 2.5).astype(int)])


@pytest.mark.parametrize("missing_as", ["code", "null"])
def test_codes_and_gaps_are_no_values(missing_as):
    x = originals()
    x[::50], x[1::50] = -99_999.0, np.nan
    scheme = cm.ConditionalMasking(0.4, 700.0, missing=-99_999, missing_as=missing_as)
    release = masked({"income": x}, scheme, nan_policy="omit")
    records, shares = cm.plot_release(x, release, rng=3)

    present = x[(x != -99_999.0) & ~np.isnan(x)]
    assert np.array_equal(lines(records)["a record"][:, 0], present)
    at, share = lines(shares)["original (confidential)"].T
    assert np.array_equal(share, share_below(present, at))


@pytest.mark.parametrize(("scale", "shown"), [("log", "log"), ("linear", "linear")])
def test_axes_are_logarithmic_where_the_scheme_is(scale, shown):
    x = np.exp(originals() / 2_000.0)
    scheme = cm.ConditionalMasking(0.4, 0.3, scale=scale, reverse_mapping=True)
    records, shares = cm.plot_release(x, masked({"income": x}, scheme), rng=3)

    assert (records.get_xscale(), records.get_yscale(), shares.get_xscale()) == (shown,) * 3
    found = lines(shares)  # in another order, values have the same distribution
    assert np.array_equal(found["released"], found["original (confidential)"])
    assert np.allclose(found["estimated from the release"], found["original (confidential)"], atol=1e-12)


def test_refusals(frame):
    release = masked(frame)
    with pytest.raises(TypeError, match=r"^release must be a Release, got DataFrame$"):
        cm.plot_release(frame, release.data)
    with pytest.raises(ValueError, match=r"^original must be as long as the release, 1000 values, got 999$"):
        cm.plot_release(frame[1:], release)
    with pytest.raises(ValueError, match=r"^original must have the column 'income', it has 'age'$"):
        cm.plot_release(frame[["age"]], release)
    with pytest.raises(ValueError, match="column must be one of the masked columns 'income', got 'age'"):
        cm.plot_release(frame, release, "age")
    gap = frame.assign(income=frame["income"].where(frame.index > 0))
    with pytest.raises(
        ValueError, match=r"^income must be missing in the same rows of original and release, got others$"
    ):
        cm.plot_release(gap, release)
