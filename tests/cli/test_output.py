"""Numbers as people and programs read them."""

import json

import numpy as np
import pytest

from condmask.cli import output


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.5, "-0.500000"), (1015.5095, "1,015.51"), (12345678.9, "12,345,679"), (np.nan, "nan")],
)
def test_numbers_keep_six_digits(value, text):
    assert output.number(value) == text


def test_json_has_no_nan():
    assert json.loads(output.to_json({"a": [np.nan, 1.0], "b": (np.inf,)})) == {"a": [None, 1.0], "b": [None]}
