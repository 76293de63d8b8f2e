"""Distribution functions, read back from the axes. Oracle: the band and T as the estimate gives them."""

import numpy as np
import pandas as pd
import pytest
from pictures import SCHEME, originals


@pytest.fixture(scope="session")
def estimate():
    return SCHEME.estimate(SCHEME.mask(originals(), rng=2))


def drawn(ax):
    """The line, and the lower and upper edge of the band by x."""
    (line,), (band,) = ax.get_lines(), ax.collections
    return np.column_stack(line.get_data()), band.get_paths()[0].vertices


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_picture_has_t_rearranged_and_its_band(estimate):
    ax = estimate.plot_cdf(rng=3, confidence_level=0.9, target="file")
    line, edge = drawn(ax)
    band = estimate.cdf_band(rng=3, confidence_level=0.9, target="file")

    assert np.isin(band.x, line[:, 0]).all()
    below, above = band.x[0] - line[0, 0], line[-1, 0] - band.x[-1]
    assert below == pytest.approx(above)
    assert 0.01 < above / np.ptp(band.x) < 0.5
    assert np.array_equal(line[:, 1], estimate.cdf(line[:, 0], monotone=True))
    assert (line[0, 1], line[-1, 1]) == pytest.approx((0.0, 1.0), abs=2 * band.half_width)
    # edges run along both sides, each a T that is shifted by the half width and cut off at 0 and 1
    at, height = edge[:, 0], edge[:, 1]
    for sign, end in ((1.0, 1.0), (-1.0, 0.0)):
        wanted = sign * np.minimum(sign * (line[:, 1] + sign * band.half_width), sign * end)
        known = set(zip(at, height, strict=True))
        assert set(zip(line[:-1, 0], wanted[:-1], strict=True)) <= known
    assert legend(ax) == ["90% band for the original file", "estimate"]


def test_a_column_with_a_name_is_called_by_it():
    z = pd.Series(SCHEME.mask(originals(), rng=2), name="income")
    ax = SCHEME.estimate(z).plot_cdf(rng=3)

    assert ax.get_ylim() == (-0.02, 1.02)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("income", "share of records at or below")
    assert legend(ax) == ["95% band for the population", "estimated income"]


def test_a_second_one_in_the_same_axes_looks_different(estimate):
    ax = estimate.plot_cdf(rng=3)
    estimate.plot_cdf(ax=ax, rng=3, target="file")

    one, other = ax.get_lines()
    assert one.get_color() != other.get_color()
    assert one.get_linestyle() != other.get_linestyle()
    assert ax.get_xlabel() == "value"
    assert legend(ax)[2:] == ["95% band for the original file", "estimate"]


@pytest.mark.parametrize(
    "z", [[5.0, 9.0], [7.0, 7.0, 7.0], np.arange(20)], ids=["two records", "one value", "whole numbers"]
)
def test_few_records_have_a_picture_too(z):
    line, edge = drawn(SCHEME.estimate(z).plot_cdf(rng=1))

    assert np.isfinite(line).all()
    assert ((edge[:, 1] >= 0.0) & (edge[:, 1] <= 1.0)).all()
