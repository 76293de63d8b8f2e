"""Statistics of income and their errors.

Oracles: the definitions in plain NumPy on the values that reverse mapping releases, which are the
originals; the jackknife, which knows no influence function; simulation for those of quantiles.
"""

import numpy as np
import pytest

import condmask as cm
from condmask.estimates.income import STATISTICS

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ReverseMapping(0.5, 0.2)
X = np.random.default_rng(1).lognormal(0.0, 0.6, 1_500)
ALL = (*STATISTICS, "mean log deviation")


def plain(x, w=None):
    """All statistics by their definitions."""
    w = np.ones(x.size) if w is None else w
    order = np.argsort(x)
    x = x[order]
    w = w[order] / w.sum()
    below = np.cumsum(w)

    def quantile(q):
        return x[np.minimum(below.searchsorted(q - 1e-12), x.size - 1)]

    def up_to(q):
        """The total of the lowest q."""
        at = quantile(q)
        return np.sum(w * np.minimum(x - at, 0.0)) + q * at

    mean = w @ x
    line = 0.6 * quantile(0.5)
    lorenz = np.append(0.0, np.cumsum(w * x)) / mean
    relative = x / mean
    return {
        "poverty rate": w @ (x <= line),
        "poverty gap": w @ np.maximum(1.0 - x / line, 0.0),
        "S80/S20": (mean - up_to(0.8)) / up_to(0.2),
        "P90/P10": quantile(0.9) / quantile(0.1),
        "interquartile range": quantile(0.75) - quantile(0.25),
        "Gini": 1.0 - w @ (lorenz[1:] + lorenz[:-1]),
        "Theil": w @ (relative * np.log(relative)),
        "mean log deviation": -(w @ np.log(relative)),
    }


def estimated(x, rng=3):
    return SCHEME.estimate(SCHEME.mask(x, rng=rng, accept="all"))


def test_values_are_those_of_the_definitions():
    found = estimated(X).income_statistics(ALL)

    for name, value in plain(X).items():
        assert found[name].estimate == pytest.approx(value, rel=2e-3), name


def test_about_the_file_released_values_are_exact():
    found = estimated(X).income_statistics(ALL, target="file")

    assert np.all(found.standard_error < 1e-6)


@pytest.mark.parametrize("name", ["S80/S20", "Gini", "Theil", "mean log deviation"])
def test_errors_are_those_of_the_jackknife(name):
    n = 800
    x = np.exp(0.6 * np.sort(np.random.default_rng(2).normal(size=n)))
    left = np.array([plain(np.delete(x, k))[name] for k in range(0, n, 4)])
    jackknife = np.sqrt((n - 1) * np.mean((left - left.mean()) ** 2))

    found = estimated(x).income_statistics([name]).standard_error[0]

    assert found == pytest.approx(jackknife, rel=0.15)


@pytest.mark.slow
def test_errors_are_those_of_simulation():
    """400 files: standard deviations are known to 3.5%."""
    seeds = range(400)
    values = {name: [] for name in ALL}
    errors = {name: [] for name in ALL}
    for seed in seeds:
        x = np.random.default_rng(seed).lognormal(0.0, 0.6, 1_000)
        found = estimated(x, seed + 1).income_statistics(ALL)
        for name in ALL:
            values[name].append(found[name].estimate)
            errors[name].append(found[name].standard_error)

    for name in ALL:
        assert np.mean(errors[name]) == pytest.approx(np.std(values[name]), rel=0.12), name


def test_weights_stand_for_so_many_records():
    weights = np.where(np.arange(X.size) % 3 == 0, 2.0, 1.0)

    found = estimated(X).income_statistics(ALL, weights=weights)

    for name, value in plain(X, weights).items():
        assert abs(found[name].estimate - value) < 4.5 * found[name].standard_error, name
    assert found["Gini"].standard_error > estimated(X).income_statistics("Gini").standard_error[0]


def test_groups_have_theirs_and_the_line_is_that_of_all():
    """Each interval misses in 1 of 1,000 files."""
    member = np.random.default_rng(5).random(X.size) < 1.0 / (1.0 + np.exp(2.0 * (X - 1.0)))
    estimate = estimated(X)
    line = 0.6 * np.median(X)

    found = estimate.group_income_statistics(
        member, ["poverty rate", "Gini", "Theil"], confidence_level=0.999, target="file"
    )

    for label in (False, True):
        own = plain(X[member == label])
        own["poverty rate"] = np.mean(X[member == label] <= line)
        for name in ("poverty rate", "Gini", "Theil"):
            assert found[label, name].low <= own[name] <= found[label, name].high, (label, name)
    rates = estimate.group_poverty(member, confidence_level=0.999, target="file")
    assert rates[True].estimate == found[True, "poverty rate"].estimate
    gini = estimate.group_gini(member, confidence_level=0.999, target="file")
    assert gini[True][:4] == found[True, "Gini"][:4]
    curve = estimate.group_lorenz(member, [0.2, 0.5], confidence_level=0.999, target="file")
    lowest = np.sort(X[member])[: member.sum() // 2].sum() / X[member].sum()
    assert curve[True, 0.5].low <= lowest <= curve[True, 0.5].high


def test_under_noise_logarithms_need_a_floor():
    scheme = cm.ConditionalMasking(0.5, 0.2)
    x = scheme.grid.values(scheme.grid.units(X))
    estimate = scheme.estimate(scheme.mask(x, rng=3, accept="all"))

    with pytest.raises(ValueError, match="floor must be a positive number"):
        estimate.income_statistics("mean log deviation")
    found = estimate.income_statistics(ALL, floor=0.05)
    for name, value in plain(np.maximum(X, 0.05)).items():
        assert abs(found[name].estimate - value) < 4.5 * found[name].standard_error, name


@pytest.mark.parametrize(
    ("x", "name", "message"),
    [
        (-X, "Gini", "the mean must be estimated positive"),
        (np.where(np.arange(X.size) % 5, 0.0, X), "P90/P10", r"quantile 0\.1 must be estimated"),
        (np.where(np.arange(X.size) % 5, 0.0, X), "poverty rate", "the median must be estimated"),
    ],
)
def test_what_cannot_be_divided_by_is_refused(x, name, message):
    with pytest.raises(ValueError, match=message):
        estimated(x).income_statistics(name)
