"""Tables and files are masked on the grid of their data where no step was named; estimates stay
exact."""

import warnings

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.own_grid import common, own_grid

RANDOM = np.random.default_rng(8)
WHOLE = RANDOM.lognormal(7.0, 0.6, 3_000).round()
SCHEME = cm.ConditionalMasking(0.6, 300.0)
NARROW = cm.ConditionalMasking(0.6, 12.0)
MISSING = np.where(RANDOM.random(WHOLE.size) < 0.1, np.nan, WHOLE)


def masked(x, scheme=SCHEME, **options):
    frame = pd.DataFrame({"x": x})
    return cm.mask_table(frame, {"x": scheme}, rng=1, accept="all", **options)


@pytest.mark.parametrize(
    ("x", "step"),
    [
        (WHOLE, 1.0),
        (WHOLE.astype(int), 1.0),
        (WHOLE.astype(np.float32), 1.0),
        (WHOLE.round(-1), 10.0),
        (12.0 * WHOLE, 12.0),
        (0.5 * WHOLE, 0.5),
        (-WHOLE, 1.0),
        (np.where(np.arange(WHOLE.size) < 2_000, 0.0, WHOLE), 1.0),  # whose first values are all 0
        (np.append(WHOLE, 100.5), 0.5),
        (np.append(WHOLE, 100.1), 0.25),
        (WHOLE / 100.0, 0.25),  # cents are finer than the default step, to which they are rounded
        (WHOLE * np.pi, 0.25),
        (np.zeros(100), 0.25),
    ],
)
def test_a_table_is_masked_on_the_grid_of_its_data(x, step):
    release = masked(x)
    z = release.data["x"].to_numpy(float)

    assert release.schemes["x"].step == step
    assert (np.abs(z / step - np.rint(z / step)) < 1e-9).all()


def test_whole_numbers_stay_integers():
    release = masked(WHOLE.astype(int))

    assert release.data["x"].dtype == np.int64
    assert release.schemes["x"] == cm.ConditionalMasking(0.6, 300.0, decimals=0)


def test_nickels_have_a_step_that_is_no_power_of_ten():
    release = masked((WHOLE / 20.0).round(2), cm.ConditionalMasking(0.6, 30.0))

    assert release.schemes["x"].step == 0.05


def test_estimates_are_exact_for_the_grid_that_was_taken():
    # tens, and noise hardly wider than one: at the default step T_1 would be read 4.99 too low,
    # which is .03 of it here. The mean over 200 maskings is the share of the file, to 4 standard
    # errors: 1 in 10^4
    x = np.random.default_rng(2).normal(1_000.0, 30.0, 400).round(-1)
    points = [980.0, 1_000.0, 1_020.0]
    shares = [
        cm.mask_table({"x": x}, {"x": NARROW}, rng=seed, accept="all")["x"].cdf(points)
        for seed in range(200)
    ]
    error = np.std(shares, axis=0) / np.sqrt(200.0)

    assert (error < 0.004).all()
    truth = [np.mean(x <= point) for point in points]
    assert (np.abs(np.mean(shares, axis=0) - truth) < 4.0 * error).all()


@pytest.mark.parametrize("named", [{"step": 0.125}, {"decimals": 1}, {"step": 0.0}])
def test_a_step_that_is_named_stays(named):
    scheme = cm.ConditionalMasking(0.6, 300.0, **named)

    assert masked(WHOLE, scheme).schemes["x"] == scheme


def test_codes_and_gaps_have_no_part_in_the_grid():
    scheme = cm.ConditionalMasking(0.6, 300.0, missing=-99.99, missing_as="null")
    x = np.where(np.arange(WHOLE.size) % 50, MISSING, -99.99)

    assert masked(x, scheme, nan_policy="omit").schemes["x"].step == 1.0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("last", "step"), [(100.0, 1.0), (100.5, 0.5), (100.1, 0.25)])
def test_a_file_in_parts_takes_the_grid_of_all_parts(tmp_path, suffix, last, step):
    frame = pd.DataFrame({"x": np.append(WHOLE, last)})
    source = tmp_path / f"source.{suffix}"
    getattr(frame, f"to_{suffix}")(source, index=False)
    releases = [
        cm.mask_file(
            source,
            tmp_path / f"{rows}.{suffix}",
            {"x": SCHEME},
            rng=1,
            part_rows=rows,
            accept="all",
        )
        for rows in (None, 700)
    ]

    assert [len(release.parts) for release in releases] == [1, 4]
    assert [release.schemes["x"].step for release in releases] == [step, step]
    assert all(release["x"].n == WHOLE.size + 1 for release in releases)


def test_an_audit_looks_at_the_grid_on_which_a_table_is_masked():
    frame = pd.DataFrame({"x": WHOLE.round(-2)})

    named = cm.audit(frame, {"x": cm.ConditionalMasking(0.6, 300.0, decimals=-2)})
    assert str(cm.audit(frame, {"x": SCHEME})) == str(named)


def test_a_column_by_itself_keeps_the_step_of_the_scheme():
    z = SCHEME.mask(WHOLE, rng=1)

    assert np.mean(z % 1.0 != 0.0) > 0.2  # of the kept ones three in four
    with warnings.catch_warnings():
        warnings.simplefilter("error", cm.EstimateWarning)
        SCHEME.estimate(z)


def test_a_scheme_without_the_grid_of_the_release_is_warned_of():
    z = masked(WHOLE.round(-1)).data["x"].to_numpy()

    sentence = (
        r"z: all values are multiples of 10, and the scheme has a step of 0\.25: .* decimals=-1$"
    )
    with pytest.warns(cm.EstimateWarning, match=sentence):
        SCHEME.estimate(z)
    # so few records may lie on the coarser grid by chance
    with warnings.catch_warnings():
        warnings.simplefilter("error", cm.EstimateWarning)
        SCHEME.estimate(z[:50])
        masked(WHOLE.round(-1)).schemes["x"].estimate(z)


def test_the_step_of_two_parts_is_the_largest_common_one():
    half, third = (own_grid(k * WHOLE[:500], "float64", 1.0) for k in (2.0, 3.0))

    assert (half, third) == (2, 3)
    assert common(half, third) == 1


@pytest.mark.parametrize("far", [2.0**53, 1e18, 1e200])
def test_values_too_far_for_any_grid_are_estimated_without_a_word(far):
    scheme = cm.ConditionalMasking(0.3, 1.0)  # with steps of 2^-10
    z = np.append([far, -0.5 * far], np.zeros(62))  # so many would show a coarser grid

    with warnings.catch_warnings():
        warnings.simplefilter("error", cm.EstimateWarning)
        estimate = scheme.estimate(z)

    assert estimate.mean() == pytest.approx(far / 128.0, rel=1e-14)
