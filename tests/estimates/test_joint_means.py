"""Differences and ratios of the means of columns that were masked together.

Oracles: the difference as a column of its own, whose noise is that of both; the released columns;
coverage over fixed seeds.
"""

import numpy as np
import pandas as pd
import pytest

import condmask as cm

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
SCHEMES = {
    "permutation": cm.ConditionalMasking(0.6, 0.5),
    "sample": cm.ConditionalMasking(0.6, 0.5, donors="sample"),
    "reverse": cm.ReverseMapping(0.6, 0.3, scale="log"),
}


def two_years(n, seed, noise=0.4):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    before = np.exp(0.5 * u)
    after = 1.1 * np.exp(0.5 * (u + noise * rng.normal(size=n)))
    return pd.DataFrame({"before": before, "after": after})


def released(table, kind, seed):
    scheme = SCHEMES[kind]
    return cm.mask_table(table, dict.fromkeys(table, scheme), rng=seed, accept="all")


@pytest.mark.parametrize("kind", ["permutation", "sample"])
@pytest.mark.parametrize("target", ["population", "file"])
def test_under_noise_the_difference_is_a_column_masked_with_both_noises(kind, target):
    release = released(two_years(800, 1), kind, 2)
    apart = np.asarray(release.data["after"]) - np.asarray(release.data["before"])
    donors = {"donors": "sample"} if kind == "sample" else {}
    scheme = cm.ConditionalMasking(0.6, 0.5 * np.sqrt(2.0), step=1e-6, **donors)
    expected = scheme.estimate(apart.round(6)).mean_interval(target=target)
    found = release.difference("after", "before", target=target)
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-5)
    # the variances of a file of n have the divisor n there, n - 1 here
    assert found.standard_error == pytest.approx(expected.standard_error, rel=2e-3)


@pytest.mark.parametrize("kind", SCHEMES)
@pytest.mark.parametrize("noise", [0.1, 0.6])
def test_intervals_cover_the_change_in_the_population(kind, noise):
    """Fewer that are covered have a chance of less than 2e-4 if .95 is right."""
    files, least = (12, 8) if kind == "reverse" else (40, 32)  # of which the pair formula is slow
    mean = np.exp(0.125)
    ratio = 1.1 * np.exp(0.125 * noise**2)
    held = []
    for seed in range(files):
        release = released(two_years(300, seed, noise), kind, 1_000 + seed)
        change = release.difference("after", "before")
        times = release.ratio("after", "before")
        held.append(
            (change.low < mean * (ratio - 1.0) < change.high, times.low < ratio < times.high)
        )
    assert np.sum(held, axis=0).min() >= least


def test_the_joint_law_shortens_the_interval():
    release = released(two_years(5_000, 3, noise=0.1), "reverse", 4)
    errors = [release[name].mean_interval().standard_error for name in ("after", "before")]
    assert release.difference("after", "before").standard_error < 0.6 * np.hypot(*errors)
    with pytest.raises(ValueError, match="under noise only"):
        release.means(["after", "before"])
    exact = release.difference("after", "before", target="file")
    truth = two_years(5_000, 3, noise=0.1).mean()
    assert exact.standard_error == 0.0
    assert exact.estimate == pytest.approx(truth["after"] - truth["before"], rel=1e-12)


def test_gaps_are_left_out_and_other_columns_refused():
    table = two_years(500, 5).assign(w=1.0 * np.arange(500))
    table.loc[::5, "before"] = np.nan
    scheme = SCHEMES["permutation"]
    release = cm.mask_table(
        table, {"before": scheme, "after": scheme}, nan_policy="omit", rng=6, accept="all"
    )
    means = release.means(["after", "before"])
    assert means.records.tolist() == [400, 400]
    assert "100 of 500 records left out" in means.about
    for columns in (["after", "after"], ["after"], ["after", "w"]):
        with pytest.raises(ValueError, match="two or more different ones of the masked columns"):
            release.means(columns)
