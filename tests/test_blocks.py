"""Tasks in order, on threads or not; columns block by block."""

import sys
from functools import cache
from threading import Event, current_thread

import numpy as np
import pytest

import condmask as cm
from condmask import _blocks, frames, strata
from condmask._blocks import ordered_map
from condmask.disclosure.aggregated_ends import aggregate
from condmask.distribution.counting import by_value
from condmask.linear.records import Records
from condmask.missing_codes import suspicion
from condmask.moments import theorem_2_1, theorem_2_5


def test_threads_hand_results_over_in_order_and_stay_a_few_tasks_ahead():
    taken = []
    tasks = (taken.append(task) or task for task in range(1_000))

    results = ordered_map(abs, tasks, 3)

    assert next(results) == 0
    assert len(taken) == 7  # two a thread, and the one that replaces the first
    assert list(results) == list(range(1, 1_000))


def test_a_task_that_fails_ends_the_rest_in_its_turn():
    begun = []

    def fail(task):
        begun.append(task)
        if task in (5, 6, 9):
            raise ValueError(f"task {task}")
        return task

    for workers in (1, 2, 5):
        results = ordered_map(fail, range(1_000), workers)
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match=r"^task 5$"):
            next(results)
    assert max(begun) < 20


def test_more_workers_than_a_machine_can_count_serve():
    assert list(ordered_map(abs, range(-9, 0), 10**20)) == [*range(9, 0, -1)]


# --- columns ---------------------------------------------------------------------------------------------

N = 240
RNG = np.random.default_rng(11)
X, Y = RNG.normal(50.0, 10.0, (2, N)).round()
X[40:] += 100.0  # the blocks differ
X[1::4], Y[::3] = np.nan, np.nan
LABELS = [
    frames.Labels(*frames.codes(column, "strata")) for column in (np.arange(N) % 7 // 2, np.arange(N) // 120)
]


def of_columns():
    """What is worked out of columns without drawing anything."""
    scheme = cm.ConditionalMasking(0.6, 5.0, strata=("a", "b"), small_strata="merge")
    pools, together = strata.pools_of(scheme, {"x": X, "y": Y}, LABELS, "omit")
    yield from (*pools, pools.leaders(), together)
    yield strata.crossed([column.code for column in LABELS], N)
    yield strata.crossed([np.arange(N), np.arange(N)[::-1] // 2], N)
    yield frames.groups(frames.Labels(LABELS[0].code, ["b", "a", None, "c"]), "labels", N)[0]
    present = X[~np.isnan(X)]
    yield from by_value(np.sort(np.append(present, 0.0)))
    coded = np.where(np.arange(N) % 13 == 1, -999.0, np.nan_to_num(X, nan=70.0))
    yield str(suspicion(coded, "int"))
    for code in (None, np.arange(N, dtype=np.int32) % 2):
        ends = X.copy()
        aggregate(ends, code, 4)
        yield ends
    powers = theorem_2_1.powers(present, 4, 5.0)
    yield np.round([powers.center, *powers.means], 12)
    yield np.round(
        theorem_2_5.of_columns(Records(X), X**2).about(np.zeros(2), np.array([1e3, 1e6])).means, 12
    )
    for options in ({"donors": "sample"}, {"donors": "sample", "step": 0}, {"reverse_mapping": True}):
        scheme = cm.ConditionalMasking(0.6, 5.0, **options, strata="a")
        estimate = scheme.estimate(X, strata=np.arange(N) % 2)
        yield str(estimate.quantile_interval([0.2, 0.5]))
        yield estimate.pseudo_values().round(9)
    for donors in ("sample", "permutation"):
        estimate = cm.ConditionalMasking(0.6, 5.0, donors=donors).estimate(X)
        yield str(estimate.group_means(np.arange(N) % 40, target="file"))
        found = estimate.cdf_interval(present)
        yield np.round([found.low, found.high, found.standard_error], 7)
    yield from of_attackers(present)


@cache
def masked(x):
    """Schemes and releases of a column, which are drawn by blocks of their own."""
    options = ({}, {"reverse_mapping": True}, {"reverse_mapping": True, "aggregate_ends": 3})
    schemes = [cm.ConditionalMasking(0.6, 5.0, **some) for some in options]
    return [(scheme, scheme.mask(np.frombuffer(x), rng=1, accept_visible_coins=True)) for scheme in schemes]


def of_attackers(x):
    """What attackers make of a column, masked either way."""
    d = np.array([0.5, 3.0])
    for scheme, z in masked(x.tobytes()):
        expected, of_release = cm.risk(x, scheme, d=d), cm.risk(x, scheme, d=d, released=z)
        for found in (expected, of_release):
            yield from (found.attackers[name].round(12) for name in found.attackers)
        if scheme.reverse_mapping:
            yield expected.most_exposed.round(12)
        records = of_release.records(3.0)
        yield from (records.guess.round(9), records.posterior.round(9), records.hit)


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
def test_columns_block_by_block_are_as_they_are_whole(monkeypatch):
    whole, cut = list(of_columns()), _blocks.blocks
    monkeypatch.setattr(strata, "SMALL_TABLE", 0)
    for name, module in list(sys.modules.items()):
        drawn = name in ("condmask.disclosure.rare_values", "condmask.disclosure.sample")  # by blocks
        if name.startswith("condmask.") and getattr(module, "blocks", None) is cut and not drawn:
            monkeypatch.setattr(module, "blocks", lambda n, size=0: cut(n, 7))

    for k, (expected, found) in enumerate(zip(whole, of_columns(), strict=True)):
        assert np.array_equal(found, expected, equal_nan=isinstance(found, np.ndarray)), k


def test_a_pool_may_be_abandoned_in_a_thread_of_its_own(monkeypatch):
    main, there, ready, gone, unraised = current_thread(), Event(), Event(), Event(), []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)

    def task(k):
        if current_thread() is not main and k:
            there.set()
            ready.wait(60)
            held.clear()  # the last reference
            gone.set()

    held = [ordered_map(task, range(100), 2)]
    next(held[0])
    there.wait(60)
    ready.set()
    assert gone.wait(60)

    assert unraised == []
