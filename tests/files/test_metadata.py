"""What is published beside data: it is that file's or refused."""

import shutil

import numpy as np
import pytest

import condmask as cm
from condmask.files.metadata import SIDECAR

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.fixture
def release(tmp_path):
    x = np.random.default_rng(1).normal(50.0, 10.0, 300)
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(map(str, x)) + "\n")
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"x": cm.ConditionalMasking(0.6, 5.0)})
    return tmp_path / "b.csv"


def test_a_file_and_what_is_beside_it_may_be_renamed_together(release):
    moved = release.with_name("c.csv")
    release.rename(moved)
    release.with_name("b.csv" + SIDECAR).rename(moved.with_name("c.csv" + SIDECAR))

    assert cm.read_release(moved, "x").n == 300


@pytest.mark.parametrize("change", ["other", "edited", "longer"])
def test_another_file_is_refused(release, change):
    data = release.read_bytes()
    digit = data.rindex(b".") + 1
    changed = {
        "other": data.replace(b"\n", b"\r\n"),
        "edited": data[:digit] + (b"1" if data[digit : digit + 1] != b"1" else b"2") + data[digit + 1 :],
        "longer": data + b"3.0\n",
    }[change]
    assert cm.read_release(release, "x").n == 300
    release.write_bytes(changed)

    for read in (cm.read_schemes, cm.read_release, cm.read_counts):
        with pytest.raises(cm.FileError, match=r"is not the file that b[.]csv[.]condmask"):
            read(release)


def test_an_orphan_says_what_was_looked_for(release):
    moved = release.with_name("c.csv")
    shutil.copy(release, moved)
    with pytest.raises(ValueError, match=r"what was published in c[.]csv[.]condmask[.]json beside"):
        cm.read_release(moved)


def test_a_release_is_all_its_masked_columns(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.multivariate_normal(
        [50.0, 20.0, 0.0], [[100.0, 30.0, 5.0], [30.0, 25.0, 1.0], [5.0, 1.0, 1.0]], 400
    )
    region = np.array(["north", "south"])[rng.integers(0, 2, 400)]
    lines = [f"{a!r},{b!r},{c!r},{d}" for (a, b, c), d in zip(x.tolist(), region, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["pay,bonus,score,region", *lines]) + "\n")
    scheme = cm.ConditionalMasking(0.6, 2.0)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"pay": scheme, "bonus": scheme})
    release = cm.read_release(tmp_path / "b.csv")
    pay = release["pay"]

    assert list(release) == ["pay", "bonus"]
    assert release["pay"] is pay
    assert pay.correlation("bonus") == pay.correlation(release["bonus"])
    assert pay.covariance("score") == pay.covariance(cm.read_column(tmp_path / "b.csv", "score"))
    assert pay.correlation_interval("bonus").low == pay.correlation_interval(release["bonus"]).low
    assert pay.group_means("region")["south"].estimate == pay.group_means(region)["south"].estimate
    assert list(pay.regress(["score"])) == ["intercept", "score"]
    score = cm.read_column(tmp_path / "b.csv", "score")
    assert pay.total("score").estimate == pay.total(score).estimate
    with pytest.raises(ValueError, match="labels must be a column that was not masked, got 'bonus'"):
        pay.group_means("bonus")
    with pytest.raises(ValueError, match="has no column 'age', it has 'pay', 'bonus', 'score', 'region'"):
        pay.correlation("age")
    with pytest.raises(TypeError, match="other must be numeric"):
        pay.correlation("region")
    with pytest.raises(KeyError):
        release["score"]
    with pytest.raises(ValueError, match="other must be a column, got 'score': names are known"):
        scheme.estimate(np.ones(30)).correlation("score")
