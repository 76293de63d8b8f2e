"""Record linkage against brute force: all distances, counted by hand."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import linkage


def test_linkage_against_counting_by_hand():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 12, 300).astype(float)  # many are equally near
    z = np.clip(x + rng.integers(-2, 3, 300), 0, 11).astype(float)
    numbers = [1, 7, 40]
    found = cm.record_linkage(x, z, k=numbers)
    plain = []
    for number in numbers:
        chances = []
        for k in range(300):
            distance = np.abs(x - z[k])
            nearer, equal = np.sum(distance < distance[k]), np.sum(distance == distance[k])
            chances.append(min(max((number - nearer) / equal, 0.0), 1.0))
        plain.append(np.mean(chances))

    assert found.linked == pytest.approx(plain, rel=1e-12)


X = np.random.default_rng(0).laplace(10, 1000, 4_000)
SCHEME = cm.ConditionalMasking(0.6, 1000.0)
Z = SCHEME.mask(X, rng=1)


@pytest.fixture(scope="module")
def found():
    return cm.record_risk(X, Z, SCHEME, d=500)


def brute(x, z, k):
    """The chance that the own original is among the k nearest, equal ones in random order."""
    x, z = (np.asarray(each, dtype=float).reshape(len(each), -1) for each in (x, z))
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    away = np.sqrt((((z / spread)[:, None] - (x / spread)[None]) ** 2).sum(axis=2))
    own = np.diag(away)[:, None]
    nearer, equal = (away < own - 1e-9).sum(axis=1), (np.abs(away - own) <= 1e-9).sum(axis=1)
    return np.mean(np.clip((k - nearer) / equal, 0, 1))


@pytest.mark.parametrize("step", [0, 10, 500])
@pytest.mark.parametrize("columns", [1, 2])
def test_links_are_those_of_all_distances(step, columns, monkeypatch):
    monkeypatch.setattr(linkage, "TOGETHER", 1_000)  # some of the 300 records at a time
    rng = np.random.default_rng(3)
    x = X[:300] if columns == 1 else np.column_stack([X[:300], rng.normal(size=300)])
    z = x + rng.normal(size=x.shape) * ([300.0] if columns == 1 else [300.0, 0.1])
    if step:
        x, z = np.round(x / step) * step, np.round(z / step) * step
    found = cm.record_linkage(x, z, k=[1, 3, 40, 300])

    assert found.linked == pytest.approx([brute(x, z, k) for k in (1, 3, 40, 300)], abs=1e-12)
    assert found.blind == (1 / 300, 3 / 300, 40 / 300, 1.0)


@pytest.mark.parametrize("missing", ["x", "z", "others"])
def test_records_with_missing_values_are_left_out(missing):
    rng = np.random.default_rng(6)
    x, clear = rng.normal(size=(2, 500))
    parts = {"x": x, "z": x + rng.normal(0, 0.3, 500), "others": clear}
    gaps = rng.random(500) < 0.2
    with_gaps = {**parts, missing: np.where(gaps, np.nan, parts[missing])}

    found = cm.record_linkage(**with_gaps, k=[1, 5])

    assert found.n == 500 - gaps.sum()
    assert found == cm.record_linkage(**{name: part[~gaps] for name, part in parts.items()}, k=[1, 5])


def test_who_sees_nothing_links_by_chance():
    z = np.random.default_rng(4).permutation(X)
    found = cm.record_linkage(X, z, k=[40, 400])
    low, high = found.interval()

    assert (low < np.array(found.blind)).all()
    assert (np.array(found.blind) < high).all()


def test_columns_in_clear_link_records():
    near = X + np.random.default_rng(5).normal(0, 1.0, X.size)
    # the masked column leads astray whoever counts it as much as the others, so few records are linked
    assert cm.record_linkage(X, Z, k=1).linked[0] < 0.005
    assert cm.record_linkage(X, Z, others={"near": near, "id": np.arange(X.size)}, k=1).linked[0] > 0.02
