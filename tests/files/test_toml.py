"""What is not TOML, or TOML of another kind than a study, is refused in one sentence."""

import pytest

from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.toml import read_toml
from condmask.studies.toml import read_study

NOT_TOML = {
    "null": b"\0",
    "digits": b"a = " + b"9" * 5_000,
}
STUDY = "n = 20\nreplications = 2\n"
SCHEMES = "schemes = [{p = 0.5, sigma = 1.0}]\n"
STUDIES = [
    ("schemes = 5", "schemes in .* must be a table, or a list of tables, got 5"),
    ("schemes = [5]", "schemes in .* must be a table, or a list"),
    ("schemes = {a = 5}", "schemes in .* must be a table, or a list"),
    ("schemes = [{p = 0.5, sigma = 1.0, name = 5}]", "name of a scheme in .* must be a text, got 5"),
    ("schemes = [{p = 0.5, sigma = 1.0, scheme = [1]}]", "scheme must be one of"),
    (SCHEMES + "population = 5", "population in .* must be a table"),
    (SCHEMES + "population = {kind = []}", "kind of population must be"),
    (SCHEMES + "population = {kind = 'file'}", "population must have 'path'"),
    (SCHEMES + "population = {kind = 'file', path = 5, column = 'x'}", "path must be a path, got 5"),
    (SCHEMES + "population = {kind = 'copula', margins = 5}", "margins must be a table, or a list"),
    (
        SCHEMES + "population = {kind = 'copula', margins = [{name = 'gamma'}]}",
        "margin 'gamma' must have 'a'",
    ),
    (
        SCHEMES + "population = {kind = 'copula', margins = [{name = 'gamma', a = 'x'}]}",
        "a must be a number, got 'x'",
    ),
    (
        SCHEMES + "population = {kind = 'copula', margins = [{name = 'norm', nope = 1}]}",
        "margin 'norm' may have loc, scale, got 'nope'",
    ),
    (
        SCHEMES + "population = {kind = 'copula', margins = [{name = 'bernoulli', p = 0.5}]}",
        "name of a margin must be a continuous SciPy distribution",
    ),
]


@pytest.mark.parametrize("name", NOT_TOML)
def test_what_is_not_toml_is_refused(tmp_path, name):
    path = tmp_path / "a.toml"
    path.write_bytes(NOT_TOML[name])

    for read in (read_toml, read_study):
        with pytest.raises(ArgumentError, match=r"a\.toml is not TOML: ") as refusal:
            read(path)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("text", "message"), STUDIES)
def test_a_study_of_other_types_is_refused(tmp_path, text, message):
    path = tmp_path / "a.toml"
    path.write_text(STUDY + text + "\n")

    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{message}"):
        read_study(path)
