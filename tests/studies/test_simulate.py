"""Studies: bits, truth, standard errors, checkpoints; and the paper's figures."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import laplace
from study_runs import POPULATION, SCHEMES, STUDY, run

import condmask as cm
from condmask.cli import main
from condmask.studies import populations, replicates
from condmask.studies import simulate as studies


@pytest.fixture
def short_blocks(monkeypatch):
    """Of 3 replications, for 2,000 records."""
    monkeypatch.setattr(replicates, "RECORDS", 6_000)
    return {"n": 2_000}


def test_workers_splits_and_extensions_leave_no_trace(tmp_path, short_blocks):
    whole = run(8, **short_blocks)
    file = tmp_path / "state.npz"

    assert run(8, workers=2, **short_blocks) == whole
    assert run(8, workers=map, **short_blocks) == whole
    assert run(4, checkpoint=file, **short_blocks) == run(4, **short_blocks)
    assert run(8, checkpoint=file, **short_blocks) == whole
    assert cm.StudyResult.load(file) == whole
    assert run(8, rng=6, **short_blocks) != whole
    with pytest.raises(ValueError, match=r"^replications must be at least the 8 in .*, got 5$"):
        run(5, checkpoint=file, **short_blocks)
    with pytest.raises(
        ValueError, match=r"^checkpoint must be of the same study and seed, got another one in"
    ):
        run(9, checkpoint=file, n=1_000)
    file.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"^checkpoint must be the file of a study, got .*, which is not$"):
        run(9, checkpoint=file)
    assert file.read_bytes() == b"something else"


def test_a_study_does_not_go_on_with_another_second_variable(tmp_path):
    def population(factor):
        def drawn(rng, rows, n):
            x = rng.normal(size=(rows, n))
            return x, factor * x + rng.normal(size=(rows, n))

        return drawn

    study = {"n": 50, "replications": 2, "rng": 1, "checkpoint": tmp_path / "state.npz"}
    cm.simulate(population(1.0), cm.ConditionalMasking(0.6, 1.0), **study)

    with pytest.raises(ValueError, match=r"^checkpoint must be of the same study and seed"):
        cm.simulate(population(2.0), cm.ConditionalMasking(0.6, 1.0), **study)


def test_an_interrupted_study_keeps_what_was_done(tmp_path, monkeypatch, short_blocks):
    file = tmp_path / "state.npz"
    whole = run(8, **short_blocks)
    original = replicates.block
    calls = []

    def interrupted(design, seed, index):
        calls.append(index)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(design, seed, index)

    monkeypatch.setattr(replicates, "block", interrupted)
    with pytest.warns(cm.StudyWarning, match=r"^interrupted after 3 of 8 replications$"):
        partial = run(8, checkpoint=file, **short_blocks)
    monkeypatch.setattr(replicates, "block", original)

    assert partial.replications == 3
    assert run(8, checkpoint=file, **short_blocks) == whole


@pytest.mark.parametrize(("every", "saved"), [(-1.0, 2), (np.inf, None)])
def test_a_long_study_is_saved_on_its_way(tmp_path, monkeypatch, every, saved):
    """Whatever ends it: of a kill nothing is heard."""
    file, original = tmp_path / "state.npz", replicates.block
    chosen = {"swapped": cm.DataSwapping()}

    def killed(design, seed, index):
        if index == 2:
            raise SystemExit
        return original(design, seed, index)

    monkeypatch.setattr(replicates, "RECORDS", 100)
    monkeypatch.setattr(studies, "SAVE_SECONDS", every)
    monkeypatch.setattr(replicates, "block", killed)
    with pytest.raises(SystemExit):
        run(5, chosen, n=100, checkpoint=file)
    monkeypatch.setattr(replicates, "block", original)

    assert file.exists() == (saved is not None)
    assert saved is None or cm.StudyResult.load(file) == run(saved, chosen, n=100)
    assert run(5, chosen, n=100, checkpoint=file) == run(5, chosen, n=100)


def test_every_scheme_is_near_the_truth():
    result = run(12)
    close = {"T_1", "T_b", "ANM"}
    for row in result.rows():
        if row["estimator"] in close and row["statistic"] in ("mean", "s.d.", "cdf(0)", "moment 3"):
            bound = 0.02 * (1.0 if row["statistic"] == "cdf(0)" else 0.0)  # T_b and ANM smooth
            assert abs(row["bias"]) < 6 * row["bias_se"] + bound, row
        if row["estimator"] == "masked" and row["statistic"].startswith("quantile"):
            assert abs(row["bias"]) < 6 * row["bias_se"] + 10.0, row
    assert abs(result.value("swapped", "masked", "correlation", "mean")) < 0.02
    assert result.value("shuffled", "masked", "correlation", "bias") == pytest.approx(0.0, abs=0.02)


def test_a_callable_is_its_own_truth():
    result = cm.simulate(
        lambda rng, replications, n: rng.exponential(1.0, (replications, n)),
        {"CM": cm.ConditionalMasking(0.6, 0.5)}, n=4_000, replications=48, quantiles=[0.5], rng=1,
    )  # fmt: skip
    row = next(r for r in result.rows() if r["statistic"] == "quantile 0.5" and r["estimator"] == "T_1")

    assert row["truth_of"] == "sample"
    assert row["truth"] == pytest.approx(np.log(2), abs=0.02)
    assert abs(row["bias"]) < 6 * row["bias_se"]


def test_a_study_imports_no_pandas():
    code = (
        "import sys, condmask as cm;"
        "r = cm.simulate(cm.paper_population(), cm.DataSwapping(), n=50, replications=2, rng=1); r.rows();"
        "assert 'pandas' not in sys.modules; r.to_frame(); assert 'pandas' in sys.modules"
    )

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr


def test_the_command_runs_a_study(tmp_path, capsys):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)

    assert (
        main(["simulate", str(file), "--out", str(tmp_path / "r.npz"), "--plot", str(tmp_path / "r.png")])
        == 0
    )
    shown = capsys.readouterr().out
    assert main(["simulate", str(file), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)

    assert shown.startswith("4 replications, seed 3,")
    assert "RankSwapping(percent=10.0)" in shown
    assert result["rows"][0]["scheme"] == "masked"
    assert cm.StudyResult.load(tmp_path / "r.npz").replications == 4
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert len(cm.StudyResult.load(tmp_path / "r.npz").to_frame()) == len(result["rows"])


@pytest.mark.parametrize(
    ("option", "name", "sentence"),
    [
        ("--out", "nowhere/r.npz", "--out must be a file in a folder that can be written, got "),
        ("--plot", "nowhere/r.png", "--plot must be a file in a folder that can be written, got "),
        ("--plot", "r.xyz", "--plot must end in one of "),
        (
            "--checkpoint",
            "nowhere/r.npz",
            "--checkpoint must be a file in a folder that can be written, got ",
        ),
    ],
)
def test_the_command_refuses_wrong_paths_before_the_work(
    tmp_path, capsys, monkeypatch, option, name, sentence
):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    monkeypatch.setattr(replicates, "block", None)  # no replicate is drawn

    assert main(["simulate", str(file), option, str(tmp_path / name)]) in (1, 2)
    assert capsys.readouterr().err.startswith(f"condmask: error: {sentence}")


def test_an_interrupted_command_shows_what_was_done(tmp_path, capsys, monkeypatch):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace("n = 300", "n = 40000"))
    original = replicates.block

    def interrupted(design, seed, index):
        if index == 2:
            raise KeyboardInterrupt
        return original(design, seed, index)

    monkeypatch.setattr(replicates, "block", interrupted)

    assert main(["simulate", str(file)]) == 130
    out, err = capsys.readouterr()
    assert out.startswith("2 replications, seed 3,")
    assert "warning: interrupted after 2 of 4 replications" in err


def simulated(population=POPULATION, schemes=None, **options):
    given = {"n": 100, "replications": 10, "rng": 1, **options}
    return cm.simulate(population, SCHEMES["CM"] if schemes is None else schemes, **given)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: simulated("paper"), "population must be callable as .*, got 'paper'"),
        (
            lambda: simulated(lambda rng, r, n: rng.normal(size=(n, r))),
            r"population must give arrays of numbers of shape \(32, 100\), got \(100, 32\) of float64",
        ),
        (
            lambda: simulated(lambda rng, r, n: np.full((r, n), "a")),
            r"population must give arrays of numbers of shape \(32, 100\), got \(32, 100\) of <U1",
        ),
        (
            lambda: simulated(lambda rng, r, n: (rng.normal(size=(r, n)), rng.normal(size=n))),
            r"population must give arrays of numbers of shape \(32, 100\), got \(100,\) of float64",
        ),
        (
            lambda: simulated(lambda rng, r, n: np.full((r, n), np.nan)),
            "population must give finite numbers, got others among them",
        ),
        (
            lambda: simulated(lambda rng, r, n: rng.normal(size=(r, n)), cm.DataShuffling()),
            "others must have the unmasked columns that DataShuffling uses, got none",
        ),
        (lambda: simulated(schemes=[SCHEMES["CM"]] * 2), r"schemes must differ, or be a dict .*"),
        (lambda: simulated(schemes=["CM"]), r"schemes must be masking schemes, got \['CM'\]"),
        (lambda: simulated(schemes={}), r"schemes must be masking schemes, got \{\}"),
        (lambda: simulated(schemes=cm.DataSwapping), "schemes must be masking schemes, got <class .*"),
        (lambda: simulated(schemes={"": SCHEMES["CM"]}), "schemes must have names of text, got ''"),
        (lambda: simulated(schemes={1: SCHEMES["CM"]}), "schemes must have names of text, got 1"),
        (
            lambda: simulated(schemes=cm.ConditionalMasking(0.6, 1.0, strata="region")),
            "schemes must have no strata, .*strata='region'.*",
        ),
        (lambda: simulated(n=3), "n must be a whole number of at least 4, got 3"),
        (lambda: simulated(n=10**30), "n must be at most 10,000,000, got 1000000000000000000000000000000"),
        (
            lambda: simulated(quantiles=[0.5] * 5_000, cdf_points=[0.0] * 5_001),
            "quantiles, moments, cdf_points and risk_distances must be at most 10,000 together, got 10,0.1",
        ),
        (lambda: simulated(replications=1), "replications must be a whole number of at least 2, got 1"),
        (
            lambda: simulated(confidence_levels=[1e-300]),
            "confidence_levels must be at least 1e-09, got 1e-300",
        ),
        (lambda: simulated(moments=0), "moments must be a whole number of at least 1, got 0"),
        (lambda: simulated(risk_distances=[1.0, -2.0]), r"risk_distances must not be negative, got -2\.0"),
        (lambda: simulated(rng="a"), "rng must be a whole number of at least 0, got 'a'"),
        (lambda: simulated(checkpoint=5), "checkpoint must be a path, got 5"),
        (lambda: simulated(checkpoint="a\0b"), r"checkpoint must be a path, got 'a\\x00b'"),
        (lambda: simulated(checkpoint="/nowhere/a.npz"), "checkpoint must be a file in a folder .*"),
        (lambda: cm.NormalCopula(["norm"]), "margins must be frozen SciPy distributions, got 'norm'"),
        (lambda: cm.NormalCopula([laplace()], 1.5), r"correlation must lie between -1 and 1, got 1\.5"),
        (lambda: cm.Resampled([1.0, np.nan]), "x must be complete, got 1 missing value, .* position 1"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match="^" + sentence + "$"):
        call()


def test_a_checkpoint_knows_its_samples_and_not_its_process(tmp_path):
    file = tmp_path / "state.npz"

    def column(offset):
        return cm.Resampled(np.arange(50.0) + offset)

    def drawn():  # another function object every time, as in another process
        return lambda rng, replications, n: rng.normal(size=(replications, n))

    simulated(column(0.0), checkpoint=file)
    with pytest.raises(ValueError, match=r"^checkpoint must be of the same study"):
        simulated(column(1.0), checkpoint=file)
    longer = simulated(column(0.0), checkpoint=file, replications=40)  # and a second block
    assert longer == simulated(column(0.0), replications=40)

    file.unlink()
    simulated(drawn(), checkpoint=file)
    assert simulated(drawn(), checkpoint=file, replications=40) == simulated(drawn(), replications=40)


def test_a_checkpoint_that_cannot_be_written_costs_no_results(tmp_path, monkeypatch):
    def full(self, path):
        raise OSError("no space left")

    monkeypatch.setattr(cm.StudyResult, "save", full)
    with pytest.warns(cm.StudyWarning, match=r"^checkpoint .* could not be written: no space left$"):
        result = simulated(checkpoint=tmp_path / "state.npz")

    assert result == simulated()


# --- reverse mapping ---

REVERSED = cm.ConditionalMasking(0.5, 600.0, reverse_mapping=True)


def rearranged_plainly(x, scheme, stream):
    """A release by reverse mapping in plain NumPy."""
    swapped, kept = stream.random(x.size) < scheme.p, None
    kept, z = np.flatnonzero(~swapped), x.copy()
    keys = x[kept] + stream.normal(0.0, scheme.sigma, kept.size)
    z[kept[np.argsort(keys)]] = np.sort(x[kept])
    z[swapped] = stream.permutation(x[swapped])
    return z


def test_a_study_of_reverse_mapping_is_that_of_plain_releases():
    stream = np.random.default_rng(6)
    x, w = (each[0] for each in POPULATION(stream, 1, 300))
    found = cm.simulate(
        populations.Fixed(x, w), {"it": REVERSED}, n=300, replications=600, quantiles=[0.2, 0.7],
        moments=[3], cdf_points=[0.0], risk_distances=[500.0], rng=5,
    )  # fmt: skip

    z = np.array([rearranged_plainly(x, REVERSED, stream) for _ in range(600)])
    order = np.argsort(x)  # all releases show the values of x, and have the pseudo-values of these
    undone = REVERSED.estimate(x).pseudo_values()[order][np.searchsorted(x[order], z)]
    above = w > np.median(w)
    correlation = undone @ (w - w.mean()) / (300 * x.std() * w.std())
    difference = undone[:, above].mean(axis=1) - undone[:, ~above].mean(axis=1)
    for name, plain in (("correlation", correlation), ("difference", difference)):
        own = {row["statistic"]: row for row in found.rows() if row["estimator"] == "T_1"}[name]
        spread = plain.std() / np.sqrt(600)
        # two means of 600 releases; and two standard deviations, each known to 1 in sqrt(1200)
        assert own["mean"] == pytest.approx(plain.mean(), abs=4.0 * np.sqrt(2.0) * spread)
        assert own["rmse"] == pytest.approx(np.sqrt(np.mean((plain - own["truth"]) ** 2)), rel=0.16)
        assert abs(own["bias"]) < 4.0 * own["bias_se"]
    near = np.mean(np.abs(z - x) < 500.0, axis=1)
    told = found.value("it", "Z_i", "risk 500", "mean")
    assert told == pytest.approx(near.mean(), abs=4.0 * np.sqrt(2.0 / 600) * near.std())


def test_what_is_of_the_column_alone_has_no_error_about_the_file(monkeypatch):
    monkeypatch.setattr(replicates, "ROWS", 5)
    x, w = (each[0] for each in POPULATION(np.random.default_rng(6), 1, 200))
    found = cm.simulate(
        populations.Fixed(x, w), {"it": REVERSED, "ends": cm.ConditionalMasking(
            0.5, 600.0, reverse_mapping=True, aggregate_ends=3)},
        n=200, replications=5, quantiles=[0.2, 0.7], moments=[2, 3], cdf_points=[0.0],
        confidence_levels=[0.9], rng=5,
    )  # fmt: skip

    alone = ["quantile 0.2", "quantile 0.7", "mean", "s.d.", "moment 2", "moment 3", "cdf(0)"]
    for row in found.rows():
        if row["scheme"] == "it" and "rmse" in row:
            exact = row["statistic"] in alone
            assert (row["rmse"] == 0.0, row["bias"] == 0.0) == (exact, exact), row["statistic"]
            assert np.isfinite(row["rmse_se"])
    for statistic in alone:  # an interval without a length covers what it is
        assert found.value("it", "0.9 interval, file", f"coverage of {statistic}", "mean") == 1.0
        assert found.value("it", "0.9 interval, file", f"length of {statistic}", "mean") == 0.0
    assert found.value("ends", "T_1", "mean", "rmse") < 1e-9  # means of means
    assert found.value("ends", "T_1", "s.d.", "rmse") > 0.0
    assert found.value("ends", "T_1", "quantile 0.2", "rmse") == 0.0


ASKED = {"n": 500, "rng": 3, "quantiles": [0.5], "confidence_levels": [0.9]}


def test_a_study_of_reverse_mapping_has_the_same_bits_for_any_workers(monkeypatch):
    monkeypatch.setattr(replicates, "ROWS", 4)
    one, two = (
        cm.simulate(POPULATION, {"it": REVERSED}, replications=10, workers=workers, **ASKED)
        for workers in (1, 2)
    )

    assert one == two


@pytest.mark.slow  # those of single releases are counted in tests/estimates/test_reverse_mapping.py
def test_intervals_after_reverse_mapping_cover():
    whole = cm.simulate(POPULATION, {"it": REVERSED}, replications=70, **ASKED)

    # of 70 samples some 63 cover, with a standard deviation of 2.5
    for statistic in ("correlation", "mean", "quantile 0.5"):
        covered = whole.value("it", "0.9 interval, population", f"coverage of {statistic}", "mean")
        assert 0.75 < covered <= 1.0
