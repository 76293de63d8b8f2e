"""Intervals of a block of replicates. Oracle: those of one sample after the other."""

from types import SimpleNamespace

import numpy as np
import pytest

import condmask as cm
from condmask.studies import interval_rows

LEVELS = (0.9, 0.5)
DESIGN = SimpleNamespace(quantiles=np.array([0.2, 0.6]), moments=(2, 3), points=np.array([-0.5, 0.4, 1.0]))


def samples(scheme, rows=6, n=120):
    x, w = np.random.default_rng(3).multivariate_normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], (rows, n)).T
    x, w = np.ascontiguousarray(x.T), np.ascontiguousarray(w.T)
    x = x if scheme.law is None else scheme.law.from_units(scheme.law.to_units(x))
    return scheme.mask_rows(x, np.random.default_rng(4), ()), w


def one_by_one(scheme, z, w, rows):
    each = [interval_rows._one_by_one(scheme, z, w, DESIGN, LEVELS, row) for row in rows]
    return np.stack(each, axis=-1)


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize(
    "scheme",
    [
        cm.ConditionalMasking(0.6, 1.0, decimals=2),
        cm.ConditionalMasking(0.3, 0.5, noise="laplace", donors="permutation", step=0.25),
        cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True),
        cm.ConditionalMasking(0.6, 1.0, step=0.0),
        cm.AdditiveNoise(1.0),
    ],
    ids=["fine", "coarse", "reverse mapping", "no grid", "additive noise"],
)
@pytest.mark.parametrize("paired", [True, False])
def test_a_block_has_the_ends_of_its_samples(scheme, paired):
    z, w = samples(scheme)
    w = w if paired else None

    found = np.array(interval_rows.ends(scheme, z, w, DESIGN, LEVELS))

    expected = one_by_one(scheme, z, w, range(len(z)))
    assert found.shape == (2, 2, 2, 2 + 2 + 2 + paired + 3, len(z)) == expected.shape
    # quantiles by less than a hundredth of the interval: T* of straight pieces instead of many steps
    np.testing.assert_allclose(found[:, :, :, :2], expected[:, :, :, :2], atol=0.01)
    np.testing.assert_allclose(found[:, :, :, 2:], expected[:, :, :, 2:], atol=2e-7)


def test_what_has_no_lattice_is_estimated_alone():
    scheme = cm.ConditionalMasking(0.6, 1.0, decimals=2)
    z, w = samples(scheme, rows=3)
    z[1, 5] = 5e6

    found = np.array(interval_rows.ends(scheme, z, w, DESIGN, LEVELS))

    np.testing.assert_array_equal(found[..., 1], one_by_one(scheme, z, w, [1])[..., 0])


@pytest.mark.parametrize(
    "scheme", [cm.ConditionalMasking(0.9, 1.0), cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True)]
)
def test_too_few_records_for_a_correlation_have_none(scheme):
    z, w = samples(scheme, rows=3, n=8)

    low, high = interval_rows.ends(scheme, z, w, DESIGN, LEVELS)

    assert np.isnan(low[:, :, 6]).all()
    assert np.isnan(high[:, :, 6]).all()
    assert not np.isnan(low[:, :, 2]).any()
