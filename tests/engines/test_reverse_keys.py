"""The law of the map of reverse mapping among many records.

Oracles: thresholds by root finding and chances by quadrature of the noise's density, both with SciPy; the
map of a large simulated file.
"""

import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import laplace, norm

import condmask as cm
from condmask.disclosure import simulated_maps
from condmask.engines import reverse_keys
from condmask.engines.reverse_keys import Keys, on_a_line

LAWS = {"normal": norm(), "laplace": laplace(scale=np.sqrt(0.5))}
VALUES = np.array([-4.0, -1.0, -0.4, 0.0, 0.1, 0.15, 0.7, 2.0, 5.0, 5.5])
COUNTS = np.array([1, 4, 2, 6, 1, 3, 2, 5, 1, 2])


def plain(noise, sigma, scale):
    """M by quadrature: the chance of each value (rows) to be given each other one."""
    size = VALUES.size
    parts = [VALUES < 0, VALUES == 0, VALUES > 0] if scale == "log" else [np.ones(size, dtype=bool)]
    found = np.zeros((size, size))
    for part in parts:
        x, law = VALUES[part], LAWS[noise]
        places = x / sigma if scale == "linear" else np.sign(x) * np.log(np.abs(x) + (x == 0)) / sigma
        w = COUNTS[part] / COUNTS[part].sum()

        def below(t, w=w, law=law, places=places):
            return w @ law.cdf(t - places)

        ends = [brentq(lambda t, s=s: below(t) - s, -200, 200, xtol=1e-12) for s in np.cumsum(w)[:-1]]
        cuts = [places.min() - 40, *ends, places.max() + 40]
        for a, row in enumerate(np.flatnonzero(part)):
            for b, column in enumerate(np.flatnonzero(part)):
                low, high = (np.clip(t - places[a], -40, 40) for t in cuts[b : b + 2])
                found[row, column] = quad(
                    law.pdf, low, high, points=[np.clip(0, low, high)], epsabs=1e-12, limit=200
                )[0]
    return found


@pytest.mark.parametrize(
    ("noise", "scale"), [("normal", "linear"), ("laplace", "linear"), ("normal", "log"), ("laplace", "log")]
)
@pytest.mark.parametrize("sigma", [0.05, 0.6])
def test_the_law_of_the_map_is_that_of_quadrature(noise, scale, sigma):
    keys = Keys(VALUES, COUNTS, noise, sigma, scale)
    cuts = keys.thresholds(np.append(0, np.cumsum(COUNTS)))
    m = np.array([keys.chances(np.full(VALUES.size, at), cuts[:-1], cuts[1:]) for at in keys.at])

    # H between nodes is a cubic, to (1/8)^4 / 384 * 2 = 1e-6 of its mass; Laplace's kink makes that 2e-4
    assert m == pytest.approx(plain(noise, sigma, scale), abs=3e-6 if noise == "normal" else 3e-4)
    assert m.sum(axis=1) == pytest.approx(np.ones(VALUES.size), abs=1e-12)
    assert keys.weights @ m == pytest.approx(keys.weights, abs=1e-6 if noise == "normal" else 1e-4)


def test_many_records_move_by_this_law():
    x = np.sort(np.random.default_rng(1).lognormal(0.0, 0.6, 4_000))
    scheme = cm.ConditionalMasking(0.5, 0.4, reverse_mapping=True)
    keys = Keys(x, np.ones(x.size), "normal", 0.4, "linear")
    (low, high), rows = keys.thresholds(np.array([1_000, 2_600])), np.array([300, 1_200, 2_500, 3_600])
    expected = keys.chances(keys.at[rows], np.full(4, low), np.full(4, high))

    kept, inside = np.zeros((2, x.size))
    for record, value in simulated_maps.kept_maps(x, scheme):
        kept += np.bincount(record, minlength=x.size)
        inside += np.bincount(record[(value >= 1_000) & (value < 2_600)], minlength=x.size)

    # with 20 neighbours to either side, whose chances differ little
    near = np.abs(np.arange(-20, 21) + rows[:, None])
    share = inside[near].sum(axis=1) / kept[near].sum(axis=1)
    # 41 * 150 kept: a standard error of at most .5 / sqrt(6000) = .0065, four of them, and .01 for neighbours
    assert share == pytest.approx(expected, abs=0.036)
    assert (expected > 0.02).all()


def test_values_far_apart_stay_on_a_short_line():
    line = on_a_line(np.array([-1e300, -2.0, -1.0, 0.0, 1.0, 3.0, 1e300]), 0.5, "linear", 20.0)
    assert np.diff(line).tolist() == [20.0, 2.0, 2.0, 2.0, 4.0, 20.0]
    line = on_a_line(np.array([-np.e, -1.0, 0.0, 1.0, np.e]), 0.5, "log", 20.0)
    assert np.diff(line) == pytest.approx([2.0, 20.0, 20.0, 2.0])


def test_a_lonely_value_stays_where_it_is():
    keys = Keys(np.array([0.0, 1.0, 1e6]), np.array([5, 5, 1]), "normal", 1.0, "linear")
    cuts = keys.thresholds(np.array([0, 5, 10, 11]))

    assert keys.chances(keys.at[2:], cuts[2:3], cuts[3:])[0] == pytest.approx(1.0, abs=1e-9)


def test_amounts_of_either_sign_lie_apart_on_the_line():
    line = reverse_keys.on_a_line(np.array([-4.0, -1.0, 0.0, 1.0, 2.0]), 0.5, "log", 40.0)

    assert np.diff(line) == pytest.approx([np.log(4.0) / 0.5, 40.0, 40.0, np.log(2.0) / 0.5])
    # without a zero between them, too
    assert np.diff(reverse_keys.on_a_line(np.array([-1.0, 1.0]), 0.5, "log", 40.0)) == 40.0


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_noise_that_reaches_too_few_values_is_refused_with_what_is_enough(monkeypatch, scale):
    monkeypatch.setattr(reverse_keys, "MOST_NODES", 10_000)
    values = np.sort(np.random.default_rng(3).lognormal(3.0, 0.8, 300))

    with pytest.raises(ValueError, match="sigma must reach more of the 300 values") as refused:
        Keys(values, np.ones(300), "normal", 1e-7, scale)

    (enough,) = re.findall(r"([\d.e+-]+) is enough", str(refused.value))
    assert Keys(values, np.ones(300), "normal", float(enough), scale).nodes.size > 2_000
