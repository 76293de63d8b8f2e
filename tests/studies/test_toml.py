"""Studies described in TOML."""

import pytest
from study_runs import STUDY

from condmask.studies import toml as study_files


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
