"""Tasks in order, on threads or not."""

import pytest

from condmask._blocks import ordered_map


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
