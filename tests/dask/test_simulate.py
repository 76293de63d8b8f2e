"""A study on a cluster is the study on one machine. Oracle: `condmask.simulate`, which knows no Dask."""

from functools import partial
from importlib import import_module

import pytest
from marks import rest_slow
from study_workers import Killing, Population, Unreadable, fail, second

import condmask as cm
import condmask.dask
from condmask._randomness import KeyTransport
from condmask.dask.keys import own_versions
from condmask.dask.simulate import AHEAD, cluster_map

SCHEMES = {"masked": cm.ConditionalMasking(0.6, 1000.0), "ranks": cm.RankSwapping(5.0)}
ASKED = {"n": 20_000, "replications": 30, "rng": 5, "quantiles": [0.2]}  # 10 blocks
SECRET = bytes(range(60, 76))


def here(population):
    return cm.simulate(population, SCHEMES, **ASKED)


def test_a_study_has_the_same_bits_as_on_one_machine(client):
    population = cm.paper_population()

    assert condmask.dask.simulate(population, SCHEMES, client=client, **ASKED) == here(population)
    assert condmask.dask.simulate(population, SCHEMES, **ASKED) == here(population)  # the client made last


def test_a_population_may_be_a_function_that_no_worker_could_import(client):
    def population(rng, replications, n):
        return rng.exponential(100.0, (replications, n))

    assert condmask.dask.simulate(population, SCHEMES, **ASKED) == here(population)


@pytest.mark.parametrize(
    "deaths", rest_slow([2, 1])
)  # of two workers: with both goes all that had the function
def test_workers_that_die_leave_no_trace(deaths, client, tmp_path):
    places = [tmp_path / str(k) for k in range(deaths)]

    found = condmask.dask.simulate(Killing(places), SCHEMES, **ASKED)

    client.wait_for_workers(2)  # others may ask for both
    assert all(place.exists() for place in places)
    assert found == here(Population())


def test_a_study_goes_on_from_its_checkpoint(client, tmp_path):
    file = tmp_path / "state.npz"
    cm.simulate(Population(), SCHEMES, checkpoint=file, **ASKED | {"replications": 10})

    assert condmask.dask.simulate(Population(), SCHEMES, checkpoint=file, **ASKED) == here(Population())


def test_a_population_is_sent_once(client):
    Population.sent = 0

    condmask.dask.simulate(Population(), SCHEMES, **ASKED)

    assert Population.sent == 1


def test_results_come_in_order_and_few_tasks_are_ahead(client):
    begun = []

    def tasks():
        for task in range(-60, 0):
            begun.append(task)
            yield task

    for seen, found in enumerate(cluster_map(client)(abs, tasks())):
        assert found == 60 - seen
        assert len(begun) <= seen + 2 * AHEAD * 2  # two workers of one thread

    assert len(begun) == 60
    assert list(cluster_map(client)(abs, [])) == []


def test_large_arguments_bring_no_warning(client):
    large = bytes(20_000_000)  # twice what Dask warns of

    assert list(cluster_map(client)(partial(second, large), [5, 4])) == [5, 4]


def test_what_fails_tells_why_and_shows_no_key(client, tmp_path):
    run = cluster_map(client)(partial(fail, KeyTransport(SECRET)), range(4))

    with pytest.raises(ValueError, match=r"^task 2 with <KeyTransport: secret>$"):
        list(run)
    logs = f"{client.get_scheduler_logs()}{client.get_worker_logs()}{client.get_events()}"
    assert "task 2 with" in logs
    for form in (SECRET.hex(), repr(SECRET)[2:-1], repr(list(SECRET))):
        assert form not in logs


def test_what_cannot_be_read_shows_none_of_its_bytes(client):
    with pytest.raises(ValueError, match=r"^it cannot be read$"):
        list(cluster_map(client)(partial(second, Unreadable("a word of its own")), [1]))
    logs = f"{client.get_scheduler_logs()}{client.get_worker_logs()}"
    assert "it cannot be read" in logs
    assert "a word of its own" not in logs


def test_other_versions_are_refused(client, monkeypatch):
    versions = {**own_versions(), "numpy": "1.0"}
    monkeypatch.setattr(import_module("condmask.dask.simulate"), "own_versions", lambda: versions)

    with pytest.raises(RuntimeError, match=r"numpy must have one version .* and 1\.0 on the client"):
        condmask.dask.simulate(Population(), SCHEMES, **ASKED)


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"^client must be given if no distributed\.Client was made"):
        condmask.dask.simulate(Population(), SCHEMES, **ASKED)
    with pytest.raises(TypeError, match=r"^client must be a distributed\.Client, got str"):
        condmask.dask.simulate(Population(), SCHEMES, client="tcp://a", **ASKED)
    with pytest.raises(TypeError, match=r"^workers must be left out, since the cluster has its own, got 2$"):
        condmask.dask.simulate(Population(), SCHEMES, workers=2, **ASKED)
