"""Covariances of two columns released by reverse mapping, against the dense operator and many releases.

Every test has a fixed seed; those that count have a tolerance of z standard errors beside them, which 10^-4
of the seeds exceed.
"""

import numpy as np
import pandas as pd
import pytest
from mapped_files import FILES, scheme_of

import condmask as cm
from condmask.inference import reverse_pairs
from condmask.inference.intervals import UndefinedError
from condmask.inference.reverse_mapped import ReverseMapped

pytestmark = [
    pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning", "ignore:group_means"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
ACCEPT = {"accept_visible_coins": True}


@pytest.mark.parametrize("p", [0.1, 0.3, 0.6, 0.9])
def test_the_polynomial_is_the_inverse_on_the_eigenvalues(p):
    t = np.linspace(0.0, 1.0, 1_001)

    found = np.polynomial.Polynomial(reverse_pairs.coefficients(p))(t)

    # twenty terms at p = .1 leave 1.9^-20 = 3e-6 of 10
    assert np.abs(found * (p + (1.0 - p) * t) - 1.0).max() < (1e-5 if p < 0.3 else 1e-7)


def test_the_pair_formula_is_the_inverse_of_the_dense_operator():
    x, y = FILES["ties"], np.round(FILES["skewed"])
    one, two = (ReverseMapped(each, scheme_of(each), None) for each in (x, y))
    a, b = one.pools[0].law, two.pools[0].law

    pair = reverse_pairs.joint(one, two)

    u, v = a.means(x) - x.mean(), b.means(y) - y.mean()
    both = np.kron(a.matrix(), b.matrix())
    phi = np.linalg.solve(0.6 * np.eye(len(both)) + 0.4 * both, np.kron(u, v)).reshape(u.size, v.size)
    assert pair.covariance * pair.unit == pytest.approx(phi[a.cell, b.cell].sum() / (x.size - 1), rel=1e-6)


def test_covariances_of_columns_masked_together_are_without_bias():
    # 80 releases of one file: their mean within 4.1 of its standard errors, 4e-5 of the seeds fall out
    rng, n, found, plain = np.random.default_rng(12), 400, [], []
    x = rng.standard_normal(n)
    y = np.exp(0.7 * x + 0.4 * rng.standard_normal(n))
    frame = pd.DataFrame({"x": x, "y": y})
    schemes = {"x": scheme_of(x, 0.3), "y": scheme_of(y, 0.3, scale="log")}
    for seed in range(80):
        release = cm.mask_table(frame, schemes, rng=seed, **ACCEPT)
        data, own, other = release.data, release["x"], release["y"]
        found.append(own.covariance(other))
        plain.append(np.cov(data["x"], data["y"])[0, 1])

    true = np.cov(x, y)[0, 1]
    error = np.std(found) / np.sqrt(80)
    assert abs(np.mean(found) - true) < 4.1 * error
    assert abs(np.mean(plain) - true) > 8.0 * error
    assert own.correlation(other) == pytest.approx(
        own.covariance(other) / data["x"].std() / data["y"].std(), rel=1e-12
    )
    for ask in (own.covariance_interval, own.correlation_interval):
        with pytest.raises(
            UndefinedError, match=r"^other must be a column that was not masked for an interval"
        ):
            ask(other)


def test_pairs_within_strata_keep_what_the_strata_have_in_common():
    n, rng = 600, np.random.default_rng(13)
    region = np.arange(n) % 2
    x = rng.standard_normal(n) + 3.0 * region
    y = x + rng.standard_normal(n)
    schemes = {name: cm.ConditionalMasking(0.6, 0.3, reverse_mapping=True) for name in ("x", "y")}
    found = []
    for seed in range(50):
        release = cm.mask_table(
            pd.DataFrame({"x": x, "y": y, "region": region}),
            schemes,
            strata="region",
            rng=seed,
            accept_visible_coins=True,
        )
        found.append(release["x"].covariance(release["y"]))

    assert abs(np.mean(found) - np.cov(x, y)[0, 1]) < 4.1 * np.std(found) / np.sqrt(50)
