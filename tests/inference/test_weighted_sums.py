"""Weighted means and totals against each other and the mean."""

import numpy as np
import pytest
from linear_files import File, ends, released

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def test_the_total_is_the_mean_times_the_weights():
    file, estimate = released()

    mean, total = (
        getattr(estimate, name)(file.weights, target="file") for name in ("weighted_mean", "total")
    )

    assert total.estimate == pytest.approx(mean.estimate * file.weights.sum(), rel=1e-12)
    assert total.standard_error == pytest.approx(mean.standard_error * file.weights.sum(), rel=1e-12)


def test_the_mean_of_all_is_the_mean():
    # of one pool: that of the masked values, in every way it can be asked for
    file = File("sample", 1)
    estimate = file.estimate(file.releases(1, 12)[0])

    found = [
        estimate.group_means(np.zeros(file.n))[0.0],
        estimate.weighted_mean(np.full(file.n, 2.0)),
        estimate.weighted_mean(np.ones(file.n)),
    ]

    for each in found:
        assert ends(each) == pytest.approx(ends(found[0]), rel=1e-9)
        assert each.estimate == pytest.approx(estimate.mean(), rel=1e-12)
    assert estimate.total().estimate == pytest.approx(file.n * estimate.mean(), rel=1e-12)


@pytest.mark.parametrize("target", ["population", "file"])
def test_records_without_a_weight_count_as_those_that_weigh_nothing(target):
    # as donors they do: what they have lent varies, too
    file, estimate = released()
    nothing, missing = (np.where(file.group, file.weights, none) for none in (0.0, np.nan))

    for ask in (estimate.weighted_mean, estimate.total) if target == "file" else (estimate.weighted_mean,):
        assert ends(ask(missing, target=target)) == pytest.approx(ends(ask(nothing, target=target)), rel=1e-9)
