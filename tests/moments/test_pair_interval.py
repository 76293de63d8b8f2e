"""Intervals of covariances and correlations.

Oracles: the law of the records in full; files masked here by eq. (1). Every test has a fixed seed;
false alarms are stated where a test is statistical.
"""

import re
import warnings
from math import ceil

import numpy as np
import pytest
from releases import in_group
from worlds import rest_slow

import condmask as cm
from condmask.inference.interval import UndefinedError
from condmask.law import Law
from condmask.pairs.pair_interval import correlation
from condmask.pairs.pair_variance import conditional_pair
from condmask.pairs.theorem_2_5 import PairMoments

DONORS = ("sample", "permutation")
pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings(
        "ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"
    ),
]


# --- how they vary
# ------------------------------------------------------------------------------------------

P_FILE = 0.3


class PoolInFull:
    """The law of the released pairs of a donor pool, from the chances of its originals."""

    def __init__(self, x, w, chances, sigmas, together):
        self.x = x
        self.w = w
        self.q = chances
        self.together = together
        noise = np.sqrt(3.0) * np.array(
            [-1.0, 0.0, 1.0]
        )  # 1, 4, 1 sixths: moments of a normal law to order 5
        self.noisy = np.broadcast_arrays(
            x[:, None, None] + sigmas[0] * noise[:, None], w[:, None, None] + sigmas[1] * noise
        )

    def kept(self, f):
        return f(*self.noisy) @ [1.0, 4.0, 1.0] @ [1.0, 4.0, 1.0] / 36.0

    def released(self, f):
        chances = np.diag(self.q) if self.together else np.outer(self.q, self.q)
        swapped = np.sum(chances * f(self.x[:, None], self.w))
        return P_FILE * swapped + (1.0 - P_FILE) * self.q @ self.kept(f)

    def terms(self, phi, h):
        """V, D, Var h, the covariance of both margins, and the means of h and its square."""
        own = h(self.x, self.w)
        every = phi(self.x[:, None], self.w)
        at, margin = (
            (every @ self.q, self.q @ every) if not self.together else np.zeros((2, self.q.size))
        )
        given = (1.0 - P_FILE) * self.kept(phi) + P_FILE * margin
        v = self.released(lambda a, b: phi(a, b) ** 2) - self.released(phi) ** 2
        pairs = (given, given), (own, own), (at, margin)
        covariances = [self.q @ (a * b) - (self.q @ a) * (self.q @ b) for a, b in pairs]
        return np.array([v, *covariances, self.q @ own, self.q @ own**2])


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("together", [False, True])
def test_variances_are_those_of_the_law_of_the_records_in_full(donors, together):
    rng = np.random.default_rng(3)
    n = 1e9
    share = np.array([0.4, 0.6])
    laws = [Law(P_FILE, "normal", 0.8), Law(P_FILE, "normal", 0.5)]
    kept = 1.0 if together else 1.0 - P_FILE
    columns = rng.gamma([[[2.0]], [[4.0]]], size=(2, 2, 5))
    chances = rng.dirichlet(np.ones(5), 2)
    pools = [
        PoolInFull(*own, q, (0.8, 0.5 * together), together)
        for own, q in zip(columns, chances, strict=True)
    ]
    orders = [[lambda a, b, i=i, j=j: a**i * b**j for j in range(5)] for i in range(5)]
    powers = np.array([[[each.released(f) for f in row] for row in orders] for each in pools])
    sums = n * share[:, None, None] * powers
    moments = PairMoments(np.zeros(2), np.ones(2), sums, sums[:, :3, 0])
    mx, mw = np.einsum("p,pcq,pq->c", share, columns, chances)

    pair = conditional_pair(
        moments, laws[0], laws[1] if together else None, shared_donors=donors == "sample"
    )

    def variances(c, first, second):
        total = 0.0
        for part, own in zip(share, pools, strict=True):
            mu = own.q @ own.x
            nu = own.q @ own.w

            def h(a, b):
                return c * (a - mx) * (b - mw) + first * (a - mx) ** 2 + second * (b - mw) ** 2

            def phi(a, b, mu=mu, nu=nu):
                return h(a, b) + c * (1.0 / kept - 1.0) * (a - mu) * (b - nu)

            total = total + part * own.terms(phi, h)
        v, d, inside, a, mean, square = total
        file = v - d if donors == "sample" else v - inside + 2.0 * P_FILE * a
        return file, file + square - mean**2

    weights = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.7, -0.4, 0.3]])
    expected = np.transpose([variances(*each) for each in weights])
    assert n * pair.variances(weights) == pytest.approx(expected, rel=1e-6)
    deviations = columns - np.array([mx, mw])[:, None]
    (xx, xw), (_, ww) = np.einsum("p,paq,pbq,pq->ab", share, deviations, deviations, chances)
    assert pair.correlation == pytest.approx(xw / np.sqrt(xx * ww), rel=1e-7)
    at_rho = variances(1.0 / np.sqrt(xx * ww), -0.185 / xx, -0.185 / ww)
    assert n * correlation(pair).square @ [1.0, 0.37, 0.37**2] == pytest.approx(at_rho, rel=1e-6)


def normal_file(rng, n, r=0.6):
    x, e = rng.normal(size=(2, n))
    return x, r * x + np.sqrt(1 - r * r) * e


# --- edges
# ----------------------------------------------------------------------------------------------


@pytest.fixture
def case():
    x, w = normal_file(np.random.default_rng(5), 500)
    scheme = cm.ConditionalMasking(0.4, 0.7, step=0.0)
    return scheme, scheme.mask(x, rng=5), w


def test_the_standard_error_is_that_under_each_hypothesis():
    # next to nothing is masked, so the statistic r - rho has the influence u v - rho (u^2 + v^2)/2
    # of standardised values; skewed ones, for which its variance at both ends is not that at the
    # estimate
    rng = np.random.default_rng(6)
    x, w = rng.gamma(1.0, size=(2, 500))
    w = 0.6 * x + 0.8 * w
    u, v = ((each - each.mean()) / each.std(ddof=1) for each in (x, w))

    found = cm.ConditionalMasking(1e-9, 1e-6, step=0.0).estimate(x).correlation_interval(w)

    for end in (found.low, found.high):
        error = np.std(u * v - 0.5 * end * (u**2 + v**2)) / np.sqrt(500)
        # of n for n - 1
        assert abs(end - found.estimate) == pytest.approx(1.959964 * error, rel=0.01)
    own = u * v - 0.5 * found.estimate * (u**2 + v**2)
    assert found.standard_error == pytest.approx(own.std(ddof=1) / np.sqrt(500), rel=1e-5)
    # what the rest is to tell apart
    assert found.high - found.estimate < 0.98 * (found.estimate - found.low)


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 1.0), (0.0, 1e200), (0.0, 1e-200)])
def test_units_do_not_matter(case, shift, scale):
    scheme, z, w = case
    other = cm.ConditionalMasking(0.4, 0.7 * scale, step=0.0)

    found = other.estimate((z + shift) * scale).correlation_interval((w + shift) / scale)

    plain = scheme.estimate(z).correlation_interval(w)
    assert found[:4] == pytest.approx(plain[:4], rel=1e-6)  # 1e6 takes six digits and a few


def test_a_batch_gives_what_its_rows_give(case):
    scheme, z, w = case
    rows = np.array([z, z[::-1]])
    together = [w, w[::-1]]

    for name in ("correlation_interval", "covariance_interval"):
        batch = getattr(scheme.estimate(rows), name)(together)
        for k in range(2):
            one = getattr(scheme.estimate(rows[k]), name)(together[k])
            assert [each[k] for each in batch[:4]] == list(one[:4])


def test_an_estimate_outside_stands_at_the_nearest_end_of_its_interval():
    x = np.random.default_rng(7).normal(size=60)
    scheme = cm.ConditionalMasking(0.6, 0.5, step=0.0)
    rows = np.array([scheme.mask(x, rng=seed) for seed in range(40)])
    values = np.array([scheme.estimate(z).correlation(x) for z in rows])
    first = int(np.argmax(values > 1.0))

    found, one = (scheme.estimate(z).correlation_interval(x) for z in (rows, rows[first]))

    outside = values > 1.0
    assert 5 < outside.sum() < 35
    assert (found.estimate[outside] == 1.0).all()
    assert found.estimate[~outside] == pytest.approx(values[~outside], rel=1e-12)
    assert (
        (found.low <= found.estimate) & (found.estimate <= found.high) & (found.high <= 1.0)
    ).all()
    assert (found.high - found.low > 0.05).all()  # cut off at 1 they are points
    assert ["lies outside [-1, 1]" in about for about in found.about] == outside.tolist()
    assert (
        f"the estimate, {values[first]:.4g}, lies outside [-1, 1], and the nearest end is given"
        in one.about
    )


@pytest.mark.parametrize(
    ("n", "p", "r", "joint"),
    rest_slow(
        [
            (60, 0.6, 0.99, False),
            (200, 0.6, 0.99, True),
            (200, 0.8, 0.6, False),
            (50, 0.6, 0.0, False),
        ]
    ),
)
def test_intervals_cover_correlations_near_1_and_from_little(n, p, r, joint):
    # 120 files: .95 - .09, 4.5 standard errors, a false alarm in less than 1 of 10^5 seeds. By
    # Fisher's z, and cut off at 1, .75, .85, .94 and .97 of them cover. .02 is what the normal
    # approximation lacks for 50 records.
    rng = np.random.default_rng(8)
    scheme = cm.ConditionalMasking(p, 0.7, step=0.0)
    x, w = np.array([normal_file(rng, n, r) for _ in range(120)]).transpose(1, 0, 2)
    swapped = rng.random(x.shape) < p
    donor = (np.arange(n) + rng.integers(1, n, x.shape)) % n
    rows = [
        np.where(swapped, np.take_along_axis(v, donor, 1), v + 0.7 * rng.normal(size=v.shape))
        for v in (x, w)
    ]
    estimate = in_group(scheme.estimate(rows[0]))

    found = estimate.correlation_interval(in_group(scheme.estimate(rows[1])) if joint else w)

    hits = (found.low <= r) & (r <= found.high)
    assert hits.mean() > 0.95 - 0.09 - 0.02


def said(estimate, *other):
    """What an interval of the correlation warns of, once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = estimate.correlation_interval(*other)
    assert len(caught) <= 1
    return found, str(caught[0].message) if caught else ""


@pytest.mark.parametrize(("n", "says"), [(69, True), (70, False)])
def test_a_correlation_from_little_says_how_many_records_would_do(n, says):
    # values -1 and 1 in turn have Var Z = n/(n-1), of which noise is (1-p) .25 = .1:
    # .16 n (1 - .1 (n-1)/n) is 9.95 for n = 69 and 10.1 for n = 70
    z = np.tile([-1.0, 1.0], n)[:n]
    variance = z.var(ddof=1)
    share = 0.4**2 * (variance - 0.4 * 0.5**2) / variance
    scheme = cm.ConditionalMasking(0.6, 0.5, step=0.0)

    _, message = said(scheme.estimate(z), np.repeat([0.0, 1.0], n)[n // 2 :][:n])

    expected = (
        f"correlation: {n} masked records carry as much information about it as "
        f"{n * share:.2g} unmasked ones; {ceil(10 / share)} would carry as much as 10"
    )
    assert message == (expected if says else "")


def test_a_variance_that_noise_hides_leaves_all_correlations():
    z = np.linspace(-1.0, 1.0, 50)
    other = z**2

    found, message = said(cm.ConditionalMasking(0.3, 5.0, step=0.0).estimate(z), other)
    hidden, much = said(
        cm.ConditionalMasking(0.3, 0.6, donors="sample", step=0.0).estimate(z), other
    )

    assert found[:2] == (-1.0, 1.0)
    assert np.isnan(found[2:4]).all()
    assert "its variance is estimated negative" in found.about
    assert message == (
        "correlation: it cannot be bounded, since the noise is so large that even the variance of the "
        "original is not significantly positive; "
        "it takes far more records"
    )
    assert hidden[:2] == (-1.0, 1.0)  # .095, with a standard error of .11
    assert abs(hidden.estimate) < 1.0
    # heavy tails leave a variance as uncertain, but no noise hides the original
    x = np.append(z, 50.0)
    heavy, _ = said(
        cm.ConditionalMasking(0.3, 0.1, donors="sample", step=0.0).estimate(x),
        np.append(other, 0.0),
    )
    assert heavy.high - heavy.low < 1.5
    # the error of the variance about the file is V - D of its influence function, here from
    # moments of Z; with the variance at its upper end, twice that error is to be that end
    square = (z - z.mean()) ** 2
    noise = 0.7 * 0.6**2
    m2 = square.mean() - noise
    m4 = np.mean(square**2) - 0.7 * (6 * (square.mean() - noise) * 0.36 + 3 * 0.36**2)
    reach = 1.959964 * np.sqrt((square.var() - 0.7**2 * (m4 - m2**2)) / 50)
    needed = 50 * (2 * reach / (z.var(ddof=1) - noise + reach)) ** 2
    told = int(re.search("it takes at least ([0-9,]+) records$", much)[1].replace(",", ""))
    assert told == pytest.approx(needed, rel=0.08)  # n for n - 1 in places


@pytest.mark.parametrize("name", ["correlation_interval", "covariance_interval"])
def test_what_cannot_be_had(name):
    estimate = cm.ConditionalMasking(0.4, 1.0, decimals=0).estimate(np.arange(40.0))

    with pytest.raises(ValueError, match="other must have been masked together with this column"):
        getattr(estimate, name)(estimate)
    with pytest.raises(
        UndefinedError, match="other must have at least 2 values where z has them, got 1"
    ):
        getattr(estimate, name)([1.0] + [np.nan] * 39)
    for p, x in ((0.9, np.arange(10.0)), (0.65, np.arange(2.0)), (0.95, np.arange(20.0))):
        with pytest.raises(UndefinedError, match=f"z must have more than {x.size} records"):
            getattr(cm.ConditionalMasking(p, 1.0, decimals=0).estimate(x), name)(x)
