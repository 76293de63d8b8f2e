"""What is a number is read as Python reads it, all else is refused; oracle: Python's float."""

import numpy as np
import pytest
from csv_files import LINES, mask_lines
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


TEXTS = ["much", "1_000", "\u0661\u0662", "0x10", "True", '1""5', "1.2.3", "--1", "1e", "1e+", ".", "-"]


WORDS = dict.fromkeys(TEXTS, "text")


COMMAS = {"1,5": r'a comma \(decimal=",", --decimal ,\)', "1,234": r"a comma \(decimal="}


SEPARATED = ["1,234.5", "1.234,5", "1'234", "1 234,50", "1.234.567", "1\u202f234.5", "-1,234,567"]


NO_NUMBERS = {**WORDS, **COMMAS, **dict.fromkeys(SEPARATED, "some")}


@pytest.mark.parametrize(("word", "what"), NO_NUMBERS.items())
def test_what_is_no_number_is_refused(tmp_path, word, what):
    with pytest.raises(TypeError, match=rf"income must be numeric.*, got {what}.*in line 14"):
        mask_lines(tmp_path, [*LINES, f'12,"{word}",z'])


def test_integers_beyond_2_to_the_53_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"income must hold integers of at most 2\^53, got a larger one in line 14"
    ):
        mask_lines(tmp_path, [*LINES, "12,9007199254740993,z"])


@given(rows=st.lists(st.text("0123456789.eE+-, ", max_size=12), min_size=2, max_size=12))
def test_numbers_are_those_of_python(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    path.write_text("x\n" + "".join(f'"{row}"\n' for row in rows))
    try:
        numbers = [float(row) if row.strip() else np.nan for row in rows]
    except ValueError:
        found = cm.read_column(path, "x")  # as text
        assert found.tolist() == rows
    else:
        if all(abs(v) < 2**53 or v != v for v in numbers):
            assert np.array_equal(cm.read_column(path, "x"), numbers, equal_nan=True)
