"""``condmask info`` lists the schemes in a file.

Oracle: the API on the same file.
"""

import pytest
from command_line import answer

from condmask.files.reading import read_schemes

pytestmark = pytest.mark.usefixtures("unaudited")


def test_info_shows_rows_columns_and_schemes(run, masked):
    schemes = read_schemes(masked)
    columns = ["income", "bonus", "age", "educ", "gaps", "region"]

    assert answer(run("info", masked, "--json")) == {
        "rows": 2000, "columns": columns, "schemes": {name: s.to_dict() for name, s in schemes.items()}
    }  # fmt: skip
    code, out, err = run("info", masked)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "2,000 rows, 6 columns, 2 masked",
        f"income  {schemes['income']!r}",
        f"bonus   {schemes['bonus']!r}",
        "as they were: age, educ, gaps, region",
    ]
