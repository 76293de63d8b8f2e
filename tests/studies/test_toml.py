"""Studies described in TOML."""

import pytest
from study_runs import STUDY

import condmask as cm
from condmask.studies import toml as study_files

RANKS = repr(cm.RankSwapping(10))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("n = ", "is not TOML"),
        ("n = 4", "must have 'replications'"),
        ("n = 4\nsize = 3", r"got \['size'\]"),
        (STUDY.replace("RankSwapping", "guessing"), "scheme must be one of .* got 'guessing'"),
        (STUDY.replace("percent", "share"), "does not take these options"),
        (
            STUDY.replace("sigma = 2.0", "sigma = [2, 2]"),
            "must have different names, got 'masked sigma=2' twice",
        ),
        (STUDY.replace('"gamma"', '"gama"'), "must be a continuous SciPy distribution, got 'gama'"),
        (STUDY.replace('"copula"', '"vine"'), "must be 'paper', 'copula' or 'file', got 'vine'"),
    ],
)
def test_a_wrong_study_gets_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "study.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=sentence):
        study_files.read_study(file)


def read(tmp_path, text):
    file = tmp_path / "study.toml"
    file.write_text(text)
    return study_files.read_study(file)


def test_a_list_makes_a_scheme_for_each_value(tmp_path):
    text = STUDY.replace("p = 0.6", "p = [0.4, 0.6]").replace("sigma = 2.0", "sigma = [2.0, 4]")

    schemes = read(tmp_path, text)["schemes"]

    assert schemes.pop(RANKS) == cm.RankSwapping(10)
    assert schemes == {
        f"masked p={p} sigma={sigma}": cm.ConditionalMasking(p, sigma)
        for p in (0.4, 0.6)
        for sigma in (2.0, 4)
    }


def test_several_schemes_stand_beside_each_other(tmp_path):
    result = cm.simulate(**read(tmp_path, STUDY))

    lines = study_files.show(result).splitlines()

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
    assert tables["share, MSE or length"]["Z_i risk 100"] == ["1", "1"]
