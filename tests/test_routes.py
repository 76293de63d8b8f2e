"""All routes of tests/routes.py give the same numbers, pair by pair."""

import functools
import itertools

import numpy as np
import pytest
from routes import ROUTES, SAME_BITS, TOLERANCE, Request

import condmask as cm

TOL = 1e-10
P = (0.1, 0.3, 0.6, 0.9)
SIZES = (20, 300, 5000)
STEPS = {"generic": 2.0**-10, "ties": 2.0**-6, "coarse": 0.75}  # of sigma
KINDS = tuple(STEPS)


def sample(kind, n, p):
    """Masked values: a skewed sample, half of it at one point for ties."""
    rng = np.random.default_rng([n, round(100 * p), KINDS.index(kind)])
    step = STEPS[kind]
    units = np.rint(rng.gamma(2.0, 2.0, n) / step)
    if kind == "ties":
        units[: n // 2] = np.rint(1.5 / step)
    return (
        np.where(rng.random(n) < p, rng.permutation(units), units + np.rint(rng.normal(0, 1 / step, n)))
        * step
    )


def requests(z, step):
    x = np.concatenate([np.linspace(z.min() - 2, z.max() + 2, 23), z[:5], z[:3] + 0.3 * step])
    q = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
    width = max(0.3, 1.6 * step)
    yield from (Request(kind, x, None, TOL) for kind in ("cdf", "monotone"))
    yield from (Request(kind, q, None, TOL) for kind in ("first", "rearranged"))
    yield from (Request(kind, x, width, TOL) for kind in ("cdf", "pdf"))
    yield from (Request(kind, q, width, TOL) for kind in ("first", "rearranged"))
    yield Request("monotone", x[::5], width, TOL)


def crossings(scheme, z, request, tol):
    """T off by so much crosses between the crossings of probabilities so much lower and higher."""
    one = scheme.estimate(z)
    low, high = (
        one.quantile(request.at + shift, bandwidth=request.width, crossing=request.kind, tol=1e-12)
        for shift in (-TOL - tol, tol)
    )
    rounding = 0.0 if request.width is None else 1e-11  # a smooth crossing is known to 1e-13 of T / slope
    return low - rounding, high + rounding


def agree(request, a, b, tol, between):
    """Whether two answers are the same within what their tolerances allow."""
    if request.kind in ("cdf", "pdf"):
        return np.abs(a - b).max() <= tol
    if request.kind == "monotone":
        return np.abs(a - b).max() <= max(tol, 2e-8)
    low, high = between(tol)
    return all(((low <= found) & (found <= high)).all() for found in (a, b))


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", P)
def test_all_routes_lead_to_the_same_number(p, n, kind, noise):
    scheme = cm.ConditionalMasking(p, 1.0, noise=noise, step=STEPS[kind])
    z = sample(kind, n, p)
    for request in requests(z, STEPS[kind]):
        found = {name: route(scheme, z, request) for name, route in ROUTES.items()}
        found = {name: answer for name, answer in found.items() if answer is not None}
        for name in SAME_BITS[1:]:
            assert np.array_equal(found.pop(name), found[SAME_BITS[0]]), (request, name)
        between = functools.cache(functools.partial(crossings, scheme, z, request))
        for one, other in itertools.combinations(found, 2):
            tol = TOLERANCE.get(one, TOL) + TOLERANCE.get(other, TOL)  # each errs by its own
            assert agree(request, found[one], found[other], tol, between), (
                request, one, other, found[one] - found[other],
            )  # fmt: skip


def test_every_route_serves_somewhere():
    scheme, z = cm.ConditionalMasking(0.6, 1.0, step=2.0**-10), sample("generic", 300, 0.6)
    served = {
        name
        for request in requests(z, scheme.step)
        for name, route in ROUTES.items()
        if route(scheme, z, request) is not None
    }

    assert served == set(ROUTES)
