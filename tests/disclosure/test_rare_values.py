"""The chance that rare values come back to their records, against closed forms."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import ndtr

import condmask as cm
from condmask.disclosure.rare_values import own_value


def scheme_of(p=0.6, sigma=1.0, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


@pytest.mark.parametrize(("p", "distance"), [(0.3, 1.0), (0.5, 0.2), (0.1, 3.0)])
def test_two_lonely_records_keep_their_values_as_often_as_a_closed_form_says(p, distance):
    # a kept one keeps its value where the other is swapped, or kept and not passed
    x = np.concatenate([np.tile(np.arange(10.0), 100), [1e3, 1e3 + distance]])

    found = own_value(x, scheme_of(p))

    chance = (1.0 - p) * (p + (1.0 - p) * ndtr(distance / sqrt(2.0))) + p / x.size
    # 300 maps: a standard error of at most .5 / sqrt(300) = .029; four of them
    assert found.size == 2
    assert np.all(np.abs(found - chance) < 0.12)
