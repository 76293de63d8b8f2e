"""A cluster of two worker processes for the tests that need one."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    import dask

    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    # so long after a worker was lost, its place is given up if it is empty just then, were it by a later loss
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(**options) as cluster,
    ):
        yield cluster


@pytest.fixture(autouse=True)
def text_as_it_is():
    """Text of before pandas 3 stays what it is in memory, where Dask would make it Arrow's."""
    import dask

    with dask.config.set({"dataframe.convert-string": False}):
        yield


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as client:
        yield client


@pytest.fixture
def synchronous():
    """Tasks run in this process, one after the other."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield
