"""Means of groups against weighted means, releases of strata and the pseudo-values."""

import numpy as np
import pytest
from linear_files import ends, released

import condmask as cm

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def test_strata_that_the_groups_are_need_no_other_formula():
    # the mean of the values of a whole stratum, which are a release of their own
    rng = np.random.default_rng(3)
    labels = np.repeat(["a", "b"], 60)
    scheme = cm.ConditionalMasking(0.5, 1.0, strata="s")
    z = scheme.mask(rng.normal(size=120), rng=3, strata=labels)

    found = scheme.estimate(z, strata=labels).group_means(labels, target="file")

    for label in "ab":
        own = cm.ConditionalMasking(0.5, 1.0).estimate(z[labels == label]).total(target="file")
        assert found[label].estimate == pytest.approx(z[labels == label].mean(), abs=1e-12)
        assert found[label].standard_error == pytest.approx(own.standard_error / 60, rel=1e-12)


@pytest.mark.parametrize("target", ["population", "file"])
def test_the_mean_of_a_group_is_a_weighted_mean(target):
    file, estimate = released()
    cluster = None if target == "file" else np.arange(file.n) // 7
    options = {"target": target, "clusters": cluster, "confidence_level": 0.9}

    groups = estimate.group_means(file.group, **options)

    for label in (False, True):
        weights = (file.group == label).astype(float)
        assert ends(groups[label]) == pytest.approx(
            ends(estimate.weighted_mean(weights, **options)), rel=1e-9
        )


def test_a_group_of_one_record_has_no_interval_for_the_population():
    z = np.arange(40.0)

    found = cm.ConditionalMasking(0.4, 1.0, step=0.0).estimate(z).group_means([1] + [0] * 39)[1]

    assert np.isfinite(found.estimate)
    assert np.isnan([found.low, found.high, found.standard_error]).all()


def test_a_group_without_a_value_has_no_mean():
    z = np.append(np.arange(39.0), np.nan)
    scheme = cm.ConditionalMasking(0.4, 1.0, step=0.0)

    for target in ("population", "file"):
        found = scheme.estimate(z).group_means([0] * 39 + [1], target=target)[1]
        assert np.isnan(found[:4]).all()
