"""The table that a study prints. Oracle: its rows."""

from study_runs import STUDY

import condmask as cm
from condmask.studies.toml import read_study

RANKS = repr(cm.RankSwapping(10))


def test_several_schemes_stand_beside_each_other(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    result = cm.simulate(**read_study(file))

    lines = str(result).splitlines()

    assert lines[2:4] == [" 1  masked", f" 2  {RANKS}"]
    tables = {}
    for line in lines[5:-2]:
        words = line.split("  ")
        if line and words[0] in ("bias", "RMSE", "share, MSE or length"):
            tables[words[0]] = of = {}
            columns = line.removeprefix(words[0]).split("  ")
            of["columns"] = [column.strip() for column in columns if column.strip()]
        elif line:
            of[words[0]] = [word.strip() for word in words[1:] if word.strip()]
    assert tables["RMSE"]["columns"] == ["1 T_1", "1 T_b", "2 masked"]
    assert tables["bias"]["mean"] == [
        f"{result.value(*key, 'mean', 'bias'):.5g}"
        for key in (("masked", "T_1"), ("masked", "T_b"), (RANKS, "masked"))
    ]
    assert tables["share, MSE or length"]["columns"] == ["1", "2"]
    assert tables["share, MSE or length"]["risk 100 of guessing the masked value"] == ["1", "1"]


def test_what_is_not_defined_is_a_dash():
    """Of so few records no correlation can be found after reverse mapping."""
    schemes = {"mapped": cm.ConditionalMasking(0.5, 9e3, reverse_mapping=True), "ranks": cm.RankSwapping(10)}
    result = cm.simulate(cm.paper_population(), schemes, n=20, replications=2, rng=1)

    lines = str(result).splitlines()

    assert lines[0].startswith("2 replications, seed 1, ")
    assert "nan" not in str(result)
    assert [line.split()[1] for line in lines if line.startswith("correlation")] == ["-", "-"]
    assert lines[-1] == "Standard errors and closed forms: --json, or rows() in Python. -: not defined"
