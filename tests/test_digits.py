"""Numbers for people."""

import numpy as np
import pytest

from condmask._digits import number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (600.0, "600"), (-0.5, "-0.5"), (1015.5095, "1,015.51"), (12345678.9, "12,345,679"),
        (1 / 3, "0.333333"), (1e-9, "1e-09"), (np.nan, "nan"), (-np.inf, "-inf"),
    ],
)  # fmt: skip
def test_six_digits_and_no_zeros_behind(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1886.5131, 12.3, "1,887"), (1886.5131, 1.23, "1,886.5"), (0.51234, 0.00123, "0.5123"),
        (0.00123, 0.00123, "0.0012"), (123456.7, 9876.0, "123,457"), (-0.0, 1.0, "0.0"), (np.inf, 1.0, "inf"),
        (600.0, 0.0, "600"), (600.0, np.nan, "600"), (1.5, 1e-30, "1.5"),
    ],
)  # fmt: skip
def test_two_digits_of_the_error(value, error, text):
    assert number(value, error) == text
