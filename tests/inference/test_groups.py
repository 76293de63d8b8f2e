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


def test_several_columns_make_a_group_of_each_combination_that_occurs():
    file, estimate = released()
    rng = np.random.default_rng(4)
    columns = {
        "region": rng.choice(np.array(["north", "south", None], dtype=object), file.n),
        "year": rng.integers(2020, 2022, file.n),
        "sex": rng.choice(np.array(["f", "m", None], dtype=object), file.n),
    }
    columns["sex"][columns["region"] == "north"] = "m"  # no women there
    label = [None if None in row else " ".join(map(str, row)) for row in zip(*columns.values(), strict=True)]

    found, joined = estimate.group_means(columns), estimate.group_means(label)

    assert [" ".join(map(str, name)) for name in found] == list(joined)
    assert found.by == ("region", "year", "sex")
    assert ("north", 2020, "f") not in found
    for name in found:
        assert found[name][:4] == joined[" ".join(map(str, name))][:4]


@pytest.mark.parametrize("several", [False, True])
def test_labels_that_give_no_record_a_group_are_refused(several):
    _, estimate = released()
    half = np.arange(estimate.n) < 10
    one, other = np.where(half, 1.0, np.nan), np.where(half, np.nan, 1.0)

    with pytest.raises(ValueError, match=r"^labels must give at least one record a group, got none$"):
        estimate.group_means({"a": one, "b": other} if several else one + other)
