"""All routes to a number agree: layers, the series, a batch, counts that were merged, rows of a study."""

import numpy as np
import pytest

import condmask as cm
from condmask.studies import curves

TOL = 1e-10
ROWS = 1e-7  # of T, by which rows of a study may be off
STEPS = {"generic": 2.0**-10, "ties": 2.0**-6, "coarse": 0.75}  # of sigma


def sample(kind, n, p):
    """Masked values: a skewed sample, half of it at one point for ties."""
    rng = np.random.default_rng([n, round(100 * p)])
    step = STEPS[kind]
    units = np.rint(rng.gamma(2.0, 2.0, n) / step)
    if kind == "ties":
        units[: n // 2] = np.rint(1.5 / step)
    noisy = units + np.rint(rng.normal(0.0, 1.0 / step, n))
    return np.where(rng.random(n) < p, rng.permutation(units), noisy) * step


def requests(z, step):
    """What is asked, where, and with which bandwidth."""
    x = np.concatenate([np.linspace(z.min() - 2, z.max() + 2, 23), z[:5], z[:3] + 0.3 * step])
    q, width = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]), max(0.3, 1.6 * step)
    yield from ((kind, x, None) for kind in ("cdf", "monotone"))
    yield from ((kind, q, each) for kind in ("first", "rearranged") for each in (None, width))
    yield from ((kind, x, width) for kind in ("cdf", "pdf"))
    yield "monotone", x[::5], width


def asked(one, kind, at, width, tol=TOL, **options):
    """The answer of an estimate."""
    if kind == "pdf":
        return one.pdf(at, bandwidth=width)
    if kind in ("cdf", "monotone"):
        return one.cdf(at, bandwidth=width, tol=tol, monotone=kind == "monotone", **options)
    return one.quantile(at, bandwidth=width, tol=tol, crossing=kind)


def by_counts(scheme, z):
    """The estimate of parts in another order that were counted one by one."""
    rng, total = np.random.default_rng(z.size), cm.Counts(scheme)
    for part in np.array_split(rng.permutation(z), rng.integers(1, 9)):
        piece = cm.Counts(scheme)
        piece.update(part)
        total = piece + total
    return scheme.estimate(total)


def in_rows(scheme, z, kind, at, width):
    """As the samples of a study; None where these do not serve the law, or data so wide."""
    width = None if width is None else np.array([width])
    if kind in ("pdf", "monotone") or not curves.serves(scheme.law, smoothed=width is not None):
        return None
    none, rearranged = np.empty(0), kind == "rearranged"
    shares, points = (none, at) if kind == "cdf" else (at, none)
    found = curves.of_rows(np.sort(z)[None, :], scheme.law, width, shares, points, rearranged=rearranged)[0]
    return None if np.isnan(found).any() else found  # data too wide for it


def between(one, kind, at, width, tol):
    """T that is off by so much crosses between the crossings of probabilities so much lower and higher."""
    rounding = 0.0 if width is None else 1e-11  # a smooth crossing is known to 1e-13 of T / slope
    low, high = (asked(one, kind, at + shift, width, 1e-12) for shift in (-TOL - tol, tol))
    return low - rounding, high + rounding


@pytest.mark.parametrize(
    ("p", "n", "kind", "noise"),
    [
        (0.1, 20, "ties", "laplace"),
        (0.1, 300, "coarse", "normal"),
        (0.3, 300, "generic", "normal"),
        (0.6, 300, "ties", "normal"),
        (0.6, 5_000, "generic", "normal"),
        (0.6, 300, "coarse", "laplace"),
        (0.9, 20, "generic", "laplace"),
    ],
)
def test_all_routes_lead_to_the_same_number(p, n, kind, noise):
    scheme, served = cm.ConditionalMasking(p, 1.0, noise=noise, step=STEPS[kind]), 0
    z = sample(kind, n, p)
    one, counted = scheme.estimate(z), by_counts(scheme, z)
    batch = scheme.estimate(np.stack([z[::-1], z, z + 3 * scheme.step]))
    for request in requests(z, scheme.step):
        found = {TOL: asked(one, *request), ROWS: in_rows(scheme, z, *request)}
        assert np.array_equal(asked(counted, *request), found[TOL]), request
        assert np.array_equal(asked(batch, *request)[1], found[TOL]), request
        if request[0] == "cdf" and kind == "generic" and noise == "normal" and p > 0.45:
            assert asked(one, *request, method="series") == pytest.approx(found[TOL], rel=0, abs=2 * TOL)
        if found[ROWS] is None:
            continue
        served += 1
        if request[0] == "cdf":
            assert found[ROWS] == pytest.approx(found[TOL], rel=0, abs=ROWS + TOL)
        else:
            low, high = between(one, *request, ROWS + TOL)
            assert ((low <= found[ROWS]) & (found[ROWS] <= high)).all(), request
            assert ((low <= found[TOL]) & (found[TOL] <= high)).all(), request
    assert served > 0 or noise == "laplace"
