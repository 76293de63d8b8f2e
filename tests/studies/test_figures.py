"""The figures of a study are those of what users get from the same masked samples, however it is
run."""

import sys

import numpy as np
import pytest
from scipy.stats import laplace

import condmask as cm
from condmask.studies.simulate import read_study

N = 150
ROWS = 12
LEVEL = 0.9
POPULATION = cm.NormalCopula(cm.paper_population().margins, -0.7)
Q = [0.5, 0.05, 0.8]
T = [0.0, 900.0]
D = 500.0
SCHEMES = {
    "rearranged": cm.ConditionalMasking(0.3, 600.0),
    "first": cm.ConditionalMasking(0.85, 600.0, donors="sample"),
    "no grid": cm.ConditionalMasking(0.4, 600.0, step=0.0),
    "coarse": cm.ConditionalMasking(0.6, 400.0, decimals=-2),
    "Laplace": cm.ConditionalMasking(0.5, 600.0, noise="laplace"),
    "mapped": cm.ReverseMapping(0.5, 300.0),
    "noise": cm.AdditiveNoise(800.0),
    "normal noise": cm.AdditiveNoise(800.0, noise="normal"),
    "ranks": cm.RankSwapping(5.0),
}
pytestmark = pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")


def studied(scheme, monkeypatch, population=POPULATION, **options):
    """A study, and the samples that it drew and masked."""
    seen = []
    mask = type(scheme).mask_rows

    def kept(self, x, stream, others):
        z = mask(self, x, stream, others)
        seen.append((x, z, others[0]))
        return z

    monkeypatch.setattr(type(scheme), "mask_rows", kept)
    given = {"n": N, "replications": ROWS, "quantiles": Q, "cdf_points": T, "rng": 4}
    found = cm.simulate(population, {"it": scheme}, risk_distances=[D], **given | options)
    x, z, others = (np.concatenate(part)[:ROWS] for part in zip(*seen, strict=True))
    law = scheme.law
    return (
        found,
        x if law is None or law.grid is None else law.from_units(law.to_units(x)),
        z,
        others,
    )


def known(call, size=1):
    """What users get, NaN where they are refused."""
    try:
        return np.ravel(call()).tolist()
    except ValueError:
        return [np.nan] * size


def names():
    return [
        *(f"quantile {q:g}" for q in Q),
        "mean",
        "s.d.",
        "correlation",
        *(f"cdf({t:g})" for t in T),
    ]


def of_users(scheme, bandwidth, z, w, crossing=None):
    estimate = scheme.estimate(z)
    smooth = {} if bandwidth is None else {"bandwidth": bandwidth}
    return [
        *known(lambda: estimate.quantile(Q, crossing=crossing, **smooth), len(Q)),
        *known(estimate.mean),
        *known(estimate.std),
        *known(lambda: estimate.correlation(w)),
        *known(lambda: estimate.cdf(T, **smooth), len(T)),
    ]


@pytest.mark.parametrize("name", [name for name in SCHEMES if SCHEMES[name].estimators])
def test_they_are_of_estimates_as_users_get_them(name, monkeypatch):
    scheme = SCHEMES[name]
    found, _, z, others = studied(scheme, monkeypatch)

    for estimator, bandwidth in scheme.estimators.items():
        each = np.array(
            [of_users(scheme, bandwidth, row, w) for row, w in zip(z, others, strict=True)]
        )
        for statistic, values in zip(names(), each.T, strict=True):
            defined = np.isfinite(values)
            count = found.value("it", estimator, statistic, "defined")
            assert count == defined.sum()
            if count == 0:
                continue
            error = values[defined] - found.value("it", estimator, statistic, "truth")
            size = max(np.abs(values[defined]).max(), 1e-3)
            for figure, expected in (
                ("mean", values[defined].mean()),
                ("bias", error.mean()),
                ("rmse", np.sqrt(np.mean(error**2))),
                ("bias_se", error.std(ddof=1) / np.sqrt(count)),
                ("rmse_se", np.std(error**2, ddof=1) / np.sqrt(4.0 * count * np.mean(error**2))),
            ):
                assert found.value("it", estimator, statistic, figure) == pytest.approx(
                    expected, abs=1e-7 * size
                )


def test_rows_far_wider_than_the_noise_and_bandwidths_too_narrow_are_left_to_single_samples(
    monkeypatch,
):
    scheme = cm.ConditionalMasking(0.6, 1.0, decimals=0)

    def population(rng, rows, n):
        x = rng.normal(size=(rows, n)).round()  # too few steps for a bandwidth
        x[1::3] = rng.standard_cauchy((rows, n))[1::3] * 1e4
        x[2::3] *= 40.0
        return x, rng.normal(size=(rows, n))

    found, _, z, others = studied(scheme, monkeypatch, population)

    for estimator, bandwidth in scheme.estimators.items():
        each = np.array(
            [of_users(scheme, bandwidth, row, w)[:3] for row, w in zip(z, others, strict=True)]
        )
        mean = np.nanmean(each, axis=0)
        for k, q in enumerate(Q):
            own = found.value("it", estimator, f"quantile {q:g}", "mean")
            assert own == pytest.approx(mean[k], abs=1e-6 * np.nanmax(np.abs(each[:, k])))
            assert (
                found.value("it", estimator, f"quantile {q:g}", "defined")
                == np.isfinite(each[:, k]).sum()
            )
    assert found.value("it", "T_b", "quantile 0.5", "defined") == 8


@pytest.mark.parametrize("name", ["rearranged", "coarse", "mapped", "ranks"])
def test_samples_truths_and_risks_are_counted_plainly(name, monkeypatch):
    scheme = SCHEMES[name]
    found, x, z, others = studied(scheme, monkeypatch)
    estimator = next(iter(scheme.estimators), "masked")

    def value(statistic, figure, of=estimator):
        return found.value("it", of, statistic, figure)

    assert value("quantile 0.05", "truth") == pytest.approx(POPULATION.quantile(np.array(0.05)))
    assert value("correlation", "truth") == pytest.approx(-0.68645, abs=1e-5)
    if not scheme.estimators:  # the masked sample as it is
        plain = np.quantile(z, 0.8, axis=1, method="inverted_cdf")
        assert value("quantile 0.8", "mean") == pytest.approx(plain.mean())
        own = [np.corrcoef(row, w)[0, 1] for row, w in zip(z, others, strict=True)]
        assert value("correlation", "mean") == pytest.approx(np.mean(own))
    error = np.round(z - x, 9)
    near = np.mean(np.abs(error) < D, axis=1)
    assert value("risk 500", "mean", "Z_i") == pytest.approx(near.mean())
    assert value("risk 500", "mean_se", "Z_i") == pytest.approx(near.std(ddof=1) / np.sqrt(ROWS))
    assert value("MSE", "mean", "Z_i") == pytest.approx(np.mean(error**2))
    apart = np.abs(z.mean(axis=1)[:, None] - x)
    assert value("risk 500", "mean", "mean of Z") == pytest.approx(np.mean(apart < D))


def test_without_a_known_truth_it_is_that_of_the_samples(monkeypatch):
    found, x, z, _ = studied(
        SCHEMES["first"],
        monkeypatch,
        lambda rng, rows, n: (rng.normal(0.0, 900.0, (rows, n)), rng.normal(size=(rows, n))),
    )

    truth = np.mean(np.quantile(x, 0.8, axis=1, method="inverted_cdf"))
    row = next(
        r for r in found.rows() if (r["estimator"], r["statistic"]) == ("T_1", "quantile 0.8")
    )
    assert row["truth_of"] == "sample"
    assert row["truth"] == pytest.approx(truth, abs=1.0)  # rounded to a thousandth of sigma
    assert row["bias"] == pytest.approx(row["mean"] - row["truth"])
    mean = next(r for r in found.rows() if (r["estimator"], r["statistic"]) == ("T_1", "mean"))
    off = SCHEMES["first"].estimate(z).mean() - x.mean(axis=1)
    assert mean["bias_se"] == pytest.approx(off.std(ddof=1) / np.sqrt(off.size), rel=1e-3)


@pytest.mark.parametrize("name", ["rearranged", "coarse", "mapped", "no grid"])
def test_coverage_is_that_of_the_intervals_users_get(name, monkeypatch):
    scheme = SCHEMES[name]
    found, x, z, others = studied(scheme, monkeypatch, confidence_levels=[LEVEL])

    for target in ("population", "file"):
        options = {"confidence_level": LEVEL, "target": target}
        each = []
        for row, w in zip(z, others, strict=True):
            one = scheme.estimate(row)
            intervals = [
                one.quantile_interval(Q, **options),
                one.mean_interval(**options),
                one.std_interval(**options),
                one.correlation_interval(w, **options),
                one.cdf_interval(T, **options),
            ]
            each.append(np.hstack([np.reshape(interval[:2], (2, -1)) for interval in intervals]))
        low, high = np.moveaxis(each, 1, 0)
        own = [
            [
                *np.quantile(r, Q, method="inverted_cdf"),
                r.mean(),
                r.std(ddof=1),
                np.corrcoef(r, w)[0, 1],
                *(np.mean(r <= t) for t in T),
            ]
            for r, w in zip(x, others, strict=True)
        ]
        estimator = next(iter(scheme.estimators))
        aims = np.array(own)
        if target == "population":
            aims[:] = [found.value("it", estimator, statistic, "truth") for statistic in names()]
        for k, statistic in enumerate(names()):
            row = f"{LEVEL} interval, {target}"
            length = high[:, k] - low[:, k]
            aim = aims[:, k]
            mean = np.mean(length[np.isfinite(length)])
            # quantiles of rows and of single samples differ by a hundredth of an interval
            assert found.value("it", row, f"length of {statistic}", "mean") == pytest.approx(
                mean, rel=0.01
            )
            slight = 0.01 * length + 1e-9 * np.abs(aim)
            share = found.value("it", row, f"coverage of {statistic}", "mean")
            inside, outside = (
                np.mean((low[:, k] - sign * slight <= aim) & (aim <= high[:, k] + sign * slight))
                for sign in (-1, 1)
            )
            assert inside - 1e-12 <= share <= outside + 1e-12


WIDE = 30_000  # of which a block has two replications
PAPER = cm.paper_population()
MASKED = cm.ConditionalMasking(0.6, 1000.0)
CHOSEN = {"CM": MASKED, "ranks": cm.RankSwapping(5.0)}


def run(replications, schemes=None, population=PAPER, **options):
    given = {"n": WIDE, "rng": 5, "quantiles": [0.2, 0.7], "risk_distances": [500.0], **options}
    return cm.simulate(population, schemes or CHOSEN, replications=replications, **given)


def test_workers_interruptions_and_extensions_leave_no_trace(tmp_path):
    whole = run(5)
    file = tmp_path / "state.npz"
    drawn = []

    def interrupted(rng, rows, n):
        drawn.append(rows)
        if len(drawn) == 4:  # the first block is drawn twice, to know the truth and to begin
            raise KeyboardInterrupt
        return PAPER(rng, rows, n)

    class Known:
        def __getattr__(self, name):
            return getattr(PAPER, name)

        def __call__(self, *args):
            return interrupted(*args)

    with pytest.warns(cm.StudyWarning, match=r"^interrupted after 4 of 5 replications$"):
        partial = run(5, population=Known(), checkpoint=file)
    assert partial == cm.StudyResult.load(file) == run(4)
    assert run(5, checkpoint=file) == whole
    assert run(5, workers=2) == run(5, workers=map) == whole
    assert run(3, checkpoint=tmp_path / "b") == run(3)  # within a block
    assert run(5, checkpoint=tmp_path / "b") == whole
    assert run(5, rng=6) != whole


def test_a_checkpoint_of_another_study_or_of_before_is_refused(tmp_path):
    file = tmp_path / "state.npz"
    few = {"n": 60}
    run(4, **few, checkpoint=file)

    with pytest.raises(ValueError, match=r"^replications must be at least the 4 in .*, got 3$"):
        run(3, **few, checkpoint=file)
    for other in (
        {"n": 61},
        {"rng": 6},
        {"crossing": "first"},
        {"confidence_levels": [0.9]},
    ):
        with pytest.raises(
            ValueError, match=r"^checkpoint must be of the same study and seed, got another"
        ):
            run(9, **{**few, **other}, checkpoint=file)
    with pytest.raises(ValueError, match=r"^checkpoint must be of the same study"):
        run(9, population=cm.Resampled(np.arange(50.0), np.arange(50.0)), **few, checkpoint=file)
    whole = file.read_bytes()
    for damaged in (b"", b"something else", whole[:900], whole[:200] + b"x" + whole[201:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"^path must be a saved StudyResult, got "):
            run(9, **few, checkpoint=file)


def test_a_checkpoint_that_cannot_be_written_costs_no_results(tmp_path, monkeypatch):
    def full(self, path):
        raise OSError("no space left")

    monkeypatch.setattr(cm.StudyResult, "save", full)
    with pytest.warns(
        cm.StudyWarning, match=r"^checkpoint .* could not be written: no space left$"
    ):
        assert run(2, n=60, checkpoint=tmp_path / "state.npz") == run(2, n=60)


STUDY = """
n = 300
replications = 4
quantiles = [0.5]
confidence_levels = [0.9]
rng = 3

[schemes.masked]
p = 0.6
sigma = 700.0

[schemes.ranks]
scheme = "RankSwapping"
percent = 10
"""


def test_a_study_in_a_file_is_run_and_shown(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)

    found = cm.simulate(**read_study(file))

    lines = str(found).splitlines()
    assert lines[0] == "4 replications, seed 3"
    assert "ranks" in lines
    (line,) = (line.split() for line in lines if line.split()[:2] == ["T_1", "mean"])
    assert line[5] == f"{found.value('masked', 'T_1', 'mean', 'rmse'):.5g}"
    assert any("0.9 interval, file coverage of mean" in line for line in lines)
    file.write_text("replication = 4\n" + STUDY)
    with pytest.raises(ValueError, match="got 'replication'"):
        read_study(file)


def test_a_scheme_with_two_names_masks_twice():
    found = simulated(schemes={"one": MASKED, "another": MASKED})

    one, another = (found.value(name, "T_1", "mean", "rmse") for name in ("one", "another"))
    assert one != another


def test_names_that_agree_in_six_digits_and_a_constant_column_beside():
    """Each has its own column, and nothing of NumPy's warnings is seen."""

    def population(rng, rows, n):
        return rng.normal(1e6, 1e3, (rows, n)), np.ones((rows, n))

    found = run(
        2, population=population, n=50, cdf_points=[1e6, 1e6 + 1.0], risk_distances=[5.0, 5.000001]
    )
    told = {row["statistic"]: row["mean"] for row in found.to_dict()["rows"]}
    assert {"cdf(1000000)", "cdf(1000001)", "risk 5", "risk 5.000001"} < told.keys()
    assert told["correlation"] is None


def test_what_is_not_defined_is_a_dash():
    # too few for a correlation
    mapped = {"mapped": cm.ReverseMapping(0.5, 9e3)}
    text = str(run(2, mapped, n=20))

    undefined = ["correlation", "difference"]
    assert "nan" not in text
    assert [
        line.split()[1] for line in text.splitlines() if line.split()[3:4] == ["-"]
    ] == undefined


def test_samples_that_keep_nothing_of_a_covariance_have_all_else():
    few = {"few": cm.ConditionalMasking(0.9, 1000.0)}  # of 10 records, f = 1 - p - p / 9 = 0
    found = run(2, few, n=10)

    assert [
        found.value("few", "T_1", statistic, "defined") for statistic in ("mean", "correlation")
    ] == [
        2,
        0,
    ]
    alone = run(2, few, cm.Resampled(np.arange(50.0)), n=10)
    assert alone.value("few", "T_1", "mean", "defined") == 2


def test_defined_counts_the_samples_behind_each_figure():
    # noise so wide that half of the variances are negative; 20 records do not bound a percentile
    design = {
        "n": 20,
        "replications": 64,
        "quantiles": [0.01],
        "confidence_levels": [0.9],
        "rng": 2,
    }
    found = cm.simulate(PAPER, {"it": cm.ConditionalMasking(0.3, 6000.0)}, **design)
    rows = {(row["estimator"], row["statistic"]): row for row in found.rows() if row["scheme"]}

    assert 0 < rows["T_1", "correlation"]["defined"] < 64
    interval = "0.9 interval, population"
    assert rows[interval, "coverage of quantile 0.01"]["defined"] == 64
    assert rows[interval, "length of quantile 0.01"]["defined"] == 0  # all are infinite
    for column, values in zip(found.columns, found.values.T, strict=True):
        if column.scheme:
            assert rows[column.estimator, column.statistic]["defined"] == np.isfinite(values).sum()


def test_a_generator_gives_the_seed_that_the_result_reports():
    found = simulated(rng=np.random.default_rng(5))
    again = simulated(rng=found.seed)
    other = simulated(rng=np.random.default_rng(6))

    assert found == simulated(rng=np.random.default_rng(5)) == again
    assert found.seed != other.seed
    assert simulated(rng=np.random.SeedSequence(5)) == found


NAMED = cm.Resampled(np.arange(900.0)), cm.NormalCopula([laplace(0.0, 1.0)])


@pytest.mark.parametrize("named", NAMED)
def test_the_populations_that_a_refusal_names_are_studied(named):
    assert simulated(named).replications == 10


def test_a_bar_on_a_terminal_counts_the_replications(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    simulated(progress=True)

    assert "10/10" in capsys.readouterr().err


def simulated(population=PAPER, schemes=None, **options):
    given = {"n": 100, "replications": 10, "rng": 1, **options}
    return cm.simulate(population, MASKED if schemes is None else schemes, **given)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: simulated("paper"), "population must be callable as .*, got str: pass .*"),
        (lambda: simulated(np.arange(9.0)), r".* got ndarray: pass cm\.Resampled\(x\) for an .*"),
        (
            lambda: simulated(laplace(0.0, 1.0)),
            r".*, cm\.NormalCopula\(\[margin\]\) for a frozen .*",
        ),
        (lambda: simulated(laplace), r".* got laplace_gen: pass .*, such as scipy\.stats\.norm.*"),
        (lambda: simulated(rng=1.5), "rng must be None, .* or a NumPy Generator, got 1.5"),
        (lambda: simulated(rng=-1), "rng must be a whole number of at least 0, got -1"),
        (
            lambda: simulated(lambda rng, r, n: rng.normal(size=(n, r))),
            r"population must give arrays of numbers of shape \(32, 100\), got \(100, 32\) of float64",
        ),
        (
            lambda: simulated(lambda rng, r, n: np.full((r, n), np.nan)),
            "population must give finite numbers, got others among them",
        ),
        (
            lambda: simulated(lambda rng, r, n: np.where(rng.random((r, n)) < 0.5, 0.0, -np.inf)),
            "population must give finite numbers, got others among them",
        ),
        (lambda: simulated(schemes=[MASKED] * 2), r"schemes must differ, or be a dict .*"),
        (
            lambda: simulated(schemes={"": MASKED}),
            "schemes must be masking schemes, or a dict by name, got .*",
        ),
        (
            lambda: simulated(schemes=cm.ConditionalMasking(0.6, 1.0, strata="region")),
            "schemes must have no missing codes, no strata and no open ends, .*strata='region'.*",
        ),
        (
            lambda: simulated(schemes=cm.ConditionalMasking(0.6, 1.0, decimals=0, missing=-8)),
            "schemes must have no missing codes, no strata and no open ends, .*",
        ),
        (lambda: simulated(n=3), "n must be a whole number of at least 4, got 3"),
        (
            lambda: simulated(crossing="last"),
            "crossing must be one of 'first', 'rearranged', got 'last'",
        ),
        (lambda: simulated(confidence_levels=[95]), "confidence_levels must .*"),
        (
            lambda: cm.NormalCopula(["norm"]),
            "margins must be one or two frozen SciPy .*",
        ),
        (
            lambda: cm.NormalCopula([laplace()], 1.5),
            r"correlation must lie between -1 and 1, got 1\.5",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match="^" + sentence + "$"):
        call()
