"""Comparisons with fewer simulated records, and one that several tests read."""

from contextlib import contextmanager

import pytest
from compared import AGE, SCHEME, D, X

import condmask as cm
from condmask.studies import attacker


@contextmanager
def fewer_records():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacker, "MIN_RELEASED_VALUES", 30_000)
        patch.setattr(attacker, "CELL_VALUES", 300)
        yield


@pytest.fixture
def quick():
    with fewer_records():
        yield


@pytest.fixture
def rough(monkeypatch):
    """For what does not depend on how well methods are tuned."""
    monkeypatch.setattr(attacker, "MIN_RELEASED_VALUES", 6_000)


@pytest.fixture(scope="session")
def found():
    with fewer_records():
        return cm.compare(X, SCHEME, d=D, other=AGE, replications=40, rng=1)
