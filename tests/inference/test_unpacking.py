"""An interval is unpacked into its ends, and keeps its other fields wherever it goes.

Oracle: the fields by name.
"""

import copy
import pickle

import numpy as np
import pytest

import condmask as cm

X = np.round(np.random.default_rng(1).normal(10.0, 2.0, 500), 2)
SCHEME = cm.ConditionalMasking(0.5, 1.0, decimals=2)


@pytest.fixture(scope="module")
def estimate():
    return SCHEME.estimate(SCHEME.mask(X, rng=2, accept="all"))


def test_an_interval_unpacks_into_its_ends(estimate):
    found = estimate.mean_interval()

    low, high = found

    assert (low, high) == (found.low, found.high)
    assert low < found.estimate < high
    lows, highs = estimate.quantile_interval([0.2, 0.5])
    assert np.all(lows < highs)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_have_all_fields(again, estimate):
    found = estimate.mean_interval()

    assert again(found) == found
    assert again(found).about == found.about
    assert found._replace(low=0.0).high == found.high
    assert list(found._asdict()) == list(found._fields)
    assert found._asdict()["target"] == "population"


def test_results_are_frames_and_are_shown_in_notebooks(estimate):
    quantiles = estimate.quantile_interval([0.2, 0.5])
    band = estimate.cdf_band(rng=1)

    frame = quantiles.to_frame()

    assert frame["low"].tolist() == quantiles.low.tolist()
    assert frame["about"].tolist() == [quantiles.about] * 2
    assert estimate.mean_interval().to_frame()["high"].tolist() == [estimate.mean_interval().high]
    assert band.to_frame()["x"].tolist() == band.x.tolist()
    for result in (quantiles, estimate.summary([0.5]), band):
        assert result._repr_html_().startswith("<pre>")
    assert "&lt;" not in quantiles._repr_html_()
    release = cm.mask_table({"a": X}, {"a": SCHEME}, rng=1, accept="all")
    assert "a" in release._repr_html_()
