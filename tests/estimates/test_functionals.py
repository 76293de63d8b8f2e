"""Means of functions, Gini coefficient and Lorenz curve, and their intervals; moments.

Coverage as in test_distribution_intervals.py: within 4.5 standard errors of the count, and .012
for what the normal approximation leaves at this n, of .95. Fewer than 100 looks, a false alarm in
7 of 10^6 each.
"""

from functools import partial

import numpy as np
import pytest
from reference import rounded_noise
from releases import masked_rows
from scipy.special import ndtr, ndtri
from worlds import rest_long

import condmask as cm

R = 500
N = 2000
S = 0.6  # lognormal data
LINE = 0.6

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings(
        "ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"
    ),
]


def gap(x):
    return np.maximum(LINE - x, 0.0) / LINE


def gini(x):
    x = np.sort(x)
    return (2.0 * np.arange(1, x.size + 1) - x.size - 1) @ x / (x.size * (x.size - 1) * x.mean())


def lorenz(x, q):
    return np.sort(x)[: round(q * x.size)].sum() / x.sum()


ASKED = [  # intervals, their value in the population, and in a file
    (lambda e, **o: e.gini_interval(**o), 2.0 * ndtr(S / np.sqrt(2.0)) - 1.0, gini),
    (lambda e, **o: e.lorenz_interval(0.3, **o), ndtr(ndtri(0.3) - S), lambda x: lorenz(x, 0.3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("p", "donors"), rest_long([(0.3, "sample"), (0.6, "permutation")]))
def test_intervals_cover_as_often_as_they_say(p, donors):
    # without D, V alone: the file's mean .99; for a permutation with D in place of Var h, .87
    scheme = cm.ConditionalMasking(p, 0.45, donors=donors, step=1 / 128)
    rng = np.random.default_rng(1)
    hits = []
    files = np.rint(128 * np.exp(S * rng.standard_normal((R, N)))) / 128

    for x, z in zip(files, masked_rows(scheme, files, rng), strict=True):
        estimate = scheme.estimate(z)
        for ask, population, of_file in ASKED:
            for target, truth in (("population", population), ("file", of_file(x))):
                found = ask(estimate, target=target)
                hits.append(found.low <= truth <= found.high)

    shares = np.reshape(hits, (R, -1)).mean(axis=0)
    assert (np.abs(shares - 0.95) < 0.012 + 4.5 * np.sqrt(0.0475 / R)).all()


OPTIONS = [{}, {"noise": "laplace"}, {"decimals": 0}, {"donors": "permutation", "decimals": -1}]


def release(p=0.45, n=500, sigma=80.0, seed=5, **options):
    x = np.exp(5.0 + 0.5 * np.random.default_rng(seed).standard_normal(n))
    if "decimals" in options:
        x = np.round(x, options["decimals"])
    scheme = cm.ConditionalMasking(p, sigma, **options)
    return scheme.estimate(scheme.mask(x, rng=seed))


@pytest.mark.parametrize("options", OPTIONS)
def test_powers_give_moments_and_steps_the_distribution_function(options):
    # two routes: Fourier transforms of the grid, and the recursion of Theorem 2.1 with exact sums
    estimate = release(**options)

    for order in (1, 2, 3):
        found = estimate.expectation_interval(lambda x, k=order: x**k, target="file")
        expected = estimate.moment_interval(order, target="file")
        np.testing.assert_allclose(found.estimate, estimate.moment(order), rtol=1e-11)
        np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-8)
    for target in ("population", "file"):
        found = estimate.expectation_interval(lambda x: x <= 150.0, target=target)
        expected = estimate.cdf_interval(150.0, target=target)
        np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-11)
        np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-3)


def of_theorem(z, g, noise, p, delta):
    """The mean of g, n times its variances given the file, by donors, and what sampling adds to
    them.

    `z` is in steps of `delta` sigma; each record gives the points around it the mass of T.
    """
    far = int(60.0 / delta)
    circle = np.fft.ifftshift(rounded_noise(noise, delta, far)[:-1])
    mass = np.fft.fftshift(np.fft.ifft(1.0 / (p + (1.0 - p) * np.fft.fft(circle))).real)
    x = np.arange(z.min() - far, z.max() + far)
    psi = np.convolve(g(np.arange(x[0] - far + 1, x[-1] + far + 1)), mass, "valid")[: x.size]
    held = np.bincount((z - x[0]).astype(int), minlength=x.size) / z.size
    originals = np.convolve(held, mass)[far : far + x.size]
    v, of_h, d = (
        weights @ f**2 - (weights @ f) ** 2
        for weights, f in ((held, psi), (originals, g(x)), (originals, g(x) - p * psi))
    )
    return held @ psi, {"sample": v - d, "permutation": v - of_h}, of_h


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_errors_of_any_mean_are_those_of_the_theorem(noise, donors):
    # records that share values, some so far away that they are summed apart; a step is no unit of
    # the data
    rng = np.random.default_rng(2)
    z = np.rint(np.append(rng.gamma(2.0, 6.0, 60), 3000.0 + rng.normal(0.0, 8.0, 20)))
    estimate = cm.ConditionalMasking(0.4, 2.5, noise=noise, donors=donors, step=0.5).estimate(
        0.5 * z
    )
    for g in (
        lambda x: np.minimum(x, 6.0) ** 2,
        lambda x: x > 4.6,
        lambda x: np.sin(x) + 0.01 * x,
    ):
        mean, file, sampled = of_theorem(
            z, lambda k, g=g: np.asarray(g(0.5 * k), float), noise, 0.4, 0.2
        )
        for target, more in (("file", 0.0), ("population", sampled)):
            found = estimate.expectation_interval(g, target=target)
            error = np.sqrt((file[donors] + more) / 80)
            assert found.estimate == pytest.approx(mean, rel=1e-9)
            assert found.standard_error == pytest.approx(error, rel=1e-8)


@pytest.mark.parametrize("step", [0, None], ids=["no grid", "a grid"])
@pytest.mark.parametrize("far", [1e15, 3e21, 1e30])
def test_values_so_far_away_that_no_number_is_within_reach_count_as_any_other(far, step):
    # a mean is one over records, and a record at which g is level for all its reach adds g there
    scheme = cm.ConditionalMasking(0.6, 1.0, step=step)

    def income_up_to_5(x):
        return np.minimum(x, 5.0)

    near = scheme.estimate([0.0, 1.0]).expectation(income_up_to_5)
    mean = scheme.estimate([0.0, 1.0, far, far, 1.5 * far]).expectation(income_up_to_5)

    assert mean == pytest.approx((2.0 * near + 3.0 * 5.0) / 5.0, rel=1e-9)


JUMPS = [150.001, 150.005, 150.009, 150.013]  # within a cell of 19 steps


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.2, 0.7])
def test_where_steps_are_fine_means_of_cells_serve(p, noise):
    # 80,000 steps for each sigma; the oracles are the recursion of Theorem 2.1 and the sum of
    # weights
    estimate = release(p=p, n=100_000, noise=noise, decimals=3)

    shares = [
        (partial(np.greater_equal, x), estimate.cdf_interval(x, target="file")) for x in JUMPS
    ]
    for g, found in (
        (lambda x: x, estimate.moment_interval(1, target="file")),
        (lambda x: x**2, estimate.moment_interval(2, target="file")),
        *shares,
    ):
        mean = estimate.expectation_interval(g, target="file")
        assert abs(mean.estimate - found.estimate) < 0.002 * found.standard_error
        assert mean.standard_error == pytest.approx(found.standard_error, rel=0.005)


def test_wide_data_are_summed_piece_by_piece():
    # 400,000 steps in one piece, and another far away; T is a sum over records, and so are its
    # means
    scheme = cm.ConditionalMasking(0.6, 1.0, step=2.0**-11)
    rng = np.random.default_rng(1)
    near = rng.uniform(0.0, 200.0, 3_000)
    far = 1e7 + rng.normal(0.0, 1.0, 1_000)
    near, far = (scheme.mask(x, rng=2, round=True) for x in (near, far))
    of_near = scheme.estimate(near)
    whole = scheme.estimate(np.append(near, far))

    for g, found in ((lambda x: x**2, of_near.moment(2)), (lambda x: x < 77.7, of_near.cdf(77.7))):
        assert of_near.expectation(g) == pytest.approx(found, rel=1e-11)
        parts = 0.75 * of_near.expectation(g) + 0.25 * scheme.estimate(far).expectation(g)
        assert whole.expectation(g) == pytest.approx(parts, rel=1e-11)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_gini_and_lorenz_are_integrals_of_t(noise):
    # T at every step, which the estimators do not look at; the bias is that of Var T, from
    # intervals
    estimate = release(p=0.15, n=200, noise=noise, decimals=0)
    x = np.arange(-2_000.0, 3_000.0)
    q = np.array([0.1, 0.5, 0.9])
    t = estimate.cdf(x)
    error = estimate.cdf_interval(x).standard_error

    at = estimate.quantile(q, crossing="rearranged")
    before = [
        x[0] * share + np.sum((share - t)[x < end]) for share, end in zip(q, at, strict=True)
    ]
    apart = np.sum(t * (1.0 - t)) + np.sum(error**2) * 200 / 199

    assert estimate.gini() == pytest.approx(apart / estimate.mean(), rel=1e-4)
    np.testing.assert_allclose(
        estimate.lorenz(q), np.array(before) / estimate.mean(), rtol=0.0, atol=1e-4
    )


def unmasked(x):
    """The estimate from values that swapping by a permutation leaves as they are, together."""
    return cm.ConditionalMasking(1.0 - 1e-9, 1e-3 * 60, donors="permutation", decimals=2).estimate(
        x
    )


def test_gini_and_lorenz_without_masking_are_those_of_the_file():
    # swapped by a permutation alone, the values stay
    x = np.round(np.exp(np.random.default_rng(8).standard_normal(60)), 2)
    estimate = unmasked(x)
    q = np.array([0.2, 0.5, 0.9])

    np.testing.assert_allclose(estimate.gini(), gini(x), rtol=1e-6)
    np.testing.assert_allclose(estimate.lorenz(q), [lorenz(x, share) for share in q], rtol=1e-6)
    assert estimate.gini_interval(target="file").standard_error < 1e-4
    # the population's: that of E|X - X'| / (2 mean), a ratio of a U-statistic and a mean
    apart = np.abs(x[:, None] - x).mean(axis=1)
    expected = np.std((apart - gini(x) * x) / x.mean()) / np.sqrt(60)
    np.testing.assert_allclose(estimate.gini_interval().standard_error, expected, rtol=1e-3)
    # and after reverse mapping
    known = cm.ReverseMapping(0.5, 1.0).estimate(x)
    found = known.expectation_interval(np.log)
    assert found.estimate == pytest.approx(np.log(x).mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(np.log(x).std() / np.sqrt(60), rel=1e-9)
    assert known.expectation_interval(np.log, target="file").standard_error == 0.0


def some_amounts(n, shift=0.0):
    return np.rint(2.0 * np.random.default_rng(5).exponential(10.0, n)) / 2.0 + shift


def test_shares_of_a_total_stay_within_what_can_be():
    # 60 records at p = .05, of whose T the standard error is large: -+ 1.96 of it would reach
    # beyond
    scheme = cm.ConditionalMasking(0.05, 20.0, step=0.5)
    q = np.array([0.2, 0.5, 0.95])
    reached = 0
    for seed in range(4):
        estimate = scheme.estimate(scheme.mask(some_amounts(60), rng=seed))
        gini = estimate.gini_interval()
        lorenz = estimate.lorenz_interval(q)
        assert 0.0 <= gini.low <= gini.estimate <= gini.high <= 1.0
        assert ((lorenz.low >= 0.0) & (lorenz.low <= lorenz.estimate)).all()
        assert ((lorenz.estimate <= lorenz.high) & (lorenz.high <= q)).all()
        assert (lorenz.high - lorenz.low > 0.01 * q).all()
        assert lorenz.estimate.tolist() == np.clip(estimate.lorenz(q), 0.0, q).tolist()
        reached += np.any(lorenz.high == q) + (gini.high == 1.0)

    assert reached > 0
    # far above 0, though T there is .003 or 0, and its error about the file 0
    for shift in (100.0, 1e4):
        assert (
            scheme.estimate(scheme.mask(some_amounts(60, shift), rng=0)).gini_interval().low == 0.0
        )


def test_where_amounts_are_negative_nothing_is_cut():
    # a third of them: the Gini coefficient about a mean near 0 is above 1, and ordinates are below
    # 0
    scheme = cm.ConditionalMasking(0.6, 3.0, step=0.125)
    estimate = scheme.estimate(scheme.mask(some_amounts(2_000, -8.0), rng=1))

    gini = estimate.gini_interval()
    lorenz = estimate.lorenz_interval(0.4)

    assert gini.low > 1.0
    assert lorenz.high < 0.0
    zeros = scheme.estimate(scheme.mask(np.maximum(some_amounts(2_000, -8.0), 0.0), rng=1))
    assert zeros.lorenz_interval(0.4).low == 0.0  # which are not negative
    known = cm.ReverseMapping(scheme.p, scheme.sigma)
    one = known.estimate(np.append(some_amounts(60), -5.0))
    assert one.lorenz_interval(0.01).estimate == one.lorenz(0.01) < 0.0


def test_batches_and_summaries_serve():
    scheme = cm.ConditionalMasking(0.6, 60.0, decimals=0)
    x = np.exp(5.0 + 0.5 * np.random.default_rng(9).standard_normal((3, 200))).round()
    z = np.array([scheme.mask(row, rng=k) for k, row in enumerate(x)])
    counts = cm.Counts(scheme)
    counts.update(z[1])
    batch = scheme.estimate(z)
    one = scheme.estimate(counts)

    for ask in (
        lambda e: e.expectation_interval(gap),
        lambda e: e.moment_interval(3, central=True),
        lambda e: e.gini_interval(),
        lambda e: e.lorenz_interval([[0.2, 0.5]]),
        lambda e: e.cdf_interval([[100.0, 150.0]]),
        lambda e: e.quantile_interval([[0.3, 0.5]]),
    ):
        found = ask(batch)
        alone = ask(one)
        assert np.shape(found.low) == (3, *np.shape(alone.low))
        assert found.low[1] == pytest.approx(alone.low, rel=1e-13)
    assert all(
        type(end) is float for end in (one.cdf_interval(150.0).low, one.median_interval().high)
    )
    assert batch.interquartile_range()[1] == one.interquartile_range()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: release(sigma=10.0, decimals=-1, seed=6).expectation(np.log),
            "g must be finite wherever .*",
        ),
        (
            lambda: release(sigma=40.0).expectation(lambda x: np.exp(x / 20.0)),
            "g must grow more slowly .*",
        ),
        (
            lambda: release(n=20).expectation(np.mean),
            "g must give numbers, one for each value, got float64 .*",
        ),
        (
            lambda: cm.ConditionalMasking(0.6, 1.0, decimals=0).estimate([-5.0, 5.0]).gini(),
            "the mean must be estimated positive for shares of the total, got 0",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        call()
