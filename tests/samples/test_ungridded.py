"""What a sample keeps of what it has worked out. Oracle: how often it is worked out."""

import numpy as np
import pytest

import condmask as cm
from condmask.samples import counted, ungridded

Z = np.random.default_rng(3).normal(0.0, 1.0, 300)


@pytest.fixture
def calls(monkeypatch):
    """How often records were sorted, and how often a transform was measured."""
    made = {"ascending": 0, "sizes_of": 0}

    def watch(module, name):
        function = getattr(module, name)

        def of(*args):
            made[name] += 1
            return function(*args)

        monkeypatch.setattr(module, name, of)

    watch(ungridded, "ascending")
    watch(counted.choice, "sizes_of")
    return made


def test_records_are_sorted_once_however_many_bandwidths_are_asked_for(calls):
    estimate = cm.ConditionalMasking(0.6, 1.0, step=0.0).estimate(Z)
    for bandwidth in np.linspace(0.5, 1.0, 2 * ungridded.KEPT):
        estimate.quantile(0.5, bandwidth=bandwidth)
        estimate.bandwidth()

    assert calls["ascending"] == 1


def test_how_long_a_transform_is_is_known_of_so_many_bandwidths_and_no_more(calls):
    estimate = cm.ConditionalMasking(0.6, 1.0, step=0.01).estimate(Z.round(2))
    asked = np.linspace(0.5, 1.0, counted.SIZED)
    for _ in range(2):
        for bandwidth in asked:
            estimate.engine(1, bandwidth=bandwidth)
    assert calls["sizes_of"] == counted.SIZED

    for bandwidth in (*np.linspace(1.1, 2.0, counted.SIZED), asked[0]):
        estimate.engine(1, bandwidth=bandwidth)

    assert calls["sizes_of"] == 2 * counted.SIZED + 1
