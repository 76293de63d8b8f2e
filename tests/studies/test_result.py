"""What the result of a study says: against sums written out."""

import dataclasses
import errno
import os

import numpy as np
import pytest
from study_runs import POPULATION, SCHEMES, run

import condmask as cm
from condmask.studies import replicates


def test_sums_give_bias_rmse_and_their_standard_errors():
    result = run(40, {"CM": SCHEMES["CM"]}, n=1_000)
    design = replicates.Design(
        POPULATION, {"CM": SCHEMES["CM"]}, 1_000, np.array([0.2, 0.7]), (3,), np.zeros(1), np.array([500.0])
    )
    values = np.concatenate([replicates.block(design, 5, block) for block in (0, 1)])[:40]
    truth = POPULATION.quantile(np.array([0.2]))[0]
    column = [c.estimator + c.statistic for c in result.columns].index("T_1quantile 0.2")
    error = values[:, column] - truth

    row = next(r for r in result.rows() if (r["estimator"], r["statistic"]) == ("T_1", "quantile 0.2"))

    assert row["bias"] == pytest.approx(error.mean(), rel=1e-9)
    assert row["bias_se"] == pytest.approx(error.std(ddof=1) / np.sqrt(40), rel=1e-9)
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)
    assert row["truth_of"] == "population"
    assert row["rmse_se"] == pytest.approx((error**2).std(ddof=1) / np.sqrt(40) / (2 * row["rmse"]), rel=1e-7)
    assert result.value("CM", "Z_i", "risk 500", "mean") == pytest.approx(
        values[:, [c.statistic for c in result.columns].index("risk 500")].mean(), rel=1e-12
    )


def test_standard_errors_about_a_truth_that_only_samples_know():
    population = lambda rng, replications, n: rng.exponential(3.0, (replications, n))  # noqa: E731
    scheme = cm.ConditionalMasking(0.6, 1.0)
    result = cm.simulate(population, {"CM": scheme}, n=100, replications=32, quantiles=[0.5], rng=3)
    design = replicates.Design(population, {"CM": scheme}, 100, np.array([0.5]), (), np.zeros(0), np.zeros(0))
    values = replicates.block(design, 3, 0)
    error = values[:, 3] - values[:, 0].mean()  # T_1's median about that of the samples

    row = result.rows()[0]

    # far from the centre of the sums, the first value
    assert abs(values[:, 0].mean() - values[0, 3]) > 0.3 * error.std()
    assert row["truth"] == pytest.approx(values[:, 0].mean(), rel=1e-12)
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)
    assert row["rmse_se"] == pytest.approx((error**2).std(ddof=1) / np.sqrt(32) / (2 * row["rmse"]), rel=1e-7)


def test_results_compare_by_value_and_are_frozen():
    one, other = simulated(), simulated()

    assert one == other
    assert one != simulated(rng=2)
    assert one != dataclasses.replace(other, sums=other.sums + 1.0)
    assert one == dataclasses.replace(other, seconds=5.0)
    assert one != "a result"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.seed = 3


def test_a_damaged_checkpoint_gets_one_sentence(tmp_path):
    file = tmp_path / "state.npz"
    simulated(checkpoint=file, replications=4)
    whole, rng = file.read_bytes(), np.random.default_rng(1)
    refused, sentences = 0, set()
    for k in range(400):
        damaged = bytearray(whole if k % 2 else whole[: rng.integers(len(whole))])
        for place in rng.integers(0, max(len(damaged), 1), 3 if damaged else 0):
            damaged[place] ^= 1 << rng.integers(8)
        file.write_bytes(damaged)
        try:
            cm.StudyResult.load(file)  # a flip in the zip's unused bytes harms nothing
        except ValueError as error:
            sentences.add(str(error))
            refused += 1
    assert sentences == {f"path must be a saved StudyResult, got {file}"}
    assert refused > 350
    file.write_bytes(whole)
    assert cm.StudyResult.load(file) == simulated(replications=4)


def simulated(population=POPULATION, schemes=None, **options):
    given = {"n": 100, "replications": 10, "rng": 1, **options}
    return cm.simulate(population, SCHEMES["CM"] if schemes is None else schemes, **given)


def test_a_result_that_cannot_be_saved_leaves_the_one_before(tmp_path, monkeypatch):
    file = tmp_path / "study.npz"
    simulated(replications=4).save(file)
    before = file.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(cm.FileError, match=r"study.npz: no space left on the device"):
        simulated(replications=6).save(file)
    assert [path.name for path in tmp_path.iterdir()] == ["study.npz"]
    assert file.read_bytes() == before
