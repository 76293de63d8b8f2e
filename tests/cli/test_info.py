"""``condmask info`` lists the schemes in a file.

Oracle: the API on the same file.
"""

import pytest
from command_line import answer

from condmask.files.reading import read_schemes

pytestmark = pytest.mark.usefixtures("unaudited")


def test_info_lists_the_schemes(run, masked):
    schemes = read_schemes(masked)

    assert answer(run("info", masked, "--json")) == {name: s.to_dict() for name, s in schemes.items()}
    code, out, err = run("info", masked)
    assert (code, err) == (0, "")
    assert out == f"income  {schemes['income']!r}\nbonus   {schemes['bonus']!r}\n"
