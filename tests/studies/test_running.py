"""A study has the same bits however it is run, and says in one sentence what is wrong."""

import json

import numpy as np
import pytest
from scipy.stats import laplace
from study_runs import POPULATION, SCHEMES, STUDY

import condmask as cm
from condmask.cli import main

N = 30_000  # of which a block has two replications
CHOSEN = {name: SCHEMES[name] for name in ("CM", "ranks")}


def run(replications, schemes=None, population=POPULATION, **options):
    given = {"n": N, "rng": 5, "quantiles": [0.2, 0.7], "risk_distances": [500.0], **options}
    return cm.simulate(population, schemes or CHOSEN, replications=replications, **given)


def test_workers_interruptions_and_extensions_leave_no_trace(tmp_path):
    whole, file, drawn = run(5), tmp_path / "state.npz", []

    def interrupted(rng, rows, n):
        drawn.append(rows)
        if len(drawn) == 5:  # the first block is drawn twice before, to know the truth and the study
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


def test_the_command_runs_a_study(tmp_path, capsys):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace("rng = 3", "rng = 3\nconfidence_levels = [0.9]"))
    out, picture = tmp_path / "r.npz", tmp_path / "r.png"

    assert main(["simulate", str(file), "--out", str(out), "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert main(["simulate", str(file), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)

    found = cm.StudyResult.load(out)
    assert shown.startswith("4 replications, seed 3\n")
    lines = shown.splitlines()
    assert "ranks" in lines
    rmse = found.value("masked", "T_1", "mean", "rmse")
    (line,) = (line.split() for line in lines if line.split()[:2] == ["T_1", "mean"])
    assert line[5] == f"{rmse:.5g}"
    assert any("0.9 interval, file coverage of mean" in line for line in lines)
    assert result["rows"][0]["scheme"] == "masked"
    assert found.replications == 4
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(found.to_frame()) == len(result["rows"])
    assert main(["simulate", str(file), "--out", str(tmp_path / "no" / "r.npz")]) != 0
    file.write_text("replication = 4\n" + STUDY)
    assert main(["simulate", str(file)]) == 1
    assert "got 'replication'" in capsys.readouterr().err


def test_a_scheme_with_two_names_masks_twice():
    found = simulated(schemes={"one": SCHEMES["CM"], "another": SCHEMES["CM"]})

    one, another = (found.value(name, "T_1", "mean", "rmse") for name in ("one", "another"))
    assert one != another


def test_what_is_not_defined_is_a_dash():
    mapped = {"mapped": cm.ConditionalMasking(0.5, 9e3, reverse_mapping=True)}  # too few for a correlation
    text = str(run(2, mapped, n=20))

    undefined = ["correlation", "difference"]
    assert "nan" not in text
    assert [line.split()[1] for line in text.splitlines() if line.split()[3:4] == ["-"]] == undefined


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
            lambda: simulated(lambda rng, r, n: np.full((r, n), np.nan)),
            "population must give finite numbers, got others among them",
        ),
        (lambda: simulated(schemes=[SCHEMES["CM"]] * 2), r"schemes must differ, or be a dict .*"),
        (
            lambda: simulated(schemes={"": SCHEMES["CM"]}),
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
