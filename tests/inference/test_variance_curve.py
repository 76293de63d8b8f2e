"""The largest weight of a masked value. Oracle: T of a single value."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference.variance_curve import largest_weight
from condmask.samples.without_gaps import sample_of


def test_the_largest_weight_is_the_largest_t_of_a_single_value():
    sample = sample_of(np.zeros(2), cm.ConditionalMasking(0.3, 1.0, step=0.25).law)
    x = np.arange(-400, 401) / 100.0

    highest = sample.values(x, None, 1e-9, "auto").max()

    assert highest > 1.01
    assert largest_weight(sample) == pytest.approx(highest, rel=2e-3)
