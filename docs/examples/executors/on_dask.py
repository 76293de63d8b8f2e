"""A study on a Dask cluster, here one of two processes."""

from distributed import Client

import condmask as cm


def call(function, task):
    return function(task)


if __name__ == "__main__":
    schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
    with Client(n_workers=2, threads_per_worker=1) as client:

        def dask_map(function, tasks):
            sent = client.scatter(function)
            return client.gather([client.submit(call, sent, task, pure=False) for task in tasks])

        found = cm.simulate(
            cm.paper_population(), schemes, n=20_000, replications=20, rng=1, workers=dask_map
        )
    print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
