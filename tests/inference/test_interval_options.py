"""From variances to intervals by Student's t. Oracle: scipy.stats.t."""

import numpy as np
import pytest
from scipy import stats

from condmask.inference.interval_options import interval_options

FILE, EXCESS, DEGREES = np.array([0.5, 2.0]), np.array([1.0, -3.0]), np.array([4.0, 30.0])


def interval(target, n=50, **options):
    return interval_options(0.9, target, n=n, **options).t_interval(
        "a mean", np.array([1.0, 2.0]), FILE, EXCESS, DEGREES, n
    )


def test_about_the_population_the_excess_is_added_with_its_degrees():
    found = interval("population")

    assert found.standard_error == pytest.approx(np.sqrt([1.5, 2.0]))  # an excess is not negative
    assert found.high - found.estimate == pytest.approx(stats.t(DEGREES).ppf(0.95) * np.sqrt([1.5, 2.0]))


def test_about_the_file_all_records_tell_of_the_variance():
    found = interval("file")

    assert found.standard_error == pytest.approx(np.sqrt(FILE))
    assert found.estimate - found.low == pytest.approx(stats.t(49).ppf(0.95) * np.sqrt(FILE))


def test_of_a_finite_population_only_what_is_not_in_the_file_is_sampled():
    found = interval("population", population_size=200)

    assert found.standard_error[0] == pytest.approx(np.sqrt(0.5 + 0.75))
    with pytest.raises(
        ValueError, match="population_size must be at least the number of records, 50, got 20"
    ):
        interval("population", population_size=20)


def test_clusters_are_numbered_and_missing_ones_are_below_0():
    options = interval_options(0.9, "population", ["a", None, "b", "a"], None, 4)

    assert options.clusters.tolist() == [0, -1, 1, 0]
    assert options.cluster_count == 2
    assert interval_options(0.9, "population").clusters is None
    with pytest.raises(ValueError, match="clusters must be left out for target='file'"):
        interval_options(0.9, "file", ["a", "b"], None, 2)
