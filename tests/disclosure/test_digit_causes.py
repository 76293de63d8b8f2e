"""Which digits of the data show who was swapped, and which step mends it."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import digit_causes, swap_attack
from condmask.disclosure.folds import folded_rows

STREAM = np.random.default_rng(9)
X = STREAM.normal(5_000.0, 900.0, 3_000)
SCHEME = cm.ConditionalMasking(0.6, 500.0, step=1)


def described(values, scheme=SCHEME):
    rows = folded_rows(values.size, values.size)
    column = swap_attack.prepare(values, "float64", scheme.law, None, rows, swap_attack.FULL)
    return digit_causes.described(values, "float64", column)


@pytest.mark.parametrize(
    ("values", "scheme", "name", "remedy", "text"),
    [
        (np.round(X, -1), SCHEME, "grid", "pass step=10", "multiples of 10, which a step of 1"),
        (np.where(STREAM.random(3_000) < 0.99, np.round(X, -1), np.rint(X)), SCHEME, "mixed grid",
         "step=10", "of the values are multiples of 10, sums with noise are not"),
        (np.where(STREAM.random(3_000) < 0.5, np.round(X, -2), np.rint(X)), SCHEME, "heaps",
         "step=100", "are multiples of 100"),
        (np.rint(X), SCHEME, "last digits", "step=100", "last digits are unevenly spread"),
        (np.round(X, -3), cm.ConditionalMasking(0.6, 500.0, step=1), "grid", "a sigma of at least 2000",
         "multiples of 1000"),
    ],
)  # fmt: skip
def test_digits_are_named_with_the_step_that_keeps_them(values, scheme, name, remedy, text):
    found = described(values, scheme)

    assert found[0] == name
    assert remedy in found[1]
    assert text in found[2]


@pytest.mark.parametrize(
    ("sigma", "step"), [(500.0, 100.0), (1_000.0, 500.0), (999.0, 100.0), (0.3, 0.1), (2.0, 1.0)]
)
def test_the_coarse_step_is_one_or_five_times_a_power_of_ten_and_at_most_half_of_sigma(sigma, step):
    assert digit_causes._coarse(sigma) == pytest.approx(step, rel=1e-12)
