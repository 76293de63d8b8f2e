"""Studies: bits, truth, standard errors, checkpoints; and the paper's figures."""

import dataclasses
import json
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import gamma, laplace

import condmask as cm
from condmask.cli import main
from condmask.studies import paper, populations, replicates
from condmask.studies import simulate as studies
from condmask.studies import toml as study_files

SCHEMES = {
    "CM": cm.ConditionalMasking(0.6, 1000.0),
    "Laplace": cm.ConditionalMasking(0.6, 1000.0, noise="laplace", donors="permutation"),
    "ANM": cm.AdditiveNoise(1400.0),
    "ranks": cm.RankSwapping(5.0),
    "shuffled": cm.DataShuffling(),
    "swapped": cm.DataSwapping(),
}
POPULATION = cm.paper_population()


def run(replications, schemes=None, **options):
    given = {
        "n": 20_000, "rng": 5, "quantiles": [0.2, 0.7], "moments": [3], "cdf_points": [0.0],
        "risk_distances": [500.0], **options,
    }  # fmt: skip
    chosen = SCHEMES if schemes is None else schemes
    return cm.simulate(POPULATION, chosen, replications=replications, **given)


def test_workers_splits_and_extensions_leave_no_trace(tmp_path):
    whole = run(8)  # blocks of 3 replications
    file = tmp_path / "state.npz"

    assert run(8, workers=2) == whole
    assert run(8, workers=map) == whole
    assert run(4, checkpoint=file) == run(4)
    assert run(8, checkpoint=file) == whole
    assert cm.StudyResult.load(file) == whole
    assert run(8, rng=6) != whole
    with pytest.raises(ValueError, match=r"^replications must be at least the 8 in .*, got 5$"):
        run(5, checkpoint=file)
    with pytest.raises(
        ValueError, match=r"^checkpoint must be of the same study and seed, got another one in"
    ):
        run(9, checkpoint=file, n=1_000)
    file.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"^checkpoint must be the file of a study, got .*, which is not$"):
        run(9, checkpoint=file)
    assert file.read_bytes() == b"something else"


def test_an_interrupted_study_keeps_what_was_done(tmp_path, monkeypatch):
    file = tmp_path / "state.npz"
    whole = run(8)
    original = replicates.block
    calls = []

    def interrupted(design, seed, index):
        calls.append(index)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(design, seed, index)

    monkeypatch.setattr(replicates, "block", interrupted)
    with pytest.warns(cm.StudyWarning, match=r"^interrupted after 3 of 8 replications$"):
        partial = run(8, checkpoint=file)
    monkeypatch.setattr(replicates, "block", original)

    assert partial.replications == 3
    assert run(8, checkpoint=file) == whole


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


def test_wide_rows_are_left_to_the_general_engine():
    # one row is far wider than the noise, the other not: both have the crossings of an estimate of their own
    scheme, q = cm.ConditionalMasking(0.6, 1.0, donors="sample"), np.array([0.2, 0.5])
    wide = np.random.default_rng(1).standard_cauchy(400) * 1e4
    x = np.array([wide, np.random.default_rng(2).normal(size=400)])
    design = replicates.Design(None, {"CM": scheme}, 400, q, (), np.zeros(0), np.zeros(0))
    z = scheme.mask_rows(x, np.random.default_rng(3), ())
    ordered = np.sort(z, axis=1)

    found = replicates._estimates(scheme, z, (), design)

    served = replicates._fused_quantiles(ordered, np.ones(2), q, scheme.law)[1]
    assert served.tolist() == [False, True]
    for row in range(2):
        estimate = scheme.estimate(z[row])
        for values, bandwidth in zip(found, (None, estimate.bandwidth("scott")), strict=True):
            expected = estimate.quantile(q, bandwidth=bandwidth, crossing="first")
            # T is known to 1e-7, which moves a crossing by some 1e-7 of the scale of the data
            np.testing.assert_allclose(values[row, :2], expected, rtol=1e-5, atol=1e-5)
            assert values[row, 2] == pytest.approx(z[row].mean(), rel=1e-12)


@pytest.mark.parametrize(("spread", "defined"), [(0.3, 0), (7.4, None), (40.0, 20)])
def test_t_b_is_not_defined_where_its_bandwidth_is_too_small_for_the_grid(spread, defined):
    scheme = cm.ConditionalMasking(0.6, 1.0, decimals=0)
    result = cm.simulate(
        lambda rng, replications, n: rng.normal(0.0, spread, (replications, n)).round(),
        {"CM": scheme}, n=4_000, replications=20, quantiles=[0.5], cdf_points=[0.0], rng=1,
    )  # fmt: skip
    count = {
        (row["estimator"], row["statistic"]): row["defined"] for row in result.rows() if "defined" in row
    }

    assert count["T_1", "quantile 0.5"] == count["T_1", "cdf(0)"] == count["T_b", "mean"] == 20
    assert count["T_b", "quantile 0.5"] == count["T_b", "cdf(0)"]
    if defined is None:
        assert 0 < count["T_b", "quantile 0.5"] < 20
    else:
        assert count["T_b", "quantile 0.5"] == defined


def test_a_callable_is_its_own_truth():
    result = cm.simulate(
        lambda rng, replications, n: rng.exponential(1.0, (replications, n)),
        {"CM": cm.ConditionalMasking(0.6, 0.5)}, n=4_000, replications=48, quantiles=[0.5], rng=1,
    )  # fmt: skip
    row = next(r for r in result.rows() if r["statistic"] == "quantile 0.5" and r["estimator"] == "T_1")

    assert row["truth_of"] == "sample"
    assert row["truth"] == pytest.approx(np.log(2), abs=0.02)
    assert abs(row["bias"]) < 6 * row["bias_se"]


def test_risks_of_rounded_data_count_whole_steps():
    scheme = cm.ConditionalMasking(0.6, 0.4, decimals=1)
    distances = [0.1, 0.3, 0.7, 1.1]  # of which floating differences of tenths fall on either side
    result = cm.simulate(
        lambda rng, replications, n: rng.normal(0.0, 0.5, (replications, n)).round(1),
        {"CM": scheme}, n=1_000, replications=320, quantiles=[0.5], risk_distances=distances, rng=1,
    )  # fmt: skip

    for row in result.rows():
        if row["estimator"] == "Z_i":
            # of the same samples, so their difference varies less than the mean; 5 cells: below 5 * 7e-6
            assert abs(row["mean"] - row["closed_form"]) < 4.5 * row["mean_se"]


@pytest.mark.parametrize("grid", [{}, {"decimals": 1}, {"step": 0.05}, {"step": 1 / 3}, {"decimals": -1}])
@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_masked_samples_lie_on_the_grid(grid, donors):
    scheme = cm.ConditionalMasking(0.6, 40.0, donors=donors, **grid)
    x = np.random.default_rng(1).normal(0.0, 300.0, (4, 2_000))

    z = scheme.mask_rows(x, np.random.default_rng(2), ())

    # the nearest doubles to whole steps, so that no ulp tells kept values from swapped ones
    steps = np.rint(z / scheme.law.step)
    step = {"decimals": lambda k: 10.0**-k, "step": float}
    exact = [Fraction(step[name](value)).limit_denominator(10**6) for name, value in grid.items()]
    exact = exact or [Fraction(scheme.step)]
    assert z.ravel().tolist() == [float(int(k) * exact[0]) for k in steps.ravel()]
    rounded = np.floor(x / scheme.law.step + 0.5)
    swapped = np.array([np.isin(a, b) for a, b in zip(steps, rounded, strict=True)])
    # of kept values some meet another's on a coarse grid; six standard errors of a coin of .6
    if not grid:
        assert abs(swapped.mean() - 0.6) < 6 * np.sqrt(0.24 / x.size) + 0.05


def test_moments_of_a_study_are_those_of_the_estimate():
    scheme = cm.ConditionalMasking(0.6, 1000.0)
    design = replicates.Design(
        POPULATION, {"CM": scheme}, 60, np.array([0.5]), (3, 4), np.zeros(0), np.zeros(0)
    )
    x, others = replicates.samples(design, 5)
    key = replicates._key(design, 5, 0)
    z = scheme.mask_rows(x, key.derive(b"scheme", b"CM").stream(0, 0), others)
    estimate = scheme.estimate(z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.EstimateWarning)
        expected = np.column_stack([
            estimate.mean(), estimate.std(), estimate.moment(3), estimate.moment(4),
            estimate.correlation(others[0]),
        ])  # fmt: skip

    found = replicates.block(design, 5, 0)

    own = 1 + 6 + 1  # the sample's statistics and T_1's quantile come before
    assert found[:, own : own + 5] == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert np.isfinite(expected).mean() > 0.9


@pytest.mark.parametrize(
    ("scheme", "kept"),
    [
        (cm.AdditiveNoise(900.0), 1.0),
        (cm.AdditiveNoise(900.0, noise="normal"), 1.0),
        (cm.ConditionalMasking(0.6, 900.0), 0.4 - 0.6 / 59.0),
    ],
    ids=str,
)
def test_correlations_of_a_study_are_those_of_the_masked_values_over_what_masking_keeps(scheme, kept):
    # noise alone leaves a covariance as it is; a donor is one of the 59 others
    design = replicates.Design(POPULATION, {"S": scheme}, 60, np.array([0.5]), (), np.zeros(0), np.zeros(0))
    x, others = replicates.samples(design, 5)
    z = scheme.mask_rows(x, replicates._key(design, 5, 0).derive(b"scheme", b"S").stream(0, 0), others)
    expected = []
    for row, w in zip(z, others[0], strict=True):
        (masked, both), (_, other) = np.cov(row, w)
        original = masked - (1.0 - scheme.law.p) * scheme.law.variance
        expected.append(both / kept / np.sqrt(original * other) if original > 0.0 else np.nan)

    found = replicates.block(design, 5, 0)

    # the quantile, mean, s.d., correlation and difference of the sample, and of the estimator
    assert found[:, 8] == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert np.isfinite(expected).mean() > 0.8


def test_closed_forms_are_those_of_every_sample(monkeypatch):
    schemes = {
        "CM": cm.ConditionalMasking(0.6, 1000.0, decimals=-2, donors="permutation"), "ANM": SCHEMES["ANM"]
    }  # fmt: skip

    def average():
        design = replicates.Design(
            POPULATION, schemes, 900, np.array([0.5]), (), np.zeros(0), np.array([500.0])
        )
        x = np.concatenate([replicates.samples(design, 5, block)[0] for block in (0, 1, 2)])[:70]
        x = [schemes["CM"].law.from_units(schemes["CM"].law.to_units(row)) for row in x]
        forms = [(s.risk(row, 500.0), s.mse(row), s.mse_of_mean(row)) for row in x for s in schemes.values()]
        return np.mean(np.reshape(forms, (70, 2, 3)), axis=0)[0]

    def found():
        result = run(70, schemes, n=900)
        places = [("Z_i", "risk 500"), ("Z_i", "MSE"), ("mean of Z", "MSE")]
        return [result.value("CM", *place, "closed_form") for place in places]

    assert found() == pytest.approx(average(), rel=1e-12)
    monkeypatch.setattr(replicates, "ROWS", 24)  # other blocks, other samples
    assert found() == pytest.approx(average(), rel=1e-12)


@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_the_mean_squared_error_of_the_mean_knows_shared_donors(donors):
    scheme = cm.ConditionalMasking(0.6, 1.0, donors=donors)
    result = cm.simulate(
        lambda rng, replications, n: rng.normal(0.0, 2.0, (replications, n)),
        {"CM": scheme}, n=14, replications=8_000, quantiles=[0.5], rng=2,
    )  # fmt: skip
    row = next(r for r in result.rows() if (r["estimator"], r["statistic"]) == ("mean of Z", "MSE"))

    # kappa, .063 here, adds 6% to donors that are shared: some 12 standard errors; false alarm below 7e-6
    assert abs(row["mean"] - row["closed_form"]) < 4.5 * row["mean_se"]


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


def test_a_study_imports_no_pandas():
    code = (
        "import sys, condmask as cm;"
        "r = cm.simulate(cm.paper_population(), cm.DataSwapping(), n=50, replications=2, rng=1); r.rows();"
        "assert 'pandas' not in sys.modules; r.to_frame(); assert 'pandas' in sys.modules"
    )

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr


def test_margins_are_exact_in_both_tails():
    margin = gamma(2.0)
    normal = np.array([-9.0, -3.0, 0.0, 3.0, 9.0, 20.0])

    found = populations._of_normal(margin, normal)

    # P(X > x) = (1 + x) e^-x against the normal law's own upper tail, down to 3e-89
    upper = (1.0 + found[3:]) * np.exp(-found[3:])
    assert upper == pytest.approx(ndtr(-normal[3:]), rel=1e-10)
    assert margin.cdf(found[:3]) == pytest.approx(ndtr(normal[:3]), rel=1e-10)


def test_populations_know_their_truth():
    x, w = POPULATION(np.random.default_rng(1), 20, 20_000)
    assert x.shape == w.shape == (20, 20_000)
    assert POPULATION.correlation() == pytest.approx(-0.68645, abs=1e-5)
    # six standard errors of a correlation at n = 400,000, heavy tails included
    assert np.corrcoef(x.ravel(), w.ravel())[0, 1] == pytest.approx(POPULATION.correlation(), abs=0.02)
    assert POPULATION.quantile(np.array([0.3])) == pytest.approx(laplace(10, 1000).ppf([0.3]))
    assert np.quantile(x, 0.3) == pytest.approx(laplace(10, 1000).ppf(0.3), abs=15)
    real = cm.Resampled([1.0, 2.0, 3.0, 9.0], [2.0, 1.0, 4.0, 8.0])
    assert real.quantile(np.array([0.5])).tolist() == [2.0]
    assert real.cdf(np.array([2.0])).tolist() == [0.5]
    a, b = real(np.random.default_rng(1), 2, 50)
    assert set(zip(a.ravel(), b.ravel(), strict=True)) <= {(1, 2), (2, 1), (3, 4), (9, 8)}


STUDY = """
n = 300
replications = 4
quantiles = [0.5]
risk_distances = [100.0]
rng = 3

[population]
kind = "copula"
correlation = 0.4
margins = [{name = "norm", loc = 5.0, scale = 2.0}, {name = "gamma", a = 2.0}]

[[schemes]]
name = "masked"
p = 0.6
sigma = 2.0

[[schemes]]
scheme = "RankSwapping"
percent = 10
"""


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("n = ", "is no TOML"),
        ("n = 4", "must have 'replications'"),
        ("n = 4\nsize = 3", r"got \['size'\]"),
        (STUDY.replace("RankSwapping", "guessing"), "scheme must be one of .* got 'guessing'"),
        (STUDY.replace("percent", "share"), "does not take these options"),
        (STUDY.replace('"gamma"', '"gama"'), "must be a SciPy distribution, got 'gama'"),
        (STUDY.replace('"copula"', '"vine"'), "must be 'paper', 'copula' or 'file', got 'vine'"),
    ],
)
def test_a_wrong_study_gets_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "study.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=sentence):
        study_files.read_study(file)


def test_the_paper_agrees_where_it_is_no_misprint(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = paper.run(400, rng=7, sizes=(2000,))
    honest = [line for line in result.lines if not line.cell.remark]
    # 24 cells within 4.5 joint standard errors: false alarm below 24 * 7e-6
    assert len(honest) == 24
    assert max(abs(line.z) for line in honest) < 4.5
    assert min(abs(line.z) for line in result.lines if line.cell.remark) > 20
    text = paper.show(result)
    written = paper.write(result, tmp_path)

    assert "misprint: scored against 1000" in text
    assert "-0.68645" in text
    assert [path.suffix for path in written] == [".csv", ".csv", ".png"]
    assert all(path.stat().st_size > 1000 for path in written)


def test_rmse_is_the_exact_standard_deviation():
    schemes = {
        "CM": cm.ConditionalMasking(0.6, 1000.0, donors="sample"),
        "ANM": cm.AdditiveNoise(1000.0 * 2**0.5),
    }
    result = cm.simulate(POPULATION, schemes, n=2_000, replications=3_000, rng=8, risk_distances=[500.0])
    exact = [109.0, 72.3, 54.9, 43.8, 35.7, 43.8, 54.9, 72.3, 109.0]

    found = [result.value("CM", "T_1", f"quantile {k / 10:g}", "rmse") for k in range(1, 10)]

    # the standard error of an RMSE at S = 3000 is 1.6% with these tails: four of them
    assert found == pytest.approx(exact, rel=0.065)
    # another simulation of these, coded independently with 4000 replications, and the exact integral of
    # T_b's bias at .1; 18 + 1 cells within 4.5 joint standard errors: false alarm below 2e-4
    elsewhere = {
        ("CM", "T_b"): [-41.6, -40.6, -39.7, -31.1, 0.0, 31.3, 40.6, 42.0, 43.7],
        ("ANM", "ANM"): [-83.1, -78.4, -72.4, -49.4, 0.2, 50.1, 73.5, 81.5, 85.3],
    }
    for (scheme, estimator), biases in elsewhere.items():
        for k, bias in enumerate(biases):
            name = f"quantile {(k + 1) / 10:g}"
            se = result.value(scheme, estimator, name, "bias_se") * np.sqrt(1 + 3 / 4)
            assert abs(result.value(scheme, estimator, name, "bias") - bias) < 4.5 * se
    se = result.value("CM", "T_b", "quantile 0.1", "bias_se")
    assert abs(result.value("CM", "T_b", "quantile 0.1", "bias") + 40.7) < 4.5 * se
    for row in result.rows():
        if row.get("closed_form") is not None:
            assert abs(row["mean"] - row["closed_form"]) < 4.5 * row["mean_se"]


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
            "others must have the unmasked columns that DataShuffling looks at, got none",
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
        (lambda: simulated(replications=1), "replications must be a whole number of at least 2, got 1"),
        (lambda: simulated(moments=0), "moments must be a whole number of at least 1, got 0"),
        (lambda: simulated(risk_distances=[1.0, -2.0]), r"risk_distances must not be negative, got -2\.0"),
        (lambda: simulated(rng="a"), "rng must be a whole number of at least 0, got 'a'"),
        (lambda: simulated(checkpoint=5), "checkpoint must be a path, got 5"),
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
    longer = simulated(column(0.0), checkpoint=file, replications=300)
    assert longer == simulated(column(0.0), replications=300)

    file.unlink()
    simulated(drawn(), checkpoint=file)
    assert simulated(drawn(), checkpoint=file, replications=300) == simulated(drawn(), replications=300)


def test_a_checkpoint_that_cannot_be_written_costs_no_results(tmp_path, monkeypatch):
    def full(self, path):
        raise OSError("no space left")

    monkeypatch.setattr(cm.StudyResult, "save", full)
    with pytest.warns(cm.StudyWarning, match=r"^checkpoint .* could not be written: no space left$"):
        result = simulated(checkpoint=tmp_path / "state.npz")

    assert result == simulated()


def test_samples_too_wide_for_the_fused_kernel_are_left_unknown():
    # arithmetic with whatever memory held once warned, by chance
    law = cm.ConditionalMasking(0.6, 1.0, step=1 / 64).law
    ordered = np.sort(np.random.default_rng(5).normal(size=(2, 50)), axis=1)
    ordered[1, -1] = 1e6

    found, served = replicates._fused_quantiles(ordered, np.full(2, 0.5), np.array([0.25, 0.5]), law)

    assert served.tolist() == [True, False]
    for values in found.values():
        assert np.isfinite(values[0]).all()
        assert np.isnan(values[1]).all()


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
    undone = REVERSED.estimate(z).pseudo_values()
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


def test_what_is_of_the_column_alone_has_no_error_about_the_file():
    x, w = (each[0] for each in POPULATION(np.random.default_rng(6), 1, 200))
    found = cm.simulate(
        populations.Fixed(x, w), {"it": REVERSED, "ends": cm.ConditionalMasking(
            0.5, 600.0, reverse_mapping=True, aggregate_ends=3)},
        n=200, replications=20, quantiles=[0.2, 0.7], moments=[2, 3], cdf_points=[0.0],
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


def test_a_study_of_reverse_mapping_has_the_same_bits_for_any_workers():
    asked = {"n": 500, "rng": 3, "quantiles": [0.5], "confidence_levels": [0.9], "replications": 70}
    whole = cm.simulate(POPULATION, {"it": REVERSED}, **asked)

    assert cm.simulate(POPULATION, {"it": REVERSED}, **asked, workers=2) == whole
    assert cm.simulate(POPULATION, {"it": REVERSED}, **asked | {"replications": 40}).replications == 40
    # of 70 samples some 63 cover, with a standard deviation of 2.5
    for statistic in ("correlation", "mean", "quantile 0.5"):
        covered = whole.value("it", "0.9 interval, population", f"coverage of {statistic}", "mean")
        assert 0.75 < covered <= 1.0


def test_samples_too_small_to_be_undone_have_no_correlation():
    few = cm.simulate(POPULATION, {"it": REVERSED}, n=20, replications=4, quantiles=[0.5], rng=1)
    assert few.value("it", "T_1", "correlation", "defined") == 0
    assert few.value("it", "T_1", "mean", "defined") == 4


def test_the_difference_of_halves_is_that_of_what_is_estimated():
    noise = cm.AdditiveNoise(10.0, noise="normal")
    x, w = (each[0] for each in POPULATION(np.random.default_rng(6), 1, 400))
    fixed = populations.Fixed(x, w)
    above = w > np.median(w)
    truth = x[above].mean() - x[~above].mean()
    found = cm.simulate(
        fixed, {"CM": cm.ConditionalMasking(0.4, 300.0), "noise": noise, "swapped": cm.DataSwapping()},
        n=400, replications=400, quantiles=[0.5], rng=2,
    )  # fmt: skip

    assert fixed.difference() == pytest.approx(truth, rel=1e-12)
    for name, estimator in (("CM", "T_1"), ("CM", "T_b"), ("noise", "ANM")):
        own = {row["statistic"]: row for row in found.rows() if row["estimator"] == estimator
               and row["scheme"] == name}["difference"]  # fmt: skip
        assert own["truth"] == pytest.approx(truth, rel=1e-12)
        assert abs(own["bias"]) < 4.0 * own["bias_se"]
    assert found.value("noise", "ANM", "difference", "rmse") == pytest.approx(1.0, rel=0.15)  # 2 s / sqrt(n)
    assert found.value("swapped", "masked", "difference", "mean") == pytest.approx(
        0.0, abs=4.0 * 2.0 * x.std() / np.sqrt(400 * 400)
    )
