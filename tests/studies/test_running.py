"""A study has the same bits however it is run, and says in one sentence what is wrong."""

import sys

import numpy as np
import pytest
from scipy.stats import laplace

import condmask as cm
from condmask.studies.simulate import read_study

N = 30_000  # of which a block has two replications
POPULATION = cm.paper_population()
MASKED = cm.ConditionalMasking(0.6, 1000.0)
CHOSEN = {"CM": MASKED, "ranks": cm.RankSwapping(5.0)}


def run(replications, schemes=None, population=POPULATION, **options):
    given = {"n": N, "rng": 5, "quantiles": [0.2, 0.7], "risk_distances": [500.0], **options}
    return cm.simulate(population, schemes or CHOSEN, replications=replications, **given)


def test_workers_interruptions_and_extensions_leave_no_trace(tmp_path):
    whole, file, drawn = run(5), tmp_path / "state.npz", []

    def interrupted(rng, rows, n):
        drawn.append(rows)
        if len(drawn) == 4:  # the first block is drawn twice, to know the truth and to begin
            raise KeyboardInterrupt
        return POPULATION(rng, rows, n)

    class Known:
        def __getattr__(self, name):
            return getattr(POPULATION, name)

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
    file, few = tmp_path / "state.npz", {"n": 60}
    run(4, **few, checkpoint=file)

    with pytest.raises(ValueError, match=r"^replications must be at least the 4 in .*, got 3$"):
        run(3, **few, checkpoint=file)
    for other in (
        {"n": 61},
        {"rng": 6},
        {"crossing": "first"},
        {"confidence_levels": [0.9]},
    ):
        with pytest.raises(ValueError, match=r"^checkpoint must be of the same study and seed, got another"):
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
    with pytest.warns(cm.StudyWarning, match=r"^checkpoint .* could not be written: no space left$"):
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

    found = run(2, population=population, n=50, cdf_points=[1e6, 1e6 + 1.0], risk_distances=[5.0, 5.000001])
    told = {row["statistic"]: row["mean"] for row in found.to_dict()["rows"]}
    assert {"cdf(1000000)", "cdf(1000001)", "risk 5", "risk 5.000001"} < told.keys()
    assert told["correlation"] is None


def test_what_is_not_defined_is_a_dash():
    mapped = {"mapped": cm.ConditionalMasking(0.5, 9e3, reverse_mapping=True)}  # too few for a correlation
    text = str(run(2, mapped, n=20))

    undefined = ["correlation", "difference"]
    assert "nan" not in text
    assert [line.split()[1] for line in text.splitlines() if line.split()[3:4] == ["-"]] == undefined


def test_samples_that_keep_nothing_of_a_covariance_have_all_else():
    few = {"few": cm.ConditionalMasking(0.9, 1000.0)}  # of 10 records, f = 1 - p - p / 9 = 0
    found = run(2, few, n=10)

    assert [found.value("few", "T_1", statistic, "defined") for statistic in ("mean", "correlation")] == [
        2,
        0,
    ]
    alone = run(2, few, cm.Resampled(np.arange(50.0)), n=10)
    assert alone.value("few", "T_1", "mean", "defined") == 2


def test_a_bar_on_a_terminal_counts_the_replications(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    simulated(progress=True)

    assert "10/10" in capsys.readouterr().err


def simulated(population=POPULATION, schemes=None, **options):
    given = {"n": 100, "replications": 10, "rng": 1, **options}
    return cm.simulate(population, MASKED if schemes is None else schemes, **given)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: simulated("paper"), "population must be callable as .*, got 'paper'"),
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
        (lambda: simulated(crossing="last"), "crossing must be one of 'first', 'rearranged', got 'last'"),
        (lambda: simulated(confidence_levels=[95]), "confidence_levels must .*"),
        (
            lambda: cm.NormalCopula(["norm"]),
            "margins must be one or two frozen SciPy .*",
        ),
        (lambda: cm.NormalCopula([laplace()], 1.5), r"correlation must lie between -1 and 1, got 1\.5"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match="^" + sentence + "$"):
        call()
