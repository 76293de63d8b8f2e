"""The law of the map against quadrature, and what undoes it against dense least squares."""

import numpy as np
import pytest
from mapped_files import FILES
from scipy import stats

import condmask as cm
from condmask.engines import mapping_law
from condmask.inference.intervals import UndefinedError

pytestmark = [
    pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning", "ignore:group_means"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]


# the keys that no cell is given: 1e-15 of the records in each of 26 * 2 * 64 cells; of one record in 300, of
# its own chances, 300 times that
LOST = 1e-15 * 26 * 2 * 64


def quadrature(x, scheme):
    """M by distinct values: thresholds by bisection, chances by the noise's distribution function."""
    values, counts = np.unique(x, return_counts=True)
    share = counts / x.size
    law = stats.norm() if scheme.noise == "normal" else stats.laplace(0.0, np.sqrt(0.5))
    place = values if scheme.scale == "linear" else np.log(values)
    low, high = np.full(values.size - 1, place[0] - 50.0), np.full(values.size - 1, place[-1] + 50.0)
    for _ in range(80):
        middle = 0.5 * (low + high)
        below = law.cdf((middle[:, None] - place) / scheme.sigma) @ share
        up = below < np.cumsum(share)[:-1]
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    ends = np.concatenate(([-np.inf], low, [np.inf]))
    chances = np.diff(law.cdf((ends - place[:, None]) / scheme.sigma), axis=1)
    return values, share, chances


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_the_law_of_the_map_is_that_of_quadrature(noise, scale):
    x = np.repeat(np.arange(1.0, 9.0), [30, 5, 60, 1, 44, 10, 20, 30])
    scheme = cm.ConditionalMasking(
        0.6, 1.3 if scale == "linear" else 0.4, noise=noise, scale=scale, reverse_mapping=True
    )

    own = mapping_law.of_values(x, noise, scheme.sigma, scale)

    values, share, chances = quadrature(x, scheme)
    assert own.means(x) == pytest.approx(values, abs=1e-12)
    assert own.share == pytest.approx(share, abs=1e-15)
    # keys are counted in cells of sigma/64, values are within half of one: some .4/128 each
    assert np.abs(own.matrix() - chances).max() < 0.006
    assert own.share @ own.matrix() == pytest.approx(own.share, abs=LOST)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_map_keeps_the_distribution_and_its_adjoint_is_one(name, scale):
    x = FILES[name]
    own = mapping_law.of_values(x, "normal", 0.3 * x.std(), scale)
    h, g = np.random.default_rng(2).normal(size=(2, own.share.size))

    assert own.apply(np.ones(h.size)) == pytest.approx(1.0, abs=300 * LOST)
    assert own.adjoint(np.ones(h.size)) == pytest.approx(1.0, abs=300 * LOST)
    assert own.share @ (g * own.apply(h)) == pytest.approx(own.share @ (h * own.adjoint(g)), abs=1e-12)


def test_signs_stay_and_zeros_stay_zeros_on_the_log_scale():
    x = FILES["signs"]
    own = mapping_law.of_values(x, "normal", 1.0, "log")

    sign, chances = np.sign(own.means(x)), own.matrix()

    assert np.abs(chances[sign[:, None] != sign]).max() < 300 * LOST


def test_gaps_are_shortened_without_a_trace():
    x = np.concatenate([FILES["skewed"], 1e9 + FILES["heaped"]])
    near = np.concatenate([FILES["skewed"], 1e3 + FILES["heaped"]])

    own, other = (mapping_law.of_values(each, "laplace", 1.0, "linear") for each in (x, near))

    assert own.size < 1e5
    assert own.matrix() == pytest.approx(other.matrix(), abs=1e-12)


def test_values_too_far_apart_are_refused(monkeypatch):
    monkeypatch.setattr(mapping_law, "MOST_CELLS", 10_000)
    x = 100.0 * np.arange(60.0)

    with pytest.raises(
        UndefinedError, match=r"^z must have been masked with a larger sigma .* over [\d,]+ sigmas"
    ):
        cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True).estimate(x).pseudo_values()


@pytest.mark.parametrize("name", ["ties", "heaped"])
def test_with_few_values_the_equation_is_solved_as_dense_least_squares_do(name):
    x, p, n = FILES[name], 0.6, FILES[name].size
    own = mapping_law.of_values(x, "normal", 0.3 * x.std(), "linear")
    target = own.means(x)

    h = mapping_law.inverse(own, p, target)

    stays = p - (p - (1.0 - (1.0 - p) ** n) / n) * n / (n - 1)  # p - p' - p'/(n-1)
    system = (1.0 - p) * own.matrix() + stays * np.eye(target.size)
    root = np.sqrt(own.share)
    exact = np.linalg.lstsq(root[:, None] * system, root * (target - own.share @ target), rcond=None)[0]
    left = system @ (h - own.share @ h) - (target - own.share @ target)
    spread = np.sqrt(own.share @ (target - own.share @ target) ** 2)
    assert own.share @ h == pytest.approx(own.share @ target, abs=1e-12)
    assert np.sqrt(own.share @ left**2) < 0.01 * spread
    # a residual of 1% is undone to some 1% of h where nothing is ill-posed; heaps are
    assert np.sqrt(own.share @ (h - own.share @ h - exact) ** 2) < (0.02 if name == "ties" else 0.5) * spread


@pytest.mark.parametrize("n", [4, 9])
def test_without_noise_kept_records_and_those_that_swap_alone_keep_their_values(n):
    """Of the others a record has each value as often, so that their mean is all that they leave."""
    x, p = 100.0 * np.arange(1.0, n + 1.0), 0.6
    law = mapping_law.of_values(x, "normal", 1e-3, "linear")

    found = mapping_law.inverse(law, p, x)

    kept = 0.4 + (0.4 - 0.4**n) / (n - 1)
    assert found[law.cell] == pytest.approx(x.mean() + (x - x.mean()) / kept, rel=1e-6)
