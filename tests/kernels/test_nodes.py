"""Counts spread to nodes and functions read between them are those of the polynomial through ten nodes."""

import numpy as np
import pytest
from scipy.interpolate import barycentric_interpolate

from condmask.kernels import nodes


def test_a_smooth_function_is_read_between_nodes():
    place, read, rate = np.linspace(5.0, 90.0, 300), np.zeros(300), np.pi / 20.0
    nodes.read(place, np.sin(rate * np.arange(100.0)), read)

    assert read == pytest.approx(np.sin(rate * place), abs=2e-11)


def test_what_was_spread_weighs_as_what_is_read():
    rng = np.random.default_rng(1)
    place, counts, known = rng.uniform(5.0, 90.0, 50), rng.uniform(size=50), rng.normal(size=100)
    spread, rows, read = np.zeros(100), np.zeros((1, 100)), np.zeros(50)
    nodes.spread(place, counts, spread)
    nodes.spread_rows(0.5 * place[None] - 3.0, np.full(1, -3.0), 2.0, rows)
    nodes.read(place, known, read)

    exact = [
        barycentric_interpolate(np.arange(i - 4, i + 6), known[i - 4 : i + 6], at)
        for i, at in zip(place.astype(int), place, strict=True)
    ]
    assert read == pytest.approx(np.array(exact), rel=1e-9)
    assert spread @ known == pytest.approx(counts @ read)
    assert rows[0] @ known == pytest.approx(read.sum())
