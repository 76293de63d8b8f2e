"""Wilson's intervals of a risk by their quadratic equation, and lifts by division."""

import json

import numpy as np
import pytest
from scipy.stats import laplace, norm

import condmask as cm
from condmask.disclosure.risk_result import BEST, CONSTANT, WHO

D = np.array([250.0, 500.0, 1000.0, 1500.0, 2000.0])
# The file of Table 3 without its sampling error: the quantiles of Laplace(10, 1000), in shuffled order.
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(100_000) + 0.5) / 100_000, 10, 1000))
SCHEME = cm.ConditionalMasking(0.6, 1000.0)


@pytest.fixture(scope="module")
def found():
    return cm.risk(X, SCHEME, d=D)


def test_intervals_are_those_of_wilson_and_lifts_those_over_the_constant(found):
    low, high = found.interval(CONSTANT)
    expected = proportion_confint(found.attackers[CONSTANT], found.n)

    assert low == pytest.approx(expected[0], rel=1e-12)
    assert high == pytest.approx(expected[1], rel=1e-12)
    assert np.array_equal(found.low[CONSTANT], low)
    assert np.array_equal(found.high[CONSTANT], high)
    assert found.lift[CONSTANT] == pytest.approx(np.ones(5))
    assert found.lift[BEST] == pytest.approx(found.attackers[BEST] / found.attackers[CONSTANT])
    frame = found.to_frame()
    assert list(frame.columns) == ["attacker", "d", "risk", "lift", "low", "high", "records"]
    assert len(frame) == 4 * 5
    json.dumps(found.to_dict(), allow_nan=False)


def test_print_says_who_each_attacker_is_and_shows_the_shares(found):
    text = str(found)

    for name, share in found.attackers.items():
        shares = [f"{value:.1%}" for value in share]
        assert text.count(f"\n{name}  ") == 2
        assert any(
            line.startswith(name) and line.removeprefix(name).split() == shares for line in text.splitlines()
        )
        assert WHO[name] in text
    assert "REFUSE" not in text
    assert "masking would REFUSE" in str(
        cm.risk(np.round(X, -2), cm.ConditionalMasking(0.6, 1000.0, step=1), d=100)
    )


def proportion_confint(share, n):
    """Wilson's interval as the roots of (share - q)^2 = z^2 q (1 - q) / n."""
    z = norm.ppf(0.975)
    a, b, c = 1 + z**2 / n, -(2 * share + z**2 / n), share**2
    root = np.sqrt(b**2 - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)
