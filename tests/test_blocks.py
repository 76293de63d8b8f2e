"""Tasks in order, on threads or not."""

import sys
from threading import Event, current_thread

import numpy as np
import pytest

import condmask as cm
from condmask._blocks import BLOCK, ordered_map


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
    assert list(ordered_map(abs, range(-9, 0), 2**53)) == [*range(9, 0, -1)]


def test_columns_of_several_blocks_are_looked_at_whole():
    x = np.sort(np.random.default_rng(1).lognormal(8.0, 0.5, 2 * BLOCK + 7))  # the blocks differ
    nearly = cm.ConditionalMasking(1e-12, 1e-6, step=0).estimate(x)
    mapped = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True, aggregate_ends=3)

    z = np.sort(mapped.mask(x, rng=1, accept_visible_coins=True))

    assert nearly.mean() == pytest.approx(x.mean(), rel=1e-12)
    assert nearly.moment(3, central=True) == pytest.approx(np.mean((x - x.mean()) ** 3), rel=1e-9)
    expected = np.concatenate([np.full(3, x[:3].mean()), x[3:-3], np.full(3, x[-3:].mean())])
    assert z == pytest.approx(expected, rel=1e-13)


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
