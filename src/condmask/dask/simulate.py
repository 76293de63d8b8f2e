"""A study on a Dask cluster: its blocks are tasks there; they are summed here, in order."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import cloudpickle
import dask
from distributed import Client

from condmask._randomness import Secret
from condmask.dask.keys import check_versions, client_of, own_versions
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.studies.result import StudyResult
from condmask.studies.simulate import simulate as simulate_with

AHEAD = 4  # tasks for each thread that are gathered together, while as many are under way


def simulate(population: Any, schemes: Any, *, client: Client | None = None, **options: Any) -> StudyResult:
    """Replicate, mask, estimate, as `condmask.simulate` does, on the workers of a Dask cluster.

    Parameters
    ----------
    population, schemes
        As for `condmask.simulate`. They are sent to the cluster once.
    client : distributed.Client, optional
        Of the cluster; by default the one that was made last.
    **options
        All other arguments of `condmask.simulate`, except ``workers``.

    Returns
    -------
    StudyResult
        Bit for bit that of `condmask.simulate` for the same ``rng``, whatever the cluster.

    Raises
    ------
    ValueError
        If there is no client.

    Notes
    -----
    A block whose worker dies is repeated by another, up to three times, unless the cluster's setting
    ``distributed.scheduler.allowed-failures`` says otherwise. At most eight blocks per thread are in
    progress, and workers that join later get their share.

    Examples
    --------
    >>> import condmask as cm
    >>> import condmask.dask
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"):
    ...     result = condmask.dask.simulate(
    ...         cm.paper_population(), [cm.ConditionalMasking(0.6, 1000.0)], n=500, replications=64, rng=1
    ...     )
    >>> result.replications
    64
    """
    if "workers" in options:
        raise ArgumentTypeError(
            f"workers must be left out, since the cluster has its own, got {options['workers']!r}"
        )
    chosen = client_of(client)
    if chosen is None:
        raise ArgumentError("client must be given if no distributed.Client was made before, got None")
    return simulate_with(population, schemes, workers=cluster_map(chosen), **options)


def cluster_map(client: Client) -> Callable[..., Iterator[Any]]:
    """A ``map`` over the workers of a cluster, in the order of the tasks, a few of them ahead.

    The function goes to the scheduler once, as bytes, and a task of its own unpickles it: workers get it from
    one another, and if all that had it die, it is unpickled again.
    """

    def over_cluster(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        packed = Secret(cloudpickle.dumps(function))  # a cluster logs the arguments of what fails
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": 2 * len(packed) + 2**20}):
            sent = client.submit(cloudpickle.loads, packed, pure=False)
        versions, remaining = own_versions(), iter(tasks)
        begun: list[Any] = []
        while True:
            half = AHEAD * max(1, sum(client.nthreads().values()))
            some = list(islice(remaining, 2 * half - len(begun)))
            begun += client.map(_call, some, function=sent, versions=versions, pure=False)
            if not begun:
                return
            yield from client.gather(begun[:half])  # together: each message takes some milliseconds
            del begun[:half]

    return over_cluster


def _call(task: Any, function: Callable[[Any], Any], versions: dict[str, str]) -> Any:
    check_versions(versions)
    return function(task)
