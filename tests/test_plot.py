"""Figures: what is drawn, read back from the axes. Oracle: the band and T as the estimate gives them."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import condmask as cm

SCHEME = cm.ConditionalMasking(0.4, 700.0)


@pytest.fixture(scope="module")
def estimate():
    x = np.random.default_rng(1).laplace(0.0, 1000.0, 1_000)
    return SCHEME.estimate(SCHEME.mask(x, rng=2))


def drawn(ax):
    """The line, and the lower and upper edge of the band by x."""
    (line,), (band,) = ax.get_lines(), ax.collections
    return np.column_stack(line.get_data()), band.get_paths()[0].vertices


def test_the_figure_has_t_rearranged_and_its_band(estimate):
    ax = estimate.plot_cdf(rng=3, confidence_level=0.9, target="file")
    line, edge = drawn(ax)
    band = estimate.cdf_band(rng=3, confidence_level=0.9, target="file")

    assert np.isin(band.x, line[:, 0]).all()
    assert np.array_equal(line[:, 1], estimate.cdf(line[:, 0], monotone=True))
    assert (line[0, 1], line[-1, 1]) == pytest.approx((0.0, 1.0), abs=2 * band.half_width)
    # edges run along both sides, each a T that is shifted by the half width and cut off at 0 and 1
    at, height = edge[:, 0], edge[:, 1]
    for sign, end in ((1.0, 1.0), (-1.0, 0.0)):
        wanted = sign * np.minimum(sign * (line[:, 1] + sign * band.half_width), sign * end)
        known = set(zip(at, height, strict=True))
        assert set(zip(line[:-1, 0], wanted[:-1], strict=True)) <= known
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "estimate",
        "90% band, in the original file",
    ]


def test_axes_that_are_given_are_drawn_into_and_keep_their_labels(estimate):
    ax = Figure().subplots()
    ax.set_xlabel("income")

    found = estimate.plot_cdf(ax=ax, rng=3)
    estimate.plot_cdf(ax=ax, rng=3, target="file")

    assert found is ax
    assert len(ax.get_lines()) == 2
    assert ax.get_xlabel() == "income"
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    "z", [[5.0, 9.0], [7.0, 7.0, 7.0], np.arange(20)], ids=["two records", "one value", "whole numbers"]
)
def test_few_records_have_a_figure_too(z):
    line, edge = drawn(SCHEME.estimate(z).plot_cdf(rng=1))

    assert np.isfinite(line).all()
    assert ((edge[:, 1] >= 0.0) & (edge[:, 1] <= 1.0)).all()


def test_a_figure_is_of_one_column(estimate):
    with pytest.raises(
        ValueError, match=r"^z must be 1-D for a figure, got a batch; estimate its rows one by one$"
    ):
        SCHEME.estimate(np.zeros((2, 30))).plot_cdf()


def test_who_has_no_matplotlib_is_told(estimate, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    message = r"^matplotlib must be installed for a figure \(pip install condmask\[plot\]\), got none$"
    with pytest.raises(ModuleNotFoundError, match=message) as info:
        estimate.plot_cdf(rng=1)
    assert info.value.name.startswith("matplotlib")
