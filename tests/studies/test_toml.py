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
