"""What is not TOML, or TOML of another kind than a study, is refused in one sentence."""

import pytest

from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.tables import read_toml
from condmask.studies.simulate import read_study

NOT_TOML = {
    "null": b"\0",
    "digits": b"a = " + b"9" * 5_000,
}
STUDY = "n = 20\nreplications = 2\n"
SCHEMES = "schemes = {a = {p = 0.5, sigma = 1.0}}\n"
STUDIES = [
    ("", "must have 'schemes'"),
    (SCHEMES + "size = 3", "an entry of .* must be one of .*'n', .*, got 'size'"),
    ("schemes = 5", "schemes must be a table for each, by its name, got 5"),
    ("schemes = [5]", "schemes must be a table for each"),
    ("schemes = {a = {scheme = 'guessing'}}", "scheme must be one of .*, got 'guessing'"),
    ("schemes = {a = {p = 0.5, sigma = 1.0, share = 1}}", "scheme has unknown entries 'share'"),
    (
        SCHEMES + "population = 5",
        "population must be a table of path, column and perhaps other, got 5",
    ),
    (SCHEMES + "population = {path = 'a.csv'}", "population must be a table of path, column"),
    (SCHEMES + "population = {path = 5, column = 'x'}", "path must be a path, got 5"),
]


@pytest.mark.parametrize("name", NOT_TOML)
def test_what_is_not_toml_is_refused(tmp_path, name):
    path = tmp_path / "a.toml"
    path.write_bytes(NOT_TOML[name])

    with pytest.raises(ArgumentError, match=r"a\.toml is not TOML: ") as refusal:
        read_toml(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("text", "message"), STUDIES)
def test_a_study_of_other_types_is_refused(tmp_path, text, message):
    path = tmp_path / "a.toml"
    path.write_text(STUDY + text + "\n")

    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        read_study(path)


def test_the_population_of_a_study_may_be_columns_of_a_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,w\n1,2\n3,5\n")
    path = tmp_path / "a.toml"
    path.write_text(STUDY + SCHEMES + "population = {other = 'w', path = 'a.csv', column = 'x'}\n")

    found = read_study(path)["population"]

    assert [column.tolist() for column in found.columns] == [[1.0, 3.0], [2.0, 5.0]]
