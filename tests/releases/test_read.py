"""Files know schemes by their protocol: a stranger's is masked, published and read like ours."""

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask import scheme
from condmask.scheme import Scheme

pytestmark = pytest.mark.usefixtures("unaudited")

FORMATS = ["parquet", "csv"]


@dataclass(frozen=True)
class Scaled(Scheme):
    """A stranger's scheme: no law, no grid, no donors."""

    method: ClassVar[str] = "test_read.Scaled"
    factor: float = -2.0

    def mask_rows(self, x, stream, others):
        return self.factor * x


del scheme._REGISTER[Scaled.method]  # a guest of these tests alone


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(scheme._REGISTER, Scaled.method, Scaled)


def table():
    random = np.random.default_rng(2)
    values = random.normal(size=500)
    return {"a": np.append(values, 2.0), "b": np.append(0.0, values), "g": random.integers(0, 3, 501)}


def write(path, columns):
    if path.suffix == ".csv":
        pd.DataFrame(columns).to_csv(path, index=False)
    else:
        pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_strangers_scheme_masks_each_column_on_its_own(tmp_path, suffix):
    columns, target = table(), tmp_path / f"b.{suffix}"
    schemes = {"b": Scaled(), "a": Scaled(3.0)}
    published = cm.mask_file(write(tmp_path / f"a.{suffix}", columns), target, schemes)

    assert published.schemes == schemes
    assert cm.read_schemes(target) == schemes
    assert np.array_equal(cm.read_column(target, "a"), 3.0 * columns["a"])
    found = cm.read_column(target, "b")
    assert np.array_equal(found, -2.0 * columns["b"])
    assert not np.signbit(found[found == 0]).any()
    assert np.array_equal(cm.read_column(target, "g"), columns["g"])
    with pytest.raises(TypeError, match="has no estimator of the original"):
        cm.read_release(target, "a")
    with pytest.raises(TypeError, match="a must be masked by a scheme that has estimates, for Counts"):
        cm.read_counts(target, "a")


@pytest.mark.parametrize("suffix", FORMATS)
def test_swapping_keeps_the_values_and_parts_the_columns(tmp_path, suffix):
    columns, target = table(), tmp_path / f"b.{suffix}"
    source = write(tmp_path / f"a.{suffix}", columns)
    cm.mask_file(source, target, {"a": cm.DataSwapping(), "b": cm.DataSwapping()})
    a, b = cm.read_column(target, "a"), cm.read_column(target, "b")

    assert np.array_equal(np.sort(a), np.sort(columns["a"]))
    # swapped by one permutation, each value of `a` would stand beside the one before it, as in the source
    place = {value: row for row, value in enumerate([*columns["b"].tolist(), 2.0])}
    assert sum(place[x] == place[y] + 1 for x, y in zip(a.tolist(), b.tolist(), strict=True)) < 20


def test_additive_noise_is_read_back(tmp_path):
    columns, target = table(), tmp_path / "b.parquet"
    cm.mask_file(write(tmp_path / "a.parquet", columns), target, {"a": cm.AdditiveNoise(0.5)})
    estimate = cm.read_release(target, "a")

    assert estimate.scheme == cm.AdditiveNoise(0.5)
    assert abs(estimate.mean() - columns["a"].mean()) < 6 * 0.5 / np.sqrt(501)  # six standard errors


@pytest.mark.parametrize(
    ("schemes", "options", "message"),
    [
        ({}, {}, "schemes must name at least one column, got none"),
        (
            {"a": Scaled(), "b": cm.DataSwapping()},
            {},
            "schemes must be of one class, got Scaled and for 'b' DataSwapping",
        ),
        ({"a": Scaled()}, {"strata": "g"}, "strata must be None for test_read.Scaled"),
        ({"c": Scaled()}, {}, "c has 1 missing value"),
        ({"c": Scaled()}, {"nan_policy": "omit"}, "c must be complete, got 1 missing value"),
        ({"a": Scaled(1e308)}, {}, "a must stay finite when it is masked"),
    ],
)
def test_what_a_scheme_cannot_do_is_refused(tmp_path, schemes, options, message):
    columns = {**table(), "c": np.append(np.nan, np.sqrt(np.arange(500)))}
    source = write(tmp_path / "a.parquet", columns)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
        cm.mask_file(source, tmp_path / "b.parquet", schemes, **options)

    assert list(tmp_path.iterdir()) == [source]


def test_metadata_have_all_that_estimates_need(tmp_path):
    target = tmp_path / "b.csv"
    cm.mask_file(write(tmp_path / "a.csv", table()), target, {"a": cm.ConditionalMasking(0.6, 1.0)})

    assert json.loads((tmp_path / "b.csv.condmask.json").read_text()) == {
        "version": 1,
        "records": 501,
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
        "columns": {
            "a": {
                "scheme": "ConditionalMasking", "p": 0.6, "sigma": 1.0, "noise": "normal",
                "donors": "permutation", "decimals": None, "step": 2.0**-10, "scale": "linear",
                "strata": None, "small_strata": "refuse",
            }
        },
        "origins": {},
        "csv": {"delimiter": ",", "decimal": ".", "encoding": "utf-8", "na": []},
    }  # fmt: skip


# --- missing values ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "strata"),
    [
        (FORMATS[0], ("g", "h")),
        *(pytest.param(FORMATS[0], strata, marks=pytest.mark.slow) for strata in (None, "g")),
        *(pytest.param(suffix, ("g", "h"), marks=pytest.mark.long) for suffix in FORMATS[1:]),
    ],
)
def test_covariances_know_the_patterns_of_missing_values(tmp_path, suffix, strata):
    """Unbiased given the file; 4.5 standard errors over 150 releases: a false alarm in 70,000 runs."""
    random = np.random.default_rng(4)
    n, releases = 400, 150
    w = random.normal(size=n)
    x, y = w + random.normal(size=n), random.normal(size=n)
    x[w < -1.0], y[w > 0.5] = np.nan, np.nan  # what is missing depends on w: patterns differ in mean
    columns = {"x": x, "y": y, "w": w, "g": np.where(np.arange(n) % 2, "odd", "even")}
    columns["h"] = np.arange(n) % 50 // 49  # of 8 records, or fewer that have a value: merged
    source, target = write(tmp_path / f"a.{suffix}", columns), tmp_path / f"b.{suffix}"
    schemes = dict.fromkeys(("x", "y"), cm.ConditionalMasking(0.6, 0.5, small_strata="merge"))
    right, wrong = [], []
    for seed in range(releases):
        release = cm.mask_file(
            source, target, schemes, rng=seed, nan_policy="omit", overwrite=True, strata=strata
        )
        right.append(cm.read_release(target, "x").covariance(w))
        one_pool = cm.ConditionalMasking(0.6, 0.5)
        wrong.append(one_pool.estimate(cm.read_column(target, "x")).covariance(w))
    there = ~np.isnan(x)
    truth = np.cov(x[there], w[there])[0, 1]
    error = np.std(right, ddof=1) / np.sqrt(releases)

    assert release.patterns["x"] == ("x", "y")
    assert cm.read_schemes(target)["x"].strata == strata
    assert abs(np.mean(right) - truth) < 4.5 * error
    assert np.mean(wrong) - truth > 10.0 * error  # the same statistic sees patterns left out


def test_a_folder_that_is_not_there_is_no_question_of_its_suffix(tmp_path):
    with pytest.raises(cm.FileError, match="nowhere: no such file or directory"):
        cm.read_release(tmp_path / "nowhere")
    (tmp_path / "notes").write_text("")
    with pytest.raises(ValueError, match=r"must end in one of .parquet"):
        cm.read_release(tmp_path / "notes")
