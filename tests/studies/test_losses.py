"""Losses of a masked table, against plain loops."""

import numpy as np
import pytest

from condmask.studies.losses import losses

RNG = np.random.default_rng(8)
AGE = RNG.uniform(20.0, 65.0, 1500)
X = RNG.lognormal(6.5 + AGE / 100, 0.5)


def test_losses_against_plain_loops():
    z = X + np.random.default_rng(122).normal(0.0, 300.0, X.size)
    table, masked = np.array([X, AGE, AGE**2]), np.array([z, AGE, AGE**2])
    plain = sum(abs(a - b) for a, b in zip(X, z, strict=True)) / X.size / (np.sqrt(2) * np.std(X, ddof=1))
    own, other = (sorted(np.linalg.eigvals(np.corrcoef(each)).real) for each in (table, masked))
    eigenvalues = sum(abs(a - b) for a, b in zip(own, other, strict=True)) / sum(own)
    pairs = [abs(np.corrcoef(X, w)[0, 1] - np.corrcoef(z, w)[0, 1]) for w in table[1:]]

    assert losses(X, z, table[1:]) == pytest.approx([plain, eigenvalues, np.mean(pairs)], rel=1e-10)
    assert losses(X, X, table[1:]).tolist() == [0.0, 0.0, 0.0]
